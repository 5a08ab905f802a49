//! Gateway: where traffic enters.
//!
//! Gateway API `apis/v1/gateway_types.go`.

use super::common::{ANNOTATION, GROUP, HOSTNAME, KIND, LOCAL_REFERENCE, NAME, PORT, REFERENCE, SECRET_REFERENCE, SECTION};
use crate::pod::SELECTOR;
use chancery_base::object;
use chancery_base::schema::{Field, Literal, Rule, STRING, Schema, array, field, like, map, one_of, rule};

/// `spec`.
pub(super) const SPEC: Schema = object![
    field("addresses", array(&ADDRESS).at_most(16).rules(ADDRESS_RULES), "The requested addresses"),
    field(
        "allowedListeners",
        object![field("namespaces", LISTENER_NAMESPACES, "In which namespaces ListenerSets may be")],
        "Which ListenerSets may add listeners"
    ),
    field(
        "backendTLS",
        object![field("clientCertificateRef", SECRET_REFERENCE, "The Secret with the gateway's own certificate")],
        "TLS on the way to backends"
    ),
    field("gatewayClassName", NAME, "The GatewayClass").required(),
    field("infrastructure", INFRASTRUCTURE, "What the objects get that are made for it"),
    field("listeners", array(&LISTENER).sized(1, 64).keyed_by(&["name"]).rules(LISTENER_RULES), "The ports, protocols and hosts").required(),
];

const ADDRESS: Schema = object![
    field("type", ADDRESS_TYPE.default(Literal::Str("IPAddress")), "`IPAddress`, `Hostname`, `NamedAddress`, or a controller's own"),
    field("value", STRING.at_most(253), "The address; any of this type unless set"),
]
.rules(&[
    rule(
        r#"self.type == 'Hostname' ? self.value.matches(r"""^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"""): true"#,
        r"Hostname value must only contain valid characters (matching ^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$)",
    ),
    // The CRD expresses this by `oneOf` and formats, which it checks before rules.
    rule("self.type == 'IPAddress' && has(self.value) ? isIP(self.value) : true", "must validate one and only one schema (oneOf). Found none valid"),
]);
const ADDRESS_TYPE: Schema =
    like(r"^Hostname|IPAddress|NamedAddress|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9\/\-._~%!$&'()*+,;=:]+$")
        .sized(1, 253);
const ADDRESS_RULES: &[Rule] = &[
    rule(
        "self.all(a1, a1.type == 'IPAddress' ? self.exists_one(a2, a2.type == a1.type && a2.value == a1.value) : true )",
        "IPAddress values must be unique",
    ),
    rule(
        "self.all(a1, a1.type == 'Hostname' ? self.exists_one(a2, a2.type == a1.type && a2.value == a1.value) : true )",
        "Hostname values must be unique",
    ),
];

const LISTENER_NAMESPACES: Schema = object![
    field(
        "from",
        one_of(&["All", "Selector", "Same", "None"]).default(Literal::Str("None")),
        "All namespaces, the namespaces of `selector`, the Gateway's own, or none"
    ),
    field("selector", SELECTOR, "The namespaces by their labels, for `Selector`"),
]
.default(Literal::Object(&[("from", Literal::Str("None"))]));

const INFRASTRUCTURE: Schema = object![
    field("annotations", map(&ANNOTATION).at_most(8).rules(ANNOTATION_KEYS), "Annotations"),
    field("labels", map(&LABEL).at_most(8).rules(LABEL_KEYS), "Labels"),
    field("parametersRef", LOCAL_REFERENCE, "An object with the controller's own settings"),
];
const LABEL: Schema = like("^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$").at_most(63);
const KEY: &str = r#"self.all(key, key.matches(r"""^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"""))"#;
const KEY_PREFIX: &str = r#"self.all(key, key.split("/")[0].size() < 253)"#;
const ANNOTATION_KEYS: &[Rule] = &[
    rule(KEY, "Annotation keys must be in the form of an optional DNS subdomain prefix followed by a required name segment of up to 63 characters."),
    rule(KEY_PREFIX, "If specified, the annotation key's prefix must be a DNS subdomain not longer than 253 characters in total."),
];
const LABEL_KEYS: &[Rule] = &[
    rule(KEY, "Label keys must be in the form of an optional DNS subdomain prefix followed by a required name segment of up to 63 characters."),
    rule(KEY_PREFIX, "If specified, the label key's prefix must be a DNS subdomain not longer than 253 characters in total."),
];

