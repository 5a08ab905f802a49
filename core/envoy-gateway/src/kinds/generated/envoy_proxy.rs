// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::envoy_proxy_parts::{
    AFFINITY, AWS_ELASTIC_BLOCK_STORE, AZURE_DISK, AZURE_FILE, BACKEND_TLS, BOOTSTRAP, CEPHFS, CINDER, CONFIG_MAP, CONTAINER, CSI, DIVISOR,
    DOWNWARD_API, DYNAMIC_MODULES, EMPTY_DIR, ENV_ITEM, EPHEMERAL, FC, FILTER_ORDER_ITEM, FLEX_VOLUME, FLOCKER, GCE_PERSISTENT_DISK, GEO_IP,
    GIT_REPO, GLUSTERFS, HOST_2, HOST_PATH, IMAGE_3, IMAGE_PULL_SECRETS_ITEM, ISCSI, ITEMS_ITEM, LOGGING, LUA, LUA_VALIDATION, MERGE_BACKENDS,
    MERGE_TYPE_4, NFS, PATCH, PERSISTENT_VOLUME_CLAIM, PHOTON_PERSISTENT_DISK, PORTWORX_VOLUME, PROJECTED, QUOBYTE, RBD, RESOURCES, SCALE_IO,
    SECURITY_CONTEXT, SECURITY_CONTEXT_2, SYSCTLS_ITEM, TOLERATIONS_ITEM, TOPOLOGY_SPREAD_CONSTRAINTS, VOLUME_MOUNTS_ITEM,
};
use super::shared::{
    ADD_ITEM_2, BACKEND_REF, BACKEND_REFS_ITEM_4, BACKEND_SETTINGS, BACKOFF, COMPRESSION_ITEM, CUSTOM_TAGS_ENTRY, FRACTION, HEALTH_CHECK_LOG,
    SELECTOR, SPAN_NAME, VALUE_4,
};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, INT_OR_STRING, INTEGER, Literal, STRING, Schema, array, field, map, one_of, rule};

