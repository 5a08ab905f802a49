//! What a controller answers besides the configuration of proxies.
//!
//! What must not be here: what any controller answers.

use super::Failure;
use crate::resource::{ObjectId, ResourceKey};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Node, NodeId, Str, Value};

/// What a controller answers besides the configuration of proxies.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// The statuses that it writes, by kind, namespace and name; `None` where it does not get as far as writing any.
    pub statuses: Option<Vec<StatusOf>>,
    /// What the API server refused, in the order of the text.
    pub refused: Vec<Refused>,
    /// The objects that it creates in the cluster; `None` for a controller that creates none.
    pub created: Option<Vec<Created>>,
    /// Its own configuration, where it has one and gets as far as reading it.
    pub configuration: Option<OwnConfiguration>,
    /// How it stands to its own configuration, where it has one.
    pub life: Option<Life>,
    /// Why it does not get as far as having gateways.
    pub failure: Option<Failure>,
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

/// An object that the API server refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The object.
    pub object: ObjectId,
    /// The object's root, for findings.
    pub root: NodeId,
    /// Its name.
    pub key: ResourceKey,
    /// The API server's own messages.
    pub errors: Vec<String>,
}

/// An object that a controller creates in the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Created {
    /// Its name.
    pub key: ResourceKey,
    /// The input object on whose account it is there, and with which it goes.
    pub owner: ObjectId,
    /// The object.
    pub object: Node,
}

/// The configuration of a controller itself.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnConfiguration {
    /// What takes effect: what is given, laid over the defaults.
    pub effective: Node,
    /// What flags and files come to, where they and not an object give it.
    pub given: Option<Node>,
}

/// Whether a controller serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serving {
    /// With its configuration.
    Ready,
    /// With defaults, as its configuration is gone.
    Defaults,
    /// Not at all: its controllers do not run and it is not ready, until the configuration is repaired.
    Unready,
}

/// How a controller stands to its own configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Life {
    /// Whether it serves.
    pub serving: Serving,
    /// Why it does not.
    pub error: Option<String>,
    /// The object that holds the configuration: its name, its finalizers and its status, as a document.
    pub configuration: Option<Node>,
    /// Settings whose change makes the process start again.
    pub restarts_process: Vec<&'static str>,
    /// Settings whose change makes the controllers start again.
    pub restarts_controllers: Vec<&'static str>,
}

impl Serving {
    /// The word by which outputs name it.
    pub fn name(self) -> &'static str {
        match self {
            Serving::Ready => "ready",
            Serving::Defaults => "defaults",
            Serving::Unready => "unready",
        }
    }
}

/// Documents of what every controller may answer, for the outputs that a dialect lists.
impl Answers {
    /// `[{kind, name, namespace, status}]`; what stands in no namespace has no such field.
    pub fn status_document(&self) -> Option<Node> {
        self.statuses.as_ref().map(|statuses| array(statuses.iter().map(StatusOf::node)))
    }

    /// What the API server refused: `[{kind, namespace, name, errors}]`; what stands in no namespace has no such field.
    pub fn admission_document(&self) -> Option<Node> {
        (!self.refused.is_empty()).then(|| array(self.refused.iter().map(Refused::node)))
    }

    /// The objects that the controller creates, in its order.
    pub fn created_document(&self) -> Option<Node> {
        self.created.as_ref().map(|created| array(created.iter().map(|created| created.object.clone())))
    }

    /// `{effective, spec}` of the controller's own configuration.
    pub fn configuration_document(&self) -> Option<Node> {
        let OwnConfiguration { effective, given } = self.configuration.as_ref()?;
        let given = given.clone().map(|given| ("spec", given));
        Some(object([("effective", effective.clone())].into_iter().chain(given)))
    }

    /// `{serving, error, contourConfiguration, restarts}`.
    pub fn life_document(&self, configuration: &'static str) -> Option<Node> {
        let life = self.life.as_ref()?;
        let names = |names: &[&'static str]| array(names.iter().map(|name| text(name)));
        let mut fields = Vec::from([("serving", text(life.serving.name()))]);
        fields.extend(life.error.as_ref().map(|error| ("error", text(error))));
        fields.extend(life.configuration.clone().map(|document| (configuration, document)));
        let restarts = [("process", names(&life.restarts_process)), ("controllers", names(&life.restarts_controllers))];
        fields.push(("restarts", object(restarts)));
        Some(object(fields))
    }

    /// Why the controller does not serve: `{error, stage}`.
    pub fn failure_document(&self) -> Option<Node> {
        let failure = self.failure.as_ref()?;
        Some(object([("error", text(&failure.error)), ("stage", text(&failure.stage))]))
    }
}

fn text(value: &str) -> Node {
    Node::synthesised(Value::String(Str::new(value)))
}

fn array(items: impl Iterator<Item = Node>) -> Node {
    Node::synthesised(Value::Array(items.collect()))
}

fn object(fields: impl IntoIterator<Item = (&'static str, Node)>) -> Node {
    Node::synthesised(Value::Object(fields.into_iter().collect()))
}

impl StatusOf {
    fn node(&self) -> Node {
        let namespace = (!self.namespace.is_empty()).then(|| ("namespace", text(&self.namespace)));
        let fields = [("kind", text(&self.kind)), ("name", text(&self.name))].into_iter().chain(namespace);
        object(fields.chain([("status", Node::clone(&self.status))]))
    }
}

impl Refused {
    fn node(&self) -> Node {
        let errors = array(self.errors.iter().map(|error| text(error)));
        let namespace = self.key.namespace.as_ref().map(|namespace| ("namespace", text(namespace)));
        object([("errors", errors), ("kind", text(&self.key.kind)), ("name", text(&self.key.name))].into_iter().chain(namespace))
    }
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
