//! Writes routes: their matches and actions. Does not write the configuration of filters; see `filters`.

use super::filters;
use super::header_changes::added_headers;
use super::load_balancer::hash_policies;
use super::matcher::{header_matcher, string_matcher};
use super::metadata::write_metadata;
use super::proto::{
    SECOND, Setting as _, copied, derived, duration, empty, flag, fraction, inline_bytes, list, message, nanos, non_empty, of_hundred, of_million,
    one, proto_duration, regex,
};
use super::retries::retry_policy;
use super::tracing::{custom_tags, operations};
use crate::model::{
    BackendCluster, Destination, DestinationFilters, DirectResponse, HttpListener, HttpRoute, Mirror, Redirect, StringMatch, StringMatchKind,
    Traffic, UrlRewrite,
};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_kubernetes::go::quote_meta;

/// Weights of the backends of a destination.
#[derive(Default)]
struct Weights {
    invalid: i64,
    empty: i64,
}

impl Weights {
    fn of(destination: &Destination) -> Self {
        let mut weights = Self::default();
        for setting in &destination.settings {
            let Some(weight) = &setting.weight else { continue };
            if setting.invalid {
                weights.invalid = weights.invalid.saturating_add(weight.value);
            } else if !setting.is_dynamic_resolver && !setting.is_custom_backend && setting.endpoints.is_empty() {
                weights.empty = weights.empty.saturating_add(weight.value);
            }
        }
        weights
    }
}

/// Whether each backend needs its own cluster.
pub(crate) fn needs_cluster_per_setting(route: &HttpRoute, destination: &Destination) -> bool {
    let balancer = route.traffic.as_ref().map(|traffic| &traffic.cluster.load_balancer);
    let by_zone = |of: &Tree| !of.at(&["zoneAware", "preferLocal"]).is_null() || !of.at(&["zoneAware", "weightedZones"]).items().is_empty();
    let weights = Weights::of(destination);
    balancer.is_some_and(by_zone) || weights.invalid > 0 || weights.empty > 0 || has_mixed_settings(destination)
}

/// Whether the backends of a destination are too different for one cluster.
fn has_mixed_settings(of: &Destination) -> bool {
    use crate::model::{AddressType, AppProtocol};
    let kinds = || of.settings.iter().filter_map(|setting| setting.address_type);
    let mixed = kinds().any(|kind| kind == AddressType::Mixed);
    let fqdn = kinds().any(|kind| kind == AddressType::Fqdn) && kinds().any(|kind| kind != AddressType::Fqdn);
    let filters = of.settings.iter().any(|setting| setting.filters.is_some());
    let local = of.settings.len() > 1 && of.settings.iter().any(|setting| !setting.prefer_local.is_null());
    let http1 = of.settings.iter().any(|setting| setting.force_http1);
    let http2 = of.settings.iter().any(|setting| matches!(setting.protocol, AppProtocol::Http2 | AppProtocol::Grpc));
    let auto = of.settings.iter().filter(|setting| setting.tls.as_ref().is_some_and(|tls| tls.auto_sni_from_endpoint_hostname)).count();
    mixed || fqdn || filters || local || http1 && http2 || auto > 0 && auto != of.settings.len()
}

/// Whether a destination has its own cluster.
pub(crate) fn needs_route_cluster(of: &Destination) -> bool {
    !of.settings.is_empty() || of.cluster_refs.is_empty()
}

/// The cluster of a destination that has exactly one.
pub(crate) fn single_cluster(of: &Destination) -> &str {
    match of.cluster_refs.first() {
        Some(first) if of.settings.is_empty() => &first.name,
        _ => &of.name,
    }
}

/// Builds a route, or says why it cannot be.
///
/// `hidden` are request headers that no backend of the listener sees.
pub(crate) fn build(route: &HttpRoute, listener: &HttpListener, shared: &[BackendCluster], hidden: &[Tree]) -> Result<Tree, String> {
    let mut out = message! {
        "name": Tree::from(&route.name).or_from(route.origin),
        "match": route_match(route),
        "metadata": write_metadata(Some(&route.metadata)),
        "request_headers_to_add": added_headers(&route.add_request_headers),
        "response_headers_to_add": added_headers(&route.add_response_headers),
    };
    let removed = |names: &[chancery_base::resource::Sourced<chancery_text::Str>]| -> Vec<Tree> { names.iter().cloned().map(Tree::from).collect() };
    let mut requests = removed(&route.remove_request_headers);
    requests.extend(hidden.iter().cloned());
    out.set("request_headers_to_remove", list(requests));
    out.set("response_headers_to_remove", list(removed(&route.remove_response_headers)));
    if let Some(direct) = &route.direct_response {
        out.set("direct_response", direct_response(direct));
    } else if let Some(redirect) = &route.redirect {
        out.set("redirect", redirect_action(redirect, route.path.as_ref()));
    } else {
        out.set("route", action(route, listener, shared)?);
    }
    if let Some(tracing) = route.traffic.as_ref().and_then(|traffic| traffic.telemetry.get("tracing").some()) {
        out.set("tracing", route_tracing(tracing)?);
    }
    out.set("stat_prefix", copied(&route.stat_name));
    filters::configure_route(&mut out, route, listener)?;
    Ok(out.or_from(route.origin))
}

