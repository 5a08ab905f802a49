//! Finds fields of an HTTPProxy without effect, and routes that serve nothing. Does not repeat what Contour writes into conditions.
//!
//! Source of behaviour: Contour `internal/dag/httpproxy_processor.go`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Assumptions, Missing, SideRef};
use chancery_base::diagnostic::{Code, Diagnostic, Place, Severity, codes};
use chancery_base::ir::{Cluster, HttpFilterKind, PathMatch, RouteAction};
use chancery_base::resource::{Object, ObjectId, Origin};
use chancery_kubernetes::known::{all_at, is_read};
use chancery_text::{Node, NodeId, Str};
use hashbrown::{HashMap, HashSet};

/// Finds settings of HTTPProxies without effect.
pub fn fields(side: SideRef<'_>) -> Vec<Diagnostic> {
    let is_proxy = |object: &&Object| *object.key.kind == *"HTTPProxy" && is_read(side, object);
    let proxies: Vec<&Object> = side.objects().iter().filter(is_proxy).collect();
    let mut found = Vec::new();
    found.extend(unimplemented(side));
    if proxies.is_empty() {
        return found;
    }
    let clusters = clusters_of_services(side);
    let http = || side.irs().flat_map(|ir| &ir.listeners).flat_map(|listener| listener.http_managers());
    let has = |is: fn(&HttpFilterKind) -> bool| http().flat_map(|manager| &manager.filters).any(|filter| is(&filter.kind));
    let used = Used {
        authorization: has(|of| matches!(of, HttpFilterKind::ExtAuthz(_))),
        tokens: has(|of| matches!(of, HttpFilterKind::Jwt(_))),
        limits: has(|of| matches!(of, HttpFilterKind::RateLimit(_))),
    };
    let rewritten = Rewritten::of(side, &proxies);
    let is_whole = Assumptions::of(&side.side.options).for_other_kinds() == Missing::Error;
    let services = side.objects().iter().filter(|object| *object.key.kind == *"Service" && !object.assumed);
    let services: HashSet<(Option<&str>, &str)> = services.map(|service| (service.key.namespace.as_deref(), &*service.key.name)).collect();
    let never_insecure = side.objects().iter().any(forbids_insecure);
    for object in proxies {
        let mut proxy = Proxy { object, services: &services, is_whole, found: Vec::new() };
        proxy.passthrough();
        if never_insecure {
            proxy.insecure_routes();
        }
        proxy.without_host_settings(&used);
        proxy.without_rate_limit_service(&used);
        for route in all_at(&object.root, &["spec", "routes", "*"]) {
            proxy.route(route);
            proxy.services(route, &clusters);
            proxy.replacements(route, &rewritten);
        }
        if let Some(tcp) = object.root.at(&["spec", "tcpproxy"]) {
            proxy.services(tcp, &clusters);
            proxy.tcp(tcp);
            proxy.beside_tcp();
        }
        found.append(&mut proxy.found);
    }
    found
}

/// The clusters of services, by the place of the service.
fn clusters_of_services(side: SideRef<'_>) -> HashMap<(ObjectId, NodeId), &Cluster> {
    let all = side.irs().flat_map(|ir| &ir.clusters);
    let place = |origin: &Origin| (origin.object(), origin.node());
    all.flat_map(|cluster| cluster.origins.iter().map(move |origin| (place(origin), &**cluster))).collect()
}

/// Fields of Gateway API's rules that Contour does not implement.
const UNIMPLEMENTED: [&str; 2] = ["retry", "sessionPersistence"];

