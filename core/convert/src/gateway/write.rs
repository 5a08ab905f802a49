//! Writes a plan as objects, within the limits of the API.

use super::super::Conversion;
use super::super::build::{Fields, list, manifest, name_of, number, text};
use super::{
    ENVOY_GATEWAY, GATEWAY, GATEWAY_FILE, GATEWAY_GROUP, Grant, HTTP, Listener, Plan, Route, Rule, StreamListener, Target, V1, items, target_of,
};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_text::{Node, Value};

/// The most rules of a route.
const RULES: usize = 16;
/// The most matches of a rule.
const MATCHES: usize = 64;
/// The most matches of a route.
const ALL_MATCHES: usize = 128;
/// The most hosts of a route.
const HOSTS: usize = 16;
/// The filters of address lists and of local limits, in the order in which Envoy Gateway runs them.
const CHECKS: [&str; 2] = ["rbac", "local_ratelimit"];
/// The most listeners of a Gateway or a ListenerSet.
pub(super) const LISTENERS: usize = 64;

impl Plan {
    /// Writes all objects.
    pub fn write(mut self, out: &mut Conversion) {
        self.routes = merged(core::mem::take(&mut self.routes));
        if self.target == Target::Contour {
            self.name_plain_listeners(out);
        }
        let sets = self.listener_sets();
        self.gateway(&sets, out);
        let mut used: BTreeSet<(String, String)> = BTreeSet::new();
        let counts = self.counts();
        let mut files: BTreeMap<String, Vec<Node>> = BTreeMap::new();
        for route in &self.routes {
            let is_alone = counts.get(&(route.namespace.clone(), route.origin.clone())).is_none_or(|hosts| *hosts < 2);
            let base = name(route, is_alone);
            for (part, rules) in chunks(&route.rules).into_iter().enumerate() {
                let mut name = if part == 0 { base.clone() } else { format!("{base}-{}", part + 1) };
                let mut count = 1;
                while !used.insert((route.namespace.clone(), name.clone())) {
                    count += 1;
                    name = format!("{base}-x{count}");
                }
                let file = files.entry(route.file.clone()).or_default();
                file.push(self.route(route, &name, &rules, &sets));
                for (kind, spec) in [("BackendTrafficPolicy", &route.traffic), ("SecurityPolicy", &route.security)] {
                    if let Some(spec) = spec {
                        file.push(policy(kind, &route.namespace, &name, list(Vec::from([target_of("HTTPRoute", &name, None)])), spec));
                    }
                }
                for backend in rules.iter().flat_map(|rule| &rule.backends).filter(|backend| backend.service.namespace != route.namespace) {
                    let to = match &backend.object {
                        Some(object) => (super::ENVOY_GATEWAY_GROUP, "Backend", object.clone()),
                        None => ("", "Service", backend.service.name.clone()),
                    };
                    let from = (GATEWAY_GROUP, "HTTPRoute", route.namespace.clone());
                    self.grants.insert(Grant { from, to, name: backend.service.namespace.clone() });
                }
            }
        }
        for (file, node) in self.others.values() {
            files.entry(file.clone()).or_default().push(node.clone());
        }
        for (at, set) in sets.iter().enumerate().skip(1) {
            files.entry(GATEWAY_FILE.into()).or_default().push(self.listener_set(at, set));
        }
        for node in self.grant_objects() {
            files.entry(GATEWAY_FILE.into()).or_default().push(node);
        }
        // The Gateway's own file comes first.
        for node in files.remove(GATEWAY_FILE).unwrap_or_default() {
            out.add(GATEWAY_FILE, node);
        }
        for (file, nodes) in files {
            nodes.into_iter().for_each(|node| out.add(&file, node));
        }
    }

