//! Requests that cannot occur: paths, hosts and methods that no client sends.
//!
//! Source of behaviour: Envoy's path normalisation (`source/common/http/path_utility.cc`), RFC 3986 and RFC 9110. What must not be here:
//! names of headers (`header`), and routes that others hide (`unreachable`).

use super::whole::{Whole, tables};
use crate::diagnostic::{Code, codes};
use crate::ir::{HeaderMatch, HttpConnectionManager, NetworkFilter, PathMatch, Route, StringMatch};
use crate::resource::{Origin, Sourced};
use crate::text::Str;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
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
            }
        }
    }
}

/// Tables to which paths come as they were sent, by name.
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

fn tell(whole: &mut Whole<'_>, code: &'static Code, origin: Option<Origin>, message: String, help: String) {
    if whole.object(origin).is_some() {
        let finding = whole.finding(code, origin, message).help(help);
        whole.report(finding);
    }
}

/// A path that is matched as a text. `dots`: dot segments are resolved before that; `slashes`: adjacent slashes are one by then.
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
    let mut impossible = |why: &str, help: String| tell(whole, &codes::IMPOSSIBLE_PATH, origin, never(why), help);
    if !path.starts_with('/') {
        let rest = path.split_once("://").map(|(_, rest)| rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/"));
        let help = match rest {
            Some(rest) => format!("write the path alone, `{rest}`; the host has a field of its own"),
            None => format!("write `/{path}`"),
        };
        return impossible("paths begin with a slash", help);
    }
    if let Some(at) = path.find(['?', '#']) {
        let help = "leave it out; query parameters are matched by a field of their own, where there is one";
        return impossible(&format!("`{}` is not part of the path that is matched", path.get(at..).unwrap_or_default()), help.into());
    }
    if let Some(encoded) = encoded(path) {
        return impossible("clients encode such characters", format!("write it as it is sent: `{encoded}`"));
    }
    // The last segment of a prefix may go on.
    let segments = path.matches('/').count() - usize::from(!is_whole);
    if dots && path.split('/').skip(1).take(segments).any(|segment| matches!(segment, "." | "..")) {
        return impossible("dot segments are resolved before routes are matched", "write the resolved path".into());
    }
    if slashes && path.contains("//") {
        return impossible("adjacent slashes are merged before routes are matched", "write one slash".into());
    }
    if let Some(pattern) = path.split('/').find(|segment| is_pattern(segment)) {
        let message = format!("`{pattern}` is literal here: only paths with exactly these characters match");
        let help = match path.strip_suffix('*') {
            Some(rest) if !is_whole && !rest.contains(['*', '{']) => format!("a prefix matches everything that begins with it: write `{rest}`"),
            _ => "use a regular expression where the field allows one".into(),
        };
        tell(whole, &codes::LITERAL_PATTERN, origin, message, help);
    }
}

/// A segment that stands for others elsewhere: `*`, `{name}`, `:name`.
fn is_pattern(segment: &str) -> bool {
    let named = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).or_else(|| segment.strip_prefix(':'));
    let is_name = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    segment.contains('*') || named.is_some_and(is_name)
}

/// What is sent for a path with characters that a path cannot have.
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

/// What a route asks of `:authority` and `:method`.
fn special(whole: &mut Whole<'_>, header: &Sourced<HeaderMatch>) {
    let StringMatch::Exact(wanted) = &header.value.value else { return };
    if header.value.invert {
        return;
    }
    let is_method = *header.value.name == *":method" && !header.value.ignore_case;
    if *header.value.name == *":authority" || header.value.name.eq_ignore_ascii_case("host") {
        host_name(whole, wanted, header.origin, !header.value.ignore_case);
    } else if is_method && wanted.bytes().any(|byte| byte.is_ascii_lowercase()) {
        let message = format!("no request has the method `{wanted}`: methods are upper case, and case counts");
        tell(whole, &codes::IMPOSSIBLE_METHOD, header.origin, message, format!("write `{}`", wanted.to_ascii_uppercase()));
    }
}

fn host_name(whole: &mut Whole<'_>, name: &Str, origin: Option<Origin>, case_counts: bool) {
    let rest = name.split_once("://").map_or(&**name, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#', '@', ' ']).find(|part| !part.is_empty()).unwrap_or_default().to_ascii_lowercase();
    let why = match () {
        () if rest.len() < name.len() => "a host has no scheme",
        () if rest.contains(['/', '?', '#']) => "a host has no path",
        () if rest.contains(|c: char| c.is_ascii_whitespace() || c == '@') => "it has characters that a host name cannot have",
        () if case_counts && name.bytes().any(|byte| byte.is_ascii_uppercase()) => "clients send host names in lower case, and case counts here",
        () => return,
    };
    let message = format!("no request has the host `{name}`: {why}");
    let help = if host.is_empty() { "write the name alone".into() } else { format!("write `{host}`") };
    tell(whole, &codes::IMPOSSIBLE_HOST, origin, message, help);
}
