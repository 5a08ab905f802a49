//! Defines the results of a controller in addition to the proxies' configuration: statuses, refused and created objects, its own settings.

use super::Failure;
use crate::resource::{ObjectId, ResourceKey};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Node, NodeId, Str, Value};

#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// The statuses that the controller writes, by kind, namespace and name; `None` if it stops before it writes any.
    pub statuses: Option<Vec<StatusOf>>,
    /// The objects that the API server refused, in the order of the text.
    pub refused: Vec<Refused>,
    /// The objects that the controller creates in the cluster; `None` for a controller that creates none.
    pub created: Option<Vec<Created>>,
    /// The controller's own configuration, if it has one and reads it.
    pub configuration: Option<OwnConfiguration>,
    /// Whether the controller serves with its configuration, if it has one.
    pub controller_state: Option<ControllerState>,
    /// Why the controller has no gateways.
    pub failure: Option<Failure>,
}

/// The status of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusOf {
    pub kind: Str,
    /// Empty for cluster-scoped objects.
    pub namespace: Str,
    pub name: Str,
    /// Shared, since many objects have the same status.
    pub status: Arc<Node>,
}

/// An object that the API server refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    pub object: ObjectId,
    /// The object's root node, for findings.
    pub root: NodeId,
    pub key: ResourceKey,
    /// The API server's messages, verbatim.
    pub errors: Vec<String>,
}

/// An object that a controller creates in the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Created {
    pub key: ResourceKey,
    /// The input object that owns it; deleting the owner deletes it.
    pub owner: ObjectId,
    pub object: Node,
}

/// A controller's own configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnConfiguration {
    /// The effective settings: the given ones over the defaults.
    pub effective: Node,
    /// The settings from flags and files, if they and not an object configure the controller.
    pub given: Option<Node>,
}

/// Whether a controller serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serving {
    /// It serves with its configuration.
    Ready,
    /// It serves with defaults because its configuration was deleted.
    Defaults,
    /// It does not run and is not ready until the configuration is repaired.
    Unready,
}

/// The state of a controller with its own configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerState {
    pub serving: Serving,
    /// Why it does not serve.
    pub error: Option<String>,
    /// The object that holds the configuration, as a document with name, finalizers and status.
    pub configuration: Option<Node>,
    /// Settings whose change restarts the process.
    pub restarts_process: Vec<&'static str>,
    /// Settings whose change restarts the controllers.
    pub restarts_controllers: Vec<&'static str>,
}

impl Serving {
    pub fn name(self) -> &'static str {
        match self {
            Serving::Ready => "ready",
            Serving::Defaults => "defaults",
            Serving::Unready => "unready",
        }
    }
}

/// Documents of the results, for the outputs that a dialect lists.
impl Answers {
    /// `[{kind, name, namespace, status}]`; cluster-scoped objects have no `namespace`.
    pub fn status_document(&self) -> Option<Node> {
        self.statuses.as_ref().map(|statuses| array(statuses.iter().map(StatusOf::node)))
    }

    /// The refused objects: `[{kind, namespace, name, errors}]`; cluster-scoped objects have no `namespace`.
    pub fn admission_document(&self) -> Option<Node> {
        (!self.refused.is_empty()).then(|| array(self.refused.iter().map(Refused::node)))
    }

    /// The created objects, in the controller's order.
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
    pub fn controller_state_document(&self, configuration: &'static str) -> Option<Node> {
        let state = self.controller_state.as_ref()?;
        let names = |names: &[&'static str]| array(names.iter().map(|name| text(name)));
        let mut fields = Vec::from([("serving", text(state.serving.name()))]);
        fields.extend(state.error.as_ref().map(|error| ("error", text(error))));
        fields.extend(state.configuration.clone().map(|document| (configuration, document)));
        let restarts = [("process", names(&state.restarts_process)), ("controllers", names(&state.restarts_controllers))];
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

/// A controller setting that differs between two configurations.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingChange {
    /// The path in the controller's configuration.
    pub path: String,
    /// The old value; `None` if it was not set.
    pub before: Option<Node>,
    /// The new value; `None` if it is not set.
    pub after: Option<Node>,
    /// What the change restarts.
    pub restart: Restart,
}

/// What a changed setting restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Restart {
    /// Nothing: the controller serves the new value to the running Envoys.
    Nothing,
    /// The controller restarts its internal controllers with the new value.
    Controllers,
    /// The process must restart, since the controller listens elsewhere.
    Process,
}

impl Restart {
    /// Describes the restart, as the end of a sentence about the change.
    pub fn words(self) -> &'static str {
        match self {
            Restart::Nothing => "takes effect without a restart",
            Restart::Controllers => "restarts the controllers",
            Restart::Process => "restarts the process",
        }
    }
}
