//! Makes requests from conditions: for each host and path a plain request, and variants that only some gateways treat alike.
//!
//! Does not collect conditions; see `conditions`.

use super::conditions::{Conditions, OTHER_ORIGIN, PathConditions};
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::simulate::Request;
use chancery_nginx::simulate::message::DEFAULT_CLIENT;
use core::net::IpAddr;

/// A host that no configuration names.
pub(super) const UNKNOWN_HOST: &str = "elsewhere.invalid";

/// The most clients that each proxy names.
const MOST_CLIENTS_OF_PROXY: usize = 4;

/// The value of headers that a client forges.
pub(super) const FORGED: &str = "forged";

/// How a request differs from the plain request for its host and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Variant {
    Plain,
    Below,
    Longer,
    UpperCase,
    TrailingSlash,
    WithoutSlash,
    DoubleSlash,
    DotSegments,
    Escaped,
    Query,
    HostWithPort,
    HostWithDot,
    HostInUpperCase,
    SecondLabel,
    UnknownHost,
    Header,
    Cookie,
    Method,
    Client,
    ForwardedHeaders,
    ForgedHeaders,
    Preflight,
    Origin,
}

impl Variant {
    /// Names the variant in parentheses after a request; empty for a plain request.
    pub(super) fn words(self) -> &'static str {
        match self {
            Variant::Plain | Variant::Below => "",
            Variant::Longer => "longer path segment",
            Variant::UpperCase => "upper case",
            Variant::TrailingSlash => "trailing slash",
            Variant::WithoutSlash => "without the trailing slash",
            Variant::DoubleSlash => "double slash",
            Variant::DotSegments => "dot segments",
            Variant::Escaped => "escaped character",
            Variant::Query => "query",
            Variant::HostWithPort => "host with a port",
            Variant::HostWithDot => "host with a final dot",
            Variant::HostInUpperCase => "host in upper case",
            Variant::SecondLabel => "two labels for the wildcard",
            Variant::UnknownHost => "unknown host",
            Variant::Header => "header",
            Variant::Cookie => "cookie",
            Variant::Method => "method",
            Variant::Client => "client address",
            Variant::ForwardedHeaders => "forwarded headers from the client",
            Variant::ForgedHeaders => "headers of the proxy, from the client",
            Variant::Preflight => "CORS preflight",
            Variant::Origin => "from another site",
        }
    }
}

/// A request, and how it was made.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) variant: Variant,
}

/// The host, path and scheme of generated requests.
#[derive(Clone)]
pub(super) struct Base<'c> {
    /// A host name that the pattern matches.
    pub(super) host: String,
    pattern: &'c str,
    path: &'c str,
    conditions: &'c PathConditions,
    proxies: &'c BTreeSet<(IpAddr, String)>,
    has_tls: bool,
    pub(super) tls: bool,
    /// Whether it is the first path of the host. Variants of the host are tried with this path.
    is_first: bool,
    /// Whether it is the first of all. Variants that every host treats alike are tried with it.
    is_very_first: bool,
}

/// Returns all bases.
pub(super) fn bases(conditions: &Conditions) -> Vec<Base<'_>> {
    let mut out = Vec::new();
    let proxies = &conditions.proxies;
    for (pattern, of) in &conditions.hosts {
        for tls in [false, true] {
            for (at, (path, conditions)) in of.paths.iter().enumerate() {
                // Without a certificate, one path shows what TLS does.
                if tls && !of.has_tls && at > 0 {
                    continue;
                }
                let (has_tls, is_first, is_very_first) = (of.has_tls, at == 0, out.is_empty());
                out.push(Base { host: name_of(pattern), pattern, path, conditions, proxies, has_tls, tls, is_first, is_very_first });
            }
        }
    }
    out
}

pub(super) fn name_of(pattern: &str) -> String {
    match pattern.strip_prefix("*.") {
        _ if pattern == "*" => UNKNOWN_HOST.to_owned(),
        Some(rest) => format!("a.{rest}"),
        None => pattern.trim_end_matches('*').trim_end_matches('.').to_owned() + if pattern.ends_with(".*") { ".example" } else { "" },
    }
}

