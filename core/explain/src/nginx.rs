//! Reports what nginx does with a request under ingress-nginx, in terms of the user's lines.
//!
//! Does not simulate requests; see `chancery_nginx::simulate`. Does not render.

mod ending;
mod routes;

pub(crate) use ending::shares;
pub use ending::{describe_nginx_ending, nginx_ending, nginx_story_path};
pub use routes::{nginx_matching_rows, nginx_routes, nginx_sample_request};

use crate::{OriginOf, OriginView, Positions, RequestVerdict};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::client_certificate;
use chancery_base::compilation::NginxRef;
use chancery_base::ir::nginx::Nginx;
use chancery_envoy::simulate::{ANY_PASSWORD, Outcome, Protocol, Request};
use chancery_nginx::simulate::{Request as Asked, Response, Simulator, Version, World, host_name};

/// What nginx does with a request, and the lines that cause it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct NginxReport {
    /// The result in one sentence, if it was computed.
    #[serde(skip_serializing_if = "RequestVerdict::is_empty")]
    pub verdict: RequestVerdict,
    /// The reason for nginx to refuse this configuration. Then the previous one answers the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedView>,
    /// How the request ends, in the terms that all gateways share.
    pub outcome: Outcome,
    /// The status; 0 without a response.
    pub status: u16,
    /// The `Location` header.
    pub location: Option<String>,
    /// The reason for a missing response.
    pub error: Option<String>,
    /// The reason for nginx to respond itself, if the parts that the request passes do not explain it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The parts of nginx that the request passes, in order.
    pub way: Vec<WayStep>,
    /// The Ingress whose annotations apply.
    pub ingress: Option<String>,
    /// The path of the location that matches the request.
    pub location_path: Option<String>,
    pub upstream: Option<String>,
    /// The canary that other such requests go to by chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canary: Option<CanaryView>,
    /// The request as the service receives it.
    pub seen: Option<SeenView>,
    /// Requests to other services: authentication, copies, failed attempts.
    pub others: Vec<SeenView>,
    pub headers: Vec<(String, Vec<String>)>,
    /// The name in the certificate that the client receives.
    pub certificate: Option<String>,
    /// Parts that the simulation skipped.
    pub notes: Vec<String>,
    /// The origins of the parts.
    pub origins: Vec<OriginOf>,
}

/// The reason for nginx to refuse the whole configuration.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RefusedView {
    pub why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginView>,
}

/// A canary and its share of requests.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CanaryView {
    pub upstream: String,
    /// In percent.
    pub percent: f64,
}

/// A part that a request passes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct WayStep {
    /// `server`, `location` or `upstream`.
    pub what: &'static str,
    /// The part's name in nginx's configuration.
    pub name: String,
    /// Its place in the model; empty if it has none.
    pub pointer: String,
}

/// A request as a service receives it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SeenView {
    pub method: String,
    pub path: String,
    /// The `Host` header.
    pub host: String,
    pub protocol: String,
    /// The endpoint, if it is certain.
    pub endpoint: Option<String>,
    pub headers: Vec<(String, String)>,
}

/// Simulates a request, and reports the result with its origins.
pub fn route_nginx(of: NginxRef<'_>, positions: &Positions<'_>, request: &Request) -> NginxReport {
    let mut report = report(of, positions, answer(&Simulator::new(of.nginx), request));
    report.notes.extend(redirect_loop(of.nginx, request, &report));
    report
}

/// Explains that a client which already uses https at a load balancer is redirected to https forever.
fn redirect_loop(nginx: &Nginx, request: &Request, report: &NginxReport) -> Option<String> {
    let scheme = request.headers.first("x-forwarded-proto")?;
    let to = report.location.as_ref()?.strip_prefix("https://")?;
    let is_same_host = to.split(['/', ':', '?']).next() == request.authority.split(':').next();
    let is_ignored = !nginx.globals.flag("use-forwarded-headers").value;
    (is_ignored && !request.tls && is_same_host && scheme.eq_ignore_ascii_case("https")).then(|| {
        "nginx ignores `x-forwarded-proto`, because `use-forwarded-headers` is false: behind a load balancer that ends TLS, this redirect is a loop. \
         Set `use-forwarded-headers: \"true\"` in the controller's ConfigMap"
            .into()
    })
}