pub const SECRET: Schema = object![
    field("defaultMode", INTEGER.int32(), ""),
    field("items", array(&ITEMS_ITEM), ""),
    field("optional", BOOLEAN, ""),
    field("secretName", STRING, ""),
];
pub const STORAGEOS: Schema = object![
    field("fsType", STRING, ""),
    field("readOnly", BOOLEAN, ""),
    field("secretRef", IMAGE_PULL_SECRETS_ITEM, ""),
    field("volumeName", STRING, ""),
    field("volumeNamespace", STRING, ""),
];
pub const VSPHERE_VOLUME: Schema = object![
    field("fsType", STRING, ""),
    field("storagePolicyID", STRING, ""),
    field("storagePolicyName", STRING, ""),
    field("volumePath", STRING, "").required(),
];
pub const VOLUMES_ITEM: Schema = object![
    field("awsElasticBlockStore", AWS_ELASTIC_BLOCK_STORE, ""),
    field("azureDisk", AZURE_DISK, ""),
    field("azureFile", AZURE_FILE, ""),
    field("cephfs", CEPHFS, ""),
    field("cinder", CINDER, ""),
    field("configMap", CONFIG_MAP, ""),
    field("csi", CSI, ""),
    field("downwardAPI", DOWNWARD_API, ""),
    field("emptyDir", EMPTY_DIR, ""),
    field("ephemeral", EPHEMERAL, ""),
    field("fc", FC, ""),
    field("flexVolume", FLEX_VOLUME, ""),
    field("flocker", FLOCKER, ""),
    field("gcePersistentDisk", GCE_PERSISTENT_DISK, ""),
    field("gitRepo", GIT_REPO, ""),
    field("glusterfs", GLUSTERFS, ""),
    field("hostPath", HOST_PATH, ""),
    field("image", IMAGE_3, ""),
    field("iscsi", ISCSI, ""),
    field("name", STRING, "").required(),
    field("nfs", NFS, ""),
    field("persistentVolumeClaim", PERSISTENT_VOLUME_CLAIM, ""),
    field("photonPersistentDisk", PHOTON_PERSISTENT_DISK, ""),
    field("portworxVolume", PORTWORX_VOLUME, ""),
    field("projected", PROJECTED, ""),
    field("quobyte", QUOBYTE, ""),
    field("rbd", RBD, ""),
    field("scaleIO", SCALE_IO, ""),
    field("secret", SECRET, ""),
    field("storageos", STORAGEOS, ""),
    field("vsphereVolume", VSPHERE_VOLUME, ""),
];
pub const POD: Schema = object![
    field("affinity", AFFINITY, ""),
    field("annotations", map(&STRING), ""),
    field("imagePullSecrets", array(&IMAGE_PULL_SECRETS_ITEM), ""),
    field("labels", map(&STRING), ""),
    field("nodeSelector", map(&STRING), ""),
    field("priorityClassName", STRING, ""),
    field("securityContext", SECURITY_CONTEXT_2, ""),
    field("tolerations", array(&TOLERATIONS_ITEM), ""),
    field("topologySpreadConstraints", TOPOLOGY_SPREAD_CONSTRAINTS, ""),
    field("volumes", array(&VOLUMES_ITEM), ""),
];
pub const ROLLING_UPDATE: Schema = object![field("maxSurge", INT_OR_STRING, ""), field("maxUnavailable", INT_OR_STRING, ""),];
pub const STRATEGY: Schema = object![field("rollingUpdate", ROLLING_UPDATE, ""), field("type", STRING, ""),];
pub const ENVOY_DAEMON_SET: Schema = object![
    field("container", CONTAINER, ""),
    field("name", STRING, ""),
    field("patch", PATCH, ""),
    field("pod", POD, ""),
    field("strategy", STRATEGY, ""),
];
pub const CONFIG_MAP_REF: Schema = object![field("name", STRING.default(Literal::Str("")), ""), field("optional", BOOLEAN, ""),];
pub const ENV_FROM_ITEM: Schema =
    object![field("configMapRef", CONFIG_MAP_REF, ""), field("prefix", STRING, ""), field("secretRef", CONFIG_MAP_REF, ""),];
pub const EXEC: Schema = object![field("command", array(&STRING), ""),];
pub const HTTP_GET: Schema = object![
    field("host", STRING, ""),
    field("httpHeaders", array(&SYSCTLS_ITEM), ""),
    field("path", STRING, ""),
    field("port", INT_OR_STRING, "").required(),
    field("scheme", STRING, ""),
];
pub const SLEEP: Schema = object![field("seconds", INTEGER, "").required(),];
pub const TCP_SOCKET: Schema = object![field("host", STRING, ""), field("port", INT_OR_STRING, "").required(),];
pub const POST_START: Schema =
    object![field("exec", EXEC, ""), field("httpGet", HTTP_GET, ""), field("sleep", SLEEP, ""), field("tcpSocket", TCP_SOCKET, ""),];
