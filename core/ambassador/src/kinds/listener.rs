//! Listener: a port that Envoy listens on, its protocols, and the Hosts that it serves. Only in v3alpha1.
//!
//! Emissary `pkg/api/getambassador.io/v3alpha1/crd_listener.go`.

use super::common::{AMBASSADOR_ID, LABEL_SELECTOR};
use chancery_base::object;
use chancery_base::schema::{INTEGER, STRING, Schema, array, field, one_of};
use chancery_text::Object;

const STACK_ELEMENT: Schema = one_of(&["HTTP", "PROXY", "TLS", "TCP", "UDP"]);

/// `spec` in v3alpha1.
pub(super) static V3ALPHA1: Schema = object![
    AMBASSADOR_ID,
    field("port", INTEGER.between(1, 65535).int32(), "The port").required().always(),
    field(
        "protocol",
        one_of(&["HTTP", "HTTPS", "HTTPPROXY", "HTTPSPROXY", "TCP", "TLS", "UDP"]),
        "What it speaks, as a short name for a `protocolStack`"
    )
    .dropped(),
    field("protocolStack", array(&STACK_ELEMENT), "What it speaks, layer by layer, the outermost last").dropped(),
    field("securityModel", one_of(&["XFP", "SECURE", "INSECURE"]), "Which requests are secure: by `X-Forwarded-Proto`, all, or none")
        .required()
        .always(),
    field("statsPrefix", STRING, "What it is called in statistics").dropped(),
    field("l7Depth", INTEGER.int32(), "How many trusted proxies are in front of it").dropped(),
    field("http2MaxConcurrentStreams", INTEGER.at_least(1).int32().server_only(), "The most HTTP/2 streams of one connection"),
    field(
        "hostBinding",
        object![
            field(
                "namespace",
                object![field("from", one_of(&["SELF", "ALL", "SELECTOR"]), "Hosts in this namespace, in all, or in selected ones").dropped()],
                "Which namespaces' Hosts it serves"
            )
            .always(),
            field("selector", LABEL_SELECTOR, "Which Hosts it serves, by their labels"),
        ],
        "Which Hosts it serves"
    )
    .required()
    .always(),
];

/// There is nothing to convert from.
pub(super) fn convert(_: &mut Object) {}
