//! Admission and defaults of the API server.

use super::{ALL, Kind, known, listing};
use chancery_kubernetes::cluster::ReadKind as _;

#[test]
fn the_table_has_the_order_of_the_kinds() {
    for (at, (kind, definition)) in ALL.iter().enumerate() {
        assert_eq!(*kind as usize, at, "{}", definition.name);
        assert_eq!(Kind::find(definition.group, definition.name), Some(*kind));
    }
    assert_eq!(Kind::find("networking.k8s.io", "NetworkPolicy"), None);
}

#[test]
fn every_kind_lists_versions_and_spec() {
    assert_eq!(listing().len(), ALL.len());
    assert!(listing().iter().all(|kind| !kind.versions.is_empty() && !kind.doc.is_empty()));
    let names: alloc::vec::Vec<_> = known().iter().map(|kind| kind.name).collect();
    for name in ["Ingress", "AzureApplicationGatewayRewrite", "AzureIngressProhibitedTarget", "MultiClusterIngress"] {
        assert!(names.contains(&name), "{name}");
    }
}
