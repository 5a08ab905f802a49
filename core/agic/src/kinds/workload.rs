//! Endpoints, Pods with their probes, and Nodes, which identify the cluster.
//!
//! Kubernetes `k8s.io/api/core/v1`, with the defaults of `pkg/apis/core/v1/defaults.go`. For pods and nodes only the fields that the controller
//! reads are defined; others are accepted.

use super::pod::POD_SPEC;
use chancery_base::object;
use chancery_base::schema::{ANY, INTEGER, Literal, OPEN_OBJECT, STRING, Schema, array, field};
use chancery_kubernetes::kind::{API_VERSION, KIND, Kind, METADATA, Version};

const fn built_in(name: &'static str, plural: &'static str, namespaced: bool, versions: &'static [Version], doc: &'static str) -> Kind {
    Kind { group: "", name, plural, namespaced, doc, versions, built_in: true }
}

/// The addresses behind a Service.
pub static ENDPOINTS: Kind =
    built_in("Endpoints", "endpoints", true, &[Version { name: "v1", schema: &ENDPOINTS_V1 }], "The pods behind a Service, as addresses and ports");
static ENDPOINTS_V1: Schema = object![API_VERSION, KIND, METADATA, field("subsets", array(&SUBSET), "Addresses that share their ports")];
const SUBSET: Schema = object![
    field("addresses", array(&ADDRESS), "Ready addresses"),
    field("notReadyAddresses", array(&ADDRESS), "Addresses that are not ready"),
    field("ports", array(&PORT), "Their ports"),
];
const ADDRESS: Schema = object![
    field("hostname", STRING, "Its host"),
    field("ip", STRING, "The address"),
    field("nodeName", STRING, "Its node"),
    field("targetRef", OPEN_OBJECT, "Its pod"),
];
const PORT: Schema = object![
    field("appProtocol", STRING, "What is spoken there"),
    field("name", STRING, "Its name, as the Service has it"),
    field("port", INTEGER.int32(), "The port"),
    field("protocol", STRING.default(Literal::Str("TCP")), "`TCP`, `UDP` or `SCTP`"),
];

/// A pod; only its probes and ports are read.
pub static POD: Kind = built_in("Pod", "pods", true, &[Version { name: "v1", schema: &POD_V1 }], "A pod, whose probes become probes of the gateway");
static POD_V1: Schema = object![API_VERSION, KIND, METADATA, field("spec", POD_SPEC, "Its containers"), field("status", ANY, "How it is")];

/// A node; only the provider's id is read.
pub static NODE: Kind = built_in(
    "Node",
    "nodes",
    false,
    &[Version { name: "v1", schema: &NODE_V1 }],
    "A node; AGIC derives the cluster's name from the node's name in Azure",
);
static NODE_V1: Schema = object![
    API_VERSION,
    KIND,
    METADATA,
    field("spec", object![field("providerID", STRING, "What the provider calls it, `azure:///subscriptions/...`")].open(), "Where it is"),
    field("status", ANY, "How it is"),
];
