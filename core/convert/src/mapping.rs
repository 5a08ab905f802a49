//! Converts Ambassador's Hosts and Mappings to Contour's HTTPProxies.
//!
//! A host becomes a root in the namespace of its Host, or of its first Mapping. Mappings with services in other namespaces go into HTTPProxies
//! there, which the root includes, since Contour accepts only Services of an HTTPProxy's own namespace. Mappings for the same requests become one
//! route with weights.
//!
//! Does not check the result; see `proof`.

use super::Conversion;
use super::build::{Fields, list, manifest, name_of, named_values, number, text, timeout, truth};
use super::service::Target;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_ambassador::config::{Config, Resource};
use chancery_text::{Node, Str};

/// Fields that can be left out without any effect.
const HARMLESS: &[&str] = &["ambassador_id", "docs", "stats_name", "cluster_tag", "dns_type", "hostname", "host", "service", "prefix", "modules"];

/// Fields that are converted, completely or partly.
const CARRIED: &[&str] = &[
    "prefix_exact",
    "prefix_regex",
    "headers",
    "regex_headers",
    "query_parameters",
    "regex_query_parameters",
    "method",
    "rewrite",
    "timeout_ms",
    "idle_timeout_ms",
    "cluster_idle_timeout_ms",
    "retry_policy",
    "grpc",
    "weight",
    "shadow",
    "cors",
    "add_request_headers",
    "add_response_headers",
    "remove_request_headers",
    "remove_response_headers",
    "host_rewrite",
    "host_redirect",
    "path_redirect",
    "prefix_redirect",
    "redirect_response_code",
    "load_balancer",
    "allow_upgrade",
    "use_websocket",
    "bypass_auth",
    "v2BoolHeaders",
    "v2BoolQueryParameters",
];

/// Why a field has no counterpart.
fn why_not(field: &str) -> &'static str {
    match field {
        "precedence" => "Contour sorts routes by their conditions alone: exact paths first, then expressions, then longer prefixes",
        "circuit_breakers" => "in Contour limits are annotations of the Service, e.g. `projectcontour.io/max-connections`",
        "connect_timeout_ms" => "in Contour it is set for the whole gateway, `envoy.timeouts.connectTimeout` of its configuration",
        "labels" => "in Contour descriptors are written in `rateLimitPolicy.global`",
        "tls" => "in Contour the certificate shown to services is set for the whole gateway, and checked by `validation` of the service",
        "auto_host_rewrite" | "enable_ipv4" | "enable_ipv6" | "respect_dns_ttl" | "resolver" => "Contour always uses endpoints of Services",
        "case_sensitive" => "Contour always matches paths with case",
        "regex_rewrite" | "regex_redirect" => "Contour rewrites by prefix only",
        "health_checks" => "write it as `healthCheckPolicy` of the route",
        _ => "HTTPProxy has no such field",
    }
}

/// A Mapping with its target.
struct Entry<'c> {
    resource: &'c Resource,
    target: Target,
}

/// Converts a whole Ambassador configuration.
pub fn mapping_to_http_proxy(config: &Config) -> Conversion {
    let mut out = Conversion::default();
    let mut hosts: BTreeMap<Str, Vec<Entry<'_>>> = BTreeMap::new();
    for (_, resource) in config.get_config("mappings").into_iter().flat_map(|bucket| bucket.iter()) {
        let service = field(resource, "service");
        let Some(target) = Target::parse(service.and_then(Node::as_str).unwrap_or_default(), &resource.namespace) else {
            out.note(&resource.key, service.and_then(|node| resource.origin(node)), "its service cannot be read");
            continue;
        };
        if target.outside && field(resource, "host_redirect").and_then(Node::as_bool) != Some(true) {
            let message = "its service is outside the cluster: create a Service of type ExternalName, and set `enableExternalNameService`";
            out.note(&resource.key, service.and_then(|node| resource.origin(node)), message);
        }
        report_lost_fields(resource, &mut out);
        let host = ["hostname", "host"].into_iter().find_map(|name| field(resource, name)?.as_str()).unwrap_or("*");
        let served = served_hosts(config, host);
        if served.is_empty() {
            let message = format!("an HTTPProxy needs a host, and `{host}` is not a host: set `virtualhost.fqdn`");
            out.note(&resource.key, None, message);
            hosts.entry(Str::new(host)).or_default().push(Entry { resource, target });
            continue;
        }
        for host in served {
            hosts.entry(host).or_default().push(Entry { resource, target: target.clone() });
        }
    }
    for (host, entries) in &hosts {
        root(config, host, entries, &mut out);
    }
    for kind in ["auth_configs", "ratelimit_configs", "tracing_configs", "log_services", "tcpmappings"] {
        for (_, resource) in config.get_config(kind).into_iter().flat_map(|bucket| bucket.iter()) {
            let what = match kind {
                "auth_configs" => "make an ExtensionService of it, and name that in `globalExtAuth` of Contour's configuration",
                "ratelimit_configs" => "make an ExtensionService of it, and name that in `rateLimitService` of Contour's configuration",
                "tracing_configs" => "make an ExtensionService of it, and name that in `tracing` of Contour's configuration",
                "log_services" => "Contour writes access logs to files only",
                _ => "write it as `tcpproxy` of an HTTPProxy with TLS",
            };
            out.note(&resource.key, None, format!("the {} is not converted: {what}", resource.kind));
        }
    }
    out
}

