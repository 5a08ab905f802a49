//! Converts Contour's HTTPProxies to Gateway API.
//!
//! One Gateway represents Contour's two listeners. Each HTTPProxy below a root becomes an HTTPRoute in its own namespace, with the conditions of
//! all includes above it, since HTTPRoutes do not include one another.
//!
//! Does not check the result; see `proof`.

use super::Conversion;
use super::build::{Fields, list, manifest, name_of, named_values, number, text};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::diagnostic::{Diagnostic, Severity};
use chancery_base::resource::{Object, ObjectId, Origin, Rule};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::{Node, Str};

/// The Gateway's namespace.
const NAMESPACE: &str = "projectcontour";
/// The name of the Gateway and of its class.
const GATEWAY: &str = "contour";
const V1: &str = "gateway.networking.k8s.io/v1";

/// Chains of includes are followed to this depth.
const DEEPEST: usize = 64;
/// At most this many HTTPRoutes are created.
const MOST: usize = 20_000;

/// Fields of a route with a counterpart.
const CARRIED: &[&str] = &[
    "conditions",
    "services",
    "requestRedirectPolicy",
    "pathRewritePolicy",
    "requestHeadersPolicy",
    "responseHeadersPolicy",
    "permitInsecure",
    "enableWebsockets",
    "timeoutPolicy",
];

type Proxies<'o> = BTreeMap<(Str, Str), &'o Object>;

/// A root that is being converted.
struct Root {
    host: Str,
    tls: bool,
}

/// The position below a root.
struct Way<'o> {
    conditions: Vec<Cursor<'o>>,
    visited: Vec<ObjectId>,
}

/// Converts all HTTPProxies of a side that Contour accepts.
pub fn http_proxy_to_gateway(side: SideRef<'_>) -> Conversion {
    let mut out = Conversion::default();
    let is_proxy = |object: &&Object| !object.broken && object.key.kind == "HTTPProxy" && object.key.group == "projectcontour.io";
    let served = side.served();
    let errors = side.diagnostics().filter(|finding| finding.severity == Severity::Error);
    let refused: BTreeMap<ObjectId, &Diagnostic> = errors.filter_map(|finding| Some((finding.place.object()?, finding))).collect();
    let mut proxies = Proxies::new();
    for object in side.objects().iter().filter(is_proxy) {
        match refused.get(&object.id).filter(|_| !served.contains(&object.id)) {
            Some(finding) => {
                let message =
                    format!("Contour does not serve it ({}), so it is not converted; `chancery check` says what is wrong", finding.code.name);
                out.note(&object.key, Some(Origin::new(object.id, object.root.id, Rule::Field)), message);
            }
            None => drop(proxies.insert((object.key.namespace.clone().unwrap_or_default(), object.key.name.clone()), object)),
        }
    }
    let (mut listeners, mut has_cleartext) = (Vec::new(), false);
    let mut routes = Vec::new();
    let mut grants: BTreeSet<(Str, Str)> = BTreeSet::new();
    for object in proxies.values() {
        let spec = Cursor::new(object.id, &object.root).field("spec");
        let virtual_host = spec.field("virtualhost");
        if !virtual_host.exists() {
            continue;
        }
        let fqdn = virtual_host.field("fqdn");
        let tls = virtual_host.field("tls");
        let secret = tls.field("secretName").str();
        let namespace = object.key.namespace.clone().unwrap_or_default();
        if !secret.is_empty() {
            let (home, name) = secret.split_once('/').map_or((namespace.as_str(), secret), |(home, name)| (home, name));
            // A listener without a hostname would not take a host that the HTTPS listener names.
            listeners.push(listener(&section("http", fqdn.str()), 80, "HTTP", Some(fqdn.str()), None));
            listeners.push(listener(&section("https", fqdn.str()), 443, "HTTPS", Some(fqdn.str()), Some((home, name))));
            grants.insert((Str::new(home), Str::new(name)));
        }
        for field in ["passthrough", "clientValidation", "enableFallbackCertificate", "minimumProtocolVersion", "maximumProtocolVersion"] {
            lost(&mut out, object, tls.field(field), field, "Gateway API has no field for it here");
        }
        for field in ["authorization", "corsPolicy", "rateLimitPolicy", "jwtProviders", "ipAllowPolicy", "ipDenyPolicy"] {
            lost(&mut out, object, virtual_host.field(field), field, "Gateway API leaves it to policies of each controller");
        }
        lost(&mut out, object, spec.field("tcpproxy"), "tcpproxy", "write a TLSRoute");
        let root = Root { host: Str::new(fqdn.str()), tls: !secret.is_empty() };
        has_cleartext |= !root.tls;
        if root.tls {
            routes.push(upgrade(&namespace, &object.key.name, &root.host));
        }
        let mut way = Way { conditions: Vec::new(), visited: Vec::new() };
        follow(&proxies, object, &root, &mut way, &mut routes, &mut out);
    }
    if has_cleartext {
        listeners.insert(0, listener("http", 80, "HTTP", None, None));
    }
    let mut spec = Fields::new();
    spec.set("gatewayClassName", text(GATEWAY)).set("listeners", list(listeners));
    if routes.is_empty() {
        return out;
    }
    out.objects.push(manifest(V1, "Gateway", NAMESPACE, GATEWAY, &spec));
    for (namespace, name) in grants.iter().filter(|(namespace, _)| namespace != NAMESPACE) {
        out.objects.push(grant(namespace, name));
    }
    out.objects.extend(routes);
    out
}

