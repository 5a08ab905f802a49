//! A gateway that has something of everything.

use chancery_core::ir::*;
use chancery_core::resource::{ObjectId, Origin, Sourced};
use chancery_core::text::{NodeId, Str};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

thread_local! {
    static NODE: Cell<u32> = const { Cell::new(0) };
}

/// An origin in this object, at a node of its own.
pub fn origin(object: usize) -> Origin {
    let node = NODE.get() + 1;
    NODE.set(node);
    Origin::field(ObjectId::from_index(object), NodeId(node))
}

/// A value of the first object.
pub fn s<T>(value: T) -> Sourced<T> {
    Sourced::new(value, origin(0))
}

pub fn str(text: &str) -> Str {
    Str::from(text)
}

pub fn st(text: &str) -> Sourced<Str> {
    s(str(text))
}

fn ms(n: u64) -> Sourced<Duration> {
    s(Duration::from_millis(n))
}

fn regex(expression: &str) -> Regex {
    Regex { regex: str(expression), max_program_size: Some(s(200)), engine: true }
}

fn add(name: &str, value: &str, action: AppendAction) -> Sourced<HeaderToAdd> {
    s(HeaderToAdd { name: str(name), value: str(value), action })
}

fn mutations() -> HeaderMutations {
    HeaderMutations {
        add: vec![add("x-a", "%PROTOCOL%", AppendAction::Append), add("x-b", "b", AppendAction::Overwrite), add("x-c", "c", AppendAction::Unsaid)],
        remove: vec![st("x-gone")],
    }
}

fn header(name: &str, value: StringMatch) -> Sourced<HeaderMatch> {
    s(HeaderMatch { name: str(name), value, invert: false, ignore_case: false, missing_as_empty: false })
}

pub fn forward(cluster: &str) -> Forward {
    Forward { clusters: UpstreamClusters::One(st(cluster)), timeout: Some(ms(3000)), ..Forward::default() }
}

fn rich_forward() -> Forward {
    Forward {
        idle_timeout: Some(ms(1500)),
        priority: Some(s(Priority::High)),
        path_rewrite: Some(s(PathRewrite::Prefix(str("/")))),
        host_rewrite: Some(s(HostRewrite::Literal(str("host.example")))),
        hash_policies: vec![
            s(HashPolicy::Cookie { name: str("c"), path: Some(str("/")), ttl: Some(Duration::from_secs(60)) }),
            s(HashPolicy::Header(str("x-user"))),
            s(HashPolicy::SourceIp(true)),
            s(HashPolicy::Query(str("q"))),
        ],
        cors: Some(s(Box::new(Cors {
            allow_origins: vec![s(StringMatch::Exact(str("https://a.example"))), s(StringMatch::Suffix(str(".b.example")))],
            allow_methods: Some(st("GET, POST")),
            allow_headers: Some(st("x-a")),
            expose_headers: Some(st("x-b")),
            max_age: Some(st("86400")),
            allow_credentials: Some(s(true)),
            runtime_key: Some(str("routing.cors_enabled.x")),
        }))),
        retry: Some(s(Box::new(RetryPolicy { retry_on: st("5xx"), num_retries: Some(s(3)), per_try_timeout: Some(ms(500)) }))),
        mirrors: vec![s(MirrorPolicy { cluster: st("dns"), percent: s(20) })],
        rate_limits: vec![s(RateLimitDescriptor {
            stage: 0,
            actions: vec![
                s(RateLimitAction::SourceCluster),
                s(RateLimitAction::DestinationCluster),
                s(RateLimitAction::RemoteAddress),
                s(RateLimitAction::GenericKey { key: str("k"), value: str("v") }),
                s(RateLimitAction::RequestHeader { key: str("h"), header: str("x-h") }),
            ],
        })],
        upgrades: vec![st("websocket")],
        ..forward("dns")
    }
}

pub fn route(prefix: &str, action: RouteAction) -> Route {
    Route {
        matcher: RouteMatch { path: s(PathMatch::Prefix(str(prefix))), ..RouteMatch::default() },
        action,
        origins: vec![origin(1)],
        ..Route::default()
    }
}

