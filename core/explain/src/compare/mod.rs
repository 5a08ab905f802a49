//! Compares two configurations: resources, and the resulting Envoy configuration. Parts are matched by name, or by content if they moved or were
//! renamed.
//!
//! A side is a compilation, with origins, or the configuration of a running Envoy. Application Gateways and nginxes have their own comparisons.
//!
//! Changed requests are in [`requests`]. Does not read or render.

mod app_gateway;
mod certificates;
mod fields;
mod inputs;
mod issued;
mod nginx;
mod order;
mod parts;
mod phrases;
mod protection;
mod renames;
mod requests;
mod resources;
mod settled;
mod started;
mod three_way;
mod uncompared;

pub use app_gateway::{AppGatewaySide, KeptPart, app_gateway_requests, compare_app_gateways, parts_of_others};
pub use fields::FieldChange;
pub use inputs::{GatewayChanges, InputChanges, compare_inputs};
pub use nginx::{NginxSide, compare_nginxes, nginx_requests};
pub use protection::lost_protection;
pub use requests::{
    Answer, ChangedRequest, Difference, ListenerPairing, Reaches, RequestChange, RequestComparer, RequestOptions, RequestPlace, Requests, Witness,
    requests,
};
pub use three_way::{DriftedField, DriftedPart, ThreeWay, envoy_of_served, served_of_source, three_way};
pub use uncompared::Uncompared;

use crate::{OriginView, Positions, ResourceRef};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{self, GatewayRef, Restart, SideRef};
use chancery_base::output_map::OutputMap;
use chancery_envoy::config::EnvoyConfig;
use chancery_text::{Node, to_json};

#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub config: &'a EnvoyConfig,
    /// Its compilation, if known.
    pub source: Option<SideSource<'a>>,
}

/// The compilation of a side.
#[derive(Clone, Copy)]
pub struct SideSource<'a> {
    pub gateway: GatewayRef<'a>,
    pub positions: &'a Positions<'a>,
    /// Where in the bootstrap each origin went.
    pub map: &'a OutputMap,
}

/// A compiled input.
#[derive(Clone, Copy)]
pub struct Written<'a> {
    /// Any side of the compilation; all sides give the same result.
    pub of: SideRef<'a>,
    pub positions: &'a Positions<'a>,
}

/// How a part or resource changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Only the second side has it.
    Added,
    /// Only the first side has it.
    Removed,
    /// Both sides have it, with different content.
    Changed,
    /// Both sides have it, under different names.
    Renamed,
    /// Both sides have it, in different places or orders.
    Moved,
}

impl ChangeKind {
    /// Returns the word for the change.
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

/// A changed part or resource.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Change {
    pub change: ChangeKind,
    /// A resource's kind, or a part: `bootstrap` (an Envoy's start configuration without resources), `listener`, `filter chain`, `virtual host`,
    /// `host` (named by routes themselves), `route`, `cluster`, `endpoints`, `secret`.
    pub kind: String,
    /// Its name, on the second side if both have it.
    pub name: String,
    /// Its name or place on the first side, if it differs.
    pub was: Option<String>,
    /// For a renamed virtual host: how many of its routes are unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub fields: Vec<FieldChange>,
    /// Its origins on the first side.
    pub before: Vec<OriginView>,
    /// Its origins on the second side.
    pub after: Vec<OriginView>,
}

/// The differences between the configurations of two Envoys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvoyChanges {
    pub changes: Vec<Change>,
    /// The parts that were left out.
    pub uncompared: Uncompared,
}

/// All differences between two sides.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Comparison {
    /// Changed resources; empty if a side has none, as a running Envoy.
    pub resources: Vec<Change>,
    /// Changed parts of Envoy's configuration.
    pub envoy: Vec<Change>,
    /// Changed settings of the controller, with their effect.
    pub settings: Vec<SettingView>,
    /// The parts that were left out.
    #[serde(skip_serializing_if = "Uncompared::is_empty")]
    pub uncompared: Uncompared,
}

/// A changed setting of the controller.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SettingView {
    /// Its path in the controller's configuration.
    pub path: String,
    /// Its old value as JSON.
    pub before: Option<String>,
    /// Its new value as JSON.
    pub after: Option<String>,
    /// What the change restarts.
    #[serde(rename = "takes")]
    pub restart: Restart,
}

impl Comparison {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.envoy.is_empty() && self.settings.is_empty()
    }
}

/// Compares resources, Envoy's configuration, and the controller's own settings.
#[must_use]
pub fn compare(before: &Side<'_>, after: &Side<'_>) -> Comparison {
    let sources = before.source.as_ref().zip(after.source.as_ref());
    let resources = sources.map_or_else(Vec::new, |(before, after)| compare_resources(before, after));
    let settings = sources.map_or_else(Vec::new, |(before, after)| compare_settings(before.gateway.side, after.gateway.side));
    let EnvoyChanges { changes: envoy, uncompared } = compare_envoy(before, after);
    Comparison { resources, envoy, settings, uncompared }
}

/// Compares the resources of two inputs. The result does not depend on the gateways that the sources name.
#[must_use]
pub fn compare_resources(before: &SideSource<'_>, after: &SideSource<'_>) -> Vec<Change> {
    resources::compare(&before.written(), &after.written())
}

/// Compares the resources of two inputs.
#[must_use]
pub fn compare_written(before: &Written<'_>, after: &Written<'_>) -> Vec<Change> {
    resources::compare(before, after)
}

/// Compares the configurations of two Envoys. A running Envoy's configuration is first settled, as if all parts were inline. Certificates that the
/// source only names are left out and listed; so is an Envoy's bootstrap, if a server sends the rest.
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
        started::remove_changes(&mut changes, lost, &started::bootstrap_only(source.gateway));
        started::remove_changes(&mut changes, gained, &started::started_with(running));
    }
    EnvoyChanges { changes, uncompared: Uncompared { certificates: issued.into_iter().collect(), endpoints } }
}

/// Compares how a controller interprets its own configuration; empty if the controllers differ.
#[must_use]
pub fn compare_settings(before: &compilation::Side, after: &compilation::Side) -> Vec<SettingView> {
    if before.dialect != after.dialect {
        return Vec::new();
    }
    let changes = (after.dialect.setting_changes)(&before.answers, &after.answers).into_iter();
    let json = |node: Option<Node>| node.map(|node| to_json(&node, false));
    changes.map(|change| SettingView { path: change.path, before: json(change.before), after: json(change.after), restart: change.restart }).collect()
}

impl<'a> SideSource<'a> {
    fn written(&self) -> Written<'a> {
        Written { of: self.gateway.of(), positions: self.positions }
    }

    /// Returns the resource that a route was written in; `None` for a route that the controller adds by itself.
    fn owner(&self, route: &str) -> Option<ResourceRef> {
        let made = self.map.get(route).or_else(|| self.map.get(&alloc::format!("{route}/match")))?;
        let views = made.iter().map(|origin| OriginView::of(*origin, self.gateway.of(), self.positions));
        views.filter(|view| view.span.is_some()).find_map(|view| view.resource)
    }

    /// Returns the origins of a place in the bootstrap.
    fn origins(&self, pointer: &str) -> Vec<OriginView> {
        let made = self.map.lookup(pointer);
        let origins = made.iter().flat_map(|made| made.origins.iter().copied());
        let views = origins.map(|origin| OriginView::of(origin, self.gateway.of(), self.positions));
        views.filter(|view| view.resource.is_some()).take(4).collect()
    }
}
