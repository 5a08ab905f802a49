//! Describes the settings of an nginx location as comparable facts. Does not answer requests; see `nginx`.

use super::{Aspect, Fact, PartPlace, Services, without_common_port};
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Location, Nginx, Upstream};
use chancery_base::resource::Origin;
use chancery_nginx::location::auth;
use chancery_nginx::simulate::Credentials;

pub(super) struct LocationFacts(pub(super) Vec<(Aspect, Fact)>);

/// Returns the facts of a location, and of the upstream that it forwards to. `needed`: the credentials that the request needed.
pub(super) fn facts_of(
    location: &Location,
    nginx: &Nginx,
    services: &Services,
    upstream: Option<&Upstream>,
    needed: Option<Credentials>,
) -> LocationFacts {
    let mut out = LocationFacts(Vec::new());
    let (settings, proxy) = (&location.settings, &location.settings.proxy);
    out.add(Aspect::ConnectTimeout, format!("{}s", proxy.connect_timeout.value), proxy.connect_timeout.origin);
    out.add(Aspect::ResponseTimeout, format!("{}s", proxy.read_timeout.value), proxy.read_timeout.origin);
    out.add(Aspect::BodySize, body_size(&proxy.body_size.value), proxy.body_size.origin);
    let endpoints = upstream.map_or(0, |upstream| upstream.endpoints.len());
    out.add(Aspect::Retries, retries(&proxy.next_upstream.value, proxy.next_upstream_tries.value, endpoints), proxy.next_upstream.origin);
    let limit = &settings.rate_limit;
    let mut rates = Vec::new();
    for (zone, unit) in [(&limit.rps, "second"), (&limit.rpm, "minute")] {
        if zone.limit.value > 0 {
            rates.push(format!("{} requests per {unit} of each client address, bursts of {}", zone.limit.value, zone.burst.value));
        }
    }
    let exempt = match &limit.allowlist.value[..] {
        [] => String::new(),
        ranges => format!(", except clients in {}", ranges.join(", ")),
    };
    if !rates.is_empty() {
        out.add(Aspect::RateLimit, format!("{}{exempt}", rates.join("; ")), limit.rps.limit.origin.or(limit.rpm.limit.origin));
    }
    if limit.connections.limit.value > 0 {
        let words = format!("{} connections per client address{exempt}", limit.connections.limit.value);
        out.add(Aspect::ConnectionLimit, words, limit.connections.limit.origin);
    }
    let affinity = upstream.map(|upstream| &upstream.affinity).filter(|affinity| affinity.kind.value == "cookie");
    if let Some(affinity) = affinity {
        out.add(Aspect::Affinity, format!("cookie {}", affinity.cookie.name.value), affinity.kind.origin);
    } else if let Some(by) = upstream.map(|upstream| &upstream.hash_by.by).filter(|by| !by.value.is_empty()) {
        // Both variables are the client's address.
        out.add(Aspect::Affinity, format!("by {}", by.value.replace("$binary_remote_addr", "$remote_addr")), by.origin);
    }
    if !settings.mirror.target.is_empty() {
        out.add(Aspect::Mirror, service_of_url(&settings.mirror.target.value, services), settings.mirror.target.origin);
    }
    match needed {
        None => {}
        Some(Credentials::Password) => {
            out.add(Aspect::Authentication, "basic authentication".to_owned(), settings.basic_auth.kind.origin);
        }
        Some(Credentials::Service) => {
            let url = &auth(location, nginx).url;
            // A snippet may name another location.
            let service = service_of_url(&url.value, services);
            let asked = if service.is_empty() { "asks a service".to_owned() } else { format!("asks {service}") };
            out.add(Aspect::Authentication, asked, url.origin);
            let written = url.value.split_once("://").map_or("", |(_, rest)| rest);
            let path = written.find('/').and_then(|at| written.get(at..)).filter(|path| !path.contains('$'));
            path.into_iter().for_each(|path| out.add(Aspect::AuthenticationPath, path.to_owned(), url.origin));
            out.add(Aspect::AuthenticationFailure, "denied".to_owned(), url.origin);
            let page = &auth(location, nginx).signin_url;
            if !page.is_empty() {
                out.add(Aspect::SignIn, format!("redirect to {}", page.value), page.origin);
            }
        }
    }
    let protocol = settings.backend_protocol.value.to_ascii_uppercase();
    if matches!(protocol.as_str(), "HTTPS" | "GRPCS") {
        let ssl = &settings.proxy_ssl;
        // nginx has other directives for gRPC, which ingress-nginx does not write.
        let is_verified = ssl.verify.value == "on" && protocol == "HTTPS";
        let name = if ssl.server_name.value == "on" { ssl.name.value.as_str() } else { "" };
        let words = match (is_verified, name) {
            (false, _) => "certificate not verified".to_owned(),
            (true, "") => "certificate verified".to_owned(),
            (true, name) => format!("certificate verified for {name}"),
        };
        out.add(Aspect::UpstreamTls, words, ssl.verify.origin.or(settings.backend_protocol.origin));
    }
    out
}

impl LocationFacts {
    fn add(&mut self, aspect: Aspect, value: String, origin: Option<Origin>) {
        self.0.push((aspect, Fact { value, place: origin.map(PartPlace::Origin) }));
    }
}

/// Returns a size in bytes with the largest unit that divides it.
fn body_size(text: &str) -> String {
    let text = text.trim().to_ascii_lowercase();
    let (digits, factor) = match text.chars().last() {
        Some('k') => (text.trim_end_matches('k'), 1_u64 << 10),
        Some('m') => (text.trim_end_matches('m'), 1 << 20),
        Some('g') => (text.trim_end_matches('g'), 1 << 30),
        _ => (text.as_str(), 1),
    };
    match digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)) {
        Some(0) => "no limit".into(),
        Some(bytes) => bytes_in_words(bytes),
        None => text,
    }
}

/// Formats a number of bytes.
pub(super) fn bytes_in_words(bytes: u64) -> String {
    for (size, unit) in [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= size && bytes.is_multiple_of(size) {
            return format!("{} {unit}", bytes / size);
        }
    }
    format!("{bytes} bytes")
}

/// Describes retries: how many, and after what. nginx tries each endpoint once.
fn retries(conditions: &str, tries: i64, endpoints: usize) -> String {
    let words: BTreeSet<&str> = conditions.split_whitespace().filter(|word| *word != "non_idempotent").collect();
    if words.contains("off") || words.is_empty() || tries == 1 || endpoints == 0 {
        return "none".into();
    }
    let most = if tries == 0 { "every other endpoint".to_owned() } else { format!("up to {}", tries - 1) };
    let name = |word: &&str| match *word {
        "error" => "connection errors".to_owned(),
        "timeout" => "timeouts".to_owned(),
        other => other.trim_start_matches("http_").to_owned(),
    };
    format!("{most}, after {}", words.iter().map(name).collect::<Vec<_>>().join(", "))
}

/// Returns the Service that a URL names, or the URL's host.
fn service_of_url(url: &str, services: &Services) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let authority = rest.split(['/', '?', '$']).next().unwrap_or_default();
    let address = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:{}", if scheme == "https" { 443 } else { 80 }) };
    let found = services.behind([address.as_str()]);
    found.first().cloned().unwrap_or_else(|| if authority.is_empty() { String::new() } else { without_common_port(&address).to_owned() })
}
