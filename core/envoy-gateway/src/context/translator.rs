//! What the translator works on: Gateways, listeners and routes with the statuses that they get, and the model of each Envoy.
//!
//! Does not decide anything; see `translate` and `policy`.

use super::super::cluster::{Admitted, Name};
use super::super::load::resources::{EnvoyProxy, Resources};
use super::super::model::{BackendCluster, Certificate, TlsSettings, Xds};
use super::super::settings::Settings;
use super::super::status::{Conditions, PolicyStatuses, Reference};
use super::in_force::InForce;
use super::index::Index;
use super::route_kind::RouteKind;
use super::route_memory::{RouteMemory, Translated};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Findings;
use chancery_base::ir::Tree;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::selector::Selector;
use chancery_text::Str;
use core::ops::Range;

/// A listener by its Gateway's place among the accepted ones, and its place in the Gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ListenerId {
    pub(crate) gateway: usize,
    pub(crate) listener: usize,
}

/// The status of a listener.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListenerStatus {
    pub(crate) conditions: Conditions,
    /// Group and kind of the routes that it accepts.
    pub(crate) supported_kinds: Vec<(Str, Str)>,
    pub(crate) attached_routes: i64,
}

/// How clients of a listener are verified, by the Gateway's `tls.frontend`.
#[derive(Clone, Debug)]
pub(crate) enum FrontendValidation {
    /// By these CAs.
    Valid(Box<TlsSettings>),
    /// The CAs cannot be used: reason and message.
    Invalid(&'static str, String),
}

/// A listener of a Gateway or of a ListenerSet.
#[derive(Clone, Debug)]
pub(crate) struct Listener<'a> {
    /// The listener's fields.
    pub(crate) at: Cursor<'a>,
    pub(crate) name: Str,
    pub(crate) port: i64,
    pub(crate) protocol: Str,
    /// `None` for all hosts.
    pub(crate) hostname: Option<Str>,
    /// The place of its ListenerSet in [`Translator::listener_sets`], if it is from one.
    pub(crate) set: Option<usize>,
    /// Namespace and name of its ListenerSet.
    pub(crate) set_name: Option<Name>,
    /// The name of the listener in the model.
    pub(crate) ir_name: Str,
    /// The namespaces of its routes, if a selector chooses them.
    pub(crate) selector: Option<Selector>,
    pub(crate) spec_valid: bool,
    pub(crate) protocol_conflicted: bool,
    pub(crate) certificates: Vec<Certificate>,
    pub(crate) has_sds_certificate: bool,
    /// DNS names of its certificates.
    pub(crate) dns_names: Vec<String>,
    pub(crate) frontend: Option<Arc<FrontendValidation>>,
    pub(crate) status: ListenerStatus,
}

impl Listener<'_> {
    pub(crate) fn is_from_listener_set(&self) -> bool {
        self.set.is_some()
    }

    /// Whether routes can be attached and Envoy listens.
    pub(crate) fn is_ready(&self) -> bool {
        self.status.conditions.is("Programmed", true)
    }

    /// Whether a condition says that it cannot be used.
    pub(crate) fn has_invalid_condition(&self) -> bool {
        self.status.conditions.0.iter().any(|condition| {
            !condition.holds
                && match condition.kind.as_str() {
                    "Programmed" | "Accepted" => true,
                    "ResolvedRefs" => condition.reason != "PartiallyInvalidCertificateRef",
                    _ => false,
                }
        })
    }

    /// Sets a condition. In a ListenerSet, `Invalid` has another reason.
    pub(crate) fn set(&mut self, kind: &str, holds: bool, reason: &str, message: impl Into<String>) {
        let reason = if self.set.is_some() && reason == "Invalid" { "ListenersNotValid" } else { reason };
        self.status.conditions.set(kind, holds, reason, message);
    }
}

/// A Gateway of the class.
pub(crate) struct GatewayContext<'a> {
    pub(crate) object: &'a Admitted<'a>,
    /// The Gateway's own listeners, then those of its ListenerSets.
    pub(crate) listeners: Vec<Listener<'a>>,
    pub(crate) envoy_proxy: Option<Arc<EnvoyProxy>>,
    /// Whether the EnvoyProxy is named by the Gateway itself.
    pub(crate) envoy_proxy_from_gateway: bool,
    /// The client certificate for backends of `spec.tls.backend`, once it is resolved.
    pub(crate) backend_tls: Option<Cursor<'a>>,
    pub(crate) conditions: Conditions,
    pub(crate) attached_listener_sets: i64,
}

impl<'a> GatewayContext<'a> {
    /// Whether something says that it is not accepted.
    pub(crate) fn is_refused(&self) -> bool {
        self.conditions.is("Accepted", false)
    }

    pub(crate) fn name(&self) -> Name {
        self.object.full_name()
    }

    /// Returns a field of the EnvoyProxy's `spec`, or nothing.
    pub(crate) fn proxy(&self, path: &[&str]) -> &Tree {
        const NOTHING: &Tree = &Tree::NULL;
        self.envoy_proxy.as_ref().map_or(NOTHING, |proxy| proxy.spec.at(path))
    }

    pub(crate) fn reference(&self, section: Option<Str>) -> Reference {
        Reference::new("Gateway", self.object.namespace(), self.object.name(), section)
    }
}

