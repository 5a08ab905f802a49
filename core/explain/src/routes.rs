//! Lists the routes as a table in the order of Envoy's decision: listener, chain, virtual host, routes in order.
//!
//! Does not route requests (see `route`) or draw the table.

mod verbatim;

use crate::ResourceRef;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::GatewayRef;
use chancery_base::ir::{
    FilterChain, HeaderMatch, HostRewrite, Listener, NetworkFilter, PathMatch, PathRewrite, PerFilter, Plain, Redirect, RedirectCode, RedirectPath,
    Route, RouteAction, RouteMatch, StringMatch, Tree, UpstreamClusters,
};
use chancery_base::resource::{Origin, Sourced};
use chancery_envoy::simulate::percent;
use chancery_text::Str;
use core::fmt::Write;
use core::time::Duration;
use hashbrown::HashMap;

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RouteRow {
    /// JSON pointer of the route in the bootstrap.
    pub pointer: String,
    /// Name of the listener.
    pub listener: Str,
    /// The listener's address, `0.0.0.0:8080`.
    pub address: String,
    /// The connections that its filter chain matches, as a phrase.
    pub chain: String,
    /// Domains of the virtual host.
    pub domains: Vec<Str>,
    /// Its number among the routes of the virtual host, from 1.
    pub order: u32,
    /// How the path is matched, `prefix /api/`.
    pub path: String,
    /// Further conditions.
    pub conditions: Vec<String>,
    /// `forward`, `redirect`, `respond` or `tcp`.
    pub action: &'static str,
    /// The action, as a phrase.
    pub summary: String,
    /// Clusters that it forwards to.
    pub upstreams: Vec<Str>,
    /// Further effects: timeouts, retries, rewrites...
    pub policies: Vec<String>,
    /// The resources that made it; the first is the main one.
    pub made_by: Vec<ResourceRef>,
    /// The number of an earlier route that matches all its requests.
    pub shadowed_by: Option<u32>,
}

/// An iterator over routes, in one type for all sources.
pub type RouteRows<'a> = Box<dyn Iterator<Item = RouteRow> + 'a>;

/// Returns all routes in the order in which Envoy tries them. Each row is made on demand.
///
/// ```
/// use chancery_base::compilation::Options;
/// use chancery_compile::Compiler;
/// use chancery_base::resource::Inputs;
/// use chancery_explain::routes;
///
/// let inputs = Inputs::one("quote.yaml", "\
/// apiVersion: getambassador.io/v3alpha1
/// kind: Listener
/// metadata: {name: web}
/// spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
/// ---
/// apiVersion: getambassador.io/v3alpha1
/// kind: Mapping
/// metadata: {name: quote}
/// spec: {hostname: \"*\", prefix: /quote/, service: quote, timeout_ms: 9000}
/// ");
/// let mut compiler = Compiler::new(&[&chancery_ambassador::DIALECT]);
/// let compilation = compiler.compile(&inputs, &Options::default());
/// let gateway = compilation.gateways().next().expect("Emissary runs one gateway");
///
/// assert!(routes(gateway).any(|row| row.action == "forward" && row.made_by.iter().any(|by| by.name == "quote")));
/// ```
pub fn routes(gateway: GatewayRef<'_>) -> RouteRows<'_> {
    let listeners = gateway.ir.listeners.iter().enumerate();
    let chains = listeners.flat_map(|(at, listener)| {
        let place = format!("/static_resources/listeners/{at}/filter_chains");
        listener.chains.iter().enumerate().map(move |(at, chain)| (listener, chain, format!("{place}/{at}/filters")))
    });
    let own = chains.flat_map(move |(listener, chain, place)| {
        let filters = chain.filters.iter().enumerate();
        filters.flat_map(move |(at, filter)| rows_of_filter(gateway, (listener, chain), filter, format!("{place}/{at}")))
    });
    Box::new(own.chain(verbatim::routes(gateway)))
}

/// Iterates over the routes of a filter at a pointer, because there may be tens of thousands.
fn rows_of_filter<'a>(
    gateway: GatewayRef<'a>,
    (listener, chain): (&'a Listener, &'a FilterChain),
    filter: &'a NetworkFilter,
    pointer: String,
) -> RouteRows<'a> {
    let manager = match filter {
        NetworkFilter::Http(manager) => manager,
        NetworkFilter::Tcp(proxy) => {
            let mut row = row(pointer, listener, chain, Vec::new());
            row.order = 1;
            row.action = "tcp";
            row.path = "any connection".into();
            row.upstreams = proxy.clusters.iter().map(|cluster| cluster.name.value.clone()).collect();
            row.summary = "forwards bytes".into();
            row.made_by = makers(&chain.origins, gateway);
            return Box::new(core::iter::once(row));
        }
    };
    Box::new(manager.routes.virtual_hosts.iter().enumerate().flat_map(move |(host_at, host)| {
        let pointer = format!("{pointer}/typed_config/route_config/virtual_hosts/{host_at}/routes");
        let mut before = EarlierRoutes::default();
        host.routes.iter().enumerate().map(move |(at, route)| {
            let domains = host.domains.iter().map(|domain| domain.value.clone()).collect();
            let mut row = row(format!("{pointer}/{at}"), listener, chain, domains);
            row.order = at as u32 + 1;
            fill(&mut row, route, gateway);
            row.shadowed_by = before.shadows(&route.matcher, &host.routes);
            before.add(at, &route.matcher);
            row
        })
    }))
}

