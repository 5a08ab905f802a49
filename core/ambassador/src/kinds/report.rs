//! Builds the findings of admission, one function each. Does not decide what is wrong.

use super::{AmbassadorKind, Version};
use alloc::format;
use alloc::string::String;
use chancery_base::diagnostic::{Findings, Part, codes};
use chancery_base::resource::{self, nearest};
use chancery_base::schema::{Change, Path, Violation, advise_move};
use chancery_kubernetes::report;
use chancery_text::{Node, NodeId};

/// Collects the findings of one object.
pub(super) struct Report<'a> {
    pub kind: &'static AmbassadorKind,
    pub common: report::Report<'a>,
}

impl<'a> Report<'a> {
    /// Findings about an object of a kind.
    pub(super) fn new(kind: &'static AmbassadorKind, object: &'a resource::Object, sink: &'a mut Findings) -> Self {
        Self { kind, common: report::Report::new(kind.name, object, sink) }
    }

    /// A field or null that the server removed.
    pub(super) fn change(&mut self, path: &Path<'_>, change: Change<'_>, version: Version) {
        match change {
            Change::Unknown(entry, members) => {
                let name = entry.key.as_str();
                let meant = super::advice::intended_field(self.kind, version, name);
                let other = || Some(format!("only {} has `{name}`, and this is {}", self.kind.other_version(name, version)?.name(), version.name()));
                let moved = || advise_move(self.kind.schema(version)?, path, name);
                let help = || moved().or_else(other);
                self.common.unknown_field(&path.key(name), (name, &entry.value), members, meant, false, help);
            }
            Change::Null(entry, _) => self.common.null(&path.key(&entry.key), entry.value.id),
        }
    }

    /// An unknown field next to `spec`.
    pub(super) fn unknown_at_top(&mut self, name: &str, node: &Node, version: Version) {
        if report::is_separator(name) {
            return;
        }
        let message = format!("a {} has no `{name}` next to `spec`; it is dropped", self.kind.name);
        let mut finding = self.common.finding(&codes::UNKNOWN_FIELD, message, node.id, Part::Key);
        if self.kind.schema(version).and_then(|schema| schema.describe(&[name])).is_some() {
            finding = finding.help(format!("put it under `spec`: `spec.{name}`"));
        } else if let Some(near) = nearest(name, ["apiVersion", "kind", "metadata", "spec"]) {
            finding = finding.help(format!("did you mean `{near}`?"));
            finding = finding.fix(format!("rename to `{near}`"), self.common.place(node.id, Part::Key), near);
        }
        self.common.sink.report(finding);
    }

    /// Something wrong with a value, or a value that is missing.
    pub(super) fn violation(&mut self, violation: &Violation) {
        self.common.violation(violation, super::advice::help(self.kind, violation));
    }

    /// A missing `spec` that the controller requires.
    pub(super) fn missing_spec(&mut self) -> String {
        let message = format!("a {} needs a `spec`; without it the controller stops", self.kind.name);
        let finding = self.common.finding(&codes::MISSING_FIELD, message, self.common.object.root.id, Part::Key);
        self.common.sink.report(finding);
        "spec in body is required".into()
    }

    /// A version that the API server does not have, or that the controller cannot read in an annotation.
    pub(super) fn unsupported_version(&mut self, node: NodeId, in_annotation: bool) {
        let version = &self.common.object.api_version;
        let kind = self.kind.name;
        let message = match (version.as_str(), in_annotation) {
            ("", _) => format!("this {kind} has no `apiVersion`"),
            (version, true) if version.ends_with("/v1") => {
                format!("Emissary crashes on a {kind} of the version `{version}` in an annotation, and sends no configuration")
            }
            (version, true) => format!("a {kind} in an annotation cannot have the version `{version}`"),
            (version, false) => format!("there is no {kind} in version `{version}`"),
        };
        let current = Version::V3Alpha1.api_version();
        let mut finding = self.common.finding(&codes::UNSUPPORTED_VERSION, message, node, Part::Value);
        finding = finding.help(format!("use `{current}`; its fields differ a little from the older ones"));
        if !version.is_empty() {
            finding = finding.fix(format!("write `{current}`"), self.common.place(node, Part::Value), current);
        }
        self.common.sink.report(finding);
    }

    /// A version that works but is old.
    pub(super) fn deprecated_version(&mut self, node: NodeId, version: Version) {
        let message = format!("{} is converted to v3alpha1; a cluster accepts it only with legacy versions enabled", version.name());
        let finding = self.common.finding(&codes::DEPRECATED_VERSION, message, node, Part::Value);
        self.common.sink.report(finding);
    }

    /// A Mapping that no Host will find by name.
    pub(super) fn missing_hostname(&mut self, node: NodeId) {
        let message = "this Mapping has no `hostname`, so it belongs only to Hosts that select it by labels";
        let finding = self.common.finding(&codes::MISSING_HOSTNAME, message, node, Part::Key);
        self.common.sink.report(finding.help("add `hostname: \"*\"` for every host, as v2 did by itself"));
    }
}

impl AmbassadorKind {
    fn other_version(&self, field: &str, version: Version) -> Option<Version> {
        let knows = |other: &Version| self.schema(*other).and_then(|schema| schema.describe(&[field])).is_some();
        Version::ALL.into_iter().rev().filter(|other| *other != version).find(knows)
    }
}
