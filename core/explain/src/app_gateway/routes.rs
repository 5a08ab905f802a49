//! Lists the rules of an Application Gateway as table rows, in the order of its decision: rules by priority, and the paths of each rule in order.
//!
//! Does not route requests; see `chancery_app_gateway`. Does not draw tables.

use super::Viewed;
use super::index::PartIndex;
use crate::{ResourceRef, RouteRow};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_app_gateway::route::{glob, matches};
use chancery_base::compilation::AppGatewayRef;
use chancery_base::ir::appgw::{HTTPS, Listener, Part, PathMap, Redirect, Reference, Rule, Settings};
use chancery_envoy::simulate::WrittenRequest;
use chancery_text::Str;

/// The destination of a rule, a path rule, or a path map's default.
struct Target<'p> {
    pool: &'p Option<Reference>,
    settings: &'p Option<Reference>,
    redirect: &'p Option<Reference>,
    rewrites: &'p Option<Reference>,
}

struct Rows<'a> {
    of: AppGatewayRef<'a>,
    parts: PartIndex<'a>,
    viewed: Viewed,
    rows: Vec<RouteRow>,
}

/// Returns all rules, in the order in which the gateway tries them.
pub fn app_gateway_routes(of: AppGatewayRef<'_>) -> Vec<RouteRow> {
    let Some(properties) = &of.parts.properties else { return Vec::new() };
    let mut rules: Vec<(usize, &Part<Rule>)> = properties.rules.iter().flatten().map(|rule| &**rule).enumerate().collect();
    let priority = |rule: &Part<Rule>| rule.properties.priority.map_or(i64::MAX, |priority| priority.value);
    rules.sort_by(|(_, one), (_, other)| priority(one).cmp(&priority(other)).then_with(|| one.name.cmp(&other.name)));
    let mut rows = Rows { of, parts: PartIndex::of(properties), viewed: Viewed::app_gateway(of.parts), rows: Vec::new() };
    for (at, rule) in rules {
        rows.rule(at, rule);
    }
    rows.rows
}

/// Returns a request that a row matches: the row at `pointer`, or else the first row that leads to a pool.
pub fn app_gateway_sample_request(rows: &[RouteRow], pointer: Option<&str>) -> Option<WrittenRequest> {
    let row = match pointer {
        Some(pointer) => rows.iter().find(|row| row.pointer == pointer)?,
        None => rows.iter().find(|row| row.action == "forward").or_else(|| rows.first())?,
    };
    let scheme = if row.chain == HTTPS { "https" } else { "http" };
    let host = row.domains.first().map_or("*", Str::as_str);
    let host = if host == "*" { "example.com".into() } else { host.replace('*', "www").replace('?', "x") };
    let path = row.path.strip_prefix("path ").unwrap_or("/").trim_end_matches('*');
    let usual = if scheme == "https" { "443" } else { "80" };
    let port = row.address.trim_start_matches(':');
    let port = if port == usual { String::new() } else { format!(":{port}") };
    let slash = if path.starts_with('/') { "" } else { "/" };
    Some(WrittenRequest { method: "GET".into(), url: format!("{scheme}://{host}{port}{slash}{path}"), ..WrittenRequest::default() })
}

/// Whether a row belongs to the host (if one is given) and matches the path.
pub fn app_gateway_row_matches(row: &RouteRow, host: Option<&str>, path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    let takes_host = |host: &str| row.domains.iter().any(|domain| domain == "*" || glob(&domain.to_lowercase(), &host.to_lowercase()));
    row.path.strip_prefix("path ").is_none_or(|pattern| matches(pattern, path)) && host.is_none_or(takes_host)
}

impl<'a> Rows<'a> {
    fn rule(&mut self, at: usize, rule: &'a Part<Rule>) {
        let of = &rule.properties;
        let Some(listener) = self.parts.listeners.get(&of.listener) else { return };
        let Some((map_at, map)) = self.parts.path_maps.place(&of.path_map) else {
            let target = Target { pool: &of.pool, settings: &of.settings, redirect: &of.redirect, rewrites: &of.rewrites };
            return self.row(format!("/properties/requestRoutingRules/{at}"), listener, "any path".into(), &target, 1);
        };
        let mut order = 0;
        let map_of: &PathMap = &map.properties;
        for (rule_at, path_rule) in map_of.rules.iter().flatten().enumerate() {
            let of = &path_rule.properties;
            let target = Target { pool: &of.pool, settings: &of.settings, redirect: &of.redirect, rewrites: &of.rewrites };
            for path in of.paths.iter().flatten() {
                order += 1;
                let pointer = format!("/properties/urlPathMaps/{map_at}/properties/pathRules/{rule_at}");
                self.row(pointer, listener, format!("path {}", path.value), &target, order);
            }
        }
        let of = map_of;
        let default =
            Target { pool: &of.default_pool, settings: &of.default_settings, redirect: &of.default_redirect, rewrites: &of.default_rewrites };
        self.row(format!("/properties/urlPathMaps/{map_at}"), listener, "any other path".into(), &default, order + 1);
    }

