//! Admits an object like the API server: decodes it strictly, as `kubectl` requests, sets defaults, and validates it.
//!
//! Source of behaviour: `k8s.io/apiextensions-apiserver` (`pkg/apiserver`, `pkg/registry/customresource/strategy.go`) for kinds that a CRD defines.

use super::kind::{Kind, Version};
use super::report::Report;
use super::{ingress, metadata, secret, service};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Findings, Part, codes};
use chancery_base::executor::{self, Executor};
use chancery_base::resource::{Object, ObjectId};
use chancery_base::schema::{Change, Check, Memo, Path, Shape, Tidy, Violation, advise_move, go_quoted, tidy};
use chancery_text::{Node, Value};

/// The settings of admission.
#[derive(Clone, Copy, Debug)]
pub struct Admission<'m> {
    /// Validation is off: unknown fields are still dropped and defaults still set.
    pub skip_validation: bool,
    pub memo: &'m Memo,
}

impl Admission<'_> {
    /// The object as the API server stores it, or its errors. Findings go to `sink`. An object from an API server is accepted unchanged: that
    /// server validated and defaulted it by its own schema.
    pub fn admit(self, kind: &'static Kind, object: &Object, sink: &mut Findings) -> Result<Arc<Node>, Vec<String>> {
        if object.stored {
            return Ok(object.root.clone());
        }
        let mut report = Report::new(kind.name, object, sink);
        let Some(version) = kind.version(&object.api_version) else { return Err([unsupported_version(kind, &mut report)].into()) };
        let mut unknown = Vec::new();
        let rules = Tidy { unknown: true, nulls: true, defaults: true };
        let tidied = tidy(&object.root, version.schema, rules, &Path::root(""), &mut |path, change| match change {
            Change::Unknown(entry, members) => {
                let moved = || advise_move(version.schema, path, &entry.key);
                let path = path.key(&entry.key);
                unknown.push(format!("strict decoding error: unknown field {}", go_quoted(&format!("{path}"))));
                let help = || elsewhere(kind, version, &entry.key).or_else(moved).or_else(|| older(kind, &entry.key));
                report.unknown_field(&path, (&entry.key, &entry.value), members, None, !self.skip_validation, help);
            }
            Change::Null(entry, _) => report.null(&path.key(&entry.key), entry.value.id),
        });
        if !self.skip_validation {
            if !unknown.is_empty() {
                return Err(sorted(unknown));
            }
            let root = tidied.as_ref().unwrap_or(&object.root);
            // A malformed name is reported, but the object is kept: controllers accept it.
            if let Some(error) = metadata::check(root, root.get("metadata"), &mut report).decoding {
                return Err([error].into());
            }
            let mut errors = Vec::new();
            let violations = Check::api_server(self.memo).run(root, version.schema, &Path::root(""));
            for violation in violations {
                report.violation(&violation, None);
                match kind.built_in {
                    // The decoder reports only the first error.
                    true if errors.is_empty() => errors.push(undecodable(kind, version, root, &violation)),
                    true => {}
                    false => errors.extend(violation.reference),
                }
            }
            if !errors.is_empty() {
                return Err(sorted(errors));
            }
            if kind.built_in {
                built_in(kind, object, sink);
            }
        }
        Ok(tidied.map_or_else(|| object.root.clone(), Arc::new))
    }
}

/// The API server's decision on one object.
pub struct Verdict {
    pub object: ObjectId,
    /// The tree that it stores, or the errors of a refused object.
    pub taken: Result<Arc<Node>, Vec<String>>,
    /// The findings.
    pub found: Findings,
}

