//! Reports requests that cannot occur: paths, hosts, methods, parameters and origins that no client sends, and conditions that exclude each other.
//!
//! Source of behaviour: Envoy's path normalisation (`source/common/http/path_utility.cc`), RFC 3986 and RFC 9110. Does not check header names (see
//! `header`) or hidden routes (see `unreachable`).

use super::whole::{Whole, tables};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, codes};
use chancery_base::ir::{
    Forward, HeaderMatch, HostRewrite, HttpConnectionManager, NetworkFilter, PathMatch, QueryMatch, Route, RouteAction, StringMatch,
};
use chancery_base::re2::engine::Regex;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;
use core::fmt::Write;
use hashbrown::HashSet;

pub(super) fn check(whole: &mut Whole<'_>) {
    let filters = whole.ir.listeners.iter().flat_map(|listener| &listener.chains).flat_map(|chain| &chain.filters);
    let mut raw = Raw::default();
    for filter in filters {
        if let NetworkFilter::Http(manager) = filter {
            raw.note(manager);
        }
    }
    let mut seen = HashSet::new();
    for table in tables(whole.ir) {
        let (dots, slashes) = (!raw.dots.contains(&table.name), !raw.slashes.contains(&table.name));
        for host in &table.virtual_hosts {
            for domain in &host.domains {
                host_name(whole, &domain.value, domain.origin, false);
            }
            for route in host.routes.iter().filter(|route| seen.insert((Arc::as_ptr(route).addr(), dots, slashes))) {
                path(whole, route, dots, slashes);
                route.matcher.headers.iter().for_each(|header| special(whole, header));
                route.matcher.query.iter().for_each(|query| parameter(whole, query));
                together(whole, &route.matcher.headers);
                if let RouteAction::Forward(forward) = &route.action {
                    sent_host(whole, forward);
                }
            }
        }
    }
    of_other_hosts(whole);
    for cors in whole.cors() {
        cors.allow_origins.iter().for_each(|origin| origin_of_pages(whole, origin));
    }
}

/// The names of tables that receive unnormalised paths.
#[derive(Default)]
struct Raw<'a> {
    dots: HashSet<&'a Str>,
    slashes: HashSet<&'a Str>,
}

impl<'a> Raw<'a> {
    fn note(&mut self, manager: &'a HttpConnectionManager) {
        let is_on = |setting: &Option<Sourced<bool>>| setting.as_ref().is_some_and(|setting| setting.value);
        let name = &manager.routes.name;
        if !is_on(&manager.normalize_path) {
            self.dots.insert(name);
        }
        if !is_on(&manager.merge_slashes) {
            self.slashes.insert(name);
        }
    }
}

fn report(whole: &mut Whole<'_>, code: &'static Code, origin: Option<Origin>, message: String, help: String) {
    if whole.object(origin).is_some() {
        let finding = whole.finding(code, origin, message).help(help);
        whole.report(finding);
    }
}