/// Finds fields of routes that Contour does not implement.
fn unimplemented(side: SideRef<'_>) -> Vec<Diagnostic> {
    let is_route = |object: &&Object| matches!(&*object.key.kind, "HTTPRoute" | "GRPCRoute") && is_read(side, object);
    let mut found = Vec::new();
    for object in side.objects().iter().filter(is_route) {
        for rule in all_at(&object.root, &["spec", "rules", "*"]) {
            for (name, node) in UNIMPLEMENTED.iter().filter_map(|name| Some((*name, rule.get(name)?))) {
                let message = format!("`{name}` changes nothing: Contour does not implement this field of Gateway API");
                let finding = Diagnostic::new(&codes::FIELD_WITHOUT_EFFECT, message, Place::key(object.id, node.id)).about(object.key.clone());
                let finding = finding.help("use an HTTPProxy with `retryPolicy` or `loadBalancerPolicy`");
                let fields = node.as_object().into_iter().flat_map(|fields| fields.iter());
                found.push(
                    fields.fold(finding, |finding, field| finding.related(Place::value(object.id, field.value.id), "this field has no effect")),
                );
            }
        }
    }
    found
}

/// Whether an object is a configuration of Contour with `disablePermitInsecure`.
fn forbids_insecure(object: &Object) -> bool {
    let settings = [object.root.at(&["spec", "httpproxy", "disablePermitInsecure"]), object.root.get("disablePermitInsecure")];
    let is_configuration = *object.key.kind == *"ContourConfiguration" || object.parent.is_some();
    is_configuration && settings.into_iter().flatten().any(|node| node.as_bool() == Some(true))
}

/// Which filters a route may turn off that any host has.
struct Used {
    authorization: bool,
    tokens: bool,
    limits: bool,
}

/// The prefixes of Envoy's routes, and the replaced ones, by the place of the field.
#[derive(Default)]
struct Rewritten<'a> {
    /// The prefix of a route.
    prefixes: HashMap<(ObjectId, NodeId), &'a Str>,
    /// All prefixes of Envoy's routes without a slash at the end, each with the place of the route.
    twins: HashSet<((ObjectId, NodeId), &'a str)>,
    /// The replacements that are in effect.
    replacements: HashSet<(ObjectId, NodeId)>,
}

impl<'a> Rewritten<'a> {
    /// Collects nothing if no HTTPProxy replaces a prefix.
    fn of(side: SideRef<'a>, proxies: &[&Object]) -> Self {
        let mut rewritten = Self::default();
        if !proxies.iter().any(|proxy| !all_at(&proxy.root, REPLACEMENTS).is_empty()) {
            return rewritten;
        }
        let place = |origin: &Origin| (origin.object(), origin.node());
        let managers = side.irs().flat_map(|ir| &ir.listeners).flat_map(|listener| listener.http_managers());
        for route in managers.flat_map(|manager| &manager.routes.virtual_hosts).flat_map(|host| host.routes.iter()) {
            if let PathMatch::Prefix(prefix) | PathMatch::PathSeparatedPrefix(prefix) = &route.matcher.path.value {
                rewritten.prefixes.extend(route.origins.iter().map(|origin| (place(origin), prefix)));
                if !prefix.ends_with('/') {
                    rewritten.twins.extend(route.origins.iter().map(|origin| (place(origin), prefix.as_str())));
                }
            }
            if let RouteAction::Forward(forward) = &route.action {
                rewritten.replacements.extend(forward.path_rewrite.iter().filter_map(|rewrite| rewrite.origin.as_ref()).map(place));
            }
        }
        rewritten
    }
}

/// Where an HTTPProxy replaces prefixes.
const REPLACEMENTS: &[&str] = &["spec", "routes", "*", "pathRewritePolicy", "replacePrefix", "*"];

struct Proxy<'a> {
    object: &'a Object,
    /// The Services of the input, by namespace and name.
    services: &'a HashSet<(Option<&'a str>, &'a str)>,
    /// Whether the input is the whole cluster.
    is_whole: bool,
    found: Vec<Diagnostic>,
}

