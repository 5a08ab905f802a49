//! Answers requests with an nginx. Does not simulate them; see `chancery_nginx::simulate`. The settings of a location are in `nginx_facts`.

use super::envoy_facts::http_versions;
use super::nginx_facts::{LocationFacts, facts_of};
use super::{AnswerEnding, AnswerTarget, Aspect, GatewayAnswer, PartPlace, Services, without_default_port};
use crate::nginx::asked;
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Canary, Location, Nginx, Server, Upstream};
use chancery_envoy::simulate::Request;
use chancery_nginx::location::server_name;
use chancery_nginx::simulate::pattern;
use chancery_nginx::simulate::{Response, Simulator, World};
use hashbrown::HashMap;

/// Request headers that belong to the connection, or whose value is random.
const IGNORED_REQUEST_HEADERS: &[&str] = &["connection", "content-length", "host", "te", "keep-alive", "transfer-encoding", "upgrade"];
/// Response headers that services and the proxies themselves write.
const IGNORED_RESPONSE_HEADERS: &[&str] =
    &["content-type", "server", "date", "location", "set-cookie", "vary", "accept-ranges", "last-modified", "www-authenticate", "content-encoding"];

/// Whether a request header is compared.
pub(super) fn is_compared_request_header(name: &str) -> bool {
    !IGNORED_REQUEST_HEADERS.contains(&name)
}

/// Whether a response header is compared.
pub(super) fn is_compared_response_header(name: &str) -> bool {
    !IGNORED_RESPONSE_HEADERS.contains(&name)
}

pub(super) struct OpenNginx<'r> {
    nginx: &'r Nginx,
    services: &'r Services,
    simulator: Simulator<'r>,
    /// Numbers of servers by server name.
    servers: HashMap<String, usize>,
    upstreams: HashMap<&'r str, &'r Upstream>,
    has_snippets: bool,
}

impl<'r> OpenNginx<'r> {
    pub(super) fn new(nginx: &'r Nginx, services: &'r Services) -> Self {
        let servers = nginx.servers.iter().enumerate().rev().map(|(at, server)| (server_name(&server.host.value).to_string(), at)).collect();
        let upstreams = nginx.upstreams.iter().map(|upstream| (upstream.name.value.as_str(), &**upstream)).collect();
        let has_own = |server: &Server| !server.snippet.is_empty() || server.locations.iter().any(|of| !of.settings.configuration_snippet.is_empty());
        let has_global = ["server-snippet", "location-snippet"].iter().any(|name| !nginx.globals.text(name).is_empty());
        let has_snippets = has_global || nginx.servers.iter().any(|server| has_own(server));
        Self { nginx, services, simulator: Simulator::new(nginx), servers, upstreams, has_snippets }
    }

    pub(super) fn answer(&self, request: &Request) -> GatewayAnswer {
        let asked = asked(request, self.nginx);
        let response = self.simulator.answer(&World::default(), core::slice::from_ref(&asked)).into_iter().next().unwrap_or_default();
        let location = self.location(&response);
        let step = response.way.iter().rev().find(|step| step.what == "location").or_else(|| response.way.last());
        let mut out = GatewayAnswer {
            rule: step.map(|step| format!("{} {}", step.what, step.name)),
            place: step.and_then(|step| step.origin).map(PartPlace::Origin),
            why: response.error.clone().or_else(|| response.why.clone().filter(|_| response.seen.is_none())),
            notes: response.notes.clone(),
            gaps: response.gaps.clone(),
            ..GatewayAnswer::default()
        };
        if self.has_snippets {
            let locations = response.way.iter().filter(|step| step.what == "location").map(|step| format!("location {}", step.name));
            out.reached = response.fulfilled.iter().map(|words| format!("if ({words})")).chain(locations).collect();
        }
        if request.tls && response.status > 0 {
            self.tls(&mut out, request);
        }
        match (response.status, &response.seen) {
            (0, _) => {}
            (_, Some(_)) => self.forwarded(&mut out, &response, location, request),
            (status @ 300..=399, None) if response.location.is_some() => {
                out.ending = AnswerEnding::Redirected;
                out.status = Some(status.into());
                out.location = response.location.as_deref().map(without_default_port);
                let page = self.server(&response).map(|server| server.client_certificates.error_page.value.as_str());
                let is_page =
                    page.is_some_and(|page| !page.is_empty() && response.location.as_deref().is_some_and(|location| location.starts_with(page)));
                out.wants_certificate = is_page && request.tls && !request.client_certificate;
            }
            (status, None) => {
                out.ending = AnswerEnding::Answered;
                out.status = Some(status.into());
                let checks = || self.server(&response).is_some_and(|server| !server.client_certificates.ca_file.is_empty());
                out.wants_certificate = status == 400 && request.tls && !request.client_certificate && checks();
            }
        }
        out
    }