/// A ListenerSet, whatever its Gateway is.
pub(crate) struct ListenerSetContext<'a> {
    pub(crate) object: &'a Admitted<'a>,
    /// The place of its accepted Gateway.
    pub(crate) gateway: Option<usize>,
    pub(crate) conditions: Conditions,
    /// Whether its listeners were added to the Gateway.
    pub(crate) attached: bool,
}

/// A parent of a route that is one of our Gateways or ListenerSets.
#[derive(Clone, Debug)]
pub(crate) struct RouteParent<'a> {
    /// The item of `spec.parentRefs`.
    pub(crate) at: Cursor<'a>,
    /// The item's number.
    pub(crate) place: usize,
    pub(crate) reference: Reference,
    /// The listeners that admit the route.
    pub(crate) listeners: Vec<ListenerId>,
    /// The place of its conditions in [`RouteContext::statuses`].
    pub(crate) status: usize,
    /// Routes with the same matches, as kind, namespace and name.
    pub(crate) overlapping: BTreeSet<(Str, Str, Str)>,
}

/// A route that one of our Gateways is a parent of.
pub(crate) struct RouteContext<'a> {
    pub(crate) kind: RouteKind,
    pub(crate) object: &'a Admitted<'a>,
    pub(crate) parents: Vec<RouteParent<'a>>,
    pub(crate) statuses: Vec<(Reference, Conditions)>,
    /// The listeners that count it as attached.
    pub(crate) attached: Vec<ListenerId>,
    /// The routes in the model that its rules became.
    pub(crate) spans: Vec<RouteSpan>,
    /// `None` if a later compile must translate it again.
    pub(crate) translated: Option<Translated>,
}

/// Consecutive routes of a listener in the model, before they are sorted.
#[derive(Clone, Debug)]
pub(crate) struct RouteSpan {
    /// The key of the Envoy in [`Translator::xds`].
    pub(crate) ir_key: Str,
    /// The listener's place in [`Xds::http`].
    pub(crate) listener: usize,
    pub(crate) routes: Range<usize>,
}

impl<'a> RouteContext<'a> {
    /// Returns `KIND/NAMESPACE/NAME/` in lower case, the prefix of the names of its routes.
    pub(crate) fn prefix(&self) -> String {
        format!("{}/{}/{}/", self.kind.lower(), self.object.namespace(), self.object.name())
    }

    pub(crate) fn has_rule(&self, name: &str) -> bool {
        self.object.spec().field("rules").items().any(|rule| rule.field("name").some_str() == Some(name))
    }

    /// Returns the conditions of a parent.
    pub(crate) fn conditions(&mut self, parent: usize) -> &mut Conditions {
        let at = self.parents[parent].status;
        &mut self.statuses[at].1
    }
}

/// A cluster that routes share, by what it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BackendClusterKey {
    pub(crate) ir_key: Str,
    pub(crate) kind: Str,
    pub(crate) namespace: Str,
    pub(crate) name: Str,
    pub(crate) port: i64,
    pub(crate) protocol: &'static str,
}

/// Everything that one GatewayClass makes.
pub(crate) struct Translator<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) resources: &'a Resources<'a>,
    pub(crate) merge_gateways: bool,
    /// `mergeBackends` of the class or of the controller; `Tree::NULL` if it is off.
    pub(crate) merge_backends: Tree,
    /// Accepted Gateways.
    pub(crate) gateways: Vec<GatewayContext<'a>>,
    /// Gateways that are refused before translation.
    pub(crate) failed: Vec<GatewayContext<'a>>,
    pub(crate) listener_sets: Vec<ListenerSetContext<'a>>,
    /// HTTPRoutes, GRPCRoutes, TLSRoutes, TCPRoutes and UDPRoutes, in this order.
    pub(crate) routes: Vec<RouteContext<'a>>,
    /// By [`Translator::ir_key`].
    pub(crate) xds: BTreeMap<Str, Xds>,
    /// Statuses of all kinds of policies.
    pub(crate) policies: PolicyStatuses,
    pub(crate) backend_clusters: BTreeMap<BackendClusterKey, BackendCluster>,
    /// How many backends got TLS from a BackendTLSPolicy.
    pub(crate) backend_tls_uses: usize,
    /// What HTTPRoutes became in earlier compiles; `None` if nothing is kept.
    pub(crate) memory: Option<&'a mut RouteMemory>,
    /// The policies' settings for backends, before routes are translated.
    pub(crate) index: Index,
    /// The policies that count, by what they are for.
    pub(crate) in_force: InForce,
    pub(crate) findings: Findings,
}

impl<'a> Translator<'a> {
    /// Returns the name of the Envoy of a Gateway: the Gateway's own, or the class if Gateways are merged.
    pub(crate) fn ir_key(&self, gateway: &Admitted<'_>) -> Str {
        if self.merge_gateways { self.resources.class.clone() } else { Str::from(gateway.path()) }
    }

    /// Returns all listeners of accepted Gateways.
    pub(crate) fn listener_ids(&self) -> Vec<ListenerId> {
        let of =
            |(gateway, context): (usize, &GatewayContext<'_>)| (0..context.listeners.len()).map(move |listener| ListenerId { gateway, listener });
        self.gateways.iter().enumerate().flat_map(of).collect()
    }

    pub(crate) fn listener(&self, id: ListenerId) -> &Listener<'a> {
        &self.gateways[id.gateway].listeners[id.listener]
    }

    pub(crate) fn listener_mut(&mut self, id: ListenerId) -> &mut Listener<'a> {
        &mut self.gateways[id.gateway].listeners[id.listener]
    }
}
