// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{
    BACKEND_REF, BACKEND_REFS_ITEM_4, BACKEND_SETTINGS, BACKOFF, CERTIFICATE_REFS_ITEM, GROUP, GROUP_3, KIND, KIND_2, NAME_2, NAMESPACE,
    STATUS_ON_ERROR, TARGET_REFS_ITEM, TARGET_SELECTORS_ITEM, TYPE_15,
};
use chancery_base::object;
use chancery_base::schema::{ANY, BOOLEAN, Literal, STRING, Schema, array, field, one_of, rule};

pub const DYNAMIC_MODULE_ITEM: Schema = object![
    field("config", ANY, ""),
    field("filterName", STRING.at_most(253), ""),
    field("name", NAME_2, "").required(),
    field("terminalFilter", BOOLEAN.default(Literal::Bool(false)), ""),
];
pub const WRITABLE_NAMESPACES: Schema = array(&STRING)
    .at_most(8)
    .rules(&[rule("self.all(f, !f.startsWith('envoy.filters.http'))", "writableNamespaces cannot contain well-known Envoy HTTP filter namespaces")]);
pub const METADATA_2: Schema = object![field("accessibleNamespaces", array(&STRING), ""), field("writableNamespaces", WRITABLE_NAMESPACES, ""),];
pub const ATTRIBUTES_ITEM: Schema = STRING.like(r"^(connection\.|source\.|destination\.|request\.|response\.|upstream\.|xds\.route_)[a-z_1-9]*$");
pub const BODY_2: Schema = one_of(&["Streamed", "Buffered", "BufferedPartial", "FullDuplexStreamed"]);
pub const REQUEST_3: Schema = object![field("attributes", array(&ATTRIBUTES_ITEM), ""), field("body", BODY_2, ""),];
pub const PROCESSING_MODE: Schema =
    object![field("allowModeOverride", BOOLEAN, ""), field("request", REQUEST_3, ""), field("response", REQUEST_3, ""),];