    /// Returns the server that gets the request.
    fn server(&self, response: &Response) -> Option<&'r Server> {
        let name = response.way.iter().find(|step| step.what == "server").map(|step| step.name.as_str())?;
        self.nginx.servers.get(*self.servers.get(name)?).map(|server| &**server)
    }

    /// Returns the location whose settings apply.
    fn location(&self, response: &Response) -> Option<&'r Location> {
        let server = self.server(response)?;
        let path = response.location_path.as_deref().unwrap_or("/");
        let is_it = |of: &&Location| of.path.value == path && of.ingress_key().as_deref() == response.ingress.as_deref();
        server.locations.iter().find(is_it).or_else(|| server.locations.iter().find(|of| of.path.value == path))
    }

    fn tls(&self, out: &mut GatewayAnswer, request: &Request) {
        let certificate = request.sni.as_deref().and_then(|name| chancery_nginx::simulate::certificate_of(self.nginx, name));
        let (secret, origin) = match certificate {
            Some(of) => (of.secret.value.to_string(), of.secret.origin),
            None => (self.nginx.default_certificate.secret.value.to_string(), self.nginx.default_certificate.secret.origin),
        };
        let secret = if secret.contains('/') { secret } else { "the controller's own".into() };
        out.set(Aspect::Certificate, secret, origin.map(PartPlace::Origin));
        let versions = self.nginx.globals.text("ssl-protocols");
        let mut all: Vec<&str> = versions.value.split_whitespace().map(|word| word.trim_start_matches("TLSv")).collect();
        all.sort_unstable();
        out.set(Aspect::TlsVersions, all.join(", "), versions.origin.map(PartPlace::Origin));
        let http2 = self.nginx.globals.flag("use-http2");
        out.set(Aspect::HttpVersions, http_versions(http2.value), http2.origin.map(PartPlace::Origin));
    }

    fn forwarded(&self, out: &mut GatewayAnswer, response: &Response, location: Option<&Location>, request: &Request) {
        let Some(seen) = &response.seen else { return };
        out.ending = AnswerEnding::Forwarded;
        out.targets = self.targets(response, location, request);
        out.set(Aspect::UpstreamPath, seen.path.clone(), out.place.clone());
        out.set(Aspect::UpstreamHost, seen.host.clone(), out.place.clone());
        out.set(Aspect::Protocol, seen.protocol.clone(), location.and_then(|of| of.settings.backend_protocol.origin).map(PartPlace::Origin));
        for (name, value) in seen.headers.iter().filter(|(name, _)| is_compared_request_header(name)) {
            out.set(Aspect::RequestHeader(name.clone()), value.clone(), out.place.clone());
        }
        for (name, values) in response.headers.iter().filter(|(name, _)| is_compared_response_header(name)) {
            out.set(Aspect::ResponseHeader(name.clone()), values.join(", "), out.place.clone());
        }
        let names = self.server(response).map(|server| &server.client_certificates.match_cn).filter(|names| !names.is_empty() && request.tls);
        if let Some(names) = names {
            out.set(Aspect::ClientName, format!("the subject must match `{}`", names.value), names.origin.map(PartPlace::Origin));
        }
        if let Some(location) = location {
            let upstream = self.upstreams.get(location.upstream.value.as_str()).copied();
            let LocationFacts(facts) = facts_of(location, self.nginx, self.services, upstream, response.needed);
            out.facts.extend(facts);
        }
    }

    /// Returns the Services that get the request. Of canaries, only the first one is asked.
    fn targets(&self, response: &Response, location: Option<&Location>, request: &Request) -> Vec<AnswerTarget> {
        let name = response.upstream.as_deref().unwrap_or_default();
        let Some(chosen) = self.upstreams.get(name).copied() else {
            return Vec::from([AnswerTarget { names: BTreeSet::from([name.to_owned()]), percent: 100.0 }]);
        };
        let main = location.and_then(|location| self.upstreams.get(location.upstream.value.as_str()).copied());
        let canary = main.and_then(|main| self.upstreams.get(main.alternatives.first()?.value.as_str()).copied());
        let canary = canary.filter(|canary| !canary.endpoints.is_empty());
        let whole = || Vec::from([AnswerTarget { names: self.names(chosen), percent: 100.0 }]);
        let (Some(main), Some(canary)) = (main, canary) else { return whole() };
        let total = canary.policy.weight_total.value.max(100);
        let weight = canary.policy.weight.value.clamp(0, total);
        // A header or a cookie that decides leaves nothing to chance.
        if chosen.name.value != main.name.value || weight == 0 || decides(&canary.policy, request) {
            return whole();
        }
        let share = weight as f64 * 100.0 / total as f64;
        [(main, 100.0 - share), (canary, share)].into_iter().map(|(of, percent)| AnswerTarget { names: self.names(of), percent }).collect()
    }

    fn names(&self, upstream: &Upstream) -> BTreeSet<String> {
        // A Service without endpoints is replaced by the Service of the annotation `default-backend`.
        let replacing = upstream.name.strip_prefix("custom-default-backend-").and_then(|name| self.services.joined_by_hyphen(name));
        if let Some(service) = replacing {
            return BTreeSet::from([service]);
        }
        match &upstream.service {
            Some(service) => BTreeSet::from([self.services.at_port(&service.name, port_of(&upstream.name, &upstream.port, &service.name))]),
            None => BTreeSet::from([upstream.name.value.to_string()]),
        }
    }
}

