//! The fields of registrations: of a service in a definition file, and of a node with a service in the catalog.
//!
//! Definition files use lower case with `_`, the catalog uses the written names. Both are read into the same fields.

use super::entries::{ACCESS_LOGS_CONFIG, ENVOY_EXTENSION};
use super::{Struct, Type, null, omit, some, zero};

/// A service in the catalog's form.
pub(crate) static SERVICE: Struct = Struct(&[
    omit("Kind", "", Type::Text),
    zero("ID", "", Type::Text),
    zero("Service", "", Type::Text),
    zero("Tags", "", Type::List(&Type::Text)),
    zero("Address", "", Type::Text),
    omit("TaggedAddresses", "", Type::Map(&Type::Struct(&SERVICE_ADDRESS))),
    zero("Meta", "", Type::Map(&Type::Text)),
    omit("Port", "", Type::Int),
    omit("SocketPath", "", Type::Text),
    null("Weights", "", Type::Struct(&WEIGHTS)),
    zero("EnableTagOverride", "", Type::Bool),
    some("Locality", "", Type::Struct(&LOCALITY)),
    zero("Proxy", "", Type::Struct(&PROXY)),
    zero("Connect", "", Type::Struct(&CONNECT)),
    zero("PeerName", "", Type::Text),
]);

pub(crate) static SERVICE_ADDRESS: Struct = Struct(&[zero("Address", "address", Type::Text), zero("Port", "port", Type::Int)]);

pub(crate) static WEIGHTS: Struct = Struct(&[zero("Passing", "passing", Type::Int), zero("Warning", "warning", Type::Int)]);

pub(crate) static LOCALITY: Struct = Struct(&[omit("Region", "region", Type::Text), omit("Zone", "zone", Type::Text)]);

static CONNECT: Struct = Struct(&[omit("Native", "", Type::Bool)]);

/// The proxy settings of a registration.
pub(crate) static PROXY: Struct = Struct(&[
    omit("EnvoyExtensions", "envoy_extensions", Type::List(&Type::Struct(&ENVOY_EXTENSION))),
    omit("DestinationServiceName", "destination_service_name", Type::Text),
    omit("DestinationServiceID", "destination_service_id", Type::Text),
    omit("LocalServiceAddress", "local_service_address", Type::Text),
    omit("LocalServicePort", "local_service_port", Type::Int),
    omit("LocalServiceSocketPath", "local_service_socket_path", Type::Text),
    zero("Mode", "", Type::Text),
    omit("Config", "", Type::Opaque),
    omit("Upstreams", "", Type::List(&Type::Struct(&UPSTREAM))),
    zero("MeshGateway", "mesh_gateway", Type::Struct(&MESH_GATEWAY)),
    zero("Expose", "", Type::Struct(&EXPOSE)),
    omit("TransparentProxy", "transparent_proxy", Type::Struct(&TRANSPARENT_PROXY)),
    omit("AccessLogs", "access_logs", Type::Struct(&ACCESS_LOGS_CONFIG)),
]);

static UPSTREAM: Struct = Struct(&[
    zero("DestinationType", "destination_type", Type::Text),
    omit("DestinationNamespace", "destination_namespace", Type::Text),
    omit("DestinationPartition", "destination_partition", Type::Text),
    omit("DestinationPeer", "destination_peer", Type::Text),
    zero("DestinationName", "destination_name", Type::Text),
    zero("Datacenter", "", Type::Text),
    omit("LocalBindAddress", "local_bind_address", Type::Text),
    omit("LocalBindPort", "local_bind_port", Type::Int),
    omit("LocalBindSocketPath", "local_bind_socket_path", Type::Text),
    omit("LocalBindSocketMode", "local_bind_socket_mode", Type::Text),
    omit("Config", "", Type::Opaque),
    zero("MeshGateway", "mesh_gateway", Type::Struct(&MESH_GATEWAY)),
    omit("CentrallyConfigured", "centrally_configured", Type::Bool),
]);

static MESH_GATEWAY: Struct = Struct(&[omit("Mode", "mode", Type::Text)]);

static TRANSPARENT_PROXY: Struct =
    Struct(&[omit("OutboundListenerPort", "outbound_listener_port", Type::Int), omit("DialedDirectly", "dialed_directly", Type::Bool)]);

