//! Defines the typed specs of getambassador.io kinds for the compiler: v3alpha1, normalized by `kinds/`.
//!
//! Contains only fields with an effect. For their meaning see the schemas in `kinds/`. Field names are the reference's.

pub mod decode;

use alloc::boxed::Box;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_text::{Node, Str};
pub use decode::TextOrList;
use decode::spec;
pub use decode::{Decode, Decoder, Map, Wrong};

type List<T> = Vec<Sourced<T>>;

/// A header that is added: a value and whether it is appended. The untyped Module and Knative write the value alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddedHeader {
    pub value: Option<Sourced<Str>>,
    pub append: Option<Sourced<bool>>,
}

impl Decode for AddedHeader {
    const EXPECTED: &'static str = "object";
    fn decode(node: &Node, decoder: &mut Decoder<'_>) -> Option<Self> {
        if node.as_str().is_some() {
            return Some(Self { value: decoder.read(node), append: None });
        }
        node.as_object()?;
        let field = |name: &str| node.get(name).cloned();
        let (value, append) = (field("value"), field("append"));
        Some(Self { value: value.and_then(|node| decoder.read(&node)), append: append.and_then(|node| decoder.read(&node)) })
    }
}

spec! {
    pub struct Mapping with RareMapping {
        prefix: Str,
        prefix_regex: bool,
        prefix_exact: bool,
        service: Str,
        add_request_headers: Map<AddedHeader>,
        case_sensitive: bool,
        method: Str,
        precedence: i64,
        rewrite: Str,
        timeout_ms: i64,
        weight: i64,
        host: Str,
        host_regex: bool,
        hostname: Str,
        headers: Map<Str>,
        regex_headers: Map<Str>,
        query_parameters: Map<Str>,
    }

    /// Fields that few Mappings have.
    pub struct RareMapping {
        add_response_headers: Map<AddedHeader>,
        add_linkerd_headers: bool,
        auto_host_rewrite: bool,
        dns_type: Str,
        enable_ipv4: bool,
        enable_ipv6: bool,
        circuit_breakers: List<CircuitBreaker>,
        keepalive: Box<KeepAlive>,
        cors: Box<Cors>,
        retry_policy: Box<RetryPolicy>,
        respect_dns_ttl: bool,
        grpc: bool,
        host_redirect: bool,
        host_rewrite: Str,
        method_regex: bool,
        outlier_detection: Str,
        path_redirect: Str,
        prefix_redirect: Str,
        regex_redirect: Box<RegexMap>,
        redirect_response_code: i64,
        priority: Str,
        cluster_tag: Str,
        remove_request_headers: List<Str>,
        remove_response_headers: List<Str>,
        resolver: Str,
        regex_rewrite: Box<RegexMap>,
        shadow: bool,
        connect_timeout_ms: i64,
        cluster_idle_timeout_ms: i64,
        cluster_max_connection_lifetime_ms: i64,
        idle_timeout_ms: i64,
        tls: Str,
        health_checks: List<HealthCheck>,
        use_websocket: bool,
        allow_upgrade: List<Str>,
        bypass_auth: bool,
        auth_context_extensions: Map<Str>,
        error_response_overrides: Node,
        labels: Map<List<Map<List<LabelSpecifier>>>>,
        load_balancer: Box<LoadBalancer>,
        regex_query_parameters: Map<Str>,
        stats_name: Str,
    }

    pub struct RegexMap {
        pattern: Str,
        substitution: Str,
    }

    pub struct CircuitBreaker {
        priority: Str,
        max_connections: i64,
        max_pending_requests: i64,
        max_requests: i64,
        max_retries: i64,
    }

    pub struct KeepAlive {
        probes: i64,
        time: i64,
        idle_time: i64,
        interval: i64,
    }

    pub struct Cors {
        origins: TextOrList,
        methods: TextOrList,
        headers: TextOrList,
        credentials: bool,
        exposed_headers: TextOrList,
        max_age: Str,
    }

    pub struct RetryPolicy {
        retry_on: Str,
        num_retries: i64,
        per_try_timeout: Str,
    }

    pub struct LoadBalancer {
        policy: Str,
        cookie: LoadBalancerCookie,
        header: Str,
        source_ip: bool,
    }

    pub struct LoadBalancerCookie {
        name: Str,
        path: Str,
        ttl: Str,
    }

    pub struct LabelSpecifier {
        source_cluster: Node,
        destination_cluster: Node,
        remote_address: Node,
        generic_key: GenericKey,
        request_headers: RequestHeaderLabel,
    }

    pub struct GenericKey {
        key: Str,
        value: Str,
    }

    pub struct RequestHeaderLabel {
        key: Str,
        header_name: Str,
        omit_if_not_present: bool,
    }

    pub struct HealthCheck {
        timeout: Str,
        interval: Str,
        unhealthy_threshold: i64,
        healthy_threshold: i64,
        health_check: HealthCheckLocation,
    }

    pub struct HealthCheckLocation {
        http: HttpHealthCheck,
        grpc: GrpcHealthCheck,
    }

    pub struct HttpHealthCheck {
        path: Str,
        hostname: Str,
        add_request_headers: Map<AddedHeader>,
        remove_request_headers: List<Str>,
        expected_statuses: List<StatusRange>,
    }

    pub struct StatusRange {
        min: i64,
        max: i64,
    }

    pub struct GrpcHealthCheck {
        upstream_name: Str,
        authority: Str,
    }

    pub struct TcpMapping {
        port: i64,
        host: Str,
        address: Str,
        service: Str,
        enable_ipv4: bool,
        enable_ipv6: bool,
        circuit_breakers: List<CircuitBreaker>,
        idle_timeout_ms: Str,
        resolver: Str,
        tls: Str,
        weight: i64,
        cluster_tag: Str,
        stats_name: Str,
    }

    pub struct Host {
        hostname: Str,
        selector: LabelSelector,
        mapping_selector = "mappingSelector": LabelSelector,
        acme_provider = "acmeProvider": AcmeProvider,
        tls_secret = "tlsSecret": SecretReference,
        request_policy = "requestPolicy": RequestPolicy,
        tls_context = "tlsContext": LocalReference,
        tls: TlsConfig,
    }

    pub struct LabelSelector {
        match_labels = "matchLabels": Map<Str>,
        match_expressions = "matchExpressions": Node,
    }

    pub struct AcmeProvider {
        authority: Str,
        private_key_secret = "privateKeySecret": LocalReference,
    }

    pub struct LocalReference {
        name: Str,
    }

    pub struct SecretReference {
        name: Str,
        namespace: Str,
    }

    pub struct RequestPolicy {
        insecure: InsecurePolicy,
    }

    pub struct InsecurePolicy {
        action: Str,
        additional_port = "additionalPort": i64,
    }

    /// TLS settings, of a Host or of a TLSContext.
    pub struct TlsConfig {
        hosts: List<Str>,
        secret: Str,
        cert_chain_file: Str,
        private_key_file: Str,
        ca_secret: Str,
        cacert_chain_file: Str,
        crl_secret: Str,
        crl_file: Str,
        alpn_protocols: Str,
        cert_required: bool,
        min_tls_version: Str,
        max_tls_version: Str,
        cipher_suites: List<Str>,
        ecdh_curves: List<Str>,
        secret_namespacing: bool,
        redirect_cleartext_from: i64,
        sni: Str,
    }

    pub struct Listener {
        port: i64,
        protocol: Str,
        protocol_stack = "protocolStack": List<Str>,
        security_model = "securityModel": Str,
        stats_prefix = "statsPrefix": Str,
        l7_depth = "l7Depth": i64,
        http2_max_concurrent_streams = "http2MaxConcurrentStreams": i64,
        host_binding = "hostBinding": HostBinding,
    }

    pub struct HostBinding {
        namespace: NamespaceBinding,
        selector: LabelSelector,
    }

    pub struct NamespaceBinding {
        from: Str,
    }

    pub struct AuthService {
        auth_service: Str,
        path_prefix: Str,
        tls: Str,
        proto: Str,
        timeout_ms: i64,
        allowed_request_headers: List<Str>,
        allowed_authorization_headers: List<Str>,
        add_auth_headers: Map<Str>,
        allow_request_body: bool,
        add_linkerd_headers: bool,
        failure_mode_allow: bool,
        include_body: IncludeBody,
        status_on_error: StatusOnError,
        protocol_version: Str,
        stats_name: Str,
        circuit_breakers: List<CircuitBreaker>,
    }

    pub struct IncludeBody {
        max_bytes: i64,
        allow_partial: bool,
    }

    pub struct StatusOnError {
        code: i64,
    }

    pub struct RateLimitService {
        service: Str,
        timeout_ms: i64,
        domain: Str,
        tls: Str,
        protocol_version: Str,
        stats_name: Str,
        failure_mode_deny: bool,
        grpc: RateLimitGrpc,
    }

    pub struct RateLimitGrpc {
        rate_limited_as_resource_exhausted: bool,
    }

    pub struct LogService {
        service: Str,
        protocol_version: Str,
        driver: Str,
        driver_config: LogDriverConfig,
        flush_interval_time: i64,
        flush_interval_byte_size: i64,
        grpc: bool,
        stats_name: Str,
    }

    pub struct LogDriverConfig {
        additional_log_headers: List<AdditionalLogHeader>,
    }

    pub struct AdditionalLogHeader {
        header_name: Str,
        during_request: bool,
        during_response: bool,
        during_trailer: bool,
    }

    pub struct TracingService {
        driver: Str,
        service: Str,
        sampling: TraceSampling,
        custom_tags: List<TracingCustomTag>,
        config: TraceConfig,
        stats_name: Str,
    }

    pub struct TraceSampling {
        client: i64,
        random: i64,
        overall: i64,
    }

    pub struct TraceConfig {
        collector_endpoint: Str,
        collector_endpoint_version: Str,
        collector_hostname: Str,
        trace_id_128bit: bool,
        shared_span_context: bool,
        service_name: Str,
    }

    pub struct TracingCustomTag {
        tag: Str,
        literal: TagLiteral,
        environment: TagSource,
        request_header: TagSource,
    }

    pub struct TagLiteral {
        value: Str,
    }

    pub struct TagSource {
        name: Str,
        default_value: Str,
    }

    pub struct ConsulResolver {
        address: Str,
        datacenter: Str,
    }

    /// The `ambassador` Module's `config`.
    pub struct AmbassadorModule {
        add_linkerd_headers: bool,
        admin_port: i64,
        allow_chunked_length: bool,
        buffer: Buffer,
        buffer_limit_bytes: i64,
        circuit_breakers: List<CircuitBreaker>,
        cluster_idle_timeout_ms: i64,
        cluster_max_connection_lifetime_ms: i64,
        cluster_request_timeout_ms: i64,
        cors: Box<Cors>,
        debug_mode: bool,
        default_label_domain: Str,
        default_labels: Map<DefaultLabels>,
        defaults: Node,
        diagnostics: Probe,
        enable_grpc_http11_bridge: Node,
        enable_grpc_web: Node,
        enable_http10: bool,
        enable_ipv4: bool,
        enable_ipv6: bool,
        envoy_log_format: Node,
        envoy_log_path: Str,
        envoy_log_type: Str,
        envoy_validation_timeout: Node,
        error_response_overrides: Node,
        forward_client_cert_details: Str,
        grpc_stats: GrpcStats,
        gzip: Gzip,
        header_case_overrides: Node,
        headers_with_underscores_action: Str,
        ip_allow: List<Map<Str>>,
        ip_deny: List<Map<Str>>,
        keepalive: Box<KeepAlive>,
        listener_idle_timeout_ms: i64,
        liveness_probe: Probe,
        load_balancer: Box<LoadBalancer>,
        lua_scripts: Str,
        max_request_headers_kb: i64,
        merge_slashes: Node,
        preserve_external_request_id: bool,
        proper_case: bool,
        readiness_probe: Probe,
        regex_max_size: Node,
        reject_requests_with_escaped_slashes: Node,
        resolver: Str,
        retry_policy: Box<RetryPolicy>,
        runtime_flags: Map<Node>,
        server_name: Str,
        service_port: i64,
        set_current_client_cert_details: Map<Node>,
        strip_matching_host_port: Node,
        suppress_envoy_headers: Node,
        tls: Node,
        use_ambassador_namespace_for_service_resolution: bool,
        use_proxy_proto: bool,
        use_remote_address: bool,
        x_forwarded_proto_redirect: bool,
        xff_num_trusted_hops: i64,
    }

    pub struct Buffer {
        max_request_bytes: i64,
        max_request_time: Node,
    }

    pub struct DefaultLabels {
        defaults: List<LabelSpecifier>,
    }

    pub struct Probe {
        enabled: bool,
        prefix: Str,
        rewrite: Str,
        service: Str,
    }

    pub struct GrpcStats {
        all_methods: Node,
        services: List<GrpcStatsService>,
        upstream_stats: Node,
    }

    pub struct GrpcStatsService {
        name: Str,
        method_names: List<Str>,
    }

    pub struct Gzip {
        memory_level: i64,
        min_content_length: i64,
        compression_level: Str,
        compression_strategy: Str,
        window_bits: i64,
        content_type: List<Str>,
        disable_on_etag_header: bool,
        remove_accept_encoding_header: bool,
        enabled: bool,
    }

    /// The fields that the Module's `defaults` can set for Mappings.
    pub struct MappingDefaults {
        add_request_headers: Map<AddedHeader>,
        add_response_headers: Map<AddedHeader>,
        remove_request_headers: List<Str>,
        remove_response_headers: List<Str>,
        stats_name: Str,
    }
}
