//! Writes listeners: filter chains, the HTTP connection manager, and filters of connections. Does not write HTTP filters; see `filters`.

use super::access_log::{self, LogPlace};
use super::client_address::ip_detection;
use super::cluster::http2_options;
use super::filters::{self, HttpFilters, RateLimitService};
use super::header_changes::header_mutations;
use super::matcher::{setting_match, string_matcher};
use super::proto::{Setting as _, address, bytes, config_source, derived, duration, empty, extension, flag, list, message, one};
use super::{load_balancer, tls, tracing};
use crate::model::{AccessLogs, CoreListener, HttpListener, ReadyListener, Tracing};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_text::Str;

const HCM: &str = "envoy.filters.network.http_connection_manager";
const HCM_KIND: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const INSPECTOR: &str = "envoy.filters.listener.tls_inspector";
const PROXY_PROTOCOL: &str = "envoy.filters.listener.proxy_protocol";

/// A chain of filters that is still being built.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    pub(crate) name: Tree,
    pub(crate) server_names: Tree,
    pub(crate) filters: Vec<Tree>,
    /// The HTTP connection manager without its filters, and those.
    pub(crate) http: Option<(Tree, HttpFilters)>,
    pub(crate) socket: Tree,
    pub(crate) handshake_timeout: Tree,
    /// The table of routes that the manager asks for.
    pub(crate) route_name: Str,
}

impl Chain {
    fn into_tree(self) -> Tree {
        let mut all = self.filters;
        if let Some((mut config, filters)) = self.http {
            config.set("http_filters", list(filters.0));
            all.push(extension(HCM, HCM_KIND, config));
        }
        let (names, origin) = (self.server_names, self.name.origin);
        message! {
            "name": self.name,
            "filter_chain_match": if names.is_null() { Tree::NULL } else { message! { "server_names": names } },
            "filters": list(all),
            "transport_socket": self.socket,
            "transport_socket_connect_timeout": self.handshake_timeout,
        }
        .or_from(origin)
    }
}

/// A listener that is still being built.
#[derive(Clone, Debug, Default)]
pub(crate) struct Building {
    pub(crate) tree: Tree,
    pub(crate) address: Str,
    pub(crate) port: i64,
    pub(crate) is_udp: bool,
    pub(crate) listener_filters: Vec<Tree>,
    pub(crate) chains: Vec<Chain>,
    pub(crate) default_chain: Option<Chain>,
}

impl Building {
    /// The finished listener.
    pub(crate) fn into_tree(self) -> Tree {
        let mut tree = self.tree;
        tree.set("listener_filters", list(self.listener_filters));
        tree.set("filter_chains", list(self.chains.into_iter().map(Chain::into_tree).collect()));
        tree.set("default_filter_chain", self.default_chain.map(Chain::into_tree).into());
        tree
    }

    fn has_filter(&self, name: &str) -> bool {
        self.listener_filters.iter().any(|filter| filter.get("name").is(name))
    }

    /// Reads the first message of TLS, unless another chain asked for it already.
    pub(crate) fn inspect_tls(&mut self, fingerprints: &[Tree]) {
        if self.has_filter(INSPECTOR) {
            return;
        }
        let wants = |name: &str| fingerprints.iter().find(|kind| kind.is(name)).map(|kind| derived(true, kind));
        let mut config = empty();
        config.set("enable_ja3_fingerprinting", wants("JA3").into());
        config.set("enable_ja4_fingerprinting", wants("JA4").into());
        self.listener_filters.push(extension(INSPECTOR, "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector", config));
    }

    /// Reads the header of the PROXY protocol before everything else.
    pub(crate) fn read_proxy_protocol(&mut self, of: &Tree) {
        if of.is_null() || self.has_filter(PROXY_PROTOCOL) {
            return;
        }
        let mut config = empty();
        config.set("allow_requests_without_proxy_protocol", flag(of.get("optional")));
        let kind = "envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol";
        self.listener_filters.insert(0, extension(PROXY_PROTOCOL, kind, config).or_from(of.origin));
    }

