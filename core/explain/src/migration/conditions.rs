//! Collects the conditions that gateways test: hosts, paths, methods, headers, cookies, query parameters, client addresses.
//!
//! Does not make requests from them; see `requests`.

use super::access::{self, OTHER_CLIENT, clients_of};
use super::snippets;
use crate::answers::{Prepared, Respondents};
use crate::sample_request::shortest;
use crate::{app_gateway_routes, nginx_routes};
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Canary, DEFAULT_SERVER, Location, Nginx, Server};
use chancery_base::re2::engine::literal_prefix;
use chancery_envoy::config::{EnvoyConfig, chains_of};
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::is_tls;
use chancery_nginx::location::enforces_regex;
use chancery_nginx::simulate::message::{DEFAULT_CLIENT, range};
use core::net::IpAddr;
use pb::matcher::{StringMatcher, string_matcher::MatchPattern};
use pb::route::header_matcher::HeaderMatchSpecifier;
use pb::route::query_parameter_matcher::QueryParameterMatchSpecifier;
use pb::route::{RouteMatch, VirtualHost, route_match::PathSpecifier};

/// All conditions, by host pattern in lower case. `*` is every host.
#[derive(Default)]
pub(super) struct Conditions {
    pub(super) hosts: BTreeMap<String, HostConditions>,
    /// Names in certificates of TLS listeners; `*` for every name.
    tls: BTreeSet<String>,
    pub(super) limits: BTreeSet<String>,
    /// Parts of a configuration that no request shows.
    pub(super) gaps: BTreeSet<String>,
    /// Proxies that may tell the address of a client, and the header in which they do.
    pub(super) proxies: BTreeSet<(IpAddr, String)>,
}

#[derive(Default)]
pub(super) struct HostConditions {
    /// Conditions and locations of snippets, as the simulation names them. A request must reach each.
    pub(super) expected: BTreeSet<String>,
    /// By an example of a path.
    pub(super) paths: BTreeMap<String, PathConditions>,
    pub(super) has_tls: bool,
}

/// Conditions except the path.
#[derive(Default, Clone, PartialEq, Eq)]
pub(super) struct PathConditions {
    pub(super) methods: BTreeSet<String>,
    pub(super) headers: BTreeMap<String, BTreeSet<String>>,
    pub(super) cookies: BTreeMap<String, BTreeSet<String>>,
    pub(super) queries: BTreeMap<String, BTreeSet<String>>,
    pub(super) clients: BTreeSet<IpAddr>,
    /// Origins of other sites that may be allowed.
    pub(super) origins: BTreeSet<String>,
    /// Request headers that the proxy sets or removes, so that clients cannot.
    pub(super) owned_headers: BTreeSet<String>,
    /// Whole queries.
    pub(super) whole_queries: BTreeSet<String>,
}

/// Headers in which nginx tells services about the certificate of the client.
const CERTIFICATE_HEADERS: [&str; 4] = ["ssl-client-verify", "ssl-client-subject-dn", "ssl-client-issuer-dn", "ssl-client-cert"];

/// An origin that no configuration names.
pub(super) const OTHER_ORIGIN: &str = "https://elsewhere.invalid";

impl Conditions {
    /// Adds the conditions of all gateways of a side.
    pub(super) fn add(&mut self, side: &Respondents<'_>) {
        for gateway in &side.gateways {
            match gateway {
                Prepared::Envoy(of) => self.envoy(&of.config),
                Prepared::Nginx(of) => {
                    self.nginx(of.nginx);
                    // Regular expressions that cannot be evaluated have no row with an example.
                    let unread = nginx_routes(*of).into_iter().filter_map(|row| row.path.strip_prefix("regex ").map(ToOwned::to_owned));
                    let unread: BTreeSet<String> = unread.filter(|path| sample_of_regex(path).is_none()).map(|path| format!("`{path}`")).collect();
                    if !unread.is_empty() {
                        let all = unread.into_iter().collect::<Vec<_>>().join(", ");
                        self.limits
                            .insert(format!("Regular expressions of nginx that are not evaluated, so that their paths were not tried: {all}."));
                    }
                }
                Prepared::Azure(of, _) => {
                    for row in app_gateway_routes(*of) {
                        let path = row.path.strip_prefix("path ").unwrap_or("/").trim_end_matches('*').to_owned();
                        for domain in &row.domains {
                            let host = self.host(domain);
                            host.has_tls |= row.chain.eq_ignore_ascii_case("https");
                            host.path(&path);
                        }
                    }
                }
            }
        }
    }