/// The name of the listener of a host with TLS.
fn section(protocol: &str, host: &str) -> String {
    format!("{protocol}-{}", name_of(host))
}

fn lost(out: &mut Conversion, object: &Object, at: Cursor<'_>, field: &str, why: &str) {
    if at.exists() && at.some_bool() != Some(false) {
        out.note(&object.key, Some(at.origin()), format!("`{field}` is not converted: {why}"));
    }
}

pub(super) fn listener(name: &str, port: i64, protocol: &str, host: Option<&str>, secret: Option<(&str, &str)>) -> Node {
    let mut listener = Fields::new();
    listener.set("name", text(name)).set("port", number(port)).set("protocol", text(protocol)).set_some("hostname", host.map(text));
    if let Some((namespace, name)) = secret {
        let (mut reference, mut tls) = (Fields::new(), Fields::new());
        reference.set("name", text(name)).set("namespace", text(namespace));
        tls.set("certificateRefs", list(Vec::from([reference.node()])));
        listener.set("tls", tls.node());
    }
    let (mut from, mut allowed) = (Fields::new(), Fields::new());
    from.set("from", text("All"));
    allowed.set("namespaces", from.node());
    listener.set("allowedRoutes", allowed.node());
    listener.node()
}

/// Allows the Gateway to use a Secret of another namespace.
pub(super) fn grant(namespace: &str, name: &str) -> Node {
    let (mut from, mut to, mut spec) = (Fields::new(), Fields::new(), Fields::new());
    from.set("group", text("gateway.networking.k8s.io")).set("kind", text("Gateway")).set("namespace", text(NAMESPACE));
    to.set("group", text("")).set("kind", text("Secret")).set("name", text(name));
    spec.set("from", list(Vec::from([from.node()]))).set("to", list(Vec::from([to.node()])));
    manifest("gateway.networking.k8s.io/v1beta1", "ReferenceGrant", namespace, &format!("contour-{name}"), &spec)
}

fn parent(section: &str) -> Node {
    let mut parent = Fields::new();
    parent.set("name", text(GATEWAY)).set("namespace", text(NAMESPACE)).set("sectionName", text(section));
    list(Vec::from([parent.node()]))
}

/// Contour redirects to https if a host has TLS.
fn upgrade(namespace: &str, name: &str, host: &str) -> Node {
    let (mut redirect, mut filter, mut rule, mut spec) = (Fields::new(), Fields::new(), Fields::new(), Fields::new());
    redirect.set("scheme", text("https")).set("statusCode", number(301));
    filter.set("type", text("RequestRedirect")).set("requestRedirect", redirect.node());
    rule.set("filters", list(Vec::from([filter.node()])));
    spec.set("parentRefs", parent(&section("http", host)))
        .set("hostnames", list(Vec::from([text(host)])))
        .set("rules", list(Vec::from([rule.node()])));
    manifest(V1, "HTTPRoute", namespace, &format!("{name}-to-https"), &spec)
}

