//! BackendTrafficPolicy: what happens to requests on their way to backends.

use super::super::cluster::Admitted;
use super::super::cluster_settings;
use super::super::context::{ListenerId, RouteSpan, Translator};
use super::super::model::{
    ClusterTraffic, DirectResponse, HttpRoute, Metadata, PathModifier, PolicyName, Redirect, ResponseOverrideRule, Traffic, Xds,
};
use super::super::names;
use super::super::xds::proto::Setting as _;
use super::attach::{Attached, Effective};
use super::merge::Keys;
use super::{matching, rate_limit};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// BackendTrafficPolicy as a kind of policies.
pub(super) struct BackendTraffic;

const KIND: &str = "BackendTrafficPolicy";

impl Attached for BackendTraffic {
    const KIND: &'static str = KIND;
    const FOR_ROUTES: &'static str = "backendTrafficPolicy";
    const MANY: &'static str = "backendTrafficPolicies";
    const NAMES_NAMESPACE: bool = true;
    const KEYS: Keys = &[("compression", "type"), ("compressor", "type"), ("httpUpgrade", "type")];

    fn all<'a>(t: &Translator<'a>) -> Vec<&'a Admitted<'a>> {
        t.resources.backend_traffic_policies.clone()
    }

    fn deprecated(spec: &Tree) -> Vec<(&'static str, &'static str)> {
        let mut used = Vec::new();
        if !spec.get("compression").items().is_empty() {
            used.push(("spec.compression", "spec.compressor"));
        }
        if !spec.get("targetRef").is_null() {
            used.push(("spec.targetRef", "spec.targetRefs"));
        }
        used
    }

    fn on_route(
        t: &mut Translator<'_>,
        policy: &Effective<'_>,
        route: usize,
        rule: Option<&str>,
        listener: Option<ListenerId>,
    ) -> Result<(), String> {
        let (mut traffic, errors) = features(t, policy);
        if let Some((parent, wide)) = &policy.parent {
            let is_global = t.settings.rate_limit;
            let read = |spec: &Tree, of: &Admitted<'_>| rate_limit::rate_limit(spec, (of.namespace(), of.name()), is_global).ok().flatten();
            let wide_limit = read(wide, parent);
            let own_limit = read(&policy.own, policy.object);
            match (wide_limit, own_limit, policy.own.get("rateLimit").is_null()) {
                (Some(wide), Some(own), _) => {
                    let replaces = policy.own.get("mergeType").is("JSONMerge");
                    traffic.rate_limit = Some(rate_limit::merged(wide, own, replaces));
                }
                (Some(wide), None, true) => traffic.rate_limit = Some(wide),
                _ => {}
            }
        }
        let prefix = t.routes[route].prefix();
        let spans = t.routes[route].spans.clone();
        let only = listener.map(|id| (t.ir_key(t.gateways[id.gateway].object), t.listener(id).ir_name.clone()));
        let applied = Applied { policy, traffic: &traffic, shared: Arc::new(traffic.clone()), is_broken: errors.is_some() };
        for (key, xds) in &mut t.xds {
            if only.as_ref().is_none_or(|(only, _)| only == key) {
                let spans = spans.iter().filter(|span| span.ir_key == *key);
                applied.to_route(xds, (&prefix, spans), rule, only.as_ref().map(|(_, listener)| listener));
            }
        }
        errors.map_or(Ok(()), Err)
    }

    fn on_listeners(t: &mut Translator<'_>, policy: &Effective<'_>, gateway: usize, listeners: &[ListenerId], is_whole: bool) -> Result<(), String> {
        let (traffic, errors) = features(t, policy);
        let names: BTreeSet<Str> = listeners.iter().map(|id| t.listener(*id).ir_name.clone()).collect();
        let key = t.ir_key(t.gateways[gateway].object);
        let applied = Applied { policy, traffic: &traffic, shared: Arc::new(traffic.clone()), is_broken: errors.is_some() };
        if let Some(xds) = t.xds.get_mut(&key) {
            applied.to_listeners(xds, &names, is_whole);
        }
        errors.map_or(Ok(()), Err)
    }
}