    /// Gives hosts with a certificate their own listener without TLS: Contour serves no host on a listener without a host if another listener names it
    /// (Contour `internal/dag/gatewayapi_processor.go`, `computeHosts`). A Gateway has a limit of listeners, so many hosts stay as they are.
    fn name_plain_listeners(&mut self, out: &mut Conversion) {
        let hosts: BTreeSet<String> = self.listeners.iter().filter_map(|listener| listener.host.clone()).collect();
        if self.listeners.len() + hosts.len() + self.streams.len() >= LISTENERS {
            out.limits.push(format!(
                "Contour serves no http requests to hosts with a certificate, as they would need {} listeners, and a Gateway has at most {LISTENERS}: \
                 use several Gateways.",
                1 + self.listeners.len() + hosts.len() + self.streams.len()
            ));
            return;
        }
        for route in &mut self.routes {
            let Some(at) = route.sections.iter().position(|section| section == HTTP) else { continue };
            let (own, others): (Vec<&String>, Vec<&String>) = route.hosts.iter().partition(|host| hosts.contains(*host));
            let mut plain: Vec<String> = own.into_iter().map(|host| plain_name(host)).collect();
            if !others.is_empty() || route.hosts.is_empty() {
                plain.push(HTTP.into());
            }
            route.sections.splice(at..=at, plain);
        }
        self.plain_hosts = hosts;
    }

    /// Distributes listeners to the Gateway and to further sets of listeners.
    fn listener_sets(&self) -> Vec<Vec<Listener>> {
        let mut listeners = self.listeners.clone();
        listeners.sort();
        // The Gateway also has a listener without TLS, and those for TCP and UDP.
        let first = listeners.len().min(LISTENERS - 1 - self.streams.len());
        let rest = listeners.split_off(first);
        core::iter::once(listeners).chain(rest.chunks(LISTENERS).map(<[Listener]>::to_vec)).collect()
    }

    fn gateway(&mut self, sets: &[Vec<Listener>], out: &mut Conversion) {
        let (class, namespace) = (self.target.class(), self.target.namespace());
        if let Some(controller) = self.target.controller() {
            let mut spec = Fields::new();
            spec.set("controllerName", text(controller));
            out.add(GATEWAY_FILE, manifest(V1, "GatewayClass", "", class, &spec));
        }
        let mut spec = Fields::new();
        for comment in &self.comments {
            spec.comment(comment);
        }
        spec.set("gatewayClassName", text(class));
        if sets.len() > 1 {
            let (mut allowed, mut namespaces) = (Fields::new(), Fields::new());
            namespaces.set("from", text("Same"));
            allowed.set("namespaces", namespaces.node());
            spec.set("allowedListeners", allowed.node());
        }
        let mut listeners = Vec::from([plain_listener(None)]);
        listeners.extend(self.plain_hosts.iter().map(|host| plain_listener(Some(host))));
        listeners.extend(sets.first().into_iter().flatten().map(listener));
        listeners.extend(self.streams.iter().map(|of| stream_listener(*of)));
        spec.set("listeners", list(listeners));
        let order = if self.target == Target::EnvoyGateway { self.filter_order() } else { Vec::new() };
        if !order.is_empty() {
            let (mut infrastructure, mut reference) = (Fields::new(), Fields::new());
            reference.set("group", text(super::ENVOY_GATEWAY_GROUP)).set("kind", text("EnvoyProxy")).set("name", text(GATEWAY));
            infrastructure.set("parametersRef", reference.node());
            spec.set("infrastructure", infrastructure.node());
        }
        out.add(GATEWAY_FILE, manifest(V1, "Gateway", namespace, GATEWAY, &spec));
        if !order.is_empty() {
            let mut spec = Fields::new();
            spec.comment("nginx checks addresses and limits before it checks passwords or queries an authentication service");
            spec.set("filterOrder", list(order));
            out.add(GATEWAY_FILE, manifest(ENVOY_GATEWAY, "EnvoyProxy", namespace, GATEWAY, &spec));
        }
        if self.target != Target::EnvoyGateway {
            return;
        }
        let sections = |listeners: &[Listener]| {
            listeners.iter().filter(|of| !of.is_passthrough && of.client.is_none()).map(|of| of.name.clone()).collect::<Vec<_>>()
        };
        let gateway = |section: &str| target_of("Gateway", GATEWAY, Some(section));
        out.add(GATEWAY_FILE, policy("ClientTrafficPolicy", namespace, HTTP, list(Vec::from([gateway(HTTP)])), &self.clients[0].node()));
        let secure = self.clients[1].node();
        let own = sections(sets.first().map_or(&[][..], Vec::as_slice));
        if !own.is_empty() {
            let targets = list(own.iter().map(|name| gateway(name)).collect());
            out.add(GATEWAY_FILE, policy("ClientTrafficPolicy", namespace, "https", targets, &secure));
        }
        for at in 1..sets.len() {
            let name = set_name(at);
            let targets = list(Vec::from([target_of("ListenerSet", &name, None)]));
            out.add(GATEWAY_FILE, policy("ClientTrafficPolicy", namespace, &name, targets, &secure));
        }
        for (at, set) in sets.iter().enumerate() {
            for listener in set {
                let Some(client) = &listener.client else { continue };
                let (kind, parent) = if at == 0 { ("Gateway", GATEWAY.to_string()) } else { ("ListenerSet", set_name(at)) };
                let targets = list(Vec::from([target_of(kind, &parent, Some(&listener.name))]));
                let spec = joined(&secure, &client.0);
                out.add(GATEWAY_FILE, policy("ClientTrafficPolicy", namespace, &listener.name, targets, &spec));
                self.grant_references(&client.0, "ClientTrafficPolicy", namespace);
            }
        }
        if !self.traffic.is_empty() {
            let targets = list(Vec::from([target_of("Gateway", GATEWAY, None)]));
            out.add(GATEWAY_FILE, policy("BackendTrafficPolicy", namespace, GATEWAY, targets, &self.traffic.node()));
        }
    }