    /// Completes the hosts after both sides were added.
    pub(super) fn finish(&mut self) {
        self.host("*");
        let tls = core::mem::take(&mut self.tls);
        for (name, host) in &mut self.hosts {
            let wild = name.split_once('.').map(|(_, rest)| format!("*.{rest}"));
            host.has_tls |= tls.contains(name) || tls.contains("*") && name != "*" || wild.is_some_and(|wild| tls.contains(&wild));
            host.path("/");
            host.path(UNKNOWN_PATH);
        }
    }

    fn host(&mut self, pattern: &str) -> &mut HostConditions {
        let pattern = pattern.to_ascii_lowercase();
        self.hosts.entry(if pattern.is_empty() || pattern == DEFAULT_SERVER { "*".to_owned() } else { pattern }).or_default()
    }

    fn envoy(&mut self, config: &EnvoyConfig) {
        for (_, chain) in config.listeners.iter().flat_map(chains_of).filter(|(_, chain)| is_tls(chain)) {
            let names = chain.filter_chain_match.iter().flat_map(|matcher| &matcher.server_names);
            let names: Vec<&String> = names.collect();
            if names.is_empty() {
                self.tls.insert("*".to_owned());
            }
            self.tls.extend(names.into_iter().map(|name| name.to_ascii_lowercase()));
        }
        for (_, table) in config.route_tables() {
            for host in &table.virtual_hosts {
                self.virtual_host(host);
            }
        }
    }

    fn virtual_host(&mut self, host: &VirtualHost) {
        let names: BTreeSet<&str> = host.domains.iter().map(|domain| without_port(domain)).collect();
        for route in &host.routes {
            let Some(matcher) = &route.r#match else { continue };
            let mut named: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
            // A route may name its host itself.
            for header in matcher.headers.iter().filter(|header| matches!(header.name.as_str(), ":authority" | "host")) {
                if let Some(HeaderMatchSpecifier::StringMatch(StringMatcher { match_pattern: Some(MatchPattern::Exact(text)), .. })) =
                    &header.header_match_specifier
                {
                    named.insert(text.clone());
                }
            }
            let (path, of) = (path_of_route(matcher), of_route(matcher, route, host));
            for name in named {
                self.host(&name).path(&path).merge(&of);
            }
        }
    }

    fn nginx(&mut self, nginx: &Nginx) {
        if let Some(refused) = &nginx.refused {
            self.gaps.insert(format!("nginx refuses this configuration, and the previous one answers: {}", refused.value));
        }
        self.gaps.extend(snippets::unread(&nginx.globals));
        let globals = &nginx.globals;
        if globals.flag("use-forwarded-headers").value || globals.flag("enable-real-ip").value {
            let own = globals.text("forwarded-for-header").to_ascii_lowercase();
            let headers = BTreeSet::from([own, "x-forwarded-for".to_owned()]);
            for (first, length) in globals.list("proxy-real-ip-cidr").value.iter().filter_map(|text| range(text)).take(MOST_PROXIES) {
                let proxy = if length == 0 { DEFAULT_CLIENT } else { clients_of(first, length)[0] };
                self.proxies.extend(headers.iter().map(|header| (proxy, header.clone())));
            }
            // Nothing in front of the gateway, and a client that pretends to be a proxy.
            self.proxies.extend(headers.into_iter().map(|header| (OTHER_CLIENT, header)));
        }
        for server in &nginx.servers {
            for name in core::iter::once(&server.host.value).chain(&server.aliases.value).filter(|name| !name.starts_with('~')) {
                self.server(nginx, server, name);
            }
        }
        for redirect in &nginx.redirects {
            self.host(&redirect.from.value).path("/");
        }
    }

