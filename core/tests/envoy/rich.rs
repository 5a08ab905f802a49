//! Builds a gateway that uses every feature of the IR.

use crate::upstream::{cluster, clusters, dns};
use chancery_core::ir::*;
use chancery_core::resource::{Also, ObjectId, Origin, Sourced};
use chancery_core::text::{NodeId, Str};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

thread_local! {
    static NODE: Cell<u32> = const { Cell::new(0) };
}

/// Returns an origin in this object, at a separate node.
pub fn origin(object: usize) -> Origin {
    let node = NODE.get() + 1;
    NODE.set(node);
    Origin::field(ObjectId::from_index(object), NodeId(node))
}

/// Returns a value from the first object.
pub fn s<T>(value: T) -> Sourced<T> {
    Sourced::new(value, origin(0))
}

pub fn str(text: &str) -> Str {
    Str::from(text)
}

pub fn st(text: &str) -> Sourced<Str> {
    s(str(text))
}

pub fn ms(n: u64) -> Sourced<Duration> {
    s(Duration::from_millis(n))
}

fn regex(expression: &str) -> Regex {
    Regex { regex: str(expression), max_program_size: Some(s(200)), engine: true }
}

fn head(name: &str) -> HeaderName {
    HeaderName::new(name).expect("a name of a header")
}

fn add(name: &str, value: &str, action: AppendAction) -> Sourced<HeaderToAdd> {
    s(HeaderToAdd { name: head(name), value: str(value), action })
}

pub fn mutations() -> HeaderMutations {
    HeaderMutations {
        add: vec![add("x-a", "%PROTOCOL%", AppendAction::Append), add("x-b", "b", AppendAction::Overwrite), add("x-c", "c", AppendAction::Unsaid)],
        remove: vec![s(head("x-gone"))],
    }
}

fn header(name: &str, value: StringMatch) -> Sourced<HeaderMatch> {
    s(HeaderMatch { name: head(name), value, invert: false, ignore_case: false, missing_as_empty: false })
}

pub fn forward(cluster: &str) -> Forward {
    Forward { clusters: UpstreamClusters::One(st(cluster)), timeout: Some(ms(3000)), ..Forward::default() }
}

