//! Defines the graph: resources, their references, and the parts of Envoy that they generate.
//!
//! The dialect provides edges by field; the IR's origins provide edges by matching and the Envoy half. A missing object that a resource refers
//! to also has a node, with the reason. Nodes are in the order of the text, then of the IR; nothing depends on hashes. A node's id depends only
//! on the node, so it does not change when other nodes are added.
//!
//! Does not draw; see `picture`.

mod app_gateway;
mod build;
mod calls;
mod envoy;
mod focus;
mod fold;
mod fold_story;
mod nginx;
mod path;
mod running;
mod story;
#[cfg(test)]
mod tests;
mod verbatim;

pub use build::graph;
pub(crate) use build::id_of;
pub use calls::callers;
pub(super) use envoy::TRANSPORT;
pub use focus::Focus;
pub use path::{Step, why};
pub use running::graph_of;
pub use story::{Rule, story};

use super::{OriginView, ResourceRef, Span};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::Str;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    Resource,
    /// A referenced object that is missing.
    Missing,
    /// An object that the controller creates in the cluster.
    Created,
    Listener,
    FilterChain,
    VirtualHost,
    Route,
    Cluster,
    /// An address that a cluster sends to.
    Endpoint,
    /// A certificate or key that Envoy requests by name.
    Secret,
}

impl NodeKind {
    /// All kinds, in the order in which a request meets them.
    pub const ALL: [NodeKind; 10] = [
        NodeKind::Resource,
        NodeKind::Created,
        NodeKind::Listener,
        NodeKind::FilterChain,
        NodeKind::VirtualHost,
        NodeKind::Route,
        NodeKind::Cluster,
        NodeKind::Endpoint,
        NodeKind::Secret,
        NodeKind::Missing,
    ];

    /// Returns the kind's name in outputs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            NodeKind::Resource => "resource",
            NodeKind::Missing => "missing",
            NodeKind::Created => "created",
            NodeKind::Listener => "listener",
            NodeKind::FilterChain => "filter_chain",
            NodeKind::VirtualHost => "virtual_host",
            NodeKind::Route => "route",
            NodeKind::Cluster => "cluster",
            NodeKind::Endpoint => "endpoint",
            NodeKind::Secret => "secret",
        }
    }

    /// Whether it is a part of Envoy's configuration.
    #[must_use]
    pub fn is_envoy(self) -> bool {
        !matches!(self, NodeKind::Resource | NodeKind::Missing | NodeKind::Created)
    }
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GraphNode {
    /// Unique in the graph, and the same for the same input.
    pub id: Str,
    pub kind: NodeKind,
    /// The name, and on further lines details.
    pub label: String,
    /// The gateway of this part, if there are several gateways; for a created object, the gateway that it is created for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<Str>,
    /// The resource of input objects, missing objects and created objects.
    pub resource: Option<Box<ResourceRef>>,
    /// The ledger state (`emitted`...) of input objects.
    pub state: Option<&'static str>,
    /// Why it is missing.
    pub reason: Option<String>,
    /// How many errors were found in it.
    pub errors: u32,
    /// How many warnings were found in it.
    pub warnings: u32,
    /// How many nodes were joined into it, for a folded node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folded: Option<u32>,
    /// The conditions of a route.
    #[serde(skip)]
    pub rule: Option<Box<Rule>>,
    /// Its column in a story, from the left; `None` for supporting nodes.
    #[serde(skip)]
    pub lane: Option<u8>,
    /// The ids of the nodes that it represents in a story.
    #[serde(skip)]
    pub stands_for: Vec<Str>,
    #[serde(flatten)]
    pub span: Option<Box<Span>>,
}

impl GraphNode {
    /// Creates a node without details.
    pub(crate) fn new(id: impl Into<Str>, kind: NodeKind, label: String) -> Self {
        Self {
            id: id.into(),
            kind,
            label,
            gateway: None,
            resource: None,
            state: None,
            reason: None,
            errors: 0,
            warnings: 0,
            folded: None,
            rule: None,
            lane: None,
            stands_for: Vec::new(),
            span: None,
        }
    }
}

/// The meaning of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// A field names the other object.
    Refers,
    /// An annotation holds the other object.
    Holds,
    /// A Listener or Host selects the other object.
    Selects,
    /// The controller creates the other object for this one, and deletes it with this one.
    Owns,
    /// A resource generates a part of Envoy's configuration.
    Makes,
    /// Envoy forwards requests.
    Forwards,
    /// Envoy needs the other part.
    Uses,
    /// A rule allows calls to the other service.
    Allows,
    /// A rule denies calls to the other service.
    Denies,
    /// A rule decides each call to the other service by conditions.
    Decides,
}

impl Relation {
    /// Returns a verb for the relation, from the first node to the second.
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Relation::Refers => "refers to",
            Relation::Holds => "holds",
            Relation::Selects => "selects",
            Relation::Owns => "owns",
            Relation::Makes => "makes",
            Relation::Forwards => "forwards to",
            Relation::Uses => "uses",
            Relation::Allows => "may call",
            Relation::Denies => "must not call",
            Relation::Decides => "may call under conditions",
        }
    }

    /// The word on an arrow between services, if the relation is a rule about calls.
    #[must_use]
    pub fn call_effect(self) -> Option<&'static str> {
        match self {
            Relation::Allows => Some("allow"),
            Relation::Denies => Some("deny"),
            Relation::Decides => Some("rules"),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Edge {
    /// A node's id.
    pub from: Str,
    /// A node's id.
    pub to: Str,
    pub relation: Relation,
    /// The purpose: `service`, `secret`...
    pub label: &'static str,
    /// The field that refers.
    pub at: Option<Box<OriginView>>,
    /// For a rule about calls: its conditions, in the order of evaluation.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub terms: Box<[String]>,
    /// In a story, the percentage of requests that follow this edge; `None` for all of them.
    #[serde(skip)]
    pub share: Option<u32>,
    /// The field next to the referring field that holds its weight, as `spec.weight`.
    #[serde(skip)]
    pub weight: Option<Str>,
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Graph {
    /// In the order of the text, then of the IR.
    pub nodes: Vec<GraphNode>,
    /// In the order of the nodes that they start from.
    pub edges: Vec<Edge>,
    /// Cycles of resources that refer to one another, as ids in the order of the references.
    pub cycles: Vec<Vec<Str>>,
    /// The gateway names, as nodes use them, that are Application Gateways; the rest are Envoys or nginxes.
    #[serde(skip)]
    pub app_gateways: Vec<Option<Str>>,
    /// The gateway names that are nginxes.
    #[serde(skip)]
    pub nginxes: Vec<Option<Str>>,
    /// The services of clusters: one, or several that divide the requests. By the cluster's id.
    #[serde(skip)]
    pub cluster_services: Vec<(Str, Vec<ServiceShare>)>,
}

/// A service's part of the requests of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceShare {
    /// The id of the service's node.
    pub service: Str,
    pub percent: u32,
    /// The ids of its endpoints.
    pub endpoints: Vec<Str>,
}

impl Graph {
    /// Whether a node is a part of an Application Gateway.
    #[must_use]
    pub fn is_of_app_gateway(&self, node: &GraphNode) -> bool {
        node.kind.is_envoy() && self.app_gateways.contains(&node.gateway)
    }

    /// Whether a node is a part of nginx.
    #[must_use]
    pub fn is_of_nginx(&self, node: &GraphNode) -> bool {
        node.kind.is_envoy() && self.nginxes.contains(&node.gateway)
    }
}
