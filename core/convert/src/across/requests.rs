//! Derives requests that distinguish controllers: for each host and path of an Ingress, variants that only some controllers match. Does not
//! simulate them; see `answer`.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::resource::Object;
use chancery_envoy::simulate::Request;
use chancery_kubernetes::cursor::Cursor;

/// At most this many requests are tried.
const MOST: usize = 20_000;

/// A host that no Ingress has.
const UNKNOWN_HOST: &str = "elsewhere.invalid";

pub(crate) struct RequestSet {
    pub(crate) all: Vec<Request>,
    pub(crate) limits: Vec<String>,
}

/// The paths of a host in Ingresses.
#[derive(Default)]
struct Host {
    paths: BTreeSet<String>,
    is_tls: bool,
    ports: BTreeSet<String>,
}

/// Returns the requests for these Ingresses.
pub(crate) fn requests(ingresses: &[&Object]) -> RequestSet {
    let mut hosts: BTreeMap<String, Host> = BTreeMap::new();
    if ingresses.is_empty() {
        return RequestSet { all: Vec::new(), limits: Vec::new() };
    }
    for object in ingresses {
        ingress(Cursor::new(object.id, &object.root), &mut hosts);
    }
    let of_all = hosts.entry(String::new()).or_default();
    of_all.paths.insert("/".into());
    let everywhere = of_all.paths.clone();
    let mut out = RequestSet { all: Vec::new(), limits: Vec::new() };
    for (pattern, host) in &hosts {
        let paths: BTreeSet<String> = host.paths.iter().chain(&everywhere).flat_map(|path| variants(path)).collect();
        for name in names(pattern) {
            for path in &paths {
                let schemes = [("http", true), ("https", host.is_tls)].into_iter().filter(|(_, is_asked)| *is_asked).map(|(scheme, _)| (scheme, ""));
                let ports = host.ports.iter().map(|port| (if host.is_tls { "https" } else { "http" }, port.as_str()));
                for (scheme, port) in schemes.chain(ports) {
                    if out.all.len() >= MOST {
                        out.limits = Vec::from([format!("Only the first {MOST} requests were tried.")]);
                        return out;
                    }
                    out.all.extend(Request::new("GET", &format!("{scheme}://{name}{port}{path}")).ok());
                }
            }
        }
    }
    out
}

fn ingress(root: Cursor<'_>, hosts: &mut BTreeMap<String, Host>) {
    let spec = root.field("spec");
    let annotation = |name: &str| root.field("metadata").field("annotations").field(name).str();
    let has_certificate = !annotation("appgw.ingress.kubernetes.io/appgw-ssl-certificate").is_empty();
    let port = annotation("appgw.ingress.kubernetes.io/override-frontend-port");
    let tls: BTreeSet<&str> = spec.field("tls").items().flat_map(|tls| tls.field("hosts").items()).map(Cursor::str).collect();
    let mut rules = 0;
    for rule in spec.field("rules").items() {
        rules += 1;
        let name = rule.field("host").str();
        let host = hosts.entry(name.to_lowercase()).or_default();
        host.is_tls |= has_certificate || tls.contains(name) || (spec.field("tls").has_items() && tls.is_empty());
        host.ports.extend(port.parse::<u16>().ok().map(|port| format!(":{port}")));
        host.paths.extend(rule.field("http").field("paths").items().map(|path| path.field("path").str().to_string()));
    }
    if rules == 0 {
        hosts.entry(String::new()).or_default().is_tls |= spec.field("tls").has_items();
    }
}

/// Returns hosts that match a pattern, and one more that some controllers match.
fn names(pattern: &str) -> Vec<String> {
    match pattern.strip_prefix("*.") {
        _ if pattern.is_empty() => Vec::from([UNKNOWN_HOST.to_string()]),
        Some(rest) => Vec::from([format!("a.{rest}"), format!("a.b.{rest}")]),
        None => Vec::from([pattern.to_string()]),
    }
}

/// Returns a path and similar paths.
fn variants(path: &str) -> Vec<String> {
    let literal = path.trim_end_matches('*');
    let literal = if literal.starts_with('/') { literal } else { "/" };
    // A path with characters that no URL contains is a regular expression, which only some controllers support.
    if literal.bytes().any(|byte| !byte.is_ascii_graphic() || b"?#[](){}|\\^".contains(&byte)) {
        return Vec::from(["/".to_string()]);
    }
    let stem = literal.trim_end_matches('/');
    let mut out = Vec::from([literal.to_string(), format!("{stem}/"), format!("{stem}/x")]);
    if !stem.is_empty() {
        out.extend([stem.to_string(), format!("{stem}x"), stem.to_uppercase()]);
    }
    out
}
