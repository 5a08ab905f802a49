//! Creates resources as the compiler loads them, with their identifiers.
//!
//! Source of behaviour: Emissary `fetch/resource.py` (NormalizedResource, ResourceManager), `fetch/ambassador.py`, and `config/config.py`
//! (good_ambassador_id).

use super::super::Options;
use super::super::kinds::{Admission, GROUP};
use super::verdict::Applied;
use super::visible::ignore;
use super::{expand, findings};
use crate::config::{Labels, Location, Payload, Resource};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::diagnostic::Findings;
use chancery_base::resource::{Object, ObjectId, ResourceKey, Rule};
use chancery_text::{self, Node, NodeId, Str, Value};

/// The version that the API server stores and the compiler reads.
pub(super) const CURRENT_VERSION: &str = "getambassador.io/v3alpha1";

/// The common parts of resources before they have an identifier.
pub(super) struct Parts {
    pub(super) kind: Str,
    pub(super) name: Str,
    pub(super) namespace: Str,
    pub(super) api_version: Str,
    pub(super) labels: Arc<Labels>,
    pub(super) spec: Arc<Node>,
    pub(super) rule: Rule,
    pub(super) key: ResourceKey,
    pub(super) payload: Payload,
    pub(super) invalid: Vec<String>,
}

impl Parts {
    /// The resource of an object, with expanded environment variables.
    pub(super) fn resource(self, object: &Object, options: &Options) -> Resource {
        let mut resource = Resource {
            rkey: Str::default(),
            location: Location::Text(Str::default()),
            kind: self.kind,
            name: self.name,
            namespace: self.namespace,
            api_version: self.api_version,
            serialization: object.text.clone(),
            labels: self.labels,
            spec: self.spec,
            object: object.id,
            rule: self.rule,
            key: self.key,
            payload: self.payload,
            invalid: self.invalid,
            errors: Vec::new(),
            references: Vec::new(),
            referenced_by: Vec::new(),
        };
        if object.text.is_some() {
            resource.name = expand::expand_text(&resource.name, options);
            resource.namespace = expand::expand_text(&resource.namespace, options);
            resource.labels = expand::expand_labels(&resource.labels, options);
            resource.spec = expand::expand_tree(&resource.spec, options);
        }
        if resource.namespace == "_automatic_" {
            resource.namespace = options.ambassador_namespace.clone();
        }
        resource
    }
}

/// Sets a resource's identifier: the n-th resource of an object of this name.
pub(super) fn number(resource: &mut Resource, base: &str, object: &Object, count: u32) {
    resource.rkey = Str::from(format!("{base}.{count}"));
    let key = &object.key;
    resource.location = Location::Object { kind: key.kind.clone(), name: key.name.clone(), namespace: key.namespace.clone(), number: count };
}

/// The resource of an object; `None` if it belongs to another instance.
pub(super) fn custom(object: &Object, admission: &Admission, options: &Options, sink: &mut Findings) -> Option<Arc<Resource>> {
    let parts = Parts {
        kind: object.key.kind.clone(),
        name: object.key.name.clone(),
        namespace: object.key.namespace.clone().unwrap_or_default(),
        api_version: admission.api_version.clone(),
        labels: labels(object.root.at(&["metadata", "labels"])),
        spec: admission.spec.clone().unwrap_or_else(|| Arc::new(empty(object.root.id))),
        rule: Rule::Field,
        key: object.key.clone(),
        payload: Payload::None,
        invalid: admission.errors.clone(),
    };
    let mut resource = parts.resource(object, options);
    if !good_id(&resource, options) {
        let node = id_node(&resource.spec).map_or(object.root.id, |node| node.id);
        let found = findings::id_in_config(object, options);
        sink.report(found.unwrap_or_else(|| findings::other_id(object.id, object.key.clone(), node, options)));
        return None;
    }
    let base = format!("{}.{}", resource.name, resource.namespace);
    number(&mut resource, &base, object, 1);
    Some(Arc::new(resource))
}

fn id_node(spec: &Node) -> Option<&Node> {
    spec.get("ambassadorId").or_else(|| spec.get("ambassador_id"))
}

/// Whether a resource is meant for this instance, as the compiler sees it.
pub(super) fn good_id(resource: &Resource, options: &Options) -> bool {
    let valid = resource.invalid.is_empty();
    let own = &*options.ambassador_id;
    match id_node(&resource.spec).map(|node| &node.value) {
        None => own == "default",
        // The front end drops an empty list, unless it passes the whole object on as invalid.
        Some(Value::Null) => valid && own == "default",
        Some(Value::Array(ids)) if ids.is_empty() => valid && own == "default",
        Some(Value::Array(ids)) => {
            let automatic = matches!(&ids[..], [only] if only.as_str() == Some("_automatic_"));
            automatic || ids.iter().any(|id| id.as_str() == Some(own))
        }
        Some(Value::String(id)) => id == own,
        Some(_) => false,
    }
}

