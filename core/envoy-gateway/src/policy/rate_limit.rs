//! Limits of requests, as BackendTrafficPolicies write them. Does not attach policies.

use super::super::model::{CidrMatch, LocalRateLimit, RateLimit, RateLimitRule, StringMatch, StringMatchKind};
use super::super::value::text_of;
use super::super::xds::proto::Setting as _;
use super::matching::{cidr, expression};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_kubernetes::go;
use chancery_text::Str;

/// Reads `rateLimit` of the policy with this namespace and name.
pub(super) fn rate_limit(spec: &Tree, policy: (&Str, &Str), is_global_enabled: bool) -> Result<Option<RateLimit>, String> {
    let written = spec.get("rateLimit");
    if written.is_null() {
        return Ok(None);
    }
    let local = || local(written.get("local"), policy);
    let global = || global(written.get("global"), policy, is_global_enabled);
    let limit = match written.get("type").some() {
        None => {
            let local = written.get("local").some().map(|_| local()).transpose()?;
            let global = written.get("global").some().map(|_| global()).transpose()?;
            RateLimit { global, local }
        }
        Some(kind) if kind.is("Global") => RateLimit { global: Some(global()?), local: None },
        Some(kind) if kind.is("Local") => RateLimit { global: None, local: Some(local()?) },
        Some(kind) => return Err(format!("invalid rateLimit type: {}", kind.text())),
    };
    Ok(Some(limit))
}

fn seconds(unit: &str) -> i64 {
    match unit {
        "Second" => 1,
        "Minute" => 60,
        "Hour" => 3600,
        "Day" => 86_400,
        "Week" => 604_800,
        "Month" => 2_592_000,
        "Year" => 31_536_000,
        _ => 0,
    }
}

fn local(written: &Tree, policy: (&Str, &Str)) -> Result<LocalRateLimit, String> {
    if written.is_null() {
        return Err("local configuration empty for rateLimit".into());
    }
    let rules = written.get("rules").items();
    let mut general = rules.iter().filter(|rule| rule.get("clientSelectors").items().is_empty());
    let default = general.next();
    if general.next().is_some() {
        return Err("local rateLimit can not have more than one rule without clientSelectors".into());
    }
    let limit = match default {
        Some(rule) => rule.get("limit").clone(),
        None => Tree::object([("requests", Tree::from(i64::from(u32::MAX))), ("unit", Tree::from("Second"))]).with_origin(written.origin),
    };
    let unit = seconds(limit.get("unit").text());
    if rules.iter().any(|rule| unit == 0 || seconds(rule.at(&["limit", "unit"]).text()) % unit != 0) {
        return Err("local rateLimit rule limit unit must be a multiple of the default limit unit".into());
    }
    let special = rules.iter().enumerate().filter(|(_, rule)| !rule.get("clientSelectors").items().is_empty());
    Ok(LocalRateLimit {
        default: limit,
        rules: special.map(|(at, rule)| self::rule(rule, policy, at)).collect::<Result<_, _>>()?,
        default_x_rate_limit: default.map(|rule| rule.get("xRateLimitHeaders").clone()).unwrap_or_default(),
    })
}

fn global(written: &Tree, policy: (&Str, &Str), is_enabled: bool) -> Result<Vec<RateLimitRule>, String> {
    if written.is_null() {
        return Err("global configuration empty for rateLimit".into());
    }
    if !is_enabled {
        return Err("enable Ratelimit in the EnvoyGateway config to configure global rateLimit".into());
    }
    written.get("rules").items().iter().enumerate().map(|(at, rule)| self::rule(rule, policy, at)).collect()
}

fn string_match(name: &Tree, kind: StringMatchKind, value: &Tree, invert: Sourced<bool>) -> StringMatch {
    StringMatch { name: text_of(name), kind, value: text_of(value), invert }
}

fn rule(written: &Tree, (namespace, name): (&Str, &Str), index: usize) -> Result<RateLimitRule, String> {
    let mut rule = RateLimitRule {
        limit: written.get("limit").clone(),
        request_cost: cost(written.at(&["cost", "request"])),
        response_cost: cost(written.at(&["cost", "response"])),
        shared: written.get("shared").clone(),
        shadow_mode: written.get("shadowMode").clone(),
        x_rate_limit: written.get("xRateLimitHeaders").clone(),
        name: Str::from(format!("{namespace}/{name}/rule/{index}")),
        origin: written.origin,
        ..RateLimitRule::default()
    };
    for selector in written.get("clientSelectors").items() {
        let lists = ["headers", "methods", "queryParams"];
        let is_empty = lists.iter().all(|list| selector.get(list).items().is_empty());
        if is_empty && selector.get("path").is_null() && selector.get("sourceCIDR").is_null() {
            let words = "At least one of the header or method or path or sourceCIDR or queryParameters must be specified";
            return Err(format!("unable to translate rateLimit. {words}"));
        }
        for of in selector.get("headers").items() {
            rule.headers.push(header(of)?);
        }
        for of in selector.get("methods").items() {
            rule.methods.push(string_match(&Tree::NULL, StringMatchKind::Exact, of.get("value"), of.get("invert").flag()));
        }
        if let Some(of) = selector.get("path").some() {
            rule.path = Some(path(of)?);
        }
        if let Some(of) = selector.get("sourceCIDR").some() {
            let found = cidr(of.get("value")).map_err(|error| format!("unable to translate rateLimit: {error}"))?;
            rule.cidr = Some(CidrMatch { distinct: of.get("type").is("Distinct"), invert: of.get("invert").flag(), ..found });
        }
        for of in selector.get("queryParams").items() {
            rule.query.push(parameter(of)?);
        }
    }
    Ok(rule)
}