fn routes() -> Vec<Arc<Route>> {
    let rich = Route {
        name: str("rich"),
        matcher: RouteMatch {
            path: s(PathMatch::Prefix(str("/rich/"))),
            case_sensitive: Some(s(false)),
            headers: vec![
                header(":authority", StringMatch::Suffix(str(".example"))),
                header("x-exact", StringMatch::Exact(str("1"))),
                header("x-prefix", StringMatch::Prefix(str("1"))),
                header("x-regex", StringMatch::Regex(regex("a.*"))),
                header("x-contains", StringMatch::Contains(str("1"))),
                header("x-there", StringMatch::Present),
            ],
            query: vec![
                s(QueryMatch { name: str("q"), value: StringMatch::Exact(str("1")), ignore_case: true }),
                s(QueryMatch { name: str("r"), value: StringMatch::Regex(regex("b+")), ignore_case: false }),
                s(QueryMatch { name: str("p"), value: StringMatch::Present, ignore_case: false }),
            ],
            fraction: Some(RuntimeFraction { percent: s(30), runtime_key: Some(str("routing.traffic_shift.dns")) }),
            grpc: true,
        },
        action: RouteAction::Forward(rich_forward().into()),
        request_headers: mutations(),
        response_headers: mutations(),
        per_filter: vec![(str("envoy.filters.http.ext_authz"), s(PerFilter::ExtAuthzContext(vec![(str("a"), str("b"))])))],
        metadata: vec![(str("chancery"), Json::Object(vec![(str("origin"), Json::String(str("a \"quoted\" name")))]))],
        origins: vec![origin(1), origin(2)],
    };
    let mut weighted = route(
        "/weighted/",
        RouteAction::Forward(std::sync::Arc::new(Forward {
            clusters: UpstreamClusters::Weighted(
                [("dns", 75), ("eds", 25)]
                    .map(|(name, weight)| WeightedCluster {
                        name: st(name),
                        weight: s(weight),
                        request_headers: mutations(),
                        response_headers: mutations(),
                    })
                    .into(),
            ),
            host_rewrite: Some(s(HostRewrite::LiteralAndAuto(str("a"), true))),
            ..forward("")
        })),
    );
    weighted.per_filter = vec![(str("envoy.filters.http.ext_authz"), s(PerFilter::ExtAuthzDisabled))];
    let by_regex = Route {
        matcher: RouteMatch { path: s(PathMatch::Regex(regex("/[a-z]+"))), ..RouteMatch::default() },
        ..route(
            "",
            RouteAction::Forward(std::sync::Arc::new(Forward {
                path_rewrite: Some(s(PathRewrite::Regex(RegexRewrite { pattern: regex("/(.*)"), substitution: str("/x/\\1") }))),
                host_rewrite: Some(s(HostRewrite::Header(str("x-host")))),
                ..forward("eds")
            })),
        )
    };
    let by_path = Route {
        matcher: RouteMatch { path: s(PathMatch::Exact(str("/exact"))), ..RouteMatch::default() },
        ..route(
            "",
            RouteAction::Redirect(Box::new(Redirect {
                host: Some(st("other.example")),
                path: Some(s(RedirectPath::Full(str("/there")))),
                code: Some(s(RedirectCode::TemporaryRedirect)),
                https: None,
            })),
        )
    };
    let to = |path| {
        RouteAction::Redirect(Box::new(Redirect {
            path: Some(s(path)),
            https: Some(s(true)),
            code: Some(s(RedirectCode::MovedPermanently)),
            host: None,
        }))
    };
    let by_segment = Route {
        matcher: RouteMatch { path: s(PathMatch::PathSeparatedPrefix(str("/seg"))), ..RouteMatch::default() },
        ..route("", to(RedirectPath::Prefix(str("/new"))))
    };
    let pattern = RegexRewrite { pattern: Regex { max_program_size: None, ..regex("a") }, substitution: str("b") };
    [
        rich,
        weighted,
        by_regex,
        by_path,
        by_segment,
        route("/redirect", to(RedirectPath::Regex(pattern))),
        route("/respond", RouteAction::Respond(DirectResponse { status: s(418), body: Some(st("teapot\n")) })),
        route("/", RouteAction::Forward(forward("dns").into())),
    ]
    .map(Arc::new)
    .into()
}