/// Whether a spec is meant for this instance, as the front end sees it.
pub(super) fn front_end_id(spec: &Node, options: &Options) -> bool {
    match spec.get("ambassador_id").and_then(Node::as_array).map(Vec::as_slice) {
        None | Some([]) => options.ambassador_id == "default",
        Some(ids) => ids.iter().filter_map(Node::as_str).any(|id| id == options.ambassador_id || id == "_automatic_"),
    }
}

/// Labels, shared if there are none.
pub(super) fn labels(node: Option<&Node>) -> Arc<Labels> {
    Arc::new(crate::config::labels_of(node))
}

pub(super) fn empty(id: NodeId) -> Node {
    Node { id, value: Value::Object(chancery_text::Object::new()) }
}

/// A node that is generated from another node.
pub(super) fn made(id: NodeId, value: Value) -> Node {
    Node { id, value }
}

/// A string that is generated from another node.
pub(super) fn made_text(id: NodeId, text: impl Into<Str>) -> Node {
    Node { id, value: Value::String(text.into()) }
}

/// Collects resources and records the fate of their objects.
pub(super) struct Emitter<'e> {
    pub(super) options: &'e Options,
    pub(super) ledger: &'e mut Ledger,
    pub(super) sink: &'e mut Findings,
    out: Vec<Arc<Resource>>,
    /// Identifiers of the resources that may refer to Secrets.
    users: Vec<(ObjectId, Str)>,
}

impl<'e> Emitter<'e> {
    pub(super) fn new(options: &'e Options, ledger: &'e mut Ledger, sink: &'e mut Findings, expected: usize) -> Self {
        Self { options, ledger, sink, out: Vec::with_capacity(expected), users: Vec::new() }
    }

    /// The resources, and the identifiers of those that may refer to Secrets.
    pub(super) fn finish(self) -> (Vec<Arc<Resource>>, Vec<(ObjectId, Str)>) {
        (self.out, self.users)
    }

    /// Adds a resource unchanged.
    pub(super) fn push(&mut self, resource: Arc<Resource>) {
        match resource.invalid.first() {
            Some(error) => self.ledger.set(resource.object, State::Invalid(Str::from(error.as_str()))),
            None => {
                if *self.ledger.get(resource.object) != State::Loaded {
                    self.ledger.set(resource.object, State::Loaded);
                }
            }
        }
        if matches!(&*resource.kind, "Host" | "TLSContext" | "Module") {
            self.users.push((resource.object, resource.rkey.clone()));
        }
        self.out.push(resource);
    }

    /// One of Ambassador's own objects.
    pub(super) fn custom(&mut self, applied: &Applied<'_>) {
        match &applied.verdict.resource {
            Some(resource) => self.push(resource.clone()),
            None => ignore(self.ledger, applied.object.id, Why::OtherController, "another ambassador_id"),
        }
    }

    /// Adds a resource that is generated from an object of another kind, as the n-th of its kind.
    pub(super) fn synthesised(&mut self, holder: &Object, parts: Synthesised, count: u32) {
        let namespace = holder.key.namespace.clone().unwrap_or_default();
        let parts = Parts {
            kind: Str::new_static(parts.kind),
            key: ResourceKey::new(GROUP, parts.kind, namespace.clone(), parts.name.clone()),
            name: parts.name,
            namespace,
            api_version: Str::new_static(CURRENT_VERSION),
            labels: Arc::new(parts.labels),
            spec: Arc::new(parts.spec),
            rule: Rule::Conversion,
            payload: parts.payload,
            invalid: Vec::new(),
        };
        let mut resource = parts.resource(holder, self.options);
        resource.serialization = None;
        let base = format!("{}.{}", resource.name, resource.namespace);
        number(&mut resource, &base, holder, count);
        self.push(Arc::new(resource));
    }

    /// Records that an object is used.
    pub(super) fn used(&mut self, object: ObjectId) {
        self.ledger.set(object, State::Loaded);
    }
}

/// The content of a resource that is generated from another kind.
pub(super) struct Synthesised {
    pub(super) kind: &'static str,
    pub(super) name: Str,
    pub(super) labels: Labels,
    pub(super) spec: Node,
    pub(super) payload: Payload,
}

impl Synthesised {
    pub(super) fn new(kind: &'static str, name: Str, labels: Labels, spec: Node) -> Self {
        Self { kind, name, labels, spec, payload: Payload::None }
    }
}