static EXPOSE: Struct = Struct(&[omit("Checks", "checks", Type::Bool), omit("Paths", "paths", Type::List(&Type::Struct(&EXPOSE_PATH)))]);

static EXPOSE_PATH: Struct = Struct(&[
    omit("ListenerPort", "listener_port", Type::Int),
    omit("Path", "path", Type::Text),
    omit("LocalPathPort", "local_path_port", Type::Int),
    omit("Protocol", "protocol", Type::Text),
    omit("ParsedFromCheck", "parsed_from_check", Type::Bool),
]);

/// A registration in the catalog.
pub(crate) static CATALOG: Struct = Struct(&[
    zero("ID", "", Type::Text),
    zero("Node", "", Type::Text),
    zero("Address", "", Type::Text),
    zero("Datacenter", "", Type::Text),
    zero("TaggedAddresses", "", Type::Map(&Type::Text)),
    zero("NodeMeta", "", Type::Map(&Type::Text)),
    some("Locality", "", Type::Struct(&LOCALITY)),
    some("Service", "", Type::Struct(&CATALOG_SERVICE)),
    some("Check", "", Type::Struct(&CATALOG_CHECK)),
    zero("Checks", "", Type::List(&Type::Struct(&CATALOG_CHECK))),
    zero("SkipNodeUpdate", "", Type::Bool),
    zero("PeerName", "", Type::Text),
    zero("Token", "", Type::Text),
]);

static CATALOG_SERVICE: Struct = Struct(&[
    omit("Kind", "", Type::Text),
    zero("ID", "", Type::Text),
    zero("Service", "", Type::Text),
    zero("Tags", "", Type::List(&Type::Text)),
    zero("Address", "", Type::Text),
    omit("TaggedAddresses", "", Type::Map(&Type::Struct(&SERVICE_ADDRESS))),
    zero("Meta", "", Type::Map(&Type::Text)),
    omit("Port", "", Type::Int),
    omit("SocketPath", "", Type::Text),
    some("Weights", "", Type::Struct(&WEIGHTS)),
    zero("EnableTagOverride", "", Type::Bool),
    some("Locality", "", Type::Struct(&LOCALITY)),
    zero("Proxy", "", Type::Struct(&PROXY)),
    zero("Connect", "", Type::Struct(&CATALOG_CONNECT)),
    zero("PeerName", "", Type::Text),
    omit("CreateIndex", "", Type::Int),
    omit("ModifyIndex", "", Type::Int),
]);

/// The catalog ignores a sidecar.
static CATALOG_CONNECT: Struct = Struct(&[omit("Native", "", Type::Bool), some("SidecarService", "sidecar_service", Type::Opaque)]);

static CATALOG_CHECK: Struct = Struct(&[
    zero("CheckID", "", Type::Text),
    zero("Name", "", Type::Text),
    zero("Status", "", Type::Text),
    zero("Notes", "", Type::Text),
    zero("Output", "", Type::Text),
    zero("ServiceID", "", Type::Text),
    zero("ServiceName", "", Type::Text),
    zero("Node", "", Type::Text),
    zero("ServiceTags", "", Type::List(&Type::Text)),
    zero("Type", "", Type::Text),
    zero("Interval", "", Type::Text),
    zero("Timeout", "", Type::Text),
    omit("ExposedPort", "", Type::Int),
    omit("PeerName", "", Type::Text),
    some("Definition", "", Type::Opaque),
    omit("CreateIndex", "", Type::Int),
    omit("ModifyIndex", "", Type::Int),
]);

/// A service in a definition file: every field is read by its alias.
pub(crate) static DEFINITION: Struct = Struct(&[
    omit("Kind", "kind", Type::Text),
    zero("ID", "id", Type::Text),
    zero("Service", "name", Type::Text),
    zero("Tags", "tags", Type::List(&Type::Text)),
    zero("Address", "address", Type::Text),
    omit("TaggedAddresses", "tagged_addresses", Type::Map(&Type::Struct(&SERVICE_ADDRESS))),
    zero("Meta", "meta", Type::Map(&Type::Text)),
    omit("Port", "port", Type::Int),
    omit("SocketPath", "socket_path", Type::Text),
    some("Check", "check", Type::Struct(&CHECK)),
    zero("Checks", "checks", Type::List(&Type::Struct(&CHECK))),
    zero("Token", "token", Type::Text),
    some("Weights", "weights", Type::Struct(&WEIGHTS)),
    zero("EnableTagOverride", "enable_tag_override", Type::Bool),
    some("Proxy", "proxy", Type::Struct(&DEFINITION_PROXY)),
    some("Connect", "connect", Type::Struct(&DEFINITION_CONNECT)),
]);