    /// Moves authentication behind the checks that a route combines with it. The controller applies the list in order.
    fn filter_order(&self) -> Vec<Node> {
        let mut pairs: BTreeSet<(&str, usize)> = BTreeSet::new();
        for route in &self.routes {
            let has = |policy: &Option<Node>, field: &str| policy.as_ref().is_some_and(|policy| policy.get(field).is_some());
            let checks = [has(&route.security, "authorization"), has(&route.traffic, "rateLimit")];
            for (field, filter) in [("basicAuth", "basic_auth"), ("extAuth", "ext_authz")] {
                if has(&route.security, field) {
                    pairs.extend(checks.iter().enumerate().filter(|(_, has)| **has).map(|(check, _)| (filter, check)));
                }
            }
        }
        let name = |filter: &str| text(&format!("envoy.filters.http.{filter}"));
        let one = |(filter, check): (&str, usize)| {
            let mut out = Fields::new();
            out.set("name", name(filter)).set("after", name(CHECKS[check]));
            out.node()
        };
        pairs.into_iter().map(one).collect()
    }

    /// Permits an object to name the Secrets of another namespace that it names.
    fn grant_references(&mut self, node: &Node, kind: &'static str, namespace: &str) {
        for reference in node.at(&["tls", "clientValidation", "caCertificateRefs"]).and_then(Node::as_array).into_iter().flatten() {
            let there = reference.get("namespace").and_then(Node::as_str).filter(|there| *there != namespace);
            if let (Some(there), Some(name)) = (there, reference.get("name").and_then(Node::as_str)) {
                let from = (super::ENVOY_GATEWAY_GROUP, kind, namespace.to_string());
                self.grants.insert(Grant { from, to: ("", "Secret", name.into()), name: there.into() });
            }
        }
    }

    fn listener_set(&self, at: usize, listeners: &[Listener]) -> Node {
        let (mut parent, mut spec) = (Fields::new(), Fields::new());
        parent.set("name", text(GATEWAY));
        spec.set("parentRef", parent.node()).set("listeners", list(listeners.iter().map(listener).collect()));
        manifest(V1, "ListenerSet", self.target.namespace(), &set_name(at), &spec)
    }

    /// The number of groups of hosts that come from each origin.
    fn counts(&self) -> BTreeMap<(String, String), usize> {
        let mut hosts: BTreeMap<(String, String), BTreeSet<&[String]>> = BTreeMap::new();
        for route in &self.routes {
            hosts.entry((route.namespace.clone(), route.origin.clone())).or_default().insert(&route.hosts);
        }
        hosts.into_iter().map(|(key, hosts)| (key, hosts.len())).collect()
    }

    fn route(&self, route: &Route, name: &str, rules: &[Rule], sets: &[Vec<Listener>]) -> Node {
        let mut spec = Fields::new();
        for comment in &route.comments {
            spec.comment(comment);
        }
        let parents = route.sections.iter().map(|section| {
            let at = sets.iter().position(|set| set.iter().any(|listener| listener.name == *section)).unwrap_or_default();
            let mut parent = Fields::new();
            if at > 0 {
                parent.set("kind", text("ListenerSet"));
            }
            parent.set("name", text(&if at == 0 { GATEWAY.to_string() } else { set_name(at) }));
            if route.namespace != self.target.namespace() {
                parent.set("namespace", text(self.target.namespace()));
            }
            parent.set("sectionName", text(section));
            parent.node()
        });
        spec.set("parentRefs", list(parents.collect()));
        spec.set("hostnames", items(&route.hosts));
        spec.set("rules", list(rules.iter().map(|rule| rule.node(&route.namespace)).collect()));
        manifest(V1, "HTTPRoute", &route.namespace, name, &spec)
    }