    /// Lets a chain take only these server names; all if the first is `*`.
    pub(crate) fn match_names(&mut self, chain: &mut Chain, names: &[Sourced<Str>], fingerprints: &[Tree]) {
        let has_names = names.first().is_some_and(|first| first.value != "*");
        if has_names {
            chain.server_names = list(names.iter().cloned().map(Tree::from).collect());
        }
        // HTTP/3 reads server names itself.
        if !fingerprints.is_empty() || has_names && !self.is_udp {
            self.inspect_tls(fingerprints);
        }
    }
}

fn socket_address(core: &CoreListener, is_udp: bool) -> Tree {
    let mut out = address(&core.address, core.port);
    if let Some(socket) = out.get_mut("socket_address") {
        socket.set("protocol", if is_udp { "UDP".into() } else { Tree::NULL });
        socket.set("ipv4_compat", if core.ip_family == "DualStack" { true.into() } else { Tree::NULL });
    }
    out
}

/// The name of a listener.
pub(crate) fn listener_name(core: &CoreListener, is_udp: bool, by_port: bool) -> Tree {
    let name = if by_port { Str::from(format!("{}-{}", if is_udp { "udp" } else { "tcp" }, core.external_port.value)) } else { core.name.clone() };
    Tree::from(name).or_from(core.origin)
}

fn start(core: &CoreListener, is_udp: bool, tree: Tree) -> Building {
    Building { tree: tree.or_from(core.origin), address: core.address.clone(), port: core.port.value, is_udp, ..Building::default() }
}

/// A listener for TCP, without chains.
pub(crate) fn start_tcp(
    core: &CoreListener,
    client: &crate::model::ClientSettings,
    logs: Option<&AccessLogs>,
    by_port: bool,
) -> Result<Building, String> {
    let (limit, accepted) = (client.connection.get("bufferLimit"), client.connection.get("maxAcceptPerSocketEvent"));
    let tree = message! {
        "name": listener_name(core, false, by_port),
        "access_log": list(access_log::build(logs, LogPlace::Listener)?),
        "address": socket_address(core, false),
        "socket_options": socket_options(&client.tcp_keepalive),
        "per_connection_buffer_limit_bytes": if limit.is_null() { 32_768_i64.into() } else { bytes(limit) },
        "max_connections_to_accept_per_socket_event": match accepted.find_int() {
            None => 1_i64.into(),
            Some(0) => Tree::NULL,
            Some(_) => accepted.clone(),
        },
        "listener_filters_timeout": duration(client.timeout.at(&["tcp", "connectionInspectionTimeout"])),
    };
    Ok(start(core, false, tree))
}

/// A listener for HTTP/3, without chains.
pub(crate) fn start_quic(core: &CoreListener, logs: Option<&AccessLogs>, by_port: bool) -> Result<Building, String> {
    let name = if by_port { listener_name(core, true, true) } else { Tree::from(format!("{}-quic", core.name)).or_from(core.origin) };
    let tree = message! {
        "name": name,
        "access_log": list(access_log::build(logs, LogPlace::Listener)?),
        "address": socket_address(core, true),
        "udp_listener_config": message! { "downstream_socket_config": empty(), "quic_options": empty() },
        "drain_type": "MODIFY_ONLY",
    };
    Ok(start(core, true, tree))
}

/// A listener for UDP.
pub(crate) fn udp(core: &CoreListener, cluster: Tree, logs: Option<&AccessLogs>, by_port: bool) -> Result<Tree, String> {
    let route = extension("route", "envoy.extensions.filters.udp.udp_proxy.v3.Route", message! { "cluster": cluster });
    let config = message! {
        "stat_prefix": "service",
        "access_log": list(access_log::build(logs, LogPlace::Route)?),
        "matcher": message! { "on_no_match": message! { "action": route } },
    };
    let proxy = extension("envoy.filters.udp_listener.udp_proxy", "envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig", config);
    let tree = message! {
        "name": listener_name(core, true, by_port),
        "access_log": list(access_log::build(logs, LogPlace::Listener)?),
        "address": socket_address(core, true),
        "listener_filters": one(proxy),
    };
    Ok(tree.or_from(core.origin))
}

