//! Derives a sample request from the matchers of a route. Does not check whether an earlier route matches it; simulating it shows that.

use super::{RouteRow, RouteRows};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::re2::language::{Language, TextShape, texts};
use chancery_envoy::config::{ByPointer, tree_of};
use chancery_envoy::simulate::WrittenRequest;
use chancery_envoy_api::json;
use chancery_text::Node;

/// At most this many states of a regular expression are explored for a matching string.
const MOST_STATES: usize = 10_000;

/// Returns a request that a route matches: the route at `pointer`, or else the first forwarding route that a user wrote.
///
/// `parts` indexes Envoy's configuration. `rows` returns all routes, anew on each call. Returns `None` if no route matches HTTP requests.
#[must_use]
pub fn sample_request<'a>(rows: &dyn Fn() -> RouteRows<'a>, pointer: Option<&str>, parts: &ByPointer<'_>) -> Option<WrittenRequest> {
    let mut others = rows();
    let first = others.next()?;
    let several = others.any(|row| row.address != first.address);
    if let Some(pointer) = pointer {
        return request_for(&rows().find(|row| row.pointer == pointer)?, several, parts);
    }
    // A listener at a single address gets only requests that name its port.
    let at_one = |row: &RouteRow| several && !["0.0.0.0:", ":::", "[::]:"].iter().any(|any| row.address.starts_with(any));
    let written = || {
        let written = rows().filter(|row| !row.made_by.is_empty());
        written.filter_map(|row| request_for(&row, at_one(&row), parts).map(|request| (row, request)))
    };
    // A user would try a request without headers first.
    let plain = written().find(|(row, request)| row.action == "forward" && request.headers.is_empty());
    plain.or_else(|| written().next()).map(|(_, request)| request)
}

/// At most this many requests are derived for suggestions.
const MOST_SAMPLES: usize = 24;

/// Returns requests for routes with an action, for example `forward`: the simplest first, each with another URL. Some may be matched by earlier routes.
#[must_use]
pub fn sample_requests<'a>(rows: &dyn Fn() -> RouteRows<'a>, action: &str, parts: &ByPointer<'_>) -> Vec<WrittenRequest> {
    let Some(first) = rows().next() else { return Vec::new() };
    let several = rows().any(|row| row.address != first.address);
    let at_one = |row: &RouteRow| several && !["0.0.0.0:", ":::", "[::]:"].iter().any(|any| row.address.starts_with(any));
    let written = rows().filter(|row| !row.made_by.is_empty() && row.action == action).filter_map(|row| request_for(&row, at_one(&row), parts));
    simplest(written)
}

/// Returns a request for each of these hosts: one for the first forwarding route of the host, if it has any.
#[must_use]
pub fn sample_requests_for_hosts<'a>(rows: RouteRows<'a>, hosts: &[&str], parts: &ByPointer<'_>) -> Vec<Option<WrittenRequest>> {
    let mut found: Vec<Option<WrittenRequest>> = hosts.iter().map(|_| None).collect();
    for row in rows.filter(|row| !row.made_by.is_empty() && row.action == "forward") {
        for (host, found) in hosts.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            if row.domains.iter().any(|domain| domain == *host) {
                *found = request_for(&row, false, parts);
            }
        }
        if found.iter().all(Option::is_some) {
            break;
        }
    }
    found
}

/// Returns the first requests with different URLs or ports. Requests without headers come first.
pub(super) fn simplest(all: impl Iterator<Item = WrittenRequest>) -> Vec<WrittenRequest> {
    let (mut plain, mut others): (Vec<WrittenRequest>, Vec<WrittenRequest>) = (Vec::new(), Vec::new());
    for request in all {
        let list = if request.headers.is_empty() { &mut plain } else { &mut others };
        if list.len() < MOST_SAMPLES && !list.iter().any(|known| (&known.url, known.port) == (&request.url, request.port)) {
            list.push(request);
        }
        if plain.len() == MOST_SAMPLES {
            break;
        }
    }
    plain.extend(others);
    plain.truncate(MOST_SAMPLES);
    plain
}

