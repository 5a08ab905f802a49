//! Defines a resource: the `ACResource` of Ambassador's developer's guide.
//!
//! Source of behaviour: Emissary `python/ambassador/src/ambassador/resource.py` and `config/acresource.py`. [`Resource::as_dict`] returns their
//! flat dictionary; here, the common fields are separate from the kind's `spec`.

use super::Location;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Diagnostic;
use chancery_base::resource::{ObjectId, Origin, ResourceKey, Rule, Secret};
use chancery_text::{Limits, Node, NodeId, Object, Str, Value, parse};
use core::fmt;

/// Labels by name.
pub type Labels = BTreeMap<Str, Str>;

/// The version of a resource without one, according to the guide.
const DEFAULT_API_VERSION: &str = "ambassador/v0";

/// One resource of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// The short identifier of the resource, e.g. `quote.default.1`.
    pub rkey: Str,
    /// Where a person finds it.
    pub location: Location,
    /// The kind: `Mapping`, `Host`...
    pub kind: Str,
    /// Its name; empty for a `Pragma` only. [`super::Config`] appends the namespace to the second of two equal names.
    pub name: Str,
    pub namespace: Str,
    /// The API version in which its `spec` is written.
    pub api_version: Str,
    /// The text that it was read from, if there is one.
    pub serialization: Option<Arc<str>>,
    /// Its labels (`metadata_labels`).
    pub labels: Arc<Labels>,
    /// Its own fields: always an object. Nodes are numbered as in [`Resource::object`].
    pub spec: Arc<Node>,
    /// The input object whose nodes `spec` names.
    pub object: ObjectId,
    /// The origin rule of the values of `spec`: [`Rule::Field`], or [`Rule::Conversion`] if another kind was converted.
    pub rule: Rule,
    /// Its key in the cluster, even if `name` changes.
    pub key: ResourceKey,
    /// Content outside `spec`.
    pub payload: Payload,
    /// Errors of validation before loading; a resource with errors is not filed.
    pub invalid: Vec<String>,
    /// Errors that were posted on it.
    pub errors: Vec<Diagnostic>,
    /// The resources that it uses.
    pub references: Vec<Reference>,
    /// The resources that use it.
    pub referenced_by: Vec<Reference>,
}

/// One resource using another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The other resource.
    pub rkey: Str,
    /// The field that names it.
    pub at: Option<Origin>,
}

/// Content of some resources outside their `spec`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Payload {
    /// Nothing.
    #[default]
    None,
    /// A Secret's values.
    Secret(Arc<SecretData>),
    /// A Service's endpoints.
    Service(Arc<ServiceData>),
    /// The origin of the port number of a Mapping's service, if another object contains it: an Ingress may name a Service's port.
    Port(Origin),
}

/// A Secret's values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SecretData {
    /// `Opaque`, `kubernetes.io/tls`...
    pub secret_type: Str,
    /// By key as written (`tls.crt`): the node and the base64 value.
    pub data: BTreeMap<Str, (NodeId, Secret<Str>)>,
}

/// A Service's endpoints, by port of the Service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceData {
    /// The endpoints of each port. If empty, the Service's own name is used.
    pub endpoints: BTreeMap<u16, Vec<Target>>,
}

/// An endpoint of a port.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// IP address, or a name.
    pub address: Str,
    pub port: u16,
    /// Where the address is written.
    pub origin: Option<Origin>,
}

/// Fields that [`Resource::from_resource`] is to replace.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Another identifier.
    pub rkey: Option<Str>,
    /// Another location.
    pub location: Option<Location>,
    /// Another kind.
    pub kind: Option<Str>,
    /// Another name.
    pub name: Option<Str>,
    /// Another namespace.
    pub namespace: Option<Str>,
    /// Another API version.
    pub api_version: Option<Str>,
    /// Another text.
    pub serialization: Option<Arc<str>>,
    /// Other labels.
    pub labels: Option<Arc<Labels>>,
    /// Fields to use instead of all of the other's fields.
    pub spec: Option<Arc<Node>>,
}

/// Why something is no resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceError {
    /// Nothing to refer to it by.
    NoRkey,
    /// The resource with this rkey has no kind.
    NoKind(Str),
    /// It has no name.
    NoName {
        /// What it is.
        kind: Str,
        rkey: Str,
    },
    /// The resource with this rkey has no API version.
    NoApiVersion(Str),
    /// The fields of the resource with this rkey are not in an object.
    NotAnObject(Str),
    /// The text is not YAML; holds the error.
    Syntax(String),
    /// The text has no content.
    Empty,
}