fn filters() -> Vec<Arc<HttpFilter>> {
    let match_name = |name: &str| s(StringMatch::Exact(str(name)));
    let range = |source, address: &str, prefix_length| s(IpRange { source, address: str(address), prefix_length });
    let stats = GrpcStats { methods: GrpcStatsMethods::These(vec![s((str("p.S"), vec![str("M")]))]), upstream: s(true) };
    let authz = |transport| {
        HttpFilterKind::ExtAuthz(ExtAuthz {
            transport,
            cluster: st("dns"),
            timeout: ms(5000),
            clear_route_cache: true,
            body: Some(s(Body { max_bytes: Some(s(4096)), allow_partial: Some(s(true)) })),
            failure_mode_allow: Some(s(true)),
            status_on_error: Some(s(503)),
        })
    };
    let http = AuthorizationTransport::Http {
        uri: str("http://auth"),
        path_prefix: Some(st("/extauth")),
        allowed_request_headers: vec![match_name("authorization"), match_name("cookie")],
        allowed_response_headers: vec![match_name("location"), match_name("set-cookie")],
        headers_to_add: vec![s((str("l5d-dst-override"), str("auth:80")))],
    };
    [
        ("envoy.filters.http.cors", HttpFilterKind::Cors),
        ("envoy.filters.http.grpc_web", HttpFilterKind::GrpcWeb),
        ("envoy.filters.http.grpc_http1_bridge", HttpFilterKind::GrpcHttp1Bridge),
        ("envoy.filters.http.grpc_stats", HttpFilterKind::GrpcStats(stats)),
        ("all", HttpFilterKind::GrpcStats(GrpcStats { methods: GrpcStatsMethods::All(s(true)), upstream: s(false) })),
        ("envoy.filters.http.lua", HttpFilterKind::Lua(st("function envoy_on_request(handle) end"))),
        (
            "envoy.filters.http.gzip",
            HttpFilterKind::Compressor(Compressor {
                memory_level: Some(s(9)),
                compression_level: Some(st("BEST_SPEED")),
                compression_strategy: Some(st("RLE")),
                window_bits: Some(s(15)),
                min_content_length: Some(s(32)),
                content_types: vec![st("text/html")],
                disable_on_etag: Some(s(true)),
                remove_accept_encoding: Some(s(true)),
            }),
        ),
        ("envoy.filters.http.buffer", HttpFilterKind::Buffer(s(5_242_880))),
        (
            "envoy.filters.http.rbac",
            HttpFilterKind::Rbac(Rbac {
                action: RbacAction::Deny,
                policy: str("ip/deny"),
                principals: vec![range(IpSource::Remote, "10.0.0.0", 8), range(IpSource::Peer, "::1", 128)],
            }),
        ),
        (
            "allow",
            HttpFilterKind::Rbac(Rbac { action: RbacAction::Allow, policy: str("allow"), principals: vec![range(IpSource::Peer, "10.0.0.0", 0)] }),
        ),
        ("envoy.filters.http.ext_authz", authz(http)),
        ("grpc-authz", authz(AuthorizationTransport::Grpc)),
        (
            "envoy.filters.http.ratelimit",
            HttpFilterKind::RateLimit(RateLimitService {
                domain: st("ambassador"),
                cluster: st("dns"),
                timeout: ms(20),
                failure_mode_deny: s(true),
                resource_exhausted: s(true),
            }),
        ),
        ("envoy.filters.http.health_check", HttpFilterKind::HealthCheck { path: str("/ready") }),
        ("envoy.filters.http.router", HttpFilterKind::Router { start_child_span: Some(s(true)), suppress_envoy_headers: Some(s(true)) }),
    ]
    .map(|(name, kind)| Arc::new(HttpFilter { name: str(name), kind, origins: vec![origin(3)] }))
    .into()
}

fn access_logs() -> Vec<Sourced<AccessLog>> {
    let file = |format| {
        s(AccessLog { name: str("envoy.access_loggers.file"), sink: AccessLogSink::File(FileAccessLog { path: st("/dev/null"), format: s(format) }) })
    };
    let grpc = |kind, name: &str| {
        s(AccessLog {
            name: str(name),
            sink: AccessLogSink::Grpc(GrpcAccessLog {
                kind,
                cluster: st("dns"),
                log_name: st("log"),
                flush_interval: ms(1000),
                buffer_bytes: s(1024),
                request_headers: vec![st("x-a")],
                response_headers: vec![st("x-b")],
                response_trailers: vec![st("x-c")],
            }),
        })
    };
    vec![
        file(AccessLogFormat::Text(str("%PROTOCOL%\n"))),
        file(AccessLogFormat::Json(vec![(str("protocol"), Json::String(str("%PROTOCOL%")))])),
        file(AccessLogFormat::TypedJson(vec![(str("duration"), Json::String(str("%DURATION%")))])),
        grpc(GrpcAccessLogKind::Http, "envoy.access_loggers.http_grpc"),
        grpc(GrpcAccessLogKind::Tcp, "envoy.access_loggers.tcp_grpc"),
    ]
}

