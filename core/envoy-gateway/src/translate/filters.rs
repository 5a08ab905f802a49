//! Translates the filters of rules and backends.

use super::super::context::Translator;
use super::super::kinds::GROUP;
use super::super::load::resources::{From, To};
use super::super::model::{
    AddHeader, Cors, CredentialInjection, DirectResponse, HostModifier, PathModifier, Redirect, StringMatch, StringMatchKind, UrlRewrite,
};
use super::super::names;
use super::super::value::{text, tree};
use super::certificates;
use super::error::{Collector, RouteError};
use super::filter_types::validate;
use super::header_filter::{Direction, modify};
use super::mirror;
use super::rule_filters::{At, Filters};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;
use core::net::IpAddr;

const UNSUPPORTED: &str = "UnsupportedValue";

/// Translates filters. Errors are joined by the condition that they become.
pub(super) fn process<'a>(t: &mut Translator<'a>, at: At<'_, 'a>, filters: &[Cursor<'a>]) -> (Filters<'a>, Vec<RouteError>) {
    let mut out = Filters::default();
    let mut errors = Collector::default();
    for (index, filter) in filters.iter().copied().enumerate() {
        if out.direct_response.is_some() {
            break;
        }
        let kind = filter.field("type").str();
        if let Err(why) = validate(filter, at.is_grpc) {
            out.fail(filter);
            errors.add(RouteError::refused(UNSUPPORTED, format!("invalid filter {kind}: {why}")));
            continue;
        }
        let result = match kind {
            "URLRewrite" => rewrite(filter.field("urlRewrite"), &mut out),
            "RequestRedirect" => redirect(filter.field("requestRedirect"), &mut out),
            "RequestHeaderModifier" => modify(filter.field("requestHeaderModifier"), Direction::Request, &mut out),
            "ResponseHeaderModifier" => modify(filter.field("responseHeaderModifier"), Direction::Response, &mut out),
            "RequestMirror" => mirror::process(t, at, index, filter.field("requestMirror")).map(|mirror| out.mirrors.extend(mirror)),
            "CORS" => {
                out.cors = cors(filter.field("cors"));
                Ok(())
            }
            _ => extension(t, at, filter.field("extensionRef"), &mut out),
        };
        if let Err(error) = result {
            errors.add(error);
        }
    }
    let refuses_success = at.is_grpc && !t.settings.version.is_1_8();
    conflicts(&mut out, refuses_success, &mut errors);
    (out, errors.all())
}

fn conflicts(out: &mut Filters<'_>, refuses_success: bool, errors: &mut Collector) {
    let mut conflict = |what: &str| {
        let message = format!("RequestMirror filter cannot be used when the rule also configures a {what} filter");
        errors.add(RouteError::refused("IncompatibleFilters", message));
    };
    if out.direct_response.is_some() && !out.mirrors.is_empty() {
        out.direct_response = None;
        out.mirrors.clear();
        conflict("DirectResponse");
    }
    if out.redirect.is_some() && !out.mirrors.is_empty() {
        out.redirect = None;
        out.mirrors.clear();
        conflict("RequestRedirect");
    }
    if refuses_success && out.direct_response.as_ref().is_some_and(|response| (200..300).contains(&response.status.value)) {
        out.direct_response = None;
        let message = "DirectResponse with a 2xx status code is not supported for GRPCRoute: a 2xx status maps to the gRPC OK status, but a direct \
                       response cannot carry a gRPC response message, so the client would receive an invalid response. Use a non-2xx status code to \
                       deny or block the request instead";
        errors.add(RouteError::refused(UNSUPPORTED, message));
    }
}

fn rewrite(at: Cursor<'_>, out: &mut Filters<'_>) -> Result<(), RouteError> {
    let (hostname, path) = (at.field("hostname"), at.field("path"));
    if let Some(known) = &out.rewrite {
        let has_core_path = !known.path.full.is_null() || !known.path.prefix.is_null();
        let has_core = has_core_path || !known.host.name.is_null();
        let has_path = known.path.regex.is_some();
        let has_host = is_extended(&known.host);
        let is_twice = has_core && (hostname.exists() || path.exists());
        if is_twice || (hostname.exists() && has_host) || (path.exists() && has_path) {
            return Err(several_rewrites());
        }
    }
    if !at.exists() {
        return Ok(());
    }
    if hostname.exists() {
        validate_host(hostname.str()).map_err(|error| RouteError::refused(UNSUPPORTED, error))?;
        let rewrite = out.rewrite.get_or_insert_with(|| UrlRewrite { origin: Some(at.origin()), ..UrlRewrite::default() });
        if rewrite.host == HostModifier::default() {
            rewrite.host.name = tree(hostname);
        }
    }
    if path.exists() {
        let modifier = path_modifier(path);
        let rewrite = out.rewrite.get_or_insert_with(|| UrlRewrite { origin: Some(at.origin()), ..UrlRewrite::default() });
        if rewrite.path == PathModifier::default() {
            rewrite.path = modifier;
        }
    }
    Ok(())
}

