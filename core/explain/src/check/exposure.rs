//! Reports parts that are more open than intended: Envoy's admin interface, upstreams with unverified certificates, cleartext next to TLS, old TLS
//! versions, and responses that every site may read.
//!
//! Does not check certificates; see `certificate`.

use super::whole::{Whole, clusters_of, is_written, written};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Place, codes};
use chancery_base::ir::{
    ClusterDiscovery, EndpointAddress, FilterChain, HttpConnectionManager, HttpFilterKind, NetworkFilter, PerFilter, Redirect, Route, RouteAction,
    StringMatch, TlsParameters, TlsVersion, VirtualHost,
};
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

pub(super) fn check(whole: &mut Whole<'_>) {
    admin(whole);
    upstreams(whole);
    cleartext(whole);
    versions(whole);
    origins(whole);
}

/// Whether only programs on the proxy's host can reach the address.
fn is_local(address: &EndpointAddress) -> bool {
    address.host().is_none_or(|host| host == "localhost" || host == "::1" || host.starts_with("127."))
}

fn admin(whole: &mut Whole<'_>) {
    let Some(admin) = &whole.ir.delivery.bootstrap.admin else { return };
    if !is_local(&admin.address) {
        let message = format!("Envoy's admin interface listens on {}, where others can reach it", admin.address.value);
        let finding = whole.finding(&codes::ADMIN_EXPOSED, admin.address.origin, message);
        whole.report(finding.help("let it listen on 127.0.0.1: anyone who reaches it can stop Envoy and read its configuration"));
    }
    for (route, forward) in whole.forwards() {
        for (name, origin) in clusters_of(forward) {
            let Some(cluster) = whole.clusters.get(name) else { continue };
            let endpoints: Vec<_> = match &cluster.discovery {
                ClusterDiscovery::Dns { endpoints, .. } | ClusterDiscovery::Static { endpoints, .. } => endpoints.iter().collect(),
                ClusterDiscovery::Eds { localities, .. } => localities.iter().flat_map(|locality| &locality.endpoints).collect(),
            };
            let is_admin =
                endpoints.iter().any(|endpoint| endpoint.value.address.port() == admin.address.port() && is_local(&endpoint.value.address));
            let at = origin.filter(|origin| whole.object(Some(*origin)).is_some()).or_else(|| written(&route.origins));
            if is_admin && whole.object(at).is_some() {
                let message = "this route leads to Envoy's admin interface: anyone who reaches it can stop Envoy and read its configuration";
                let finding = whole.finding(&codes::ADMIN_EXPOSED, at, message);
                whole.report(finding);
            }
        }
    }
}

/// Checks TLS to upstreams whose identity is not verified.
fn upstreams(whole: &mut Whole<'_>) {
    for cluster in &whole.ir.clusters {
        let Some(tls) = &cluster.tls else { continue };
        if tls.validation.as_ref().is_some_and(|validation| validation.value.trusted_ca.is_some()) {
            continue;
        }
        let at = tls.origin.filter(|origin| whole.object(Some(*origin)).is_some()).or_else(|| written(&cluster.origins));
        if whole.object(at).is_some() {
            let message = "the upstream's certificate is not verified: the connection is encrypted, but anyone may be at its other end";
            let finding = whole.finding(&codes::UNVERIFIED_UPSTREAM, at, message);
            whole.report(finding.help("set the CA that signs the upstream's certificate"));
        }
    }
}

pub(super) fn is_secure(chain: &FilterChain) -> bool {
    // A chain without a certificate that reads HTTP closes TLS connections.
    let reads_http = chain.filters.iter().any(|filter| matches!(filter, NetworkFilter::Http(_)));
    let requires_tls = chain.matcher.as_ref().is_some_and(|matcher| matches!(matcher.transport_protocol.as_deref(), Some("tls" | "quic")));
    chain.tls.is_some() || requires_tls && !reads_http
}

pub(super) fn hosts(chain: &FilterChain) -> impl Iterator<Item = &VirtualHost> {
    chain.filters.iter().flat_map(|filter| match filter {
        NetworkFilter::Http(manager) => manager.routes.virtual_hosts.as_slice(),
        NetworkFilter::Tcp(_) => &[],
    })
}