pub const LIFECYCLE: Schema = object![field("postStart", POST_START, ""), field("preStop", POST_START, ""), field("stopSignal", STRING, ""),];
pub const GRPC_6: Schema = object![field("port", INTEGER.int32(), "").required(), field("service", STRING.default(Literal::Str("")), ""),];
pub const LIVENESS_PROBE: Schema = object![
    field("exec", EXEC, ""),
    field("failureThreshold", INTEGER.int32(), ""),
    field("grpc", GRPC_6, ""),
    field("httpGet", HTTP_GET, ""),
    field("initialDelaySeconds", INTEGER.int32(), ""),
    field("periodSeconds", INTEGER.int32(), ""),
    field("successThreshold", INTEGER.int32(), ""),
    field("tcpSocket", TCP_SOCKET, ""),
    field("terminationGracePeriodSeconds", INTEGER, ""),
    field("timeoutSeconds", INTEGER.int32(), ""),
];
pub const PORTS_ITEM: Schema = object![
    field("containerPort", INTEGER.int32(), "").required(),
    field("hostIP", STRING, ""),
    field("hostPort", INTEGER.int32(), ""),
    field("name", STRING, ""),
    field("protocol", STRING.default(Literal::Str("TCP")), ""),
];
pub const PORTS: Schema = array(&PORTS_ITEM).keyed_by(&["containerPort", "protocol"]);
pub const RESIZE_POLICY_ITEM: Schema = object![field("resourceName", STRING, "").required(), field("restartPolicy", STRING, "").required(),];
pub const VALUES_ITEM: Schema = INTEGER.int32();
pub const EXIT_CODES: Schema = object![field("operator", STRING, "").required(), field("values", array(&VALUES_ITEM).distinct(), ""),];
pub const RESTART_POLICY_RULES_ITEM: Schema = object![field("action", STRING, "").required(), field("exitCodes", EXIT_CODES, ""),];
pub const VOLUME_DEVICES_ITEM: Schema = object![field("devicePath", STRING, "").required(), field("name", STRING, "").required(),];
pub const VOLUME_DEVICES: Schema = array(&VOLUME_DEVICES_ITEM).keyed_by(&["devicePath"]);
pub const VOLUME_MOUNTS: Schema = array(&VOLUME_MOUNTS_ITEM).keyed_by(&["mountPath"]);
pub const INIT_CONTAINERS_ITEM: Schema = object![
    field("args", array(&STRING), ""),
    field("command", array(&STRING), ""),
    field("env", array(&ENV_ITEM).keyed_by(&["name"]), ""),
    field("envFrom", array(&ENV_FROM_ITEM), ""),
    field("image", STRING, ""),
    field("imagePullPolicy", STRING, ""),
    field("lifecycle", LIFECYCLE, ""),
    field("livenessProbe", LIVENESS_PROBE, ""),
    field("name", STRING, "").required(),
    field("ports", PORTS, ""),
    field("readinessProbe", LIVENESS_PROBE, ""),
    field("resizePolicy", array(&RESIZE_POLICY_ITEM), ""),
    field("resources", RESOURCES, ""),
    field("restartPolicy", STRING, ""),
    field("restartPolicyRules", array(&RESTART_POLICY_RULES_ITEM), ""),
    field("securityContext", SECURITY_CONTEXT, ""),
    field("startupProbe", LIVENESS_PROBE, ""),
    field("stdin", BOOLEAN, ""),
    field("stdinOnce", BOOLEAN, ""),
    field("terminationMessagePath", STRING, ""),
    field("terminationMessagePolicy", STRING, ""),
    field("tty", BOOLEAN, ""),
    field("volumeDevices", VOLUME_DEVICES, ""),
    field("volumeMounts", VOLUME_MOUNTS, ""),
    field("workingDir", STRING, ""),
];
pub const ENVOY_DEPLOYMENT: Schema = object![
    field("container", CONTAINER, ""),
    field("initContainers", array(&INIT_CONTAINERS_ITEM), ""),
    field("name", STRING, ""),
    field("patch", PATCH, ""),
    field("pod", POD, ""),
    field("replicas", INTEGER.int32(), ""),
    field("strategy", STRATEGY, ""),
];
pub const POLICIES_ITEM: Schema = object![
    field("periodSeconds", INTEGER.int32(), "").required(),
    field("type", STRING, "").required(),
    field("value", INTEGER.int32(), "").required(),
];
pub const SCALE_DOWN: Schema = object![
    field("policies", array(&POLICIES_ITEM), ""),
    field("selectPolicy", STRING, ""),
    field("stabilizationWindowSeconds", INTEGER.int32(), ""),
    field("tolerance", DIVISOR, ""),
];
pub const BEHAVIOR: Schema = object![field("scaleDown", SCALE_DOWN, ""), field("scaleUp", SCALE_DOWN, ""),];
pub const MAX_REPLICAS: Schema = INTEGER.int32().rules(&[rule("self > 0", "maxReplicas must be greater than 0")]);
pub const TARGET: Schema = object![
    field("averageUtilization", INTEGER.int32(), ""),
    field("averageValue", DIVISOR, ""),
    field("type", STRING, "").required(),
    field("value", DIVISOR, ""),
];
pub const CONTAINER_RESOURCE: Schema =
    object![field("container", STRING, "").required(), field("name", STRING, "").required(), field("target", TARGET, "").required(),];