fn route_match(route: &HttpRoute) -> Tree {
    let upgrades = route.traffic.as_ref().and_then(|traffic| traffic.http_upgrade.as_ref());
    let connect = upgrades.and_then(|all| all.iter().find(|upgrade| upgrade.get("type").text().eq_ignore_ascii_case("CONNECT")));
    let mut out = match connect {
        Some(connect) => message! { "connect_matcher": empty() }.or_from(connect.origin),
        None => path_match(route.path.as_ref()),
    };
    out.set("headers", list(route.headers.iter().map(header_matcher).collect()));
    let query = route.query.iter().map(|of| message! { "name": of.name.clone(), "string_match": string_matcher(of) });
    out.set("query_parameters", list(query.collect()));
    let cookies = route.cookies.iter().map(|of| {
        message! { "name": of.name.clone(), "string_match": string_matcher(of), "invert_match": flag(&Tree::from(of.invert)) }
    });
    out.set("cookies", list(cookies.collect()));
    out
}

fn path_match(path: Option<&StringMatch>) -> Tree {
    let Some(path) = path else { return message! { "prefix": "/" } };
    let value = Tree::from(path.value.clone());
    match path.kind {
        StringMatchKind::Exact => message! { "path": value },
        StringMatchKind::Prefix if value.is("/") => message! { "prefix": value },
        StringMatchKind::Prefix => {
            let trimmed = value.text().strip_suffix('/').unwrap_or(value.text());
            message! { "path_separated_prefix": derived(trimmed, &value) }
        }
        StringMatchKind::Regex => message! { "safe_regex": regex(value) },
        _ => empty(),
    }
    .or_from(path.value.origin)
}

fn action(route: &HttpRoute, listener: &HttpListener, shared: &[BackendCluster]) -> Result<Tree, String> {
    let mut out = match &route.destination {
        Some(destination) => cluster_specifier(route, destination, shared),
        None => empty(),
    };
    if let Some(rewrite) = &route.rewrite {
        rewrite_url(&mut out, rewrite, route);
    }
    out.set("idle_timeout", idle_timeout(route, listener));
    out.set("request_mirror_policies", mirrors(&route.mirrors));
    if !route.is_http2 {
        out.set("upgrade_configs", upgrades(route.traffic.as_deref()));
    }
    if let Some(traffic) = &route.traffic {
        let hashes = hash_policies(&traffic.cluster.load_balancer);
        if !hashes.is_empty()
            && let Some(clusters) = out.get_mut("weighted_clusters")
        {
            clusters.set("use_hash_policy", derived(true, traffic.cluster.load_balancer.get("consistentHash")));
        }
        out.set("hash_policy", list(hashes));
        let longest = traffic.cluster.timeout.at(&["http", "maxStreamDuration"]);
        out.set(
            "max_stream_duration",
            longest.some().map(|of| message! { "max_stream_duration": duration(of) }.or_from(of.origin)).unwrap_or_default(),
        );
    }
    out.set("timeout", duration(request_timeout(route)));
    let retry = if route.retry.is_null() { route.traffic.as_ref().map_or(&Tree::NULL, |traffic| &traffic.retry) } else { &route.retry };
    if !retry.is_null() {
        out.set("retry_policy", retry_policy(retry)?);
    }
    Ok(out.or_from(route.origin))
}

