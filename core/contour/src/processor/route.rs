//! Processes the routes of HTTPProxies along delegation (Contour `internal/dag/httpproxy_processor.go`, `computeRoutes`).

use super::delegation::{DEEPEST, Delegation, Orphans, Root, variables};
use super::memory::{Dependency, Reached, Visit, dependencies};
use super::record::Record;
use super::{Processing, condition, header, policy};
use crate::cluster::{Admitted, Name};
use crate::model::{
    Cluster, ClusterTimeouts, Conditions, DirectResponse, HeaderCondition, HeadersPolicy, HttpHealthCheck, InternalRedirect, MatchType, Mirror,
    PathCondition, PathRewrite, Redirect, Route, Service, SlowStart,
};
use crate::source::PortRef;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Reported;
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::go;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

/// The type of errors about a service.
const WRONG_SERVICE: &str = "ServiceError";

/// How many includes of one root are followed; Contour knows no limit.
const MOST: usize = 20_000;

/// The settings that a route's clusters share.
struct ForRoute<'r> {
    namespace: &'r Str,
    health: Option<Sourced<HttpHealthCheck>>,
    timeouts: ClusterTimeouts,
    lb_policy: Sourced<Str>,
    request_headers: Option<HeadersPolicy>,
}

impl<'a> Processing<'a> {
    /// The routes of an HTTPProxy and of its includes.
    pub(super) fn routes(
        &mut self,
        root: &Root<'a>,
        proxy: &'a Admitted<'a>,
        conditions: &[Cursor<'a>],
        way: &mut Delegation<'a>,
        orphans: &mut Orphans,
        record: &mut Record,
    ) -> Vec<Arc<Route>> {
        let is_known = |known: &&Admitted<'_>| known.object.id == proxy.object.id;
        if way.visited.iter().any(is_known) || way.visited.len() >= DEEPEST || way.followed >= MOST {
            let path: Vec<String> = way.visited.iter().chain([&proxy]).map(|on| format!("{}/{}", on.namespace(), on.name())).collect();
            let message = format!("include creates an include cycle: {}", path.join(" -> "));
            record.error("IncludeError", "IncludeCreatesCycle", message, proxy.spec().field("includes").origin());
            return Vec::new();
        }
        way.visited.push(proxy);
        way.followed += 1;
        let mut routes = Vec::new();
        let mut seen: BTreeSet<Conditions> = BTreeSet::new();
        for include in proxy.spec().field("includes").items() {
            routes.extend(self.include(root, proxy, include, conditions, &mut seen, (way, orphans), record));
        }
        let visit = Visit::new(&way.visited, conditions);
        way.visited.pop();
        let Ok(own) = self.own_routes(root, proxy, conditions, visit, &mut way.depends_on, record) else { return Vec::new() };
        if routes.is_empty() {
            return own;
        }
        routes.extend(own);
        expand_prefixes(routes)
    }

    /// The HTTPProxy's own routes; prefixes are expanded if it has no includes. One invalid route drops all.
    fn own_routes(
        &mut self,
        root: &Root<'a>,
        proxy: &'a Admitted<'a>,
        conditions: &[Cursor<'a>],
        visit: Visit,
        depends_on: &mut Vec<Dependency>,
        record: &mut Record,
    ) -> Result<Vec<Arc<Route>>, Reported> {
        let id = root.proxy.object.id;
        if let Some((routes, known)) = self.memory.routes(id, &visit) {
            depends_on.extend_from_slice(known);
            return Ok(routes);
        }
        let before = record.reports();
        let mut variables = variables(proxy.namespace());
        let mut routes = Vec::new();
        for at in proxy.spec().field("routes").items() {
            let all: Vec<Cursor<'_>> = conditions.iter().copied().chain(at.field("conditions").items()).collect();
            routes.push(Arc::new(self.route(root, proxy, at, &all, &mut variables, record)?));
        }
        if !proxy.spec().field("includes").has_items() {
            routes = expand_prefixes(routes);
        }
        if record.reports() == before {
            let own = dependencies(proxy);
            depends_on.extend_from_slice(&own);
            self.memory.keep_routes(id, visit, &routes, own);
        }
        Ok(routes)
    }

    #[expect(clippy::too_many_arguments, reason = "an include depends on everything on its path")]
    fn include(
        &mut self,
        root: &Root<'a>,
        proxy: &'a Admitted<'a>,
        include: Cursor<'a>,
        conditions: &[Cursor<'a>],
        seen: &mut BTreeSet<Conditions>,
        (way, orphans): (&mut Delegation<'a>, &mut Orphans),
        record: &mut Record,
    ) -> Vec<Arc<Route>> {
        let written = include.field("conditions");
        let own: Vec<Cursor<'a>> = written.items().collect();
        if let Err(why) = condition::check_include(written).and_then(|()| condition::check_paths(written)) {
            record.error("IncludeError", "PathMatchConditionsNotValid", format!("include: {why}"), written.origin());
            return Vec::new();
        }
        if let Err(why) = condition::check_headers(&own) {
            record.error("RouteError", "HeaderMatchConditionsNotValid", why, written.origin());
            return Vec::new();
        }
        if let Err(why) = condition::check_queries(&own) {
            record.error("RouteError", "QueryParameterMatchConditionsNotValid", why, written.origin());
            return Vec::new();
        }
        if !own.is_empty() && !is_new(&own, include, seen) {
            record.error("IncludeError", "DuplicateMatchConditions", "duplicate conditions defined on an include", written.origin());
            return Vec::new();
        }
        let namespace = match include.field("namespace").str() {
            "" => proxy.namespace().as_str(),
            namespace => namespace,
        };
        let name: Name = (namespace.into(), include.field("name").str().into());
        let Some(next) = self.source.proxies.get(&name) else {
            record.error("IncludeError", "IncludeNotFound", format!("include {}/{} not found", name.0, name.1), include.field("name").origin());
            return bad_gateway(&own, include, proxy);
        };
        if next.virtual_host().is_some() {
            let message = format!("root httpproxy cannot include another root httpproxy ({}/{})", name.0, name.1);
            record.error("IncludeError", "RootIncludesRoot", message, include.field("name").origin());
            return bad_gateway(&own, include, proxy);
        }
        let all: Vec<Cursor<'a>> = conditions.iter().copied().chain(own).collect();
        let mut inner = Record::default();
        let routes = self.routes(root, next, &all, way, orphans, &mut inner);
        way.has_findings |= !inner.condition.is_silent();
        self.proxies.commit(&name, inner.condition);
        orphans.remove(next.object.id);
        way.reached.push(Reached { id: next.object.id, name });
        routes
    }

    /// One route. One that is wrong ends its HTTPProxy's routes.
    fn route(
        &self,
        root: &Root<'_>,
        proxy: &Admitted<'_>,
        at: Cursor<'_>,
        conditions: &[Cursor<'_>],
        variables: &mut header::Variables,
        record: &mut Record,
    ) -> Result<Route, Reported> {
        let (services, redirect, direct) = (at.field("services"), at.field("requestRedirectPolicy"), at.field("directResponsePolicy"));
        if u8::from(services.has_items()) + u8::from(redirect.exists()) + u8::from(direct.exists()) != 1 {
            let message = "must set exactly one of route.services or route.requestRedirectPolicy or route.directResponsePolicy";
            return Err(record.error("RouteError", "RouteActionCountNotValid", message, at.origin()));
        }
        check_conditions(at.field("conditions"), conditions, record)?;
        let mut route = Route::new(condition::merge(conditions, at.origin()));
        let timeouts = self.policies(at, &mut route, variables, record)?;
        let (hash_policies, lb_policy) = policy::hash_policies(at.field("loadBalancerPolicy"), record);
        route.hash_policies = hash_policies;
        if redirect.field("path").exists() && redirect.field("prefix").exists() {
            let message = "route.requestRedirectPolicy is invalid: cannot specify both redirect path and redirect prefix";
            return Err(record.error("RouteError", "RequestRedirectPolicy", message, redirect.origin()));
        }
        route.redirect = redirect.some().map(redirect_of);
        route.direct_response = direct.some().map(direct_response);
        route.internal_redirect = at.field("internalRedirectPolicy").some().map(internal_redirect);
        route.retry = policy::retry(at.field("retryPolicy"));
        let websockets = at.field("enableWebsockets");
        route.websocket = websockets.is_true().then(|| Sourced::new((), websockets.origin()));
        let insecure = at.field("permitInsecure").is_true() && self.common.permits_insecure;
        let tls = root.virtual_host.field("tls");
        route.https_upgrade = (root.enforce_tls && !insecure).then(|| Sourced::new((), tls.origin()).by(Rule::Host));
        route.source = ("HTTPProxy".into(), proxy.namespace().clone(), proxy.name().clone());
        route.origins = alloc::vec![at.origin(), root.virtual_host.origin()];
        self.authorize(root, at, &mut route);
        rewrite(at, &mut route, record)?;
        let health = at.field("healthCheckPolicy");
        let health = policy::http_health(health).map_err(|why| record.error("RouteError", "HealthCheckPolicyInvalid", why, health.origin()))?;
        let shared = ForRoute { namespace: proxy.namespace(), health, timeouts, lb_policy, request_headers: route.request_headers.clone() };
        for service in services.items() {
            self.backend(&shared, service, &mut route, variables, record)?;
        }
        if route.clusters.is_empty() && !redirect.exists() && !direct.exists() {
            route.direct_response = Some(answer(503, services.origin()));
        }
        if root.host.value.starts_with("*.") {
            route.conditions.headers.push(wildcard_condition(&root.host));
        }
        verify_tokens(root, at.field("jwtVerificationPolicy"), &mut route, record)?;
        route.ip_filter = policy::ip_filter(at.field("ipAllowPolicy"), at.field("ipDenyPolicy"), record).map_err(|invalid| invalid.reported)?;
        Ok(route)
    }

    /// Processes a route's headers, cookies, timeouts and rate limits. Returns the timeouts of its clusters.
    fn policies(&self, at: Cursor<'_>, route: &mut Route, variables: &header::Variables, record: &mut Record) -> Result<ClusterTimeouts, Reported> {
        let mut wrong = |reason, message: String, at: Cursor<'_>| record.error("RouteError", reason, message, at.origin());
        let (request, response) = (at.field("requestHeadersPolicy"), at.field("responseHeadersPolicy"));
        route.request_headers = header::policy(request, true, variables)
            .map_err(|why| wrong("RequestHeadersPolicyInvalid", format!("{why} on request headers"), request))?;
        route.response_headers = header::policy(response, false, variables)
            .map_err(|why| wrong("ResponseHeaderPolicyInvalid", format!("{why} on response headers"), response))?;
        let cookies = at.field("cookieRewritePolicies");
        route.cookies =
            policy::cookies(cookies).map_err(|why| wrong("CookieRewritePoliciesInvalid", format!("{why} on route cookie rewrite rules"), cookies))?;
        let timeouts = at.field("timeoutPolicy");
        let (own, of_clusters) = policy::timeouts(timeouts, self.common.connect_timeout)
            .map_err(|why| wrong("TimeoutPolicyNotValid", format!("route.timeoutPolicy failed to parse: {why}"), timeouts))?;
        route.timeouts = own;
        let limits = at.field("rateLimitPolicy");
        route.rate_limit =
            policy::rate_limit(limits).map_err(|why| wrong("RateLimitPolicyNotValid", format!("route.rateLimitPolicy is invalid: {why}"), limits))?;
        let no_limits = limits.field("global").field("disabled");
        route.ignore_host_rate_limits = no_limits.is_true().then(|| Sourced::new((), no_limits.origin()));
        Ok(of_clusters)
    }

    /// Whether a route's requests are authorized, with the context.
    fn authorize(&self, root: &Root<'_>, at: Cursor<'_>, route: &mut Route) {
        let own = root.virtual_host.field("authorization");
        let global = self.common.authorization;
        let base = if own.exists() { own } else { global };
        if !base.exists() {
            return;
        }
        let mut disabled = base.field("authPolicy").field("disabled");
        if at.field("authPolicy").exists() {
            disabled = at.field("authPolicy").field("disabled");
        }
        route.auth_disabled = disabled.is_true().then(|| Sourced::new((), disabled.origin()));
        for (holder, rule) in [(base, Rule::Host), (at, Rule::Field)] {
            for (key, value) in holder.field("authPolicy").field("context").entries() {
                route.auth_context.insert(key.clone(), Sourced::new(Str::new(value.str()), value.origin()).by(rule));
            }
        }
    }

    /// A service of a route. An invalid one drops the HTTPProxy's routes; a missing one is dropped alone.
    fn backend(
        &self,
        shared: &ForRoute<'_>,
        service: Cursor<'_>,
        route: &mut Route,
        variables: &mut header::Variables,
        record: &mut Record,
    ) -> Result<(), Reported> {
        let (name, port) = (service.field("name"), service.field("port").int().unwrap_or(0));
        if !(1..=65535).contains(&port) {
            let message = format!("service {}: port must be in the range 1-65535", go_quoted(name.str()));
            return Err(record.error(WRONG_SERVICE, "ServicePortInvalid", message, service.field("port").origin()));
        }
        let health_port = service.field("healthPort").int().filter(|port| shared.health.is_some() && *port > 0).unwrap_or(0);
        let full = (shared.namespace.clone(), Str::new(name.str()));
        let upstream = match self.service(&full, PortRef::Number(port), health_port) {
            Ok(upstream) => self.with_default_limits(upstream),
            Err(why) => {
                let message = format!("Spec.Routes unresolved service reference: {why}");
                record.error(WRONG_SERVICE, "ServiceUnresolvedReference", message, name.origin());
                return Ok(());
            }
        };
        variables.service = Some((name.str().into(), port));
        let cluster = self.route_cluster(shared, service, upstream, variables, record)?;
        let (mirror, weight) = (service.field("mirror"), service.field("weight"));
        if mirror.is_true() {
            if !route.mirrors.is_empty() {
                let message = "only one service per route may be nominated as mirror";
                return Err(record.error(WRONG_SERVICE, "OnlyOneMirror", message, mirror.origin()));
            }
            let share = weight.int().filter(|share| *share != 0).unwrap_or(100);
            route.mirrors.push(Mirror { cluster: Arc::new(cluster), weight: Sourced::new(share, weight.origin()) });
        } else {
            route.clusters.push(Arc::new(cluster));
        }
        Ok(())
    }

    /// The cluster of one of a route's services.
    fn route_cluster(
        &self,
        shared: &ForRoute<'_>,
        service: Cursor<'_>,
        upstream: Service,
        variables: &header::Variables,
        record: &mut Record,
    ) -> Result<Cluster, Reported> {
        let protocol = protocol_of(service, &upstream)
            .map_err(|why| record.error(WRONG_SERVICE, "UnsupportedProtocol", why, service.field("protocol").origin()))?;
        let mut validation = None;
        if matches!(protocol.value.as_str(), "tls" | "h2") && service.field("validation").exists() {
            validation = Some(self.service_validation(service, shared.namespace, record)?);
        }
        let (request, response) = (service.field("requestHeadersPolicy"), service.field("responseHeadersPolicy"));
        let request_headers = header::service_policy(Some(self.common.request_headers), request, true, variables)
            .map_err(|why| record.error(WRONG_SERVICE, "RequestHeadersPolicyInvalid", format!("{why} on request headers"), request.origin()))?;
        let response_headers = header::service_policy(Some(self.common.response_headers), response, false, variables)
            .map_err(|why| record.error(WRONG_SERVICE, "ResponseHeadersPolicyInvalid", format!("{why} on response headers"), response.origin()))?;
        let cookies = service.field("cookieRewritePolicies");
        let cookies = policy::cookies(cookies).map_err(|why| {
            let message = format!("{why} on service cookie rewrite rules");
            record.error("RouteError", "CookieRewritePoliciesInvalid", message, cookies.origin())
        })?;
        let client_certificate = self.client_certificate().map_err(|why| record.error("TLSError", "SecretNotValid", why, service.origin()))?;
        let slow_start = slow_start(service.field("slowStartPolicy"), shared.lb_policy.value.as_str(), record)?;
        Ok(Cluster {
            protocol,
            validation,
            lb_policy: shared.lb_policy.clone(),
            http_health: shared.health.clone(),
            sni: server_name(shared.request_headers.as_ref(), request_headers.as_ref(), &upstream),
            request_headers,
            response_headers,
            cookies,
            dns_family: self.common.dns_family.clone(),
            client_certificate,
            timeouts: shared.timeouts.clone(),
            slow_start,
            ..self.cluster(upstream, weight_of(service), service.origin())
        })
    }
}

/// The weight of a service; zero if it is not set.
pub(super) fn weight_of(service: Cursor<'_>) -> Sourced<u32> {
    let weight = service.field("weight");
    weight.u32().unwrap_or_else(|| Sourced::new(0, weight.origin()))
}

fn slow_start(at: Cursor<'_>, strategy: &str, record: &mut Record) -> Result<Option<Sourced<SlowStart>>, Reported> {
    if at.exists() && !matches!(strategy, "" | "RoundRobin" | "WeightedLeastRequest") {
        let message = "slow start is only supported with RoundRobin or WeightedLeastRequest load balancer strategy";
        return Err(record.error(WRONG_SERVICE, "SlowStartInvalid", message, at.origin()));
    }
    policy::slow_start(at).map_err(|why| record.error(WRONG_SERVICE, "SlowStartInvalid", format!("{why} on slow start"), at.origin()))
}

/// The conditions of a route: its own paths, and headers and query parameters of all includes on the way too.
fn check_conditions(own: Cursor<'_>, all: &[Cursor<'_>], record: &mut Record) -> Result<(), Reported> {
    let checks = [
        (condition::check_paths(own).map_err(|why| Reason::from(format!("route: {why}"))), "PathMatchConditionsNotValid"),
        (condition::check_headers(all), "HeaderMatchConditionsNotValid"),
        (condition::check_queries(all), "QueryParameterMatchConditionsNotValid"),
    ];
    checks.into_iter().try_for_each(|(check, reason)| check.map_err(|why| record.error("RouteError", reason, why, own.origin())))
}

fn direct_response(at: Cursor<'_>) -> Sourced<DirectResponse> {
    let (status, body) = (at.field("statusCode"), at.field("body"));
    let status = status.u32().unwrap_or_else(|| Sourced::new(0, status.origin()));
    Sourced::new(DirectResponse { status, body: Sourced::new(Str::new(body.str()), body.origin()) }, at.origin())
}

/// The replacement of a prefix.
fn rewrite(at: Cursor<'_>, route: &mut Route, record: &mut Record) -> Result<(), Reported> {
    const WRONG: &str = "PrefixReplaceError";
    let replacements = at.field("pathRewritePolicy").field("replacePrefix");
    if replacements.is_empty() {
        return Ok(());
    }
    if !route.conditions.path.is_prefix() {
        let message = "cannot specify prefix replacements without a prefix condition";
        return Err(record.error(WRONG, "MustHavePrefix", message, replacements.origin()));
    }
    let mut prefixes = BTreeSet::new();
    for item in replacements.items() {
        let prefix = item.field("prefix").str();
        if !prefixes.insert(prefix) {
            let (reason, message) = match prefix {
                "" => ("AmbiguousReplacement", "ambiguous prefix replacement".to_string()),
                prefix => ("DuplicateReplacement", format!("duplicate replacement prefix '{prefix}'")),
            };
            return Err(record.error(WRONG, reason, message, item.origin()));
        }
    }
    let routed = route.conditions.path.text().clone();
    let of = |wanted: &str| replacements.items().find(|item| item.field("prefix").str() == wanted);
    let chosen = of(&routed).or_else(|| of(""));
    route.rewrite = chosen.map(|item| {
        let replacement = item.field("replacement");
        Sourced::new(PathRewrite::Prefix(replacement.str().into()), replacement.origin())
    });
    Ok(())
}

/// The token provider of a route.
fn verify_tokens(root: &Root<'_>, jwt: Cursor<'_>, route: &mut Route, record: &mut Record) -> Result<(), Reported> {
    let (require, disabled) = (jwt.field("require"), jwt.field("disabled"));
    if !require.str().is_empty() && disabled.is_true() {
        let message = "route's JWT verification policy cannot specify both require and disabled";
        return Err(record.error("JWTVerificationError", "InvalidJWTVerificationPolicy", message, jwt.origin()));
    }
    route.jwt_provider = match require.text() {
        Some(provider) => Some(provider),
        None if disabled.is_true() => None,
        None => root.default_jwt_provider.clone().map(|provider| provider.by(Rule::Host)),
    };
    Ok(())
}

/// The protocol of a service: the service's own field overrides the Service's.
pub(super) fn protocol_of(service: Cursor<'_>, upstream: &Service) -> Result<Sourced<Str>, Reason> {
    match service.field("protocol").some() {
        None => Ok(upstream.protocol.clone()),
        Some(at) if matches!(at.str(), "h2c" | "h2" | "tls") => Ok(Sourced::new(at.str().into(), at.origin())),
        Some(at) => Err(format!("unsupported protocol: {}", at.str()).into()),
    }
}

/// The server name sent: a rewritten host, of the service before the route's, else an external name.
pub(super) fn server_name(route: Option<&HeadersPolicy>, service: Option<&HeadersPolicy>, upstream: &Service) -> Sourced<Str> {
    let rewritten = [service, route].into_iter().flatten().find_map(|policy| policy.host_rewrite.clone());
    rewritten.map_or_else(|| upstream.external_name.clone(), |host| host.by(Rule::Derived))
}

/// Envoy answers with a status alone.
pub(super) fn answer(status: u32, origin: Origin) -> Sourced<DirectResponse> {
    let derived = origin.by(Rule::Derived);
    let response = DirectResponse { status: Sourced::new(status, derived), body: Sourced::default() };
    Sourced::new(response, derived)
}

/// The response for an invalid include.
fn bad_gateway(conditions: &[Cursor<'_>], include: Cursor<'_>, proxy: &Admitted<'_>) -> Vec<Arc<Route>> {
    if conditions.is_empty() {
        return Vec::new();
    }
    let mut route = Route::new(condition::merge(conditions, include.origin()));
    route.direct_response = Some(answer(502, include.origin()));
    route.source = ("HTTPProxy".into(), proxy.namespace().clone(), proxy.name().clone());
    route.origins = alloc::vec![include.origin()];
    alloc::vec![Arc::new(route)]
}

/// Whether no earlier include has the same conditions. Includes that match everything are ignored.
fn is_new(conditions: &[Cursor<'_>], include: Cursor<'_>, seen: &mut BTreeSet<Conditions>) -> bool {
    let mut merged = condition::merge(conditions, include.origin());
    merged.headers.sort_by_key(in_order);
    merged.queries.sort_by(|a, b| (a.match_type, !a.ignore_case, &a.name, &a.value).cmp(&(b.match_type, !b.ignore_case, &b.name, &b.value)));
    let everything = merged.path.text() == "/" && merged.headers.is_empty() && merged.queries.is_empty();
    everything || seen.insert(merged)
}

/// The order in which headers of includes are compared.
fn in_order(header: &HeaderCondition) -> (MatchType, bool, bool, bool, Str, Str) {
    let HeaderCondition { name, value, match_type, invert, ignore_case, missing_as_empty, .. } = header;
    (*match_type, !*ignore_case, !*invert, !*missing_as_empty, name.clone(), value.clone())
}

/// A wildcard matches one label; Envoy alone would match several.
pub(super) fn wildcard_condition(host: &Sourced<Str>) -> HeaderCondition {
    let mut value = String::from("^[a-z0-9]([-a-z0-9]*[a-z0-9])?");
    value.push_str(&go::quote_meta(host.value.strip_prefix('*').unwrap_or(&host.value)));
    value.push_str("(:[0-9]+)?");
    HeaderCondition {
        name: Str::new_static(":authority"),
        value: value.into(),
        match_type: MatchType::Regex,
        invert: false,
        ignore_case: false,
        missing_as_empty: false,
        origin: Sourced { value: (), origin: host.origin.map(|origin| origin.by(Rule::Host)) },
    }
}

fn redirect_of(at: Cursor<'_>) -> Sourced<Redirect> {
    let text = |field: &str| Sourced::new(Str::new(at.field(field).str()), at.field(field).origin());
    let number = |field: &str| at.field(field).u32().unwrap_or_else(|| Sourced::new(0, at.field(field).origin()));
    let (path, prefix) = (at.field("path"), at.field("prefix"));
    let rewrite = match (path.some(), prefix.some()) {
        (Some(path), _) => Some(Sourced::new(PathRewrite::Full(path.str().into()), path.origin())),
        (None, Some(prefix)) => Some(Sourced::new(PathRewrite::Prefix(prefix.str().into()), prefix.origin())),
        (None, None) => None,
    };
    let redirect = Redirect { hostname: text("hostname"), scheme: text("scheme"), port: number("port"), status: number("statusCode"), path: rewrite };
    Sourced::new(redirect, at.origin())
}

fn internal_redirect(at: Cursor<'_>) -> Sourced<InternalRedirect> {
    let max = at.field("maxInternalRedirects");
    let cross = at.field("allowCrossSchemeRedirect");
    let scheme = match cross.str() {
        known @ ("Always" | "SafeOnly") => Str::new(known),
        _ => Str::new_static("Never"),
    };
    let repeated = at.field("denyRepeatedRouteRedirect");
    let policy = InternalRedirect {
        max: max.u32().unwrap_or_else(|| Sourced::new(0, max.origin())),
        codes: at.field("redirectResponseCodes").items().filter_map(Cursor::u32).collect(),
        cross_scheme: Sourced::new(scheme, cross.origin()),
        deny_repeated_route: Sourced::new(repeated.is_true(), repeated.origin()),
    };
    Sourced::new(policy, at.origin())
}

/// A replaced prefix `/foo` needs a twin `/foo/`, so that `/foo/x` keeps its slash; only if no other route has that prefix.
fn expand_prefixes(routes: Vec<Arc<Route>>) -> Vec<Arc<Route>> {
    if routes.iter().all(|route| route.rewrite.is_none()) {
        return routes;
    }
    let trimmed = |route: &Route| match &route.conditions.path.value {
        PathCondition::Prefix(prefix) | PathCondition::Segment(prefix) if prefix != "/" => Some(Str::new(prefix.trim_end_matches('/'))),
        PathCondition::Prefix(prefix) | PathCondition::Segment(prefix) => Some(prefix.clone()),
        _ => None,
    };
    let mut count: BTreeMap<Str, usize> = BTreeMap::new();
    for prefix in routes.iter().filter_map(|route| trimmed(route)) {
        *count.entry(prefix).or_default() += 1;
    }
    let mut expanded = Vec::with_capacity(routes.len());
    for mut shared in routes {
        let prefix = trimmed(&shared).filter(|prefix| count.get(prefix) == Some(&1) && shared.conditions.path.text() != "/");
        if let (Some(prefix), Some(Sourced { value: PathRewrite::Prefix(replacement), origin })) = (prefix, &shared.rewrite) {
            let (bare, origin) = (Str::new(replacement.trim_end_matches('/')), *origin);
            let to = |replacement: Str| Some(Sourced::new(PathRewrite::Prefix(replacement), origin));
            let mut twin = Route::clone(&shared);
            twin.rewrite = to(format!("{bare}/").into());
            twin.conditions.path.value = PathCondition::Prefix(format!("{prefix}/").into());
            expanded.push(Arc::new(twin));
            let route = Arc::make_mut(&mut shared);
            route.rewrite = to(if bare.is_empty() { Str::new_static("/") } else { bare });
            route.conditions.path.value = PathCondition::Prefix(prefix);
        }
        expanded.push(shared);
    }
    expanded
}
