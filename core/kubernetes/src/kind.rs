//! Describes a kind as data: its names, its versions, and their schemas. Each dialect lists its kinds.

use alloc::format;
use alloc::string::String;
use chancery_base::object;
use chancery_base::schema::{ANY, Field, Schema, field};

#[derive(Debug)]
pub struct Kind {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The value of `kind`.
    pub name: &'static str,
    /// The plural in API paths.
    pub plural: &'static str,
    /// Whether its objects have namespaces.
    pub namespaced: bool,
    /// One-line description.
    pub doc: &'static str,
    /// The versions that the API server accepts, the oldest first.
    pub versions: &'static [Version],
    /// Whether Kubernetes itself defines the kind and decodes it by its Go type; a CRD defines other kinds.
    pub built_in: bool,
}

/// A version of a kind.
#[derive(Debug)]
pub struct Version {
    /// The version without the group, `v1`.
    pub name: &'static str,
    /// Its fields other than `apiVersion`, `kind` and `metadata`.
    pub schema: &'static Schema,
}

impl Kind {
    /// The version with this `apiVersion`.
    pub fn version(&self, api_version: &str) -> Option<&'static Version> {
        let name = match api_version.split_once('/') {
            Some((group, name)) if group == self.group => name,
            None if self.group.is_empty() => api_version,
            _ => return None,
        };
        self.versions.iter().find(|version| version.name == name)
    }

    /// The `apiVersion` of a version.
    pub fn api_version(&self, version: &Version) -> String {
        if self.group.is_empty() { version.name.into() } else { format!("{}/{}", self.group, version.name) }
    }

    /// Its name in the API, `httpproxies.projectcontour.io`.
    pub fn resource(&self) -> String {
        if self.group.is_empty() { self.plural.into() } else { format!("{}.{}", self.plural, self.group) }
    }
}

/// The fields that every object has.
pub const API_VERSION: Field = field("apiVersion", ANY, "The kind's group and version");
/// See [`API_VERSION`].
pub const KIND: Field = field("kind", ANY, "The kind");
/// See [`API_VERSION`].
pub const METADATA: Field = field("metadata", OBJECT_META, "Its name, its namespace, its labels and annotations");

// `metadata` is checked in the module of this name.
const OBJECT_META: Schema = object![
    field("name", ANY, "The name, unique for the kind in its namespace"),
    field("namespace", ANY, "The namespace; `default` unless set"),
    field("labels", ANY, "Labels for selectors"),
    field("annotations", ANY, "Annotations, which tools read"),
    field("generateName", ANY, "The beginning of a name that the API server makes up"),
    field("finalizers", ANY, "Who must agree before it is deleted"),
    field("ownerReferences", ANY, "The objects whose deletion also deletes it"),
    field("creationTimestamp", ANY, "When it was made; kept by the API server"),
    field("deletionGracePeriodSeconds", ANY, "How long its deletion may take; kept by the API server"),
    field("deletionTimestamp", ANY, "When its deletion began; kept by the API server"),
    field("generation", ANY, "How often its `spec` was changed; kept by the API server"),
    field("managedFields", ANY, "Who set which field; kept by the API server"),
    field("resourceVersion", ANY, "Its version; kept by the API server"),
    field("selfLink", ANY, "Not used any more"),
    field("uid", ANY, "Its own number; kept by the API server"),
];

/// The schema of an object with only a `spec`: `custom![required SPEC, "What it is"]`. The controller writes `status`, so it is not checked.
#[macro_export]
macro_rules! custom {
    (required $spec:expr, $doc:literal) => {
        $crate::custom![@ chancery_base::schema::field("spec", $spec, $doc).required()]
    };
    ($spec:expr, $doc:literal) => {
        $crate::custom![@ chancery_base::schema::field("spec", $spec, $doc)]
    };
    (@ $spec:expr) => {
        chancery_base::object![
            $crate::kind::API_VERSION,
            $crate::kind::KIND,
            $crate::kind::METADATA,
            $spec,
            chancery_base::schema::field("status", chancery_base::schema::ANY, "The status that the controller writes"),
        ]
    };
}