fn cluster_specifier(route: &HttpRoute, destination: &Destination, shared: &[BackendCluster]) -> Tree {
    let known: Vec<_> = destination.cluster_refs.iter().filter(|of| shared.iter().any(|cluster| cluster.name == of.name)).collect();
    let count = known.len() + usize::from(!destination.settings.is_empty());
    if !needs_cluster_per_setting(route, destination) && count <= 1 {
        let name = match &known[..] {
            [only] => &only.name,
            _ => &destination.name,
        };
        return message! { "cluster": Tree::from(name).or_from(destination.origin) };
    }
    let weights = Weights::of(destination);
    let mut clusters = Vec::new();
    let unavailable = weights.invalid.saturating_add(weights.empty);
    if unavailable > 0 {
        let broken = destination.settings.iter().find(|of| of.invalid || of.endpoints.is_empty()).and_then(|of| of.origin);
        clusters.push(message! { "name": "invalid-backend-cluster", "weight": unavailable }.or_from(broken));
    }
    for setting in &destination.settings {
        if setting.endpoints.is_empty() && !setting.is_dynamic_resolver {
            continue;
        }
        let weight = setting.weight.map_or_else(|| 1_i64.into(), Tree::from);
        let mut cluster = message! { "name": Tree::from(&setting.name).or_from(setting.origin), "weight": weight };
        if let Some(filters) = &setting.filters {
            filter_cluster(&mut cluster, filters);
        }
        clusters.push(cluster.or_from(setting.origin));
    }
    for of in known {
        let Some(weight) = &of.weight else { continue };
        clusters.push(message! { "name": &of.name, "weight": *weight }.or_from(weight.origin));
    }
    message! {
        "cluster_not_found_response_code": if weights.empty > 0 { "SERVICE_UNAVAILABLE" } else { "INTERNAL_SERVER_ERROR" },
        "weighted_clusters": message! { "clusters": list(clusters) },
    }
}

fn filter_cluster(cluster: &mut Tree, filters: &DestinationFilters) {
    let names = |names: &[chancery_base::resource::Sourced<chancery_text::Str>]| list(names.iter().cloned().map(Tree::from).collect());
    cluster.set("request_headers_to_add", added_headers(&filters.add_request_headers));
    cluster.set("request_headers_to_remove", names(&filters.remove_request_headers));
    cluster.set("response_headers_to_add", added_headers(&filters.add_response_headers));
    cluster.set("response_headers_to_remove", names(&filters.remove_response_headers));
    if let Some(rewrite) = &filters.rewrite {
        cluster.set("host_rewrite_literal", rewrite.host.name.clone());
    }
}

/// The timeout of a whole request: the rule's own comes first.
pub(crate) fn request_timeout(route: &HttpRoute) -> &Tree {
    const NONE: &Tree = &Tree::NULL;
    if route.timeout.is_null() {
        return route.traffic.as_ref().map_or(NONE, |traffic| traffic.cluster.timeout.at(&["http", "requestTimeout"]));
    }
    &route.timeout
}

fn idle_timeout(route: &HttpRoute, listener: &HttpListener) -> Tree {
    let own = route.traffic.as_ref().map_or(&Tree::NULL, |traffic| traffic.cluster.timeout.at(&["http", "streamIdleTimeout"]));
    if !own.is_null() {
        return duration(own);
    }
    if !listener.client.timeout.at(&["http", "streamIdleTimeout"]).is_null() {
        return Tree::NULL;
    }
    let request = request_timeout(route);
    let Some(span) = nanos(request) else { return Tree::NULL };
    let idle = if span == 0 { 0 } else { span.max(3600 * SECOND) };
    derived(proto_duration(idle), request)
}

fn upgrades(traffic: Option<&Traffic>) -> Tree {
    let websocket = || one(message! { "upgrade_type": "websocket" });
    let Some(traffic) = traffic else { return websocket() };
    let Some(upgrades) = traffic.http_upgrade.as_ref().filter(|upgrades| !upgrades.is_empty()) else {
        return if traffic.request_buffer.is_null() { websocket() } else { Tree::NULL };
    };
    let upgrade = |of: &Tree| {
        let kind = of.get("type");
        let terminates = kind.is("CONNECT") && of.at(&["connect", "terminate"]).bool();
        let config = if terminates { derived(empty(), of.at(&["connect", "terminate"])) } else { Tree::NULL };
        message! { "upgrade_type": kind.clone(), "connect_config": config }.or_from(of.origin)
    };
    list(upgrades.iter().map(upgrade).collect())
}

fn mirrors(of: &[Mirror]) -> Tree {
    let mirror = |of: &Mirror| {
        let share = match of.percentage.some() {
            Some(percentage) if percentage.float() > 0.0 => of_million(percentage),
            Some(_) => return None,
            None => of_hundred(100),
        };
        let policy = message! {
            "cluster": Tree::from(&of.destination.name).or_from(of.destination.origin),
            "runtime_fraction": message! { "default_value": share },
            "disable_shadow_host_suffix_append": true,
        };
        Some(policy.or_from(of.origin))
    };
    list(of.iter().filter_map(mirror).collect())
}

/// Prefixes that are replaced by `/` need an expression, as Envoy would leave two slashes.
fn prefix_to_root<'p>(path: Option<&'p StringMatch>, replacement: &Tree) -> Option<&'p StringMatch> {
    path.filter(|path| path.kind == StringMatchKind::Prefix && matches!(replacement.text(), "" | "/"))
}

