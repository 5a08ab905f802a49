//! Findings about an object as it is admitted: one named function each.
//!
//! What must not be here: deciding what is wrong.

use super::{Kind, Version};
use crate::diagnostic::{Code, Diagnostic, Part, Place, codes};
use crate::resource::{self, nearest};
use crate::schema::{Change, Fault, Members, Path, Violation, go_quoted};
use crate::text::{Node, NodeId};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Where findings about one object go.
pub(super) struct Report<'a> {
    pub kind: &'static Kind,
    pub object: &'a resource::Object,
    pub sink: &'a mut Vec<Diagnostic>,
    /// How many more unknown fields get a guess at what was meant. Nobody reads more, and each costs a comparison with all
    /// fields.
    pub guesses: u32,
}

/// What [`Report::guesses`] starts with.
pub(super) const GUESSES: u32 = 50;

impl Report<'_> {
    fn place(&self, node: NodeId, part: Part) -> Place {
        // What the controller made itself stands where its object does.
        let node = if node.is_some() { node } else { self.object.root.id };
        Place::Node { object: self.object.id, node, part }
    }

    fn finding(&self, code: &'static Code, message: impl Into<String>, node: NodeId, part: Part) -> Diagnostic {
        Diagnostic::new(code, message, self.place(node, part)).about(self.object.key.clone())
    }

    /// A field or null that the server removed.
    pub(super) fn change(&mut self, path: &Path<'_>, change: Change<'_>, version: Version) {
        match change {
            Change::Unknown(entry, members) => self.unknown_field(&path.key(&entry.key), &entry.key, &entry.value, members, version),
            Change::Null(entry, _) => {
                let message = format!("`{}` has no value and is dropped", path.key(&entry.key));
                let finding = self.finding(&codes::NULL_DROPPED, message, entry.value.id, Part::Key);
                self.sink.push(finding);
            }
        }
    }

    fn unknown_field(&mut self, path: &Path<'_>, name: &str, node: &Node, members: &'static Members, version: Version) {
        let message = format!("a {} has no `{path}`; it is dropped", self.kind.name);
        let mut finding = self.finding(&codes::UNKNOWN_FIELD, message, node.id, Part::Key);
        if self.guesses == 0 {
            return self.sink.push(finding);
        }
        self.guesses -= 1;
        let near = super::habits::meant(self.kind, version, name).or_else(|| nearest(name, members.fields.iter().map(|field| field.name)));
        if let Some(near) = near {
            finding = finding.help(format!("did you mean `{near}`?"));
            finding = finding.fix(format!("rename to `{near}`"), self.place(node.id, Part::Key), near);
        } else if let Some(other) = self.other_version(name, version) {
            finding = finding.help(format!("only {} has `{name}`, and this is {}", other.name(), version.name()));
        }
        self.sink.push(finding);
    }

    fn other_version(&self, field: &str, version: Version) -> Option<Version> {
        let knows = |other: &Version| self.kind.schema(*other).and_then(|schema| schema.describe(&[field])).is_some();
        Version::ALL.into_iter().rev().filter(|other| *other != version).find(knows)
    }

    /// A field beside `spec` that nobody knows.
    pub(super) fn unknown_at_top(&mut self, name: &str, node: &Node, version: Version) {
        let message = format!("a {} has no `{name}` beside `spec`; it is dropped", self.kind.name);
        let mut finding = self.finding(&codes::UNKNOWN_FIELD, message, node.id, Part::Key);
        if self.kind.schema(version).and_then(|schema| schema.describe(&[name])).is_some() {
            finding = finding.help(format!("put it under `spec`: `spec.{name}`"));
        } else if let Some(near) = nearest(name, ["apiVersion", "kind", "metadata", "spec"]) {
            finding = finding.help(format!("did you mean `{near}`?"));
            finding = finding.fix(format!("rename to `{near}`"), self.place(node.id, Part::Key), near);
        }
        self.sink.push(finding);
    }

    /// Something wrong with a value, or a value that is missing.
    pub(super) fn violation(&mut self, violation: &Violation) {
        let code = match violation.fault {
            Fault::WrongType => &codes::WRONG_TYPE,
            Fault::Missing => &codes::MISSING_FIELD,
            Fault::NotAllowed | Fault::OutOfRange | Fault::Malformed => &codes::INVALID_VALUE,
        };
        let mut finding = self.finding(code, violation.message.clone(), violation.node, violation.part);
        finding.help = super::habits::help(self.kind, violation).or_else(|| violation.help.clone());
        if let Some(replacement) = &violation.replacement {
            finding = finding.fix(format!("write {replacement}"), self.place(violation.node, Part::Value), replacement.clone());
        }
        self.sink.push(finding);
    }

    /// No `spec` where the controller cannot do without.
    pub(super) fn missing_spec(&mut self) -> String {
        let message = format!("a {} needs a `spec`; without it the controller stops", self.kind.name);
        let finding = self.finding(&codes::MISSING_FIELD, message, self.object.root.id, Part::Key);
        self.sink.push(finding);
        "spec in body is required".into()
    }

    /// A version that the API server does not have, or that the controller cannot read in an annotation.
    pub(super) fn unsupported_version(&mut self, node: NodeId, in_annotation: bool) {
        let version = &self.object.api_version;
        let kind = self.kind.name;
        let message = match (version.as_str(), in_annotation) {
            ("", _) => format!("this {kind} has no `apiVersion`"),
            (version, true) => format!("a {kind} in an annotation cannot have the version `{version}`"),
            (version, false) => format!("there is no {kind} in version `{version}`"),
        };
        let current = Version::V3Alpha1.api_version();
        let mut finding = self.finding(&codes::UNSUPPORTED_VERSION, message, node, Part::Value);
        finding = finding.help(format!("use `{current}`; its fields differ a little from the older ones"));
        if !version.is_empty() {
            finding = finding.fix(format!("write `{current}`"), self.place(node, Part::Value), current);
        }
        self.sink.push(finding);
    }

    /// A version that works but is old.
    pub(super) fn deprecated_version(&mut self, node: NodeId, version: Version) {
        let message = format!("{} is converted to v3alpha1; a cluster takes it only with legacy versions switched on", version.name());
        let finding = self.finding(&codes::DEPRECATED_VERSION, message, node, Part::Value);
        self.sink.push(finding);
    }

    /// A Mapping that no Host will find by name.
    pub(super) fn missing_hostname(&mut self, node: NodeId) {
        let message = "this Mapping has no `hostname`, so it belongs only to Hosts that select it by labels";
        let finding = self.finding(&codes::MISSING_HOSTNAME, message, node, Part::Key);
        self.sink.push(finding.help("add `hostname: \"*\"` for every host, as v2 did by itself"));
    }

    /// An object without a name.
    pub(super) fn missing_name(&mut self, node: NodeId) -> String {
        let message = format!("this {} has no `metadata.name`", self.kind.name);
        let finding = self.finding(&codes::INVALID_NAME, message, node, Part::Key);
        self.sink.push(finding);
        "metadata.name: Required value: name or generateName is required".into()
    }

    /// A name that Kubernetes does not allow.
    pub(super) fn name(&mut self, node: &Node, what: &str, name: &str) {
        let message = format!("{} is no {what} that Kubernetes allows", go_quoted(name));
        let mut finding = self.finding(&codes::INVALID_NAME, message, node.id, Part::Value);
        let allowed = if what == "namespace" { "`-` inside" } else { "`-` and `.` inside" };
        finding = finding.help(format!("names are made of lower case letters, digits, and {allowed}"));
        let mended: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' }).collect();
        let mended = mended.trim_matches(['-', '.']);
        if crate::schema::names::subdomain(mended).is_empty() {
            finding = finding.fix(format!("call it `{mended}`"), self.place(node.id, Part::Value), mended);
        }
        self.sink.push(finding);
    }

    /// A label that Kubernetes does not allow.
    pub(super) fn label(&mut self, node: &Node, is_key: bool, text: &str, faults: &[String]) {
        if faults.is_empty() {
            return;
        }
        let (what, part) = if is_key { ("key", Part::Key) } else { ("value", Part::Value) };
        let message = format!("{} is no {what} of a label that Kubernetes allows", go_quoted(text));
        let finding = self.finding(&codes::INVALID_LABEL, message, node.id, part);
        self.sink.push(finding.help("letters, digits, and `-`, `_`, `.` inside; at most 63 characters"));
    }

    /// Something in `metadata` that must be text and is not.
    pub(super) fn not_a_string(&mut self, node: &Node, path: &str, wanted: &str) {
        let code = if path.starts_with("metadata.labels") { &codes::INVALID_LABEL } else { &codes::INVALID_NAME };
        let wanted = match wanted {
            "string" => "a string",
            _ => "an object",
        };
        let message = format!("`{path}` must be {wanted}, and is {}", described(node));
        let mut finding = self.finding(code, message, node.id, Part::Value);
        if let (crate::text::Value::Int(value), "a string") = (&node.value, wanted) {
            finding = finding.fix("put it in quotes", self.place(node.id, Part::Value), format!("\"{value}\""));
        }
        self.sink.push(finding.help("put it in quotes: YAML reads y, n, yes, no, on, off and digits as something else than text"));
    }
}

fn described(node: &Node) -> String {
    match &node.value {
        crate::text::Value::Bool(value) => format!("the boolean `{value}`"),
        crate::text::Value::Int(value) => format!("the number {value}"),
        crate::text::Value::Float(value) => format!("the number {value}"),
        _ => match node.kind_name() {
            kind @ ("array" | "object" | "integer") => format!("an {kind}"),
            kind => kind.to_string(),
        },
    }
}