fn follow<'o>(proxies: &Proxies<'o>, object: &'o Object, root: &Root, way: &mut Way<'o>, routes: &mut Vec<Node>, out: &mut Conversion) {
    if way.visited.contains(&object.id) || way.visited.len() >= DEEPEST || routes.len() >= MOST {
        out.note(&object.key, None, "its includes form a circle, or are too deep");
        return;
    }
    way.visited.push(object.id);
    let namespace = object.key.namespace.clone().unwrap_or_default();
    let spec = Cursor::new(object.id, &object.root).field("spec");
    let mut rules = Vec::new();
    let mut insecure = Vec::new();
    for route in spec.field("routes").items() {
        let Some(rule) = rule(object, route, &way.conditions, out) else { continue };
        if root.tls && route.field("permitInsecure").is_true() {
            insecure.push(rule.clone());
        }
        rules.push(rule);
    }
    let suffix = if way.visited.len() > 1 { format!("-{}", name_of(&root.host)) } else { String::new() };
    let usual = if root.tls { section("https", &root.host) } else { "http".to_string() };
    for (rules, section, ending) in [(rules, usual, ""), (insecure, section("http", &root.host), "-insecure")] {
        if rules.is_empty() {
            continue;
        }
        let mut spec = Fields::new();
        spec.set("parentRefs", parent(&section)).set("hostnames", list(Vec::from([text(&root.host)]))).set("rules", list(rules));
        routes.push(manifest(V1, "HTTPRoute", &namespace, &format!("{}{suffix}{ending}", object.key.name), &spec));
    }
    for include in spec.field("includes").items() {
        let home = include.field("namespace").text().map_or_else(|| namespace.clone(), |namespace| namespace.value);
        let Some(next) = proxies.get(&(home, Str::new(include.field("name").str()))) else {
            out.note(&object.key, Some(include.origin()), "it includes an HTTPProxy that is not in the input, or that Contour does not serve");
            continue;
        };
        let before = way.conditions.len();
        way.conditions.extend(include.field("conditions").items());
        follow(proxies, next, root, way, routes, out);
        way.conditions.truncate(before);
    }
    way.visited.pop();
}

fn rule(object: &Object, route: Cursor<'_>, above: &[Cursor<'_>], out: &mut Conversion) -> Option<Node> {
    for (name, at) in route.entries().filter(|(name, _)| !CARRIED.contains(&name.as_str())) {
        let why = match name.as_str() {
            "directResponsePolicy" => "Gateway API has no direct responses",
            "authPolicy" | "rateLimitPolicy" | "jwtVerificationPolicy" | "ipAllowPolicy" | "ipDenyPolicy" => {
                "Gateway API leaves it to policies of each controller"
            }
            _ => "HTTPRoute has no such field",
        };
        lost(out, object, at, name, why);
    }
    if route.field("directResponsePolicy").exists() {
        return None;
    }
    let conditions: Vec<Cursor<'_>> = above.iter().copied().chain(route.field("conditions").items()).collect();
    let mut rule = Fields::new();
    rule.set("matches", list(Vec::from([matches(object, &conditions, out)])));
    let mut filters = Vec::new();
    header_filter(object, route.field("requestHeadersPolicy"), "RequestHeaderModifier", "requestHeaderModifier", &mut filters, out);
    header_filter(object, route.field("responseHeadersPolicy"), "ResponseHeaderModifier", "responseHeaderModifier", &mut filters, out);
    rewrite_filter(route, &mut filters);
    if let Some(redirect) = route.field("requestRedirectPolicy").some() {
        filters.push(redirect_filter(redirect));
    }
    let mut backends = Vec::new();
    for service in route.field("services").items() {
        let mut backend = Fields::new();
        backend.set("name", text(service.field("name").str())).set("port", number(service.field("port").int().unwrap_or_default()));
        for field in ["protocol", "validation", "requestHeadersPolicy", "responseHeadersPolicy", "cookieRewritePolicies", "slowStartPolicy"] {
            let why = match field {
                "protocol" => "set `appProtocol` of the Service's port",
                "validation" => "write a BackendTLSPolicy for the Service",
                _ => "a backend has no such field",
            };
            lost(out, object, service.field(field), field, why);
        }
        if service.field("mirror").is_true() {
            let (mut mirror, mut filter) = (Fields::new(), Fields::new());
            mirror.set("backendRef", backend.node());
            if let Some(share) = service.field("weight").int().filter(|share| (1..100).contains(share)) {
                mirror.set("percent", number(share));
            }
            filter.set("type", text("RequestMirror")).set("requestMirror", mirror.node());
            filters.push(filter.node());
            continue;
        }
        backend.set_some("weight", service.field("weight").int().map(number));
        backends.push(backend.node());
    }
    rule.set("filters", list(filters)).set("backendRefs", list(backends));
    timeouts(object, route.field("timeoutPolicy"), &mut rule, out);
    Some(rule.node())
}