/// Reports domains that are served both with TLS and without it.
fn cleartext(whole: &mut Whole<'_>) {
    let chains = || whole.ir.listeners.iter().flat_map(|listener| &listener.chains);
    let domains = |host: &VirtualHost| host.domains.iter().map(|domain| domain.value.clone()).collect::<Vec<_>>();
    let secure: HashSet<_> = chains().filter(|chain| is_secure(chain)).flat_map(hosts).flat_map(domains).collect();
    if secure.is_empty() {
        return;
    }
    let unprotected = unprotected(whole);
    let (mut open, mut parts) = (Vec::new(), Vec::new());
    for host in chains().filter(|chain| !is_secure(chain)).flat_map(hosts) {
        let Some(domain) = host.domains.iter().find(|domain| secure.contains(&domain.value) && !unprotected.contains(&domain.value)) else {
            continue;
        };
        if let Some(route) = host.routes.iter().find(|route| is_open(route)) {
            let at = written(&route.origins);
            if host.routes.iter().any(|route| redirects(route)) {
                parts.push((at, domain.value.clone()));
                continue;
            }
            open.push((host.origins.iter().copied().find(|origin| whole.object(Some(*origin)).is_some()).or(at), at, domain.value.clone()));
        }
    }
    for (at, domain) in parts {
        let message =
            format!("`{domain}` is served over TLS, but this route does not redirect its requests from http:// to https://, as other routes do");
        let finding = whole.finding(&codes::MISSING_REDIRECT, at, message);
        if whole.object(at).is_some() {
            whole.report(finding);
        }
    }
    for (at, route, domain) in open {
        let message = format!("`{domain}` is served over TLS and in cleartext: requests for http:// are not redirected to https://");
        let mut finding = whole.finding(&codes::MISSING_REDIRECT, at, message);
        let other = whole.object(route).map(|object| object.id) != whole.object(at).map(|object| object.id);
        if other && whole.object(route).is_some() {
            finding = finding.related(Place::origin(route), "this is served in cleartext");
        }
        if whole.object(at).is_some() {
            whole.report(finding);
        }
    }
}

/// The authentication that the filters of a chain require before forwarding.
#[derive(Clone, Copy, Default)]
struct RequiredAuth {
    authorization: bool,
    token: bool,
}

impl RequiredAuth {
    fn by(manager: &HttpConnectionManager) -> Self {
        let any = |is: fn(&HttpFilterKind) -> bool| manager.filters.iter().any(|filter| is(&filter.kind));
        Self { authorization: any(|kind| matches!(kind, HttpFilterKind::ExtAuthz(_))), token: any(|kind| matches!(kind, HttpFilterKind::Jwt(_))) }
    }
}

/// Reports routes that forward in cleartext without the authentication that is required over TLS, and returns their domains.
fn unprotected(whole: &mut Whole<'_>) -> HashSet<Str> {
    let managers = |secure: bool| {
        let chains = whole.ir.listeners.iter().flat_map(|listener| &listener.chains).filter(move |chain| is_secure(chain) == secure);
        chains.flat_map(|chain| &chain.filters).filter_map(|filter| match filter {
            NetworkFilter::Http(manager) => Some(manager),
            NetworkFilter::Tcp(_) => None,
        })
    };
    let mut over_tls: HashMap<&Str, RequiredAuth> = HashMap::new();
    for manager in managers(true) {
        let asked = RequiredAuth::by(manager);
        for domain in manager.routes.virtual_hosts.iter().flat_map(|host| &host.domains) {
            let all = over_tls.entry(&domain.value).or_default();
            *all = RequiredAuth { authorization: all.authorization || asked.authorization, token: all.token || asked.token };
        }
    }
    let (mut found, mut domains) = (Vec::new(), HashSet::new());
    for manager in managers(false) {
        let own = RequiredAuth::by(manager);
        for host in &manager.routes.virtual_hosts {
            let Some((domain, asked)) = host.domains.iter().find_map(|domain| Some((&domain.value, over_tls.get(&domain.value)?))) else { continue };
            for route in host.routes.iter().filter(|route| is_open(route)) {
                let has = |is: fn(&PerFilter) -> bool| route.per_filter.iter().any(|(_, of)| is(&of.value));
                let authorization = asked.authorization && !own.authorization && !has(|of| matches!(of, PerFilter::ExtAuthzDisabled));
                let token = asked.token && !own.token && has(|of| matches!(of, PerFilter::Jwt(_)));
                let what = match (authorization, token) {
                    (true, true) => "authorization and a valid token are",
                    (true, false) => "authorization is",
                    (false, true) => "a valid token is",
                    (false, false) => continue,
                };
                found.push((written(&route.origins), what, domain.clone()));
                domains.insert(domain.clone());
            }
        }
    }
    for (at, what, domain) in found {
        let message = format!("{what} asked for only over TLS: this route forwards requests for http://{domain} without asking");
        if whole.object(at).is_some() {
            // Contour redirects cleartext requests unless a route permits them.
            let permits = at.zip(whole.node(at).and_then(|route| route.get("permitInsecure")));
            let (at, help) = match permits {
                Some((route, node)) => {
                    (Some(Origin::new(route.object(), node.id, Rule::Field)), "remove `permitInsecure`, so that the route redirects to https://")
                }
                None => (at, "let the route redirect to https://"),
            };
            let finding = whole.finding(&codes::UNPROTECTED_CLEARTEXT, at, message);
            whole.report(finding.help(help));
        }
    }
    domains
}

