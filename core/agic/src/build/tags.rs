//! Sets the tags that identify the gateway's owner.
//!
//! AGIC `addTags` in `pkg/appgw/configbuilder.go`.

use super::builder::Builder;
use crate::crash::ControllerCrash;
use crate::environment::of_resource_id;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// The version of the controller, which is unknown here.
const VERSION: &str = "VERSION/COMMIT/DATE";

pub(super) fn set(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    let tags = &mut builder.gateway.tags;
    tags.insert(Str::new_static("managed-by-k8s-ingress"), Sourced::built_in(Str::new_static(VERSION)));
    if let Some(node) = builder.source.node()
        && let Some(cluster) = cluster_of(node.str())
    {
        tags.insert(Str::new_static("ingress-for-aks-cluster-id"), Sourced::new(cluster, node.origin()));
    }
    Ok(())
}

/// Derives the cluster's id from Azure's name of a node: the node group is named `MC_GROUP_CLUSTER_REGION`.
fn cluster_of(provider: &str) -> Option<Str> {
    let (subscription, group, _) = of_resource_id(provider.strip_prefix("azure://")?);
    let parts: Vec<&str> = group.split('_').collect();
    let [mc, group, cluster, _] = parts[..] else { return None };
    let id = format!("/subscriptions/{subscription}/resourcegroups/{group}/providers/Microsoft.ContainerService/managedClusters/{cluster}");
    mc.eq_ignore_ascii_case("MC").then(|| id.into())
}
