//! Admits a written object: the API server, the conversion to v3alpha1, the entrypoint's validator, and the round trip through Go structs.
//!
//! Emissary `cmd/entrypoint/{watcher,resource_validator}.go`, `pkg/snapshot/v1/annotations.go`, `charts/emissary-crds/templates`,
//! `pkg/api/getambassador.io/crds.yaml`.

use super::report::Report;
use super::{AmbassadorKind, GROUP, Version, lints};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Findings;
use chancery_base::resource;
use chancery_base::schema::{Check, Fault, Memo, OPEN_OBJECT, Path, Schema, Tidy, Violation, round_trip, round_trip_if_valid, tidy};
use chancery_kubernetes::metadata;
use chancery_text::{Node, NodeId, Object, Str, Value};

/// How the object reached the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// By way of the API server.
    ApiServer,
    /// Written in a `getambassador.io/config` annotation.
    Annotation,
}

/// The result of admission.
#[derive(Clone, Debug)]
pub struct Admission {
    /// The `spec` that diagd receives, in v3alpha1 (as written, if the version is unsupported). Invalid objects have one too, including invalid
    /// values: their `ambassador_id` decides which instance reports the errors. Input nodes keep their numbers; nodes of a conversion have the
    /// number of their source, or none. `None` if diagd receives nothing.
    pub spec: Option<Arc<Node>>,
    /// The reference's errors, verbatim; empty for a valid object. diagd notices them and does not use the object.
    pub errors: Vec<String>,
    /// The version that diagd sees: `getambassador.io/v3alpha1`, except for objects in annotations that were not converted.
    pub api_version: Str,
    /// Whether the API server refuses to store it, so that an object of this name that is stored already stays in force and
    /// this one is as if it had never been. Never for annotations.
    pub refused: bool,
}

/// Admits an object of a kind. `root` is the object; in an annotation, its fields may be at the top level instead of under `metadata` and `spec`
/// (see [`unfold`]). Findings go to `sink`.
pub fn admit(kind: &'static AmbassadorKind, object: &resource::Object, via: Via, root: &Node, sink: &mut Findings) -> Admission {
    let mut report = Report::new(kind, object, sink);
    match via {
        Via::ApiServer if object.stored => held(root, &mut report),
        Via::ApiServer => applied(root, &mut report),
        Via::Annotation => annotated(&unfold(root), &mut report),
    }
}

const CURRENT: &str = Version::V3Alpha1.api_version();

/// An object from an API server satisfies the schema that is installed there. The entrypoint validates it again with its own schemas.
fn held(root: &Node, report: &mut Report<'_>) -> Admission {
    let version = Version::of(&report.common.object.api_version).and_then(|version| Some((version, report.kind.schema(version)?)));
    let (Some(version), Some(spec)) = (version, root.get("spec").filter(|spec| !spec.is_null())) else { return applied(root, report) };
    let rules = Tidy { unknown: true, nulls: false, defaults: false };
    let mut errors = Vec::new();
    let spec = receive(root, spec, version, rules, Check::controller(&Memo::default()), report, &mut errors);
    Admission { spec: Some(Arc::new(spec)), errors, api_version: Str::new_static(CURRENT), refused: false }
}

