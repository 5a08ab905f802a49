//! The filter that decides who may do what.

use super::{HttpFilters, set_config};
use crate::model::{Authorization, AuthorizationRule, CidrMatch, HttpListener, HttpRoute};
use crate::xds::cel::parsed_expression;
use crate::xds::matcher::{all_of, any_of, cidr_range, leaf, on_match, rbac_action, request_header};
use crate::xds::proto::{Setting as _, any, derived, empty, extension, list, message, number_text, one, re2};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_kubernetes::go::quote_meta;

const RBAC: &str = "envoy.filters.http.rbac";

fn authorization(route: &HttpRoute) -> Option<&Authorization> {
    route.security.as_ref()?.authorization.as_ref()
}

pub(super) fn add_filter(filters: &mut HttpFilters, listener: &HttpListener) {
    if listener.routes.iter().any(|route| authorization(route).is_some()) {
        filters.add(extension(RBAC, "envoy.extensions.filters.http.rbac.v3.RBAC", empty()));
    }
}

pub(super) fn configure(out: &mut Tree, route: &HttpRoute) -> Result<(), String> {
    if let Some(of) = authorization(route) {
        let rbac = message! { "matcher": rule_matcher(of, http_rule)? };
        let config = any("envoy.extensions.filters.http.rbac.v3.RBACPerRoute", message! { "rbac": rbac });
        set_config(out, RBAC, config.or_from(of.origin));
    }
    Ok(())
}

/// Rules in their order, and what happens if none matches.
fn rule_matcher(of: &Authorization, predicate: fn(&AuthorizationRule) -> Result<Tree, String>) -> Result<Tree, String> {
    let mut matchers = Vec::new();
    for rule in &of.rules {
        let action = rbac_action(rule.name.clone(), !rule.action.is("Deny")).or_from(rule.action.origin);
        matchers.push(on_match(predicate(rule)?, action).or_from(rule.origin));
    }
    let default = rbac_action("default", of.default_action.is("Allow")).or_from(of.default_action.origin);
    Ok(message! {
        "matcher_list": if matchers.is_empty() { Tree::NULL } else { message! { "matchers": list(matchers) } },
        "on_no_match": message! { "action": default },
    })
}

/// The filter for connections: only addresses count.
pub(crate) fn network_filter(stat_prefix: &Tree, of: &Authorization) -> Result<Tree, String> {
    let matcher = rule_matcher(of, |rule| Ok(addresses(&rule.principal.client_cidrs)))?;
    let config = message! { "stat_prefix": stat_prefix.clone(), "matcher": matcher };
    Ok(extension("envoy.filters.network.rbac", "envoy.extensions.filters.network.rbac.v3.RBAC", config).or_from(of.origin))
}

fn http_rule(rule: &AuthorizationRule) -> Result<Tree, String> {
    let principal = &rule.principal;
    let mut all = Vec::new();
    let methods = rule.operation.get("methods").items();
    all.push(any_of(methods.iter().map(|method| header_is(":method", method, true)).collect()));
    all.push(path(rule.operation.get("path")));
    all.push(addresses(&principal.client_cidrs));
    all.push(any_of(principal.geo.iter().map(location).filter(|of| !of.is_null()).collect()));
    if let Some(expression) = rule.cel.some() {
        all.push(cel(expression)?);
    }
    all.extend(tokens(&principal.jwt));
    for header in &principal.headers {
        let name = header.get("name");
        let values = header.get("values").items().iter();
        all.push(any_of(values.map(|value| header_is(name.clone(), value, false)).collect()));
    }
    Ok(all_of(all.into_iter().filter(|of| !of.is_null()).collect()))
}

fn header_is(name: impl Into<Tree>, value: &Tree, ignore_case: bool) -> Tree {
    let matcher = message! { "exact": value.clone(), "ignore_case": if ignore_case { true.into() } else { Tree::NULL } };
    leaf(request_header(name), "value_match", matcher).or_from(value.origin)
}

/// An address within any of these ranges; null if there are none.
fn addresses(ranges: &[CidrMatch]) -> Tree {
    if ranges.is_empty() {
        return Tree::NULL;
    }
    let kind = "envoy.extensions.matching.common_inputs.network.v3.SourceIPInput";
    let input = extension("client_ip", kind, empty());
    let config = message! { "cidr_ranges": list(ranges.iter().map(cidr_range).collect()), "stat_prefix": "client_ip" };
    leaf(input, "custom_match", extension("ip_matcher", "envoy.extensions.matching.input_matchers.ip.v3.Ip", config))
}

fn path(of: &Tree) -> Tree {
    if of.is_null() {
        return Tree::NULL;
    }
    let value = of.get("value");
    let matcher = match of.get("type").text() {
        "Exact" => message! { "safe_regex": re2(derived(exact_path(value.text()), value)) },
        "RegularExpression" => message! { "safe_regex": re2(value.clone()) },
        _ if value.is("/") => message! { "prefix": value.clone() },
        _ => message! { "safe_regex": re2(derived(path_prefix(value.text()), value)) },
    };
    let predicate = leaf(request_header(":path"), "value_match", matcher).or_from(of.origin);
    if of.get("invert").bool() { message! { "not_matcher": predicate }.or_from(of.get("invert").origin) } else { predicate }
}

