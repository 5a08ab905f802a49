//! Two configurations compared: resources, and what Envoy gets of them, each by its name or, where it moved or was renamed, by what it is.
//!
//! Either side may be a compilation, which knows the lines that things come from, or what was read of a running Envoy.
//!
//! Which requests that changes is in [`requests`].
//!
//! What must not be here: reading and rendering.

mod app_gateway;
mod certificates;
mod fields;
mod issued;
mod order;
mod parts;
mod renames;
mod requests;
mod resources;
mod settled;
mod started;
mod three_way;
mod uncompared;

pub use app_gateway::{AppGatewaySide, KeptPart, app_gateway_requests, compare_app_gateways, parts_of_others};
pub use fields::FieldChange;
pub use requests::{Answer, Difference, ListenerPairing, Reaches, RequestChange, RequestOptions, RequestPlace, Requests, Witness, requests};
pub use three_way::{DriftedField, DriftedPart, ThreeWay, envoy_of_served, served_of_source, three_way};
pub use uncompared::Uncompared;

use crate::{OriginView, Positions, ResourceRef};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{self, GatewayRef, SideRef, Takes};
use chancery_base::output_map::OutputMap;
use chancery_envoy::config::EnvoyConfig;
use chancery_text::{Node, to_json};

/// One side.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// What Envoy has.
    pub config: &'a EnvoyConfig,
    /// What made it, where that is known.
    pub source: Option<SideSource<'a>>,
}

/// What made a configuration.
#[derive(Clone, Copy)]
pub struct SideSource<'a> {
    /// The gateway.
    pub gateway: GatewayRef<'a>,
    /// Places in its input.
    pub positions: &'a Positions<'a>,
    /// Where in the bootstrap each origin went.
    pub map: &'a OutputMap,
}

/// An input that was compiled.
#[derive(Clone, Copy)]
pub struct Written<'a> {
    /// A side of it; which one changes nothing.
    pub of: SideRef<'a>,
    /// Places in it.
    pub positions: &'a Positions<'a>,
}

/// What became of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Only the second side has it.
    Added,
    /// Only the first side has it.
    Removed,
    /// Both have it, and it differs.
    Changed,
    /// Both have it, under another name.
    Renamed,
    /// Both have it, in another place or order.
    Moved,
}

impl ChangeKind {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Changed => "changed",
            ChangeKind::Renamed => "renamed",
            ChangeKind::Moved => "moved",
        }
    }
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Change {
    /// What became of it.
    pub change: ChangeKind,
    /// What it is: a resource's kind, or `bootstrap` (what an Envoy is started with besides resources), `listener`, `filter chain`, `virtual host`, `host` (that routes ask for
    /// by themselves), `route`, `cluster`, `endpoints`, `secret`.
    pub kind: String,
    /// Its name, on the second side where both have it.
    pub name: String,
    /// Its name or place on the first side, where that is another.
    pub was: Option<String>,
    /// What is to be said of a virtual host under another name: how many of its routes are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The fields that differ.
    pub fields: Vec<FieldChange>,
    /// What made it on the first side.
    pub before: Vec<OriginView>,
    /// What made it on the second side.
    pub after: Vec<OriginView>,
}

/// What differs between what two Envoys get.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvoyChanges {
    /// What differs of what was compared.
    pub changes: Vec<Change>,
    /// What was left out.
    pub uncompared: Uncompared,
}

/// What differs.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Comparison {
    /// Of resources; empty where a side has none, as a running Envoy.
    pub resources: Vec<Change>,
    /// Of what Envoy gets.
    pub envoy: Vec<Change>,
    /// Of the controller's own configuration as it takes effect.
    pub settings: Vec<SettingView>,
    /// What was left out.
    #[serde(skip_serializing_if = "Uncompared::is_empty")]
    pub uncompared: Uncompared,
}

/// A setting of the controller that differs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SettingView {
    /// Its path in the controller's configuration.
    pub path: String,
    /// What it was, as JSON.
    pub before: Option<String>,
    /// What it is, as JSON.
    pub after: Option<String>,
    /// What the change takes.
    pub takes: Takes,
}

impl Comparison {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.envoy.is_empty() && self.settings.is_empty()
    }
}

