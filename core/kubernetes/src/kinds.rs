//! Defines the schemas and defaults of Kubernetes' own kinds that controllers read. Their values are checked in `service`, `ingress` and `secret`.
//!
//! Kubernetes `k8s.io/api` (`core/v1`, `networking/v1`, `discovery/v1`) for the fields, `pkg/apis/*/v1/defaults.go` for defaults.

use super::kind::{API_VERSION, KIND, Kind, METADATA, Version};
use chancery_base::object;
use chancery_base::schema::{ANY, BOOLEAN, Field, INT_OR_STRING, INTEGER, Literal, OPEN_OBJECT, STRING, STRING_MAP, STRINGS, Schema, array, field};

macro_rules! kinds {
    ($($constant:ident $group:literal $name:literal $plural:literal $namespaced:literal $schema:expr, $doc:literal;)*) => {
        $(
            #[doc = $doc]
            pub static $constant: Kind = {
                static SCHEMA: Schema = $schema;
                Kind {
                    group: $group,
                    name: $name,
                    plural: $plural,
                    namespaced: $namespaced,
                    doc: $doc,
                    versions: &[Version { name: "v1", schema: &SCHEMA }],
                    built_in: true,
                }
            };
        )*
    };
}

kinds! {
    SERVICE "" "Service" "services" true
        object![API_VERSION, KIND, METADATA, field("spec", SERVICE_SPEC, "Its ports, and the pods behind it"), STATUS],
        "A name for pods, and their ports";
    SECRET "" "Secret" "secrets" true
        object![
            API_VERSION,
            KIND,
            METADATA,
            field("data", OPEN_OBJECT, "Values in base64, by key"),
            field("immutable", BOOLEAN, "Whether it can never change"),
            field("stringData", OPEN_OBJECT, "Plain values by key; they override `data`"),
            field("type", STRING.default(Literal::Str("Opaque")), "What it is for, `kubernetes.io/tls` for a certificate and its key"),
        ],
        "Certificates and keys";
    CONFIG_MAP "" "ConfigMap" "configmaps" true
        object![
            API_VERSION,
            KIND,
            METADATA,
            field("binaryData", OPEN_OBJECT, "Values in base64, by key"),
            field("data", STRING_MAP, "Values, by key"),
            field("immutable", BOOLEAN, "Whether it can never change"),
        ],
        "Values by key, such as a CA or a configuration file";
    NAMESPACE "" "Namespace" "namespaces" false
        object![
            API_VERSION,
            KIND,
            METADATA,
            field("spec", object![field("finalizers", STRINGS, "Who must agree before it is deleted")], "Kept by the API server"),
            STATUS,
        ],
        "A namespace, and its labels for selectors";
    INGRESS "networking.k8s.io" "Ingress" "ingresses" true
        object![API_VERSION, KIND, METADATA, field("spec", INGRESS_SPEC, "Its hosts, paths and certificates"), STATUS],
        "Routes requests to services, in Kubernetes' own format";
    INGRESS_CLASS "networking.k8s.io" "IngressClass" "ingressclasses" false
        object![API_VERSION, KIND, METADATA, field("spec", INGRESS_CLASS_SPEC, "Who is responsible for it")],
        "Which controller is responsible for Ingresses of this class";
    ENDPOINT_SLICE "discovery.k8s.io" "EndpointSlice" "endpointslices" true
        object![
            API_VERSION,
            KIND,
            METADATA,
            field("addressType", STRING, "`IPv4`, `IPv6` or `FQDN`"),
            field("endpoints", array(&ENDPOINT), "The endpoints"),
            field("ports", array(&ENDPOINT_PORT), "Their ports"),
        ],
        "Some of the pods behind a Service";
}

const STATUS: Field = field("status", ANY, "The status that the cluster writes");
const INT32: Schema = INTEGER.int32();
const TCP: Schema = STRING.default(Literal::Str("TCP"));

