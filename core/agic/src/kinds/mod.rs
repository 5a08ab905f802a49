//! The kinds that the controller reads, in one table. Its own kinds, and Kubernetes kinds that no other dialect reads, have one file each.

mod istio;
mod multi_cluster;
mod old_ingress;
mod pod;
mod prohibited_target;
mod rewrite;
mod workload;

use alloc::vec::Vec;
use chancery_base::schema::{KnownKind, ListedKind, Schema};
use chancery_kubernetes::cluster::ReadKind;
use chancery_kubernetes::custom;
use chancery_kubernetes::kind::{self, Version};
use chancery_kubernetes::kinds as kubernetes;

/// The API group of prohibited targets.
pub const TARGET_GROUP: &str = "appgw.ingress.k8s.io";
/// The API group of rewrites.
pub const REWRITE_GROUP: &str = "appgw.ingress.azure.io";
/// The API group of multi-cluster Ingresses and Services.
pub const MULTI_CLUSTER_GROUP: &str = "networking.aks.io";

macro_rules! kinds {
    ($($(#[$meta:meta])* $name:ident $definition:expr;)*) => {
        /// A kind that the controller reads.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$meta])* $name,)*
        }

        /// All kinds, in a natural order for readers.
        pub static ALL: &[(Kind, &kind::Kind)] = &[$((Kind::$name, $definition)),*];
    };
}

kinds! {
    /// `networking.k8s.io/v1`
    Ingress &kubernetes::INGRESS;
    /// `networking.k8s.io/v1`
    IngressClass &kubernetes::INGRESS_CLASS;
    /// `appgw.ingress.k8s.io/v1`
    ProhibitedTarget &PROHIBITED_TARGET;
    /// `appgw.ingress.azure.io/v1beta1`
    Rewrite &REWRITE;
    /// `v1`
    Service &kubernetes::SERVICE;
    /// `v1`
    Endpoints &workload::ENDPOINTS;
    /// `v1`
    Pod &workload::POD;
    /// `v1`
    Secret &kubernetes::SECRET;
    /// `v1`
    Node &workload::NODE;
    /// `networking.aks.io/v1alpha1`
    MultiClusterIngress &MULTI_CLUSTER_INGRESS;
    /// `networking.aks.io/v1alpha1`
    MultiClusterService &MULTI_CLUSTER_SERVICE;
    /// `networking.istio.io/v1alpha3`
    IstioGateway &istio::GATEWAY;
    /// `networking.istio.io/v1alpha3`
    IstioVirtualService &istio::VIRTUAL_SERVICE;
    /// `extensions/v1beta1`, of clusters before 1.19
    OldIngress &old_ingress::KIND;
}

const fn own(group: &'static str, name: &'static str, plural: &'static str, versions: &'static [Version], doc: &'static str) -> kind::Kind {
    kind::Kind { group, name, plural, namespaced: true, doc, versions, built_in: false }
}

static PROHIBITED_TARGET: kind::Kind = own(
    TARGET_GROUP,
    "AzureIngressProhibitedTarget",
    "azureingressprohibitedtargets",
    &[Version { name: "v1", schema: &PROHIBITED_TARGET_V1 }],
    "A host and paths of a shared gateway that the controller leaves alone",
);
static PROHIBITED_TARGET_V1: Schema = custom![prohibited_target::SPEC, "The host and its paths"];

static REWRITE: kind::Kind = own(
    REWRITE_GROUP,
    "AzureApplicationGatewayRewrite",
    "azureapplicationgatewayrewrites",
    &[Version { name: "v1beta1", schema: &REWRITE_V1BETA1 }],
    "Changes of headers and URLs, which Ingresses refer to by an annotation",
);
static REWRITE_V1BETA1: Schema = custom![rewrite::SPEC, "The changes"];

static MULTI_CLUSTER_INGRESS: kind::Kind = own(
    MULTI_CLUSTER_GROUP,
    "MultiClusterIngress",
    "multiclusteringresses",
    &[Version { name: "v1alpha1", schema: &MULTI_CLUSTER_INGRESS_V1ALPHA1 }],
    "An Ingress over several clusters; read instead of Ingresses in MULTI_CLUSTER_MODE",
);
static MULTI_CLUSTER_INGRESS_V1ALPHA1: Schema = custom![multi_cluster::INGRESS_SPEC, "The Ingress"];

static MULTI_CLUSTER_SERVICE: kind::Kind = own(
    MULTI_CLUSTER_GROUP,
    "MultiClusterService",
    "multiclusterservices",
    &[Version { name: "v1alpha1", schema: &MULTI_CLUSTER_SERVICE_V1ALPHA1 }],
    "A Service over several clusters; read instead of Services in MULTI_CLUSTER_MODE",
);
static MULTI_CLUSTER_SERVICE_V1ALPHA1: Schema = custom![multi_cluster::SERVICE_SPEC, "Its ports, and the Services behind it"];

/// All kinds with known schemas, in all their versions.
pub fn known() -> Vec<KnownKind> {
    let of = |kind: &'static kind::Kind| {
        kind.versions.iter().rev().filter_map(move |version| {
            let spec = &version.schema.describe(&["spec"])?.schema;
            Some(KnownKind { name: kind.name, api_version: kind.api_version(version), doc: kind.doc, spec })
        })
    };
    ALL.iter().map(|(_, definition)| *definition).flat_map(of).collect()
}

impl ReadKind for Kind {
    fn find(group: &str, name: &str) -> Option<Self> {
        ALL.iter().find(|(_, definition)| definition.group == group && definition.name == name).map(|(kind, _)| *kind)
    }

    fn definition(self) -> &'static kind::Kind {
        // The table has the order of the enum, which a test checks.
        ALL[self as usize].1
    }
}

/// The kinds that the controller reads.
pub fn listing() -> Vec<ListedKind> {
    let listed = ALL.iter().map(|(_, definition)| ListedKind {
        name: definition.name,
        group: definition.group,
        plural: Some(definition.plural),
        versions: definition.versions.iter().map(|version| version.name).collect(),
        config_key: None,
        own: [TARGET_GROUP, REWRITE_GROUP, MULTI_CLUSTER_GROUP].contains(&definition.group),
        doc: definition.doc,
    });
    listed.collect()
}

#[cfg(test)]
mod tests;