/// Checks a literal path. `dots`: dot segments are resolved before matching; `slashes`: adjacent slashes are merged before matching.
fn path(whole: &mut Whole<'_>, route: &Route, dots: bool, slashes: bool) {
    let (path, is_whole) = match &route.matcher.path.value {
        PathMatch::Prefix(path) | PathMatch::PathSeparatedPrefix(path) => (path, false),
        PathMatch::Exact(path) => (path, true),
        PathMatch::Regex(_) => return,
    };
    let origin = route.matcher.path.origin;
    if path.is_empty() || *path == *"*" {
        return;
    }
    let never = |why: &str| format!("no request has a path that {} `{path}`: {why}", if is_whole { "is" } else { "begins with" });
    let mut impossible = |why: &str, help: String| report(whole, &codes::IMPOSSIBLE_PATH, origin, never(why), help);
    if !path.starts_with('/') {
        let rest = path.split_once("://").map(|(_, rest)| rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/"));
        let help = match rest {
            Some(rest) => format!("write only the path, `{rest}`; the host has its own field"),
            None => format!("write `/{path}`"),
        };
        return impossible("paths begin with a slash", help);
    }
    if let Some(at) = path.find(['?', '#']) {
        let help = "remove it; match query parameters with their own field, if the kind has one";
        return impossible(&format!("`{}` is not part of the path that is matched", path.get(at..).unwrap_or_default()), help.into());
    }
    if let Some(encoded) = encoded(path) {
        return impossible("clients encode such characters", format!("write the encoded form: `{encoded}`"));
    }
    // The last segment of a prefix may be incomplete.
    let segments = path.matches('/').count() - usize::from(!is_whole);
    if dots && path.split('/').skip(1).take(segments).any(|segment| matches!(segment, "." | "..")) {
        return impossible("dot segments are resolved before routes are matched", "write the resolved path".into());
    }
    if dots && let Some(character) = path.chars().find(|c| matches!(c, '|' | '{' | '}')) {
        let help = "for alternatives or variables use a regular expression, if the field allows one; for the character itself write it encoded";
        return impossible(&format!("Envoy encodes `{character}` before it matches routes"), help.into());
    }
    if slashes && path.contains("//") {
        return impossible("adjacent slashes are merged before routes are matched", "write one slash".into());
    }
    if let Some(pattern) = pattern_in(path) {
        let message = format!("`{pattern}` is literal here: only paths with exactly these characters match");
        let rest = path.strip_suffix('*').map(|rest| rest.strip_suffix(['.', '*']).unwrap_or(rest));
        let help = match rest {
            Some(rest) if !is_whole && pattern_in(rest).is_none() => format!("a prefix matches everything that begins with it: write `{rest}`"),
            _ => "use a regular expression where the field allows one".into(),
        };
        report(whole, &codes::LITERAL_PATTERN, origin, message, help);
    }
}

/// Returns pattern syntax of other tools: `*`, `{name}`, `{name=a/*}`, `:name`, `[0-9]+`, `(a|b)`. A star within a word is literal.
fn pattern_in(path: &str) -> Option<&str> {
    if let Some((start, end)) = path.find("/{").zip(path.rfind('}'))
        && let Some(named) = path.get(start + 1..=end)
        && named.contains('=')
    {
        return Some(named);
    }
    path.split('/').find(|segment| is_pattern(segment))
}

fn is_pattern(segment: &str) -> bool {
    let named = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).or_else(|| segment.strip_prefix(':'));
    let is_name = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    let is_expression = segment.contains('[') && (segment.contains("]+") || segment.contains("]{")) || segment.contains('(') && segment.contains('|');
    let has_star = segment.starts_with('*') || segment.ends_with('*') || [".*", "]*", ")*"].into_iter().any(|star| segment.contains(star));
    has_star || segment.contains('\\') || is_expression || named.is_some_and(is_name)
}

/// Returns the encoded form of a path with characters that a path cannot contain.
fn encoded(path: &str) -> Option<String> {
    let is_bad = |byte: u8| byte <= b' ' || byte >= 0x7f;
    if !path.bytes().any(is_bad) {
        return None;
    }
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match is_bad(byte) {
            true => drop(write!(out, "%{byte:02X}")),
            false => out.push(char::from(byte)),
        }
    }
    Some(out)
}

/// Checks conditions on `:authority` and `:method`.
fn special(whole: &mut Whole<'_>, header: &Sourced<HeaderMatch>) {
    if header.value.invert {
        return;
    }
    let is_method = *header.value.name == *":method" && !header.value.ignore_case;
    let wanted = match &header.value.value {
        StringMatch::Exact(wanted) => wanted,
        StringMatch::Regex(wanted) if is_method => return method_expression(whole, &wanted.regex, header.origin),
        _ => return,
    };
    if *header.value.name == *":authority" || header.value.name.eq_ignore_ascii_case("host") {
        host_name(whole, wanted, header.origin, !header.value.ignore_case);
    } else if is_method && wanted.bytes().any(|byte| byte.is_ascii_lowercase()) {
        let message = format!("no request has the method `{wanted}`: methods are upper case, and case counts");
        report(whole, &codes::IMPOSSIBLE_METHOD, header.origin, message, format!("write `{}`", wanted.to_ascii_uppercase()));
    } else if is_method && !wanted.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) {
        let message = format!("no request has the method `{wanted}`: a method is one word");
        let help = "write one method, or a regular expression where the field allows one";
        report(whole, &codes::IMPOSSIBLE_METHOD, header.origin, message, help.into());
    }
}

/// Methods that clients use (RFC 9110, RFC 5789).
const METHODS: [&str; 9] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "CONNECT", "TRACE"];

/// Reports a method expression that matches only lower-case methods.
fn method_expression(whole: &mut Whole<'_>, wanted: &str, origin: Option<Origin>) {
    let Ok(regex) = Regex::new(wanted) else { return };
    let takes = |small: bool| METHODS.iter().any(|method| regex.is_full_match(&if small { method.to_ascii_lowercase() } else { (*method).into() }));
    if !takes(false) && takes(true) {
        let message = format!("no request has a method that matches `{wanted}`: methods are upper case, and case counts");
        report(whole, &codes::IMPOSSIBLE_METHOD, origin, message, format!("write `{}`", wanted.to_ascii_uppercase()));
    }
}