impl fmt::Display for ResourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRkey => f.write_str("a resource needs an rkey"),
            Self::NoKind(rkey) => write!(f, "{rkey} needs a kind"),
            Self::NoName { kind, rkey } => write!(f, "{kind} {rkey} needs a name"),
            Self::NoApiVersion(rkey) => write!(f, "{rkey} needs an apiVersion"),
            Self::NotAnObject(rkey) => write!(f, "{rkey} is not an object"),
            Self::Syntax(problem) => f.write_str(problem),
            Self::Empty => f.write_str("the text has no content"),
        }
    }
}

impl core::error::Error for ResourceError {}

/// The keys of [`Resource::as_dict`] that are not fields of `spec`.
const COMMON: &[&str] = &["apiVersion", "kind", "name", "namespace", "metadata_labels", "rkey", "location", "serialization"];

impl Default for Resource {
    /// An empty resource with the default version: the remainder of a removed resource.
    fn default() -> Self {
        Self {
            rkey: Str::default(),
            location: Location::Text(Str::default()),
            kind: Str::default(),
            name: Str::default(),
            namespace: Str::default(),
            api_version: Str::new_static(DEFAULT_API_VERSION),
            serialization: None,
            labels: Arc::default(),
            spec: Arc::new(Node::synthesised(Value::Object(Object::new()))),
            object: ObjectId::BUILT_IN,
            rule: Rule::Field,
            key: ResourceKey { group: Str::default(), kind: Str::default(), namespace: None, name: Str::default() },
            payload: Payload::None,
            invalid: Vec::new(),
            errors: Vec::new(),
            references: Vec::new(),
            referenced_by: Vec::new(),
        }
    }
}

impl Resource {
    /// A resource without fields. Fails without an identifier, a kind, or (unless it is a `Pragma`) a name.
    pub fn new(rkey: impl Into<Str>, location: impl Into<Location>, kind: &str, name: &str) -> Result<Self, ResourceError> {
        let rkey = rkey.into();
        if rkey.is_empty() {
            return Err(ResourceError::NoRkey);
        }
        if kind.is_empty() {
            return Err(ResourceError::NoKind(rkey));
        }
        if name.is_empty() && kind != "Pragma" {
            return Err(ResourceError::NoName { kind: kind.into(), rkey });
        }
        let key = ResourceKey { group: Str::default(), kind: Str::new(kind), namespace: None, name: Str::new(name) };
        Ok(Self { rkey, location: location.into(), kind: Str::new(kind), name: Str::new(name), key, ..Self::default() })
    }

    /// A resource from its flat form: `kind`, `name`, `apiVersion`, `namespace`, `metadata_labels`, and its own fields.
    pub fn from_dict(
        rkey: impl Into<Str>,
        location: impl Into<Location>,
        serialization: Option<Arc<str>>,
        attrs: &Node,
    ) -> Result<Self, ResourceError> {
        let rkey = rkey.into();
        let Some(fields) = attrs.as_object() else { return Err(ResourceError::NotAnObject(rkey)) };
        let text = |key: &str| fields.get(key).and_then(Node::as_str).unwrap_or_default();
        let mut resource = Self::new(rkey, location, text("kind"), text("name"))?;
        if let Some(api_version) = fields.get("apiVersion") {
            resource.api_version = Str::new(api_version.as_str().unwrap_or_default());
        }
        if resource.api_version.is_empty() {
            return Err(ResourceError::NoApiVersion(resource.rkey));
        }
        resource.namespace = Str::new(text("namespace"));
        resource.labels = Arc::new(labels_of(fields.get("metadata_labels")));
        let spec = fields.iter().filter(|entry| !COMMON.contains(&&*entry.key)).map(|entry| (entry.key.clone(), entry.value.clone()));
        resource.spec = Arc::new(Node { id: attrs.id, value: Value::Object(spec.collect()) });
        resource.serialization = serialization;
        resource.key = ResourceKey {
            group: Str::new(resource.api_version.split_once('/').map_or("", |(group, _)| group)),
            kind: resource.kind.clone(),
            namespace: (!resource.namespace.is_empty()).then(|| resource.namespace.clone()),
            name: resource.name.clone(),
        };
        Ok(resource)
    }

    /// A resource from the text of its flat form. Fails if the text is not YAML.
    pub fn from_yaml(rkey: impl Into<Str>, location: impl Into<Location>, serialization: &str) -> Result<Self, ResourceError> {
        let document = parse(serialization, &Limits::default());
        if let Some(problem) = document.problems.iter().find(|problem| !problem.kind.is_warning()) {
            return Err(ResourceError::Syntax(problem.message.clone()));
        }
        let root = document.root.ok_or(ResourceError::Empty)?;
        Self::from_dict(rkey, location, Some(Arc::from(serialization)), &root)
    }

