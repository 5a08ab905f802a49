//! Creates Contour's own listeners: statistics, health, and read access to Envoy's admin interface (Contour `internal/envoy/v3/stats.go`).

use super::listener::keepalive;
use super::{Lowering, setting, setting_origin};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::ir::{
    Address, Certificate, CertificateSource, Delivery, DownstreamTls, FilterChain, Forward, HeaderMatch, HeaderName, HttpConnectionManager,
    HttpFilter, HttpFilterKind, Listener, NetworkFilter, PathMatch, Route, RouteAction, RouteConfiguration, RouteMatch, StringMatch, TlsParameters,
    TlsVersion, UpstreamClusters, ValidationContext, VirtualHost,
};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// The cluster of Envoy's admin interface.
pub(super) const ADMIN_CLUSTER: &str = "envoy-admin";
/// Where that interface listens.
pub(super) const ADMIN_SOCKET: &str = "/admin/admin.sock";

/// The readable paths of the admin interface.
const ADMIN_PATHS: [&str; 11] = [
    "/certs",
    "/clusters",
    "/listeners",
    "/config_dump",
    "/memory",
    "/ready",
    "/runtime",
    "/server_info",
    "/stats",
    "/stats/prometheus",
    "/stats/recentlookups",
];
const STATISTICS: [&str; 2] = ["/stats", "/stats/prometheus"];
const HEALTH: [&str; 1] = ["/ready"];
const BOTH: [&str; 3] = ["/ready", "/stats", "/stats/prometheus"];

/// The names of all listeners that are not for users' requests.
pub(crate) const OWN_LISTENERS: [&str; 5] = [STATISTICS_AND_HEALTH, "stats", "health", "health-om-enforced", ADMIN_CLUSTER];
const STATISTICS_AND_HEALTH: &str = "stats-health";

/// The configured address of one of these listeners.
#[derive(PartialEq)]
struct Place {
    address: Sourced<Str>,
    port: Sourced<u16>,
}

impl Lowering<'_> {
    pub(super) fn own_listeners(&mut self) -> Vec<Listener> {
        let (metrics, health) = (self.place("envoy.metrics"), self.place("envoy.health"));
        let tls = self.metrics_tls();
        let mut listeners = Vec::new();
        if tls.is_none() && metrics == health {
            listeners.extend(metrics.map(|place| serve(STATISTICS_AND_HEALTH, "stats", place, None, &BOTH)));
        } else {
            listeners.extend(metrics.map(|place| serve("stats", "stats", place, tls, &STATISTICS)));
            listeners.extend(health.map(|place| serve("health", "stats", place, None, &HEALTH)));
        }
        if self.at("envoy.omEnforcedHealth").exists() {
            let limited = self.place("envoy.omEnforcedHealth").map(|place| serve("health-om-enforced", "stats", place, None, &HEALTH));
            listeners.extend(limited.map(|limited| Listener { ignore_global_limit: false, ..limited }));
        }
        if let Some(number) = self.number("envoy.network.adminPort").filter(|number| number.value > 0)
            && let Some(port) = self.port(number)
        {
            let place = Place { address: Sourced::built_in("127.0.0.1".into()), port };
            listeners.push(serve(ADMIN_CLUSTER, ADMIN_CLUSTER, place, None, &ADMIN_PATHS));
        }
        listeners
    }

    /// The configured address; an absent port is 0, as in the reference.
    fn place(&mut self, path: &str) -> Option<Place> {
        let at = self.at(path);
        let (address, port) = (at.field("address"), at.field("port"));
        let number = port.u32().map_or(0, |number| number.value);
        Some(Place { address: setting(Str::new(address.str()), address), port: self.port(setting(number, port))? })
    }

    /// Certificates are files that Envoy's container has.
    fn metrics_tls(&self) -> Option<Sourced<DownstreamTls>> {
        let at = self.at("envoy.metrics.tls").some()?;
        let file = |name: &str| at.field(name).text().map(|path| setting(CertificateSource::File(path.value), at.field(name)));
        let origin = setting_origin(at);
        let certificate = Certificate {
            delivery: Delivery::Named("metrics-tls-certificate".into()),
            chain: file("certFile"),
            key: file("keyFile"),
            ..Certificate::default()
        };
        let authority = file("caFile");
        let validation = authority.map(|authority| {
            let origin = authority.origin;
            let delivery = Delivery::Named("metrics-ca-certificate".into());
            Sourced::new(ValidationContext { delivery, trusted_ca: Some(authority), ..ValidationContext::default() }, origin)
        });
        let version = || Some(Sourced::built_in(TlsVersion::V1_3));
        let tls = DownstreamTls {
            certificates: vec![Sourced::new(certificate, origin)],
            require_client_certificate: validation.as_ref().map(|of| Sourced::new(true, of.origin)),
            validation,
            parameters: TlsParameters { minimum: version(), maximum: version(), ..TlsParameters::default() },
            alpn: Vec::new(),
        };
        Some(Sourced::new(tls, origin))
    }
}

fn serve(name: &'static str, statistics: &'static str, place: Place, tls: Option<Sourced<DownstreamTls>>, paths: &[&'static str]) -> Listener {
    let origins: Vec<Origin> = place.port.origin.into_iter().collect();
    let host = VirtualHost {
        name: "backend".into(),
        domains: vec![Sourced::built_in("*".into())],
        routes: Arc::new(paths.iter().map(|path| Arc::new(route(path))).collect()),
        ..VirtualHost::default()
    };
    let router = HttpFilter {
        name: "envoy.filters.http.router".into(),
        kind: HttpFilterKind::Router { start_child_span: None, suppress_envoy_headers: None },
        origins: Vec::new(),
    };
    let manager = HttpConnectionManager {
        stat_prefix: Sourced::built_in(Str::new_static(statistics)),
        routes: RouteConfiguration { virtual_hosts: vec![host], ..RouteConfiguration::default() },
        filters: vec![Arc::new(router)],
        normalize_path: Some(Sourced::built_in(true)),
        origins: origins.clone(),
        ..HttpConnectionManager::default()
    };
    Listener {
        name: Sourced::built_in(Str::new_static(name)),
        address: Address { ipv4_compat: place.address.value == "::", address: place.address, port: place.port, ..Address::default() },
        chains: vec![FilterChain { tls, filters: vec![NetworkFilter::Http(Arc::new(manager))], origins: origins.clone(), ..FilterChain::default() }],
        socket_options: keepalive(),
        ignore_global_limit: true,
        origins,
        ..Listener::default()
    }
}

/// A route to a readable path of the admin interface.
fn route(path: &'static str) -> Route {
    let get =
        HeaderMatch { name: HeaderName::METHOD, value: StringMatch::Exact("GET".into()), invert: false, ignore_case: true, missing_as_empty: false };
    let forward = Forward { clusters: UpstreamClusters::One(Sourced::built_in(Str::new_static(ADMIN_CLUSTER))), ..Forward::default() };
    Route {
        matcher: RouteMatch {
            path: Sourced::built_in(PathMatch::Exact(Str::new_static(path))),
            headers: vec![Sourced::built_in(get)],
            ..RouteMatch::default()
        },
        action: RouteAction::Forward(Arc::new(forward)),
        ..Route::default()
    }
}