fn applied(root: &Node, report: &mut Report<'_>) -> Admission {
    let written = &report.common.object.api_version;
    let Some((version, schema)) = Version::of(written).and_then(|version| Some((version, report.kind.schema(version)?))) else {
        let text = format!("no matches for kind \"{}\" in version \"{written}\"", report.kind.name);
        report.unsupported_version(version_node(root), false);
        return Admission { spec: as_written(root), errors: [text].into(), api_version: Str::new_static(CURRENT), refused: true };
    };
    if version != Version::V3Alpha1 {
        report.deprecated_version(version_node(root), version);
    }
    let (mut meta, mut spec) = (None, None);
    for entry in root.as_object().into_iter().flatten() {
        match entry.key.as_str() {
            "apiVersion" | "kind" | "status" => {}
            "metadata" => meta = Some(&entry.value),
            "spec" => spec = Some(&entry.value),
            _ => report.unknown_at_top(&entry.key, &entry.value, version),
        }
    }
    let faults = metadata::check(root, meta, &mut report.common);
    let mut errors: Vec<String> = faults.decoding.into_iter().chain(faults.validation).collect();
    let empty = Node { id: NodeId::NONE, value: Value::Object(Object::new()) };
    let spec = match spec.filter(|spec| !spec.is_null()) {
        None if report.kind.needs_spec => {
            errors.push(report.missing_spec());
            None
        }
        // A Go struct in its place still has a `spec`.
        spec => {
            let rules = Tidy { unknown: true, nulls: true, defaults: true };
            Some(receive(root, spec.unwrap_or(&empty), (version, schema), rules, Check::server(&Memo::default()), report, &mut errors))
        }
    };
    let refused = !errors.is_empty();
    Admission { spec: spec.map(Arc::new), errors, api_version: Str::new_static(CURRENT), refused }
}

fn annotated(root: &Node, report: &mut Report<'_>) -> Admission {
    // The older group is treated as the newer one.
    let written = &report.common.object.api_version;
    let api_version = match written.strip_prefix("ambassador/") {
        Some(version) => Str::from(format!("{GROUP}/{version}")),
        None => written.clone(),
    };
    let known = Version::of(&api_version).and_then(|version| Some((version, report.kind.schema(version)?)));
    let refuse = |text: String, api_version: Str, spec| Admission { spec, errors: [text].into(), api_version, refused: false };
    let Some((version, schema)) = known else {
        report.unsupported_version(version_node(root), true);
        return match api_version.split_once('/') {
            Some((GROUP, _)) => {
                let text = format!("unsupported GroupVersionKind \"{}, Kind={}\", ignoring", api_version, report.kind.name);
                refuse(text, api_version, as_written(root))
            }
            // diagd looks at the version before it looks at errors.
            Some(_) => refuse(format!("apiVersion {api_version} unsupported"), api_version, as_written(root)),
            None => refuse(format!("apiVersion None/{api_version} unsupported"), format!("None/{api_version}").into(), as_written(root)),
        };
    };
    let empty = Node { id: NodeId::NONE, value: Value::Object(Object::new()) };
    let spec = root.get("spec").unwrap_or(&empty);
    // Nothing is pruned before it is validated; unknown fields get lost in the Go structs.
    let rules = Tidy { unknown: true, nulls: false, defaults: false };
    let mut errors = Vec::new();
    let spec = receive(root, spec, (version, schema), rules, Check::controller(&Memo::default()), report, &mut errors);
    if version == Version::V1 {
        // The real entrypoint panics.
        report.unsupported_version(version_node(root), true);
        let text = format!("apiVersion {api_version} cannot be converted in an annotation");
        return refuse(text, api_version, Some(Arc::new(spec)));
    }
    if version == Version::V2 {
        report.deprecated_version(version_node(root), version);
    }
    let api_version = if errors.is_empty() { Str::new_static(CURRENT) } else { api_version };
    Admission { spec: Some(Arc::new(spec)), errors, api_version, refused: false }
}