fn is_extended(host: &HostModifier) -> bool {
    !host.header.is_null() || !host.backend.is_null() || host.path_regex.is_some()
}

fn several_rewrites() -> RouteError {
    RouteError::refused(UNSUPPORTED, "cannot configure multiple urlRewrite filters for a single HTTPRouteRule")
}

fn path_modifier(at: Cursor<'_>) -> PathModifier {
    match at.field("type").str() {
        "ReplaceFullPath" => PathModifier { full: tree(at.field("replaceFullPath")), ..PathModifier::default() },
        _ => PathModifier { prefix: tree(at.field("replacePrefixMatch")), ..PathModifier::default() },
    }
}

fn redirect(at: Cursor<'_>, out: &mut Filters<'_>) -> Result<(), RouteError> {
    if out.redirect.is_some() {
        let message = "cannot configure multiple requestRedirect filters for a single HTTPRouteRule";
        return Err(RouteError::refused(UNSUPPORTED, message));
    }
    if !at.exists() {
        return Ok(());
    }
    let hostname = at.field("hostname");
    if hostname.exists() {
        validate_host(hostname.str()).map_err(|error| RouteError::refused(UNSUPPORTED, error))?;
    }
    let path = at.field("path");
    out.redirect = Some(Redirect {
        scheme: tree(at.field("scheme")),
        hostname: tree(hostname),
        path: if path.exists() { path_modifier(path) } else { PathModifier::default() },
        port: tree(at.field("port")),
        status: tree(at.field("statusCode")),
        origin: Some(at.origin()),
    });
    Ok(())
}

/// Checks a host of a redirect or rewrite.
fn validate_host(host: &str) -> Result<(), String> {
    let faults = chancery_base::schema::names::subdomain(host);
    if !faults.is_empty() {
        return Err(format!("hostname {} is invalid: [{}]", go_quoted(host), faults.join(" ")));
    }
    if host.parse::<IpAddr>().is_ok() {
        return Err(format!("hostname: {} cannot be an ip address", go_quoted(host)));
    }
    match host.split('.').find(|label| label.len() > 63) {
        Some(label) => Err(format!("label: {} in hostname {} cannot exceed 63 characters", go_quoted(label), go_quoted(host))),
        None => Ok(()),
    }
}

fn cors(at: Cursor<'_>) -> Option<Cors> {
    at.some()?;
    let origin_of = |origin: Cursor<'_>| {
        let written = origin.str();
        let (kind, value) = if written.contains('*') {
            (StringMatchKind::Regex, Str::from(wildcard_expression(written)))
        } else {
            (StringMatchKind::Exact, Str::new(written))
        };
        StringMatch { kind, value: Sourced::new(value, origin.origin()), ..StringMatch::default() }
    };
    let age = at.field("maxAge");
    Some(Cors {
        allow_origins: at.field("allowOrigins").items().map(origin_of).collect(),
        allow_methods: at.field("allowMethods").texts(),
        allow_headers: at.field("allowHeaders").texts(),
        expose_headers: at.field("exposeHeaders").texts(),
        max_age: Tree::from(format!("{}s", age.int().unwrap_or_default())).with_origin(Some(age.origin())),
        allow_credentials: Tree::from(at.field("allowCredentials").is_true()).with_origin(Some(at.field("allowCredentials").origin())),
        origin: Some(at.origin()),
    })
}

/// Returns the regular expression of an origin with wildcards.
pub(crate) fn wildcard_expression(origin: &str) -> String {
    let mut out = String::new();
    for character in origin.chars() {
        match character {
            '*' => out.push_str(".*"),
            '\\' | '.' | '+' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' => out.extend(['\\', character]),
            plain => out.push(plain),
        }
    }
    out
}

