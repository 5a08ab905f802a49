//! Compares two compiled inputs with all their gateways, for hosts that show the result as data. Does not compare a gateway; see `compare_envoy`.

use super::{
    AppGatewaySide, Change, RequestChange, RequestOptions, Side, SideSource, Written, app_gateway_requests, compare_app_gateways, compare_envoy,
    compare_written, requests,
};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, GatewayRef};
use chancery_base::output_map::OutputMap;
use chancery_compile::EmittedByGateway;
use chancery_envoy::config::EnvoyConfig;

/// The differences between two inputs.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct InputChanges {
    /// Changed resources.
    pub resources: Vec<Change>,
    /// Changed gateways.
    pub gateways: Vec<GatewayChanges>,
}

/// The differences in one gateway.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct GatewayChanges {
    /// Its name.
    pub gateway: String,
    /// `added`, `removed` or `compared`.
    pub state: &'static str,
    /// Changed parts of its configuration.
    pub parts: Vec<Change>,
    /// Requests that it treats differently.
    pub requests: Vec<RequestChange>,
    /// Cases that the comparison does not decide, one sentence each.
    pub limits: Vec<String>,
}

/// Compares two inputs. Gateways of the same dialect and name are compared, or the only gateways of both.
#[must_use]
pub fn compare_inputs(before: (&Compilation, &mut EmittedByGateway), after: (&Compilation, &mut EmittedByGateway)) -> InputChanges {
    let (old, old_emitted) = before;
    let (new, new_emitted) = after;
    let (old_positions, new_positions) = (old.positions(), new.positions());
    let mut out = InputChanges::default();
    if let (Some(before), Some(after)) = (old.sides().next(), new.sides().next()) {
        let (before, after) = (Written { of: before, positions: &old_positions }, Written { of: after, positions: &new_positions });
        out.resources = compare_written(&before, &after);
    }
    let name = |gateway: GatewayRef<'_>| gateway.label().unwrap_or_else(|| gateway.id.as_str().into());
    let are_only = old.gateways().count() == 1 && new.gateways().count() == 1;
    let is_same = |a: GatewayRef<'_>, b: GatewayRef<'_>| a.side.dialect.name == b.side.dialect.name && (are_only || a.id == b.id);
    for gateway in old.gateways() {
        let Some(now) = new.gateways().find(|now| is_same(gateway, *now)) else {
            out.gateways.push(GatewayChanges { gateway: name(gateway), state: "removed", ..GatewayChanges::default() });
            continue;
        };
        let (old_map, new_map) = (map_of(gateway, old_emitted), map_of(now, new_emitted));
        let (old_config, new_config) = (EnvoyConfig::of(gateway.ir), EnvoyConfig::of(now.ir));
        let before = Side { config: &old_config, source: Some(SideSource { gateway, positions: &old_positions, map: &old_map }) };
        let after = Side { config: &new_config, source: Some(SideSource { gateway: now, positions: &new_positions, map: &new_map }) };
        let parts = compare_envoy(&before, &after).changes;
        let found = requests(&before, &after, &RequestOptions::default());
        out.add(name(now), parts, found.changes, found.limits);
    }
    for gateway in new.gateways().filter(|now| !old.gateways().any(|gateway| is_same(gateway, *now))) {
        out.gateways.push(GatewayChanges { gateway: name(gateway), state: "added", ..GatewayChanges::default() });
    }
    for (gateway, now) in old.app_gateways().zip(new.app_gateways()) {
        let before = AppGatewaySide::new(gateway, &old_positions);
        let after = AppGatewaySide::new(now, &new_positions);
        let parts = compare_app_gateways(&before, &after);
        let found = app_gateway_requests(&before, &after);
        out.add(now.named.id.as_str().into(), parts, found.changes, found.limits);
    }
    out
}

fn map_of(gateway: GatewayRef<'_>, emitted: &mut EmittedByGateway) -> OutputMap {
    chancery_envoy::emit::output_map(gateway.ir, &chancery_envoy::Options::default(), emitted.of(gateway))
}

impl InputChanges {
    /// Adds a compared gateway, unless nothing differs.
    fn add(&mut self, gateway: String, parts: Vec<Change>, requests: Vec<RequestChange>, limits: Vec<String>) {
        if !parts.is_empty() || !requests.is_empty() {
            self.gateways.push(GatewayChanges { gateway, state: "compared", parts, requests, limits });
        }
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.gateways.is_empty()
    }
}