fn field<'r>(resource: &'r Resource, name: &str) -> Option<&'r Node> {
    resource.spec.get(name).filter(|node| !node.is_null())
}

/// Returns the hosts of a Mapping: its host, or the hosts of Hosts that match its wildcard.
fn served_hosts(config: &Config, host: &str) -> Vec<Str> {
    if !host.contains('*') {
        return Vec::from([Str::new(host)]);
    }
    if host.len() > 2 && host.starts_with("*.") && !host[1..].contains('*') {
        return Vec::from([Str::new(host)]);
    }
    let (prefix, suffix) = host.split_once('*').unwrap_or((host, ""));
    let hosts = config.get_config("hosts").into_iter().flat_map(|bucket| bucket.iter());
    let names = hosts.filter_map(|(_, resource)| field(resource, "hostname")?.as_str());
    let fits = |name: &&str| !name.contains('*') && name.starts_with(prefix) && name.ends_with(suffix);
    let mut found: Vec<Str> = names.filter(fits).map(Str::new).collect();
    found.sort();
    found.dedup();
    found
}

fn report_lost_fields(resource: &Resource, out: &mut Conversion) {
    for entry in resource.spec.as_object().into_iter().flatten() {
        let name = entry.key.as_str();
        if HARMLESS.contains(&name) || CARRIED.contains(&name) || entry.value.is_null() || entry.value.as_bool() == Some(false) {
            continue;
        }
        out.note(&resource.key, resource.origin(&entry.value), format!("`{name}` is not converted: {}", why_not(name)));
    }
}

fn host_resource<'c>(config: &'c Config, host: &str) -> Option<&'c Resource> {
    let hosts = config.get_config("hosts").into_iter().flat_map(|bucket| bucket.iter());
    hosts.map(|(_, resource)| resource).find(|resource| field(resource, "hostname").and_then(Node::as_str) == Some(host))
}