fn manager(name: &str, routes: &[Arc<Route>], codec: Option<CodecType>) -> Arc<HttpConnectionManager> {
    let tag = |tag: &str, value| s(TracingTag { tag: str(tag), value });
    let host = |name: &str, domain: &str| VirtualHost {
        name: str(name),
        domains: vec![st(domain)],
        routes: routes.to_vec(),
        response_headers: mutations(),
        origins: vec![origin(4)],
    };
    Arc::new(HttpConnectionManager {
        stat_prefix: st("ingress_http"),
        codec,
        routes: RouteConfiguration {
            name: str(name),
            virtual_hosts: vec![host("all", "*"), host("one", "one.example")],
            ignore_port_in_host: true,
            request_headers: mutations(),
        },
        filters: filters(),
        access_logs: access_logs(),
        normalize_path: Some(s(true)),
        merge_slashes: Some(s(true)),
        reject_escaped_slashes: Some(s(true)),
        strip_matching_host_port: Some(s(true)),
        use_remote_address: Some(s(true)),
        xff_num_trusted_hops: Some(s(1)),
        server_name: Some(st("envoy")),
        idle_timeout: Some(ms(30000)),
        headers_with_underscores: Some(st("REJECT_REQUEST")),
        max_request_headers_kb: Some(s(60)),
        http1: Http1Options {
            accept_http_10: Some(s(true)),
            allow_chunked_length: Some(s(true)),
            header_key_format: Some(s(HeaderKeyFormat::ProperCaseWords)),
        },
        max_concurrent_streams: Some(s(100)),
        http3: codec == Some(CodecType::Http3),
        preserve_external_request_id: Some(s(true)),
        generate_request_id: Some(s(true)),
        forward_client_cert: Some(st("APPEND_FORWARD")),
        client_cert_details: Some(s(ClientCertDetails { subject: Some(true), uri: Some(true), ..ClientCertDetails::default() })),
        tracing: Some(s(Tracing {
            client_sampling: Some(s(100.0)),
            random_sampling: Some(s(10.5)),
            overall_sampling: Some(s(100.0)),
            tags: vec![
                tag("l", TracingTagValue::Literal(str("v"))),
                tag("e", TracingTagValue::Environment(str("E"), Some(str("d")))),
                tag("h", TracingTagValue::RequestHeader(str("x-h"), None)),
            ],
        })),
        origins: vec![origin(5)],
    })
}

pub fn secret(name: &str, part: SecretPart) -> Sourced<CertificateSource> {
    s(CertificateSource::Secret(SecretReference { namespace: str("default"), name: str(name), part }))
}

fn certificate(name: &str) -> Sourced<Certificate> {
    let (chain, key) = (secret(name, SecretPart::Certificate), secret(name, SecretPart::PrivateKey));
    s(Certificate { chain: Some(chain), key: Some(key) })
}

fn parameters() -> TlsParameters {
    TlsParameters {
        minimum: Some(s(TlsVersion::V1_2)),
        maximum: Some(s(TlsVersion::V1_3)),
        cipher_suites: vec![st("ECDHE-RSA-AES128-GCM-SHA256")],
        ecdh_curves: vec![st("P-256")],
    }
}

fn downstream() -> Sourced<DownstreamTls> {
    s(DownstreamTls {
        certificates: vec![certificate("server")],
        validation: Some(s(ValidationContext {
            trusted_ca: Some(secret("ca", SecretPart::Certificate)),
            crl: Some(secret("crl", SecretPart::Key(str("crl.pem")))),
        })),
        require_client_certificate: Some(s(true)),
        parameters: parameters(),
        alpn: vec![st("h2"), st("http/1.1")],
    })
}

fn listener(name: &str, port: u32, protocol: SocketProtocol, filters: &[ListenerFilter], chains: Vec<FilterChain>) -> Arc<Listener> {
    Arc::new(Listener {
        name: st(name),
        address: Address { address: st("127.0.0.1"), port: s(port), protocol },
        filters: filters.iter().map(|filter| s(*filter)).collect(),
        chains,
        per_connection_buffer_limit: Some(s(65536)),
        traffic_direction: Some(s(TrafficDirection::Outbound)),
        in_bootstrap: name == "ready",
        origins: vec![origin(6)],
    })
}

fn chain(name: &str, matcher: Option<FilterChainMatch>, tls: Option<Sourced<DownstreamTls>>, filter: NetworkFilter) -> FilterChain {
    FilterChain { name: str(name), matcher, tls, filters: vec![filter], origins: vec![origin(7)] }
}