/// Applies an HTTPRouteFilter.
fn extension<'a>(t: &mut Translator<'a>, at: At<'_, 'a>, reference: Cursor<'a>, out: &mut Filters<'a>) -> Result<(), RouteError> {
    let namespace = at.route.object.namespace();
    let name = reference.field("name").str();
    let Some(filter) = t.resources.http_route_filters.get(&(namespace.clone(), Str::new(name))).copied() else {
        out.fail(reference);
        return Err(RouteError::new(UNSUPPORTED, format!("Unable to translate HTTPRouteFilter: {namespace}/{name}")));
    };
    let spec = filter.spec();
    let matches: Vec<Cursor<'a>> = spec.field("matches").items().collect();
    if !matches.is_empty() {
        if !out.matches.is_empty() {
            let message = "only one HTTPRouteFilter with matches is supported per HTTPRouteRule";
            return Err(RouteError::refused(UNSUPPORTED, message));
        }
        out.matches = matches;
    }
    if spec.field("urlRewrite").exists() {
        extended_rewrite(spec.field("urlRewrite"), out)?;
    }
    let direct = spec.field("directResponse");
    if direct.exists() {
        direct_response(t, namespace, direct, out).map_err(|error| {
            out.fail(direct);
            RouteError::refused(UNSUPPORTED, format!("invalid filter HTTPRouteFilter: {error}"))
        })?;
    }
    let injection = spec.field("credentialInjection");
    if injection.exists() {
        let credential = credential(t, namespace, injection.at("credential.valueRef")).map_err(|error| {
            out.fail(injection);
            RouteError::refused(UNSUPPORTED, format!("invalid filter HTTPRouteFilter: {error}"))
        })?;
        out.credential_injection = Some(CredentialInjection {
            name: Str::from(names::config(filter)),
            header: tree(injection.field("header")),
            overwrite: tree(injection.field("overwrite")),
            credential,
            origin: Some(injection.origin()),
        });
    }
    Ok(())
}

fn extended_rewrite(at: Cursor<'_>, out: &mut Filters<'_>) -> Result<(), RouteError> {
    let (hostname, path) = (at.field("hostname"), at.field("path"));
    if let Some(known) = &out.rewrite {
        let has_extended = known.path.regex.is_some() || is_extended(&known.host);
        let is_twice = has_extended && (hostname.exists() || path.exists());
        let has_core_path = !known.path.full.is_null() || !known.path.prefix.is_null();
        if is_twice || (hostname.exists() && !known.host.name.is_null()) || (path.exists() && has_core_path) {
            return Err(several_rewrites());
        }
    }
    let fresh = || UrlRewrite { origin: Some(at.origin()), ..UrlRewrite::default() };
    if path.field("type").str() == "ReplaceRegexMatch" {
        let regex = path.field("replaceRegexMatch");
        if regex.field("pattern").str().is_empty() {
            let message = "ReplaceRegexMatch Pattern must be set when rewrite path type is \"ReplaceRegexMatch\"";
            return Err(RouteError::refused(UNSUPPORTED, message));
        }
        if chancery_kubernetes::regexp::check(regex.field("pattern").str()).is_err() {
            return Err(RouteError::refused(UNSUPPORTED, "ReplaceRegexMatch must be a valid RE2 regular expression"));
        }
        let rewrite = out.rewrite.get_or_insert_with(fresh);
        if rewrite.path == PathModifier::default() {
            rewrite.path.regex = Some((tree(regex.field("pattern")), Tree::from(text(regex.field("substitution")))));
        }
    }
    if hostname.exists() {
        let kind = hostname.field("type");
        let modifier = match kind.str() {
            "Header" if !hostname.field("header").exists() => {
                return Err(RouteError::refused(UNSUPPORTED, "Header must be set when rewrite path type is \"Header\""));
            }
            "Header" => HostModifier { header: tree(hostname.field("header")), ..HostModifier::default() },
            "Backend" => HostModifier { backend: Tree::from(true).with_origin(Some(kind.origin())), ..HostModifier::default() },
            "PathRegex" => {
                let regex = hostname.field("pathRegex");
                if regex.field("pattern").str().is_empty() || regex.field("substitution").str().is_empty() {
                    let message = "PathRegex Pattern and Substitution must be set when rewrite hostname type is \"PathRegex\"";
                    return Err(RouteError::refused(UNSUPPORTED, message));
                }
                if chancery_kubernetes::regexp::check(regex.field("pattern").str()).is_err() {
                    return Err(RouteError::refused(UNSUPPORTED, "PathRegex must be a valid RE2 regular expression"));
                }
                let pair = (tree(regex.field("pattern")), tree(regex.field("substitution")));
                HostModifier { path_regex: Some(pair), ..HostModifier::default() }
            }
            _ => HostModifier::default(),
        };
        let rewrite = out.rewrite.get_or_insert_with(fresh);
        if rewrite.host == HostModifier::default() {
            rewrite.host = modifier;
        }
    }
    let append = at.field("appendXForwardedHost");
    if append.exists() {
        out.rewrite.get_or_insert_with(fresh).append_x_forwarded_host = tree(append);
    }
    Ok(())
}