const SERVICE_SPEC: Schema = object![
    field("allocateLoadBalancerNodePorts", BOOLEAN, "Whether a load balancer gets ports of nodes"),
    field("clusterIP", STRING, "Its address; `None` for none"),
    field("clusterIPs", STRINGS, "Its addresses"),
    field("externalIPs", STRINGS, "More addresses that lead to it"),
    field("externalName", STRING, "The name that it is an alias of, with the type `ExternalName`"),
    field("externalTrafficPolicy", STRING, "Whether traffic from outside may go over other nodes: `Cluster` or `Local`"),
    field("healthCheckNodePort", INT32, "The port that a load balancer uses to find nodes, with `Local`"),
    field("internalTrafficPolicy", STRING, "Whether traffic from inside may go to other nodes: `Cluster` or `Local`"),
    field("ipFamilies", STRINGS, "`IPv4`, `IPv6`"),
    field("ipFamilyPolicy", STRING, "`SingleStack`, `PreferDualStack` or `RequireDualStack`"),
    field("loadBalancerClass", STRING, "Who makes the load balancer"),
    field("loadBalancerIP", STRING, "The load balancer's address"),
    field("loadBalancerSourceRanges", STRINGS, "The only addresses that may come over the load balancer"),
    field("ports", array(&SERVICE_PORT), "Its ports"),
    field("publishNotReadyAddresses", BOOLEAN, "Whether pods count that are not ready"),
    field("selector", STRING_MAP, "Labels of its pods"),
    field("sessionAffinity", STRING.default(Literal::Str("None")), "`ClientIP` keeps a client at one pod"),
    field(
        "sessionAffinityConfig",
        object![field("clientIP", object![field("timeoutSeconds", INT32, "For how long")], "Settings for `ClientIP`")],
        "Settings of `sessionAffinity`"
    ),
    field("trafficDistribution", STRING, "Which endpoints come first"),
    field("type", STRING.default(Literal::Str("ClusterIP")), "`ClusterIP`, `NodePort`, `LoadBalancer` or `ExternalName`"),
];
const SERVICE_PORT: Schema = object![
    field("appProtocol", STRING, "What is spoken there"),
    field("name", STRING, "Its name; needed if there are several"),
    field("nodePort", INT32, "The port of nodes that leads to it"),
    field("port", INT32, "The port"),
    field("protocol", TCP, "`TCP`, `UDP` or `SCTP`"),
    field("targetPort", INT_OR_STRING, "The port of the pods, by number or name; the same unless set"),
];

const INGRESS_SPEC: Schema = object![
    field("defaultBackend", BACKEND, "The backend for requests that no rule matches"),
    field("ingressClassName", STRING, "The IngressClass"),
    field("rules", array(&RULE), "Which requests go where"),
    field("tls", array(&INGRESS_TLS), "Certificates"),
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
        object![field("apiGroup", STRING, "The group of its kind"), field("kind", STRING, "Its kind"), field("name", STRING, "Its name"),],
        "An object instead of a Service"
    ),
    field(
        "service",
        object![
            field("name", STRING, "Its name"),
            field("port", object![field("name", STRING, "By name"), field("number", INT32, "By number")], "Its port"),
        ],
        "The Service"
    ),
];
const INGRESS_TLS: Schema = object![field("hosts", STRINGS, "The hosts"), field("secretName", STRING, "The Secret with their certificate and key")];

const INGRESS_CLASS_SPEC: Schema = object![
    field("controller", STRING, "The controller, `example.com/name`"),
    field(
        "parameters",
        object![
            field("apiGroup", STRING, "The group of its kind"),
            field("kind", STRING, "Its kind"),
            field("name", STRING, "Its name"),
            field("namespace", STRING, "Its namespace"),
            field("scope", STRING, "`Cluster` or `Namespace`"),
        ],
        "An object with the controller's own settings"
    ),
];

const ENDPOINT: Schema = object![
    field("addresses", STRINGS, "Its addresses"),
    field(
        "conditions",
        object![
            field("ready", BOOLEAN, "Whether it takes traffic"),
            field("serving", BOOLEAN, "Whether it works"),
            field("terminating", BOOLEAN, "Whether it is about to end"),
        ],
        "How it is"
    ),
    field("deprecatedTopology", STRING_MAP, "Not used any more"),
    field("hints", object![field("forNodes", array(&HINT), "For nodes"), field("forZones", array(&HINT), "For zones")], "Who should use it"),
    field("hostname", STRING, "Its host"),
    field("nodeName", STRING, "Its node"),
    field("targetRef", OPEN_OBJECT, "Its pod"),
    field("zone", STRING, "Its zone"),
];
const HINT: Schema = object![field("name", STRING, "The name")];
const ENDPOINT_PORT: Schema = object![
    field("appProtocol", STRING, "What is spoken there"),
    field("name", STRING.default(Literal::Str("")), "Its name, as the Service has it"),
    field("port", INT32, "The port"),
    field("protocol", TCP, "`TCP`, `UDP` or `SCTP`"),
];