    fn server(&mut self, nginx: &Nginx, server: &Server, name: &str) {
        let is_regex = enforces_regex(&server.locations);
        let host = self.host(name);
        // The default server shows the default certificate to every other name.
        host.has_tls |= server.certificate.is_some() && name != DEFAULT_SERVER;
        for location in &server.locations {
            let path = &location.path.value;
            let sample = if is_regex { sample_of_regex(path) } else { Some(path.to_string()) };
            let Some(sample) = sample else { continue };
            let mut of = of_location(location, nginx);
            if !server.client_certificates.ca_file.is_empty() {
                of.owned_headers.extend(CERTIFICATE_HEADERS.map(ToOwned::to_owned));
            }
            host.path(&sample).merge(&of);
        }
        snippets::collect(nginx, server, host);
    }
}

/// The most ranges of proxies that are tried.
const MOST_PROXIES: usize = 2;

/// A path that no configuration names.
pub(super) const UNKNOWN_PATH: &str = "/x-unknown";

impl HostConditions {
    pub(super) fn path(&mut self, path: &str) -> &mut PathConditions {
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        self.paths.entry(path).or_default()
    }
}

impl PathConditions {
    pub(super) fn merge(&mut self, other: &Self) {
        self.methods.extend(other.methods.iter().cloned());
        self.clients.extend(other.clients.iter().copied());
        self.origins.extend(other.origins.iter().cloned());
        self.owned_headers.extend(other.owned_headers.iter().cloned());
        self.whole_queries.extend(other.whole_queries.iter().cloned());
        for (own, others) in [(&mut self.headers, &other.headers), (&mut self.cookies, &other.cookies), (&mut self.queries, &other.queries)] {
            for (name, values) in others {
                own.entry(name.clone()).or_default().extend(values.iter().cloned());
            }
        }
    }
}

fn without_port(domain: &str) -> &str {
    match domain.rsplit_once(':') {
        Some((host, port)) if port == "*" || port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => domain,
    }
}

/// Returns a path that nginx's regular expression for this path matches.
fn sample_of_regex(path: &str) -> Option<String> {
    let is_literal = !path.contains(['\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$']);
    if is_literal { Some(path.to_owned()) } else { shortest(&format!("{path}.*"), "/") }
}

/// Returns a path that a route matches, if one can be determined.
fn path_of_route(matcher: &RouteMatch) -> String {
    match &matcher.path_specifier {
        Some(PathSpecifier::Path(path) | PathSpecifier::Prefix(path) | PathSpecifier::PathSeparatedPrefix(path)) => path.clone(),
        Some(PathSpecifier::SafeRegex(regex)) => {
            shortest(&regex.regex, "/").unwrap_or_else(|| literal_prefix(regex.regex.trim_start_matches("(?i)")).trim_end_matches('(').to_owned())
        }
        _ => "/".to_owned(),
    }
}

/// Returns the conditions of a route except its path.
fn of_route(matcher: &RouteMatch, route: &pb::route::Route, host: &VirtualHost) -> PathConditions {
    let mut out = PathConditions::default();
    for header in &matcher.headers {
        let value = match &header.header_match_specifier {
            Some(HeaderMatchSpecifier::StringMatch(of)) => sample_of(of),
            Some(HeaderMatchSpecifier::ExactMatch(text) | HeaderMatchSpecifier::PrefixMatch(text) | HeaderMatchSpecifier::ContainsMatch(text)) => {
                Some(text.clone())
            }
            Some(HeaderMatchSpecifier::SafeRegexMatch(regex)) => shortest(&regex.regex, ""),
            Some(HeaderMatchSpecifier::RangeMatch(range)) => Some(range.start.to_string()),
            Some(HeaderMatchSpecifier::PresentMatch(_)) => Some("x".to_owned()),
            _ => None,
        };
        let name = header.name.to_ascii_lowercase();
        match (name.as_str(), value) {
            (":method", Some(method)) => drop(out.methods.insert(method)),
            (":authority" | ":path" | ":scheme" | "host" | "x-forwarded-proto", _) | (_, None) => {}
            ("cookie", Some(value)) => {
                let (name, value) = value.split_once('=').map_or((value.as_str(), "x"), |(name, value)| (name, value));
                out.cookies.entry(name.trim_start_matches(['^', '.', '*']).to_owned()).or_default().insert(value.to_owned());
            }
            (_, Some(value)) => drop(out.headers.entry(name).or_default().insert(value)),
        }
    }
    for parameter in &matcher.query_parameters {
        let value = match &parameter.query_parameter_match_specifier {
            Some(QueryParameterMatchSpecifier::StringMatch(of)) => sample_of(of),
            _ => Some("x".to_owned()),
        };
        out.queries.entry(parameter.name.clone()).or_default().extend(value);
    }
    for cookie in &matcher.cookies {
        out.cookies.entry(cookie.name.clone()).or_default().extend(cookie.string_match.as_ref().and_then(sample_of));
    }
    for config in [&route.typed_per_filter_config, &host.typed_per_filter_config].into_iter().flat_map(BTreeMap::values) {
        if let Some(cors) = config.downcast_ref::<pb::http_filter::cors::v3::CorsPolicy>() {
            out.origins.insert(OTHER_ORIGIN.to_owned());
            out.origins.extend(cors.allow_origin_string_match.iter().filter_map(sample_of));
        }
        if let Some(of) = config.downcast_ref::<pb::http_filter::rbac::v3::RbacPerRoute>() {
            of.rbac.iter().for_each(|rbac| access::of_rbac(rbac, &mut out));
        }
    }
    out
}

