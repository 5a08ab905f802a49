//! The fields of the controller's configuration file, kind `EnvoyGateway` (Envoy Gateway `api/v1alpha1/envoygateway_types.go`). Parts that Kubernetes
//! defines are not listed.

use chancery_base::object;
use chancery_base::schema::{ANY, BOOLEAN, INTEGER, STRING, Schema, array, field};

const LEADER_ELECTION: Schema =
    object![field("leaseDuration", STRING, ""), field("renewDeadline", STRING, ""), field("retryPeriod", STRING, ""), field("disable", BOOLEAN, ""),];
const WATCH: Schema = object![field("type", STRING, ""), field("namespaces", array(&STRING), ""), field("namespaceSelector", ANY, "")];
const CLIENT_RATE_LIMIT: Schema = object![field("qps", INTEGER, ""), field("burst", INTEGER, "")];
const CLIENT: Schema = object![field("rateLimit", CLIENT_RATE_LIMIT, "")];
const DEPLOY: Schema = object![field("type", STRING, "")];
const SHUTDOWN_MANAGER: Schema = object![field("image", STRING, "")];
const TOPOLOGY_INJECTOR: Schema = object![field("disabled", BOOLEAN, "")];
const KUBERNETES: Schema = object![
    field("rateLimitDeployment", ANY, ""),
    field("rateLimitHpa", ANY, ""),
    field("rateLimitPDB", ANY, ""),
    field("deploy", DEPLOY, ""),
    field("shutdownManager", SHUTDOWN_MANAGER, ""),
    field("proxyTopologyInjector", TOPOLOGY_INJECTOR, ""),
    field("watch", WATCH, ""),
    field("leaderElection", LEADER_ELECTION, ""),
    field("client", CLIENT, ""),
    field("cacheSyncPeriod", STRING, ""),
];
const KUBERNETES_RESOURCES: Schema = object![
    field("watch", WATCH, ""),
    field("leaderElection", LEADER_ELECTION, ""),
    field("client", CLIENT, ""),
    field("cacheSyncPeriod", STRING, ""),
];
const FILES: Schema = object![field("paths", array(&STRING), "")];
const RESOURCE: Schema = object![field("type", STRING, ""), field("file", FILES, ""), field("kubernetes", KUBERNETES_RESOURCES, "")];
const HOST: Schema =
    object![field("configHome", STRING, ""), field("dataHome", STRING, ""), field("stateHome", STRING, ""), field("runtimeDir", STRING, "")];
const REMOTE: Schema = object![field("service", ANY, "")];
const INFRASTRUCTURE: Schema = object![field("type", STRING, ""), field("host", HOST, ""), field("remote", REMOTE, "")];
const CUSTOM: Schema = object![field("resource", RESOURCE, ""), field("infrastructure", INFRASTRUCTURE, "")];
const PROVIDER: Schema = object![field("type", STRING, ""), field("kubernetes", KUBERNETES, ""), field("custom", CUSTOM, "")];

const REDIS: Schema = object![field("url", STRING, ""), field("urlRef", ANY, ""), field("tls", ANY, "")];
const RATE_LIMIT_BACKEND: Schema = object![field("type", STRING, ""), field("redis", REDIS, "")];
const RATE_LIMIT_TELEMETRY: Schema = object![field("metrics", ANY, ""), field("tracing", ANY, "")];
const RATE_LIMIT: Schema = object![
    field("backend", RATE_LIMIT_BACKEND, ""),
    field("timeout", STRING, ""),
    field("failClosed", BOOLEAN, ""),
    field("telemetry", RATE_LIMIT_TELEMETRY, ""),
];

const EXTENSION_MANAGER: Schema = object![
    field("name", STRING, ""),
    field("resources", ANY, ""),
    field("policyResources", ANY, ""),
    field("backendResources", ANY, ""),
    field("hooks", ANY, ""),
    field("service", ANY, ""),
    field("failOpen", BOOLEAN, ""),
    field("maxMessageSize", ANY, ""),
];
const EXTENSION_APIS: Schema = object![
    field("enableEnvoyPatchPolicy", BOOLEAN, ""),
    field("enableBackend", BOOLEAN, ""),
    field("disableLua", BOOLEAN, ""),
    field("enableLua", BOOLEAN, ""),
    field("enableSDSSecretRef", BOOLEAN, ""),
];
const GATEWAY: Schema = object![field("controllerName", STRING, "")];
const LOGGING: Schema = object![field("level", ANY, ""), field("encoder", STRING, "")];
const ADMIN_ADDRESS: Schema = object![field("port", INTEGER, ""), field("host", STRING, "")];
const ADMIN: Schema = object![field("address", ADMIN_ADDRESS, ""), field("enableDumpConfig", BOOLEAN, ""), field("enablePprof", BOOLEAN, "")];
const TELEMETRY: Schema = object![field("metrics", ANY, ""), field("traces", ANY, "")];
const XDS_SERVER: Schema =
    object![field("maxConnectionAge", STRING, ""), field("maxConnectionAgeGrace", STRING, ""), field("maxReceiveMessageSize", ANY, "")];
const GATEWAY_API: Schema = object![field("enabled", array(&STRING), "")];
const RUNTIME_FLAGS: Schema = object![field("enabled", array(&STRING), ""), field("disabled", array(&STRING), "")];

/// The whole file.
pub(crate) const CONTROLLER_FILE: Schema = object![
    field("apiVersion", STRING, ""),
    field("kind", STRING, ""),
    field("metadata", ANY, ""),
    field("gateway", GATEWAY, ""),
    field("provider", PROVIDER, ""),
    field("logging", LOGGING, ""),
    field("admin", ADMIN, ""),
    field("telemetry", TELEMETRY, ""),
    field("xdsServer", XDS_SERVER, ""),
    field("rateLimit", RATE_LIMIT, ""),
    field("extensionManager", EXTENSION_MANAGER, ""),
    field("extensionManagers", array(&EXTENSION_MANAGER), ""),
    field("extensionApis", EXTENSION_APIS, ""),
    field("gatewayAPI", GATEWAY_API, ""),
    field("runtimeFlags", RUNTIME_FLAGS, ""),
    field("envoyProxy", ANY, ""),
];
