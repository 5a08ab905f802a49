//! SecurityPolicy: which requests and connections are let through.

use super::super::cluster::Admitted;
use super::super::context::{ListenerId, RouteKind, Translator};
use super::super::model::{Authorization, Cors, HttpListener, HttpRoute, Security, StringMatch, StringMatchKind, TcpListener};
use super::super::translate::wildcard_expression;
use super::super::value::text_of;
use super::attach::{Attached, Effective};
use super::authentication as authn;
use super::authorization::{authorization, places, uses_places};
use super::backend_traffic::failure;
use super::matching::cidr;
use super::merge::Keys;
use super::target::Target;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_base::schema::go_quoted;
use chancery_text::Str;
use core::ops::Range;

/// SecurityPolicy as a kind of policies.
pub(super) struct SecurityPolicy;

impl Attached for SecurityPolicy {
    const KIND: &'static str = "SecurityPolicy";
    const FOR_ROUTES: &'static str = "securityPolicies";
    const MANY: &'static str = "securityPolicies";
    const KEYS: Keys = &[("contextExtensions", "name")];

    fn all<'a>(t: &Translator<'a>) -> Vec<&'a Admitted<'a>> {
        t.resources.security_policies.clone()
    }

    fn deprecated(spec: &Tree) -> Vec<(&'static str, &'static str)> {
        let fields: [(&[&str], &str, &str); 3] = [
            (&["extAuth", "grpc", "backendRef"], "spec.extAuth.grpc.backendRef", "spec.extAuth.grpc.backendRefs"),
            (&["extAuth", "http", "backendRef"], "spec.extAuth.http.backendRef", "spec.extAuth.http.backendRefs"),
            (&["targetRef"], "spec.targetRef", "spec.targetRefs"),
        ];
        fields.into_iter().filter(|(path, ..)| !spec.at(path).is_null()).map(|(_, old, new)| (old, new)).collect()
    }

    fn check(target: &Target, spec: &Tree) -> Result<(), String> {
        if target.route_kind() == Some(RouteKind::Tcp) { check_tcp(spec) } else { check_http(spec) }
    }

    fn on_route(
        t: &mut Translator<'_>,
        policy: &Effective<'_>,
        route: usize,
        rule: Option<&str>,
        listener: Option<ListenerId>,
    ) -> Result<(), String> {
        let mut common = Parts::default();
        common.read(t, policy, "Authorization: ");
        let mut errors = core::mem::take(&mut common.errors);
        let mut is_broken = common.is_broken;
        let spans = t.routes[route].spans.clone();
        let kind = t.routes[route].kind;
        for place in 0..t.routes[route].parents.len() {
            let listeners = t.routes[route].parents[place].listeners.clone();
            let Some(gateway) = listeners.first().map(|id| id.gateway) else { continue };
            if listener.is_some_and(|id| id.gateway != gateway) {
                continue;
            }
            let mut parts = Parts { security: common.security.clone(), ..Parts::default() };
            parts.ext_auth(t, policy, gateway);
            let ext_auth_failed = !parts.errors.is_empty();
            parts.oidc(t, policy, gateway);
            parts.jwt(t, policy, gateway);
            is_broken |= parts.is_broken;
            errors.append(&mut parts.errors);
            let apply = Apply { policy, security: &parts.security, has_errors: !errors.is_empty(), is_broken, ext_auth_failed };
            let key = t.ir_key(t.gateways[gateway].object);
            let proxy = t.gateways[gateway].envoy_proxy.clone();
            for id in listeners.into_iter().filter(|id| listener.is_none_or(|only| only == *id)) {
                let name = t.listener(id).ir_name.clone();
                let Some(xds) = t.xds.get_mut(&key) else { continue };
                if kind == RouteKind::Tcp {
                    for tcp in xds.tcp.iter_mut().filter(|tcp| tcp.core.name == name) {
                        apply.to_tcp(tcp, rule);
                    }
                } else if let Some((at, http)) = xds.http.iter_mut().enumerate().find(|(_, http)| http.core.name == name) {
                    let is_rule = |route: &HttpRoute| rule.is_none_or(|rule| *route.metadata.section.value == *rule);
                    let own = spans.iter().filter(|span| span.ir_key == key && span.listener == at).map(|span| span.routes.clone());
                    errors.extend(apply.to_http(http, proxy.as_deref(), true, (&own.collect::<Vec<_>>(), is_rule)));
                }
            }
        }
        joined(errors)
    }

    fn on_listeners(t: &mut Translator<'_>, policy: &Effective<'_>, gateway: usize, listeners: &[ListenerId], _is_whole: bool) -> Result<(), String> {
        let mut parts = Parts::default();
        parts.jwt(t, policy, gateway);
        parts.oidc(t, policy, gateway);
        parts.read(t, policy, "");
        let before = parts.errors.len();
        parts.ext_auth(t, policy, gateway);
        let ext_auth_failed = parts.errors.len() > before;
        let apply = Apply { policy, security: &parts.security, has_errors: !parts.errors.is_empty(), is_broken: parts.is_broken, ext_auth_failed };
        let names: BTreeSet<Str> = listeners.iter().map(|id| t.listener(*id).ir_name.clone()).collect();
        let key = t.ir_key(t.gateways[gateway].object);
        let proxy = t.gateways[gateway].envoy_proxy.clone();
        let mut errors = parts.errors.clone();
        if let Some(xds) = t.xds.get_mut(&key) {
            for http in xds.http.iter_mut().filter(|http| names.contains(&http.core.name)) {
                let all = 0..http.routes.len();
                errors.extend(apply.to_http(http, proxy.as_deref(), false, (&[all], |_| true)));
            }
            for tcp in xds.tcp.iter_mut().filter(|tcp| names.contains(&tcp.core.name)) {
                apply.to_tcp(tcp, None);
            }
        }
        joined(errors)
    }
}

