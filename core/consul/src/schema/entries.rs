//! The fields of config entries, as data: their names, types, and how absent ones are written.

use super::{Struct, Type, omit, some, zero};

pub(crate) static SERVICE_DEFAULTS: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    zero("Protocol", "", Type::Text),
    omit("Mode", "", Type::Text),
    zero("TransparentProxy", "transparent_proxy", Type::Struct(&TRANSPARENT_PROXY_CONFIG)),
    omit("MutualTLSMode", "mutual_tls_mode", Type::Text),
    zero("MeshGateway", "mesh_gateway", Type::Struct(&MESH_GATEWAY_CONFIG)),
    zero("Expose", "", Type::Struct(&EXPOSE_CONFIG)),
    omit("ExternalSNI", "external_sni", Type::Text),
    some("UpstreamConfig", "upstream_config", Type::Struct(&UPSTREAM_CONFIGURATION)),
    some("Destination", "", Type::Struct(&DESTINATION_CONFIG)),
    omit("MaxInboundConnections", "max_inbound_connections", Type::Int),
    omit("LocalConnectTimeoutMs", "local_connect_timeout_ms", Type::Int),
    omit("LocalRequestTimeoutMs", "local_request_timeout_ms", Type::Int),
    omit("BalanceInboundConnections", "balance_inbound_connections", Type::Text),
    omit("EnvoyExtensions", "envoy_extensions", Type::List(&Type::Struct(&ENVOY_EXTENSION))),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static PROXY_DEFAULTS: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    zero("Config", "", Type::Opaque),
    omit("Mode", "", Type::Text),
    zero("TransparentProxy", "transparent_proxy", Type::Struct(&TRANSPARENT_PROXY_CONFIG)),
    omit("MutualTLSMode", "mutual_tls_mode", Type::Text),
    zero("MeshGateway", "mesh_gateway", Type::Struct(&MESH_GATEWAY_CONFIG)),
    zero("Expose", "", Type::Struct(&EXPOSE_CONFIG)),
    zero("AccessLogs", "access_logs", Type::Struct(&ACCESS_LOGS_CONFIG)),
    omit("EnvoyExtensions", "envoy_extensions", Type::List(&Type::Struct(&ENVOY_EXTENSION))),
    some("FailoverPolicy", "failover_policy", Type::Struct(&SERVICE_RESOLVER_FAILOVER_POLICY)),
    some("PrioritizeByLocality", "prioritize_by_locality", Type::Struct(&SERVICE_RESOLVER_PRIORITIZE_BY_LOCALITY)),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static SERVICE_ROUTER: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    zero("Routes", "", Type::List(&Type::Struct(&SERVICE_ROUTE))),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static SERVICE_SPLITTER: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    zero("Splits", "", Type::List(&Type::Struct(&SERVICE_SPLIT))),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static SERVICE_RESOLVER: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    omit("DefaultSubset", "default_subset", Type::Text),
    omit("Subsets", "", Type::Map(&Type::Struct(&SERVICE_RESOLVER_SUBSET))),
    some("Redirect", "", Type::Struct(&SERVICE_RESOLVER_REDIRECT)),
    omit("Failover", "", Type::Map(&Type::Struct(&SERVICE_RESOLVER_FAILOVER))),
    some("PrioritizeByLocality", "prioritize_by_locality", Type::Struct(&SERVICE_RESOLVER_PRIORITIZE_BY_LOCALITY)),
    omit("ConnectTimeout", "connect_timeout", Type::DurationText),
    omit("RequestTimeout", "request_timeout", Type::DurationText),
    some("LoadBalancer", "load_balancer", Type::Struct(&LOAD_BALANCER)),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static SERVICE_INTENTIONS: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    zero("Sources", "", Type::List(&Type::Struct(&SOURCE_INTENTION))),
    some("JWT", "", Type::Struct(&INTENTION_JWT_REQUIREMENT)),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static MESH: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("TransparentProxy", "transparent_proxy", Type::Struct(&TRANSPARENT_PROXY_MESH_CONFIG)),
    omit("AllowEnablingPermissiveMutualTLS", "allow_enabling_permissive_mutual_tls", Type::Bool),
    some("TLS", "", Type::Struct(&MESH_TLS_CONFIG)),
    some("HTTP", "", Type::Struct(&MESH_HTTP_CONFIG)),
    some("Peering", "", Type::Struct(&PEERING_MESH_CONFIG)),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static EXPORTED_SERVICES: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    omit("Services", "", Type::List(&Type::Struct(&EXPORTED_SERVICE))),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static JWT_PROVIDER: Struct = Struct(&[
    omit("Kind", "", Type::Text),
    omit("Name", "", Type::Text),
    some("JSONWebKeySet", "json_web_key_set", Type::Struct(&KEY_SET)),
    omit("Issuer", "", Type::Text),
    omit("Audiences", "", Type::List(&Type::Text)),
    omit("Locations", "", Type::List(&Type::Struct(&JWT_LOCATION))),
    some("Forwarding", "", Type::Struct(&JWT_FORWARDING_CONFIG)),
    omit("ClockSkewSeconds", "clock_skew_seconds", Type::Int),
    some("CacheConfig", "cache_config", Type::Struct(&JWT_CACHE_CONFIG)),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static SAMENESS_GROUP: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    omit("DefaultForFailover", "default_for_failover", Type::Bool),
    omit("IncludeLocal", "include_local", Type::Bool),
    zero("Members", "", Type::List(&Type::Struct(&SAMENESS_GROUP_MEMBER))),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static TRANSPARENT_PROXY_CONFIG: Struct =
    Struct(&[omit("OutboundListenerPort", "outbound_listener_port", Type::Int), omit("DialedDirectly", "dialed_directly", Type::Bool)]);

pub(crate) static MESH_GATEWAY_CONFIG: Struct = Struct(&[omit("Mode", "", Type::Text)]);

pub(crate) static EXPOSE_CONFIG: Struct = Struct(&[omit("Checks", "", Type::Bool), omit("Paths", "", Type::List(&Type::Struct(&EXPOSE_PATH)))]);

pub(crate) static UPSTREAM_CONFIGURATION: Struct =
    Struct(&[omit("Overrides", "", Type::List(&Type::Struct(&UPSTREAM_CONFIG))), some("Defaults", "", Type::Struct(&UPSTREAM_CONFIG))]);

pub(crate) static DESTINATION_CONFIG: Struct = Struct(&[omit("Addresses", "", Type::List(&Type::Text)), omit("Port", "", Type::Int)]);

pub(crate) static ENVOY_EXTENSION: Struct = Struct(&[
    zero("Name", "", Type::Text),
    zero("Required", "", Type::Bool),
    zero("Arguments", "", Type::Opaque),
    zero("ConsulVersion", "", Type::Text),
    zero("EnvoyVersion", "", Type::Text),
]);

pub(crate) static ACCESS_LOGS_CONFIG: Struct = Struct(&[
    omit("Enabled", "enabled", Type::Bool),
    omit("DisableListenerLogs", "disable_listener_logs", Type::Bool),
    omit("Type", "type", Type::Text),
    omit("Path", "path", Type::Text),
    omit("JSONFormat", "json_format", Type::Text),
    omit("TextFormat", "text_format", Type::Text),
]);

pub(crate) static SERVICE_RESOLVER_FAILOVER_POLICY: Struct = Struct(&[omit("Mode", "", Type::Text), omit("Regions", "", Type::List(&Type::Text))]);

pub(crate) static SERVICE_RESOLVER_PRIORITIZE_BY_LOCALITY: Struct = Struct(&[omit("Mode", "", Type::Text)]);

pub(crate) static SERVICE_ROUTE: Struct =
    Struct(&[some("Match", "", Type::Struct(&SERVICE_ROUTE_MATCH)), some("Destination", "", Type::Struct(&SERVICE_ROUTE_DESTINATION))]);

pub(crate) static SERVICE_SPLIT: Struct = Struct(&[
    zero("Weight", "", Type::Float),
    omit("Service", "", Type::Text),
    omit("ServiceSubset", "service_subset", Type::Text),
    omit("Namespace", "", Type::Text),
    omit("Partition", "", Type::Text),
    some("RequestHeaders", "request_headers", Type::Struct(&HTTP_HEADER_MODIFIERS)),
    some("ResponseHeaders", "response_headers", Type::Struct(&HTTP_HEADER_MODIFIERS)),
]);

pub(crate) static SERVICE_RESOLVER_SUBSET: Struct = Struct(&[omit("Filter", "", Type::Text), omit("OnlyPassing", "only_passing", Type::Bool)]);

pub(crate) static SERVICE_RESOLVER_REDIRECT: Struct = Struct(&[
    omit("Service", "", Type::Text),
    omit("ServiceSubset", "service_subset", Type::Text),
    omit("Namespace", "", Type::Text),
    omit("Partition", "", Type::Text),
    omit("Datacenter", "", Type::Text),
    omit("Peer", "", Type::Text),
    omit("SamenessGroup", "", Type::Text),
]);

pub(crate) static SERVICE_RESOLVER_FAILOVER: Struct = Struct(&[
    omit("Service", "", Type::Text),
    omit("ServiceSubset", "service_subset", Type::Text),
    omit("Namespace", "", Type::Text),
    omit("Datacenters", "", Type::List(&Type::Text)),
    omit("Targets", "", Type::List(&Type::Struct(&SERVICE_RESOLVER_FAILOVER_TARGET))),
    some("Policy", "", Type::Struct(&SERVICE_RESOLVER_FAILOVER_POLICY)),
    omit("SamenessGroup", "", Type::Text),
]);

pub(crate) static LOAD_BALANCER: Struct = Struct(&[
    omit("Policy", "", Type::Text),
    some("RingHashConfig", "ring_hash_config", Type::Struct(&RING_HASH_CONFIG)),
    some("LeastRequestConfig", "least_request_config", Type::Struct(&LEAST_REQUEST_CONFIG)),
    omit("HashPolicies", "hash_policies", Type::List(&Type::Struct(&HASH_POLICY))),
]);

pub(crate) static SOURCE_INTENTION: Struct = Struct(&[
    zero("Name", "", Type::Text),
    omit("Action", "", Type::Text),
    omit("Permissions", "", Type::List(&Type::Struct(&INTENTION_PERMISSION))),
    zero("Precedence", "", Type::Int),
    omit("LegacyID", "legacy_id", Type::Text),
    zero("Type", "", Type::Text),
    omit("Description", "", Type::Text),
    omit("LegacyMeta", "legacy_meta", Type::Map(&Type::Text)),
    some("LegacyCreateTime", "legacy_create_time", Type::Text),
    some("LegacyUpdateTime", "legacy_update_time", Type::Text),
    omit("Peer", "", Type::Text),
    omit("SamenessGroup", "sameness_group", Type::Text),
]);

pub(crate) static INTENTION_JWT_REQUIREMENT: Struct = Struct(&[omit("Providers", "", Type::List(&Type::Struct(&INTENTION_JWT_PROVIDER)))]);

pub(crate) static TRANSPARENT_PROXY_MESH_CONFIG: Struct = Struct(&[zero("MeshDestinationsOnly", "mesh_destinations_only", Type::Bool)]);

pub(crate) static MESH_TLS_CONFIG: Struct =
    Struct(&[some("Incoming", "", Type::Struct(&MESH_DIRECTIONAL_TLS_CONFIG)), some("Outgoing", "", Type::Struct(&MESH_DIRECTIONAL_TLS_CONFIG))]);

pub(crate) static MESH_HTTP_CONFIG: Struct = Struct(&[zero("SanitizeXForwardedClientCert", "sanitize_x_forwarded_client_cert", Type::Bool)]);

pub(crate) static PEERING_MESH_CONFIG: Struct = Struct(&[zero("PeerThroughMeshGateways", "peer_through_mesh_gateways", Type::Bool)]);

pub(crate) static EXPORTED_SERVICE: Struct =
    Struct(&[zero("Name", "", Type::Text), omit("Namespace", "", Type::Text), omit("Consumers", "", Type::List(&Type::Struct(&SERVICE_CONSUMER)))]);

pub(crate) static KEY_SET: Struct = Struct(&[some("Local", "", Type::Struct(&LOCAL_JWKS)), some("Remote", "", Type::Struct(&REMOTE_JWKS))]);

pub(crate) static JWT_LOCATION: Struct = Struct(&[
    some("Header", "", Type::Struct(&JWT_LOCATION_HEADER)),
    some("QueryParam", "query_param", Type::Struct(&JWT_LOCATION_QUERY_PARAM)),
    some("Cookie", "", Type::Struct(&JWT_LOCATION_COOKIE)),
]);

pub(crate) static JWT_FORWARDING_CONFIG: Struct =
    Struct(&[omit("HeaderName", "header_name", Type::Text), zero("PadForwardPayloadHeader", "pad_forward_payload_header", Type::Bool)]);

pub(crate) static JWT_CACHE_CONFIG: Struct = Struct(&[omit("Size", "", Type::Int)]);

pub(crate) static SAMENESS_GROUP_MEMBER: Struct = Struct(&[omit("Partition", "", Type::Text), omit("Peer", "", Type::Text)]);

pub(crate) static EXPOSE_PATH: Struct = Struct(&[
    omit("ListenerPort", "listener_port", Type::Int),
    omit("Path", "", Type::Text),
    omit("LocalPathPort", "local_path_port", Type::Int),
    omit("Protocol", "", Type::Text),
    omit("ParsedFromCheck", "parsed_from_check", Type::Bool),
]);

pub(crate) static UPSTREAM_CONFIG: Struct = Struct(&[
    omit("Name", "", Type::Text),
    zero("Peer", "", Type::Text),
    omit("EnvoyListenerJSON", "envoy_listener_json", Type::Text),
    omit("EnvoyClusterJSON", "envoy_cluster_json", Type::Text),
    omit("Protocol", "", Type::Text),
    omit("ConnectTimeoutMs", "connect_timeout_ms", Type::Int),
    some("Limits", "", Type::Struct(&UPSTREAM_LIMITS)),
    some("PassiveHealthCheck", "passive_health_check", Type::Struct(&PASSIVE_HEALTH_CHECK)),
    zero("MeshGateway", "mesh_gateway", Type::Struct(&MESH_GATEWAY_CONFIG)),
    omit("BalanceOutboundConnections", "balance_outbound_connections", Type::Text),
]);

pub(crate) static SERVICE_ROUTE_MATCH: Struct = Struct(&[some("HTTP", "", Type::Struct(&SERVICE_ROUTE_HTTP_MATCH))]);

pub(crate) static SERVICE_ROUTE_DESTINATION: Struct = Struct(&[
    omit("Service", "", Type::Text),
    omit("ServiceSubset", "service_subset", Type::Text),
    omit("Namespace", "", Type::Text),
    omit("Partition", "", Type::Text),
    omit("PrefixRewrite", "prefix_rewrite", Type::Text),
    omit("RequestTimeout", "request_timeout", Type::DurationText),
    omit("IdleTimeout", "idle_timeout", Type::DurationText),
    omit("NumRetries", "num_retries", Type::Uint),
    omit("RetryOnConnectFailure", "retry_on_connect_failure", Type::Bool),
    omit("RetryOn", "retry_on", Type::List(&Type::Text)),
    omit("RetryOnStatusCodes", "retry_on_status_codes", Type::List(&Type::Uint)),
    some("RequestHeaders", "request_headers", Type::Struct(&HTTP_HEADER_MODIFIERS)),
    some("ResponseHeaders", "response_headers", Type::Struct(&HTTP_HEADER_MODIFIERS)),
]);

pub(crate) static HTTP_HEADER_MODIFIERS: Struct =
    Struct(&[omit("Add", "", Type::Map(&Type::Text)), omit("Set", "", Type::Map(&Type::Text)), omit("Remove", "", Type::List(&Type::Text))]);

pub(crate) static SERVICE_RESOLVER_FAILOVER_TARGET: Struct = Struct(&[
    omit("Service", "", Type::Text),
    omit("ServiceSubset", "service_subset", Type::Text),
    omit("Partition", "", Type::Text),
    omit("Namespace", "", Type::Text),
    omit("Datacenter", "", Type::Text),
    omit("Peer", "", Type::Text),
]);

pub(crate) static RING_HASH_CONFIG: Struct =
    Struct(&[omit("MinimumRingSize", "minimum_ring_size", Type::Uint), omit("MaximumRingSize", "maximum_ring_size", Type::Uint)]);

pub(crate) static LEAST_REQUEST_CONFIG: Struct = Struct(&[omit("ChoiceCount", "choice_count", Type::Uint)]);

pub(crate) static HASH_POLICY: Struct = Struct(&[
    omit("Field", "", Type::Text),
    omit("FieldValue", "field_value", Type::Text),
    some("CookieConfig", "cookie_config", Type::Struct(&COOKIE_CONFIG)),
    omit("SourceIP", "source_ip", Type::Bool),
    omit("Terminal", "", Type::Bool),
]);

pub(crate) static PASSIVE_HEALTH_CHECK: Struct = Struct(&[
    omit("Interval", "", Type::Duration),
    omit("MaxFailures", "max_failures", Type::Uint),
    some("EnforcingConsecutive5xx", "enforcing_consecutive_5xx", Type::Uint),
    some("MaxEjectionPercent", "max_ejection_percent", Type::Uint),
    some("BaseEjectionTime", "base_ejection_time", Type::Duration),
]);

pub(crate) static INTENTION_PERMISSION: Struct = Struct(&[
    zero("Action", "", Type::Text),
    some("HTTP", "", Type::Struct(&INTENTION_HTTP_PERMISSION)),
    some("JWT", "", Type::Struct(&INTENTION_JWT_REQUIREMENT)),
]);

pub(crate) static INTENTION_JWT_PROVIDER: Struct =
    Struct(&[omit("Name", "", Type::Text), omit("VerifyClaims", "verify_claims", Type::List(&Type::Struct(&INTENTION_JWT_CLAIM_VERIFICATION)))]);

pub(crate) static MESH_DIRECTIONAL_TLS_CONFIG: Struct = Struct(&[
    omit("TLSMinVersion", "tls_min_version", Type::Text),
    omit("TLSMaxVersion", "tls_max_version", Type::Text),
    omit("CipherSuites", "cipher_suites", Type::List(&Type::Text)),
]);

pub(crate) static SERVICE_CONSUMER: Struct =
    Struct(&[omit("Partition", "", Type::Text), omit("Peer", "peer_name", Type::Text), omit("SamenessGroup", "sameness_group", Type::Text)]);

pub(crate) static LOCAL_JWKS: Struct = Struct(&[omit("JWKS", "", Type::Text), omit("Filename", "", Type::Text)]);

pub(crate) static REMOTE_JWKS: Struct = Struct(&[
    omit("URI", "", Type::Text),
    omit("RequestTimeoutMs", "request_timeout_ms", Type::Int),
    omit("CacheDuration", "cache_duration", Type::Duration),
    omit("FetchAsynchronously", "fetch_asynchronously", Type::Bool),
    some("RetryPolicy", "retry_policy", Type::Struct(&JWKS_RETRY_POLICY)),
    some("JWKSCluster", "jwks_cluster", Type::Struct(&JWKS_CLUSTER)),
]);

pub(crate) static JWT_LOCATION_HEADER: Struct =
    Struct(&[omit("Name", "", Type::Text), omit("ValuePrefix", "value_prefix", Type::Text), omit("Forward", "", Type::Bool)]);

pub(crate) static JWT_LOCATION_QUERY_PARAM: Struct = Struct(&[omit("Name", "", Type::Text)]);

pub(crate) static JWT_LOCATION_COOKIE: Struct = Struct(&[omit("Name", "", Type::Text)]);

pub(crate) static UPSTREAM_LIMITS: Struct = Struct(&[
    some("MaxConnections", "max_connections", Type::Int),
    some("MaxPendingRequests", "max_pending_requests", Type::Int),
    some("MaxConcurrentRequests", "max_concurrent_requests", Type::Int),
]);

pub(crate) static SERVICE_ROUTE_HTTP_MATCH: Struct = Struct(&[
    omit("PathExact", "path_exact", Type::Text),
    omit("PathPrefix", "path_prefix", Type::Text),
    omit("PathRegex", "path_regex", Type::Text),
    omit("Header", "", Type::List(&Type::Struct(&SERVICE_ROUTE_HTTP_MATCH_HEADER))),
    omit("QueryParam", "query_param", Type::List(&Type::Struct(&SERVICE_ROUTE_HTTP_MATCH_QUERY_PARAM))),
    omit("Methods", "", Type::List(&Type::Text)),
]);

pub(crate) static COOKIE_CONFIG: Struct = Struct(&[omit("Session", "", Type::Bool), omit("TTL", "", Type::Duration), omit("Path", "", Type::Text)]);

pub(crate) static INTENTION_HTTP_PERMISSION: Struct = Struct(&[
    omit("PathExact", "path_exact", Type::Text),
    omit("PathPrefix", "path_prefix", Type::Text),
    omit("PathRegex", "path_regex", Type::Text),
    omit("Header", "", Type::List(&Type::Struct(&INTENTION_HTTP_HEADER_PERMISSION))),
    omit("Methods", "", Type::List(&Type::Text)),
]);

pub(crate) static INTENTION_JWT_CLAIM_VERIFICATION: Struct = Struct(&[omit("Path", "", Type::List(&Type::Text)), omit("Value", "", Type::Text)]);

pub(crate) static JWKS_RETRY_POLICY: Struct = Struct(&[
    omit("NumRetries", "num_retries", Type::Int),
    some("RetryPolicyBackOff", "retry_policy_back_off", Type::Struct(&RETRY_POLICY_BACK_OFF)),
]);

pub(crate) static JWKS_CLUSTER: Struct = Struct(&[
    omit("DiscoveryType", "discovery_type", Type::Text),
    some("TLSCertificates", "tls_certificates", Type::Struct(&JWKS_CERTIFICATE)),
    omit("ConnectTimeout", "connect_timeout", Type::Duration),
]);

pub(crate) static SERVICE_ROUTE_HTTP_MATCH_HEADER: Struct = Struct(&[
    zero("Name", "", Type::Text),
    omit("Present", "", Type::Bool),
    omit("Exact", "", Type::Text),
    omit("Prefix", "", Type::Text),
    omit("Suffix", "", Type::Text),
    omit("Regex", "", Type::Text),
    omit("Invert", "", Type::Bool),
]);

pub(crate) static SERVICE_ROUTE_HTTP_MATCH_QUERY_PARAM: Struct =
    Struct(&[zero("Name", "", Type::Text), omit("Present", "", Type::Bool), omit("Exact", "", Type::Text), omit("Regex", "", Type::Text)]);

pub(crate) static INTENTION_HTTP_HEADER_PERMISSION: Struct = Struct(&[
    zero("Name", "", Type::Text),
    omit("Present", "", Type::Bool),
    omit("Exact", "", Type::Text),
    omit("Prefix", "", Type::Text),
    omit("Suffix", "", Type::Text),
    omit("Regex", "", Type::Text),
    omit("Invert", "", Type::Bool),
]);

pub(crate) static RETRY_POLICY_BACK_OFF: Struct =
    Struct(&[omit("BaseInterval", "base_interval", Type::Duration), omit("MaxInterval", "max_interval", Type::Duration)]);

pub(crate) static JWKS_CERTIFICATE: Struct = Struct(&[
    some("CaCertificateProviderInstance", "ca_certificate_provider_instance", Type::Struct(&JWKS_PROVIDER_INSTANCE)),
    some("TrustedCA", "trusted_ca", Type::Struct(&JWKS_TRUSTED_CA)),
]);

pub(crate) static JWKS_PROVIDER_INSTANCE: Struct =
    Struct(&[omit("InstanceName", "instance_name", Type::Text), omit("CertificateName", "certificate_name", Type::Text)]);

pub(crate) static JWKS_TRUSTED_CA: Struct = Struct(&[
    omit("Filename", "filename", Type::Text),
    omit("EnvironmentVariable", "environment_variable", Type::Text),
    omit("InlineString", "inline_string", Type::Text),
    omit("InlineBytes", "inline_bytes", Type::Bytes),
]);