fn socket_options(of: &Tree) -> Tree {
    if of.is_null() {
        return Tree::NULL;
    }
    let on = message! { "description": "socket option to enable tcp keep alive", "level": 1_i64, "name": 9_i64, "int_value": 1_i64 };
    let mut all = Vec::from([on.or_from(of.origin)]);
    let probes = of.get("probes").clone();
    let options = [
        ("probes", 6_i64, probes),
        ("idle time", 4, super::proto::seconds(of.get("idleTime"))),
        ("interval", 5, super::proto::seconds(of.get("interval"))),
    ];
    for (what, name, value) in options {
        if value.is_null() {
            continue;
        }
        let origin = value.origin;
        let option = message! { "description": format!("socket option for keep alive {what}"), "level": 6_i64, "name": name, "int_value": value };
        all.push(option.or_from(origin));
    }
    list(all)
}

fn request_id_extension(of: &Tree) -> Tree {
    let (packs, samples) = match of.text() {
        "" | "PackAndSample" => return Tree::NULL,
        "Pack" => (true, false),
        "Sample" => (false, true),
        _ => (false, false),
    };
    let config = message! { "pack_trace_reason": packs, "use_request_id_for_trace_sampling": samples };
    message! { "typed_config": super::proto::any("envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig", config) }.or_from(of.origin)
}

/// What a listener's managers share.
pub(crate) struct HttpContext<'a> {
    pub(crate) logs: Option<&'a AccessLogs>,
    pub(crate) tracing: Option<&'a Tracing>,
    pub(crate) service: Option<&'a RateLimitService>,
    pub(crate) order: &'a [Tree],
    pub(crate) names_by_port: bool,
}

/// The name of the table of routes, and of the chain.
pub(crate) fn route_table_name(listener: &HttpListener, by_port: bool) -> Str {
    if by_port && listener.tls.is_none() { Str::from(format!("http-{}", listener.core.external_port.value)) } else { listener.core.name.clone() }
}

fn http_options(out: &mut Tree, listener: &HttpListener) {
    let client = &listener.client;
    let headers = &client.headers;
    let http1 = &client.http1;
    let ignored = http1.get("ignoredUpgradeTypes").items();
    let has_http1 =
        http1.get("enableTrailers").bool() || http1.get("preserveHeaderCase").bool() || !http1.get("http10").is_null() || !ignored.is_empty();
    if has_http1 {
        let mut options = super::cluster::http1_options(http1);
        options.set("ignore_http_11_upgrade", list(ignored.iter().map(|of| string_matcher(&setting_match("", of))).collect()));
        out.set("http_protocol_options", options.or_from(http1.origin));
    }
    out.set("http2_protocol_options", http2_options(&client.http2, Some(100)));
    let underscores = headers.get("withUnderscoresAction");
    let action = match underscores.text() {
        "Allow" => Tree::NULL,
        "DropHeader" => derived("DROP_HEADER", underscores),
        _ => derived("REJECT_REQUEST", underscores),
    };
    let limit = client.connection.get("connectionLimit");
    let longest = limit.get("maxConnectionDuration");
    let mut common = empty();
    common.set("headers_with_underscores_action", action);
    common.set("idle_timeout", duration(client.timeout.at(&["http", "idleTimeout"])));
    common.set("max_connection_duration", duration(longest));
    common.set("max_requests_per_connection", limit.get("maxRequestsPerConnection").clone());
    common.set("max_stream_duration", duration(limit.get("maxStreamDuration")));
    out.set("common_http_protocol_options", common);
    if !longest.is_null() && !http1.get("disableSafeMaxConnectionDuration").bool() {
        out.set("http1_safe_max_connection_duration", derived(true, longest));
    }
}

fn client_certificates(out: &mut Tree, of: &Tree) {
    let mode = of.get("mode");
    let word = match mode.text() {
        "ForwardOnly" => "FORWARD_ONLY",
        "AppendForward" => "APPEND_FORWARD",
        "SanitizeSet" => "SANITIZE_SET",
        "AlwaysForwardOnly" => "ALWAYS_FORWARD_ONLY",
        _ => return,
    };
    out.set("forward_client_cert_details", derived(word, mode));
    let details = of.get("certDetailsToAdd").items();
    if !matches!(word, "APPEND_FORWARD" | "SANITIZE_SET") || details.is_empty() {
        return;
    }
    let fields = details.iter().map(|detail| (detail.text().to_ascii_lowercase(), derived(true, detail)));
    out.set("set_current_client_cert_details", Tree::object(fields));
}