fn rich_forward() -> Forward {
    let hashed = |policy| s(HashBy { policy, terminal: false });
    Forward {
        idle_timeout: Some(ms(1500)),
        priority: Some(s(Priority::High)),
        path_rewrite: Some(s(PathRewrite::Prefix(str("/")))),
        host_rewrite: Some(s(HostRewrite::Literal(str("host.example")))),
        hash_policies: vec![
            hashed(HashPolicy::Cookie { name: str("c"), path: Some(str("/")), ttl: Some(Duration::from_secs(60)) }),
            s(HashBy { policy: HashPolicy::Header(head("x-user")), terminal: true }),
            hashed(HashPolicy::SourceIp(true)),
            hashed(HashPolicy::Query(str("q"))),
        ],
        cors: Some(s(Box::new(Cors {
            allow_origins: vec![s(StringMatch::Exact(str("https://a.example"))), s(StringMatch::Suffix(str(".b.example")))],
            allow_methods: Some(st("GET, POST")),
            allow_headers: Some(st("x-a")),
            expose_headers: Some(st("x-b")),
            max_age: Some(st("86400")),
            allow_credentials: Some(s(true)),
            runtime_key: Some(str("routing.cors_enabled.x")),
            ignore_case: true,
            allow_private_network: Some(s(true)),
        }))),
        retry: Some(s(Box::new(RetryPolicy {
            retry_on: st("5xx"),
            num_retries: Some(s(3)),
            per_try_timeout: Some(ms(500)),
            status_codes: vec![s(503)],
        }))),
        mirrors: vec![s(MirrorPolicy { cluster: st("dns"), percent: s(20) })],
        rate_limits: vec![s(RateLimitDescriptor {
            stage: Some(0),
            actions: vec![
                s(RateLimitAction::SourceCluster),
                s(RateLimitAction::DestinationCluster),
                s(RateLimitAction::RemoteAddress),
                s(RateLimitAction::GenericKey { key: str("k"), value: str("v") }),
                s(RateLimitAction::RequestHeader { key: str("h"), header: head("x-h") }),
                s(RateLimitAction::HeaderValueMatch {
                    headers: vec![header("x-plan", StringMatch::Exact(str("free"))).value],
                    expect_match: false,
                    value: str("paying"),
                }),
            ],
        })],
        upgrades: vec![st("websocket")],
        internal_redirect: Some(s(Box::new(InternalRedirect {
            max: Some(s(2)),
            codes: vec![s(302), s(307)],
            cross_scheme: Some(s(true)),
            only_safe_schemes: Some(s(true)),
            not_to_previous_routes: Some(s(true)),
        }))),
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
            fraction: Some(RuntimeFraction { percent: s(30), percent_also: Also::default(), runtime_key: Some(str("routing.traffic_shift.dns")) }),
            grpc: true,
            ..RouteMatch::default()
        },
        action: RouteAction::Forward(rich_forward().into()),
        request_headers: mutations(),
        response_headers: mutations(),
        per_filter: vec![(str("envoy.filters.http.ext_authz"), s(PerFilter::ExtAuthzContext(vec![(str("a"), st("b"))])))],
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
                        weight_also: Also::default(),
                        request_headers: mutations(),
                        response_headers: mutations(),
                        host_rewrite: Some(st("cluster.example")),
                        per_filter: vec![(
                            str("envoy.filters.http.lua"),
                            s(PerFilter::Lua {
                                script: str("named.lua"),
                                context: vec![(str("a"), Json::Bool(true))],
                                context_also: Also::default(),
                            }),
                        )],
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
                path_rewrite: Some(s(PathRewrite::Regex(Box::new(RegexRewrite {
                    pattern: regex("/(.*)"),
                    pattern_also: Also::default(),
                    substitution: str("/x/\\1"),
                })))),
                host_rewrite: Some(s(HostRewrite::Header(head("x-host")))),
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
                scheme: Some(st("https")),
                port: Some(s(8443)),
                https: None,
            })),
        )
    };
    let to = |path| {
        RouteAction::Redirect(Box::new(Redirect {
            path: Some(s(path)),
            https: Some(s(true)),
            code: Some(s(RedirectCode::MovedPermanently)),
            ..Redirect::default()
        }))
    };
    let by_segment = Route {
        matcher: RouteMatch { path: s(PathMatch::PathSeparatedPrefix(str("/seg"))), ..RouteMatch::default() },
        ..route("", to(RedirectPath::Prefix(str("/new"))))
    };
    let pattern = RegexRewrite { pattern: Regex { max_program_size: None, ..regex("a") }, pattern_also: Also::default(), substitution: str("b") };
    [
        rich,
        weighted,
        by_regex,
        by_path,
        by_segment,
        route("/redirect", to(RedirectPath::Regex(pattern))),
        route("/respond", RouteAction::Respond(DirectResponse { status: s(StatusCode::fixed(418)), body: Some(st("teapot\n")) })),
        route("/", RouteAction::Forward(forward("dns").into())),
    ]
    .map(Arc::new)
    .into()
}

