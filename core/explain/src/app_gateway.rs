//! Reports what an Application Gateway does with a request, in terms of the user's lines. Does not route requests; see `chancery_app_gateway`.

mod index;
mod routes;

pub(crate) use index::PartIndex;
pub use routes::{app_gateway_routes, app_gateway_row_matches, app_gateway_sample_request};

use super::unmatched::{self, UnservedResource};
use super::{Finding, Graph, GraphNode, OriginOf, OriginView, Positions, Relation, RequestVerdict, Viewed};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_app_gateway::rewrite::{Incoming, Rewritten, rewrite};
use chancery_app_gateway::route::{Ending, Journey, Request as Asked, try_request};
use chancery_base::compilation::AppGatewayRef;
use chancery_base::ir::appgw::{FrontendType, Gateway, HTTPS};
use chancery_envoy::simulate::{self, ClusterShare, Outcome, Request};
use chancery_text::{Node, Str};

/// What an Application Gateway does with a request, and the lines that cause it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct AppGatewayReport {
    #[serde(flatten)]
    pub journey: Journey,
    /// The result in one sentence, if it was computed.
    #[serde(skip_serializing_if = "RequestVerdict::is_empty")]
    pub verdict: RequestVerdict,
    /// The request after rewrites, if any known rewrite applies.
    pub rewritten: Option<Rewritten>,
    /// How the gateway checks the health of the addresses.
    pub probe: Option<ProbeView>,
    /// The origins of the parts that `journey` names.
    pub origins: Vec<OriginOf>,
    /// If no backend gets the request: resources for its host that are not served.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wanting: Vec<UnservedResource>,
    /// The errors and warnings about the rule that matches the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// If no path rule matches: a path rule that would match with `/*` at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near_path: Option<Str>,
}

impl AppGatewayReport {
    /// Returns the change that makes a near path match.
    #[must_use]
    pub fn near_path_note(&self) -> Option<String> {
        let near = self.near_path.as_ref()?;
        Some(format!("the path `{near}` matches only itself: write `{}/*` for the paths below it", near.trim_end_matches('/')))
    }
}

/// How the gateway checks the health of a pool's addresses. The result of the check is unknown.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ProbeView {
    /// The probe; `None` if the gateway uses its default probe.
    pub name: Option<Str>,
    /// The URL that the gateway requests from the first address.
    pub url: String,
    /// The `Host` header of the probe.
    pub host: String,
    /// Status codes, and ranges of them, that mean healthy.
    pub good: Vec<Str>,
    /// Seconds between two probes.
    pub interval: i64,
    /// How many failed probes in a row make an address unhealthy.
    pub failures: i64,
}

/// The lists that parts of a journey belong to, each with the word for such a part.
const LISTS: [(&str, &str); 3] = [("listener", "httpListeners"), ("rule", "requestRoutingRules"), ("pool", "backendAddressPools")];

/// Routes a request that arrives at the public address.
pub fn route_app_gateway(of: AppGatewayRef<'_>, positions: &Positions<'_>, request: &Request) -> AppGatewayReport {
    let (path, query) = request.path.split_once('?').map_or((request.path.as_str(), None), |(path, query)| (path, Some(query)));
    let host = request.authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let host = host.map_or(request.authority.as_str(), |(host, _)| host);
    // Nothing translates ports before an Application Gateway: it listens at the port of the URL.
    let port = request.port.or(request.url_port).map_or(if request.tls { 443 } else { 80 }, i64::from);
    let asked = Asked { frontend: FrontendType::Public, port, host, path, query };
    let mut journey = try_request(of.parts, &asked);
    let rewritten = rewritten(of.parts, &journey, &asked, request);
    if let Some(rewritten) = &rewritten {
        follow(of.parts, &mut journey, rewritten, asked);
    }
    let probe = probe(of.parts, &journey);
    let viewed = Viewed::app_gateway(of.parts);
    let mut origins = Vec::new();
    for (what, name) in named_parts(&journey) {
        let pointer = match what {
            PATH_RULE => path_rule_pointer(&viewed.root, &name),
            what => LISTS.iter().find(|(word, _)| *word == what).and_then(|(_, list)| pointer_of(&viewed.root, list, &name)),
        };
        let Some(pointer) = pointer else { continue };
        let Some(made) = viewed.map.lookup(&pointer) else { continue };
        let around = made.pointer != pointer;
        origins.extend(made.origins.iter().map(|origin| OriginOf {
            of: what.to_string(),
            pointer: pointer.clone(),
            around,
            origin: OriginView::of(*origin, of.named.of, positions),
        }));
    }
    let is_refused = matches!(journey.ending, Ending::Refused { .. });
    let wanting = if is_refused { unmatched::unserved_resources(of.named.of, positions, request) } else { Vec::new() };
    let rule = if journey.taken.as_ref().is_some_and(|taken| taken.path_rule.is_some()) { PATH_RULE } else { "rule" };
    let findings = unmatched::findings_of(&origins, rule, is_refused, of.named.of, positions);
    let near_path = near_path(&journey, path);
    AppGatewayReport { journey, verdict: RequestVerdict::default(), rewritten, probe, origins, wanting, findings, near_path }
}