/// Simulates one request.
pub(crate) fn answer(simulator: &Simulator<'_>, request: &Request) -> Response {
    simulator.answer(&World::default(), &[asked(request, simulator.nginx())]).into_iter().next().unwrap_or_default()
}

/// A weight in percent of a total.
fn share(weight: i64, total: i64) -> f64 {
    let number = |of: i64| f64::from(u32::try_from(of).unwrap_or_default());
    number(weight) * 100.0 / number(total).max(1.0)
}

/// Converts a request to the simulation's type.
pub(crate) fn asked(request: &Request, nginx: &Nginx) -> Asked {
    let mut asked = Asked {
        tls: request.tls,
        method: request.method.clone(),
        host: request.authority.clone(),
        path: request.path.clone(),
        headers: request.headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        sni: request.sni.clone().or_else(|| host_name(&request.authority)).filter(|name| request.tls && !name.is_empty()),
        version: if request.protocol == Protocol::Http2 { Version::Http2 } else { Version::Http11 },
        certificate: request.client_certificate.then(|| client_certificate::ACCEPTED.into()),
        has_right_password: request.headers.first("authorization").is_some_and(|value| value.ends_with(ANY_PASSWORD)),
        body: request.headers.first("content-length").and_then(body_size),
        ..Asked::default()
    };
    asked.client = request.source.unwrap_or(asked.client);
    if nginx.globals.flag("use-proxy-protocol").value {
        // A balancer in front of nginx tells the addresses of the connection.
        let family = if asked.client.is_ipv4() { "TCP4" } else { "TCP6" };
        let port = if asked.tls { 443 } else { 80 };
        asked.proxy_protocol = Some(format!("PROXY {family} {} {BALANCER} {CLIENT_PORT} {port}", asked.client));
    }
    asked
}

/// The address at which clients reach a balancer that speaks the PROXY protocol, and the port of a client.
const BALANCER: &str = "192.0.2.10";
const CLIENT_PORT: u16 = 40_000;

/// Reads the size of the body from a `Content-Length`.
fn body_size(length: &str) -> Option<u64> {
    let digits = length.trim();
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

pub(crate) fn report(of: NginxRef<'_>, positions: &Positions<'_>, response: Response) -> NginxReport {
    let view = |seen: chancery_nginx::simulate::Seen| SeenView {
        method: seen.method,
        path: seen.path,
        host: seen.host,
        protocol: seen.protocol,
        endpoint: seen.endpoint,
        headers: seen.headers,
    };
    let origins = response.way.iter().filter_map(|step| {
        let origin = OriginView::of(step.origin?, of.named.of, positions);
        Some(OriginOf { of: step.what.into(), pointer: step.name.clone(), around: false, origin })
    });
    let refused = of.nginx.refused.as_ref().map(|refused| RefusedView {
        why: refused.value.to_string(),
        origin: refused.origin.map(|origin| OriginView::of(origin, of.named.of, positions)),
    });
    NginxReport {
        refused,
        verdict: RequestVerdict::default(),
        outcome: ending::outcome(&response),
        origins: origins.collect(),
        way: ending::way(of.nginx, &response),
        status: response.status,
        location: response.location,
        error: response.error,
        why: response.why.filter(|_| response.seen.is_none()),
        ingress: response.ingress,
        location_path: response.location_path,
        upstream: response.upstream,
        canary: response.canary.map(|(upstream, weight, total)| CanaryView { upstream, percent: share(weight, total) }),
        seen: response.seen.map(view),
        others: response.others.into_iter().map(view).collect(),
        headers: response.headers,
        certificate: response.certificate,
        notes: response.notes,
    }
}

#[cfg(test)]
mod tests;