fn root(config: &Config, host: &Str, entries: &[Entry<'_>], out: &mut Conversion) {
    let resource = host_resource(config, host);
    let home = resource.map(|resource| &resource.namespace).or_else(|| entries.first().map(|entry| &entry.target.namespace));
    let home = home.cloned().unwrap_or_default();
    let name = name_of(host);
    let mut virtual_host = Fields::new();
    virtual_host.set("fqdn", text(host));
    let secret = resource.and_then(|resource| resource.spec.at(&["tlsSecret", "name"])?.as_str());
    let secret_namespace = resource.and_then(|resource| resource.spec.at(&["tlsSecret", "namespace"])?.as_str());
    if let Some(secret) = secret {
        let full = secret_namespace.filter(|namespace| *namespace != home.as_str()).map_or_else(|| secret.to_string(), |ns| format!("{ns}/{secret}"));
        let mut tls = Fields::new();
        tls.set("secretName", text(&full));
        virtual_host.set("tls", tls.node());
    }
    let insecure = resource.and_then(|resource| resource.spec.at(&["requestPolicy", "insecure", "action"])?.as_str()).unwrap_or("Redirect");
    let permit_insecure = secret.is_some() && insecure == "Route";
    if insecure == "Reject"
        && let Some(resource) = resource
    {
        out.note(&resource.key, None, "`insecure.action: Reject` is not converted: Contour redirects requests without TLS, or serves them");
    }
    set_cors(&mut virtual_host, entries, out);
    let mut spec = Fields::new();
    spec.set("virtualhost", virtual_host.node());
    let mut by_namespace: BTreeMap<&Str, Vec<&Entry<'_>>> = BTreeMap::new();
    for entry in entries {
        by_namespace.entry(&entry.target.namespace).or_default().push(entry);
    }
    let mut includes = Vec::new();
    let mut children = Vec::new();
    for (namespace, entries) in &by_namespace {
        if **namespace == home {
            spec.set("routes", routes(entries, permit_insecure, out));
            continue;
        }
        let mut include = Fields::new();
        include.set("name", text(&name)).set("namespace", text(namespace));
        includes.push(include.node());
        let mut child = Fields::new();
        child.set("routes", routes(entries, permit_insecure, out));
        children.push(manifest("projectcontour.io/v1", "HTTPProxy", namespace, &name, &child));
    }
    spec.set("includes", list(includes));
    out.objects.push(manifest("projectcontour.io/v1", "HTTPProxy", &home, &name, &spec));
    out.objects.extend(children);
}

/// In Contour, CORS applies to a whole host: it is converted if all Mappings of the host agree.
fn set_cors(virtual_host: &mut Fields, entries: &[Entry<'_>], out: &mut Conversion) {
    let policies: Vec<Option<&Node>> = entries.iter().map(|entry| field(entry.resource, "cors")).collect();
    let Some(Some(first)) = policies.first() else {
        for entry in entries.iter().filter(|entry| field(entry.resource, "cors").is_some()) {
            cors_is_lost(entry.resource, out);
        }
        return;
    };
    if policies.iter().any(|policy| *policy != Some(*first)) {
        for entry in entries.iter().filter(|entry| field(entry.resource, "cors").is_some()) {
            cors_is_lost(entry.resource, out);
        }
        return;
    }
    let mut policy = Fields::new();
    let strings = |name: &str| {
        let items = first.get(name).and_then(Node::as_array).map_or(&[][..], Vec::as_slice);
        list(items.iter().filter_map(|item| Some(text(item.as_str()?))).collect())
    };
    policy.set("allowCredentials", truth(first.get("credentials").and_then(Node::as_bool).unwrap_or_default()));
    policy.set("allowOrigin", strings("origins")).set("allowMethods", strings("methods"));
    policy.set("allowHeaders", strings("headers")).set("exposeHeaders", strings("exposed_headers"));
    let max_age = first.get("max_age").and_then(|age| age.as_i64().or_else(|| age.as_str()?.parse().ok()));
    policy.set_some("maxAge", max_age.map(|seconds| text(&format!("{seconds}s"))));
    virtual_host.set("corsPolicy", policy.node());
}

fn cors_is_lost(resource: &Resource, out: &mut Conversion) {
    let origin = field(resource, "cors").and_then(|node| resource.origin(node));
    out.note(&resource.key, origin, "`cors` is not converted: in Contour it applies to a whole host, and the host's Mappings differ in it");
}

/// Returns routes for Mappings; Mappings for the same requests become one route.
fn routes(entries: &[&Entry<'_>], permit_insecure: bool, out: &mut Conversion) -> Node {
    let mut groups: Vec<(Node, Vec<&Entry<'_>>)> = Vec::new();
    for entry in entries {
        let conditions = conditions(entry.resource);
        match groups.iter_mut().find(|(known, _)| *known == conditions) {
            Some((_, members)) => members.push(entry),
            None => groups.push((conditions, Vec::from([*entry]))),
        }
    }
    list(groups.into_iter().map(|(conditions, members)| route(conditions, &members, permit_insecure, out)).collect())
}

fn conditions(resource: &Resource) -> Node {
    let mut conditions = Vec::new();
    let is = |name: &str| field(resource, name).and_then(Node::as_bool).unwrap_or_default();
    let path = if is("prefix_exact") {
        "exact"
    } else if is("prefix_regex") {
        "regex"
    } else {
        "prefix"
    };
    let mut condition = Fields::new();
    condition.set(path, text(field(resource, "prefix").and_then(Node::as_str).unwrap_or("/")));
    conditions.push(condition.node());
    let mut add = |list: &str, kind: &str, how: &str| {
        for entry in field(resource, list).and_then(Node::as_object).into_iter().flatten() {
            let mut inner = Fields::new();
            inner.set("name", text(&entry.key));
            match (&entry.value.as_bool(), entry.value.as_str()) {
                (Some(true), _) | (_, Some("")) => inner.set("present", truth(true)),
                (_, Some(value)) => inner.set(how, text(value)),
                _ => continue,
            };
            let mut condition = Fields::new();
            condition.set(kind, inner.node());
            conditions.push(condition.node());
        }
    };
    add("headers", "header", "exact");
    add("regex_headers", "header", "regex");
    add("query_parameters", "queryParameter", "exact");
    add("regex_query_parameters", "queryParameter", "regex");
    for (list, kind) in [("v2BoolHeaders", "header"), ("v2BoolQueryParameters", "queryParameter")] {
        for name in field(resource, list).and_then(Node::as_array).into_iter().flatten().filter_map(Node::as_str) {
            let mut inner = Fields::new();
            inner.set("name", text(name)).set("present", truth(true));
            let mut condition = Fields::new();
            condition.set(kind, inner.node());
            conditions.push(condition.node());
        }
    }
    if let Some(method) = field(resource, "method").and_then(Node::as_str) {
        let mut inner = Fields::new();
        inner.set("name", text(":method")).set(if is("method_regex") { "regex" } else { "exact" }, text(method));
        let mut condition = Fields::new();
        condition.set("header", inner.node());
        conditions.push(condition.node());
    }
    list(conditions)
}

fn route(conditions: Node, members: &[&Entry<'_>], permit_insecure: bool, out: &mut Conversion) -> Node {
    let mut route = Fields::new();
    route.set("conditions", conditions);
    // The Mapping without a weight is the main one.
    let main = |member: &&&Entry<'_>| !is_shadow(member.resource) && field(member.resource, "weight").is_none();
    let Some(first) = members.iter().find(main).or_else(|| members.iter().find(|member| !is_shadow(member.resource))).or(members.first()) else {
        return route.node();
    };
    let resource = first.resource;
    if field(resource, "host_redirect").and_then(Node::as_bool) == Some(true) {
        route.set("requestRedirectPolicy", redirect(first));
        return route.node();
    }
    let rewrites_host = field(resource, "host_rewrite").and_then(Node::as_str);
    let taken: i64 = members.iter().filter_map(|member| field(member.resource, "weight")?.as_i64()).sum();
    let without = members.iter().filter(|member| !is_shadow(member.resource) && field(member.resource, "weight").is_none()).count();
    let mut services = Vec::new();
    for member in members {
        let mut service = Fields::new();
        service.set("name", text(&member.target.name)).set("port", number(i64::from(member.target.port)));
        let grpc = field(member.resource, "grpc").and_then(Node::as_bool).unwrap_or_default();
        match (member.target.tls, grpc) {
            (true, true) => service.set("protocol", text("h2")),
            (true, false) => service.set("protocol", text("tls")),
            (false, true) => service.set("protocol", text("h2c")),
            (false, false) => &mut service,
        };
        let weight = field(member.resource, "weight").and_then(Node::as_i64);
        if is_shadow(member.resource) {
            service.set("mirror", truth(true)).set_some("weight", weight.map(number));
        } else if members.len() > 1 {
            let share = weight.unwrap_or_else(|| (100 - taken).max(0) / i64::try_from(without.max(1)).unwrap_or(1));
            service.set("weight", number(share));
        }
        services.push(service.node());
    }
    route.set("services", list(services));
    if permit_insecure {
        route.set("permitInsecure", truth(true));
    }
    let upgrades = field(resource, "allow_upgrade").and_then(Node::as_array).into_iter().flatten().any(|item| item.as_str() == Some("websocket"));
    if upgrades || field(resource, "use_websocket").and_then(Node::as_bool).unwrap_or_default() {
        route.set("enableWebsockets", truth(true));
    }
    if field(resource, "bypass_auth").and_then(Node::as_bool).unwrap_or_default() {
        let mut policy = Fields::new();
        policy.set("disabled", truth(true));
        route.set("authPolicy", policy.node());
    }
    let milliseconds = |name: &str| field(resource, name).and_then(Node::as_i64);
    let mut timeouts = Fields::new();
    timeouts.set("response", timeout(milliseconds("timeout_ms").unwrap_or(3000)));
    timeouts.set_some("idle", milliseconds("idle_timeout_ms").map(timeout));
    timeouts.set_some("idleConnection", milliseconds("cluster_idle_timeout_ms").map(timeout));
    route.set("timeoutPolicy", timeouts.node());
    route.set_some("retryPolicy", field(resource, "retry_policy").map(retry));
    set_rewrite(&mut route, resource);
    set_balancer(&mut route, resource, out);
    let mut request = header_entries(resource, "add_request_headers", out);
    if let Some(host) = rewrites_host {
        request.push(("Host".into(), host.into()));
    }
    route.set("requestHeadersPolicy", headers(&request, field(resource, "remove_request_headers")));
    let response = header_entries(resource, "add_response_headers", out);
    route.set("responseHeadersPolicy", headers(&response, field(resource, "remove_response_headers")));
    route.node()
}

fn is_shadow(resource: &Resource) -> bool {
    field(resource, "shadow").and_then(Node::as_bool).unwrap_or_default()
}

fn redirect(entry: &Entry<'_>) -> Node {
    let mut policy = Fields::new();
    let service = field(entry.resource, "service").and_then(Node::as_str).unwrap_or_default();
    let host = service.split_once("://").map_or(service, |(_, host)| host);
    policy.set("hostname", text(host.split(['/', ':']).next().unwrap_or(host)));
    for (from, to) in [("path_redirect", "path"), ("prefix_redirect", "prefix")] {
        policy.set_some(to, field(entry.resource, from).and_then(Node::as_str).map(text));
    }
    policy.set("statusCode", number(field(entry.resource, "redirect_response_code").and_then(Node::as_i64).unwrap_or(301)));
    policy.node()
}

fn retry(at: &Node) -> Node {
    let mut policy = Fields::new();
    policy.set("count", number(at.get("num_retries").and_then(Node::as_i64).unwrap_or(1)));
    policy.set_some("perTryTimeout", at.get("per_try_timeout").and_then(Node::as_str).map(text));
    policy.set_some("retryOn", at.get("retry_on").and_then(Node::as_str).map(|on| list(Vec::from([text(on)]))));
    policy.node()
}

/// By default Emissary replaces the prefix by `/`.
fn set_rewrite(route: &mut Fields, resource: &Resource) {
    let rewrite = field(resource, "rewrite").and_then(Node::as_str).unwrap_or("/");
    let prefix = field(resource, "prefix").and_then(Node::as_str).unwrap_or("/");
    let by_prefix = ["prefix_exact", "prefix_regex"].iter().all(|name| field(resource, name).and_then(Node::as_bool) != Some(true));
    if rewrite.is_empty() || rewrite == prefix || !by_prefix || field(resource, "regex_rewrite").is_some() {
        return;
    }
    let (mut replacement, mut policy) = (Fields::new(), Fields::new());
    replacement.set("replacement", text(rewrite));
    policy.set("replacePrefix", list(Vec::from([replacement.node()])));
    route.set("pathRewritePolicy", policy.node());
}

fn set_balancer(route: &mut Fields, resource: &Resource, out: &mut Conversion) {
    let Some(at) = field(resource, "load_balancer") else { return };
    let mut policy = Fields::new();
    let mut hash = Fields::new();
    match at.get("policy").and_then(Node::as_str) {
        Some("least_request") => {
            policy.set("strategy", text("WeightedLeastRequest"));
        }
        Some("ring_hash" | "maglev") => {
            if let Some(header) = at.get("header").and_then(Node::as_str) {
                let mut options = Fields::new();
                options.set("headerName", text(header));
                hash.set("headerHashOptions", options.node());
            } else if at.get("source_ip").and_then(Node::as_bool).unwrap_or_default() {
                hash.set("hashSourceIP", truth(true));
            } else if at.get("cookie").is_some() {
                out.note(&resource.key, resource.origin(at), "the cookie of `load_balancer` becomes Contour's own, `X-Contour-Session-Affinity`");
                policy.set("strategy", text("Cookie"));
            }
        }
        _ => return,
    }
    if !hash.node().as_object().is_none_or(chancery_text::Object::is_empty) {
        policy.set("strategy", text("RequestHash")).set("requestHashPolicies", list(Vec::from([hash.node()])));
    }
    route.set("loadBalancerPolicy", policy.node());
}

fn header_entries(resource: &Resource, name: &str, out: &mut Conversion) -> Vec<(String, String)> {
    let mut entries = Vec::new();
    for entry in field(resource, name).and_then(Node::as_object).into_iter().flatten() {
        let value = entry.value.as_str().or_else(|| entry.value.get("value")?.as_str()).unwrap_or_default();
        let appends = entry.value.get("append").and_then(Node::as_bool).unwrap_or(true);
        if appends {
            let message = format!("`{}` of `{name}` replaces the header: Contour does not append", entry.key);
            out.note(&resource.key, resource.origin(&entry.value), message);
        }
        entries.push((entry.key.to_string(), value.to_string()));
    }
    entries
}

fn headers(set: &[(String, String)], remove: Option<&Node>) -> Node {
    let mut policy = Fields::new();
    policy.set("set", named_values(set.iter().map(|(name, value)| (name.as_str(), value.as_str()))));
    let names = match remove {
        Some(one) if one.as_str().is_some() => Vec::from([one.clone()]),
        Some(many) => many.as_array().cloned().unwrap_or_default(),
        None => Vec::new(),
    };
    policy.set("remove", list(names.iter().filter_map(|name| Some(text(name.as_str()?))).collect()));
    policy.node()
}