struct Applied<'p, 'a> {
    policy: &'p Effective<'a>,
    traffic: &'p Traffic,
    /// The same, for routes to share.
    shared: Arc<Traffic>,
    is_broken: bool,
}

impl Applied<'_, '_> {
    fn stat_name(&self, of: &Metadata) -> Tree {
        let pattern = self.policy.spec.at(&["telemetry", "metrics", "routeStatName"]);
        if pattern.text().is_empty() {
            return Tree::NULL;
        }
        let section = if of.section.is_empty() { "-" } else { &of.section };
        let name = pattern
            .text()
            .replace("%ROUTE_NAME%", &of.name)
            .replace("%ROUTE_NAMESPACE%", &of.namespace)
            .replace("%ROUTE_KIND%", &of.kind)
            .replace("%ROUTE_RULE_NAME%", section);
        Tree::from(name).with_origin(pattern.origin)
    }

    fn note(&self, metadata: &mut Metadata) {
        let (namespace, name) = self.policy.object.full_name();
        metadata.policies.push(PolicyName { kind: Str::new_static(KIND), namespace, name });
    }

    fn to_route<'s>(&self, xds: &mut Xds, (prefix, spans): (&str, impl Iterator<Item = &'s RouteSpan>), rule: Option<&str>, listener: Option<&Str>) {
        let is_listener = |name: &Str| listener.is_none_or(|only| only == name);
        for tcp in xds.tcp.iter_mut().filter(|tcp| is_listener(&tcp.core.name)) {
            for route in &mut tcp.routes {
                if !is_meant(route.destination.as_ref(), prefix, rule) {
                    continue;
                }
                fill(&mut route.traffic, &self.traffic.cluster, true);
                if route.stat_name.is_null() {
                    route.stat_name = self.stat_name(&route.metadata);
                }
                self.note(&mut route.metadata);
            }
        }
        for udp in xds.udp.iter_mut().filter(|udp| is_listener(&udp.core.name)) {
            if let Some(route) = udp.route.as_mut().filter(|route| is_meant(route.destination.as_ref(), prefix, rule)) {
                fill_udp(&mut route.traffic, &self.traffic.cluster);
            }
        }
        for span in spans {
            let http = &mut xds.http[span.listener];
            if !is_listener(&http.core.name) {
                continue;
            }
            for route in &mut http.routes[span.routes.clone()] {
                let is_rule = rule.is_none_or(|rule| *route.metadata.section.value == *rule);
                if !is_rule || is_done(route) {
                    continue;
                }
                let route = Arc::make_mut(route);
                route.stat_name = self.stat_name(&route.metadata);
                self.to_http(route);
                let balancer = &self.traffic.cluster.load_balancer;
                let keeps = balancer.at(&["backendUtilization", "keepResponseHeaders"]).bool();
                if !self.is_broken && balancer.get("type").is("BackendUtilization") && !keeps {
                    for name in ["endpoint-load-metrics", "endpoint-load-metrics-bin"] {
                        if !route.remove_response_headers.iter().any(|known| *known.value == *name) {
                            let origin = balancer.origin;
                            route.remove_response_headers.push(Sourced { value: Str::new_static(name), origin });
                        }
                    }
                }
            }
        }
    }

    fn to_listeners(&self, xds: &mut Xds, names: &BTreeSet<Str>, is_whole: bool) {
        for tcp in xds.tcp.iter_mut().filter(|tcp| names.contains(&tcp.core.name)) {
            for route in &mut tcp.routes {
                fill(&mut route.traffic, &self.traffic.cluster, false);
                if route.stat_name.is_null() {
                    route.stat_name = self.stat_name(&route.metadata);
                }
                self.note(&mut route.metadata);
            }
        }
        for udp in xds.udp.iter_mut().filter(|udp| names.contains(&udp.core.name)) {
            if let Some(route) = &mut udp.route {
                fill_udp(&mut route.traffic, &self.traffic.cluster);
            }
        }
        for http in xds.http.iter_mut().filter(|http| names.contains(&http.core.name)) {
            for route in http.routes.iter_mut().filter(|route| !is_done(route)) {
                let route = Arc::make_mut(route);
                if route.stat_name.is_null() {
                    route.stat_name = self.stat_name(&route.metadata);
                }
                self.to_http(route);
            }
        }
        if is_whole && !self.is_broken {
            for cluster in &mut xds.backend_clusters {
                cluster.traffic = Some(self.traffic.cluster.clone());
                cluster.use_client_protocol = self.policy.spec.get("useClientProtocol").clone();
            }
        }
    }

    fn to_http(&self, route: &mut HttpRoute) {
        if self.is_broken {
            route.direct_response = Some(Box::new(failure(self.policy.object.spec().origin())));
            return;
        }
        route.traffic = Some(self.shared.clone());
        let protocol = self.policy.spec.get("useClientProtocol");
        if !protocol.is_null() {
            route.use_client_protocol = protocol.clone();
        }
        self.note(&mut route.metadata);
    }
}