impl Proxy<'_> {
    fn report(&mut self, code: &'static Code, message: impl Into<String>, at: &Node, help: &str) {
        let place = Place::key(self.object.id, at.id);
        self.found.push(Diagnostic::new(code, message, place).about(self.object.key.clone()).help(help));
    }

    fn idle(&mut self, message: impl Into<String>, at: &Node, help: &str) {
        self.report(&codes::FIELD_WITHOUT_EFFECT, message, at, help);
    }

    /// Finds routes that permit cleartext although Contour's configuration forbids it.
    fn insecure_routes(&mut self) {
        let root = &self.object.root;
        for permits in all_at(root, &["spec", "routes", "*", "permitInsecure"]) {
            if permits.as_bool() == Some(true) && root.at(&["spec", "virtualhost", "tls"]).is_some() {
                let message = "`permitInsecure` changes nothing: Contour's configuration sets `disablePermitInsecure`, so HTTP is redirected";
                self.idle(message, permits, "remove `disablePermitInsecure` from the configuration, or `permitInsecure` here");
            }
        }
    }

    /// Finds TLS passthrough without a TCP proxy.
    fn passthrough(&mut self) {
        let root = &self.object.root;
        let Some(tls) = root.at(&["spec", "virtualhost", "tls"]) else { return };
        let validation = tls.get("clientValidation").filter(|validation| validation.get("crlSecret").is_none());
        if let Some(leaf) = validation.and_then(|validation| validation.get("crlOnlyVerifyLeafCert")) {
            let message = "`crlOnlyVerifyLeafCert` changes nothing without `crlSecret`: no list of revoked certificates is used";
            self.idle(message, leaf, "name the list in `crlSecret`, or remove the field");
        }
        let Some(passthrough) = tls.get("passthrough").filter(|node| node.as_bool() == Some(true)) else { return };
        if root.at(&["spec", "tcpproxy"]).is_none() {
            let message = "no TLS connection is served: `passthrough` forwards connections to `tcpproxy`, but there is none";
            self.report(
                &codes::UNSERVED,
                message,
                passthrough,
                "add `tcpproxy`, or have Envoy terminate TLS: write `secretName` instead of `passthrough`",
            );
        }
        for field in ["minimumProtocolVersion", "maximumProtocolVersion"] {
            if let Some(version) = tls.get(field) {
                let message = format!("`{field}` has no effect together with `passthrough`: the service terminates TLS");
                self.idle(message, version, "set the version where TLS is terminated");
            }
        }
    }

    /// Finds settings that routes disable but their host does not have. An including proxy may have them, so only roots are checked.
    fn without_host_settings(&mut self, used: &Used) {
        let root = &self.object.root;
        let Some(host) = root.at(&["spec", "virtualhost"]) else { return };
        for route in all_at(root, &["spec", "routes", "*"]) {
            let is_true = |path: &[&str]| route.at(path).filter(|node| node.as_bool() == Some(true));
            if let Some(node) = is_true(&["permitInsecure"]).filter(|_| host.get("tls").is_none()) {
                let message = "`permitInsecure` changes nothing: without `tls` of the virtual host nothing is redirected to https://";
                self.idle(message, node, "take it away, or give the virtual host `tls`");
            }
            if let Some(node) = is_true(&["authPolicy", "disabled"]).filter(|_| host.get("authorization").is_none() && !used.authorization) {
                let message = "`authPolicy.disabled` changes nothing: no requests of the virtual host are authorized";
                self.idle(message, node, "take it away, or give the virtual host `authorization`");
            }
            if let Some(node) = is_true(&["jwtVerificationPolicy", "disabled"]).filter(|_| host.get("jwtProviders").is_none() && !used.tokens) {
                let message = "`jwtVerificationPolicy.disabled` changes nothing: the virtual host verifies no tokens";
                self.idle(message, node, "take it away, or give the virtual host `jwtProviders`");
            }
            let required = route.at(&["jwtVerificationPolicy", "require"]).filter(|node| node.as_str().is_some_and(|name| !name.is_empty()));
            if let Some(node) = required.filter(|_| host.get("jwtProviders").is_none() && host.get("tls").is_none()) {
                let message =
                    "`jwtVerificationPolicy.require` verifies nothing: the virtual host has no `jwtProviders`, so requests pass without a token";
                self.idle(message, node, "give the virtual host `jwtProviders` and `tls`, which they need");
            }
        }
    }

    /// Finds global rate limits without a rate limit service: Contour's configuration names none, or a missing one.
    fn without_rate_limit_service(&mut self, used: &Used) {
        if used.limits {
            return;
        }
        let root = &self.object.root;
        let limits = [&["spec", "virtualhost", "rateLimitPolicy", "global"][..], &["spec", "routes", "*", "rateLimitPolicy", "global"]];
        for node in limits.into_iter().flat_map(|path| all_at(root, path)).filter(|node| node.get("descriptors").is_some()) {
            let message = "`rateLimitPolicy.global` limits nothing: Contour gives Envoy no rate limit service";
            self.idle(message, node, "set `rateLimitService` in Contour's configuration, and add it to the input, or use `local`");
            // A fragment may leave Contour's configuration to the cluster.
            if let Some(finding) = self.found.last_mut().filter(|_| !self.is_whole) {
                finding.severity = Severity::Notice;
            }
        }
    }

    /// Replacements of prefixes that the route does not have.
    fn replacements(&mut self, route: &Node, rewritten: &Rewritten<'_>) {
        let at = |node: &Node| (self.object.id, node.id);
        let Some(routed) = rewritten.prefixes.get(&at(route)) else { return };
        for item in all_at(route, &["pathRewritePolicy", "replacePrefix", "*"]) {
            let text = |name: &str| Some((item.get(name)?, item.get(name)?.as_str()?)).filter(|(_, text)| !text.is_empty());
            let (Some((prefix, written)), Some((replacement, _))) = (text("prefix"), text("replacement")) else { continue };
            let is_replaced = rewritten.replacements.contains(&at(replacement));
            if is_replaced && written.len() > 1 && written.ends_with('/') {
                self.widened(prefix, written, rewritten.twins.contains(&(at(route), written.trim_end_matches('/'))));
            }
            if *written != **routed && !is_replaced {
                let message = format!("the prefix `{written}` is not replaced: the whole prefix of the route is `{routed}`");
                let help = format!("write `prefix: {routed}`, or leave `prefix` out, which replaces any");
                self.idle(message, prefix, &help);
            }
        }
    }

    /// Reports a prefix that ends with a slash: Contour adds a route without the slash (internal/dag/httpproxy_processor.go,
    /// `expandPrefixMatches`).
    fn widened(&mut self, prefix: &Node, written: &str, has_twin: bool) {
        if !has_twin {
            return;
        }
        let bare = written.trim_end_matches('/');
        let message = format!("Contour adds a route with the prefix `{bare}` for `{written}`, so requests for `{bare}X/page` match this route too");
        let help = format!("if `{bare}X` belongs to another service, add a route for it: the longer prefix wins");
        self.report(&codes::REWRITE_SLASHES, message, prefix, &help);
    }

    /// Reports fields for forwarded requests on a route that answers requests itself.
    fn answers(&mut self, route: &Node) {
        const FORWARDED: [&str; 10] = [
            "timeoutPolicy",
            "retryPolicy",
            "enableWebsockets",
            "loadBalancerPolicy",
            "healthCheckPolicy",
            "internalRedirectPolicy",
            "cookieRewritePolicies",
            "requestHeadersPolicy",
            "responseHeadersPolicy",
            "rateLimitPolicy",
        ];
        let is_set = |node: &&Node| !node.is_null() && node.as_bool() != Some(false);
        let Some(answer) = ["requestRedirectPolicy", "directResponsePolicy"].into_iter().find(|name| route.get(name).filter(is_set).is_some()) else {
            return;
        };
        for field in FORWARDED {
            if let Some(node) = route.get(field).filter(is_set) {
                self.idle(format!("`{field}` has no effect together with `{answer}`: Contour uses it for forwarded requests"), node, "take it away");
            }
        }
    }

    fn route(&mut self, route: &Node) {
        self.answers(route);
        let services = all_at(route, &["services", "*"]);
        let is_mirror = |service: &Node| service.get("mirror").and_then(Node::as_bool) == Some(true);
        if let Some(first) = services.first().filter(|_| services.iter().all(|service| is_mirror(service)))
            && let Some(mirror) = first.get("mirror")
        {
            let message =
                "Envoy answers requests with 503: all services of the route are mirrors, which get copies of requests that another one gets";
            self.report(&codes::UNSERVED, message, mirror, "add the service that answers, or take `mirror` away");
        }
        let weights: Vec<&Node> = services.iter().filter(|service| !is_mirror(service)).filter_map(|service| service.get("weight")).collect();
        let receivers = services.iter().filter(|service| !is_mirror(service)).count();
        if let Some(first) = weights.first().filter(|_| receivers > 1 && weights.len() == receivers)
            && weights.iter().all(|weight| weight.as_i64() == Some(0))
        {
            let message = "all weights are 0, so Contour treats them as equal: each service gets the same share";
            self.idle(message, first, "give the services that should get requests a `weight` above 0, and remove the others");
        }
        if let Some(count) = route.at(&["retryPolicy", "count"]).filter(|count| count.as_i64() == Some(0)) {
            self.idle("Contour treats `count: 0` as 1: Envoy retries once", count, "write `count: -1` for no retries");
        }
        let is_open = route.at(&["authPolicy", "disabled"]).and_then(Node::as_bool) == Some(true);
        if let Some(context) = route.at(&["authPolicy", "context"]).filter(|context| is_open && !context.is_null()) {
            let message = "`context` has no effect together with `disabled: true`: no service checks the requests of this route";
            self.idle(message, context, "take one of the two away");
        }
        let strategy = route.at(&["loadBalancerPolicy", "strategy"]).and_then(Node::as_str).unwrap_or_default();
        let weight = |service: &&&Node| service.get("weight").and_then(Node::as_i64).unwrap_or(0);
        let weighted = services.iter().filter(|service| !is_mirror(service) && weight(service) > 0).count();
        let drawn = if weighted == 0 { receivers } else { weighted };
        if let Some(node) = route.at(&["loadBalancerPolicy", "strategy"]).filter(|_| drawn > 1 && matches!(strategy, "Cookie" | "RequestHash")) {
            let message = format!("`strategy: {strategy}` does not keep a client at one service: Envoy draws the service by weight for each request");
            self.idle(
                message,
                node,
                "it only chooses among the endpoints of one service; to keep clients at a service, write a route with a condition on a header",
            );
        }
        if let Some(policies) = route.at(&["loadBalancerPolicy", "requestHashPolicies"]).filter(|_| strategy != "RequestHash") {
            let message = "`requestHashPolicies` changes nothing: only the strategy `RequestHash` asks for it";
            self.idle(message, policies, "write `strategy: RequestHash`, or take the policies away");
        }
    }

    /// Finds service fields that require other fields. `of` is a route or `tcpproxy`.
    fn services(&mut self, of: &Node, clusters: &HashMap<(ObjectId, NodeId), &Cluster>) {
        for service in all_at(of, &["services", "*"]) {
            let health_port = service.get("healthPort").filter(|port| port.as_i64().is_some_and(|port| port > 0));
            if let Some(port) = health_port.filter(|_| of.get("healthCheckPolicy").is_none()) {
                let message = "`healthPort` changes nothing: without `healthCheckPolicy` Envoy does not check the service's health";
                self.idle(message, port, "add `healthCheckPolicy` next to `services`, or remove `healthPort`");
            }
            self.mirror(service);
            // One that is not in the input may well say that it speaks TLS.
            let name = service.get("name").and_then(Node::as_str).unwrap_or_default();
            let is_known = service.get("protocol").is_some() || self.services.contains(&(self.object.key.namespace.as_deref(), name));
            let speaks_plain = is_known && clusters.get(&(self.object.id, service.id)).is_some_and(|cluster| cluster.tls.is_none());
            if let Some(validation) = service.get("validation").filter(|_| speaks_plain) {
                let message = "`validation` changes nothing: Envoy does not speak TLS to the service, so that no certificate is checked";
                self.idle(message, validation, "write `protocol: tls` (or `h2`) next to it, or remove `validation`");
            }
        }
    }

    /// Policies of a mirror: Contour gives Envoy only the cluster and the share of a mirror (internal/envoy/v3/route.go, `mirrorPolicy`).
    fn mirror(&mut self, service: &Node) {
        if service.get("mirror").and_then(Node::as_bool) != Some(true) {
            return;
        }
        for field in ["requestHeadersPolicy", "responseHeadersPolicy", "cookieRewritePolicies"] {
            let Some(policy) = service.get(field).filter(|policy| !policy.is_null()) else { continue };
            let sets_host =
                all_at(policy, &["set", "*", "name"]).iter().any(|name| name.as_str().is_some_and(|name| name.eq_ignore_ascii_case("host")));
            let message = if sets_host && field == "requestHeadersPolicy" {
                "`requestHeadersPolicy` does not change mirrored requests: they keep the client's Host with `-shadow` added, and this Host becomes only the SNI".into()
            } else {
                format!("`{field}` has no effect on a mirror: Envoy sends copies of the requests unchanged, with `-shadow` added to Host")
            };
            self.idle(message, policy, "remove it; if the mirror needs another Host, send the copies to a proxy that sets it");
        }
    }

    /// Reports settings of the host that `tcpproxy` skips: its filter chain has no HTTP filters, and without routes there is no virtual host for
    /// cleartext (internal/xdscache/v3/listener.go, internal/xdscache/v3/route.go). Cleartext is never authorized, and its tokens are not verified.
    fn beside_tcp(&mut self) {
        const OF_HOST: [(&str, bool); 6] = [
            ("ipAllowPolicy", false),
            ("ipDenyPolicy", false),
            ("authorization", true),
            ("jwtProviders", true),
            ("rateLimitPolicy", false),
            ("corsPolicy", false),
        ];
        let root = &self.object.root;
        let Some(host) = root.at(&["spec", "virtualhost"]).filter(|host| host.get("tls").is_some_and(|tls| !tls.is_null())) else { return };
        let has_items = |path: &[&str]| root.at(path).and_then(Node::as_array).is_some_and(|items| !items.is_empty());
        let has_routes = has_items(&["spec", "routes"]) || has_items(&["spec", "includes"]);
        let is_on = |path: &[&str]| host.at(path).and_then(Node::as_bool) == Some(true);
        for (field, is_for_tls) in OF_HOST {
            let is_empty = |node: &Node| node.is_null() || node.as_array().is_some_and(Vec::is_empty);
            let Some(node) = host.get(field).filter(|node| !is_empty(node)) else { continue };
            let is_off = match field {
                "authorization" => is_on(&["authorization", "authPolicy", "disabled"]),
                "rateLimitPolicy" => is_on(&["rateLimitPolicy", "global", "disabled"]) && node.get("local").is_none(),
                _ => false,
            };
            if is_off {
                continue;
            }
            let message = match has_routes && !is_for_tls {
                true => format!("`{field}` does not apply to TLS connections: `tcpproxy` forwards them without HTTP filters"),
                false => format!("`{field}` does nothing: `tcpproxy` forwards connections without HTTP filters"),
            };
            self.idle(
                message,
                node,
                "enforce it in the service; or give Envoy the certificate in `secretName`, and write `routes` instead of `tcpproxy`",
            );
        }
    }

    /// What services of TCP have only for HTTP.
    fn tcp(&mut self, tcp: &Node) {
        const ONLY_HTTP: [&str; 5] = ["mirror", "requestHeadersPolicy", "responseHeadersPolicy", "cookieRewritePolicies", "slowStartPolicy"];
        for service in all_at(tcp, &["services", "*"]) {
            for field in ONLY_HTTP {
                let Some(node) = service.get(field).filter(|node| node.as_bool() != Some(false)) else { continue };
                let message = format!("`{field}` changes nothing in `tcpproxy`: Contour reads it for routes alone");
                self.idle(message, node, "take it away");
            }
        }
    }
}