pub const METRIC: Schema = object![field("name", STRING, "").required(), field("selector", SELECTOR, ""),];
pub const EXTERNAL: Schema = object![field("metric", METRIC, "").required(), field("target", TARGET, "").required(),];
pub const DESCRIBED_OBJECT: Schema =
    object![field("apiVersion", STRING, ""), field("kind", STRING, "").required(), field("name", STRING, "").required(),];
pub const OBJECT: Schema = object![
    field("describedObject", DESCRIBED_OBJECT, "").required(),
    field("metric", METRIC, "").required(),
    field("target", TARGET, "").required(),
];
pub const RESOURCE: Schema = object![field("name", STRING, "").required(), field("target", TARGET, "").required(),];
pub const METRICS_ITEM: Schema = object![
    field("containerResource", CONTAINER_RESOURCE, ""),
    field("external", EXTERNAL, ""),
    field("object", OBJECT, ""),
    field("pods", EXTERNAL, ""),
    field("resource", RESOURCE, ""),
    field("type", STRING, "").required(),
];
pub const MIN_REPLICAS: Schema = INTEGER.int32().rules(&[rule("self > 0", "minReplicas must be greater than 0")]);
pub const ENVOY_HPA: Schema = object![
    field("behavior", BEHAVIOR, ""),
    field("maxReplicas", MAX_REPLICAS, "").required(),
    field("metrics", array(&METRICS_ITEM), ""),
    field("minReplicas", MIN_REPLICAS, ""),
    field("name", STRING, ""),
    field("patch", PATCH, ""),
]
.rules(&[rule("!has(self.minReplicas) || self.maxReplicas >= self.minReplicas", "maxReplicas cannot be less than minReplicas")]);
pub const ENVOY_PDB: Schema = object![
    field("maxUnavailable", INT_OR_STRING, ""),
    field("minAvailable", INT_OR_STRING, ""),
    field("name", STRING, ""),
    field("patch", PATCH, ""),
]
.rules(&[rule(
    "(has(self.minAvailable) && !has(self.maxUnavailable)) || (!has(self.minAvailable) && has(self.maxUnavailable))",
    "only one of minAvailable or maxUnavailable can be specified",
)]);
pub const EXTERNAL_TRAFFIC_POLICY: Schema = one_of(&["Local", "Cluster"]).default(Literal::Str("Local"));
pub const LOAD_BALANCER_IP: Schema = STRING.rules(&[rule(
    r#"self.matches(r"^((25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$")"#,
    "loadBalancerIP must be a valid IPv4 address",
)]);
pub const TYPE_21: Schema = one_of(&["ClusterIP", "LoadBalancer", "NodePort"]).default(Literal::Str("LoadBalancer"));
pub const ENVOY_SERVICE: Schema = object![
    field("allocateLoadBalancerNodePorts", BOOLEAN, ""),
    field("annotations", map(&STRING), ""),
    field("externalTrafficPolicy", EXTERNAL_TRAFFIC_POLICY, ""),
    field("labels", map(&STRING), ""),
    field("loadBalancerClass", STRING, ""),
    field("loadBalancerIP", LOAD_BALANCER_IP, ""),
    field("loadBalancerSourceRanges", array(&STRING), ""),
    field("name", STRING, ""),
    field("patch", PATCH, ""),
    field("type", TYPE_21, ""),
]
.rules(&[
    rule(
        "!has(self.allocateLoadBalancerNodePorts) || self.type == 'LoadBalancer'",
        "allocateLoadBalancerNodePorts can only be set for LoadBalancer type",
    ),
    rule("!has(self.loadBalancerSourceRanges) || self.type == 'LoadBalancer'", "loadBalancerSourceRanges can only be set for LoadBalancer type"),
    rule("!has(self.loadBalancerIP) || self.type == 'LoadBalancer'", "loadBalancerIP can only be set for LoadBalancer type"),
]);
pub const ENVOY_SERVICE_ACCOUNT: Schema = object![field("name", STRING, ""),];
pub const KUBERNETES: Schema = object![
    field("envoyDaemonSet", ENVOY_DAEMON_SET, ""),
    field("envoyDeployment", ENVOY_DEPLOYMENT, ""),
    field("envoyHpa", ENVOY_HPA, ""),
    field("envoyPDB", ENVOY_PDB, ""),
    field("envoyService", ENVOY_SERVICE, ""),
    field("envoyServiceAccount", ENVOY_SERVICE_ACCOUNT, ""),
    field("useListenerPortAsContainerPort", BOOLEAN, ""),
].rules(&[
    rule("((has(self.envoyDeployment) && !has(self.envoyDaemonSet)) || (!has(self.envoyDeployment) && has(self.envoyDaemonSet))) || (!has(self.envoyDeployment) && !has(self.envoyDaemonSet))", "only one of envoyDeployment or envoyDaemonSet can be specified"),
    rule("((has(self.envoyHpa) && !has(self.envoyDaemonSet)) || (!has(self.envoyHpa) && has(self.envoyDaemonSet))) || (!has(self.envoyHpa) && !has(self.envoyDaemonSet))", "cannot use envoyHpa if envoyDaemonSet is used"),
]);
pub const PROVIDER_3: Schema =
    object![field("host", HOST_2, ""), field("kubernetes", KUBERNETES, ""), field("type", one_of(&["Kubernetes", "Host"]), "").required(),];