/// Checks the value of a query parameter, which is matched without decoding.
fn parameter(whole: &mut Whole<'_>, query: &Sourced<QueryMatch>) {
    let StringMatch::Exact(wanted) = &query.value.value else { return };
    let is_bad = |byte: u8| byte <= b' ' || byte >= 0x7f || b"\"<>#&".contains(&byte);
    if !wanted.bytes().any(is_bad) {
        return;
    }
    let mut sent = String::new();
    for byte in wanted.bytes() {
        let _ = if is_bad(byte) { write!(sent, "%{byte:02X}") } else { sent.write_char(char::from(byte)) };
    }
    let message =
        format!("no request has `{}={wanted}` in its query: clients encode such characters, and Envoy compares the encoded query", query.value.name);
    report(whole, &codes::IMPOSSIBLE_PARAMETER, query.origin, message, format!("write the encoded value: `{sent}`"));
}

/// Reports conditions on one header that no value meets together.
fn together(whole: &mut Whole<'_>, headers: &[Sourced<HeaderMatch>]) {
    for exact in headers {
        let StringMatch::Exact(wanted) = &exact.value.value else { continue };
        if exact.value.invert || exact.value.ignore_case {
            continue;
        }
        let of_same = |other: &&Sourced<HeaderMatch>| other.value.name.eq_ignore_ascii_case(&exact.value.name) && !other.value.ignore_case;
        // Conditions that a controller adds by itself are ignored.
        let others: Vec<_> = headers.iter().filter(of_same).filter(|other| whole.object(other.origin).is_some()).collect();
        for other in others {
            let meets = match &other.value.value {
                StringMatch::Exact(text) => text == wanted,
                StringMatch::Prefix(text) => wanted.starts_with(&**text),
                StringMatch::Suffix(text) => wanted.ends_with(&**text),
                StringMatch::Contains(text) => wanted.contains(&**text),
                StringMatch::Regex(regex) => match Regex::new(&regex.regex) {
                    Ok(regex) => regex.is_full_match(wanted),
                    Err(_) => continue,
                },
                StringMatch::Present => true,
            };
            if meets == other.value.invert {
                let message =
                    format!("no request takes this route: its header `{}` would have to be `{wanted}` and {}", exact.value.name, words(&other.value));
                let help = "leave one of the two conditions out, or write a route for each";
                report(whole, &codes::CONTRADICTORY_CONDITIONS, exact.origin, message, help.into());
                return;
            }
        }
    }
}

/// Describes the condition of a header, after "to be".
fn words(of: &HeaderMatch) -> String {
    let not = if of.invert { "not " } else { "" };
    match &of.value {
        StringMatch::Exact(text) => format!("{not}`{text}`"),
        StringMatch::Prefix(text) => format!("{not}something that begins with `{text}`"),
        StringMatch::Suffix(text) => format!("{not}something that ends with `{text}`"),
        StringMatch::Contains(text) => format!("{not}something that contains `{text}`"),
        StringMatch::Regex(regex) => format!("{not}something that matches `{}`", regex.regex),
        StringMatch::Present => if of.invert { "absent" } else { "present" }.into(),
    }
}

/// Reports conditions on the host that no request of the virtual host meets. A route may be in several virtual hosts, and one match is enough.
fn of_other_hosts(whole: &mut Whole<'_>) {
    let mut unmet: BTreeMap<Option<Origin>, (&Str, &Str)> = BTreeMap::new();
    let mut met: HashSet<Option<Origin>> = HashSet::new();
    for host in tables(whole.ir).flat_map(|table| &table.virtual_hosts) {
        for header in host.routes.iter().flat_map(|route| &route.matcher.headers) {
            let StringMatch::Exact(wanted) = &header.value.value else { continue };
            let is_host = *header.value.name == *":authority" || header.value.name.eq_ignore_ascii_case("host");
            let Some(first) = host.domains.first().filter(|_| is_host && !header.value.invert) else { continue };
            if host.domains.iter().any(|domain| takes(&domain.value, wanted)) {
                met.insert(header.origin);
            } else {
                unmet.entry(header.origin).or_insert((wanted, &first.value));
            }
        }
    }
    unmet.retain(|origin, _| !met.contains(origin));
    for (origin, (wanted, domain)) in unmet {
        let message = format!("no request takes this route: its host would have to be `{wanted}`, and the virtual host is for `{domain}`");
        let help = "take the condition away, or write the route for the other host";
        report(whole, &codes::CONTRADICTORY_CONDITIONS, origin, message, help.into());
    }
}