fn header(of: &Tree) -> Result<StringMatch, String> {
    let (name, value, invert) = (of.get("name"), of.get("value"), of.get("invert").flag());
    match (of.get("type").text(), value.some()) {
        ("" | "Exact", Some(_)) => Ok(string_match(name, StringMatchKind::Exact, value, invert)),
        ("RegularExpression", Some(_)) => {
            expression(value.text())?;
            Ok(string_match(name, StringMatchKind::Regex, value, invert))
        }
        ("Distinct", None) if invert.value => Err("unable to translate rateLimit.Invert is not applicable for distinct header match type".into()),
        ("Distinct", None) => Ok(string_match(name, StringMatchKind::Distinct, &Tree::NULL, Sourced::default())),
        _ => Err("unable to translate rateLimit. Either the header.Type is not valid or the header is missing a value".into()),
    }
}

fn path(of: &Tree) -> Result<StringMatch, String> {
    let (value, invert) = (of.get("value"), of.get("invert").flag());
    let found = |kind: StringMatchKind, value: Sourced<Str>| Ok(StringMatch { kind, value, invert, ..StringMatch::default() });
    match of.get("type").text() {
        "" | "PathPrefix" if value.is("/") => found(StringMatchKind::Prefix, text_of(value)),
        "" | "PathPrefix" => {
            let prefix = value.text();
            let quoted = go::quote_meta(prefix.strip_suffix('/').unwrap_or(prefix));
            found(StringMatchKind::Regex, Sourced::new(Str::from(format!("^{quoted}(/.*|\\?.*|#.*|;.*|$)")), value.origin))
        }
        "Exact" => found(StringMatchKind::Exact, text_of(value)),
        "RegularExpression" => {
            expression(value.text())?;
            found(StringMatchKind::Regex, text_of(value))
        }
        _ => Err("unable to translate rateLimit: invalid path type.".into()),
    }
}

fn parameter(of: &Tree) -> Result<StringMatch, String> {
    let (name, value, invert) = (of.get("name"), of.get("value"), of.get("invert").flag());
    if name.text().is_empty() {
        return Err("name is required when QueryParamMatch is specified".into());
    }
    match of.get("type").text() {
        "" | "Exact" if value.text().is_empty() => Err("value is required for Exact query parameter match".into()),
        "" | "Exact" => Ok(string_match(name, StringMatchKind::Exact, value, invert)),
        "RegularExpression" if value.text().is_empty() => Err("value is required for RegularExpression query parameter match".into()),
        "RegularExpression" => {
            expression(value.text())?;
            Ok(string_match(name, StringMatchKind::Regex, value, invert))
        }
        "Distinct" if invert.value => Err("unable to translate rateLimit.Invert is not applicable for distinct query parameter match type".into()),
        "Distinct" if !value.is_null() => Err("unable to translate rateLimit.Value is not applicable for distinct query parameter match type".into()),
        "Distinct" => Ok(string_match(name, StringMatchKind::Distinct, &Tree::NULL, Sourced::default())),
        other => Err(format!("invalid query parameter match type: {other}")),
    }
}

/// Returns what a request costs: a number, or a format of metadata.
fn cost(written: &Tree) -> Tree {
    if written.is_null() {
        return Tree::NULL;
    }
    let metadata = written.get("metadata");
    let format = metadata
        .some()
        .map(|of| Tree::from(format!("%DYNAMIC_METADATA({}:{})%", of.get("namespace").text(), of.get("key").text())).with_origin(of.origin));
    Tree::object([("number", written.get("number").clone()), ("format", format.unwrap_or_default())]).with_origin(written.origin)
}

/// Lays the limits of a route's policy over those of a wider policy. Rules are added to those of the wider policy, or replace them.
pub(super) fn merged(wide: RateLimit, own: RateLimit, replaces: bool) -> RateLimit {
    let rules = |wide: Vec<RateLimitRule>, mut own: Vec<RateLimitRule>| {
        if !replaces || own.is_empty() {
            let others = wide.into_iter().filter(|rule| !own.iter().any(|known| known.name == rule.name)).collect::<Vec<_>>();
            own.extend(others);
        }
        own
    };
    let local = match (wide.local, own.local) {
        (Some(wide), Some(own)) => Some(LocalRateLimit {
            default: own.default,
            rules: rules(wide.rules, own.rules),
            default_x_rate_limit: if own.default_x_rate_limit.is_null() { wide.default_x_rate_limit } else { own.default_x_rate_limit },
        }),
        (wide, own) => own.or(wide),
    };
    let global = match (wide.global, own.global) {
        (Some(wide), Some(own)) => Some(rules(wide, own)),
        (wide, own) => own.or(wide),
    };
    RateLimit { global, local }
}