/// Returns the answer that Envoy gives where a policy is broken.
pub(super) fn failure(origin: Origin) -> DirectResponse {
    DirectResponse { status: Sourced::new(500, origin), ..DirectResponse::default() }
}

fn is_done(route: &HttpRoute) -> bool {
    route.traffic.is_some() || !route.use_client_protocol.is_null()
}

fn is_meant(destination: Option<&super::super::model::Destination>, prefix: &str, rule: Option<&str>) -> bool {
    let Some(destination) = destination else { return false };
    let section = destination.metadata.as_ref().map_or("", |metadata| metadata.section.value.as_str());
    destination.name.starts_with(prefix) && rule.is_none_or(|rule| rule == section)
}

/// Sets the unset fields.
fn fill(into: &mut ClusterTraffic, from: &ClusterTraffic, with_connection: bool) {
    let set = |into: &mut Tree, from: &Tree| {
        if into.is_null() {
            into.clone_from(from);
        }
    };
    set(&mut into.load_balancer, &from.load_balancer);
    set(&mut into.proxy_protocol, &from.proxy_protocol);
    set(&mut into.health_check, &from.health_check);
    set(&mut into.circuit_breaker, &from.circuit_breaker);
    set(&mut into.tcp_keepalive, &from.tcp_keepalive);
    set(&mut into.timeout, &from.timeout);
    if with_connection {
        set(&mut into.connection, &from.connection);
    }
    fill_dns(into, from);
}

fn fill_udp(into: &mut ClusterTraffic, from: &ClusterTraffic) {
    if into.load_balancer.is_null() {
        into.load_balancer.clone_from(&from.load_balancer);
    }
    fill_dns(into, from);
}

fn fill_dns(into: &mut ClusterTraffic, from: &ClusterTraffic) {
    if into.dns.is_null() {
        into.dns.clone_from(&from.dns);
        into.dns_name.clone_from(&from.dns_name);
    }
}