pub fn count_routes(gateway: GatewayRef<'_>) -> usize {
    let filters = gateway.ir.listeners.iter().flat_map(|listener| &listener.chains).flat_map(|chain| &chain.filters);
    let of_filter = |filter: &NetworkFilter| match filter {
        NetworkFilter::Http(manager) => manager.routes.virtual_hosts.iter().map(|host| host.routes.len()).sum(),
        NetworkFilter::Tcp(_) => 1,
    };
    let own = &gateway.ir.delivery.verbatim;
    filters.map(of_filter).sum::<usize>() + own.listeners.iter().chain(&own.routes).map(|of| routes_in(of)).sum::<usize>()
}

pub fn count_clusters(gateway: GatewayRef<'_>) -> usize {
    gateway.ir.clusters.len() + gateway.ir.delivery.verbatim.clusters.len()
}

/// Counts the routes of all virtual hosts of a verbatim message.
fn routes_in(tree: &Tree) -> usize {
    match &tree.value {
        Plain::List(items) => items.iter().map(routes_in).sum(),
        Plain::Object(fields) => {
            let of_field = |(name, value): &(Str, Tree)| match (name.as_str(), &value.value) {
                ("virtual_hosts", Plain::List(hosts)) => hosts.iter().map(routes_of_host).sum(),
                _ => routes_in(value),
            };
            fields.0.iter().map(of_field).sum()
        }
        _ => 0,
    }
}

fn routes_of_host(host: &Tree) -> usize {
    let Plain::Object(fields) = &host.value else { return 0 };
    let routes = fields.0.iter().find(|(name, _)| name == "routes").map(|(_, routes)| &routes.value);
    if let Some(Plain::List(routes)) = routes { routes.len() } else { 0 }
}

impl RouteRow {
    /// Creates a row with only its place: its listener with the address, and its filter chain as a phrase.
    fn at(pointer: String, listener: Str, address: String, chain: String) -> Self {
        Self {
            pointer,
            listener,
            address,
            chain,
            domains: Vec::new(),
            order: 0,
            path: String::new(),
            conditions: Vec::new(),
            action: "forward",
            summary: String::new(),
            upstreams: Vec::new(),
            policies: Vec::new(),
            made_by: Vec::new(),
            shadowed_by: None,
        }
    }
}