fn filters() -> Vec<Arc<HttpFilter>> {
    let match_name = |name: &str| s(NameMatch { name: StringMatch::Exact(str(name)), ignore_case: true });
    let range = |source, address: &str, prefix_length| s(IpRange { source, address: str(address), prefix_length });
    let stats = GrpcStats { methods: GrpcStatsMethods::These(vec![s((str("p.S"), vec![str("M")]))]), upstream: s(true), filter_state: true };
    let authz = |transport| {
        HttpFilterKind::ExtAuthz(ExtAuthz {
            transport,
            cluster: st("dns"),
            timeout: Some(ms(5000)),
            include_peer_certificate: true,
            clear_route_cache: true,
            body: Some(s(Body { max_bytes: Some(s(4096)), allow_partial: Some(s(true)), pack_as_bytes: Some(s(true)) })),
            failure_mode_allow: Some(s(true)),
            status_on_error: Some(s(StatusCode::fixed(503))),
        })
    };
    let http = AuthorizationTransport::Http {
        uri: str("http://auth"),
        path_prefix: Some(st("/extauth")),
        allowed_request_headers: vec![match_name("authorization"), match_name("cookie")],
        allowed_upstream_headers: vec![match_name("set-cookie")],
        allowed_client_headers: vec![match_name("location"), match_name("set-cookie")],
        headers_to_add: vec![s((str("l5d-dst-override"), str("auth:80")))],
    };
    [
        ("envoy.filters.http.cors", HttpFilterKind::Cors),
        ("envoy.filters.http.grpc_web", HttpFilterKind::GrpcWeb),
        ("envoy.filters.http.grpc_http1_bridge", HttpFilterKind::GrpcHttp1Bridge),
        ("envoy.filters.http.grpc_stats", HttpFilterKind::GrpcStats(stats)),
        ("all", HttpFilterKind::GrpcStats(GrpcStats { methods: GrpcStatsMethods::All(s(true)), upstream: s(false), filter_state: false })),
        ("envoy.filters.http.lua", HttpFilterKind::Lua(LuaScripts { default: Some(st("function envoy_on_request(handle) end")), named: vec![] })),
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
                compression: s(Compression::Gzip),
                library: str("envoy.compression.gzip.compressor"),
            }),
        ),
        ("envoy.filters.http.buffer", HttpFilterKind::Buffer(s(5_242_880))),
        (
            "envoy.filters.http.rbac",
            HttpFilterKind::Rbac(Some(Rbac {
                action: RbacAction::Deny,
                policy: str("ip/deny"),
                principals: vec![range(IpSource::Remote, "10.0.0.0", 8), range(IpSource::Peer, "::1", 128)],
            })),
        ),
        (
            "allow",
            HttpFilterKind::Rbac(Some(Rbac {
                action: RbacAction::Allow,
                policy: str("allow"),
                principals: vec![range(IpSource::Peer, "10.0.0.0", 0)],
            })),
        ),
        ("envoy.filters.http.ext_authz", authz(http)),
        ("grpc-authz", authz(AuthorizationTransport::Grpc { authority: Some(st("auth.example")) })),
        (
            "envoy.filters.http.ratelimit",
            HttpFilterKind::RateLimit(RateLimitService {
                domain: st("ambassador"),
                cluster: st("dns"),
                authority: Some(st("limits.example")),
                request_type: Some(str("both")),
                timeout: Some(ms(20)),
                x_ratelimit_headers: Some(s(true)),
                failure_mode_deny: s(true),
                resource_exhausted: s(true),
            }),
        ),
        ("envoy.filters.http.health_check", HttpFilterKind::HealthCheck { path: str("/ready") }),
        ("named", HttpFilterKind::Lua(LuaScripts { default: None, named: vec![(str("named.lua"), st("function envoy_on_response(handle) end"))] })),
        ("envoy.filters.http.local_ratelimit", HttpFilterKind::LocalRateLimit(local_limit())),
        (
            "envoy.filters.http.jwt_authn",
            HttpFilterKind::Jwt(vec![s(JwtProvider {
                name: st("issuer"),
                issuer: Some(st("issuer.example")),
                audiences: vec![st("aud")],
                forward: s(true),
                jwks: Jwks::Remote { uri: st("https://jwt.example/jwks"), cluster: st("dns"), timeout: ms(1000), cache: Some(ms(60000)) },
            })]),
        ),
        ("brotli", HttpFilterKind::Compressor(Compressor { compression: s(Compression::Brotli), library: str("brotli"), ..Compressor::default() })),
        ("envoy.filters.http.router", HttpFilterKind::Router { start_child_span: Some(s(true)), suppress_envoy_headers: Some(s(true)) }),
    ]
    .map(|(name, kind)| Arc::new(HttpFilter { name: str(name), kind, origins: vec![origin(3)] }))
    .into()
}

fn local_limit() -> LocalRateLimit {
    LocalRateLimit {
        stat_prefix: str("local"),
        bucket: Some(TokenBucket { max_tokens: s(10), tokens_per_fill: s(5), fill_interval: ms(1000) }),
        status: Some(s(StatusCode::fixed(503))),
        response_headers: HeaderMutations { add: vec![add("x-limited", "yes", AppendAction::Overwrite)], remove: vec![] },
    }
}