fn timeouts(object: &Object, at: Cursor<'_>, rule: &mut Fields, out: &mut Conversion) {
    let response = at.field("response");
    match response.str() {
        "" => {}
        "infinity" | "infinite" => {
            let mut timeouts = Fields::new();
            timeouts.set("request", text("0s"));
            rule.set("timeouts", timeouts.node());
        }
        span if span.contains('.') || span.len() > 12 => {
            out.note(&object.key, Some(response.origin()), format!("`{span}` is not converted: Gateway API allows whole hours, minutes, s and ms"));
        }
        span => {
            let mut timeouts = Fields::new();
            timeouts.set("request", text(span));
            rule.set("timeouts", timeouts.node());
        }
    }
    for field in ["idle", "idleConnection"] {
        lost(out, object, at.field(field), field, "HTTPRoute has no such timeout");
    }
}

fn matches(object: &Object, conditions: &[Cursor<'_>], out: &mut Conversion) -> Node {
    let (mut path, mut kind, mut origin) = (String::new(), "PathPrefix", None);
    let (mut headers, mut queries) = (Vec::new(), Vec::new());
    let mut one = Fields::new();
    for condition in conditions {
        for (field, of) in [("prefix", "PathPrefix"), ("exact", "Exact"), ("regex", "RegularExpression")] {
            let at = condition.field(field);
            if !at.str().is_empty() {
                path.push_str(at.str());
                kind = if kind == "RegularExpression" { kind } else { of };
                origin = Some(at.origin());
            }
        }
        let header = condition.field("header");
        if header.exists() {
            match header_match(header) {
                Some(node) if header.field("name").str() == ":method" => {
                    one.set_some("method", node.get("value").cloned());
                }
                Some(node) => headers.push(node),
                None => out.note(
                    &object.key,
                    Some(header.origin()),
                    "this condition on a header is not converted: Gateway API compares the value with a text or a regular expression",
                ),
            }
        }
        let query = condition.field("queryParameter");
        if query.exists() {
            match query_match(query) {
                Some(node) => queries.push(node),
                None => out.note(
                    &object.key,
                    Some(query.origin()),
                    "this condition on a parameter is not converted: Gateway API compares the value with a text or a regular expression",
                ),
            }
        }
    }
    while path.contains("//") {
        path = path.replace("//", "/");
    }
    if path.is_empty() {
        path.push('/');
    }
    if kind == "PathPrefix" && path.len() > 1 {
        if !path.ends_with('/') {
            let message = format!("the prefix `{path}` ends at a slash in Gateway API: requests for `{path}x` no longer match");
            out.note(&object.key, origin, message);
        }
        path = path.trim_end_matches('/').to_string();
    }
    let mut condition = Fields::new();
    condition.set("type", text(kind)).set("value", text(&path));
    one.set("path", condition.node()).set("headers", list(headers)).set("queryParams", list(queries));
    one.node()
}

fn header_match(at: Cursor<'_>) -> Option<Node> {
    let mut header = Fields::new();
    let exact = at.field("exact").str();
    let (kind, value) = match (exact.is_empty() || at.field("ignoreCase").is_true(), at.field("regex").str()) {
        (false, _) => ("Exact", exact.to_string()),
        (true, regex) if !regex.is_empty() => ("RegularExpression", regex.to_string()),
        _ if at.field("present").is_true() => ("RegularExpression", ".*".to_string()),
        _ => match at.field("contains").str() {
            "" => return None,
            contains => ("RegularExpression", format!("{}.*{}.*", if at.field("ignoreCase").is_true() { "(?i)" } else { "" }, escaped(contains))),
        },
    };
    header.set("type", text(kind)).set("name", text(at.field("name").str())).set("value", text(&value));
    Some(header.node())
}

/// A text as a part of a regular expression (RE2).
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        if !c.is_alphanumeric() && !matches!(c, '/' | '-' | '_' | ' ') {
            out.push('\\');
        }
        out.push(c);
        out
    })
}