    fn grant_objects(&mut self) -> Vec<Node> {
        for listener in self.listeners.iter().filter(|listener| !listener.is_passthrough && listener.secret.0 != self.target.namespace()) {
            for kind in if self.listeners.len() + self.streams.len() >= LISTENERS { &["Gateway", "ListenerSet"][..] } else { &["Gateway"] } {
                let from = (GATEWAY_GROUP, *kind, self.target.namespace().to_string());
                self.grants.insert(Grant { from, to: ("", "Secret", listener.secret.1.clone()), name: listener.secret.0.clone() });
            }
        }
        // One object for each pair of namespaces and kind.
        let mut groups: BTreeMap<_, Vec<&Grant>> = BTreeMap::new();
        for grant in &self.grants {
            groups.entry((&grant.name, &grant.from)).or_default().push(grant);
        }
        let mut all = Vec::new();
        for ((namespace, (group, kind, home)), grants) in groups {
            let (mut from, mut spec) = (Fields::new(), Fields::new());
            from.set("group", text(group)).set("kind", text(kind)).set("namespace", text(home));
            let to = grants.iter().map(|grant| {
                let mut to = Fields::new();
                to.set("group", text(grant.to.0)).set("kind", text(grant.to.1)).set("name", text(&grant.to.2));
                to.node()
            });
            let to: Vec<Node> = to.collect();
            for (part, to) in to.chunks(RULES).enumerate() {
                spec.set("from", list(Vec::from([from.node()]))).set("to", list(to.to_vec()));
                let base = format!("{}-of-{home}", kind.to_lowercase());
                let name = if part == 0 { base } else { format!("{base}-{}", part + 1) };
                all.push(manifest("gateway.networking.k8s.io/v1beta1", "ReferenceGrant", namespace, &name_of(&name), &spec));
            }
        }
        all
    }
}

impl Rule {
    fn node(&self, namespace: &str) -> Node {
        let mut out = Fields::new();
        for comment in &self.comments {
            out.comment(comment);
        }
        out.set("matches", list(self.matches.iter().map(super::RouteMatch::node).collect()));
        out.set("filters", list(self.filters.clone()));
        out.set("backendRefs", list(self.backends.iter().map(|backend| backend.node(namespace)).collect()));
        for (name, node) in &self.extra {
            out.set(name, node.clone());
        }
        out.node()
    }
}

