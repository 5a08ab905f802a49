// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{ANNOTATIONS_ENTRY, CERTIFICATE_REFS_ITEM, LISTENERS_ITEM, PARAMETERS_REF, PARAMETERS_REF_2, SELECTOR};
use chancery_base::object;
use chancery_base::schema::{INTEGER, Literal, STRING, Schema, array, field, map, one_of, rule};

pub const TYPE: Schema = STRING
    .like(r"^Hostname|IPAddress|NamedAddress|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9\/\-._~%!$&'()*+,;=:]+$")
    .at_least(1)
    .at_most(253)
    .default(Literal::Str("IPAddress"));
pub const ADDRESSES_ITEM: Schema = object![
    field("type", TYPE, ""),
    field("value", STRING.at_most(253), ""),
].rules(&[
    rule(r#"self.type == 'Hostname' ? (!has(self.value) || self.value.matches(r"""^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$""")): true"#, r"Hostname value must be empty or contain only valid characters (matching ^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$)"),
]);
pub const ADDRESSES: Schema = array(&ADDRESSES_ITEM).at_most(16).rules(&[
    rule("self.all(a1, a1.type == 'IPAddress' && has(a1.value) ? self.exists_one(a2, a2.type == a1.type && has(a2.value) && a2.value == a1.value) : true )", "IPAddress values must be unique"),
    rule("self.all(a1, a1.type == 'Hostname'  && has(a1.value) ? self.exists_one(a2, a2.type == a1.type && has(a2.value) && a2.value == a1.value) : true )", "Hostname values must be unique"),
]);
pub const FROM: Schema = one_of(&["All", "Selector", "Same", "None"]).default(Literal::Str("None"));
pub const NAMESPACES: Schema =
    object![field("from", FROM, ""), field("selector", SELECTOR, ""),].default(Literal::Object(&[("from", Literal::Str("None"))]));
pub const ALLOWED_LISTENERS: Schema = object![field("namespaces", NAMESPACES, ""),];
pub const ANNOTATIONS: Schema = map(&ANNOTATIONS_ENTRY).at_most(16).rules(&[
    rule(r#"self.all(key, key.matches(r"""^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"""))"#, "Annotation keys must be in the form of an optional DNS subdomain prefix followed by a required name segment of up to 63 characters."),
    rule(r#"self.all(key, key.split("/")[0].size() < 253)"#, "If specified, the annotation key's prefix must be a DNS subdomain not longer than 253 characters in total."),
]);
pub const LABELS_ENTRY: Schema = STRING.like("^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$").at_least(0).at_most(63);
pub const LABELS: Schema = map(&LABELS_ENTRY).at_most(8).rules(&[
    rule(r#"self.all(key, key.matches(r"""^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"""))"#, "Label keys must be in the form of an optional DNS subdomain prefix followed by a required name segment of up to 63 characters."),
    rule(r#"self.all(key, key.split("/")[0].size() < 253)"#, "If specified, the label key's prefix must be a DNS subdomain not longer than 253 characters in total."),
]);
pub const INFRASTRUCTURE: Schema =
    object![field("annotations", ANNOTATIONS, ""), field("labels", LABELS, ""), field("parametersRef", PARAMETERS_REF_2, ""),];
pub const LISTENERS: Schema = array(&LISTENERS_ITEM).at_least(1).at_most(64).keyed_by(&["name"]).rules(&[
    rule("self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)", "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']"),
    rule("self.all(l, (l.protocol == 'HTTPS' && has(l.tls)) ? (l.tls.mode == '' || l.tls.mode == 'Terminate') : true)", "tls mode must be Terminate for protocol HTTPS"),
    rule("self.all(l, (l.protocol == 'TLS' ? has(l.tls) && has(l.tls.mode) && l.tls.mode != '' : true))", "tls mode must be set for protocol TLS"),
    rule("self.all(l, l.protocol in ['TCP', 'UDP']  ? (!has(l.hostname) || l.hostname == '') : true)", "hostname must not be specified for protocols ['TCP', 'UDP']"),
    rule("self.all(l1, self.exists_one(l2, l1.name == l2.name))", "Listener name must be unique within the Gateway"),
    rule("self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol && (has(l1.hostname) && has(l2.hostname) ? l1.hostname == l2.hostname : !has(l1.hostname) && !has(l2.hostname))))", "Combination of port, protocol and hostname must be unique for each listener"),
]);
pub const BACKEND: Schema = object![field("clientCertificateRef", CERTIFICATE_REFS_ITEM, ""),];
pub const CA_CERTIFICATE_REFS: Schema = array(&PARAMETERS_REF).at_least(1).at_most(16);
pub const MODE_2: Schema = one_of(&["AllowValidOnly", "AllowInsecureFallback"]).default(Literal::Str("AllowValidOnly"));
pub const VALIDATION: Schema = object![field("caCertificateRefs", CA_CERTIFICATE_REFS, "").required(), field("mode", MODE_2, ""),];
pub const DEFAULT: Schema = object![field("validation", VALIDATION, ""),];
pub const PER_PORT_ITEM: Schema = object![field("port", INTEGER.int32().between(1, 65535), "").required(), field("tls", DEFAULT, "").required(),];
pub const PER_PORT: Schema = array(&PER_PORT_ITEM)
    .at_most(64)
    .keyed_by(&["port"])
    .rules(&[rule("self.all(t1, self.exists_one(t2, t1.port == t2.port))", "Port for TLS configuration must be unique within the Gateway")]);
pub const FRONTEND: Schema = object![field("default", DEFAULT, "").required(), field("perPort", PER_PORT, ""),];
pub const TLS_2: Schema = object![field("backend", BACKEND, ""), field("frontend", FRONTEND, ""),];
pub const SPEC_GATEWAY: Schema = object![
    field("addresses", ADDRESSES, ""),
    field("allowedListeners", ALLOWED_LISTENERS, ""),
    field("defaultScope", one_of(&["All", "None"]), ""),
    field("gatewayClassName", STRING.at_least(1).at_most(253), "").required(),
    field("infrastructure", INFRASTRUCTURE, ""),
    field("listeners", LISTENERS, "").required(),
    field("tls", TLS_2, ""),
];