pub const EXT_PROC_ITEM: Schema = object![
    field("backendRef", BACKEND_REF, ""),
    field("backendRefs", array(&BACKEND_REFS_ITEM_4).at_most(16), ""),
    field("backendSettings", BACKEND_SETTINGS, ""),
    field("failOpen", BOOLEAN.default(Literal::Bool(false)), ""),
    field("messageTimeout", BACKOFF, ""),
    field("metadata", METADATA_2, ""),
    field("processingMode", PROCESSING_MODE, ""),
    field("shadowMode", BOOLEAN, ""),
    field("statusOnError", STATUS_ON_ERROR, ""),
].rules(&[
    rule("!has(self.backendRef)", "BackendRefs must be used, backendRef is not supported."),
    rule("has(self.backendRefs) ? self.backendRefs.all(f, f.kind == 'Service' || f.kind == 'ServiceImport' || f.kind == 'Backend') : true", "BackendRefs only supports Service, ServiceImport, and Backend kind."),
    rule(r#"has(self.backendRefs) ? (self.backendRefs.all(f, f.group == "" || f.group == 'multicluster.x-k8s.io' || f.group == 'gateway.envoyproxy.io')) : true"#, "BackendRefs only supports Core, multicluster.x-k8s.io, and gateway.envoyproxy.io groups."),
    rule("!(has(self.failOpen) && self.failOpen == true && has(self.processingMode) && ((has(self.processingMode.request) && has(self.processingMode.request.body) && self.processingMode.request.body == 'FullDuplexStreamed') || (has(self.processingMode.response) && has(self.processingMode.response.body) && self.processingMode.response.body == 'FullDuplexStreamed')))", "If FullDuplexStreamed body processing mode is used, FailOpen must be false."),
    rule("!(has(self.shadowMode) && self.shadowMode == true && has(self.processingMode) && ((has(self.processingMode.request) && has(self.processingMode.request.body) && self.processingMode.request.body != 'Streamed') || (has(self.processingMode.response) && has(self.processingMode.response.body) && self.processingMode.response.body != 'Streamed')))", "If shadowMode is enabled, body processing mode must be Streamed or unset."),
]);
pub const VALUE_REF_2: Schema =
    object![field("group", GROUP, "").required(), field("kind", KIND, "").required(), field("name", STRING.at_least(1).at_most(253), "").required(),]
        .rules(&[rule(
            "self.kind == 'ConfigMap' && (self.group == 'v1' || self.group == '')",
            "Only a reference to an object of kind ConfigMap belonging to default v1 API group is supported.",
        )]);
pub const LUA_ITEM: Schema = object![
    field("filterContext", ANY, ""),
    field("inline", STRING, ""),
    field("type", TYPE_15, "").required(),
    field("valueRef", VALUE_REF_2, ""),
]
.rules(&[rule(
    "(self.type == 'Inline' && has(self.inline) && !has(self.valueRef)) || (self.type == 'ValueRef' && !has(self.inline) && has(self.valueRef))",
    "Exactly one of inline or valueRef must be set with correct type.",
)]);
pub const MERGE_TYPE_3: Schema = STRING.rules(&[rule("self != 'Replace'", "Replace is not a valid MergeType for EnvoyExtensionPolicy")]);
pub const TLS_5: Schema = object![field("caCertificateRef", CERTIFICATE_REFS_ITEM, "").required(),];
pub const URL: Schema = STRING.like(r"^((https?:)(\/\/\/?)([\w]*(?::[\w]*)?@)?([\d\w\.-]+)(?::(\d+))?)?([\/\\\w\.()-]*)?(?:([?][^#]*)?(#.*)?)*");
pub const HTTP_7: Schema = object![field("sha256", STRING, ""), field("tls", TLS_5, ""), field("url", URL, "").required(),];
pub const PULL_SECRET_REF: Schema = object![
    field("group", GROUP_3, ""),
    field("kind", KIND_2, ""),
    field("name", STRING.at_least(1).at_most(253), "").required(),
    field("namespace", NAMESPACE, ""),
]
.rules(&[rule("self.kind == 'Secret'", "only support Secret kind.")]);
pub const IMAGE: Schema =
    object![field("pullSecretRef", PULL_SECRET_REF, ""), field("sha256", STRING, ""), field("tls", TLS_5, ""), field("url", STRING, "").required(),];
pub const CODE: Schema = object![
    field("http", HTTP_7, ""),
    field("image", IMAGE, ""),
    field("pullPolicy", one_of(&["IfNotPresent", "Always"]), ""),
    field("type", one_of(&["HTTP", "Image"]), "").required(),
]
.rules(&[
    rule("self.type == 'HTTP' ? has(self.http) : !has(self.http)", "If type is HTTP, http field needs to be set."),
    rule("self.type == 'Image' ? has(self.image) : !has(self.image)", "If type is Image, image field needs to be set."),
]);
pub const ENV: Schema = object![field("hostKeys", array(&STRING), ""),];
pub const WASM_ITEM: Schema = object![
    field("code", CODE, "").required(),
    field("config", ANY, ""),
    field("env", ENV, ""),
    field("failOpen", BOOLEAN.default(Literal::Bool(false)), ""),
    field("name", STRING, ""),
    field("rootID", STRING, ""),
];
pub const SPEC_ENVOY_EXTENSION_POLICY: Schema = object![
    field("dynamicModule", array(&DYNAMIC_MODULE_ITEM).at_most(16), ""),
    field("extProc", array(&EXT_PROC_ITEM).at_most(16), ""),
    field("lua", array(&LUA_ITEM).at_most(16), ""),
    field("mergeType", MERGE_TYPE_3, ""),
    field("targetRef", TARGET_REFS_ITEM, ""),
    field("targetRefs", array(&TARGET_REFS_ITEM), ""),
    field("targetSelectors", array(&TARGET_SELECTORS_ITEM), ""),
    field("wasm", array(&WASM_ITEM).at_most(16), ""),
].rules(&[
    rule("(has(self.targetRef) && !has(self.targetRefs)) || (!has(self.targetRef) && has(self.targetRefs)) || (has(self.targetSelectors) && self.targetSelectors.size() > 0)", "either targetRef or targetRefs must be used"),
    rule("has(self.targetRef) ? self.targetRef.group == 'gateway.networking.k8s.io' : true", "this policy can only have a targetRef.group of gateway.networking.k8s.io"),
    rule("has(self.targetRef) ? self.targetRef.kind in ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute'] : true", "this policy can only have a targetRef.kind of Gateway/ListenerSet/HTTPRoute/GRPCRoute/TCPRoute/UDPRoute/TLSRoute"),
    rule("has(self.targetRefs) ? self.targetRefs.all(ref, ref.group == 'gateway.networking.k8s.io') : true", "this policy can only have a targetRefs[*].group of gateway.networking.k8s.io"),
    rule("has(self.targetRefs) ? self.targetRefs.all(ref, ref.kind in ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute']) : true", "this policy can only have a targetRefs[*].kind of Gateway/ListenerSet/HTTPRoute/GRPCRoute/TCPRoute/UDPRoute/TLSRoute"),
    rule("!has(self.mergeType) || ((!has(self.targetRef) || self.targetRef.kind in ['HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute']) && (!has(self.targetRefs) || self.targetRefs.all(ref, ref.kind in ['HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute'])) && (!has(self.targetSelectors) || self.targetSelectors.all(sel, sel.kind in ['HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute'])))", "mergeType can only be used with xRoute targets"),
]);
