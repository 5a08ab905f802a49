// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{CERTIFICATE_REFS_ITEM, FINGERPRINTS_ITEM, MATCH_EXPRESSIONS_ITEM, MAX_VERSION, NAME_2, OPERATION_2, SELECTOR};
use chancery_base::object;
use chancery_base::schema::{ANY, BOOLEAN, EMPTY_OBJECT, INTEGER, Literal, STRING, Schema, array, field, map, one_of, quantity, rule};

pub const BACKEND_TLS: Schema = object![
    field("alpnProtocols", array(&STRING), ""),
    field("ciphers", array(&STRING), ""),
    field("clientCertificateRef", CERTIFICATE_REFS_ITEM, ""),
    field("ecdhCurves", array(&STRING), ""),
    field("fingerprints", array(&FINGERPRINTS_ITEM), ""),
    field("maxVersion", MAX_VERSION, ""),
    field("minVersion", MAX_VERSION, ""),
    field("signatureAlgorithms", array(&STRING), ""),
].rules(&[
    rule("has(self.minVersion) && self.minVersion == '1.3' ? !has(self.ciphers) : true", "setting ciphers has no effect if the minimum possible TLS version is 1.3"),
    rule(r#"has(self.minVersion) && has(self.maxVersion) ? {"Auto":0,"1.0":1,"1.1":2,"1.2":3,"1.3":4}[self.minVersion] <= {"1.0":1,"1.1":2,"1.2":3,"1.3":4,"Auto":5}[self.maxVersion] : !has(self.minVersion) && has(self.maxVersion) ? 3 <= {"1.0":1,"1.1":2,"1.2":3,"1.3":4,"Auto":5}[self.maxVersion] : true"#, "minVersion must be smaller or equal to maxVersion"),
]);
pub const TYPE_19: Schema = one_of(&["Merge", "Replace", "JSONPatch"]).default(Literal::Str("Replace"));
pub const BOOTSTRAP: Schema =
    object![field("jsonPatches", array(&OPERATION_2), ""), field("type", TYPE_19, ""), field("value", STRING, ""),].rules(&[rule(
        "self.type == 'JSONPatch' ? self.jsonPatches.size() > 0 : has(self.value)",
        "provided bootstrap patch doesn't match the configured patch type",
    )]);
pub const LOCAL_2: Schema = object![field("path", STRING.at_least(1).at_most(4096), "").required(),];
pub const URL_2: Schema = STRING.like("^https?://[^/?#]+(?:[/?#].*)?$").at_least(1).at_most(4096);
pub const REMOTE: Schema = object![field("sha256", STRING.like("^[a-f0-9]{64}$"), "").required(), field("url", URL_2, "").required(),];
pub const TYPE_20: Schema = one_of(&["Local", "Remote"]).default(Literal::Str("Local"));
pub const SOURCE: Schema = object![field("local", LOCAL_2, ""), field("remote", REMOTE, ""), field("type", TYPE_20, ""),].rules(&[
    rule("self.type == 'Remote' ? has(self.remote) : !has(self.remote)", "If type is Remote, remote field needs to be set."),
    rule("self.type != 'Local' || has(self.local)", "If type is Local, local field needs to be set."),
    rule("self.type == 'Remote' ? !has(self.local) : true", "If type is Remote, local field must not be set."),
]);
pub const DYNAMIC_MODULES_ITEM: Schema = object![
    field("doNotClose", BOOLEAN.default(Literal::Bool(false)), ""),
    field("loadGlobally", BOOLEAN.default(Literal::Bool(false)), ""),
    field("name", NAME_2, "").required(),
    field("source", SOURCE, "").required(),
];
pub const DYNAMIC_MODULES: Schema = array(&DYNAMIC_MODULES_ITEM).at_most(16).keyed_by(&["name"]);
pub const AFTER: Schema = one_of(&[
    "envoy.filters.http.custom_response",
    "envoy.filters.http.health_check",
    "envoy.filters.http.fault",
    "envoy.filters.http.cors",
    "envoy.filters.http.csrf",
    "envoy.filters.http.header_mutation",
    "envoy.filters.http.ext_authz",
    "envoy.filters.http.api_key_auth",
    "envoy.filters.http.basic_auth",
    "envoy.filters.http.oauth2",
    "envoy.filters.http.jwt_authn",
    "envoy.filters.http.stateful_session",
    "envoy.filters.http.buffer",
    "envoy.filters.http.lua",
    "envoy.filters.http.ext_proc",
    "envoy.filters.http.wasm",
    "envoy.filters.http.dynamic_modules",
    "envoy.filters.http.geoip",
    "envoy.filters.http.rbac",
    "envoy.filters.http.local_ratelimit",
    "envoy.filters.http.ratelimit",
    "envoy.filters.http.bandwidth_limit",
    "envoy.filters.http.grpc_web",
    "envoy.filters.http.grpc_stats",
    "envoy.filters.http.credential_injector",
    "envoy.filters.http.compressor",
    "envoy.filters.http.dynamic_forward_proxy",
]);
pub const FILTER_ORDER_ITEM: Schema = object![field("after", AFTER, ""), field("before", AFTER, ""), field("name", AFTER, "").required(),].rules(&[
    rule("(has(self.before) || has(self.after))", "one of before or after must be specified"),
    rule("(has(self.before) && !has(self.after)) || (!has(self.before) && has(self.after))", "only one of before or after can be specified"),
]);
pub const LOCAL_3: Schema = object![field("path", STRING.like(r"^.*\.mmdb$"), "").required(),];
pub const ANONYMOUS_IP_DB_SOURCE: Schema = object![field("local", LOCAL_3, "").required(),];
pub const MAX_MIND: Schema = object![
    field("anonymousIpDbSource", ANONYMOUS_IP_DB_SOURCE, ""),
    field("asnDbSource", ANONYMOUS_IP_DB_SOURCE, ""),
    field("cityDbSource", ANONYMOUS_IP_DB_SOURCE, ""),
    field("countryDbSource", ANONYMOUS_IP_DB_SOURCE, ""),
    field("ispDbSource", ANONYMOUS_IP_DB_SOURCE, ""),
]
.rules(&[rule(
    "has(self.cityDbSource) || has(self.countryDbSource) || has(self.asnDbSource) || has(self.ispDbSource) || has(self.anonymousIpDbSource)",
    "at least one MaxMind database source must be specified",
)]);
pub const PROVIDER_2: Schema = object![field("maxMind", MAX_MIND, ""), field("type", one_of(&["MaxMind"]), "").required(),]
    .rules(&[rule("self.type == 'MaxMind' ? has(self.maxMind) : true", "maxMind must be set when type is MaxMind")]);
pub const GEO_IP: Schema = object![field("provider", PROVIDER_2, "").required(),];
pub const LEVEL_ENTRY: Schema = one_of(&["trace", "debug", "info", "warn", "error", "off", "critical"]);
pub const LEVEL: Schema = map(&LEVEL_ENTRY).default(Literal::Object(&[("default", Literal::Str("warn"))]));
pub const LOGGING: Schema =
    object![field("level", LEVEL, ""),].default(Literal::Object(&[("level", Literal::Object(&[("default", Literal::Str("warn"))]))]));
pub const ALLOWED_ENV_VARS_ITEM: Schema = STRING.at_least(1).at_most(256);
pub const ALLOWED_ENV_VARS: Schema = array(&ALLOWED_ENV_VARS_ITEM)
    .at_most(64)
    .rules(&[rule("self.all(e, e.trim() != '')", "allowedEnvVars entries must not be blank or whitespace-only")]);
pub const ALLOWED_PATHS_ITEM: Schema = STRING.at_least(1).at_most(4096);
pub const ALLOWED_PATHS: Schema = array(&ALLOWED_PATHS_ITEM).at_most(64).rules(&[
    rule("self.all(p, p.trim() != '')", "allowedPaths entries must not be blank or whitespace-only"),
    rule("self.all(p, !p.matches('^/+$'))", "allowedPaths entries must not be the filesystem root"),
]);
pub const STRICT_VALIDATION: Schema = object![field("allowedEnvVars", ALLOWED_ENV_VARS, ""), field("allowedPaths", ALLOWED_PATHS, ""),];
pub const VALIDATION_TYPE: Schema = one_of(&["Strict", "InsecureSyntax", "Disabled"]).default(Literal::Str("Strict"));
pub const LUA: Schema = object![field("strictValidation", STRICT_VALIDATION, ""), field("validationType", VALIDATION_TYPE, ""),].rules(&[rule(
    "!has(self.strictValidation) || !has(self.validationType) || self.validationType == 'Strict'",
    "strictValidation can only be set when validationType is Strict",
)]);
pub const LUA_VALIDATION: Schema = one_of(&["Strict", "InsecureSyntax", "Disabled"]);
pub const MERGE_BACKENDS: Schema = object![field("selector", SELECTOR, ""),];
pub const MERGE_TYPE_4: Schema = one_of(&["Replace", "StrategicMerge", "JSONMerge"]);
pub const HOST_2: Schema = object![field("envoyVersion", STRING, ""),];
pub const CONFIG_MAP_KEY_REF: Schema =
    object![field("key", STRING, "").required(), field("name", STRING.default(Literal::Str("")), ""), field("optional", BOOLEAN, ""),];
pub const FIELD_REF: Schema = object![field("apiVersion", STRING, ""), field("fieldPath", STRING, "").required(),];
pub const FILE_KEY_REF: Schema = object![
    field("key", STRING, "").required(),
    field("optional", BOOLEAN.default(Literal::Bool(false)), ""),
    field("path", STRING, "").required(),
    field("volumeName", STRING, "").required(),
];
pub const DIVISOR: Schema =
    quantity(r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$");
pub const RESOURCE_FIELD_REF: Schema =
    object![field("containerName", STRING, ""), field("divisor", DIVISOR, ""), field("resource", STRING, "").required(),];
pub const VALUE_FROM: Schema = object![
    field("configMapKeyRef", CONFIG_MAP_KEY_REF, ""),
    field("fieldRef", FIELD_REF, ""),
    field("fileKeyRef", FILE_KEY_REF, ""),
    field("resourceFieldRef", RESOURCE_FIELD_REF, ""),
    field("secretKeyRef", CONFIG_MAP_KEY_REF, ""),
];
pub const ENV_ITEM: Schema = object![field("name", STRING, "").required(), field("value", STRING, ""), field("valueFrom", VALUE_FROM, ""),];
pub const IMAGE_2: Schema = STRING.rules(&[rule(
    "self.matches('^[a-zA-Z0-9._-]+(:[0-9]+)?(/[a-zA-Z0-9._/-]+)?(:[a-zA-Z0-9._-]+)?(@sha256:[a-z0-9]+)?$')",
    "Image must include a tag and allowed characters only (e.g., 'repo:tag').",
)]);
pub const IMAGE_REPOSITORY: Schema = STRING.rules(&[rule(
    "self.matches('^[a-zA-Z0-9._-]+(:[0-9]+)?[a-zA-Z0-9._/-]+$')",
    "ImageRepository must contain only allowed characters and must not include a tag.",
)]);
pub const CLAIMS_ITEM_2: Schema = object![field("name", STRING, "").required(), field("request", STRING, ""),];
pub const CLAIMS_2: Schema = array(&CLAIMS_ITEM_2).keyed_by(&["name"]);
pub const RESOURCES: Schema = object![field("claims", CLAIMS_2, ""), field("limits", map(&DIVISOR), ""), field("requests", map(&DIVISOR), ""),];
pub const APP_ARMOR_PROFILE: Schema = object![field("localhostProfile", STRING, ""), field("type", STRING, "").required(),];
pub const CAPABILITIES: Schema = object![field("add", array(&STRING), ""), field("drop", array(&STRING), ""),];
pub const SE_LINUX_OPTIONS: Schema =
    object![field("level", STRING, ""), field("role", STRING, ""), field("type", STRING, ""), field("user", STRING, ""),];
pub const WINDOWS_OPTIONS: Schema = object![
    field("gmsaCredentialSpec", STRING, ""),
    field("gmsaCredentialSpecName", STRING, ""),
    field("hostProcess", BOOLEAN, ""),
    field("runAsUserName", STRING, ""),
];
pub const SECURITY_CONTEXT: Schema = object![
    field("allowPrivilegeEscalation", BOOLEAN, ""),
    field("appArmorProfile", APP_ARMOR_PROFILE, ""),
    field("capabilities", CAPABILITIES, ""),
    field("privileged", BOOLEAN, ""),
    field("procMount", STRING, ""),
    field("readOnlyRootFilesystem", BOOLEAN, ""),
    field("runAsGroup", INTEGER, ""),
    field("runAsNonRoot", BOOLEAN, ""),
    field("runAsUser", INTEGER, ""),
    field("seLinuxOptions", SE_LINUX_OPTIONS, ""),
    field("seccompProfile", APP_ARMOR_PROFILE, ""),
    field("windowsOptions", WINDOWS_OPTIONS, ""),
];
pub const VOLUME_MOUNTS_ITEM: Schema = object![
    field("mountPath", STRING, "").required(),
    field("mountPropagation", STRING, ""),
    field("name", STRING, "").required(),
    field("readOnly", BOOLEAN, ""),
    field("recursiveReadOnly", STRING, ""),
    field("subPath", STRING, ""),
    field("subPathExpr", STRING, ""),
];
pub const CONTAINER: Schema = object![
    field("env", array(&ENV_ITEM), ""),
    field("image", IMAGE_2, ""),
    field("imageRepository", IMAGE_REPOSITORY, ""),
    field("resources", RESOURCES, ""),
    field("securityContext", SECURITY_CONTEXT, ""),
    field("volumeMounts", array(&VOLUME_MOUNTS_ITEM), ""),
]
.rules(&[rule("!has(self.image) || !has(self.imageRepository)", "Either image or imageRepository can be set.")]);
pub const PATCH: Schema = object![field("type", STRING, ""), field("value", ANY, "").required(),];
pub const PREFERENCE: Schema =
    object![field("matchExpressions", array(&MATCH_EXPRESSIONS_ITEM), ""), field("matchFields", array(&MATCH_EXPRESSIONS_ITEM), ""),];
pub const PREFERRED_DURING_SCHEDULING_IGNORED_DURING_EXECUTION_ITEM: Schema =
    object![field("preference", PREFERENCE, "").required(), field("weight", INTEGER.int32(), "").required(),];
pub const PREFERRED_DURING_SCHEDULING_IGNORED_DURING_EXECUTION: Schema = array(&PREFERRED_DURING_SCHEDULING_IGNORED_DURING_EXECUTION_ITEM);
pub const REQUIRED_DURING_SCHEDULING_IGNORED_DURING_EXECUTION: Schema = object![field("nodeSelectorTerms", array(&PREFERENCE), "").required(),];
pub const NODE_AFFINITY: Schema = object![
    field("preferredDuringSchedulingIgnoredDuringExecution", PREFERRED_DURING_SCHEDULING_IGNORED_DURING_EXECUTION, ""),
    field("requiredDuringSchedulingIgnoredDuringExecution", REQUIRED_DURING_SCHEDULING_IGNORED_DURING_EXECUTION, ""),
];
pub const POD_AFFINITY_TERM: Schema = object![
    field("labelSelector", SELECTOR, ""),
    field("matchLabelKeys", array(&STRING), ""),
    field("mismatchLabelKeys", array(&STRING), ""),
    field("namespaceSelector", SELECTOR, ""),
    field("namespaces", array(&STRING), ""),
    field("topologyKey", STRING, "").required(),
];
pub const PREFERRED_DURING_SCHEDULING_IGNORED_DURING_EXECUTION_ITEM_2: Schema =
    object![field("podAffinityTerm", POD_AFFINITY_TERM, "").required(), field("weight", INTEGER.int32(), "").required(),];
pub const PREFERRED_DURING_SCHEDULING_IGNORED_DURING_EXECUTION_2: Schema = array(&PREFERRED_DURING_SCHEDULING_IGNORED_DURING_EXECUTION_ITEM_2);
pub const POD_AFFINITY: Schema = object![
    field("preferredDuringSchedulingIgnoredDuringExecution", PREFERRED_DURING_SCHEDULING_IGNORED_DURING_EXECUTION_2, ""),
    field("requiredDuringSchedulingIgnoredDuringExecution", array(&POD_AFFINITY_TERM), ""),
];
pub const AFFINITY: Schema =
    object![field("nodeAffinity", NODE_AFFINITY, ""), field("podAffinity", POD_AFFINITY, ""), field("podAntiAffinity", POD_AFFINITY, ""),];
pub const IMAGE_PULL_SECRETS_ITEM: Schema = object![field("name", STRING.default(Literal::Str("")), ""),];
pub const SYSCTLS_ITEM: Schema = object![field("name", STRING, "").required(), field("value", STRING, "").required(),];
pub const SECURITY_CONTEXT_2: Schema = object![
    field("appArmorProfile", APP_ARMOR_PROFILE, ""),
    field("fsGroup", INTEGER, ""),
    field("fsGroupChangePolicy", STRING, ""),
    field("runAsGroup", INTEGER, ""),
    field("runAsNonRoot", BOOLEAN, ""),
    field("runAsUser", INTEGER, ""),
    field("seLinuxChangePolicy", STRING, ""),
    field("seLinuxOptions", SE_LINUX_OPTIONS, ""),
    field("seccompProfile", APP_ARMOR_PROFILE, ""),
    field("supplementalGroups", array(&INTEGER), ""),
    field("supplementalGroupsPolicy", STRING, ""),
    field("sysctls", array(&SYSCTLS_ITEM), ""),
    field("windowsOptions", WINDOWS_OPTIONS, ""),
];
pub const TOLERATIONS_ITEM: Schema = object![
    field("effect", STRING, ""),
    field("key", STRING, ""),
    field("operator", STRING, ""),
    field("tolerationSeconds", INTEGER, ""),
    field("value", STRING, ""),
];
pub const TOPOLOGY_SPREAD_CONSTRAINTS_ITEM: Schema = object![
    field("labelSelector", SELECTOR, ""),
    field("matchLabelKeys", array(&STRING), ""),
    field("maxSkew", INTEGER.int32(), "").required(),
    field("minDomains", INTEGER.int32(), ""),
    field("nodeAffinityPolicy", STRING, ""),
    field("nodeTaintsPolicy", STRING, ""),
    field("topologyKey", STRING, "").required(),
    field("whenUnsatisfiable", STRING, "").required(),
];
pub const TOPOLOGY_SPREAD_CONSTRAINTS: Schema = array(&TOPOLOGY_SPREAD_CONSTRAINTS_ITEM);
pub const AWS_ELASTIC_BLOCK_STORE: Schema = object![
    field("fsType", STRING, ""),
    field("partition", INTEGER.int32(), ""),
    field("readOnly", BOOLEAN, ""),
    field("volumeID", STRING, "").required(),
];
pub const AZURE_DISK: Schema = object![
    field("cachingMode", STRING, ""),
    field("diskName", STRING, "").required(),
    field("diskURI", STRING, "").required(),
    field("fsType", STRING.default(Literal::Str("ext4")), ""),
    field("kind", STRING, ""),
    field("readOnly", BOOLEAN.default(Literal::Bool(false)), ""),
];
pub const AZURE_FILE: Schema =
    object![field("readOnly", BOOLEAN, ""), field("secretName", STRING, "").required(), field("shareName", STRING, "").required(),];
pub const CEPHFS: Schema = object![
    field("monitors", array(&STRING), "").required(),
    field("path", STRING, ""),
    field("readOnly", BOOLEAN, ""),
    field("secretFile", STRING, ""),
    field("secretRef", IMAGE_PULL_SECRETS_ITEM, ""),
    field("user", STRING, ""),
];
pub const CINDER: Schema = object![
    field("fsType", STRING, ""),
    field("readOnly", BOOLEAN, ""),
    field("secretRef", IMAGE_PULL_SECRETS_ITEM, ""),
    field("volumeID", STRING, "").required(),
];
pub const ITEMS_ITEM: Schema =
    object![field("key", STRING, "").required(), field("mode", INTEGER.int32(), ""), field("path", STRING, "").required(),];
pub const CONFIG_MAP: Schema = object![
    field("defaultMode", INTEGER.int32(), ""),
    field("items", array(&ITEMS_ITEM), ""),
    field("name", STRING.default(Literal::Str("")), ""),
    field("optional", BOOLEAN, ""),
];
pub const CSI: Schema = object![
    field("driver", STRING, "").required(),
    field("fsType", STRING, ""),
    field("nodePublishSecretRef", IMAGE_PULL_SECRETS_ITEM, ""),
    field("readOnly", BOOLEAN, ""),
    field("volumeAttributes", map(&STRING), ""),
];
pub const ITEMS_ITEM_2: Schema = object![
    field("fieldRef", FIELD_REF, ""),
    field("mode", INTEGER.int32(), ""),
    field("path", STRING, "").required(),
    field("resourceFieldRef", RESOURCE_FIELD_REF, ""),
];
pub const DOWNWARD_API: Schema = object![field("defaultMode", INTEGER.int32(), ""), field("items", array(&ITEMS_ITEM_2), ""),];
pub const EMPTY_DIR: Schema = object![field("medium", STRING, ""), field("sizeLimit", DIVISOR, ""),];
pub const DATA_SOURCE: Schema = object![field("apiGroup", STRING, ""), field("kind", STRING, "").required(), field("name", STRING, "").required(),];
pub const DATA_SOURCE_REF: Schema = object![
    field("apiGroup", STRING, ""),
    field("kind", STRING, "").required(),
    field("name", STRING, "").required(),
    field("namespace", STRING, ""),
];
pub const RESOURCES_2: Schema = object![field("limits", map(&DIVISOR), ""), field("requests", map(&DIVISOR), ""),];
pub const SPEC: Schema = object![
    field("accessModes", array(&STRING), ""),
    field("dataSource", DATA_SOURCE, ""),
    field("dataSourceRef", DATA_SOURCE_REF, ""),
    field("resources", RESOURCES_2, ""),
    field("selector", SELECTOR, ""),
    field("storageClassName", STRING, ""),
    field("volumeAttributesClassName", STRING, ""),
    field("volumeMode", STRING, ""),
    field("volumeName", STRING, ""),
];
pub const VOLUME_CLAIM_TEMPLATE: Schema = object![field("metadata", EMPTY_OBJECT, ""), field("spec", SPEC, "").required(),];
pub const EPHEMERAL: Schema = object![field("volumeClaimTemplate", VOLUME_CLAIM_TEMPLATE, ""),];
pub const FC: Schema = object![
    field("fsType", STRING, ""),
    field("lun", INTEGER.int32(), ""),
    field("readOnly", BOOLEAN, ""),
    field("targetWWNs", array(&STRING), ""),
    field("wwids", array(&STRING), ""),
];
pub const FLEX_VOLUME: Schema = object![
    field("driver", STRING, "").required(),
    field("fsType", STRING, ""),
    field("options", map(&STRING), ""),
    field("readOnly", BOOLEAN, ""),
    field("secretRef", IMAGE_PULL_SECRETS_ITEM, ""),
];
pub const FLOCKER: Schema = object![field("datasetName", STRING, ""), field("datasetUUID", STRING, ""),];
pub const GCE_PERSISTENT_DISK: Schema = object![
    field("fsType", STRING, ""),
    field("partition", INTEGER.int32(), ""),
    field("pdName", STRING, "").required(),
    field("readOnly", BOOLEAN, ""),
];
pub const GIT_REPO: Schema = object![field("directory", STRING, ""), field("repository", STRING, "").required(), field("revision", STRING, ""),];
pub const GLUSTERFS: Schema =
    object![field("endpoints", STRING, "").required(), field("path", STRING, "").required(), field("readOnly", BOOLEAN, ""),];
pub const HOST_PATH: Schema = object![field("path", STRING, "").required(), field("type", STRING, ""),];
pub const IMAGE_3: Schema = object![field("pullPolicy", STRING, ""), field("reference", STRING, ""),];
pub const ISCSI: Schema = object![
    field("chapAuthDiscovery", BOOLEAN, ""),
    field("chapAuthSession", BOOLEAN, ""),
    field("fsType", STRING, ""),
    field("initiatorName", STRING, ""),
    field("iqn", STRING, "").required(),
    field("iscsiInterface", STRING.default(Literal::Str("default")), ""),
    field("lun", INTEGER.int32(), "").required(),
    field("portals", array(&STRING), ""),
    field("readOnly", BOOLEAN, ""),
    field("secretRef", IMAGE_PULL_SECRETS_ITEM, ""),
    field("targetPortal", STRING, "").required(),
];
pub const NFS: Schema = object![field("path", STRING, "").required(), field("readOnly", BOOLEAN, ""), field("server", STRING, "").required(),];
pub const PERSISTENT_VOLUME_CLAIM: Schema = object![field("claimName", STRING, "").required(), field("readOnly", BOOLEAN, ""),];
pub const PHOTON_PERSISTENT_DISK: Schema = object![field("fsType", STRING, ""), field("pdID", STRING, "").required(),];
pub const PORTWORX_VOLUME: Schema = object![field("fsType", STRING, ""), field("readOnly", BOOLEAN, ""), field("volumeID", STRING, "").required(),];
pub const CLUSTER_TRUST_BUNDLE: Schema = object![
    field("labelSelector", SELECTOR, ""),
    field("name", STRING, ""),
    field("optional", BOOLEAN, ""),
    field("path", STRING, "").required(),
    field("signerName", STRING, ""),
];
pub const CONFIG_MAP_2: Schema =
    object![field("items", array(&ITEMS_ITEM), ""), field("name", STRING.default(Literal::Str("")), ""), field("optional", BOOLEAN, ""),];
pub const DOWNWARD_API_2: Schema = object![field("items", array(&ITEMS_ITEM_2), ""),];
pub const POD_CERTIFICATE: Schema = object![
    field("certificateChainPath", STRING, ""),
    field("credentialBundlePath", STRING, ""),
    field("keyPath", STRING, ""),
    field("keyType", STRING, "").required(),
    field("maxExpirationSeconds", INTEGER.int32(), ""),
    field("signerName", STRING, "").required(),
    field("userAnnotations", map(&STRING), ""),
];
pub const SERVICE_ACCOUNT_TOKEN: Schema =
    object![field("audience", STRING, ""), field("expirationSeconds", INTEGER, ""), field("path", STRING, "").required(),];
pub const SOURCES_ITEM: Schema = object![
    field("clusterTrustBundle", CLUSTER_TRUST_BUNDLE, ""),
    field("configMap", CONFIG_MAP_2, ""),
    field("downwardAPI", DOWNWARD_API_2, ""),
    field("podCertificate", POD_CERTIFICATE, ""),
    field("secret", CONFIG_MAP_2, ""),
    field("serviceAccountToken", SERVICE_ACCOUNT_TOKEN, ""),
];
pub const PROJECTED: Schema = object![field("defaultMode", INTEGER.int32(), ""), field("sources", array(&SOURCES_ITEM), ""),];
pub const QUOBYTE: Schema = object![
    field("group", STRING, ""),
    field("readOnly", BOOLEAN, ""),
    field("registry", STRING, "").required(),
    field("tenant", STRING, ""),
    field("user", STRING, ""),
    field("volume", STRING, "").required(),
];
pub const KEYRING: Schema = STRING.default(Literal::Str("/etc/ceph/keyring"));
pub const RBD: Schema = object![
    field("fsType", STRING, ""),
    field("image", STRING, "").required(),
    field("keyring", KEYRING, ""),
    field("monitors", array(&STRING), "").required(),
    field("pool", STRING.default(Literal::Str("rbd")), ""),
    field("readOnly", BOOLEAN, ""),
    field("secretRef", IMAGE_PULL_SECRETS_ITEM, ""),
    field("user", STRING.default(Literal::Str("admin")), ""),
];
pub const STORAGE_MODE: Schema = STRING.default(Literal::Str("ThinProvisioned"));
pub const SCALE_IO: Schema = object![
    field("fsType", STRING.default(Literal::Str("xfs")), ""),
    field("gateway", STRING, "").required(),
    field("protectionDomain", STRING, ""),
    field("readOnly", BOOLEAN, ""),
    field("secretRef", IMAGE_PULL_SECRETS_ITEM, "").required(),
    field("sslEnabled", BOOLEAN, ""),
    field("storageMode", STORAGE_MODE, ""),
    field("storagePool", STRING, ""),
    field("system", STRING, "").required(),
    field("volumeName", STRING, ""),
];
