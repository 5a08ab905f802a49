//! Simulates the changes of a connection manager before routing.
//!
//! Follows Envoy's `ConnectionManagerImpl::ActiveStream::decodeHeaders` and `source/common/http/conn_manager_utility.cc`, in that order. Does not
//! route; see `run`.

use super::client_address::{self, forwarded_for};
use super::connection::contains;
use super::headers::{Peer, Values, mutate_each};
use super::path;
use super::request::{Headers, Protocol, Request, host_of, port_of};
use super::simulation::{ClientAddress, HeaderChange, RoutedRequest};
use super::start_line::Start;
use crate::emit::pb;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use pb::hcm::http_connection_manager::{PathWithEscapedSlashesAction as Escaped, StripPortMode};
use pb::hcm::http_filter::ConfigType;
use pb::hcm::{HttpConnectionManager, HttpFilter};
use pb::http_filter::router::v3::Router;
use pb::mutation::HeaderMutation;

/// The request, ready to be routed.
pub(super) struct Prepared {
    pub(super) authority: String,
    pub(super) path: String,
    pub(super) scheme: String,
    pub(super) forwarded_proto: String,
    pub(super) headers: Headers,
    pub(super) changes: Vec<String>,
    /// Headers that Envoy set or removed.
    pub(super) by_envoy: Vec<HeaderChange>,
    /// Header changes of filters: in the request, and in the response.
    pub(super) by_filters: [Vec<HeaderMutation>; 2],
    /// Whether Envoy treats the request as internal.
    pub(super) internal: bool,
    /// The address that Envoy uses as the client's.
    pub(super) client: Option<IpAddr>,
    /// The same as part of the result, with its source.
    client_address: Option<ClientAddress>,
    /// The certificate that the client showed.
    pub(super) peer: Peer,
    /// Whether the router leaves out the `x-envoy-*` headers that it would set.
    pub(super) suppresses_envoy_headers: bool,
}

impl Prepared {
    pub(super) fn start<'a>(&'a self, method: &'a str) -> Start<'a> {
        Start { method, authority: &self.authority, scheme: &self.scheme, path: &self.path }
    }

    pub(super) fn seen(&self) -> RoutedRequest {
        RoutedRequest {
            authority: self.authority.clone(),
            path: self.path.clone(),
            changes: self.changes.clone(),
            forwarded_proto: self.forwarded_proto.clone(),
            client_address: self.client_address.clone(),
        }
    }
}

/// A response of the connection manager itself.
pub(super) struct Answer {
    /// The field of the connection manager that decides; empty if none does.
    pub(super) field: &'static str,
    pub(super) status: u32,
    pub(super) location: Option<String>,
    pub(super) why: String,
}

fn reject(status: u32, why: impl Into<String>) -> Answer {
    Answer { field: "", status, location: None, why: why.into() }
}

/// Methods that Envoy's HTTP/1 parser accepts; others are rejected.
const METHODS: &[&str] = &[
    "ACL",
    "BIND",
    "CHECKOUT",
    "CONNECT",
    "COPY",
    "DELETE",
    "GET",
    "HEAD",
    "LINK",
    "LOCK",
    "MERGE",
    "MKACTIVITY",
    "MKCALENDAR",
    "MKCOL",
    "MOVE",
    "MSEARCH",
    "NOTIFY",
    "OPTIONS",
    "PATCH",
    "POST",
    "PROPFIND",
    "PROPPATCH",
    "PURGE",
    "PUT",
    "REBIND",
    "REPORT",
    "SEARCH",
    "SOURCE",
    "SUBSCRIBE",
    "TRACE",
    "UNBIND",
    "UNLINK",
    "UNLOCK",
    "UNSUBSCRIBE",
];

fn suppresses_envoy_headers(filter: &HttpFilter) -> bool {
    let Some(ConfigType::TypedConfig(config)) = &filter.config_type else { return false };
    config.downcast_ref::<Router>().is_some_and(|router| router.suppress_envoy_headers)
}