fn root_rewrite(prefix: &StringMatch, replacement: &Tree) -> Tree {
    let pattern = format!("^{}\\/*", quote_meta(&prefix.value.value));
    message! { "pattern": regex(Tree::from(pattern).or_from(prefix.value.origin)), "substitution": derived("/", replacement) }
        .or_from(replacement.origin)
}

fn substitution(pattern: &Tree, replacement: &Tree) -> Tree {
    message! { "pattern": regex(pattern.clone()), "substitution": replacement.clone() }.or_from(pattern.origin)
}

fn rewrite_url(out: &mut Tree, rewrite: &UrlRewrite, route: &HttpRoute) {
    let path = &rewrite.path;
    if !path.full.is_null() {
        let whole = message! { "pattern": regex("^/.*$"), "substitution": path.full.clone() };
        out.set("regex_rewrite", whole.or_from(path.full.origin));
    } else if !path.prefix.is_null() {
        match prefix_to_root(route.path.as_ref(), &path.prefix) {
            Some(prefix) => out.set("regex_rewrite", root_rewrite(prefix, &path.prefix)),
            None => {
                let trimmed = path.prefix.text().strip_suffix('/').unwrap_or(path.prefix.text());
                out.set("prefix_rewrite", derived(trimmed, &path.prefix));
            }
        }
    } else if let Some((pattern, replacement)) = &path.regex {
        out.set("regex_rewrite", substitution(pattern, replacement));
    }
    let host = &rewrite.host;
    let has_host = !host.name.is_null() || !host.header.is_null() || !host.backend.is_null() || host.path_regex.is_some();
    if !host.name.is_null() {
        out.set("host_rewrite_literal", host.name.clone());
    } else if !host.header.is_null() {
        out.set("host_rewrite_header", host.header.clone());
    } else if !host.backend.is_null() && !route.destination.as_ref().is_some_and(Destination::is_dynamic_resolver) {
        out.set("auto_host_rewrite", derived(true, &host.backend));
    } else if let Some((pattern, replacement)) = &host.path_regex {
        out.set("host_rewrite_path_regex", substitution(pattern, replacement));
    }
    if has_host && (rewrite.append_x_forwarded_host.is_null() || rewrite.append_x_forwarded_host.bool()) {
        out.set("append_x_forwarded_host", derived(true, &rewrite.append_x_forwarded_host));
    }
}

fn redirect_action(of: &Redirect, path: Option<&StringMatch>) -> Tree {
    let mut out = message! { "scheme_redirect": of.scheme.clone(), "host_redirect": of.hostname.clone() };
    if !of.path.full.is_null() {
        out.set("path_redirect", of.path.full.clone());
    } else if !of.path.prefix.is_null() {
        match prefix_to_root(path, &of.path.prefix) {
            Some(prefix) => out.set("regex_rewrite", root_rewrite(prefix, &of.path.prefix)),
            None => out.set("prefix_rewrite", of.path.prefix.clone()),
        }
    }
    out.set("port_redirect", if matches!(of.port.int(), 0 | 80 | 443) { Tree::NULL } else { of.port.clone() });
    let code = match of.status.int() {
        302 => "FOUND",
        303 => "SEE_OTHER",
        307 => "TEMPORARY_REDIRECT",
        308 => "PERMANENT_REDIRECT",
        _ => "",
    };
    out.set("response_code", non_empty(code).or_from(of.status.origin));
    out.or_from(of.origin)
}

fn direct_response(of: &DirectResponse) -> Tree {
    let body = if let Some(binary) = of.body.find("base64") {
        message! { "text_format_source": message! { "inline_bytes": binary.clone() } }.or_from(of.body.origin)
    } else if of.body.text().is_empty() {
        Tree::NULL
    } else {
        message! { "text_format_source": inline_bytes(of.body.text().as_bytes(), of.body.origin) }.or_from(of.body.origin)
    };
    message! { "status": of.status, "body_format": body }
}

fn route_tracing(of: &Tree) -> Result<Tree, String> {
    let pairs = |of: &Tree| -> Vec<(chancery_text::Str, Tree)> { of.fields().to_vec() };
    let client = of.get("clientSamplingFraction");
    let (operation, upstream) = operations(of.get("spanName"));
    let out = message! {
        "client_sampling": if client.is_null() { of_hundred(0) } else { fraction(client) },
        "random_sampling": fraction(of.get("samplingFraction")),
        "overall_sampling": fraction(of.get("overallSamplingFraction")),
        "custom_tags": custom_tags(&pairs(of.get("customTags")), &pairs(of.get("tags")))?,
        "operation": operation,
        "upstream_operation": upstream,
    };
    Ok(out.or_from(of.origin))
}