/// A path below a prefix, whole segments only, with whatever follows a path.
fn path_prefix(prefix: &str) -> String {
    format!("^{}(/.*|\\?.*|#.*|;.*|$)", quote_meta(prefix.strip_suffix('/').unwrap_or(prefix)))
}

/// This path alone, with whatever follows a path.
fn exact_path(path: &str) -> String {
    format!("^{}(\\?.*|#.*|;.*|$)", quote_meta(path))
}

fn location(of: &Tree) -> Tree {
    const PREFIX: &str = "x-eg-internal-geoip";
    let mut fields = Vec::new();
    for (field, header) in [("country", "country"), ("region", "region"), ("city", "city")] {
        fields.extend(of.get(field).some().map(|value| header_is(format!("{PREFIX}-{header}"), value, true)));
    }
    fields.extend(of.get("asn").some().map(|value| header_is(format!("{PREFIX}-asn"), &number_text(value), false)));
    fields.extend(of.get("isp").some().map(|value| header_is(format!("{PREFIX}-isp"), value, true)));
    let anonymous = of.get("anonymous");
    for (field, header) in
        [("isAnonymous", "anon"), ("isVPN", "anon-vpn"), ("isHosting", "anon-hosting"), ("isTor", "anon-tor"), ("isProxy", "anon-proxy")]
    {
        let flag = |value: &Tree| Tree::from(value.bool().to_string()).or_from(value.origin);
        fields.extend(anonymous.get(field).some().map(|value| header_is(format!("{PREFIX}-{header}"), &flag(value), false)));
    }
    all_of(fields)
}

fn cel(expression: &Tree) -> Result<Tree, String> {
    let parsed = parsed_expression(expression.text())?;
    let input = extension("cel", "xds.type.matcher.v3.HttpAttributesCelMatchInput", empty());
    let config = message! { "expr_match": message! { "cel_expr_parsed": parsed } };
    let matcher = extension("cel_matcher", "xds.type.matcher.v3.CelMatcher", config);
    Ok(leaf(input, "custom_match", matcher).or_from(expression.origin))
}

fn metadata_input(name: &str, provider: &Tree, keys: impl Iterator<Item = Tree>) -> Tree {
    let mut path = Vec::from([message! { "key": provider.clone() }]);
    path.extend(keys.map(|key| message! { "key": key }));
    let config = message! { "filter": "envoy.filters.http.jwt_authn", "path": list(path) };
    extension(name, "envoy.extensions.matching.common_inputs.network.v3.DynamicMetadataInput", config)
}

fn metadata_match(name: &str, value: Tree) -> Tree {
    extension(name, "envoy.extensions.matching.input_matchers.metadata.v3.Metadata", message! { "value": value })
}

fn exactly(value: &Tree) -> Tree {
    message! { "string_match": message! { "exact": value.clone() } }
}

fn one_of(value: &Tree) -> Tree {
    message! { "list_match": message! { "one_of": exactly(value) } }
}

fn tokens(of: &Tree) -> Vec<Tree> {
    let provider = of.get("provider");
    let scope = |scope: &Tree| {
        let at = |key: &str| {
            let input = metadata_input("scope", provider, core::iter::once(Tree::from(key)));
            leaf(input, "custom_match", metadata_match("scope_matcher", one_of(scope))).or_from(scope.origin)
        };
        any_of(Vec::from([at("scope"), at("scp")]))
    };
    let claim = |claim: &Tree| {
        let name = claim.get("name");
        let is_list = claim.get("valueType").is("StringArray");
        let values = claim.get("values").items().iter().map(|value| {
            let input = metadata_input("claim", provider, name.text().split('.').map(|key| derived(key, name)));
            let wanted = if is_list { one_of(value) } else { exactly(value) };
            leaf(input, "custom_match", metadata_match("claim_matcher", wanted)).or_from(value.origin)
        });
        any_of(values.collect())
    };
    let scopes = of.get("scopes").items().iter().map(scope);
    scopes.chain(of.get("claims").items().iter().map(claim)).collect()
}

/// A filter that lets no connection to the proxy itself through, by a table of server names.
pub(crate) fn deny_server_names(stat_prefix: &Tree, names: &str) -> Tree {
    let permission = message! { "requested_server_name": message! { "safe_regex": message! { "regex": names } } };
    let policy = message! { "permissions": one(permission), "principals": one(message! { "any": true }) };
    let rules = message! { "action": "DENY", "policies": message! { "deny-loopback-sni": policy } };
    let config = message! { "stat_prefix": stat_prefix.clone(), "rules": rules };
    extension("envoy.filters.network.rbac", "envoy.extensions.filters.network.rbac.v3.RBAC", config)
}
