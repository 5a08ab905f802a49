//! Writes global rate limits: the filter, and the descriptors that routes send to the service.

use super::{HttpFilters, set_config};
use crate::model::{CidrMatch, HttpListener, HttpRoute, RateLimitRule, StringMatch, StringMatchKind};
use crate::xds::matcher::{cidr_range, header_matcher, string_matcher};
use crate::xds::proto::{Setting as _, any, derived, duration, extension, flag, list, message, one};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_text::Str;

const NAME: &str = "envoy.filters.http.ratelimit";
pub(crate) const CLUSTER: &str = "ratelimit_cluster";

/// The service that counts, as the controller's configuration names it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Service {
    pub(crate) host: Str,
    pub(crate) port: i64,
    /// A duration of protobuf; `Tree::NULL` if unset.
    pub(crate) timeout: Tree,
    pub(crate) fail_closed: bool,
}

/// The rules of a route, if it has any or could have.
pub(crate) fn global_rules(route: &HttpRoute) -> Option<&Vec<RateLimitRule>> {
    route.traffic.as_ref()?.rate_limit.as_ref()?.global.as_ref()
}

/// The name of what several routes count together.
fn shared_domain(name: &str) -> Str {
    match name.rfind("/rule/") {
        Some(at) => Str::new(name.get(..at).unwrap_or(name)),
        None => Str::from(name.replacen('/', "-", 1)),
    }
}

fn filter_name(domain: &str, listener: &str) -> String {
    if domain == listener { String::from(NAME) } else { format!("{NAME}/{domain}") }
}

pub(super) fn add_filters(filters: &mut HttpFilters, listener: &HttpListener, service: Option<&Service>) {
    let Some(service) = service else { return };
    // The filter of the first listener of a port is there for all.
    if filters.has(NAME) || !listener.routes.iter().any(|route| global_rules(route).is_some()) {
        return;
    }
    let rules = listener.routes.iter().filter_map(|route| global_rules(route)).flatten();
    let mut domains: BTreeSet<Str> = rules.filter(|rule| rule.shared.bool()).map(|rule| shared_domain(&rule.name)).collect();
    domains.insert(listener.core.name.clone());
    let headers = &listener.client.headers;
    let (enabled, limits) = (headers.get("enableEnvoyHeaders"), headers.get("disableRateLimitHeaders"));
    for domain in domains {
        let config = message! {
            "domain": &domain,
            "rate_limit_service": message! {
                "grpc_service": message! { "envoy_grpc": message! { "cluster_name": CLUSTER } },
                "transport_api_version": "V3",
            },
            "timeout": duration(&service.timeout),
            "disable_x_envoy_ratelimited_header": if enabled.bool() { Tree::NULL } else { derived(true, enabled) },
            "enable_x_ratelimit_headers": if limits.bool() { Tree::NULL } else { derived("DRAFT_VERSION_03", limits) },
            "failure_mode_deny": if service.fail_closed { true.into() } else { Tree::NULL },
        };
        filters.add(extension(&filter_name(&domain, &listener.core.name), "envoy.extensions.filters.http.ratelimit.v3.RateLimit", config));
    }
}

/// Tells the service what a request of this route is.
pub(super) fn configure_global(out: &mut Tree, route: &HttpRoute, listener: &Str) {
    let Some(rules) = global_rules(route).filter(|_| !out.get("route").is_null()) else { return };
    let mut domains: BTreeMap<Str, Vec<Tree>> = BTreeMap::new();
    for (at, rule) in rules.iter().enumerate() {
        let shared = rule.shared.bool();
        let domain = if shared { shared_domain(&rule.name) } else { listener.clone() };
        let number = rules.iter().take(at).filter(|other| other.shared.bool() == shared).count();
        domains.entry(domain).or_default().extend(limits(rule, number, &route.name));
    }
    for (domain, limits) in domains {
        let config = message! { "domain": &domain, "rate_limits": list(limits) };
        let config = any("envoy.extensions.filters.http.ratelimit.v3.RateLimitPerRoute", config);
        set_config(out, &filter_name(&domain, listener), config.or_from(rules.first().and_then(|rule| rule.origin)));
    }
}

pub(super) fn match_key(rule: usize, number: &str) -> String {
    format!("rule-{rule}-match-{number}")
}

fn generic_key(key: impl Into<Tree>) -> Tree {
    let key: Tree = key.into();
    message! { "generic_key": message! { "descriptor_key": key.clone(), "descriptor_value": key } }
}