pub const SHUTDOWN: Schema =
    object![field("drainTimeout", BACKOFF, ""), field("healthCheckFailureDelay", BACKOFF, ""), field("minDrainDuration", BACKOFF, ""),];
pub const FORMAT: Schema =
    object![field("json", map(&STRING), ""), field("text", STRING, ""), field("type", one_of(&["Text", "JSON"]), ""),].rules(&[
        rule("has(self.type) && self.type == 'Text' ? has(self.text) : true", "If AccessLogFormat type is Text, text field needs to be set."),
        rule("has(self.type) && self.type == 'Text' ? !has(self.json) : true", "If AccessLogFormat type is Text, json field must not be set."),
        rule("has(self.type) && self.type == 'JSON' ? has(self.json) : true", "If AccessLogFormat type is JSON, json field needs to be set."),
        rule("has(self.type) && self.type == 'JSON' ? !has(self.text) : true", "If AccessLogFormat type is JSON, text field must not be set."),
        rule(
            "!has(self.type) ? (has(self.text) || has(self.json)) : true",
            "If AccessLogFormat type is unset, at least one of text or json must be set.",
        ),
    ]);
pub const HTTP_8: Schema = object![
    field("requestHeaders", array(&STRING), ""),
    field("responseHeaders", array(&STRING), ""),
    field("responseTrailers", array(&STRING), ""),
];
pub const ALS: Schema = object![
    field("backendRef", BACKEND_REF, ""),
    field("backendRefs", array(&BACKEND_REFS_ITEM_4).at_most(16), ""),
    field("backendSettings", BACKEND_SETTINGS, ""),
    field("http", HTTP_8, ""),
    field("logName", STRING.at_least(1), ""),
    field("type", one_of(&["HTTP", "TCP"]), "").required(),
]
.rules(&[
    rule("self.type == 'HTTP' || !has(self.http)", "The http field may only be set when type is HTTP."),
    rule("!has(self.backendRef)", "BackendRefs must be used, backendRef is not supported."),
    rule("has(self.backendRefs) && self.backendRefs.size() > 0", "must have at least one backend in backendRefs"),
    rule(
        "has(self.backendRefs) ? self.backendRefs.all(f, f.kind == 'Service' || f.kind == 'Backend') : true",
        "BackendRefs only support Service and Backend kind.",
    ),
    rule(
        r#"has(self.backendRefs) ? (self.backendRefs.all(f, f.group == "" || f.group == 'gateway.envoyproxy.io')) : true"#,
        "BackendRefs only support Core and gateway.envoyproxy.io group.",
    ),
]);
pub const FILE_2: Schema = object![field("path", STRING.at_least(1), ""),];
pub const HEADERS_6: Schema = array(&ADD_ITEM_2).at_least(1).at_most(32);
pub const PORT: Schema = INTEGER.int32().starting_at(0).default(Literal::Int(4317));
pub const OPEN_TELEMETRY: Schema = object![
    field("backendRef", BACKEND_REF, ""),
    field("backendRefs", array(&BACKEND_REFS_ITEM_4).at_most(16), ""),
    field("backendSettings", BACKEND_SETTINGS, ""),
    field("headers", HEADERS_6, ""),
    field("host", STRING, ""),
    field("port", PORT, ""),
    field("resourceAttributes", map(&STRING), ""),
    field("resources", map(&STRING), ""),
]
.rules(&[
    rule("has(self.host) || self.backendRefs.size() > 0", "host or backendRefs needs to be set"),
    rule("!has(self.backendRef)", "BackendRefs must be used, backendRef is not supported."),
    rule(
        "has(self.backendRefs) ? self.backendRefs.all(f, f.kind == 'Service' || f.kind == 'Backend') : true",
        "BackendRefs only support Service and Backend kind.",
    ),
    rule(
        r#"has(self.backendRefs) ? (self.backendRefs.all(f, f.group == "" || f.group == 'gateway.envoyproxy.io')) : true"#,
        "BackendRefs only support Core and gateway.envoyproxy.io group.",
    ),
    rule("!has(self.resources) || !has(self.resourceAttributes)", "either resources or resourceAttributes can be set, not both"),
]);
pub const TYPE_22: Schema = one_of(&["ALS", "File", "OpenTelemetry"]);
pub const SINKS_ITEM_2: Schema =
    object![field("als", ALS, ""), field("file", FILE_2, ""), field("openTelemetry", OPEN_TELEMETRY, ""), field("type", TYPE_22, ""),].rules(&[
        rule("self.type == 'ALS' ? has(self.als) : !has(self.als)", "If AccessLogSink type is ALS, als field needs to be set."),
        rule("self.type == 'File' ? has(self.file) : !has(self.file)", "If AccessLogSink type is File, file field needs to be set."),
        rule(
            "self.type == 'OpenTelemetry' ? has(self.openTelemetry) : !has(self.openTelemetry)",
            "If AccessLogSink type is OpenTelemetry, openTelemetry field needs to be set.",
        ),
    ]);