static DEFINITION_CONNECT: Struct =
    Struct(&[omit("Native", "native", Type::Bool), some("SidecarService", "sidecar_service", Type::Struct(&DEFINITION))]);

static DEFINITION_PROXY: Struct = Struct(&[
    omit("DestinationServiceName", "destination_service_name", Type::Text),
    omit("DestinationServiceID", "destination_service_id", Type::Text),
    omit("LocalServiceAddress", "local_service_address", Type::Text),
    omit("LocalServicePort", "local_service_port", Type::Int),
    omit("LocalServiceSocketPath", "local_service_socket_path", Type::Text),
    some("TransparentProxy", "transparent_proxy", Type::Struct(&TRANSPARENT_PROXY)),
    zero("Mode", "mode", Type::Text),
    omit("Config", "config", Type::Opaque),
    omit("Upstreams", "upstreams", Type::List(&Type::Struct(&DEFINITION_UPSTREAM))),
    some("MeshGateway", "mesh_gateway", Type::Struct(&MESH_GATEWAY)),
    some("Expose", "expose", Type::Struct(&EXPOSE)),
]);

static DEFINITION_UPSTREAM: Struct = Struct(&[
    omit("DestinationType", "destination_type", Type::Text),
    omit("DestinationNamespace", "destination_namespace", Type::Text),
    omit("DestinationPartition", "destination_partition", Type::Text),
    omit("DestinationPeer", "destination_peer", Type::Text),
    zero("DestinationName", "destination_name", Type::Text),
    omit("Datacenter", "datacenter", Type::Text),
    omit("LocalBindAddress", "local_bind_address", Type::Text),
    omit("LocalBindPort", "local_bind_port", Type::Int),
    omit("LocalBindSocketPath", "local_bind_socket_path", Type::Text),
    omit("LocalBindSocketMode", "local_bind_socket_mode", Type::Text),
    omit("Config", "config", Type::Opaque),
    some("MeshGateway", "mesh_gateway", Type::Struct(&MESH_GATEWAY)),
]);

static CHECK: Struct = Struct(&[
    zero("CheckID", "id", Type::Text),
    zero("Name", "name", Type::Text),
    zero("Notes", "notes", Type::Text),
    zero("ServiceID", "service_id", Type::Text),
    zero("Token", "token", Type::Text),
    zero("Status", "status", Type::Text),
    zero("ScriptArgs", "args", Type::List(&Type::Text)),
    zero("HTTP", "http", Type::Text),
    zero("Header", "header", Type::Map(&Type::List(&Type::Text))),
    zero("Method", "method", Type::Text),
    zero("Body", "body", Type::Text),
    zero("DisableRedirects", "disable_redirects", Type::Bool),
    zero("OutputMaxSize", "output_max_size", Type::Int),
    zero("TCP", "tcp", Type::Text),
    zero("UDP", "udp", Type::Text),
    zero("Interval", "interval", Type::Text),
    zero("DockerContainerID", "docker_container_id", Type::Text),
    zero("Shell", "shell", Type::Text),
    zero("GRPC", "grpc", Type::Text),
    zero("GRPCUseTLS", "grpc_use_tls", Type::Bool),
    zero("TLSServerName", "tls_server_name", Type::Text),
    zero("TLSSkipVerify", "tls_skip_verify", Type::Bool),
    zero("AliasNode", "alias_node", Type::Text),
    zero("AliasService", "alias_service", Type::Text),
    zero("Timeout", "timeout", Type::Text),
    zero("TTL", "ttl", Type::Text),
    zero("H2PING", "h2ping", Type::Text),
    zero("H2PingUseTLS", "h2ping_use_tls", Type::Bool),
    zero("OSService", "os_service", Type::Text),
    zero("SuccessBeforePassing", "success_before_passing", Type::Int),
    zero("FailuresBeforeWarning", "failures_before_warning", Type::Int),
    zero("FailuresBeforeCritical", "failures_before_critical", Type::Int),
    zero("DeregisterCriticalServiceAfter", "deregister_critical_service_after", Type::Text),
]);