fn joined(errors: Vec<String>) -> Result<(), String> {
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// Features, as far as they could be read.
#[derive(Default)]
struct Parts {
    security: Security,
    errors: Vec<String>,
    /// Whether anything but the external authorization could not be read.
    is_broken: bool,
}

impl Parts {
    fn take<V>(&mut self, what: &str, found: Result<Option<V>, String>) -> Option<V> {
        found.unwrap_or_else(|error| {
            self.errors.push(format!("{what}{error}"));
            self.is_broken = true;
            None
        })
    }

    /// Reads the settings that are the same for all Gateways.
    fn read(&mut self, t: &Translator<'_>, policy: &Effective<'_>, authorization_prefix: &str) {
        let spec = &policy.spec;
        self.security.origin = Some(policy.object.spec().origin());
        self.security.cors = cors(spec.get("cors"));
        self.security.csrf = csrf(spec.get("csrf"));
        self.security.basic_auth = self.take("BasicAuth: ", authn::basic_auth(t, policy));
        self.security.api_key_auth = self.take("APIKeyAuth: ", authn::api_key_auth(t, policy));
        let owner = policy.owner(|spec| !spec.at(&["authorization", "rules"]).items().is_empty());
        self.security.authorization = self.take(authorization_prefix, authorization(spec.get("authorization"), owner));
    }

    fn oidc(&mut self, t: &mut Translator<'_>, policy: &Effective<'_>, gateway: usize) {
        self.security.oidc = self.take("OIDC: ", authn::oidc(t, policy, gateway));
    }

    fn jwt(&mut self, t: &mut Translator<'_>, policy: &Effective<'_>, gateway: usize) {
        self.security.jwt = self.take("JWT: ", authn::jwt(t, policy, gateway));
    }

    fn ext_auth(&mut self, t: &mut Translator<'_>, policy: &Effective<'_>, gateway: usize) {
        match authn::ext_auth(t, policy, gateway) {
            Ok(found) => self.security.ext_auth = found,
            Err(error) => self.errors.push(format!("ExtAuth: {error}")),
        }
    }
}

struct Apply<'p, 'a> {
    policy: &'p Effective<'a>,
    security: &'p Security,
    has_errors: bool,
    is_broken: bool,
    ext_auth_failed: bool,
}

impl Apply<'_, '_> {
    /// Applies the features to routes that have none. Places of clients are looked up only if rules need them; `lazily`, only for such routes.
    fn to_http(
        &self,
        http: &mut HttpListener,
        proxy: Option<&super::super::load::resources::EnvoyProxy>,
        lazily: bool,
        (routes, is_meant): (&[Range<usize>], impl Fn(&HttpRoute) -> bool),
    ) -> Option<String> {
        let mut error = None;
        let needs_places = uses_places(self.security.authorization.as_ref());
        let is_open = |route: &HttpRoute| is_meant(route) && route.security.is_none();
        let any = routes.iter().any(|range| http.routes[range.clone()].iter().any(|route| is_open(route)));
        if needs_places
            && (any || !lazily)
            && let Some(authorization) = &self.security.authorization
        {
            match places(authorization, proxy, &http.client.client_ip_detection) {
                Ok(provider) => http.client.geoip = provider,
                Err(why) => error = Some(format!("Authorization: {why}")),
            }
        }
        let is_broken = self.is_broken || error.is_some();
        let fails_open = self.ext_auth_failed && !is_broken && self.policy.spec.at(&["extAuth", "failOpen"]).bool();
        let fails = (error.is_some() || self.has_errors) && !fails_open;
        let security = Arc::new(self.security.clone());
        for range in routes {
            for route in http.routes[range.clone()].iter_mut().filter(|route| is_open(route)) {
                let route = Arc::make_mut(route);
                route.security = Some(security.clone());
                if fails {
                    route.direct_response = Some(Box::new(failure(self.policy.object.spec().origin())));
                }
            }
        }
        error
    }

    fn to_tcp(&self, tcp: &mut TcpListener, rule: Option<&str>) {
        let authorization: Option<&Authorization> = self.security.authorization.as_ref();
        for route in tcp.routes.iter_mut().filter(|route| route.authorization.is_none()) {
            let section = route.destination.as_ref().and_then(|of| of.metadata.as_ref()).map_or("", |metadata| metadata.section.value.as_str());
            if rule.is_none_or(|rule| rule == section) {
                route.authorization = authorization.cloned();
            }
        }
    }
}

fn check_http(spec: &Tree) -> Result<(), String> {
    for source in spec.at(&["apiKeyAuth", "extractFrom"]).items() {
        if ["headers", "params", "cookies"].iter().filter(|list| !source.get(list).items().is_empty()).count() > 1 {
            return Err("only one of headers, params or cookies must be specified".into());
        }
    }
    let oidc = spec.get("oidc");
    if !oidc.get("passThroughAuthHeader").bool() {
        return Ok(());
    }
    const MUST: &str = "the OIDC.PassThroughAuthHeader setting must be used in conjunction with";
    let jwt = spec.get("jwt");
    if jwt.is_null() {
        return Err(format!("{MUST} JWT settings"));
    }
    let providers = jwt.get("providers").items();
    let reads_header = |provider: &Tree| {
        let from = provider.get("extractFrom");
        from.is_null() || !from.get("headers").items().is_empty()
    };
    if !providers.iter().any(reads_header) {
        return Err(format!("{MUST} a JWT provider that is configured to read from a header"));
    }
    let forward = oidc.get("forwardIDToken");
    if forward.is_null() {
        return Ok(());
    }
    let header = forward.get("header").text();
    let when = "when passThroughAuthHeader is enabled";
    for provider in providers {
        let from = provider.get("extractFrom");
        if from.is_null() {
            if header.eq_ignore_ascii_case("Authorization") {
                let words = format!("cannot be the Authorization header {when} and a JWT provider reads from it");
                return Err(format!("the OIDC.ForwardIDToken header {} {words}", go_quoted(header)));
            }
        } else if from.get("headers").items().iter().any(|of| of.get("name").text().eq_ignore_ascii_case(header)) {
            let words = format!("cannot be the same as a JWT provider extractFrom header {when}");
            return Err(format!("the OIDC.ForwardIDToken header {} {words}", go_quoted(header)));
        }
    }
    Ok(())
}

fn check_tcp(spec: &Tree) -> Result<(), String> {
    let others = ["cors", "csrf", "jwt", "oidc", "apiKeyAuth", "basicAuth", "extAuth"];
    if others.iter().any(|field| !spec.get(field).is_null()) {
        return Err("only authorization is supported for TCP (routes/listeners)".into());
    }
    for (at, rule) in spec.at(&["authorization", "rules"]).items().iter().enumerate() {
        if !rule.get("cel").is_null() {
            return Err(format!("rule {at}: CEL not supported for TCP"));
        }
        let principal = rule.get("principal");
        if !principal.get("jwt").is_null() {
            return Err(format!("rule {at}: JWT not supported for TCP"));
        }
        for field in ["headers", "clientIPGeoLocations"] {
            if !principal.get(field).items().is_empty() {
                return Err(format!("rule {at}: {field} not supported for TCP"));
            }
        }
        for range in principal.get("clientCIDRs").items() {
            if let Err(error) = cidr(range) {
                return Err(format!("rule {at}: invalid ClientCIDR {}: {error}", go_quoted(range.text())));
            }
        }
    }
    Ok(())
}

fn origin_match(text: &str, of: &Tree) -> StringMatch {
    let (kind, value) =
        if text.contains('*') { (StringMatchKind::Regex, Str::from(wildcard_expression(text))) } else { (StringMatchKind::Exact, Str::new(text)) };
    StringMatch { kind, value: Sourced { value, origin: of.origin }, ..StringMatch::default() }
}

fn cors(written: &Tree) -> Option<Cors> {
    if written.is_null() {
        return None;
    }
    let list = |field: &str| written.get(field).items().iter().map(text_of).collect();
    let credentials = written.get("allowCredentials");
    Some(Cors {
        allow_origins: written.get("allowOrigins").items().iter().map(|of| origin_match(of.text(), of)).collect(),
        allow_methods: list("allowMethods"),
        allow_headers: list("allowHeaders"),
        expose_headers: list("exposeHeaders"),
        max_age: written.get("maxAge").clone(),
        allow_credentials: Tree::from(credentials.bool()).with_origin(credentials.origin.or(written.origin)),
        origin: written.origin,
    })
}

fn csrf(written: &Tree) -> Option<(Tree, Vec<StringMatch>)> {
    if written.is_null() {
        return None;
    }
    let host = |of: &Tree| {
        let text = of.text();
        origin_match(text.split_once("://").map_or(text, |(_, host)| host), of)
    };
    Some((written.get("shadowFraction").clone(), written.get("additionalOrigins").items().iter().map(host).collect()))
}
