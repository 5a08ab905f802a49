//! MultiClusterIngress and MultiClusterService: an Ingress and Services for several clusters.
//!
//! AGIC `crds/MultiClusterIngress.yaml` and `crds/MultiClusterService.yaml`.

use chancery_base::object;
use chancery_base::schema::{INTEGER, STRING, STRINGS, Schema, array, field};
use chancery_kubernetes::pod::SELECTOR;

/// `spec` of a MultiClusterIngress in v1alpha1.
pub(super) const INGRESS_SPEC: Schema = object![field("template", TEMPLATE, "The Ingress's `spec`")];
const TEMPLATE: Schema = object![
    field("defaultBackend", BACKEND, "The backend for requests that no rule matches"),
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
        "An object instead of a Service, which the controller cannot use"
    ),
    field(
        "service",
        object![
            field("name", STRING, "Its name"),
            field("port", object![field("name", STRING, "By name"), field("number", INTEGER, "By number")], "Its port"),
        ],
        "The MultiClusterService"
    ),
];
const TLS: Schema = object![field("hosts", STRINGS, "The hosts"), field("secretName", STRING, "The Secret with their certificate and key")];

/// `spec` of a MultiClusterService in v1alpha1.
pub(super) const SERVICE_SPEC: Schema = object![
    field("clusterSet", STRING, "The clusters"),
    field("ports", array(&PORT), "Its ports"),
    field("selector", SELECTOR, "Labels of its Services [default: the labels of its name]"),
];
const PORT: Schema = object![
    field("name", STRING, "Its name"),
    field("port", INTEGER, "The port"),
    field("protocol", STRING, "`TCP`; without it the port is not looked at"),
    field("targetPort", INTEGER, "The port of the pods; 0 unless set"),
];