fn access_logs() -> Vec<Sourced<AccessLog>> {
    let file = |format| {
        let formatters = match &format {
            AccessLogFormat::Text(_) => vec![s(Formatter::Metadata), s(Formatter::ReqWithoutQuery)],
            AccessLogFormat::Json(_) | AccessLogFormat::TypedJson(_) => vec![],
        };
        s(AccessLog {
            name: str("envoy.access_loggers.file"),
            filter: Some(s(AccessLogFilter::Failures { status: 500, runtime_key: str("log.status") })),
            sink: AccessLogSink::File(FileAccessLog { path: st("/dev/null"), format: Some(s(format)), omit_empty: false, formatters }),
        })
    };
    let grpc = |kind, name: &str| {
        s(AccessLog {
            name: str(name),
            filter: None,
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
        routes: routes.to_vec().into(),
        response_headers: mutations(),
        per_filter: vec![
            (str("envoy.filters.http.local_ratelimit"), s(PerFilter::LocalRateLimit(local_limit()))),
            (str("envoy.filters.http.ratelimit"), s(PerFilter::HostRateLimits(HostRateLimits::Include))),
            (str("envoy.filters.http.jwt_authn"), s(PerFilter::Jwt(str("issuer")))),
        ],
        rate_limits: vec![s(RateLimitDescriptor { stage: None, actions: vec![s(RateLimitAction::RemoteAddress)] })],
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
            absent: false,
        },
        filters: filters(),
        access_logs: access_logs(),
        normalize_path: Some(s(true)),
        merge_slashes: Some(s(true)),
        reject_escaped_slashes: Some(s(true)),
        strip_matching_host_port: Some(s(true)),
        use_remote_address: Some(s(true)),
        xff_num_trusted_hops: Some(s(1)),
        strip_trailing_host_dot: Some(s(true)),
        server_name: Some(st("envoy")),
        server_header_transformation: Some(st("APPEND_IF_ABSENT")),
        common_options_even_empty: false,
        idle_timeout: Some(ms(30000)),
        max_connection_duration: Some(ms(60000)),
        max_requests_per_connection: Some(s(100)),
        request_timeout: Some(ms(10000)),
        stream_idle_timeout: Some(ms(20000)),
        drain_timeout: Some(ms(5000)),
        delayed_close_timeout: Some(ms(1000)),
        upgrades: vec![st("websocket")],
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
            max_path_tag_length: Some(s(256)),
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
    s(CertificateSource::Secret(SecretReference { holder: Holder::Secret, namespace: str("default"), name: str(name), part }))
}

pub fn certificate(name: &str) -> Sourced<Certificate> {
    let (chain, key) = (secret(name, SecretPart::Certificate), secret(name, SecretPart::PrivateKey));
    s(Certificate { chain: Some(chain), key: Some(key), ..Certificate::default() })
}

pub fn parameters() -> TlsParameters {
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
            ..ValidationContext::default()
        })),
        require_client_certificate: Some(s(true)),
        parameters: parameters(),
        alpn: vec![st("h2"), st("http/1.1")],
    })
}

fn listener(name: &str, port: u16, protocol: SocketProtocol, filters: &[ListenerFilter], chains: Vec<FilterChain>) -> Arc<Listener> {
    Arc::new(Listener {
        name: st(name),
        address: Address { address: st("127.0.0.1"), port: s(port), protocol, ..Address::default() },
        filters: filters.iter().map(|filter| s(filter.clone())).collect(),
        chains,
        per_connection_buffer_limit: Some(s(65536)),
        socket_options: vec![s(SocketOption { description: str("keepalive"), level: 1, name: 9, value: 1 })],
        exact_balance: (protocol == SocketProtocol::Tcp).then(|| s(())),
        max_connections_per_event: Some(s(4)),
        ignore_global_limit: true,
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
        clusters: clusters.iter().map(|name| WeightedCluster { name: st(name), weight: s(50), ..WeightedCluster::default() }).collect(),
        idle_timeout: Some(ms(60000)),
        access_logs: access_logs().into_iter().take(1).collect(),
    })
}

fn bootstrap() -> Bootstrap {
    Bootstrap {
        node_cluster: str("ambassador-default"),
        node_id: str("test-id"),
        admin: Some(Admin { address: s(EndpointAddress::socket("127.0.0.1", 8001)), access_log_path: str("/dev/null") }),
        runtime: vec![RuntimeLayer {
            name: str("static_layer"),
            values: vec![(str("re2.max_program_size.error_level"), s(Json::Number(200.0))), (str("flag"), s(Json::Bool(false)))],
        }],
        pod_files: Vec::new(),
        xds_cluster: Some(XdsCluster {
            name: str("xds_cluster"),
            assignment_name: str("cluster_127_0_0_1_8003"),
            address: EndpointAddress::socket("127.0.0.1", 8003),
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

/// Builds a gateway that uses every feature of the IR.
pub fn rich(spelling: Spelling) -> Ir {
    let routes = routes();
    let http = |name: &str| NetworkFilter::Http(manager(name, &routes, None));
    let tls = [ListenerFilter::ProxyProtocol, ListenerFilter::TlsInspector { ja3: Some(s(true)), ja4: Some(s(true)) }];
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
        tables: vec![Arc::new(RouteConfiguration { name: str("alone"), ..RouteConfiguration::default() })],
        certificates: vec![],
        delivery: EnvoyDelivery {
            identity: None,
            config_source: ConfigSource::Aggregated,
            runtimes: vec![RuntimeLayer { name: str("dynamic"), values: vec![(str("a/b"), s(Json::String(str("~"))))] }],
            bootstrap: bootstrap(),
            spelling,
            verbatim: Default::default(),
        },
    }
}

/// The spelling with every older form.
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
    rbac_or_ids: true,
    ext_authz_version_of_http: true,
};