/// Returns the request as routes see it, or the response that it gets first.
pub(super) fn prepare(manager: &HttpConnectionManager, request: &Request, port: u32, peer: Peer) -> Result<Prepared, Answer> {
    let mut out = Prepared {
        authority: request.authority.clone(),
        path: request.path.clone(),
        scheme: String::new(),
        forwarded_proto: String::new(),
        headers: request.headers.clone(),
        changes: Vec::new(),
        by_envoy: Vec::new(),
        by_filters: [Vec::new(), Vec::new()],
        internal: false,
        client: request.source,
        client_address: None,
        peer,
        suppresses_envoy_headers: manager.http_filters.iter().any(suppresses_envoy_headers),
    };
    if request.protocol == Protocol::Http1 && !METHODS.contains(&request.method.as_str()) {
        return Err(reject(400, format!("Envoy rejects the method {} in HTTP/1.1", request.method)));
    }
    underscores(manager, &mut out)?;
    let in_authority = |c: char| c.is_ascii_alphanumeric() || "-._~%!$&'()*+,;=:@[]".contains(c);
    if !out.authority.chars().all(in_authority) {
        return Err(reject(400, "Envoy rejects characters of the host"));
    }
    paths(manager, &mut out)?;
    hosts(manager, port, &mut out);
    early(manager, request, &mut out);
    forwarded(manager, request, port, &mut out)?;
    Ok(out)
}