/// Reads the features of a policy, and what is wrong with them.
fn features(t: &Translator<'_>, policy: &Effective<'_>) -> (Traffic, Option<String>) {
    let spec = &policy.spec;
    let (namespace, name) = (policy.object.namespace(), policy.object.name());
    let mut errors: Vec<String> = Vec::new();
    let mut check = |what: &str, result: Result<(), String>| {
        if let Err(error) = result {
            errors.push(format!("{what}: {error}"));
        }
    };
    let mut limit = None;
    check("RateLimit", rate_limit::rate_limit(spec, (namespace, name), t.settings.rate_limit).map(|found| limit = found));
    let mut bandwidth = Tree::NULL;
    check("BandwidthLimit", bandwidth_limit(spec.get("bandwidthLimit")).map(|found| bandwidth = found));
    check("LoadBalancer", cluster_settings::load_balancer(spec));
    let mut retry = Tree::NULL;
    check("Retry", cluster_settings::retry(spec.get("retry")).map(|found| retry = found));
    check("BackendConnection", cluster_settings::connection(spec));
    check("HTTP2", cluster_settings::http2(spec));
    let mut overrides = None;
    check("ResponseOverride", response_override(t, policy).map(|found| overrides = found));
    check("RequestBuffer", request_buffer(spec.get("requestBuffer")));
    check("Telemetry", stat_name(spec.at(&["telemetry", "metrics", "routeStatName"])));
    if !spec.get("requestBuffer").is_null() && !spec.get("httpUpgrade").items().is_empty() {
        check("RequestBuffer", Err("requestBuffer cannot be used together with httpUpgrade".into()));
    }
    let traffic = Traffic {
        cluster: cluster_settings::cluster(spec, &format!("{namespace}/{name}")),
        rate_limit: limit,
        bandwidth_limit: bandwidth,
        fault_injection: spec.get("faultInjection").clone(),
        retry,
        response_override: overrides,
        compression: compression(spec),
        http_upgrade: http_upgrade(spec.get("httpUpgrade")),
        telemetry: spec.get("telemetry").clone(),
        request_buffer: spec.get("requestBuffer").clone(),
        origin: Some(policy.object.spec().origin()),
    };
    (traffic, (!errors.is_empty()).then(|| errors.join("\n")))
}

fn bandwidth_limit(written: &Tree) -> Result<Tree, String> {
    if written.is_null() {
        return Ok(Tree::NULL);
    }
    let mut out = Tree::object::<&str>([]).with_origin(written.origin);
    for direction in ["request", "response"] {
        let of = written.get(direction);
        if of.is_null() {
            continue;
        }
        let value = of.at(&["limit", "value"]);
        let unit = of.at(&["limit", "unit"]).text();
        let Some(bytes) = value.quantity() else { return Err(format!("{direction} limit value must be convertible to an int64")) };
        if bytes < 0 {
            return Err(format!("{direction} limit value must be positive"));
        }
        let seconds = match unit {
            "Minute" => 60,
            "Hour" => 3600,
            _ => 1,
        };
        let rate = bytes / (seconds * 1024);
        if rate == 0 {
            return Err(format!("{direction}: bandwidth limit of {bytes} bytes per {unit} is below the minimum of 1 KiB/s"));
        }
        let limit = [("limitKibps", Tree::from(rate).with_origin(value.origin)), ("responseTrailers", of.get("responseTrailers").clone())];
        out.set(direction, Tree::object(limit).with_origin(of.origin));
    }
    Ok(out)
}

fn request_buffer(written: &Tree) -> Result<(), String> {
    if written.is_null() {
        return Ok(());
    }
    let limit = written.get("limit");
    match limit.quantity() {
        None => Err("limit must be convertible to an int64".into()),
        Some(bytes) if !(0..=i64::from(u32::MAX)).contains(&bytes) => {
            Err(format!("limit value {} is out of range, must be between 0 and {}", cluster_settings::quantity_text(limit), u32::MAX))
        }
        Some(_) => Ok(()),
    }
}

/// Checks the name of a route in statistics.
fn stat_name(pattern: &Tree) -> Result<(), String> {
    const OPERATORS: [&str; 4] = ["%ROUTE_NAME%", "%ROUTE_NAMESPACE%", "%ROUTE_KIND%", "%ROUTE_RULE_NAME%"];
    let mut rest = pattern.text();
    let (mut unknown, mut found) = (Vec::new(), false);
    while let Some(start) = rest.find('%') {
        let Some(length) = rest[start + 1..].find('%') else { break };
        let operator = &rest[start..start + length + 2];
        found = true;
        if !OPERATORS.contains(&operator) {
            unknown.push(operator);
        }
        rest = &rest[start + length + 2..];
    }
    let why = match (found, unknown.as_slice()) {
        (false, _) if pattern.text().contains('%') => "unable to configure stat name with invalid operator".into(),
        (_, []) => return Ok(()),
        (_, unknown) => format!("unsupported operators: [{}]", unknown.join(" ")),
    };
    Err(format!("unable to configure Route Stat Name: {why}"))
}

