//! The graph: resources and what they refer to, and on to what Envoy gets.
//!
//! Edges by field come from the dialect, edges by matching and the Envoy half from the IR's origins. What is referred to and not there is
//! a node too, with the reason. Nodes stand in the order of the text, then of the IR; nothing depends on hashes. An id follows from what
//! the node is, so that it stays when something else is added.
//!
//! What must not be here: drawing.

mod app_gateway;
mod build;
mod envoy;
mod focus;
mod fold;
mod nginx;
mod passed_on;
mod path;
mod running;
mod story;

pub use build::graph;
pub(crate) use build::id_of;
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

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// An input object.
    Resource,
    /// What is referred to and not there.
    Missing,
    /// An object that the controller creates in the cluster.
    Created,
    /// An Envoy listener.
    Listener,
    /// A filter chain.
    FilterChain,
    /// A virtual host.
    VirtualHost,
    /// A route.
    Route,
    /// A cluster.
    Cluster,
    /// An address that a cluster sends to.
    Endpoint,
    /// A certificate or key that Envoy asks for by name.
    Secret,
}

impl NodeKind {
    /// All of them, in the order of a request.
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

    /// The word by which outputs name it.
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

/// A node.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GraphNode {
    /// Unique in the graph, and the same for the same input.
    pub id: Str,
    /// What it is.
    pub kind: NodeKind,
    /// What to write on it: a name, and on further lines what says more.
    pub label: String,
    /// The gateway that has it, where there are several; of what is created, the one that it is created for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<Str>,
    /// The resource, of input objects, what is missing and what is created.
    pub resource: Option<Box<ResourceRef>>,
    /// What became of it (`emitted`...), of input objects.
    pub state: Option<&'static str>,
    /// Why it is not there.
    pub reason: Option<String>,
    /// How many errors were found in it.
    pub errors: u32,
    /// How many warnings were.
    pub warnings: u32,
    /// How many nodes it stands for, of one that was folded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folded: Option<u32>,
    /// What it asks of a request, of routes.
    #[serde(skip)]
    pub rule: Option<Box<Rule>>,
    /// Its column in a story, from the left; nothing for what only supports the others.
    #[serde(skip)]
    pub lane: Option<u8>,
    /// In a story, the ids of the nodes that it stands for.
    #[serde(skip)]
    pub stands_for: Vec<Str>,
    /// Where it stands.
    #[serde(flatten)]
    pub span: Option<Box<Span>>,
}

impl GraphNode {
    /// A node of which nothing more is known.
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

/// What an edge says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// A field names the other.
    Refers,
    /// An annotation holds the other.
    Holds,
    /// A Listener or Host takes the other in.
    Selects,
    /// The other is created on its account, and goes with it.
    Owns,
    /// A resource makes a part of Envoy's configuration.
    Makes,
    /// Envoy hands requests on.
    Forwards,
    /// Envoy needs the other for it.
    Uses,
}

impl Relation {
    /// What the first does with the second, as a word.
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
        }
    }
}

/// An edge.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Edge {
    /// A node's id.
    pub from: Str,
    /// A node's id.
    pub to: Str,
    /// What it says.
    pub relation: Relation,
    /// What for: `service`, `secret`...
    pub label: &'static str,
    /// The field that refers.
    pub at: Option<Box<OriginView>>,
    /// In a story, the share of the requests that go this way, in percent; nothing for all of them.
    #[serde(skip)]
    pub share: Option<u32>,
}

/// Nodes and edges.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Graph {
    /// In the order of the text, then of the IR.
    pub nodes: Vec<GraphNode>,
    /// By the node that they start from.
    pub edges: Vec<Edge>,
    /// Resources that refer to one another in a circle, each by its id, in the order of the references.
    pub cycles: Vec<Vec<Str>>,
    /// What nodes call the gateways that are Application Gateways; all others are Envoys.
    #[serde(skip)]
    pub app_gateways: Vec<Option<Str>>,
    /// The same of those that are nginx.
    #[serde(skip)]
    pub nginxes: Vec<Option<Str>>,
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