fn sni(protocol: &str) -> Option<FilterChainMatch> {
    Some(FilterChainMatch { server_names: vec![st("one.example")], transport_protocol: Some(str(protocol)) })
}

fn tcp(clusters: &[&str]) -> NetworkFilter {
    NetworkFilter::Tcp(TcpProxy {
        stat_prefix: st("ingress_tcp"),
        clusters: clusters
            .iter()
            .map(|name| WeightedCluster {
                name: st(name),
                weight: s(50),
                request_headers: HeaderMutations::default(),
                response_headers: HeaderMutations::default(),
            })
            .collect(),
        idle_timeout: Some(ms(60000)),
        access_logs: access_logs().into_iter().take(1).collect(),
    })
}

pub fn cluster(name: &str, discovery: ClusterDiscovery) -> Cluster {
    Cluster {
        name: st(name),
        alt_stat_name: Some(st("alt")),
        discovery,
        lb_policy: s(LbPolicy::RoundRobin),
        connect_timeout: ms(3000),
        dns_family: Some(s(DnsFamily::V4Only)),
        respect_dns_ttl: None,
        circuit_breakers: vec![],
        http: UpstreamHttp::default(),
        tls: None,
        keepalive: None,
        health_checks: vec![],
        origins: vec![origin(8)],
    }
}

pub fn endpoint(address: &str, port: u32) -> Sourced<Endpoint> {
    s(Endpoint { address: str(address), port })
}

pub fn dns(kind: DnsKind, name: &str) -> ClusterDiscovery {
    ClusterDiscovery::Dns { kind: s(kind), assignment_name: str(name), endpoints: vec![endpoint("localhost", 80)] }
}

fn clusters() -> Vec<Arc<Cluster>> {
    let upstream = UpstreamTls {
        certificates: vec![certificate("client")],
        validation: Some(s(ValidationContext { trusted_ca: Some(secret("upstream-ca", SecretPart::Key(str("ca.crt")))), crl: None })),
        parameters: parameters(),
        alpn: vec![st("h2")],
        sni: Some(st("up.example")),
    };
    let check = |checker| s(HealthCheck { timeout: ms(3000), interval: ms(5000), healthy_threshold: s(1), unhealthy_threshold: s(2), checker });
    let eds =
        ClusterDiscovery::Eds { service_name: str("k8s/default/eds/80"), endpoints: vec![endpoint("10.0.0.1", 8080), endpoint("10.0.0.2", 8080)] };
    let fixed = ClusterDiscovery::Static { assignment_name: str("fixed"), endpoints: vec![endpoint("127.0.0.1", 8080)] };
    [
        Cluster {
            circuit_breakers: vec![
                s(CircuitBreaker {
                    priority: s(Priority::Default),
                    max_connections: Some(s(1)),
                    max_pending_requests: Some(s(2)),
                    max_requests: Some(s(3)),
                    max_retries: Some(s(4)),
                }),
                s(CircuitBreaker {
                    priority: s(Priority::High),
                    max_connections: Some(s(5)),
                    max_pending_requests: None,
                    max_requests: None,
                    max_retries: None,
                }),
            ],
            http: UpstreamHttp { http2: Some(s(())), idle_timeout: Some(ms(1000)), max_connection_duration: Some(ms(2000)), header_key_format: None },
            tls: Some(s(upstream)),
            keepalive: Some(s(TcpKeepalive { probes: Some(s(1)), time: Some(s(2)), interval: Some(s(3)) })),
            lb_policy: s(LbPolicy::LeastRequest),
            ..cluster("dns", dns(DnsKind::Strict, "dns"))
        },
        Cluster {
            health_checks: vec![
                check(HealthChecker::Http {
                    path: st("/healthz"),
                    host: Some(st("h.example")),
                    headers: mutations(),
                    expected_statuses: vec![s((200, 300))],
                }),
                check(HealthChecker::Grpc { service_name: st("one too many"), authority: None }),
            ],
            http: UpstreamHttp { header_key_format: Some(s(HeaderKeyFormat::ProperCaseWords)), ..UpstreamHttp::default() },
            lb_policy: s(LbPolicy::RingHash),
            ..cluster("eds", eds)
        },
        Cluster {
            health_checks: vec![check(HealthChecker::Grpc { service_name: st("p.S"), authority: Some(st("a.example")) })],
            lb_policy: s(LbPolicy::Maglev),
            http: UpstreamHttp { http2: Some(s(())), idle_timeout: Some(ms(1)), ..UpstreamHttp::default() },
            ..cluster("fixed", fixed)
        },
        Cluster {
            lb_policy: s(LbPolicy::Random),
            dns_family: Some(s(DnsFamily::Auto)),
            respect_dns_ttl: Some(s(true)),
            http: UpstreamHttp { header_key_format: Some(s(HeaderKeyFormat::Custom(vec![(str("x-a"), str("X-A"))]))), ..UpstreamHttp::default() },
            ..cluster("logical", dns(DnsKind::Logical, "logical"))
        },
    ]
    .map(Arc::new)
    .into()
}