pub const SINKS: Schema = array(&SINKS_ITEM_2).at_least(1).at_most(50);
pub const TYPE_23: Schema = one_of(&["Listener", "Route", "Upstream"]);
pub const SETTINGS_ITEM: Schema = object![
    field("format", FORMAT, ""),
    field("matches", array(&STRING).at_most(10), ""),
    field("sinks", SINKS, "").required(),
    field("type", TYPE_23, ""),
];
pub const SETTINGS: Schema = array(&SETTINGS_ITEM).at_least(1).at_most(50);
pub const ACCESS_LOG: Schema = object![field("disable", BOOLEAN, ""), field("settings", SETTINGS, ""),];
pub const PROMETHEUS: Schema = object![field("compression", COMPRESSION_ITEM, ""), field("disable", BOOLEAN, ""),];
pub const PORT_2: Schema = INTEGER.int32().between(0, 65535).default(Literal::Int(4317));
pub const OPEN_TELEMETRY_2: Schema = object![
    field("backendRef", BACKEND_REF, ""),
    field("backendRefs", array(&BACKEND_REFS_ITEM_4).at_most(16), ""),
    field("backendSettings", BACKEND_SETTINGS, ""),
    field("headers", HEADERS_6, ""),
    field("host", STRING, ""),
    field("port", PORT_2, ""),
    field("reportCountersAsDeltas", BOOLEAN, ""),
    field("reportHistogramsAsDeltas", BOOLEAN, ""),
    field("resourceAttributes", map(&STRING), ""),
]
.rules(&[
    rule("has(self.host) || self.backendRefs.size() > 0", "host or backendRefs needs to be set"),
    rule("!has(self.backendRef)", "BackendRefs must be used, backendRef is not supported."),
    rule(
        "has(self.backendRefs) ? self.backendRefs.all(f, f.kind == 'Service' || f.kind == 'Backend') : true",
        "BackendRefs only support Service and Backend kind.",
    ),
    rule(
        r#"has(self.backendRefs) ? (self.backendRefs.all(f, f.group == "" || f.group == 'gateway.envoyproxy.io')) : true"#,
        "BackendRefs only support Core and gateway.envoyproxy.io group.",
    ),
]);
pub const TYPE_24: Schema = one_of(&["OpenTelemetry"]).default(Literal::Str("OpenTelemetry"));
pub const SINKS_ITEM_3: Schema = object![field("openTelemetry", OPEN_TELEMETRY_2, ""), field("type", TYPE_24, "").required(),].rules(&[rule(
    "self.type == 'OpenTelemetry' ? has(self.openTelemetry) : !has(self.openTelemetry)",
    "If MetricSink type is OpenTelemetry, openTelemetry field needs to be set.",
)]);
pub const METRICS_2: Schema = object![
    field("clusterStatName", STRING, ""),
    field("enableGRPCStats", BOOLEAN, ""),
    field("enablePerEndpointStats", BOOLEAN, ""),
    field("enableRequestResponseSizesStats", BOOLEAN, ""),
    field("enableVirtualHostStats", BOOLEAN, ""),
    field("matches", array(&VALUE_4), ""),
    field("prometheus", PROMETHEUS, ""),
    field("sinks", array(&SINKS_ITEM_3).at_most(16), ""),
];
pub const TRACING_2: Schema = one_of(&["PackAndSample", "Sample", "Pack", "Disable"]);
pub const REQUEST_ID_2: Schema = object![field("tracing", TRACING_2, ""),];
pub const TYPE_25: Schema =
    one_of(&["AlwaysOn", "AlwaysOff", "TraceIdRatio", "ParentBasedAlwaysOn", "ParentBasedAlwaysOff", "ParentBasedTraceIdRatio"])
        .default(Literal::Str("AlwaysOn"));