fn row(pointer: String, listener: &Listener, chain: &FilterChain, domains: Vec<Str>) -> RouteRow {
    let address = format!("{}:{}", listener.address.address.value, listener.address.port.value);
    RouteRow { domains, ..RouteRow::at(pointer, listener.name.value.clone(), address, chain_words(chain)) }
}

/// Describes a weighted split: `90 % to cart, 10 % to cart-next`.
fn by_weight<'a>(all: impl Iterator<Item = (&'a str, i64)> + Clone) -> String {
    let total = all.clone().map(|(_, weight)| weight).sum::<i64>();
    let share = |weight: i64| percent(if total == 0 { 0.0 } else { weight as f64 * 100.0 / total as f64 });
    all.map(|(name, weight)| format!("{}% to {name}", share(weight))).collect::<Vec<_>>().join(", ")
}

fn chain_words(chain: &FilterChain) -> String {
    let names: Vec<&str> = chain.matcher.iter().flat_map(|matcher| &matcher.server_names).map(|name| name.value.as_str()).collect();
    let secured = chain.tls.is_some() || chain.matcher.as_ref().is_some_and(|matcher| matcher.transport_protocol.as_deref() == Some("tls"));
    match (secured, names.is_empty()) {
        (true, true) => "TLS".into(),
        (true, false) => format!("TLS, SNI {}", names.join(", ")),
        (false, true) => "cleartext".into(),
        (false, false) => names.join(", "),
    }
}