fn compression(spec: &Tree) -> Option<Vec<Tree>> {
    let compressors = spec.get("compressor").items();
    let item = |(at, of): (usize, &Tree)| {
        let least = of.get("minContentLength");
        Tree::object([
            ("type", of.get("type").clone()),
            ("chooseFirst", Tree::from(at == 0).with_origin(of.origin)),
            ("minContentLength", Tree::from(least.quantity()).with_origin(least.origin)),
        ])
        .with_origin(of.origin)
    };
    if compressors.is_empty() {
        let list = spec.find("compression")?;
        return Some(list.items().iter().enumerate().map(item).collect());
    }
    let is_set = |of: &Tree| {
        let field = match of.get("type").text() {
            "Gzip" => "gzip",
            "Brotli" => "brotli",
            "Zstd" => "zstd",
            _ => return false,
        };
        !of.get(field).is_null()
    };
    Some(compressors.iter().enumerate().filter(|(_, of)| is_set(of)).map(item).collect())
}

fn http_upgrade(written: &Tree) -> Option<Vec<Tree>> {
    let item = |of: &Tree| {
        let connect = of.get("connect");
        let terminate = connect.get("terminate");
        let connect = connect
            .some()
            .map(|at| Tree::object([("terminate", Tree::from(terminate.bool()).with_origin(terminate.origin.or(at.origin)))]).with_origin(at.origin));
        Tree::object([("type", of.get("type").clone()), ("connect", connect.unwrap_or_default())]).with_origin(of.origin)
    };
    (!written.items().is_empty()).then(|| written.items().iter().map(item).collect())
}

fn response_override(t: &Translator<'_>, policy: &Effective<'_>) -> Result<Option<(Str, Vec<ResponseOverrideRule>)>, String> {
    let written = policy.spec.get("responseOverride").items();
    if written.is_empty() {
        return Ok(None);
    }
    let owner = policy.owner(|spec| !spec.get("responseOverride").items().is_empty());
    let config = names::config(policy.object);
    let mut rules = Vec::new();
    for (at, of) in written.iter().enumerate() {
        let matched = of.get("match");
        let mut rule = ResponseOverrideRule {
            name: Str::from(format!("{config}/responseoverride/rule/{at}")),
            statuses: matched.get("statusCodes").items().iter().map(status).collect(),
            headers: matched
                .get("responseHeaders")
                .items()
                .iter()
                .map(|header| matching::text_match(header.get("name"), header.get("value")))
                .collect(),
            source: of.get("source").clone(),
            origin: of.origin,
            ..ResponseOverrideRule::default()
        };
        let redirect = of.get("redirect");
        if redirect.is_null() {
            let response = of.get("response");
            let body = matching::response_body(t, owner.namespace(), response.get("body"))?;
            rule.add_headers = matching::headers(response.get("header"));
            rule.response = Tree::object([
                ("contentType", response.get("contentType").clone()),
                ("body", body),
                ("statusCode", response.get("statusCode").clone()),
            ])
            .with_origin(response.origin);
        } else {
            let path = redirect.get("path");
            rule.redirect = Some(Redirect {
                scheme: redirect.get("scheme").clone(),
                hostname: redirect.get("hostname").clone(),
                path: PathModifier { full: path.get("replaceFullPath").clone(), prefix: path.get("replacePrefixMatch").clone(), regex: None },
                port: redirect.get("port").clone(),
                status: redirect.get("statusCode").clone(),
                origin: redirect.origin,
            });
        }
        rules.push(rule);
    }
    Ok(Some((Str::from(config), rules)))
}

/// Reads a status, or a range of them.
fn status(of: &Tree) -> Tree {
    let mut out = of.clone();
    let other = if of.get("type").is("Range") { "value" } else { "range" };
    if let Plain::Object(fields) = &mut out.value {
        fields.0.retain(|(name, _)| name != other);
    }
    out
}