/// Returns the longest pattern without `*` whose path contains the path of the request, if no path rule matches.
fn near_path(journey: &Journey, path: &str) -> Option<Str> {
    let is_unmatched = journey.taken.as_ref().is_some_and(|taken| taken.path_rule.is_none());
    let path = path.to_lowercase();
    let is_above = |pattern: &&Str| {
        let start = pattern.trim_end_matches('/').to_lowercase();
        !pattern.contains('*') && !start.is_empty() && path.strip_prefix(&start).is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
    };
    let patterns = journey.passed_paths.iter().flat_map(|(_, patterns)| patterns).filter(is_above);
    patterns.max_by_key(|pattern| pattern.len()).filter(|_| is_unmatched).cloned()
}

/// Applies the gateway's rewrites to a request.
fn rewritten(gateway: &Gateway, journey: &Journey, asked: &Asked<'_>, request: &Request) -> Option<Rewritten> {
    let name = journey.taken.as_ref()?.rewrites.as_ref()?;
    let set = gateway.properties.as_ref()?.rewrites.iter().flatten().find(|set| set.name == *name)?;
    let header = |name: &str| request.headers.first(&name.to_ascii_lowercase()).map(ToString::to_string);
    let incoming = Incoming {
        method: &request.method,
        scheme: if request.tls { "https" } else { "http" },
        host: asked.host,
        port: asked.port,
        path: asked.path,
        query: asked.query,
        header: &header,
    };
    Some(rewrite(&set.properties, &incoming))
}

/// Continues a journey with a rewritten path: to the same backend, or to the backend that the path map has for the new path.
fn follow(gateway: &Gateway, journey: &mut Journey, rewritten: &Rewritten, asked: Asked<'_>) {
    let Some(new) = &rewritten.path else { return };
    if rewritten.reroute {
        let again = try_request(gateway, &Asked { path: new, ..asked });
        let passed = core::mem::take(&mut journey.passed);
        *journey = Journey { passed, ..again };
        return;
    }
    if let Ending::Forwarded { path, .. } = &mut journey.ending
        && *path == asked.path
    {
        *path = Str::new(new);
    }
}

/// Returns the probe of the addresses at the end of a journey.
fn probe(gateway: &Gateway, journey: &Journey) -> Option<ProbeView> {
    let Ending::Forwarded { addresses, is_https, port, .. } = &journey.ending else { return None };
    let properties = gateway.properties.as_ref()?;
    let name = journey.taken.as_ref()?.settings.as_ref()?;
    let settings = properties.settings.iter().flatten().find(|settings| settings.name == *name)?;
    let named = settings.properties.probe.as_ref().map(|probe| probe.name());
    let probe = named.and_then(|name| properties.probes.iter().flatten().find(|probe| probe.name.eq_ignore_ascii_case(name)));
    let of = probe.map(|probe| probe.properties.clone()).unwrap_or_default();
    let is_https = of.protocol.as_ref().map_or(*is_https, |protocol| *protocol.value == *HTTPS);
    let port = of.port.as_ref().map_or(*port, |port| port.value);
    let path = of.path.as_ref().map_or("/", |path| path.value.as_str());
    let url = format!("{}://{}:{port}{path}", if is_https { "https" } else { "http" }, addresses.first()?);
    let good = of.answers.iter().flat_map(|answers| &answers.status_codes).flatten().map(|code| code.value.clone());
    let mut good: Vec<Str> = good.collect();
    if good.is_empty() {
        good.push(Str::new_static("200-399"));
    }
    Some(ProbeView {
        name: probe.map(|probe| probe.name.clone()),
        url,
        host: of.host.as_ref().map_or("127.0.0.1", |host| host.value.as_str()).into(),
        good,
        interval: of.interval.map_or(30, |interval| interval.value),
        failures: of.unhealthy_threshold.map_or(3, |failures| failures.value),
    })
}