    /// A copy of another resource with some fields replaced. Errors and references are not copied: they were the other's.
    pub fn from_resource(other: &Resource, overrides: Overrides) -> Self {
        let name = overrides.name.unwrap_or_else(|| other.name.clone());
        Self {
            rkey: overrides.rkey.unwrap_or_else(|| other.rkey.clone()),
            location: overrides.location.unwrap_or_else(|| other.location.clone()),
            kind: overrides.kind.unwrap_or_else(|| other.kind.clone()),
            name,
            namespace: overrides.namespace.unwrap_or_else(|| other.namespace.clone()),
            api_version: overrides.api_version.unwrap_or_else(|| other.api_version.clone()),
            serialization: overrides.serialization.or_else(|| other.serialization.clone()),
            labels: overrides.labels.unwrap_or_else(|| other.labels.clone()),
            spec: overrides.spec.unwrap_or_else(|| other.spec.clone()),
            object: other.object,
            rule: other.rule,
            key: other.key.clone(),
            payload: other.payload.clone(),
            invalid: Vec::new(),
            errors: Vec::new(),
            references: Vec::new(),
            referenced_by: Vec::new(),
        }
    }

    /// A field of its `spec`.
    pub fn get(&self, field: &str) -> Option<&Node> {
        self.spec.get(field)
    }

    /// The origin of one of its values.
    pub fn origin(&self, node: &Node) -> Option<Origin> {
        (self.object != ObjectId::BUILT_IN && node.id.is_some()).then(|| Origin::new(self.object, node.id, self.rule))
    }

    /// Its flat form: only data, without identifier, location, errors and references. Key material is redacted.
    pub fn as_dict(&self) -> Node {
        let text = |value: &str| Node::synthesised(Value::String(Str::new(value)));
        let mut fields = self.spec.as_object().cloned().unwrap_or_default();
        if let Payload::Service(service) = &self.payload {
            fields.insert("endpoints", service.as_node());
        }
        fields.insert("apiVersion", text(&self.api_version));
        fields.insert("kind", text(&self.kind));
        if !self.name.is_empty() {
            fields.insert("name", text(&self.name));
        }
        if !self.namespace.is_empty() {
            fields.insert("namespace", text(&self.namespace));
        }
        let labels: Object = self.labels.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        fields.insert("metadata_labels", Node::synthesised(Value::Object(labels)));
        Node::synthesised(Value::Object(fields))
    }

    /// Notices an error on the resource. Resources that use it inherit the error: see [`super::Config::errors`].
    pub fn post_error(&mut self, error: Diagnostic) {
        self.errors.push(error);
    }

    /// Marks another resource as used by this one, by the field at `at`.
    pub fn references(&mut self, other: &mut Resource, at: Option<Origin>) {
        add(&mut self.references, &other.rkey, at);
        add(&mut other.referenced_by, &self.rkey, at);
    }

    /// Marks this resource as used by another one: [`Resource::references`] from the other side.
    pub fn referenced_by(&mut self, other: &mut Resource, at: Option<Origin>) {
        other.references(self, at);
    }

    /// How the resource with this identifier uses this one, if it does.
    pub fn is_referenced_by(&self, rkey: &str) -> Option<&Reference> {
        self.referenced_by.iter().find(|reference| reference.rkey == rkey)
    }
}

fn add(references: &mut Vec<Reference>, rkey: &Str, at: Option<Origin>) {
    let reference = Reference { rkey: rkey.clone(), at };
    if !references.contains(&reference) {
        references.push(reference);
    }
}

/// The labels in a node; values that are not strings are skipped.
pub(crate) fn labels_of(node: Option<&Node>) -> Labels {
    let entries = node.and_then(Node::as_object).into_iter().flatten();
    entries.filter_map(|entry| Some((entry.key.clone(), Str::new(entry.value.as_str()?)))).collect()
}

impl ServiceData {
    fn as_node(&self) -> Node {
        let target = |target: &Target| {
            let fields = [("ip", Value::String(target.address.clone())), ("port", Value::Int(target.port.into()))];
            Node::synthesised(Value::Object(fields.into_iter().map(|(key, value)| (key, Node::synthesised(value))).collect()))
        };
        let port = |(port, targets): (&u16, &Vec<Target>)| {
            let targets = targets.iter().map(target).collect();
            (Str::from(format!("{port}")), Node::synthesised(Value::Array(targets)))
        };
        Node::synthesised(Value::Object(self.endpoints.iter().map(port).collect()))
    }
}