fn bootstrap() -> Bootstrap {
    Bootstrap {
        node_cluster: str("ambassador-default"),
        node_id: str("test-id"),
        admin: Some(Admin { address: str("127.0.0.1"), port: s(8001), access_log_path: str("/dev/null") }),
        runtime: vec![RuntimeLayer {
            name: str("static_layer"),
            values: vec![(str("re2.max_program_size.error_level"), s(Json::Number(200.0))), (str("flag"), s(Json::Bool(false)))],
        }],
        xds_cluster: Some(XdsCluster {
            name: str("xds_cluster"),
            assignment_name: str("cluster_127_0_0_1_8003"),
            address: str("127.0.0.1"),
            port: 8003,
            connect_timeout: Duration::from_secs(1),
        }),
        clusters: vec![Arc::new(cluster("dns", dns(DnsKind::Strict, "dns"))), Arc::new(cluster("zipkin", dns(DnsKind::Strict, "zipkin")))],
        tracer: Some(s(Tracer {
            name: str("envoy.zipkin"),
            config: TracerConfig::Zipkin {
                cluster: str("zipkin"),
                endpoint: st("/api/v2/spans"),
                version: st("HTTP_JSON"),
                hostname: Some(st("zipkin.example")),
                trace_id_128bit: Some(s(true)),
                shared_span_context: Some(s(false)),
            },
        })),
        stats_sinks: vec![
            s(StatsSink { dogstatsd: false, address: str("127.0.0.1"), port: 8125 }),
            s(StatsSink { dogstatsd: true, address: str("127.0.0.1"), port: 8125 }),
        ],
        stats_flush_interval: Some(ms(1000)),
        stats_tags: vec![(str("dd.internal.entity_id"), st("pod"))],
    }
}

/// A gateway that has something of everything.
pub fn rich(spelling: Spelling) -> Ir {
    let routes = routes();
    let http = |name: &str| NetworkFilter::Http(manager(name, &routes, None));
    let tls = [ListenerFilter::ProxyProtocol, ListenerFilter::TlsInspector];
    Ir {
        listeners: vec![
            listener(
                "https",
                18443,
                SocketProtocol::Tcp,
                &tls,
                vec![
                    chain("tls", sni("tls"), Some(downstream()), http("https/tls")),
                    chain("clear", Some(FilterChainMatch::default()), None, http("https/clear")),
                ],
            ),
            listener(
                "h3",
                18443,
                SocketProtocol::Udp,
                &[],
                vec![chain(
                    "quic",
                    sni("quic"),
                    Some(s(DownstreamTls { certificates: vec![certificate("server")], ..DownstreamTls::default() })),
                    NetworkFilter::Http(manager("h3/quic", &routes, Some(CodecType::Http3))),
                )],
            ),
            listener(
                "tcp",
                16379,
                SocketProtocol::Tcp,
                &tls[1..],
                vec![chain("one", sni("tls"), None, tcp(&["dns"])), chain("two", None, None, tcp(&["dns", "eds"]))],
            ),
            listener("ready", 18006, SocketProtocol::Tcp, &[], vec![chain("", Some(FilterChainMatch::default()), None, http("ready"))]),
        ],
        clusters: clusters(),
        runtimes: vec![RuntimeLayer { name: str("dynamic"), values: vec![(str("a/b"), s(Json::String(str("~"))))] }],
        bootstrap: bootstrap(),
        spelling,
    }
}

/// Every older spelling.
pub const OLD: Spelling = Spelling {
    header_append: true,
    cors_on_route: true,
    header_match_fields: true,
    http_options_on_cluster: true,
    google_re2: true,
    file_log_json_format: true,
    lua_inline_code: true,
    tcp_always_weighted: true,
    ext_authz_headers_on_service: true,
    tracer_in_bootstrap: true,
    child_span_on_router: true,
    compressor_content_type: true,
    dns_ttl_on_cluster: true,
};
