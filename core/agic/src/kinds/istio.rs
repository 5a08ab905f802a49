//! Istio's Gateway and VirtualService, which the controller reads with APPGW_ENABLE_ISTIO_INTEGRATION.
//!
//! Only the fields that the controller reads are defined; others are accepted.

use chancery_base::object;
use chancery_base::schema::{ANY, INTEGER, OPEN_OBJECT, STRING, STRINGS, Schema, array, field};
use chancery_kubernetes::kind::{API_VERSION, KIND, Kind, METADATA, Version};

const fn own(name: &'static str, plural: &'static str, versions: &'static [Version], doc: &'static str) -> Kind {
    Kind { group: "networking.istio.io", name, plural, namespaced: true, doc, versions, built_in: false }
}

pub static GATEWAY: Kind =
    own("Gateway", "gateways", &[Version { name: "v1alpha3", schema: &GATEWAY_V1ALPHA3 }], "Istio's gateway; AGIC crashes if it uses one");
static GATEWAY_V1ALPHA3: Schema = object![API_VERSION, KIND, METADATA, field("spec", GATEWAY_SPEC, "Its servers"), field("status", ANY, "How it is")];
const GATEWAY_SPEC: Schema = object![field("servers", array(&SERVER), "Where it listens")].open();
const SERVER: Schema = object![
    field("hosts", STRINGS, "The hosts"),
    field(
        "port",
        object![field("name", STRING, "Its name"), field("number", INTEGER, "The port"), field("protocol", STRING, "Only `HTTP` has an effect")]
            .open(),
        "The port"
    ),
]
.open();

pub static VIRTUAL_SERVICE: Kind =
    own("VirtualService", "virtualservices", &[Version { name: "v1alpha3", schema: &SERVICE_V1ALPHA3 }], "Istio's routes");
static SERVICE_V1ALPHA3: Schema = object![API_VERSION, KIND, METADATA, field("spec", SERVICE_SPEC, "Its routes"), field("status", ANY, "How it is")];
const SERVICE_SPEC: Schema = object![field("hosts", STRINGS, "The hosts"), field("http", array(&OPEN_OBJECT), "The routes")].open();
