//! Compares the source, the served configuration, and the configuration of an Envoy, and lists the drifted parts. Does not read or render.

use super::{Change, ChangeKind, EnvoyChanges, Side, Uncompared, compare_envoy, started};
use crate::OriginView;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::config::Running;

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct ThreeWay {
    /// How the served configuration differs from the source.
    pub served: Vec<Change>,
    /// How the Envoy's configuration differs from the served one.
    pub envoy: Vec<Change>,
    /// Both, by part.
    pub parts: Vec<DriftedPart>,
    /// The parts that either comparison left out.
    #[serde(skip_serializing_if = "Uncompared::is_empty")]
    pub uncompared: Uncompared,
}

/// A part of Envoy's configuration in which the three differ.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DriftedPart {
    /// As [`Change::kind`].
    pub kind: String,
    pub name: String,
    pub in_source: bool,
    pub in_served: bool,
    pub in_envoy: bool,
    /// The fields in which they differ.
    pub fields: Vec<DriftedField>,
    /// The origins of the part in the source.
    pub origins: Vec<OriginView>,
}

/// A field in which the three differ; its values as JSON.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DriftedField {
    pub path: String,
    /// Its value in the source.
    pub source: Option<String>,
    /// Its served value.
    pub served: Option<String>,
    /// The Envoy's value.
    pub envoy: Option<String>,
}

impl ThreeWay {
    /// Whether all three are equal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.served.is_empty() && self.envoy.is_empty()
    }
}

/// Compares the three. The source has a gateway; the others are configurations as an Envoy reports them.
#[must_use]
pub fn three_way(source: &Side<'_>, served: &Running, running: &Running) -> ThreeWay {
    let (served_differs, envoy_differs) = (served_of_source(source, served), envoy_of_served(served, running));
    let parts = parts(&served_differs.changes, &envoy_differs.changes);
    let mut uncompared = served_differs.uncompared;
    uncompared.add(envoy_differs.uncompared);
    ThreeWay { served: served_differs.changes, envoy: envoy_differs.changes, parts, uncompared }
}

/// Compares the served configuration with the source.
#[must_use]
pub fn served_of_source(source: &Side<'_>, served: &Running) -> EnvoyChanges {
    let mut found = compare_envoy(source, &Side { config: &served.config, source: None });
    // A server that sends nothing sends no bootstrap either.
    if let Some(of) = source.source {
        started::remove_changes(&mut found.changes, ChangeKind::Removed, &started::bootstrap_only(of.gateway));
    }
    found
}

/// Compares an Envoy's configuration with the served one.
#[must_use]
pub fn envoy_of_served(served: &Running, running: &Running) -> EnvoyChanges {
    let mut found = compare_envoy(&Side { config: &served.config, source: None }, &Side { config: &running.config, source: None });
    started::remove_changes(&mut found.changes, ChangeKind::Added, &started::started_with(&running.config));
    found
}

/// Lists the drifted parts, by name.
fn parts(served: &[Change], running: &[Change]) -> Vec<DriftedPart> {
    let mut all: BTreeMap<(&str, &str), DriftedPart> = BTreeMap::new();
    for of in served {
        // Users look for a renamed part under its new name.
        let part = all.entry((&of.kind, &of.name)).or_insert_with(|| part_of(of));
        part.in_source = of.change != ChangeKind::Added;
        part.in_served = of.change != ChangeKind::Removed;
        part.in_envoy = part.in_served;
        part.origins.extend(of.before.iter().cloned());
        part.fields.extend(of.fields.iter().map(|field| DriftedField {
            path: field.path.clone(),
            source: field.before.clone(),
            served: field.after.clone(),
            envoy: field.after.clone(),
        }));
    }
    for of in running {
        let part = all.entry((&of.kind, &of.name)).or_insert_with(|| {
            let in_served = of.change != ChangeKind::Added;
            DriftedPart { in_source: in_served, in_served, ..part_of(of) }
        });
        part.in_envoy = of.change != ChangeKind::Removed;
        for field in &of.fields {
            match part.fields.iter_mut().find(|known| known.path == field.path) {
                Some(known) => known.envoy.clone_from(&field.after),
                None => part.fields.push(DriftedField {
                    path: field.path.clone(),
                    source: field.before.clone(),
                    served: field.before.clone(),
                    envoy: field.after.clone(),
                }),
            }
        }
    }
    all.into_values().collect()
}

fn part_of(of: &Change) -> DriftedPart {
    DriftedPart {
        kind: of.kind.clone(),
        name: of.name.clone(),
        in_source: true,
        in_served: true,
        in_envoy: true,
        fields: Vec::new(),
        origins: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::FieldChange;
    use alloc::borrow::ToOwned;
    use alloc::vec;

    fn change(change: ChangeKind, name: &str, fields: &[(&str, &str, &str)]) -> Change {
        let value = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let field = |(path, before, after): &(&str, &str, &str)| FieldChange {
            path: (*path).into(),
            before: value(before),
            after: value(after),
            before_from: None,
            after_from: None,
        };
        Change {
            change,
            kind: "route".into(),
            name: name.into(),
            was: None,
            note: None,
            fields: fields.iter().map(field).collect(),
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    #[test]
    fn drifted_part_shows_all_three_values() {
        use ChangeKind::{Added, Changed, Removed};
        let served = [change(Removed, "withheld", &[]), change(Changed, "late", &[("timeout", "1s", "2s"), ("retries", "1", "")])];
        let running = [change(Changed, "late", &[("timeout", "2s", "3s")]), change(Added, "foreign", &[]), change(Removed, "not taken", &[])];
        let found = parts(&served, &running);
        let has = |of: &DriftedPart| (of.name.clone(), of.in_source, of.in_served, of.in_envoy);
        assert_eq!(
            found.iter().map(has).collect::<Vec<_>>(),
            vec![
                ("foreign".to_owned(), false, false, true),
                ("late".to_owned(), true, true, true),
                ("not taken".to_owned(), true, true, false),
                ("withheld".to_owned(), true, false, false),
            ]
        );
        let field = |path: &str| found[1].fields.iter().find(|field| field.path == path).expect("the field");
        let values = |of: &DriftedField| [of.source.clone(), of.served.clone(), of.envoy.clone()].map(Option::unwrap_or_default);
        assert_eq!(values(field("timeout")), ["1s", "2s", "3s"]);
        assert_eq!(values(field("retries")), ["1", "", ""]);
    }
}
