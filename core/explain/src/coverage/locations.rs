//! Lists the rules of an nginx and of an Application Gateway, and the rules that a request reached. Does not list their conditions or settings:
//! a location or a path rule has no further conditions.

use super::{Coverage, FoundPart, PartId, PartKind, written};
use crate::{AppGatewayReport, Positions, Viewed};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_app_gateway::route::Ending;
use chancery_base::compilation::{AppGatewayRef, NginxRef};
use chancery_base::ir::nginx::PathType;
use chancery_base::resource::Origin;
use chancery_nginx::simulate::Response;
use hashbrown::HashMap;

/// The locations of one nginx, by the origin of their paths.
#[derive(Debug, Default)]
pub struct NginxParts(HashMap<Origin, PartId>);

impl NginxParts {
    /// Adds the locations of an nginx to `all`.
    pub fn of(all: &mut Coverage, of: NginxRef<'_>, positions: &Positions<'_>) -> Self {
        let mut out = HashMap::new();
        for location in of.nginx.servers.iter().flat_map(|server| &server.locations) {
            // The origin of a request's step.
            let Some(origin) = location.path.origin.or(location.ingress.as_ref().and_then(|ingress| ingress.origin)) else { continue };
            let settings = &*location.settings;
            let kind = if settings.redirect.url.value.is_empty() { PartKind::Rule } else { PartKind::Redirect };
            let how = match (settings.rewrite.use_regex.value, location.path_type) {
                (true, _) => "regex",
                (false, PathType::Exact) => "path",
                (false, PathType::Prefix) => "prefix",
            };
            let origins = written([origin], positions);
            let found = FoundPart { kind, what: format!("{how} {}", location.path.value), holds: None, origins: &origins, unreachable: None };
            out.extend(all.add(found, of.named.of, positions).map(|id| (origin, id)));
        }
        Self(out)
    }

    /// Returns the locations that a request passed.
    #[must_use]
    pub fn reached(&self, of: &Response) -> BTreeSet<PartId> {
        let steps = of.way.iter().filter(|step| step.what == "location");
        steps.filter_map(|step| self.0.get(&step.origin?).copied()).collect()
    }
}

/// The rules of one Application Gateway, by rule and pattern; an empty pattern is the rest of a rule.
#[derive(Debug, Default)]
pub struct AppGatewayParts(HashMap<(String, String), PartId>);

impl AppGatewayParts {
    /// Adds the rules of an Application Gateway to `all`.
    pub fn of(all: &mut Coverage, of: AppGatewayRef<'_>, positions: &Positions<'_>) -> Self {
        let mut out = HashMap::new();
        let Some(properties) = &of.parts.properties else { return Self(out) };
        let viewed = Viewed::app_gateway(of.parts);
        let origins_at = |pointer: &str| -> Vec<Origin> {
            let made = viewed.map.get(pointer).map(<[Origin]>::to_vec).unwrap_or_default();
            let found = written(made, positions);
            if found.is_empty() {
                written(viewed.map.descendants(pointer).iter().flat_map(|made| made.origins.iter().copied()), positions)
            } else {
                found
            }
        };
        let maps = properties.path_maps.as_deref().unwrap_or_default();
        for (at, rule) in properties.rules.iter().flatten().enumerate() {
            let name = rule.name.to_string();
            let wanted = rule.properties.path_map.as_ref().map(|map| map.id.value.clone());
            let map = maps.iter().enumerate().find(|(_, map)| wanted.as_ref().is_some_and(|id| map.id.eq_ignore_ascii_case(id)));
            let mut add = |pattern: &str, what: String, redirects: bool, pointer: &str| {
                let kind = if redirects { PartKind::Redirect } else { PartKind::Rule };
                let origins = origins_at(pointer);
                let found = FoundPart { kind, what, holds: None, origins: &origins, unreachable: None };
                out.extend(all.add(found, of.named.of, positions).map(|id| ((name.clone(), pattern.to_string()), id)));
            };
            let Some((map_at, map)) = map else {
                let redirects = rule.properties.redirect.is_some();
                add("", format!("any path of rule {}", rule.name), redirects, &format!("/properties/requestRoutingRules/{at}"));
                continue;
            };
            for (rule_at, path_rule) in map.properties.rules.iter().flatten().enumerate() {
                let redirects = path_rule.properties.redirect.is_some();
                for path in path_rule.properties.paths.iter().flatten() {
                    let pointer = format!("/properties/urlPathMaps/{map_at}/properties/pathRules/{rule_at}");
                    add(&path.value, format!("path {}", path.value), redirects, &pointer);
                }
            }
            let redirects = map.properties.default_redirect.is_some();
            add("", "any other path".into(), redirects, &format!("/properties/urlPathMaps/{map_at}/properties/defaultBackendAddressPool"));
        }
        Self(out)
    }

    /// Returns the rules that a request passed.
    #[must_use]
    pub fn reached(&self, of: &AppGatewayReport) -> BTreeSet<PartId> {
        let Some(taken) = &of.journey.taken else { return BTreeSet::new() };
        if matches!(&of.journey.ending, Ending::Refused { code: None, .. }) {
            return BTreeSet::new();
        }
        let pattern = taken.path_rule.as_ref().map(|(_, pattern)| pattern.to_string()).unwrap_or_default();
        self.0.get(&(taken.rule.to_string(), pattern)).copied().into_iter().collect()
    }
}