/// Whether the request's header or cookie decides that it does not go to the canary.
fn decides(policy: &Canary, request: &Request) -> bool {
    let header = request.headers.first(&policy.header.value.to_ascii_lowercase()).filter(|_| !policy.header.is_empty());
    let is_never = policy.header_value.is_empty() && policy.header_pattern.is_empty() && header == Some("never");
    let cookies = request.headers.all("cookie").flat_map(|all| all.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let by_cookie = !policy.cookie.is_empty() && cookies.into_iter().any(|(name, value)| name == policy.cookie.value && value == "never");
    // nginx logs that the expression is invalid, and uses the main upstream.
    let has_invalid_pattern = policy.header_value.is_empty() && !policy.header_pattern.is_empty() && !pattern::is_valid(&policy.header_pattern);
    is_never || by_cookie || (header.is_some() && has_invalid_pattern)
}

/// Returns the port of an upstream's Service. The controller sets none for default backends, but their names contain it:
/// `NAMESPACE-SERVICE-PORT`.
fn port_of<'u>(name: &'u str, port: &'u str, service: &str) -> &'u str {
    if port != "0" {
        return port;
    }
    let rest = service.split('/').try_fold(name, |rest, part| rest.strip_prefix(part)?.strip_prefix('-'));
    rest.unwrap_or(port)
}
