//! ContourDeployment: the settings of what the Gateway provisioner creates for a Gateway.
//!
//! Contour `apis/projectcontour/v1alpha1/contourdeployment.go`; limits and patterns as in `examples/contour/01-crds.yaml`.

use super::common::INT32;
use super::contour_configuration;
use chancery_base::object;
use chancery_base::schema::{Field, INTEGER, STRING, STRING_MAP, Schema, array, field, like, one_of};
use chancery_kubernetes::pod::{DAEMON_SET_STRATEGY, DEPLOYMENT_STRATEGY, RESOURCES, TOLERATIONS, VOLUME_MOUNTS, VOLUMES};

/// `spec` in v1alpha1.
pub(super) const SPEC: Schema = object![
    field("contour", CONTOUR, "How Contour is run"),
    field("envoy", ENVOY, "How Envoy is run"),
    field("resourceLabels", STRING_MAP, "Labels of everything that is made"),
    field("runtimeSettings", contour_configuration::SPEC, "The ContourConfiguration that is made"),
];

const REPLICAS: Field = field("replicas", INT32.at_least(0), "How many pods");
const NODE_PLACEMENT: Field = field(
    "nodePlacement",
    object![field("nodeSelector", STRING_MAP, "Labels of the nodes"), field("tolerations", TOLERATIONS, "Taints of nodes that are tolerated"),],
    "The nodes of its pods",
);
const DEPLOYMENT: Field =
    field("deployment", object![REPLICAS, field("strategy", DEPLOYMENT_STRATEGY, "How pods are replaced by new ones")], "Settings of its Deployment");
const POD_ANNOTATIONS: Field = field("podAnnotations", STRING_MAP, "Annotations of its pods");
const RESOURCE_LIMITS: Field = field("resources", RESOURCES, "How much of a node its containers need and may use");

const CONTOUR: Schema = object![
    DEPLOYMENT,
    field("disabledFeatures", array(&FEATURE).sized(1, 42), "Kinds that it does not read"),
    field("kubernetesLogLevel", INTEGER.between(0, 9), "How much its Kubernetes client logs"),
    field("logLevel", STRING, "How much it logs: `info` or `debug`"),
    NODE_PLACEMENT,
    POD_ANNOTATIONS,
    field("replicas", INT32.at_least(0), "Older form of `deployment.replicas`"),
    RESOURCE_LIMITS,
    field("watchNamespaces", array(&NAMESPACE).sized(1, 42), "The only namespaces that it looks at"),
];
const FEATURE: Schema = one_of(&["grpcroutes", "tlsroutes", "extensionservices", "backendtlspolicies"]);
const NAMESPACE: Schema = like("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$").sized(1, 63);

const ENVOY: Schema = object![
    field("baseID", INT32.at_least(0), "Tells several Envoys on one node apart"),
    field("daemonSet", object![field("updateStrategy", DAEMON_SET_STRATEGY, "How pods are replaced by new ones")], "Settings of its DaemonSet"),
    DEPLOYMENT,
    field("extraVolumeMounts", VOLUME_MOUNTS, "Where `extraVolumes` are seen"),
    field("extraVolumes", VOLUMES, "More volumes of its pods"),
    field("logLevel", STRING, "How much it logs: `trace`, `debug`, `info`, `warn`, `error`, `critical` or `off`"),
    field(
        "networkPublishing",
        object![
            field("externalTrafficPolicy", STRING, "Whether traffic may go over other nodes: `Local` or `Cluster`"),
            field("ipFamilyPolicy", STRING, "`SingleStack`, `PreferDualStack` or `RequireDualStack`"),
            field("serviceAnnotations", STRING_MAP, "Annotations of the Service"),
            field("type", STRING, "`LoadBalancerService`, `NodePortService` or `ClusterIPService`"),
        ],
        "The Service that exposes it"
    ),
    NODE_PLACEMENT,
    field("overloadMaxDownstreamConnections", INTEGER, "The most connections before it refuses new ones"),
    field("overloadMaxHeapSize", INTEGER, "The most memory before it slows down, in bytes"),
    POD_ANNOTATIONS,
    field("replicas", INT32.at_least(0), "Older form of `deployment.replicas`"),
    RESOURCE_LIMITS,
    field("workloadType", STRING, "`DaemonSet` or `Deployment`; `DaemonSet` unless set"),
];