pub const SAMPLER: Schema = object![field("samplingPercentage", FRACTION, ""), field("type", TYPE_25, "").required(),].rules(&[rule(
    "has(self.samplingPercentage) ? (self.type == 'TraceIdRatio' || self.type == 'ParentBasedTraceIdRatio') : true",
    "samplingPercentage can only be set with TraceIdRatio or ParentBasedTraceIdRatio",
)]);
pub const OPEN_TELEMETRY_3: Schema =
    object![field("headers", HEADERS_6, ""), field("resourceAttributes", map(&STRING), ""), field("sampler", SAMPLER, ""),];
pub const SERVICE_NAME: Schema = STRING.rules(&[rule(r#"self != """#, "serviceName cannot be empty if provided")]);
pub const TYPE_26: Schema = one_of(&["OpenTelemetry", "Zipkin", "Datadog"]).default(Literal::Str("OpenTelemetry"));
pub const ZIPKIN: Schema = object![field("disableSharedSpanContext", BOOLEAN, ""), field("enable128BitTraceId", BOOLEAN, ""),];
pub const PROVIDER_4: Schema = object![
    field("backendRef", BACKEND_REF, ""),
    field("backendRefs", array(&BACKEND_REFS_ITEM_4).at_most(16), ""),
    field("backendSettings", BACKEND_SETTINGS, ""),
    field("host", STRING, ""),
    field("openTelemetry", OPEN_TELEMETRY_3, ""),
    field("port", PORT, ""),
    field("serviceName", SERVICE_NAME, ""),
    field("type", TYPE_26, "").required(),
    field("zipkin", ZIPKIN, ""),
]
.rules(&[
    rule("has(self.host) || self.backendRefs.size() > 0", "host or backendRefs needs to be set"),
    rule("!has(self.backendRef)", "BackendRefs must be used, backendRef is not supported."),
    rule(
        "has(self.backendRefs) ? self.backendRefs.all(f, f.kind == 'Service' || f.kind == 'Backend') : true",
        "BackendRefs only support Service and Backend kind.",
    ),
    rule(
        r#"has(self.backendRefs) ? (self.backendRefs.all(f, f.group == "" || f.group == 'gateway.envoyproxy.io')) : true"#,
        "BackendRefs only support Core and gateway.envoyproxy.io group.",
    ),
    rule("has(self.openTelemetry) ? self.type == 'OpenTelemetry' : true", "openTelemetry can only be used with type OpenTelemetry"),
]);
pub const TRACING_3: Schema = object![
    field("clientSamplingFraction", FRACTION, ""),
    field("customTags", map(&CUSTOM_TAGS_ENTRY), ""),
    field("overallSamplingFraction", FRACTION, ""),
    field("provider", PROVIDER_4, "").required(),
    field("samplingFraction", FRACTION, ""),
    field("samplingRate", INTEGER.int32().between(0, 100), ""),
    field("spanName", SPAN_NAME, ""),
    field("tags", map(&STRING), ""),
]
.rules(&[rule("!(has(self.samplingRate) && has(self.samplingFraction))", "only one of SamplingRate or SamplingFraction can be specified")]);
pub const TELEMETRY_2: Schema = object![
    field("accessLog", ACCESS_LOG, ""),
    field("healthCheckLog", HEALTH_CHECK_LOG, ""),
    field("metrics", METRICS_2, ""),
    field("requestID", REQUEST_ID_2, ""),
    field("tracing", TRACING_3, ""),
];
pub const SPEC_ENVOY_PROXY: Schema = object![
    field("backendTLS", BACKEND_TLS, ""),
    field("bootstrap", BOOTSTRAP, ""),
    field("concurrency", INTEGER.int32(), ""),
    field("dynamicModules", DYNAMIC_MODULES, ""),
    field("extraArgs", array(&STRING), ""),
    field("filterOrder", array(&FILTER_ORDER_ITEM), ""),
    field("geoIP", GEO_IP, ""),
    field("ipFamily", one_of(&["IPv4", "IPv6", "DualStack"]), ""),
    field("logging", LOGGING, ""),
    field("lua", LUA, ""),
    field("luaValidation", LUA_VALIDATION, ""),
    field("mergeBackends", MERGE_BACKENDS, ""),
    field("mergeGateways", BOOLEAN, ""),
    field("mergeType", MERGE_TYPE_4, ""),
    field("preserveRouteOrder", BOOLEAN, ""),
    field("provider", PROVIDER_3, ""),
    field("routingType", STRING, ""),
    field("shutdown", SHUTDOWN, ""),
    field("telemetry", TELEMETRY_2, ""),
]
.rules(&[
    rule("!has(self.luaValidation) || !has(self.lua)", "only one of luaValidation or lua may be set"),
    rule("!(has(self.mergeGateways) && self.mergeGateways && has(self.mergeBackends))", "mergeGateways and mergeBackends cannot both be enabled"),
]);