/// Whether a route only matches requests that came over TLS, according to the proxy in front of the gateway.
pub(super) fn requires_tls(route: &Route) -> bool {
    route.matcher.headers.iter().any(|header| {
        let header = &header.value;
        *header.name == *"x-forwarded-proto" && !header.invert && matches!(&header.value, StringMatch::Exact(value) if *value == *"https")
    })
}

/// Whether a user-written route forwards cleartext requests.
fn is_open(route: &Route) -> bool {
    matches!(route.action, RouteAction::Forward(_)) && !requires_tls(route) && written(&route.origins).is_some()
}

/// Whether a user-written route redirects to https.
fn redirects(route: &Route) -> bool {
    let is_https = |redirect: &Redirect| redirect.https.as_ref().is_some_and(|https| https.value);
    matches!(&route.action, RouteAction::Redirect(redirect) if is_https(redirect)) && written(&route.origins).is_some()
}

fn versions(whole: &mut Whole<'_>) {
    let ir = whole.ir;
    let downstream =
        ir.listeners.iter().flat_map(|listener| &listener.chains).filter_map(|chain| chain.tls.as_ref()).map(|tls| &tls.value.parameters);
    let upstream = ir.clusters.iter().filter_map(|cluster| cluster.tls.as_ref()).map(|tls| &tls.value.parameters);
    for parameters in downstream.chain(upstream) {
        version(whole, parameters);
    }
}

fn version(whole: &mut Whole<'_>, parameters: &TlsParameters) {
    let TlsParameters { minimum, maximum, .. } = parameters;
    if let (Some(low), Some(high)) = (minimum, maximum)
        && low.value > high.value
    {
        let at = [low.origin, high.origin].into_iter().find(|origin| is_written(*origin)).flatten();
        let finding = whole.finding(&codes::TLS_VERSIONS_CROSSED, at, "the minimum TLS version is above the maximum, so that no handshake succeeds");
        whole.report(finding);
    }
    for (limit, what) in [(minimum, "the lowest version is"), (maximum, "the highest version is")] {
        if let Some(limit) = limit.as_ref().filter(|limit| is_written(limit.origin) && limit.value < TlsVersion::V1_2) {
            let number = if limit.value == TlsVersion::V1_0 { "1.0" } else { "1.1" };
            let message = format!("{what} TLS {number}, which is no longer safe (RFC 8996)");
            let finding = whole.finding(&codes::OLD_TLS, limit.origin, message);
            whole.report(finding.help("clients of the last ten years speak TLS 1.2"));
        }
    }
}

/// Reports CORS policies that let every site read responses with credentials.
fn origins(whole: &mut Whole<'_>) {
    for cors in whole.cors() {
        if !cors.allow_credentials.as_ref().is_some_and(|allowed| allowed.value) {
            continue;
        }
        let any = cors.allow_origins.iter().find(|origin: &&Sourced<StringMatch>| match &origin.value {
            StringMatch::Exact(text) => *text == *"*",
            StringMatch::Prefix(text) => text.is_empty() || matches!(&**text, "http" | "https" | "http://" | "https://"),
            StringMatch::Regex(regex) => matches!(&*regex.regex, ".*" | "^.*$" | ".+" | "https?://.*" | "http.*"),
            _ => false,
        });
        if let Some(any) = any {
            let at: Option<Origin> = any.origin.or_else(|| cors.allow_credentials.as_ref().and_then(|allowed| allowed.origin));
            if whole.object(at).is_some() {
                let message = "any website can read responses with the user's cookies: every origin is allowed, with credentials";
                let finding = whole.finding(&codes::OPEN_CORS, at, message);
                whole.report(finding.help("list the allowed origins, or do not allow credentials"));
            }
        }
    }
}