/// Tidies, validates, converts, validates again, and runs the Go round trip.
fn receive(
    root: &Node,
    spec: &Node,
    (version, schema): (Version, &'static Schema),
    rules: Tidy,
    check: Check<'_>,
    report: &mut Report<'_>,
    errors: &mut Vec<String>,
) -> Node {
    let path = Path::root("spec");
    let current = report.kind.v3alpha1;
    if version == Version::V3Alpha1
        && check.server
        && let Some(written) = round_trip_if_valid(spec, schema, check)
    {
        lints::inspect(report, version, root, spec);
        return written;
    }
    let tidied = tidy(spec, schema, rules, &path, &mut |path, change| report.change(path, change, version));
    let spec = tidied.as_ref().unwrap_or(spec);
    let mut violations = check.run(spec, schema, &path);
    let written = match version {
        Version::V3Alpha1 => round_trip(spec, current),
        Version::V1 | Version::V2 => {
            let mut converted = spec.clone();
            if let Value::Object(fields) = &mut converted.value {
                (report.kind.convert)(fields);
            }
            round_trip(&converted, current)
        }
    };
    // Converted objects are validated again; objects in annotations count as converted in every version.
    if violations.is_empty() && (version != Version::V3Alpha1 || !check.server) {
        violations = Check::controller(&Memo::default()).run(&written, current, &path);
        for violation in violations.iter_mut().filter(|violation| violation.fault == Fault::Missing) {
            violation.help = Some("an empty value (`false`, `0` or `\"\"`) gets lost in the conversion, and then it is missing".into());
        }
    }
    if violations.is_empty() {
        lints::inspect(report, version, root, spec);
    } else {
        violations.iter().for_each(|violation| report.violation(violation));
        errors.push(joined(violations));
    }
    written
}

/// All errors of the reference, formatted like its error list on one line.
fn joined(mut violations: Vec<Violation>) -> String {
    // Only one of the validators reports anything.
    if violations.iter().any(|violation| !violation.later) {
        violations.retain(|violation| !violation.later);
    }
    let mut texts: Vec<String> = violations.into_iter().flat_map(|violation| violation.reference).collect();
    texts.sort();
    match texts.as_slice() {
        [text] => text.clone(),
        texts => {
            let mut all = format!("{} errors:", texts.len());
            for (at, text) in texts.iter().enumerate() {
                all.push_str(&format!(";  {}. {text}", at + 1));
            }
            all
        }
    }
}

/// `spec` as written, for a version without a known schema.
fn as_written(root: &Node) -> Option<Arc<Node>> {
    root.get("spec").map(|spec| Arc::new(round_trip(spec, &OPEN_OBJECT)))
}

fn version_node(root: &Node) -> NodeId {
    root.get("apiVersion").map_or(root.id, |node| node.id)
}

/// Converts an annotation's object to the usual form: `name`, `namespace` and `generation` go under `metadata`, `metadata_labels` becomes its
/// labels, everything else goes under `spec`. An object in that form is not copied.
pub fn unfold(root: &Node) -> Cow<'_, Node> {
    let Value::Object(fields) = &root.value else { return Cow::Borrowed(root) };
    let is_usual = |key: &str| matches!(key, "apiVersion" | "kind" | "metadata" | "spec" | "status");
    let whole = |key: &str| fields.get(key).is_some_and(|node| node.as_object().is_some());
    if whole("metadata") && whole("spec") && fields.iter().all(|entry| is_usual(&entry.key)) {
        return Cow::Borrowed(root);
    }
    let part = |key: &str| match fields.get(key) {
        Some(Node { id, value: Value::Object(object) }) => (*id, object.clone()),
        _ => (root.id, Object::new()),
    };
    let ((metadata_id, mut metadata), (spec_id, mut spec)) = (part("metadata"), part("spec"));
    let mut unfolded = Object::new();
    for entry in fields {
        match entry.key.as_str() {
            "apiVersion" | "kind" | "status" => {
                unfolded.insert(entry.key.clone(), entry.value.clone());
            }
            "metadata" | "spec" => {}
            "name" | "namespace" | "generation" => {
                metadata.insert(entry.key.clone(), entry.value.clone());
            }
            "metadata_labels" => {
                metadata.insert("labels", entry.value.clone());
            }
            _ => {
                spec.insert(entry.key.clone(), entry.value.clone());
            }
        }
    }
    unfolded.insert("metadata", Node { id: metadata_id, value: Value::Object(metadata) });
    unfolded.insert("spec", Node { id: spec_id, value: Value::Object(spec) });
    Cow::Owned(Node { id: root.id, value: Value::Object(unfolded) })
}
