//! The Ingress of clusters before 1.19.
//!
//! Kubernetes `k8s.io/api/extensions/v1beta1`.

use chancery_base::object;
use chancery_base::schema::{ANY, INT_OR_STRING, STRING, STRINGS, Schema, array, field};
use chancery_kubernetes::kind::{API_VERSION, KIND as KIND_FIELD, Kind, METADATA, Version};

pub static KIND: Kind = Kind {
    group: "extensions",
    name: "Ingress",
    plural: "ingresses",
    namespaced: true,
    doc: "Ingress as clusters before 1.19 have it; read with --old-ingress-api",
    versions: &[Version { name: "v1beta1", schema: &SCHEMA }],
    built_in: true,
};

static SCHEMA: Schema = object![
    API_VERSION,
    KIND_FIELD,
    METADATA,
    field("spec", SPEC, "Its hosts, paths and certificates"),
    field("status", ANY, "The status that the controller writes")
];
const SPEC: Schema = object![
    field("backend", BACKEND, "The backend for requests that no rule matches"),
    field("ingressClassName", STRING, "The IngressClass"),
    field("rules", array(&RULE), "Which requests go where"),
    field("tls", array(&TLS), "Certificates"),
];
const RULE: Schema = object![
    field("host", STRING, "The host; all unless set"),
    field("http", object![field("paths", array(&PATH), "The paths")], "The paths of the host"),
];
const PATH: Schema = object![
    field("backend", BACKEND, "Where requests go"),
    field("path", STRING, "The path"),
    field("pathType", STRING, "`Exact`, `Prefix` or `ImplementationSpecific`"),
];
const BACKEND: Schema = object![
    field(
        "resource",
        object![field("apiGroup", STRING, "The group of its kind"), field("kind", STRING, "Its kind"), field("name", STRING, "Its name")],
        "An object instead of a Service"
    ),
    field("serviceName", STRING, "The Service"),
    field("servicePort", INT_OR_STRING, "Its port, by number or name"),
];
const TLS: Schema = object![field("hosts", STRINGS, "The hosts"), field("secretName", STRING, "The Secret with their certificate and key")];