fn direct_response(t: &Translator<'_>, namespace: &Str, at: Cursor<'_>, out: &mut Filters<'_>) -> Result<(), String> {
    let body = at.field("body");
    let text = if body.exists() { response_body(t, namespace, body)? } else { Tree::NULL };
    let status = at.field("statusCode");
    let content_type = at.field("contentType");
    let header = |name: Sourced<Str>, value: Cursor<'_>, append: bool| AddHeader {
        name,
        values: Vec::from([super::super::value::text(value)]),
        append,
        if_absent: false,
    };
    if content_type.exists() {
        let name = Sourced::new(Str::new_static("Content-Type"), content_type.origin());
        out.add_response_headers.push(header(name, content_type, false));
    }
    out.direct_response =
        Some(DirectResponse { status: Sourced::new(status.int().unwrap_or(200), status.origin()), body: text, ..DirectResponse::default() });
    for (list, append) in [("add", true), ("set", false)] {
        for item in at.field("header").field(list).items() {
            out.add_response_headers.push(header(super::super::value::text(item.field("name")), item.field("value"), append));
        }
    }
    Ok(())
}

/// Returns the body of an answer: inline, or a value of a ConfigMap; `{base64}` if the value is binary.
pub(crate) fn response_body(t: &Translator<'_>, namespace: &str, at: Cursor<'_>) -> Result<Tree, String> {
    if at.field("type").str() == "ValueRef" {
        let name = at.at("valueRef.name").str();
        let Some(map) = t.resources.config_map(namespace, name) else {
            return Err(format!("can't find the referenced configmap {namespace}/{name}"));
        };
        let data = map.root().field("data");
        let mut values = data.entries();
        // Go picks any value; the provider keeps the first by name.
        let first = || values.by_ref().reduce(|one, other| if other.0 < one.0 { other } else { one }).map(|(_, value)| value);
        let binary = || {
            map.root()
                .field("binaryData")
                .entries()
                .next()
                .map(|(_, value)| Tree::object([("base64", tree(value))]).with_origin(Some(value.origin())))
        };
        let body = data.field("response.body").some().or_else(first).map(tree).or_else(binary);
        return body.ok_or_else(|| format!("can't find the key response.body in the referenced configmap {namespace}/{name}"));
    }
    Ok(tree(at.field("inline")))
}

fn credential(t: &Translator<'_>, namespace: &Str, reference: Cursor<'_>) -> Result<Tree, String> {
    if !reference.field("group").str().is_empty() {
        return Err("secret ref group must be unspecified/empty".into());
    }
    let kind = reference.field("kind").str();
    if !matches!(kind, "" | "Secret" | "ConfigMap") {
        return Err("secret ref kind must be Secret".into());
    }
    let kind = if kind.is_empty() { "Secret" } else { kind };
    let name = reference.field("name").str();
    let there = reference.field("namespace").some_str().unwrap_or(namespace);
    let from = From { group: GROUP, kind: "HTTPRouteFilter", namespace };
    if !there.is_empty() && !t.resources.permits(from, To { group: "", kind, namespace: there, name }) {
        return Err(format!("ref to {kind} {there}/{name} not permitted by any ReferenceGrant"));
    }
    let Some(secret) = t.resources.secret(there, name) else { return Err(format!("secret {there}/{name} does not exist")) };
    match certificates::value(secret, "credential") {
        Some(value) if !value.is_empty() => Ok(certificates::key_of(secret, "credential")),
        _ => Err(format!("credential key credential not found in secret {there}/{name}")),
    }
}