/// Builds a request for a row; `None` if the row does not match HTTP requests.
pub(crate) fn request_for(row: &RouteRow, several: bool, parts: &ByPointer<'_>) -> Option<WrittenRequest> {
    let matcher = &tree_of(parts.route(&row.pointer)?.r#match.as_ref()?, &json::Style::COMPACT);
    let of_chain = parts.chain(&row.pointer).and_then(|chain| chain.filter_chain_match.as_ref()?.server_names.first()).map(String::as_str);
    let domain = row.domains.iter().map(|domain| domain.as_str()).find(|domain| !domain.ends_with(".*")).unwrap_or("*");
    let host = if domain == "*" { of_chain.unwrap_or("example.com") } else { domain };
    let scheme = if row.chain.starts_with("TLS") { "https" } else { "http" };
    let path = path(matcher);
    let mut request = WrittenRequest { method: "GET".into(), ..WrittenRequest::default() };
    let mut host = named_host(host);
    for header in list(matcher, "headers") {
        let (Some(name), Some(value)) = (header.get("name").and_then(Node::as_str), value(header)) else { continue };
        match name {
            ":method" => request.method = value,
            ":authority" | "host" => host = value,
            _ if name.starts_with(':') => {}
            // Envoy sets this header itself.
            "x-forwarded-proto" if value == scheme => {}
            _ => request.headers.push((name.into(), value)),
        }
    }
    if matcher.get("grpc").is_some() {
        request.method = "POST".into();
        request.headers.push(("content-type".into(), "application/grpc".into()));
    }
    let asked = list(matcher, "query_parameters").filter_map(|of| Some(format!("{}={}", of.get("name")?.as_str()?, value(of)?)));
    let query = asked.collect::<Vec<_>>().join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    request.url = format!("{scheme}://{host}{path}{mark}{query}");
    // With a single listener, the port can be omitted.
    request.port = several.then(|| row.address.rsplit(':').next()?.parse().ok()).flatten();
    Some(request)
}

/// Returns a host that a domain contains: `www.example.com` for `*.example.com` and for `.example.com`.
#[must_use]
pub fn named_host(domain: &str) -> String {
    let host = domain.replacen('*', "www", 1);
    if host.starts_with('.') { format!("www{host}") } else { host }
}

fn list<'n>(matcher: &'n Node, key: &str) -> impl Iterator<Item = &'n Node> {
    matcher.get(key).and_then(Node::as_array).into_iter().flatten()
}

fn path(matcher: &Node) -> String {
    let text = |key: &str| matcher.get(key)?.as_str().map(str::to_string);
    let regex = || matcher.at(&["safe_regex", "regex"])?.as_str().and_then(|regex| shortest(regex, "/"));
    ["prefix", "path", "path_separated_prefix"]
        .iter()
        .find_map(|key| text(key))
        .filter(|path| !path.is_empty())
        .or_else(regex)
        .unwrap_or_else(|| "/".into())
}

/// Returns a value that a header or parameter matcher accepts; `None` if it accepts any value or requires absence.
fn value(matcher: &Node) -> Option<String> {
    if matcher.get("invert_match").and_then(Node::as_bool) == Some(true) {
        return None;
    }
    if matcher.get("present_match").is_some_and(|present| present.as_bool() == Some(false)) {
        return None;
    }
    let old = ["exact_match", "prefix_match", "suffix_match", "contains_match", "safe_regex_match"].iter().any(|key| matcher.get(key).is_some());
    let Some(text) = matcher.get("string_match").or(old.then_some(matcher)) else { return Some("x".into()) };
    let of = |key: &str| text.get(key).or_else(|| text.get(&format!("{key}_match")));
    let plain = ["exact", "prefix", "suffix", "contains"].iter().find_map(|key| of(key)?.as_str().map(str::to_string));
    plain.or_else(|| shortest(of("safe_regex")?.get("regex")?.as_str()?, ""))
}

/// Returns a short string that starts with `begin` and matches the expression.
pub(super) fn shortest(regex: &str, begin: &str) -> Option<String> {
    let mut language = Language::regex(regex).ok()?;
    let mut budget = MOST_STATES;
    let found = texts(&mut [&mut language], &TextShape { begin, ..TextShape::VISIBLE }, &mut budget);
    found.found.get(&1).cloned()
}