/// Admits an object of a kind.
pub type Admit<K> = fn(K, &Object, Admission<'_>, &mut Findings) -> Result<Arc<Node>, Vec<String>>;

/// The decisions on objects, in their order.
pub fn verdicts<K: Copy + Sync>(objects: &[(K, &Object)], skip_validation: bool, executor: &dyn Executor, admit: Admit<K>) -> Vec<Verdict> {
    executor::map_with(executor, objects, Memo::default, |memo, (kind, object)| {
        let mut found = Findings::default();
        let taken = admit(*kind, object, Admission { skip_validation, memo }, &mut found);
        Verdict { object: object.id, taken, found }
    })
}

/// Reports invalid values of a built-in kind. Such an object is kept: controllers read it anyway.
fn built_in(kind: &Kind, object: &Object, sink: &mut Findings) {
    let verdict = match kind.name {
        "Service" => service::check(object, sink),
        "Ingress" => ingress::check(object, sink),
        "Secret" => secret::check(object, sink),
        _ => Ok(()),
    };
    verdict.ok();
}

/// Go's error for a value that does not fit into its struct.
fn undecodable(kind: &Kind, version: &Version, root: &Node, violation: &Violation) -> String {
    let keys: Vec<&str> = violation.path.split('.').map(|step| step.split('[').next().unwrap_or(step)).collect();
    let found = match violation_value(root, &violation.path).map(|node| &node.value) {
        Some(Value::Bool(_)) => "bool",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(_)) => "object",
        Some(Value::String(_)) => "string",
        _ => "number",
    };
    let holder = if keys.len() > 1 { format!("{}Spec", kind.name) } else { kind.name.into() };
    let wanted = match version.schema.describe(&keys).map(|field| &field.schema.shape) {
        Some(Shape::Boolean) => "bool".into(),
        Some(Shape::String(_)) => "string".into(),
        Some(Shape::Integer(_)) => "int32".into(),
        Some(Shape::Array { items, .. }) if matches!(items.shape, Shape::String(_)) => "[]string".into(),
        Some(Shape::Object(members)) if members.fields.is_empty() => "map[string]string".into(),
        _ if keys == ["spec"] => format!("v1.{}Spec", kind.name),
        _ => format!("v1.{}", keys.last().copied().unwrap_or_default()),
    };
    format!("json: cannot unmarshal {found} into Go struct field {holder}.{} of type {wanted}", keys.join("."))
}

/// The value at a violation's path.
fn violation_value<'n>(root: &'n Node, path: &str) -> Option<&'n Node> {
    path.split('.').try_fold(root, |node, step| {
        let mut parts = step.split('[');
        let node = node.get(parts.next()?)?;
        parts.try_fold(node, |node, index| node.as_array()?.get(index.trim_end_matches(']').parse::<usize>().ok()?))
    })
}

/// The other places of the kind that have a field of this name.
fn elsewhere(kind: &Kind, version: &Version, name: &str) -> Option<String> {
    let has = |version: &&Version| version.schema.describe(&["spec", name]).is_some();
    if has(&version) {
        return Some(format!("put it under `spec`: `spec.{name}`"));
    }
    let other = kind.versions.iter().rev().filter(|other| other.name != version.name).find(has)?;
    Some(format!("only {} has `{name}`, and this is {}", other.name, version.name))
}

/// The replacement of a field that only an older version had.
fn older(kind: &Kind, name: &str) -> Option<String> {
    if kind.name != "Ingress" || !matches!(name, "serviceName" | "servicePort") {
        return None;
    }
    Some("networking.k8s.io/v1 wants `service: {name: NAME, port: {number: PORT}}`; only v1beta1 had `serviceName` and `servicePort`".into())
}

/// Reports that an object is of a version that its kind does not have, and returns the API server's message.
pub fn unsupported_version(kind: &'static Kind, report: &mut Report<'_>) -> String {
    let written = report.object.api_version.clone();
    let node = report.object.root.get("apiVersion").map_or(report.object.root.id, |node| node.id);
    let message = format!("there is no {} in version `{written}`", kind.name);
    let mut finding = report.finding(&codes::UNSUPPORTED_VERSION, message, node, Part::Value);
    if let Some(current) = kind.versions.last() {
        let current = kind.api_version(current);
        // A cluster that serves a stable version need not serve earlier versions.
        let is_unstable = |version: &str| version.contains("alpha") || version.contains("beta");
        finding = if is_unstable(&current) && !is_unstable(&written) {
            finding.help(format!("the latest version that this controller reads is `{current}`; whether a cluster serves it depends on its CRDs"))
        } else {
            finding.help(format!("use `{current}`")).fix(format!("write `{current}`"), report.place(node, Part::Value), current)
        };
    }
    report.sink.report(finding);
    format!("no matches for kind {} in version {}", go_quoted(kind.name), go_quoted(&written))
}

/// The API server visits maps in random order; sorting makes the output deterministic.
fn sorted(mut errors: Vec<String>) -> Vec<String> {
    errors.sort();
    errors
}