/// Returns the ids of the story nodes that a request passes.
#[must_use]
pub fn app_gateway_story_path(report: &AppGatewayReport, story: &Graph) -> Vec<String> {
    let Some(taken) = &report.journey.taken else { return Vec::new() };
    let path = taken.path_rule.as_ref().map_or("/*", |(_, pattern)| pattern.as_str());
    let rule = format!("route:{path} {}", taken.listener);
    let is_rule = |node: &GraphNode| node.lane.is_some() && node.stands_for.iter().any(|id| id.ends_with(&rule));
    let pool = match &report.journey.ending {
        Ending::Forwarded { pool, .. } => format!("cluster:{pool}"),
        Ending::Redirected { .. } | Ending::Refused { .. } => String::new(),
    };
    let serves = |node: &GraphNode| !pool.is_empty() && node.lane.is_some() && node.stands_for.iter().any(|id| id.ends_with(&pool));
    let rules: Vec<&str> = story.nodes.iter().filter(|node| is_rule(node)).map(|node| node.id.as_str()).collect();
    let leads_there = |node: &GraphNode| {
        let mut edges = story.edges.iter().filter(|edge| edge.relation == Relation::Forwards && edge.from == node.id);
        node.lane.is_some() && edges.any(|edge| rules.contains(&edge.to.as_str()))
    };
    let passed = story.nodes.iter().filter(|node| is_rule(node) || serves(node) || leads_there(node));
    passed.map(|node| node.id.to_string()).collect()
}

fn named_parts(journey: &Journey) -> Vec<(&'static str, String)> {
    let mut named = Vec::new();
    if let Some(taken) = &journey.taken {
        named.extend([("listener", taken.listener.to_string()), ("rule", taken.rule.to_string())]);
        named.extend(taken.path_rule.as_ref().map(|(rule, _)| (PATH_RULE, rule.to_string())));
    }
    if let Ending::Forwarded { pool, .. } = &journey.ending {
        named.push(("pool", pool.to_string()));
    }
    named
}

/// The word for a path rule in a report's origins.
const PATH_RULE: &str = "path_rule";

/// Returns the place of a path rule; their names are unique.
fn path_rule_pointer(root: &Node, name: &str) -> Option<String> {
    let maps = root.at(&["properties", "urlPathMaps"])?.as_array()?;
    maps.iter().enumerate().find_map(|(map_at, map)| {
        let rules = map.at(&["properties", "pathRules"])?.as_array()?;
        let at = rules.iter().position(|rule| rule.get("name").and_then(Node::as_str) == Some(name))?;
        Some(format!("/properties/urlPathMaps/{map_at}/properties/pathRules/{at}"))
    })
}

fn pointer_of(root: &Node, list: &str, name: &str) -> Option<String> {
    let parts = root.at(&["properties", list])?.as_array()?;
    let at = parts.iter().position(|part| part.get("name").and_then(Node::as_str) == Some(name))?;
    Some(format!("/properties/{list}/{at}"))
}

/// Converts the end of a journey to the endings that all gateways share.
#[must_use]
pub fn app_gateway_ending(journey: &Journey) -> simulate::Ending {
    match &journey.ending {
        Ending::Forwarded { pool, host, path, .. } => simulate::Ending {
            outcome: Outcome::Forward,
            clusters: Vec::from([ClusterShare { name: pool.to_string(), weight: 100, percent: 100.0 }]),
            authority: host.as_ref().map(|host| host.to_string()),
            path: Some(path.to_string()),
            ..simulate::Ending::default()
        },
        Ending::Redirected { code, location } => simulate::Ending {
            outcome: Outcome::Redirect,
            status: Some(u32::from(*code)),
            location: Some(location.clone()),
            ..simulate::Ending::default()
        },
        Ending::Refused { code: None, .. } => simulate::Ending { outcome: Outcome::NoListener, ..simulate::Ending::default() },
        Ending::Refused { code: Some(code), .. } => {
            let outcome = if journey.taken.is_some() { Outcome::DirectResponse } else { Outcome::NoRoute };
            simulate::Ending { outcome, status: Some(u32::from(*code)), ..simulate::Ending::default() }
        }
    }
}

/// Describes the end of a journey as the end of a sentence: `goes to pool-a as /shop/`.
#[must_use]
pub fn describe_app_gateway_ending(journey: &Journey) -> String {
    match &journey.ending {
        Ending::Refused { code: Some(code), why } => format!("is answered {code}: {why}"),
        Ending::Refused { code: None, why } => format!("is not answered: {why}"),
        Ending::Forwarded { .. } | Ending::Redirected { .. } => app_gateway_ending(journey).summary(),
    }
}

#[cfg(test)]
mod tests;