/// Joins routes that differ in their hosts only.
fn merged(routes: Vec<Route>) -> Vec<Route> {
    let mut out: Vec<Route> = Vec::new();
    let mut places: BTreeMap<(String, String, &'static str), Vec<usize>> = BTreeMap::new();
    for route in routes.into_iter().filter(|route| !route.rules.is_empty()) {
        let known = places.entry((route.namespace.clone(), route.origin.clone(), route.role)).or_default();
        let has_http = |route: &Route| route.sections.iter().any(|section| section == HTTP);
        let fits = |at: &&usize| {
            let other = &out[**at];
            let is_same = other.rules == route.rules && other.traffic == route.traffic && other.security == route.security;
            let is_short = other.hosts.len() + route.hosts.len() <= HOSTS && other.sections.len() + route.sections.len() <= 2 * HOSTS;
            // A route on a listener with TLS must not serve the hosts of another listener.
            let is_safe = has_http(other) == has_http(&route)
                && (route.sections.len() > usize::from(has_http(&route))) == (other.sections.len() > usize::from(has_http(other)));
            is_same && is_short && is_safe && !other.hosts.is_empty() && !route.hosts.is_empty() && other.comments == route.comments
        };
        match known.iter().find(fits).copied() {
            Some(at) => {
                let other = &mut out[at];
                other.hosts.extend(route.hosts);
                for section in route.sections {
                    if !other.sections.contains(&section) {
                        other.sections.push(section);
                    }
                }
            }
            None => {
                known.push(out.len());
                out.push(route);
            }
        }
    }
    out
}

fn name(route: &Route, is_alone: bool) -> String {
    let mut name = route.origin.clone();
    if !is_alone {
        let host = route.hosts.first().map_or_else(|| "all-hosts".to_string(), |host| host.replacen('*', "wildcard", 1));
        name = format!("{name}-{}", name_of(&host));
    }
    if !route.role.is_empty() {
        name = format!("{name}-{}", route.role);
    }
    name.truncate(240);
    name
}

/// Splits rules into routes that the API server accepts.
fn chunks(rules: &[Rule]) -> Vec<Vec<Rule>> {
    let mut all: Vec<Vec<Rule>> = Vec::new();
    let mut current: Vec<Rule> = Vec::new();
    let mut matches = 0;
    for rule in rules {
        let parts = if rule.matches.is_empty() { Vec::from([&[][..]]) } else { rule.matches.chunks(MATCHES).collect::<Vec<_>>() };
        for part in parts {
            if current.len() == RULES || matches + part.len() > ALL_MATCHES {
                all.push(core::mem::take(&mut current));
                matches = 0;
            }
            matches += part.len();
            current.push(Rule { matches: part.to_vec(), ..rule.clone() });
        }
    }
    if !current.is_empty() {
        all.push(current);
    }
    all
}

fn set_name(at: usize) -> String {
    format!("{GATEWAY}-{}", at + 1)
}

/// A policy with its targets before its own fields.
fn policy(kind: &str, namespace: &str, name: &str, targets: Node, spec: &Node) -> Node {
    let mut all = Fields::new();
    all.set("targetRefs", targets);
    for entry in spec.as_object().into_iter().flatten() {
        all.set(&entry.key, entry.value.clone());
    }
    manifest(ENVOY_GATEWAY, kind, namespace, name, &all)
}

/// Lays the fields of one tree over another.
fn joined(wide: &Node, own: &Node) -> Node {
    let mut out = Fields::new();
    for entry in wide.as_object().into_iter().flatten() {
        let both = own.get(&entry.key).filter(|own| matches!((&own.value, &entry.value.value), (Value::Object(_), Value::Object(_))));
        out.set(&entry.key, both.map_or_else(|| own.get(&entry.key).unwrap_or(&entry.value).clone(), |own| joined(&entry.value, own)));
    }
    for entry in own.as_object().into_iter().flatten().filter(|entry| wide.get(&entry.key).is_none()) {
        out.set(&entry.key, entry.value.clone());
    }
    out.node()
}

fn allowed_routes() -> Node {
    let (mut from, mut allowed) = (Fields::new(), Fields::new());
    from.set("from", text("All"));
    allowed.set("namespaces", from.node());
    allowed.node()
}

/// The name of a host's listener without TLS.
fn plain_name(host: &str) -> String {
    format!("{HTTP}-{}", name_of(&host.replacen('*', "wildcard", 1)))
}

/// A listener without TLS, for one host or for all.
fn plain_listener(host: Option<&str>) -> Node {
    let mut out = Fields::new();
    out.set("name", text(&host.map_or_else(|| HTTP.to_string(), plain_name))).set_some("hostname", host.map(text));
    out.set("port", number(80)).set("protocol", text("HTTP")).set("allowedRoutes", allowed_routes());
    out.node()
}

fn stream_listener(of: StreamListener) -> Node {
    let mut out = Fields::new();
    out.set("name", text(&of.name())).set("port", number(i64::from(of.port))).set("protocol", text(of.protocol));
    out.set("allowedRoutes", allowed_routes());
    out.node()
}

fn listener(of: &Listener) -> Node {
    let mut out = Fields::new();
    out.set("name", text(&of.name)).set_some("hostname", of.host.as_deref().map(text)).set("port", number(443));
    let mut tls = Fields::new();
    if of.is_passthrough {
        out.set("protocol", text("TLS"));
        tls.set("mode", text("Passthrough"));
    } else {
        let mut secret = Fields::new();
        secret.set("name", text(&of.secret.1)).set("namespace", text(&of.secret.0));
        out.set("protocol", text("HTTPS"));
        tls.set("certificateRefs", list(Vec::from([secret.node()])));
    }
    out.set("tls", tls.node()).set("allowedRoutes", allowed_routes());
    out.node()
}