fn query_match(at: Cursor<'_>) -> Option<Node> {
    let mut query = Fields::new();
    let (kind, value) = match (at.field("exact").str(), at.field("regex").str()) {
        (exact, _) if !exact.is_empty() && !at.field("ignoreCase").is_true() => ("Exact", exact),
        ("", regex) if !regex.is_empty() => ("RegularExpression", regex),
        _ => return None,
    };
    query.set("type", text(kind)).set("name", text(at.field("name").str())).set("value", text(value));
    Some(query.node())
}

fn header_filter(object: &Object, at: Cursor<'_>, kind: &str, field: &str, filters: &mut Vec<Node>, out: &mut Conversion) {
    if !at.exists() {
        return;
    }
    let entries: Vec<(&str, &str)> = at
        .field("set")
        .items()
        .map(|entry| (entry.field("name").str(), entry.field("value").str()))
        .filter(|(name, _)| !name.eq_ignore_ascii_case("host"))
        .collect();
    if entries.iter().any(|(_, value)| value.contains('%')) {
        out.note(&object.key, Some(at.origin()), "variables like `%REQ(...)%` in header values are not converted: Gateway API treats them as text");
    }
    let (mut policy, mut filter) = (Fields::new(), Fields::new());
    policy.set("set", named_values(entries));
    policy.set("remove", list(at.field("remove").items().map(|name| text(name.str())).collect()));
    if policy.node().as_object().is_some_and(|object| !object.is_empty()) {
        filter.set("type", text(kind)).set(field, policy.node());
        filters.push(filter.node());
    }
}

fn rewrite_filter(route: Cursor<'_>, filters: &mut Vec<Node>) {
    let mut rewrite = Fields::new();
    let replacement = route.at("pathRewritePolicy.replacePrefix").items().next();
    if let Some(replacement) = replacement {
        let mut path = Fields::new();
        path.set("type", text("ReplacePrefixMatch")).set("replacePrefixMatch", text(replacement.field("replacement").str()));
        rewrite.set("path", path.node());
    }
    let host = route.at("requestHeadersPolicy.set").items().find(|entry| entry.field("name").str().eq_ignore_ascii_case("host"));
    rewrite.set_some("hostname", host.map(|entry| text(entry.field("value").str())));
    if rewrite.node().as_object().is_some_and(|object| !object.is_empty()) {
        let mut filter = Fields::new();
        filter.set("type", text("URLRewrite")).set("urlRewrite", rewrite.node());
        filters.push(filter.node());
    }
}

fn redirect_filter(at: Cursor<'_>) -> Node {
    let (mut redirect, mut filter) = (Fields::new(), Fields::new());
    for field in ["scheme", "hostname"] {
        redirect.set_some(field, at.field(field).some_str().map(text));
    }
    redirect.set_some("port", at.field("port").int().map(number));
    redirect.set("statusCode", number(at.field("statusCode").int().unwrap_or(302)));
    for (from, kind, to) in [("path", "ReplaceFullPath", "replaceFullPath"), ("prefix", "ReplacePrefixMatch", "replacePrefixMatch")] {
        if let Some(written) = at.field(from).some_str() {
            let mut path = Fields::new();
            path.set("type", text(kind)).set(to, text(written));
            redirect.set("path", path.node());
        }
    }
    filter.set("type", text("RequestRedirect")).set("requestRedirect", redirect.node());
    filter.node()
}