fn makers(origins: &[Origin], gateway: GatewayRef<'_>) -> Vec<ResourceRef> {
    let mut out: Vec<ResourceRef> = Vec::new();
    for object in origins.iter().filter_map(|origin| gateway.compilation.objects.get(origin.object())) {
        let name = ResourceRef::from(&object.key);
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

/// The routes of a virtual host so far, by their path: only a prefix of a path can cover it.
#[derive(Default)]
struct EarlierRoutes<'a>(HashMap<&'a str, Vec<usize>>);

impl<'a> EarlierRoutes<'a> {
    fn add(&mut self, at: usize, matcher: &'a RouteMatch) {
        self.0.entry(path_text(matcher)).or_default().push(at);
    }

    /// Returns the number, from 1, of the first route that matches all requests of this one.
    fn shadows(&self, matcher: &RouteMatch, routes: &[Arc<Route>]) -> Option<u32> {
        let path = path_text(matcher);
        let shorter = path.char_indices().map(|(at, _)| &path[..at]).chain([path, "/"]).filter_map(|prefix| self.0.get(prefix));
        // Many routes may have the same path and differ in headers.
        let some = shorter.flat_map(|all| all.iter().take(MOST_ALIKE)).copied();
        let found = some.filter(|at| routes.get(*at).is_some_and(|route| covers(&route.matcher, matcher))).min()?;
        Some(found as u32 + 1)
    }
}

/// How many routes of one path are compared.
const MOST_ALIKE: usize = 64;

fn path_text(matcher: &RouteMatch) -> &str {
    match &matcher.path.value {
        PathMatch::Prefix(path) | PathMatch::PathSeparatedPrefix(path) | PathMatch::Exact(path) => path,
        PathMatch::Regex(regex) => &regex.regex,
    }
}

/// Whether the first matcher matches all requests that the second matches.
fn covers(first: &RouteMatch, second: &RouteMatch) -> bool {
    let path = match (&first.path.value, &second.path.value) {
        (PathMatch::Prefix(first), PathMatch::Prefix(second) | PathMatch::Exact(second) | PathMatch::PathSeparatedPrefix(second)) => {
            second.starts_with(first.as_str())
        }
        (PathMatch::Prefix(first), PathMatch::Regex(_)) => first == "/",
        (first, second) => first == second,
    };
    let case = |of: &RouteMatch| of.case_sensitive.as_ref().is_none_or(|sensitive| sensitive.value);
    let all = |first: &RouteMatch| {
        first.headers.iter().all(|header| second.headers.contains(header)) && first.query.iter().all(|query| second.query.contains(query))
    };
    path && (case(first) == case(second) || !case(first))
        && all(first)
        && first.fraction.as_ref().is_none_or(|of| of.percent.value >= 100)
        && (!first.grpc || second.grpc)
}

fn fill(row: &mut RouteRow, route: &Route, gateway: GatewayRef<'_>) {
    row.path = match &route.matcher.path.value {
        PathMatch::Prefix(path) => format!("prefix {path}"),
        PathMatch::PathSeparatedPrefix(path) => format!("segments {path}"),
        PathMatch::Exact(path) => format!("exactly {path}"),
        PathMatch::Regex(regex) => format!("regex {}", regex.regex),
    };
    row.conditions = conditions(&route.matcher);
    row.made_by = makers(&route.origins, gateway);
    match &route.action {
        RouteAction::Forward(forward) => {
            row.upstreams = match &forward.clusters {
                UpstreamClusters::One(name) => Vec::from([name.value.clone()]),
                UpstreamClusters::Weighted(all) => all.iter().map(|cluster| cluster.name.value.clone()).collect(),
            };
            row.summary = match &forward.clusters {
                UpstreamClusters::One(name) => format!("to {}", name.value),
                UpstreamClusters::Weighted(all) => {
                    by_weight(all.iter().map(|cluster| (cluster.name.value.as_str(), i64::from(cluster.weight.value))))
                }
            };
            policies(&mut row.policies, forward);
        }
        RouteAction::Redirect(redirect) => {
            row.action = "redirect";
            row.summary = redirect_words(redirect);
        }
        RouteAction::Respond(answer) => {
            row.action = "respond";
            row.summary = format!("answers {}", answer.status.value);
        }
    }
    let headers = route.request_headers.add.len() + route.request_headers.remove.len();
    if headers > 0 {
        row.policies.push(format!("changes {headers} request header{}", if headers == 1 { "" } else { "s" }));
    }
    let headers = route.response_headers.add.len() + route.response_headers.remove.len();
    if headers > 0 {
        row.policies.push(format!("changes {headers} response header{}", if headers == 1 { "" } else { "s" }));
    }
    for (_, filter) in &route.per_filter {
        row.policies.push(match &filter.value {
            PerFilter::ExtAuthzDisabled => "no authorization".into(),
            PerFilter::ExtAuthzContext(_) => "context for authorization".into(),
            PerFilter::Cors(_) => "CORS".into(),
            PerFilter::Rbac(_) => "allowed and denied addresses".into(),
            PerFilter::LocalRateLimit(_) => "local rate limit".into(),
            PerFilter::HostRateLimits(_) => "rate limits of the host".into(),
            PerFilter::Jwt(provider) => format!("token of {provider}"),
            PerFilter::Lua { script, .. } => format!("script {script}"),
        });
    }
}

fn text_match(name: &str, value: &StringMatch, invert: bool) -> String {
    let (is, not) = (if invert { "is not" } else { "is" }, if invert { "does not " } else { "" });
    let s = if invert { "" } else { "s" };
    match value {
        StringMatch::Exact(text) => format!("{name} {is} {text}"),
        StringMatch::Prefix(text) => format!("{name} {not}start{s} with {text}"),
        StringMatch::Suffix(text) => format!("{name} {not}end{s} with {text}"),
        StringMatch::Contains(text) => format!("{name} {not}contain{s} {text}"),
        StringMatch::Regex(regex) => format!("{name} {not}match{} {}", if invert { "" } else { "es" }, regex.regex),
        StringMatch::Present => format!("{name} is {}", if invert { "absent" } else { "there" }),
    }
}

fn conditions(matcher: &RouteMatch) -> Vec<String> {
    let mut out = Vec::new();
    for Sourced { value: HeaderMatch { name, value, invert, .. }, .. } in &matcher.headers {
        out.push(text_match(name, value, *invert));
    }
    for query in &matcher.query {
        out.push(text_match(&format!("?{}", query.value.name), &query.value.value, false));
    }
    // 100 % is not a condition.
    if let Some(fraction) = matcher.fraction.as_ref().filter(|fraction| fraction.percent.value < 100) {
        out.push(format!("{}% of requests", fraction.percent.value));
    }
    if matcher.grpc {
        out.push("gRPC only".into());
    }
    if matcher.case_sensitive.as_ref().is_some_and(|sensitive| !sensitive.value) {
        out.push("case-insensitive".into());
    }
    out
}

fn seconds(of: Duration) -> String {
    match (of.as_secs(), of.subsec_millis()) {
        (0, millis) => format!("{millis} ms"),
        (seconds, 0) => format!("{seconds} s"),
        (seconds, millis) => format!("{seconds}.{millis:03} s"),
    }
}

fn policies(out: &mut Vec<String>, forward: &chancery_base::ir::Forward) {
    if let Some(timeout) = &forward.timeout {
        out.push(if timeout.value.is_zero() { "no timeout".into() } else { format!("timeout {}", seconds(timeout.value)) });
    }
    if let Some(rewrite) = &forward.path_rewrite {
        out.push(match &rewrite.value {
            PathRewrite::Prefix(path) => format!("path becomes {path}"),
            PathRewrite::Regex(regex) => format!("path becomes {}", regex.substitution),
        });
    }
    if let Some(rewrite) = &forward.host_rewrite {
        match &rewrite.value {
            HostRewrite::Literal(host) | HostRewrite::LiteralAndAuto(host, _) => out.push(format!("host becomes {host}")),
            HostRewrite::Auto(true) => out.push("host becomes the endpoint's".into()),
            HostRewrite::Auto(false) => {}
            HostRewrite::Header(name) => out.push(format!("host becomes header {name}")),
        }
    }
    if let Some(retry) = &forward.retry {
        let times = retry.value.num_retries.as_ref().map_or(1, |times| times.value);
        out.push(format!("retries {times}x on {}", retry.value.retry_on.value));
    }
    if forward.cors.is_some() {
        out.push("CORS".into());
    }
    if !forward.rate_limits.is_empty() {
        out.push(format!("{} rate limit{}", forward.rate_limits.len(), if forward.rate_limits.len() == 1 { "" } else { "s" }));
    }
    for mirror in &forward.mirrors {
        out.push(format!("mirrors {}% to {}", mirror.value.percent.value, mirror.value.cluster.value));
    }
    if !forward.hash_policies.is_empty() {
        out.push("sticky".into());
    }
    for upgrade in &forward.upgrades {
        out.push(format!("upgrades to {}", upgrade.value));
    }
}

fn redirect_words(redirect: &Redirect) -> String {
    let code = match redirect.code.as_ref().map(|code| code.value) {
        None | Some(RedirectCode::MovedPermanently) => 301,
        Some(RedirectCode::Found) => 302,
        Some(RedirectCode::SeeOther) => 303,
        Some(RedirectCode::TemporaryRedirect) => 307,
        Some(RedirectCode::PermanentRedirect) => 308,
    };
    let mut out = format!("redirects ({code}) to ");
    if redirect.https.as_ref().is_some_and(|https| https.value) {
        out.push_str("https://");
    }
    out.push_str(redirect.host.as_ref().map_or("the same host", |host| &host.value));
    if let Some(path) = &redirect.path {
        let text = match &path.value {
            RedirectPath::Full(path) | RedirectPath::Prefix(path) => path.to_string(),
            RedirectPath::Regex(regex) => regex.substitution.to_string(),
        };
        let _ = write!(out, ", path {text}");
    }
    out
}