const LISTENER: Schema = object![
    field("allowedRoutes", ALLOWED_ROUTES, "Which routes may use it"),
    field("hostname", HOSTNAME, "The host; all unless set"),
    field("name", SECTION, "Its name").required(),
    field("port", PORT, "The port").required(),
    field("protocol", PROTOCOL, "`HTTP`, `HTTPS`, `TLS`, `TCP`, `UDP`, or a controller's own").required(),
    field("tls", TLS, "How TLS is spoken"),
];
const PROTOCOL: Schema =
    like(r"^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9]+$").sized(1, 255);
const LISTENER_RULES: &[Rule] = &[
    rule("self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)", "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']"),
    rule(
        "self.all(l, (l.protocol == 'HTTPS' && has(l.tls)) ? (l.tls.mode == '' || l.tls.mode == 'Terminate') : true)",
        "tls mode must be Terminate for protocol HTTPS",
    ),
    rule(
        "self.all(l, l.protocol in ['TCP', 'UDP']  ? (!has(l.hostname) || l.hostname == '') : true)",
        "hostname must not be specified for protocols ['TCP', 'UDP']",
    ),
    rule("self.all(l1, self.exists_one(l2, l1.name == l2.name))", "Listener name must be unique within the Gateway"),
    rule(
        "self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol && (has(l1.hostname) && has(l2.hostname) ? l1.hostname == l2.hostname : !has(l1.hostname) && !has(l2.hostname))))",
        "Combination of port, protocol and hostname must be unique for each listener",
    ),
];

const SAME: Literal = Literal::Object(&[("from", Literal::Str("Same"))]);
const ALLOWED_ROUTES: Schema =
    object![field("kinds", array(&ROUTE_KIND).at_most(8), "Their kinds [default: the kinds of the protocol]"), ROUTE_NAMESPACES,]
        .default(Literal::Object(&[("namespaces", SAME)]));
const ROUTE_KIND: Schema =
    object![field("group", GROUP.default(Literal::Str(super::GROUP)), "The group of the kind"), field("kind", KIND, "The kind").required(),];
const ROUTE_NAMESPACES: Field = field(
    "namespaces",
    object![
        field(
            "from",
            one_of(&["All", "Selector", "Same"]).default(Literal::Str("Same")),
            "All namespaces, the namespaces of `selector`, or the Gateway's own"
        ),
        field("selector", SELECTOR, "The namespaces by their labels, for `Selector`"),
    ]
    .default(SAME),
    "In which namespaces they may be",
);

const TLS: Schema = object![
    field("certificateRefs", array(&SECRET_REFERENCE).at_most(64), "The Secrets with certificates and keys"),
    field(
        "frontendValidation",
        object![field("caCertificateRefs", array(&REFERENCE).sized(1, 8), "Where the CAs are")],
        "Asks clients for certificates"
    ),
    field(
        "mode",
        one_of(&["Terminate", "Passthrough"]).default(Literal::Str("Terminate")),
        "Whether the gateway terminates TLS, or passes it through unchanged"
    ),
    field("options", map(&ANNOTATION).at_most(16), "The controller's own settings"),
]
.rules(&[rule(
    "self.mode == 'Terminate' ? size(self.certificateRefs) > 0 || size(self.options) > 0 : true",
    "certificateRefs or options must be specified when mode is Terminate",
)]);
