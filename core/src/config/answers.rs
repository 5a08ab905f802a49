//! What a controller answers besides Envoy's configuration.
//!
//! What must not be here: what any controller answers.

use crate::resource::{ObjectId, ResourceKey};
use crate::text::{Node, Str, Value};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What a controller answers besides Envoy's configuration.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Statuses, what the API server refused, the controller's own configuration... by the name of the output.
    pub documents: BTreeMap<&'static str, Answer>,
    /// The objects that it creates in the cluster.
    pub created: Vec<Created>,
}

/// What a controller answers under one name.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A value.
    Value(Node),
    /// The statuses of objects.
    Statuses(Vec<StatusOf>),
}

/// The status of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusOf {
    /// The object's kind.
    pub kind: Str,
    /// Its namespace; empty for what stands in none.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// The status; many objects have the same.
    pub status: Arc<Node>,
}

impl StatusOf {
    /// `{kind, name, namespace, status}`, what stands in no namespace without that field.
    fn node(&self) -> Node {
        let text = |text: &Str| Node::synthesised(Value::String(text.clone()));
        let namespace = (!self.namespace.is_empty()).then(|| ("namespace", text(&self.namespace)));
        let fields = [("kind", text(&self.kind)), ("name", text(&self.name))].into_iter().chain(namespace);
        Node::synthesised(Value::Object(fields.chain([("status", Node::clone(&self.status))]).collect()))
    }
}

impl Answer {
    /// The value.
    pub fn node(&self) -> Node {
        match self {
            Answer::Value(node) => node.clone(),
            Answer::Statuses(statuses) => Node::synthesised(Value::Array(statuses.iter().map(StatusOf::node).collect())),
        }
    }
}

impl From<Node> for Answer {
    fn from(node: Node) -> Self {
        Answer::Value(node)
    }
}

/// An object that a controller creates in the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Created {
    /// Its name.
    pub key: ResourceKey,
    /// The input object on whose account it is there, and with which it goes.
    pub owner: ObjectId,
}

/// A setting of a controller that differs between two configurations.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingChange {
    /// Its path in the controller's configuration.
    pub path: String,
    /// What it was; `None` where nothing was.
    pub before: Option<Node>,
    /// What it is; `None` where nothing is.
    pub after: Option<Node>,
    /// What the change takes.
    pub takes: Takes,
}

/// What a changed setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Takes {
    /// The controller serves the new value to the Envoys that run.
    Nothing,
    /// The controller stops its controllers and starts them with the new value.
    Controllers,
    /// The controller listens elsewhere, so that its process must start again.
    Process,
}

impl Takes {
    /// What it takes, as the end of a sentence about the change.
    pub fn words(self) -> &'static str {
        match self {
            Takes::Nothing => "is taken in place",
            Takes::Controllers => "needs its controllers to start again",
            Takes::Process => "needs its process to start again",
        }
    }
}