fn request_id(out: &mut Tree, headers: &Tree) {
    let (own, old) = (headers.get("requestID"), headers.get("preserveXRequestID"));
    let (generates, preserves, from) = match own.text() {
        "PreserveOrGenerate" => (true, true, own),
        "Preserve" => (false, true, own),
        "Disable" => (false, false, own),
        "Generate" => (true, false, own),
        _ if own.is_null() && old.bool() => (true, true, old),
        _ => return,
    };
    out.set("generate_request_id", derived(generates, from));
    out.set("preserve_external_request_id", derived(preserves, from));
}

/// The HTTP connection manager of a listener, without its filters.
fn manager(listener: &HttpListener, cx: &HttpContext<'_>, is_quic: bool) -> Result<Tree, String> {
    let client = &listener.client;
    let path = &client.path;
    let merged = path.get("disableMergeSlashes");
    let escaped = path.get("escapedSlashesAction");
    let escaped_word = match escaped.text() {
        "KeepUnchanged" => "KEEP_UNCHANGED",
        "RejectRequest" => "REJECT_REQUEST",
        "UnescapeAndForward" => "UNESCAPE_AND_FORWARD",
        _ => "UNESCAPE_AND_REDIRECT",
    };
    let detection = ip_detection(&client.client_ip_detection);
    let remote = derived(detection.is_null(), &client.client_ip_detection);
    let early = header_mutations(client.headers.get("earlyRequestHeaders"));
    let early = if early.is_empty() {
        Tree::NULL
    } else {
        let kind = "envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation";
        one(extension("envoy.http.early_header_mutation.header_mutation", kind, message! { "mutations": list(early) }))
    };
    let rds = message! { "config_source": config_source(), "route_config_name": route_table_name(listener, cx.names_by_port) };
    let mut out = message! {
        "access_log": list(access_log::build(cx.logs, LogPlace::Route)?),
        "codec_type": if is_quic { "HTTP3".into() } else { Tree::NULL },
        "stat_prefix": stat_prefix(listener, cx.names_by_port),
        "rds": rds,
        "server_header_transformation": "PASS_THROUGH",
        "use_remote_address": remote,
        "original_ip_detection_extensions": detection,
        "normalize_path": true,
        "merge_slashes": if merged.bool() { Tree::NULL } else { derived(true, merged) },
        "path_with_escaped_slashes_action": derived(escaped_word, escaped),
        "tracing": cx.tracing.map(tracing::build).transpose()?,
        "early_header_mutation_extensions": early,
        "request_id_extension": request_id_extension(&listener.request_id_tracing),
        "strip_trailing_host_dot": flag(client.headers.at(&["host", "stripTrailingHostDot"])),
        "http3_protocol_options": if is_quic { empty() } else { Tree::NULL },
    };
    client_certificates(&mut out, client.headers.get("xForwardedClientCert"));
    http_options(&mut out, listener);
    request_id(&mut out, &client.headers);
    if client.scheme.is("MatchBackend") {
        out.set("scheme_header_transformation", derived(message! { "match_upstream": true }, &client.scheme));
    }
    let time = client.timeout.get("http");
    out.set("request_timeout", duration(time.get("requestReceivedTimeout")));
    out.set("request_headers_timeout", duration(time.get("requestHeadersReceivedTimeout")));
    out.set("stream_idle_timeout", duration(time.get("streamIdleTimeout")));
    Ok(out.or_from(listener.core.origin))
}

fn stat_prefix(listener: &HttpListener, by_port: bool) -> Tree {
    let scheme = if listener.tls.is_some() { "https" } else { "http" };
    let port = if by_port { &listener.core.external_port } else { &listener.core.port };
    Tree::from(format!("{scheme}-{}", port.value)).or_from(port.origin)
}