/// Whether a domain matches a host, ignoring ports: a virtual host may match requests with a port, and the controller may remove the port first.
fn takes(domain: &str, host: &str) -> bool {
    let name = |text: &str| text.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let (domain, host) = (name(domain), name(host));
    match (domain.strip_prefix('*'), domain.strip_suffix('*')) {
        (Some(end), _) => host.ends_with(end),
        (None, Some(begin)) => host.starts_with(begin),
        (None, None) => domain == host,
    }
}

/// Checks the host that an upstream receives.
fn sent_host(whole: &mut Whole<'_>, forward: &Forward) {
    let Some(rewrite) = &forward.host_rewrite else { return };
    let (HostRewrite::Literal(host) | HostRewrite::LiteralAndAuto(host, _)) = &rewrite.value else { return };
    if let Some((why, name)) = no_host(host) {
        let message = format!("the upstream gets the host `{host}`, which is none: {why}");
        report(whole, &codes::IMPOSSIBLE_HOST, rewrite.origin, message, as_name(&name));
    }
}

/// Checks an origin that may read responses: a browser sends a scheme, a host and possibly a port.
fn origin_of_pages(whole: &mut Whole<'_>, origin: &Sourced<StringMatch>) {
    // Contour treats everything that is not an origin as a regular expression. Without operators it only matches itself.
    let wanted = match &origin.value {
        StringMatch::Exact(wanted) => wanted,
        StringMatch::Regex(wanted) if is_plain_origin(&wanted.regex) => &wanted.regex,
        _ => return,
    };
    let (scheme, host) = wanted.split_once("://").unwrap_or(("", wanted));
    let (why, help) = match () {
        () if matches!(wanted.as_str(), "" | "*" | "null") => return,
        () if scheme.is_empty() => ("an origin begins with a scheme".into(), format!("write `https://{wanted}`")),
        () if host.contains('/') => ("an origin has no path".into(), format!("write `{scheme}://{}`", host.split('/').next().unwrap_or_default())),
        () if wanted.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            ("browsers write it in small letters".into(), format!("write `{}`", wanted.to_ascii_lowercase()))
        }
        () if !wanted.is_ascii() => ("browsers write such names as `xn--...`".into(), "write the name in its DNS form".into()),
        () if scheme == "https" && host.ends_with(":443") || scheme == "http" && host.ends_with(":80") => {
            let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
            ("browsers leave the usual port out".into(), format!("write `{scheme}://{name}`"))
        }
        () if host.contains('*') => {
            ("`*` is literal here".into(), String::from("write each origin, or a regular expression where the field allows one"))
        }
        () => return,
    };
    let why: String = why;
    report(whole, &codes::IMPOSSIBLE_ORIGIN, origin.origin, format!("no browser sends the origin `{wanted}`: {why}"), help);
}

/// Whether a regular expression is the plain text of an origin: its only operators are the dots of a name.
fn is_plain_origin(regex: &str) -> bool {
    !regex.contains(['\\', '^', '$', '|', '?', '*', '+', '(', ')', '[', ']', '{', '}'])
        && regex.contains(|c: char| c.is_ascii_alphanumeric())
        && (regex.contains("://") || !regex.starts_with("http"))
}

fn host_name(whole: &mut Whole<'_>, name: &Str, origin: Option<Origin>, case_counts: bool) {
    let is_large = case_counts && name.bytes().any(|byte| byte.is_ascii_uppercase());
    let large = || is_large.then(|| ("clients send host names in lower case, and case counts here", name.to_ascii_lowercase()));
    let Some((why, host)) = no_host(name).or_else(large) else { return };
    report(whole, &codes::IMPOSSIBLE_HOST, origin, format!("no request has the host `{name}`: {why}"), as_name(&host));
}

/// Returns why a text is not a host, and the host inside it.
fn no_host(name: &str) -> Option<(&'static str, String)> {
    let rest = name.split_once("://").map_or(name, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#', '@', ' ']).find(|part| !part.is_empty()).unwrap_or_default().to_ascii_lowercase();
    let why = match () {
        () if rest.len() < name.len() => "a host has no scheme",
        () if rest.contains(['/', '?', '#']) => "a host has no path",
        () if rest.contains(|c: char| c.is_ascii_whitespace() || c == '@') => "it has characters that a host name cannot have",
        () => return None,
    };
    Some((why, host))
}

fn as_name(host: &str) -> String {
    if host.is_empty() { "write the name alone".into() } else { format!("write `{host}`") }
}
