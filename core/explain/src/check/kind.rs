//! Reports kinds that their API group does not have: no controller reads such an object, and no API server accepts it.
//!
//! The dialects list the kinds that they read.

use super::whole::Whole;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Place, Severity, codes};
use chancery_base::resource::{Object, nearest};
use chancery_base::schema::ListedKind;

/// An API group of Kubernetes.
struct Group {
    name: &'static str,
    /// Whether the group has no further kinds, now or later.
    is_complete: bool,
    kinds: &'static [&'static str],
}

/// Groups of Kubernetes itself. If a later version may add kinds, only a near miss of a known kind is reported.
const GROUPS: &[Group] = &[
    Group {
        name: "",
        is_complete: true,
        kinds: &[
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
    },
    Group { name: "networking.k8s.io", is_complete: false, kinds: &["Ingress", "IngressClass", "NetworkPolicy", "IPAddress", "ServiceCIDR"] },
    Group { name: "discovery.k8s.io", is_complete: false, kinds: &["EndpointSlice"] },
    Group {
        name: "gateway.networking.k8s.io",
        is_complete: false,
        kinds: &[
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
    },
];

pub(super) fn check(whole: &mut Whole<'_>) {
    let dialect = whole.side.dialect();
    let listed = (dialect.listing)();
    for object in whole.side.objects().iter().filter(|object| !object.broken && object.parent.is_none()) {
        // Documents of other tools have no version, and a list may have any kind. A reported object needs no further report.
        let kind = object.key.kind.as_str();
        if object.api_version.is_empty() || kind.is_empty() || kind.ends_with("List") || whole.wrong.contains(&object.id) {
            continue;
        }
        let group = object.key.group.as_str();
        let finding = match GROUPS.iter().find(|known| known.name == group) {
            Some(known) => unknown(object, known.kinds, known.is_complete),
            None => {
                // A dialect lists all kinds in its own groups.
                let own: Vec<&str> = listed.iter().filter(|listed| listed.own && listed.group == group).map(|listed| listed.name).collect();
                match own.is_empty() {
                    true => wrong_group(object, &listed, dialect.controller),
                    false if dialect.foreign_kinds.contains(&kind) => None,
                    false => unknown(object, &own, true),
                }
            }
        };
        if let Some(finding) = finding {
            whole.report(finding);
        }
    }
}

/// Reports an object whose kind is one of the dialect's, in a group that is nearly the dialect's.
fn wrong_group(object: &Object, listed: &[ListedKind], controller: &str) -> Option<Diagnostic> {
    let (kind, group) = (object.key.kind.as_str(), object.key.group.as_str());
    let groups = listed.iter().filter(|listed| listed.own && listed.name == kind).map(|listed| listed.group);
    let meant = nearest(group, groups)?;
    let version = object.api_version.rsplit('/').next().unwrap_or_default();
    let right = format!("{meant}/{version}");
    let place = Place::value(object.id, object.root.get("apiVersion").map_or(object.root.id, |version| version.id));
    let message = format!("{controller} does not read this {kind}: its API group is `{meant}`, not `{group}`");
    let mut finding = Diagnostic::new(&codes::UNKNOWN_KIND, message, place.clone()).about(object.key.clone());
    finding.severity = Severity::Warning;
    Some(finding.help(format!("write `apiVersion: {right}`")).fix(format!("write {right}"), place, right))
}

fn unknown(object: &Object, kinds: &[&str], is_complete: bool) -> Option<Diagnostic> {
    let (kind, group) = (object.key.kind.as_str(), object.key.group.as_str());
    if kinds.contains(&kind) {
        return None;
    }
    let near = nearest(kind, kinds.iter().copied());
    if near.is_none() && !is_complete {
        return None;
    }
    let group = if group.is_empty() { "Kubernetes' core group" } else { group };
    let place = Place::value(object.id, object.root.get("kind").map_or(object.root.id, |kind| kind.id));
    let message = format!("unknown kind {kind}: {group} has no such kind");
    let mut finding = Diagnostic::new(&codes::UNKNOWN_KIND, message, place.clone()).about(object.key.clone());
    finding.severity = if is_complete { Severity::Error } else { Severity::Warning };
    Some(match near {
        Some(near) => finding.help(format!("did you mean {near}?")).fix(format!("write {near}"), place, near),
        None => finding,
    })
}