impl Base<'_> {
    fn request(&self, method: &str, host: &str, path: &str) -> Option<Request> {
        let scheme = if self.tls { "https" } else { "http" };
        let mut request = Request::new(method, &format!("{scheme}://{host}{path}")).ok()?;
        request.source = Some(DEFAULT_CLIENT);
        Some(request)
    }

    /// Returns the plain request.
    pub(super) fn plain(&self) -> Option<Asked> {
        let variant = if self.pattern == "*" { Variant::UnknownHost } else { Variant::Plain };
        Some(Asked { request: self.request("GET", &self.host, self.path)?, variant })
    }

    /// The clients whose requests are tried, the usual one first.
    pub(super) fn clients(&self) -> impl Iterator<Item = IpAddr> {
        let others = self.conditions.clients.iter().copied().filter(|client| *client != DEFAULT_CLIENT);
        core::iter::once(DEFAULT_CLIENT).chain(others)
    }

    /// Headers that only a proxy may set, as far as the configurations name them.
    pub(super) fn owned_headers(&self) -> impl Iterator<Item = &str> {
        self.conditions.owned_headers.iter().map(String::as_str)
    }

    /// Returns the plain request with these headers from the client.
    pub(super) fn forged<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<Asked> {
        let mut request = self.request("GET", &self.host, self.path)?;
        names.for_each(|name| request.add_header(name, FORGED));
        let has_any = request.headers.iter().next().is_some();
        has_any.then_some(Asked { request, variant: Variant::ForgedHeaders })
    }

    /// Returns the variants. `is_moved`: both sides redirect plain requests to https, so that most variants change nothing.
    pub(super) fn variants(&self, is_moved: bool) -> Vec<Asked> {
        let mut out = Vec::new();
        if self.has_tls && !self.tls {
            // A trusted proxy says so of requests that it received over TLS. A client can say so, too.
            let plain = self.request("GET", &self.host, self.path);
            out.extend(plain.map(|mut request| {
                request.add_header("x-forwarded-proto", "https");
                Asked { request, variant: Variant::ForwardedHeaders }
            }));
        }
        self.paths(is_moved, &mut out);
        self.hosts(is_moved, &mut out);
        if !is_moved && (self.tls || !self.has_tls) {
            self.others(&mut out);
        }
        out
    }

    fn push(&self, out: &mut Vec<Asked>, variant: Variant, path: &str) {
        out.extend(self.request("GET", &self.host, path).map(|request| Asked { request, variant }));
    }

    fn paths(&self, is_moved: bool, out: &mut Vec<Asked>) {
        let path = self.path;
        let stem = path.trim_end_matches('/');
        self.push(out, Variant::Below, &format!("{stem}/x"));
        self.push(out, Variant::Query, &format!("{path}?q=1"));
        if is_moved || self.tls && !self.has_tls {
            return;
        }
        match path.ends_with('/') {
            true if !stem.is_empty() => self.push(out, Variant::WithoutSlash, stem),
            true => {}
            false => self.push(out, Variant::TrailingSlash, &format!("{path}/")),
        }
        if stem.is_empty() {
            self.push(out, Variant::DoubleSlash, "//x");
            return;
        }
        self.push(out, Variant::Longer, &format!("{stem}x"));
        let upper = stem.to_ascii_uppercase();
        if upper != stem {
            self.push(out, Variant::UpperCase, &upper);
            self.push(out, Variant::UpperCase, &format!("{upper}/x"));
        }
        self.push(out, Variant::DoubleSlash, &format!("/{stem}/x"));
        self.push(out, Variant::DoubleSlash, &format!("{stem}//x"));
        self.push(out, Variant::DotSegments, &format!("/x/..{stem}/x"));
        self.push(out, Variant::Escaped, &format!("{}/x", escaped(stem)));
        self.push(out, Variant::Escaped, &format!("{stem}%2Fx"));
    }

    fn hosts(&self, is_moved: bool, out: &mut Vec<Asked>) {
        if !self.is_first || self.pattern == "*" {
            return;
        }
        let mut push = |variant, host: &str| out.extend(self.request("GET", host, self.path).map(|request| Asked { request, variant }));
        push(Variant::HostWithPort, &format!("{}:{}", self.host, if self.tls { 443 } else { 80 }));
        if is_moved {
            return;
        }
        push(Variant::HostWithDot, &format!("{}.", self.host));
        push(Variant::HostInUpperCase, &self.host.to_ascii_uppercase());
        if let Some(rest) = self.pattern.strip_prefix("*.") {
            push(Variant::SecondLabel, &format!("a.b.{rest}"));
            push(Variant::SecondLabel, rest);
        }
    }

    fn others(&self, out: &mut Vec<Asked>) {
        let Some(plain) = self.request("GET", &self.host, self.path) else { return };
        let of = self.conditions;
        for method in of.methods.iter().map(String::as_str).chain((!of.methods.is_empty()).then_some("PATCH")).filter(|method| *method != "GET") {
            out.extend(self.request(method, &self.host, self.path).map(|request| Asked { request, variant: Variant::Method }));
        }
        if self.is_first {
            out.extend(
                ["POST", "OPTIONS"]
                    .into_iter()
                    .filter_map(|method| Some(Asked { request: self.request(method, &self.host, self.path)?, variant: Variant::Method })),
            );
        }
        let mut with = |variant, change: &dyn Fn(&mut Request)| {
            let mut request = plain.clone();
            change(&mut request);
            out.push(Asked { request, variant });
        };
        for (name, values) in &of.headers {
            for value in values.iter().map(String::as_str).chain(["x-other"]) {
                with(Variant::Header, &|request| request.add_header(name, value));
            }
        }
        for (name, values) in &of.cookies {
            for value in values.iter().map(String::as_str).chain(["x-other"]) {
                with(Variant::Cookie, &|request| request.add_header("cookie", &format!("{name}={value}")));
            }
        }
        for (name, values) in &of.queries {
            for value in values.iter().map(String::as_str).chain(["x-other"]) {
                with(Variant::Query, &|request| request.path = format!("{}?{name}={value}", self.path));
            }
        }
        for query in &of.whole_queries {
            with(Variant::Query, &|request| request.path = format!("{}?{query}", self.path));
        }
        for (proxy, header) in self.proxies {
            for client in of.clients.iter().take(MOST_CLIENTS_OF_PROXY) {
                with(Variant::Client, &|request| {
                    request.source = Some(*proxy);
                    request.add_header(header, &format!("{client}"));
                });
            }
        }
        for client in &of.clients {
            with(Variant::Client, &|request| request.source = Some(*client));
        }
        for origin in &of.origins {
            with(Variant::Origin, &|request| request.add_header("origin", origin));
            with(Variant::Preflight, &|request| {
                request.method = "OPTIONS".to_owned();
                request.add_header("origin", origin);
                request.add_header("access-control-request-method", "PUT");
            });
        }
        if of.origins.is_empty() && self.is_very_first {
            with(Variant::Origin, &|request| request.add_header("origin", OTHER_ORIGIN));
        }
        if self.is_first {
            with(Variant::ForwardedHeaders, &|request| {
                request.add_header("x-forwarded-for", "192.0.2.1");
                request.add_header("x-forwarded-proto", "https");
                request.add_header("x-forwarded-host", "other.example");
            });
            with(Variant::Header, &|request| request.add_header("x_underscore", "1"));
        }
    }
}

/// Escapes the first letter of a path.
fn escaped(path: &str) -> String {
    let Some((at, letter)) = path.char_indices().find(|(_, letter)| letter.is_ascii_alphanumeric()) else { return path.to_owned() };
    let (before, after) = (path.get(..at).unwrap_or_default(), path.get(at + 1..).unwrap_or_default());
    format!("{before}%{:02X}{after}", u32::from(letter))
}

/// Describes a request: `GET https://shop.example.com/api`, with headers that matter.
pub(super) fn request_words(request: &Request) -> String {
    let scheme = if request.tls { "https" } else { "http" };
    let mut out = format!("{} {scheme}://{}{}", request.method, request.authority, request.path);
    for (name, value) in request.headers.iter() {
        out.push_str(&format!(" {name}: {value}"));
    }
    if let Some(client) = request.source.filter(|client| *client != DEFAULT_CLIENT) {
        out.push_str(&format!(" from {client}"));
    }
    if request.client_certificate {
        out.push_str(" with a client certificate");
    }
    out
}
