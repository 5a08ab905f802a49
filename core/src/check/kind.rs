//! Kinds of Kubernetes' and Contour's own groups that do not exist: nobody reads such an object, and no API server takes it.
//!
//! What must not be here: kinds of a dialect's own groups of which the dialect reports, and kinds of projects that are not known here.

use super::whole::Whole;
use crate::diagnostic::{Diagnostic, Place, Severity, codes};
use crate::resource::{Object, nearest};
use alloc::format;

/// A group, whether it has no other kinds, and its kinds.
type Group = (&'static str, bool, &'static [&'static str]);

/// Groups whose kinds are known. Where a later version may have more, only a kind that is nearly one of these is reported.
const GROUPS: &[Group] = &[
    (
        "",
        true,
        &[
            "Binding",
            "ComponentStatus",
            "ConfigMap",
            "Endpoints",
            "Event",
            "LimitRange",
            "Namespace",
            "Node",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Pod",
            "PodTemplate",
            "ReplicationController",
            "ResourceQuota",
            "Secret",
            "Service",
            "ServiceAccount",
        ],
    ),
    ("networking.k8s.io", false, &["Ingress", "IngressClass", "NetworkPolicy", "IPAddress", "ServiceCIDR"]),
    ("discovery.k8s.io", false, &["EndpointSlice"]),
    (
        "gateway.networking.k8s.io",
        false,
        &[
            "GatewayClass",
            "Gateway",
            "HTTPRoute",
            "GRPCRoute",
            "TLSRoute",
            "TCPRoute",
            "UDPRoute",
            "ReferenceGrant",
            "BackendTLSPolicy",
            "ListenerSet",
        ],
    ),
    ("projectcontour.io", true, &["HTTPProxy", "TLSCertificateDelegation", "ExtensionService", "ContourConfiguration", "ContourDeployment"]),
];

pub(super) fn check(whole: &mut Whole<'_>) {
    for object in whole.side.objects().iter().filter(|object| !object.broken && object.parent.is_none()) {
        if let Some(finding) = unknown(object) {
            whole.report(finding);
        }
    }
}

fn unknown(object: &Object) -> Option<Diagnostic> {
    let kind = &*object.key.kind;
    let (group, closed, kinds) = GROUPS.iter().find(|(group, ..)| *group == &*object.key.group)?;
    // Documents of other tools have no version, and a list has any kind's name.
    if object.api_version.is_empty() || kind.is_empty() || kinds.contains(&kind) || kind.ends_with("List") {
        return None;
    }
    let near = nearest(kind, kinds.iter().copied());
    if near.is_none() && !closed {
        return None;
    }
    let of = if group.is_empty() { "Kubernetes' core group" } else { group };
    let place = Place::value(object.id, object.root.get("kind").map_or(object.root.id, |kind| kind.id));
    let mut finding =
        Diagnostic::new(&codes::UNKNOWN_KIND, format!("unknown kind {kind}: {of} has no such kind"), place.clone()).about(object.key.clone());
    finding.severity = if *closed { Severity::Error } else { Severity::Warning };
    Some(match near {
        Some(near) => finding.help(format!("did you mean {near}?")).fix(format!("write {near}"), place, near),
        None => finding,
    })
}