fn limits(rule: &RateLimitRule, number: usize, route: &Str) -> Vec<Tree> {
    let methods = if rule.methods.is_empty() { alloc::vec![None] } else { rule.methods.iter().map(Some).collect() };
    let mut out = Vec::new();
    for method in methods {
        let mut actions = Vec::from([generic_key(if rule.shared.bool() { derived(&rule.name, &rule.shared) } else { route.into() })]);
        for (at, of) in rule.headers.iter().enumerate() {
            actions.push(match_action(&match_key(number, &at.to_string()), of, &of.name.value));
        }
        actions.extend(method.map(|of| match_action(&format!("rule-{number}-method"), of, ":method")));
        actions.extend(rule.path.as_ref().map(|of| match_action(&format!("rule-{number}-path"), of, ":path")));
        if let Some(of) = &rule.cidr {
            actions.push(cidr_action("masked_remote_address", of, false));
            if of.distinct {
                actions.push(cidr_action("remote_address", of, true));
            }
        }
        for (at, of) in rule.query.iter().enumerate() {
            actions.push(query_action(&match_key(number, &(rule.headers.len() + at).to_string()), of));
        }
        if !rule.has_match() {
            actions.push(generic_key(match_key(number, "-1")));
        }
        let metadata = rule.limit.get("fromMetadata").some().map(|of| {
            let key = message! { "key": of.get("namespace").clone(), "path": one(message! { "key": of.get("key").clone() }) };
            message! { "dynamic_metadata": message! { "metadata_key": key } }.or_from(of.origin)
        });
        let limit = message! {
            "actions": list(actions),
            "x_ratelimit_option": header_option(&rule.x_rate_limit),
            "limit": metadata,
        };
        let with_cost = |cost: &Tree| {
            let mut limit = limit.clone();
            limit.set(
                "hits_addend",
                cost.some()
                    .map(|cost| message! { "number": cost.get("number").clone(), "format": cost.get("format").clone() }.or_from(cost.origin))
                    .unwrap_or_default(),
            );
            limit.or_from(rule.origin)
        };
        out.push(with_cost(&rule.request_cost));
        if !rule.response_cost.is_null() {
            let mut limit = with_cost(&rule.response_cost);
            limit.set("apply_on_stream_done", derived(true, &rule.response_cost));
            out.push(limit);
        }
    }
    out
}

/// Which headers tell a client of a limit.
pub(super) fn header_option(of: &Tree) -> Tree {
    match of.text() {
        "Off" => derived("OFF", of),
        "DraftVersion03" => derived("DRAFT_VERSION_03", of),
        _ => Tree::NULL,
    }
}

/// Whether a header is as a rule wants it, or the header's value.
pub(super) fn match_action(key: &str, of: &StringMatch, header: &str) -> Tree {
    if of.kind == StringMatchKind::Distinct {
        return message! { "request_headers": message! { "header_name": of.name.clone(), "descriptor_key": key } }.or_from(of.name.origin);
    }
    let name = Sourced::new(Str::new(header), of.name.origin);
    let matcher = header_matcher(&StringMatch { name, ..of.clone() });
    let own = message! { "descriptor_key": key, "descriptor_value": key, "expect_match": expects_match(of), "headers": one(matcher) };
    message! { "header_value_match": own }.or_from(of.value.origin)
}

/// Whether the limit is for requests that match.
fn expects_match(of: &StringMatch) -> Tree {
    of.invert.map(|invert| !invert).into()
}

/// Whether a parameter is as a rule wants it, or the parameter's value.
pub(super) fn query_action(key: &str, of: &StringMatch) -> Tree {
    if of.kind == StringMatchKind::Distinct {
        return message! { "query_parameters": message! { "query_parameter_name": of.name.clone(), "descriptor_key": key } }.or_from(of.name.origin);
    }
    let matcher = message! { "name": of.name.clone(), "string_match": string_matcher(of) };
    let own = message! { "descriptor_key": key, "descriptor_value": key, "expect_match": expects_match(of), "query_parameters": one(matcher) };
    message! { "query_parameter_value_match": own }.or_from(of.value.origin)
}

pub(super) fn cidr_value(of: &CidrMatch) -> Tree {
    derived(if of.invert.value { format!("invert:{}", of.cidr.text()) } else { String::from(of.cidr.text()) }, &of.cidr)
}

/// Whether a client's address is in a range, or the address.
pub(super) fn cidr_action(key: &str, of: &CidrMatch, distinct: bool) -> Tree {
    let value = if distinct { "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%".into() } else { cidr_value(of) };
    let matcher = message! { "ranges": one(cidr_range(of)), "invert_match": flag(&Tree::from(of.invert)) };
    message! { "remote_address_match": message! { "descriptor_key": key, "descriptor_value": value, "address_matcher": matcher } }
        .or_from(of.cidr.origin)
}