/// The filter that counts connections.
pub(crate) fn connection_limit(connection: &Tree, stat_prefix: &Tree) -> Option<Tree> {
    let limit = connection.get("connectionLimit");
    let value = limit.get("value").some()?;
    let config = message! { "stat_prefix": stat_prefix.clone(), "max_connections": value.clone(), "delay": duration(limit.get("closeDelay")) };
    let kind = "envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit";
    Some(extension("envoy.filters.network.connection_limit", kind, config).or_from(limit.origin))
}

/// Adds the chain of a listener for HTTP.
pub(crate) fn add_http_chain(building: &mut Building, listener: &HttpListener, cx: &HttpContext<'_>, is_quic: bool) -> Result<(), String> {
    let config = manager(listener, cx, is_quic)?;
    building.read_proxy_protocol(&listener.client.proxy_protocol);
    let mut http_filters = HttpFilters::default();
    filters::configure_chain(&mut http_filters, listener, cx.logs, cx.service, cx.order)?;
    let mut chain = Chain {
        name: Tree::from(&listener.core.name).or_from(listener.core.origin),
        filters: connection_limit(&listener.client.connection, &stat_prefix(listener, cx.names_by_port)).into_iter().collect(),
        http: Some((config, http_filters)),
        handshake_timeout: duration(listener.client.timeout.at(&["tcp", "tlsHandshakeTimeout"])),
        route_name: route_table_name(listener, cx.names_by_port),
        ..Chain::default()
    };
    match &listener.tls {
        Some(of) => {
            chain.socket = if is_quic { tls::downstream_quic(of) } else { tls::downstream(of, listener.tls_overlaps) };
            building.match_names(&mut chain, &listener.hostnames, &of.fingerprints);
            building.chains.push(chain);
        }
        None if building.default_chain.is_some() => return Err(String::from("default filter chain already exists")),
        None => {
            chain.name = Tree::from(route_table_name(listener, cx.names_by_port)).or_from(listener.core.origin);
            building.default_chain = Some(chain);
        }
    }
    Ok(())
}

/// Writes the TCP proxy of a chain.
pub(crate) fn tcp_proxy(
    route: &crate::model::TcpRoute,
    cluster: Tree,
    stat_prefix: &Tree,
    client: &crate::model::ClientSettings,
    logs: Option<&AccessLogs>,
) -> Result<Tree, String> {
    let config = message! {
        "access_log": list(access_log::build(logs, LogPlace::Route)?),
        "stat_prefix": stat_prefix.clone(),
        "cluster": cluster,
        "hash_policy": load_balancer::tcp_hash_policy(&route.traffic.load_balancer),
        "idle_timeout": duration(client.timeout.at(&["tcp", "idleTimeout"])),
    };
    Ok(extension("envoy.filters.network.tcp_proxy", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", config).or_from(route.origin))
}

/// Returns the listener for readiness checks.
pub(crate) fn ready(of: &ReadyListener) -> Tree {
    let all = message! { "match": message! { "prefix": "/" }, "direct_response": message! { "status": 500_i64 } };
    let host = message! { "name": "ready_route", "domains": one("*".into()), "routes": one(all) };
    let config = message! {
        "stat_prefix": "eg-ready-http",
        "route_config": message! { "name": "ready_route", "virtual_hosts": one(host) },
        "http_filters": Vec::from([filters::health_check(Tree::from(&of.path)), filters::plain_router()]),
    };
    let mut place = address(&of.address, of.port);
    if let Some(socket) = place.get_mut("socket_address") {
        socket.set("ipv4_compat", if matches!(of.ip_family.as_str(), "IPv6" | "DualStack") { true.into() } else { Tree::NULL });
    }
    message! {
        "name": format!("envoy-gateway-proxy-ready-{}-{}", of.address, of.port),
        "address": place,
        "filter_chains": one(message! { "filters": one(extension(HCM, HCM_KIND, config)) }),
        "bypass_overload_manager": true,
    }
}

/// The header that offers HTTP/3.
pub(crate) fn alternative_service(listener: &HttpListener) -> Tree {
    let value = format!("h3=\":{}\"; ma=86400", listener.core.external_port.value);
    let header = message! { "key": "alt-svc", "value": derived(value, &listener.client.http3) };
    message! { "append": true, "header": header }.or_from(listener.client.http3.origin)
}