    fn row(&mut self, pointer: String, listener: &Part<Listener>, path: String, target: &Target<'_>, order: u32) {
        let port = self.parts.ports.get(&listener.properties.port).and_then(|port| port.properties.port).map(|port| port.value);
        let mut domains: Vec<Str> = listener.properties.hosts().map(|host| host.value.clone()).collect();
        if domains.is_empty() {
            domains.push("*".into());
        }
        let redirect = self.parts.redirects.get(target.redirect);
        let settings = self.parts.settings.get(target.settings);
        let pool = self.parts.pools.get(target.pool);
        let summary = match (redirect, pool) {
            (Some(redirect), _) => self.redirected(redirect),
            (None, Some(pool)) => {
                let addresses = pool.properties.addresses.iter().flatten();
                let count = addresses.clone().count();
                let first: Vec<&str> =
                    addresses.filter_map(|of| of.ip.as_ref().or(of.fqdn.as_ref())).take(3).map(|text| text.value.as_str()).collect();
                let more = if count > first.len() { format!(" and {} more", count - first.len()) } else { String::new() };
                match count {
                    0 => format!("{}: no addresses, answers 502", pool.name),
                    _ => format!("{}{more}, {}", first.join(", "), settings.map(describe_settings).unwrap_or_default()),
                }
            }
            (None, None) => "no pool: answers 502".into(),
        };
        let made_by = self.makers(&pointer);
        self.rows.push(RouteRow {
            pointer,
            listener: listener.name.clone(),
            address: format!(":{}", port.map_or_else(|| "?".to_string(), |port| port.to_string())),
            chain: listener.properties.protocol.as_ref().map(|protocol| protocol.value.to_string()).unwrap_or_default(),
            domains,
            order,
            path,
            conditions: Vec::new(),
            action: if redirect.is_some() { "redirect" } else { "forward" },
            summary,
            upstreams: pool.filter(|_| redirect.is_none()).map(|pool| pool.name.clone()).into_iter().collect(),
            policies: policies(settings.filter(|_| redirect.is_none()), target, listener),
            made_by,
            shadowed_by: None,
        });
    }

    fn redirected(&self, redirect: &Part<Redirect>) -> String {
        let of = &redirect.properties;
        let to = match (&of.target_url, self.parts.listeners.get(&of.target_listener)) {
            (Some(url), _) => url.value.to_string(),
            (None, Some(listener)) => format!("the listener {}", listener.name),
            (None, None) => "nowhere".into(),
        };
        let kind = of.redirect_type.as_ref().map(|kind| kind.value.as_str()).unwrap_or("Permanent");
        format!("redirect to {to} ({kind})")
    }

    /// Returns the resources that made the part at a pointer.
    fn makers(&self, pointer: &str) -> Vec<ResourceRef> {
        let made = self.viewed.map.lookup(pointer).filter(|made| made.pointer == pointer);
        let mut out: Vec<ResourceRef> = Vec::new();
        for origin in made.iter().flat_map(|made| made.origins.iter()) {
            let object = self.of.named.of.objects().get(origin.object());
            if let Some(name) = object.map(|object| ResourceRef::from(&object.key)).filter(|name| !out.contains(name)) {
                out.push(name);
            }
        }
        out
    }
}

/// Describes the protocol, port and timeout of a pool's addresses.
fn describe_settings(settings: &Part<Settings>) -> String {
    let of = &settings.properties;
    let protocol = of.protocol.as_ref().map_or("Http", |protocol| protocol.value.as_str()).to_uppercase();
    format!("{protocol} port {}", of.port.as_ref().map_or(80, |port| port.value))
}

fn policies(settings: Option<&Part<Settings>>, target: &Target<'_>, listener: &Part<Listener>) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(of) = settings.map(|settings| &settings.properties) {
        out.extend(of.path.as_ref().filter(|path| !path.is_empty()).map(|path| format!("path becomes {}", path.value)));
        out.extend(of.request_timeout.map(|seconds| format!("timeout {}s", seconds.value)));
        out.extend(of.host_name.as_ref().filter(|host| !host.is_empty()).map(|host| format!("host becomes {}", host.value)));
    }
    out.extend(target.rewrites.as_ref().map(|rewrites| format!("rewrites {}", rewrites.name())));
    out.extend(listener.properties.firewall_policy.as_ref().map(|policy| format!("firewall {}", policy.name())));
    out
}