/// Returns a string that a matcher accepts.
fn sample_of(of: &StringMatcher) -> Option<String> {
    match of.match_pattern.as_ref()? {
        MatchPattern::Exact(text) | MatchPattern::Prefix(text) | MatchPattern::Suffix(text) | MatchPattern::Contains(text) => Some(text.clone()),
        MatchPattern::SafeRegex(regex) => shortest(&regex.regex, ""),
        MatchPattern::Custom(_) => None,
    }
}

/// Returns the conditions of a location except its path.
fn of_location(location: &Location, nginx: &Nginx) -> PathConditions {
    let mut out = PathConditions::default();
    let settings = &location.settings;
    for text in settings.allowlist.cidr.value.iter().chain(&settings.denylist.cidr.value) {
        out.clients.extend(range(text).into_iter().flat_map(|(first, length)| clients_of(first, length)));
    }
    if !out.clients.is_empty() {
        out.clients.insert(OTHER_CLIENT);
    }
    if settings.cors.enabled.value {
        out.origins.insert(OTHER_ORIGIN.to_owned());
        out.origins.extend(settings.cors.origins.value.iter().filter(|origin| !origin.contains('*')).map(|origin| origin.to_string()));
        let wildcards = settings.cors.origins.value.iter().filter(|origin| origin.contains("://*."));
        out.origins.extend(wildcards.flat_map(|origin| ["a", "a.b"].map(|labels| origin.replacen('*', labels, 1))));
    }
    let lower = |name: &chancery_text::Str| name.to_ascii_lowercase();
    let of_services = [&settings.external_auth, &nginx.globals.external_auth].map(|auth| &auth.response_headers.value);
    out.owned_headers.extend(of_services.into_iter().flatten().map(lower));
    let upstream = nginx.upstream(&location.upstream.value);
    let canaries = upstream.into_iter().flat_map(|upstream| &upstream.alternatives).take(2).filter_map(|name| nginx.upstream(name));
    canaries.for_each(|canary| of_canary(&canary.policy, &mut out));
    out
}

fn of_canary(policy: &Canary, out: &mut PathConditions) {
    if !policy.header.is_empty() {
        let values = out.headers.entry(policy.header.value.to_ascii_lowercase()).or_default();
        values.extend(["always".to_owned(), "never".to_owned(), "other".to_owned()]);
        values.extend(Some(policy.header_value.value.to_string()).filter(|value| !value.is_empty()));
        values.extend(Some(policy.header_pattern.value.as_str()).filter(|pattern| !pattern.is_empty()).and_then(|pattern| shortest(pattern, "")));
    }
    if !policy.cookie.is_empty() {
        let values = out.cookies.entry(policy.cookie.value.to_string()).or_default();
        values.extend(["always".to_owned(), "never".to_owned(), "other".to_owned()]);
    }
}
