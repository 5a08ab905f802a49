//! Defines the context of this folder: the Gateway, its listeners, and a route at one of its parents.

use super::fault::Faults;
use super::kind::{RouteKind, watched};
use crate::cluster::{Admitted, Name};
use crate::kinds::Kind;
use crate::model::Material;
use crate::processor::Processing;
use crate::source::Source;
use crate::status::SubCondition;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::resource::{Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::gateway_api::status;
use chancery_kubernetes::selector::Selector;
use chancery_text::{Node, Str};

/// The Gateway, with everything that routes need to know.
pub(super) struct Gateway<'a> {
    pub object: &'a Admitted<'a>,
    /// `controllerName` of its class.
    pub controller: &'a str,
    pub listeners: Vec<GatewayListener<'a>>,
    /// ReferenceGrants by their namespaces.
    pub grants: BTreeMap<&'a Str, Vec<&'a Admitted<'a>>>,
    /// BackendTLSPolicies by namespace and name of their target.
    pub policies: BTreeMap<(&'a str, &'a str), Vec<(&'a Admitted<'a>, Cursor<'a>)>>,
    /// None of the requested addresses is available.
    pub unassigned: bool,
}

impl<'a> Gateway<'a> {
    pub fn new(source: &Source<'a>, object: &'a Admitted<'a>, class: &'a Admitted<'a>) -> Self {
        let mut grants: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for grant in watched(source, Kind::ReferenceGrant) {
            grants.entry(grant.namespace()).or_default().push(grant);
        }
        let mut policies: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for policy in watched(source, Kind::BackendTlsPolicy) {
            for target in policy.spec().field("targetRefs").items() {
                policies.entry((policy.namespace().as_str(), target.field("name").str())).or_default().push((policy, target));
            }
        }
        let controller = class.spec().field("controllerName").str();
        Self { object, controller, listeners: Vec::new(), grants, policies, unassigned: false }
    }

    pub fn full_name(&self) -> (&'a str, &'a str) {
        (self.object.namespace(), self.object.name())
    }
}

pub(super) struct GatewayListener<'a> {
    pub at: Cursor<'a>,
    pub name: Str,
    pub port: i64,
    pub protocol: &'a str,
    /// The host that it is for; empty for all.
    pub hostname: Sourced<Str>,
    /// The graph's listener that contains it; empty if none does.
    pub graph_name: Str,
    /// The accepted kinds of routes.
    pub kinds: Vec<RouteKind>,
    /// The selector of accepted namespaces, if any.
    pub selector: Option<Selector>,
    /// Its certificate, if it terminates TLS.
    pub secret: Option<Sourced<Arc<Material>>>,
    /// Routes can attach to it.
    pub ready: bool,
}

impl GatewayListener<'_> {
    /// Where it is written.
    pub fn origin(&self) -> Origin {
        self.at.origin()
    }
}

/// The results of routes and policies: statuses and errors. Contour keys route statuses by name alone: if routes of two kinds share a name, only
/// the later one's status is written.
#[derive(Default)]
pub(super) struct RouteOutcomes {
    pub routes: BTreeMap<Name, (&'static str, Node)>,
    pub policies: BTreeMap<Name, Node>,
    pub faults: Faults,
}

/// A route at one of its parents.
pub(super) struct Attachment<'w, 'a> {
    pub processing: &'w mut Processing<'a>,
    pub gateway: &'w Gateway<'a>,
    pub kind: RouteKind,
    pub route: &'a Admitted<'a>,
    /// The entry of `parentRefs`.
    pub parent: Cursor<'a>,
    pub conditions: status::Conditions,
    /// Receives statuses and errors.
    pub found: &'w mut RouteOutcomes,
}

impl Attachment<'_, '_> {
    /// Adds a condition that is false or reports an omission.
    pub fn say(&mut self, kind: &'static str, holds: bool, reason: &'static str, message: impl Into<String>, origin: Origin) {
        self.say_because(kind, holds, reason, message, (origin, None));
    }

    /// The same, with the object that caused it.
    pub fn say_because(
        &mut self,
        kind: &'static str,
        holds: bool,
        reason: &'static str,
        message: impl Into<String>,
        (origin, because): (Origin, Option<Origin>),
    ) {
        let message = message.into();
        self.found.faults.report(self.route, SubCondition { because, ..SubCondition::new(kind, reason, message.clone(), origin) });
        self.conditions.add(kind, holds, reason, message);
    }

    /// Marks the route as not accepted.
    pub fn refused(&mut self, reason: &'static str, message: impl Into<String>, origin: Origin) {
        self.say("Accepted", false, reason, message, origin);
    }

    /// Marks the route as not accepted because Contour does not support a field.
    pub fn unsupported(&mut self, message: impl Into<String>, origin: Origin) {
        self.refused("UnsupportedValue", message, origin);
    }

    /// A reference of it leads nowhere.
    pub fn unresolved(&mut self, reason: &'static str, message: impl Into<String>, origin: Origin) {
        self.say("ResolvedRefs", false, reason, message, origin);
    }

    /// Reports an impossible match.
    pub fn mismatched(&mut self, message: &str, origin: Origin) {
        self.say("ValidMatches", false, "InvalidPathMatch", message, origin);
    }

    /// Reports that no backend would receive requests.
    pub fn weightless(&mut self, origin: Origin) {
        let message = "At least one Spec.Rules.BackendRef must have a non-zero weight.";
        self.say("ValidBackendRefs", false, "AllBackendRefsHaveZeroWeights", message, origin);
    }
}