/// Compares: resources, what Envoy gets, and the controller's own settings.
#[must_use]
pub fn compare(before: &Side<'_>, after: &Side<'_>) -> Comparison {
    let sources = before.source.as_ref().zip(after.source.as_ref());
    let resources = sources.map_or_else(Vec::new, |(before, after)| compare_resources(before, after));
    let settings = sources.map_or_else(Vec::new, |(before, after)| compare_settings(before.gateway.side, after.gateway.side));
    let EnvoyChanges { changes: envoy, uncompared } = compare_envoy(before, after);
    Comparison { resources, envoy, settings, uncompared }
}

/// Compares the resources of two inputs. Which of their gateways the sources name changes nothing.
#[must_use]
pub fn compare_resources(before: &SideSource<'_>, after: &SideSource<'_>) -> Vec<Change> {
    resources::compare(&before.written(), &after.written())
}

/// Compares the resources of two inputs, whatever their gateways are.
#[must_use]
pub fn compare_written(before: &Written<'_>, after: &Written<'_>) -> Vec<Change> {
    resources::compare(before, after)
}

/// Compares what the Envoys of two gateways get. What a running Envoy reports is compared as if all of it stood in place. Certificates of which the
/// source has only the names are left out, and named; so is what an Envoy was started with, where a server sends it the rest.
#[must_use]
pub fn compare_envoy(before: &Side<'_>, after: &Side<'_>) -> EnvoyChanges {
    if before.source.is_some() && after.source.is_some() {
        let mut changes = parts::compare(before, after);
        changes.extend(before.source.iter().zip(&after.source).flat_map(|(before, after)| certificates::compare(before, after)));
        return EnvoyChanges { changes, ..EnvoyChanges::default() };
    }
    let ([mut old, mut new], endpoints) = settled::both(before.config, after.config);
    let issued = match (&before.source, &after.source) {
        (Some(_), None) => issued::by_name(&old, &mut new),
        (None, Some(_)) => issued::by_name(&new, &mut old),
        _ => BTreeSet::new(),
    };
    let mut changes = parts::compare(&Side { config: &old, source: before.source }, &Side { config: &new, source: after.source });
    let (source, running, lost, gained) = match (&before.source, &after.source) {
        (Some(source), _) => (source, after.config, ChangeKind::Removed, ChangeKind::Added),
        (_, Some(source)) => (source, before.config, ChangeKind::Added, ChangeKind::Removed),
        _ => return EnvoyChanges { changes, uncompared: Uncompared { endpoints, ..Uncompared::default() } },
    };
    if started::is_served(running) {
        started::leave_out(&mut changes, lost, &started::bootstrap_only(source.gateway));
        started::leave_out(&mut changes, gained, &started::started_with(running));
    }
    EnvoyChanges { changes, uncompared: Uncompared { certificates: issued.into_iter().collect(), endpoints } }
}

/// Compares what a controller does with its own configuration; nothing where the controllers are not the same.
#[must_use]
pub fn compare_settings(before: &compilation::Side, after: &compilation::Side) -> Vec<SettingView> {
    if before.dialect != after.dialect {
        return Vec::new();
    }
    let changes = (after.dialect.setting_changes)(&before.answers, &after.answers).into_iter();
    let json = |node: Option<Node>| node.map(|node| to_json(&node, false));
    changes.map(|change| SettingView { path: change.path, before: json(change.before), after: json(change.after), takes: change.takes }).collect()
}

impl<'a> SideSource<'a> {
    fn written(&self) -> Written<'a> {
        Written { of: self.gateway.of(), positions: self.positions }
    }

    /// The resource that a route was written in; `None` for a route that the controller adds by itself.
    fn owner(&self, route: &str) -> Option<ResourceRef> {
        let made = self.map.get(route).or_else(|| self.map.get(&alloc::format!("{route}/match")))?;
        let views = made.iter().map(|origin| OriginView::of(*origin, self.gateway.of(), self.positions));
        views.filter(|view| view.span.is_some()).find_map(|view| view.resource)
    }

    /// What made a place in the bootstrap.
    fn origins(&self, pointer: &str) -> Vec<OriginView> {
        let made = self.map.lookup(pointer);
        let origins = made.iter().flat_map(|made| made.origins.iter().copied());
        let views = origins.map(|origin| OriginView::of(origin, self.gateway.of(), self.positions));
        views.filter(|view| view.resource.is_some()).take(4).collect()
    }
}