fn underscores(manager: &HttpConnectionManager, out: &mut Prepared) -> Result<(), Answer> {
    use pb::base::http_protocol_options::HeadersWithUnderscoresAction;
    let action = manager.common_http_protocol_options.as_ref().map(|options| options.headers_with_underscores_action()).unwrap_or_default();
    let names: Vec<String> = out.headers.iter().map(|(name, _)| name).filter(|name| name.contains('_')).map(ToOwned::to_owned).collect();
    match (action, names.first()) {
        (HeadersWithUnderscoresAction::RejectRequest, Some(name)) => {
            Err(reject(400, format!("headers_with_underscores_action rejects requests with headers such as {name}")))
        }
        (HeadersWithUnderscoresAction::DropHeader, Some(_)) => {
            for name in names {
                out.headers.remove(&name);
                out.changes.push(format!("headers_with_underscores_action drops the header {name}"));
                out.by_envoy.push(HeaderChange { name, value: None, action: "remove", level: "envoy" });
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn paths(manager: &HttpConnectionManager, out: &mut Prepared) -> Result<(), Answer> {
    if out.path.contains('#') {
        return Err(reject(400, "Envoy rejects paths with a fragment"));
    }
    if !out.path.starts_with('/') {
        return Err(reject(400, "the path does not begin with a slash"));
    }
    if let Some(bad) = out.path.chars().find(|c| !c.is_ascii_graphic()) {
        return Err(reject(400, format!("Envoy rejects {bad:?} in a path: write it escaped")));
    }
    let action = manager.path_with_escaped_slashes_action();
    let mut redirect = false;
    if matches!(action, Escaped::RejectRequest | Escaped::UnescapeAndRedirect | Escaped::UnescapeAndForward)
        && let Some(unescaped) = path::unescape_slashes(&out.path)
    {
        if action == Escaped::RejectRequest {
            return Err(reject(400, "path_with_escaped_slashes_action rejects paths with escaped slashes"));
        }
        redirect = action == Escaped::UnescapeAndRedirect;
        change(out, unescaped, "path_with_escaped_slashes_action");
    }
    if manager.normalize_path == Some(true) {
        let normal = path::normalize(&out.path).ok_or_else(|| reject(400, "normalize_path rejects the path"))?;
        change(out, normal, "normalize_path");
    }
    if manager.merge_slashes {
        let merged = path::merge_slashes(&out.path);
        change(out, merged, "merge_slashes");
    }
    if redirect {
        return Err(Answer {
            field: "path_with_escaped_slashes_action",
            status: 307,
            location: Some(out.path.clone()),
            why: "path_with_escaped_slashes_action redirects to the path without them".into(),
        });
    }
    Ok(())
}

fn change(out: &mut Prepared, path: String, by: &str) {
    if out.path != path {
        out.changes.push(format!("{by} changes the path to {path}"));
        out.path = path;
    }
}

fn hosts(manager: &HttpConnectionManager, port: u32, out: &mut Prepared) {
    if manager.strip_trailing_host_dot {
        let (host, rest) = out.authority.split_at(host_of(&out.authority).len());
        if let Some(host) = host.strip_suffix('.') {
            out.authority = format!("{host}{rest}");
            out.changes.push(format!("strip_trailing_host_dot changes the host to {}", out.authority));
        }
    }
    let any = matches!(manager.strip_port_mode, Some(StripPortMode::StripAnyHostPort(true)));
    let written = port_of(&out.authority).and_then(|written| written.parse::<u32>().ok());
    if let Some(written) = written
        && (any || (manager.strip_matching_host_port && written == port))
    {
        out.authority = host_of(&out.authority).to_owned();
        let by = if any { "strip_any_host_port" } else { "strip_matching_host_port" };
        out.changes.push(format!("{by} changes the host to {}", out.authority));
    }
}

/// Applies the changes of headers that come before everything else that Envoy does with them.
fn early(manager: &HttpConnectionManager, request: &Request, out: &mut Prepared) {
    use pb::early_header_mutation::header_mutation::v3::HeaderMutation;
    let configs = manager.early_header_mutation_extensions.iter().filter_map(|extension| extension.typed_config.as_ref());
    for of in configs.filter_map(|config| config.downcast_ref::<HeaderMutation>()) {
        let mut headers = out.headers.clone();
        let scheme = if request.tls { "https" } else { "http" };
        let values = Values {
            start: Start { method: &request.method, authority: &out.authority, scheme, path: &out.path },
            request: &out.headers,
            source: Some(request.source.map_or_else(|| "<client>".to_owned(), |source| source.to_string())),
            server_name: request.sni.as_deref().filter(|_| request.tls),
            protocol: match request.protocol {
                Protocol::Http1 => "HTTP/1.1",
                Protocol::Http2 => "HTTP/2",
            },
            peer: out.peer,
            cluster: "",
            route: "",
        };
        let changes = mutate_each(&mut headers, &of.mutations, "connection_manager", &values, false);
        out.headers = headers;
        out.by_envoy.extend(changes);
    }
}

/// Whether an address is internal: since Envoy 1.33 only if the connection manager lists it.
fn is_internal(manager: &HttpConnectionManager, address: IpAddr) -> bool {
    manager.internal_address_config.as_ref().is_some_and(|config| config.cidr_ranges.iter().any(|range| contains(range, address)))
}

/// Headers of internal requests that external requests may not set.
const INTERNAL_ONLY: &[&str] = &[
    "x-envoy-retriable-status-codes",
    "x-envoy-retriable-header-names",
    "x-envoy-retry-on",
    "x-envoy-retry-grpc-on",
    "x-envoy-max-retries",
    "x-envoy-upstream-alt-stat-name",
    "x-envoy-upstream-rq-timeout-ms",
    "x-envoy-upstream-rq-per-try-timeout-ms",
    "x-envoy-upstream-rq-timeout-alt-response",
    "x-envoy-expected-rq-timeout-ms",
    "x-envoy-force-trace",
    "x-envoy-ip-tags",
    "x-envoy-original-url",
    "x-envoy-hedge-on-per-try-timeout",
];

fn forwarded(manager: &HttpConnectionManager, request: &Request, port: u32, out: &mut Prepared) -> Result<(), Answer> {
    let by = |name: &str, value: &str| HeaderChange { name: name.into(), value: Some(value.into()), action: "set", level: "envoy" };
    for name in ["connection", "upgrade", "keep-alive", "proxy-connection", "transfer-encoding", "x-envoy-internal"] {
        if name == "upgrade" && is_upgrade(&out.headers) || name == "connection" && is_upgrade(&out.headers) {
            continue;
        }
        out.headers.remove(name);
    }
    let scheme = if request.tls { "https" } else { "http" };
    let remote = manager.use_remote_address == Some(true);
    let addresses = forwarded_for(&out.headers);
    let found = client_address::detect(manager, request, &out.headers);
    if let Some(status) = found.rejects {
        let why = format!("Envoy rejects requests that do not name their client; it would be {}", found.from);
        return Err(Answer { field: "original_ip_detection_extensions", ..reject(status, why) });
    }
    out.client_address = found.shown(request);
    out.client = found.client.or(request.source);
    let single = if remote { addresses.is_empty() } else { addresses.len() == 1 };
    if remote {
        if !manager.skip_xff_append {
            // For a client on the same machine, Envoy reports the machine's address.
            let source = match request.source {
                None => "<client>".to_owned(),
                Some(source) if source.to_canonical().is_loopback() => "<address of this machine>".to_owned(),
                Some(source) => source.to_string(),
            };
            let mut all = addresses;
            all.push(source);
            out.headers.set("x-forwarded-for", &all.join(","));
            out.by_envoy.push(by("x-forwarded-for", &all.join(",")));
        }
        if manager.xff_num_trusted_hops == 0 || out.headers.first("x-forwarded-proto").is_none() {
            let ports = manager.forward_proto_config.as_ref();
            let proto = match ports {
                Some(ports) if ports.https_destination_ports.contains(&port) => "https",
                Some(ports) if ports.http_destination_ports.contains(&port) => "http",
                _ => scheme,
            };
            out.headers.set("x-forwarded-proto", proto);
        }
    } else if found.appends {
        let source = request.source.map_or_else(|| "<client>".to_owned(), |source| source.to_string());
        let all = addresses.into_iter().chain([source]).collect::<Vec<_>>().join(",");
        out.headers.set("x-forwarded-for", &all);
        out.by_envoy.push(by("x-forwarded-for", &all));
    }
    // Envoy joins repeated headers into one value.
    let given: Vec<&str> = out.headers.all("x-forwarded-proto").collect();
    let given = if given.is_empty() { scheme.to_owned() } else { given.join(",") };
    out.headers.set("x-forwarded-proto", &given);
    out.forwarded_proto = out.headers.first("x-forwarded-proto").unwrap_or_default().to_owned();
    out.by_envoy.push(by("x-forwarded-proto", &out.forwarded_proto.clone()));
    out.scheme = if matches!(out.forwarded_proto.as_str(), "http" | "https") { out.forwarded_proto.clone() } else { scheme.to_owned() };
    out.internal = single && found.client.or(request.source.filter(|_| remote)).is_some_and(|client| is_internal(manager, client));
    if out.internal {
        out.headers.set("x-envoy-internal", "true");
        out.by_envoy.push(by("x-envoy-internal", "true"));
    } else {
        for name in INTERNAL_ONLY {
            if out.headers.remove(name) {
                out.changes.push(format!("{name} is removed: the request comes from outside"));
            }
        }
        if remote {
            for name in ["x-envoy-decorator-operation", "x-envoy-downstream-service-cluster", "x-envoy-downstream-service-node"] {
                out.headers.remove(name);
            }
            let client = out.client.map_or_else(|| "<client>".to_owned(), |client| client.to_string());
            out.headers.set("x-envoy-external-address", &client);
            out.by_envoy.push(by("x-envoy-external-address", &client));
        }
    }
    let generate = manager.generate_request_id != Some(false);
    let keeps = manager.preserve_external_request_id || !remote || out.internal;
    if generate && !(keeps && out.headers.first("x-request-id").is_some()) {
        out.headers.set("x-request-id", "<uuid>");
        out.by_envoy.push(by("x-request-id", "<uuid>"));
    }
    if manager.append_x_forwarded_port && out.headers.first("x-forwarded-port").is_none() {
        out.headers.set("x-forwarded-port", &port.to_string());
        out.by_envoy.push(by("x-forwarded-port", &port.to_string()));
    }
    Ok(())
}

/// Whether the request asks to switch the protocol of the connection.
pub(super) fn is_upgrade(headers: &Headers) -> bool {
    let asks = headers.all("connection").flat_map(|line| line.split(',')).any(|token| token.trim().eq_ignore_ascii_case("upgrade"));
    asks && headers.first("upgrade").is_some()
}
