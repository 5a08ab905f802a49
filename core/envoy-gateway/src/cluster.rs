//! What the API server holds: objects that it accepted, with defaults added and unknown fields dropped, and what it refused.
//!
//! Does not decide how Envoy Gateway uses the objects; see `load` and `translate`.

use super::Options;
use super::kinds::{self, CONTROLLER_FILE, Kind};
use super::versions::{self, Version};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::diagnostic::{Findings, Part, codes};
use chancery_base::executor::{self, Executor};
use chancery_base::resource::{Object, ObjectId, Objects, ResourceKey};
use chancery_base::schema::{Change, Check, Memo, Path, Tidy, go_quoted, tidy};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::metadata;
pub(crate) use chancery_kubernetes::object_tables::Name;
use chancery_kubernetes::object_tables::{ByContent, ByName, Named, Names};
use chancery_kubernetes::overwritten;
use chancery_kubernetes::report::Report;
use chancery_text::{Node, NodeId, Str, Value};

/// An object that the API server accepted.
#[derive(Clone, Debug)]
pub(crate) struct Admitted<'a> {
    pub(crate) object: &'a Object,
    pub(crate) kind: Kind,
    /// Its tree after pruning, with defaults.
    pub(crate) root: Arc<Node>,
    /// The written time of its creation; empty if unknown.
    created: Str,
}

impl Named for Admitted<'_> {
    fn namespace(&self) -> &Str {
        Admitted::namespace(self)
    }

    fn name(&self) -> &Str {
        Admitted::name(self)
    }
}

impl<'a> Admitted<'a> {
    fn new(object: &'a Object, kind: Kind, root: Arc<Node>) -> Self {
        let created = Str::new(root.at(&["metadata", "creationTimestamp"]).and_then(Node::as_str).unwrap_or_default());
        Self { object, kind, root, created }
    }

    pub(crate) fn id(&self) -> ObjectId {
        self.object.id
    }

    pub(crate) fn root(&self) -> Cursor<'_> {
        Cursor::new(self.object.id, &self.root)
    }

    pub(crate) fn spec(&self) -> Cursor<'_> {
        self.root().field("spec")
    }

    pub(crate) fn metadata(&self) -> Cursor<'_> {
        self.root().field("metadata")
    }

    pub(crate) fn labels(&self) -> Cursor<'_> {
        self.metadata().field("labels")
    }

    pub(crate) fn annotations(&self) -> Cursor<'_> {
        self.metadata().field("annotations")
    }

    /// Returns its namespace; empty for a cluster-wide object.
    pub(crate) fn namespace(&self) -> &'a Str {
        const NONE: &Str = &Str::new_static("");
        // The reader knows nothing of kinds that are not namespaced, and gives them a namespace.
        self.object.key.namespace.as_ref().filter(|_| self.kind.definition().namespaced).unwrap_or(NONE)
    }

    pub(crate) fn name(&self) -> &'a Str {
        &self.object.key.name
    }

    pub(crate) fn full_name(&self) -> Name {
        (self.namespace().clone(), self.name().clone())
    }

    /// Returns `NAMESPACE/NAME`.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.namespace(), self.name())
    }

    /// Returns the written time of its creation; empty if unknown.
    pub(crate) fn created(&self) -> &str {
        &self.created
    }

    pub(crate) fn generation(&self) -> i64 {
        self.metadata().field("generation").int().filter(|generation| *generation != 0).unwrap_or(1)
    }
}

/// An object that the API server refused, or whose fields it dropped.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) object: ObjectId,
    pub(crate) key: ResourceKey,
    pub(crate) api_version: Str,
    /// The API server's messages; empty if it accepted the object.
    pub(crate) errors: Vec<String>,
    /// Paths of fields that the schema does not have.
    pub(crate) unknown: Vec<String>,
}

/// Objects that the API server accepted without findings: the next compile need not admit them again.
#[derive(Default)]
pub(crate) struct Memory {
    rules: Rules,
    accepted: ByContent<Accepted>,
    names: BTreeMap<Kind, Arc<Names>>,
}

/// An object that was accepted without findings.
struct Accepted {
    kind: Kind,
    root: Arc<Node>,
    created: Str,
}

/// The options that admission depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Rules {
    version: Version,
    skips_validation: bool,
}

impl Memory {
    /// Starts a compile. Forgets everything if other rules apply.
    fn begin(&mut self, rules: Rules) {
        if self.rules != rules {
            *self = Self { rules, ..Self::default() };
        }
        self.accepted.begin();
    }

    fn accepted<'a>(&mut self, object: &'a Object) -> Option<Admitted<'a>> {
        let Accepted { kind, root, created } = self.accepted.get(object)?;
        Some(Admitted { object, kind: *kind, root: root.clone(), created: created.clone() })
    }

    fn keep(&mut self, admitted: &Admitted<'_>) {
        let Admitted { object, kind, root, created } = admitted;
        self.accepted.put(object, Accepted { kind: *kind, root: root.clone(), created: created.clone() });
    }
}

/// What the API server holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cluster<'a> {
    admitted: BTreeMap<Kind, ByName<Admitted<'a>>>,
    /// Verdicts that people should know, in the order of the text.
    pub(crate) verdicts: Vec<Verdict>,
}

impl<'a> Cluster<'a> {
    /// Applies all documents in order.
    pub(crate) fn apply(
        objects: &'a Objects,
        options: &Options,
        executor: &dyn Executor,
        memory: &mut Memory,
        ledger: &mut Ledger,
        sink: &mut Findings,
    ) -> Self {
        memory.begin(Rules { version: options.version, skips_validation: options.skip_validation });
        let names = memory.names.iter().map(|(kind, names)| (*kind, ByName::new(names.clone())));
        let mut cluster = Self { admitted: names.collect(), verdicts: Vec::new() };
        let mut read: Vec<(Kind, &'a Object, Option<Admitted<'a>>)> = Vec::new();
        let mounted = super::settings::mounted_file(objects, options);
        for object in objects.all() {
            if let Some(accepted) = memory.accepted(object) {
                read.push((accepted.kind, object, Some(accepted)));
                continue;
            }
            if object.parent.is_some() && *object.key.kind == *super::settings::FILE {
                if mounted.is_some_and(|mounted| mounted.id == object.id) {
                    unknown_settings(object, sink);
                    ledger.emitted(object.id, "the controller's configuration");
                } else {
                    let why = "Envoy Gateway reads the file only in the ConfigMap `envoy-gateway-config` of its namespace";
                    ledger.set(object.id, State::Ignored(Why::NotWatched, why.into()));
                }
            } else if object.parent.is_some() {
                ledger.set(object.id, State::Ignored(Why::UnknownKind, "Envoy Gateway does not read configuration in annotations".into()));
            } else if object.broken {
                ledger.set(object.id, State::Invalid("it cannot be read".into()));
            } else if let Some(kind) = kinds::find(&object.key.group, &object.key.kind) {
                read.push((kind, object, None));
            } else if super::settings::is_file(object) {
                unknown_settings(object, sink);
                ledger.emitted(object.id, "the controller's configuration");
            } else {
                ledger.set(object.id, State::Ignored(Why::UnknownKind, "Envoy Gateway does not read this kind".into()));
            }
        }
        let new: Vec<(Kind, &'a Object)> = read.iter().filter(|(.., known)| known.is_none()).map(|(kind, object, _)| (*kind, *object)).collect();
        let admitted = executor::map_with(executor, &new, Memo::default, |memo, (kind, object)| {
            let mut found = Findings::default();
            let (root, verdict) = admit(*kind, object, options, memo, &mut found);
            (root, verdict, found)
        });
        let mut admitted = admitted.into_iter();
        for (kind, object, known) in read {
            if let Some(known) = known {
                cluster.hold(known, ledger, sink);
                continue;
            }
            let Some((root, verdict, mut found)) = admitted.next() else { continue };
            let is_silent = found.is_empty() && verdict.errors.is_empty() && verdict.unknown.is_empty();
            sink.append(&mut found);
            match root {
                Some(root) => {
                    let admitted = Admitted::new(object, kind, root);
                    if is_silent {
                        memory.keep(&admitted);
                    }
                    cluster.hold(admitted, ledger, sink);
                }
                None => {
                    let why = verdict.errors.first().map_or("the API server refuses it", String::as_str);
                    ledger.set(object.id, State::Invalid(why.into()));
                }
            }
            if !verdict.errors.is_empty() || !verdict.unknown.is_empty() {
                cluster.verdicts.push(verdict);
            }
        }
        if let Some((holder, _)) = mounted.and_then(|file| file.parent) {
            ledger.emitted(holder, "the controller's configuration");
        }
        memory.accepted.end();
        cluster.admitted.values_mut().for_each(ByName::put_in_order);
        memory.names = cluster.admitted.iter().map(|(kind, held)| (*kind, held.names().clone())).collect();
        cluster
    }

    /// Stores an object, instead of an earlier one of its name.
    fn hold(&mut self, admitted: Admitted<'a>, ledger: &mut Ledger, sink: &mut Findings) {
        let object = admitted.object;
        let all = self.admitted.entry(admitted.kind).or_insert_with(|| ByName::new(Arc::default()));
        if let (_, Some(earlier)) = all.insert(admitted) {
            ledger.set(earlier.object.id, State::Shadowed(object.id));
            sink.report(overwritten(earlier.object, object));
        }
        ledger.set(object.id, State::Loaded);
    }

    /// Returns all objects of a kind, by age, namespace and name.
    pub(crate) fn all(&self, kind: Kind) -> Vec<&Admitted<'a>> {
        let mut all: Vec<&Admitted<'a>> = self.admitted.get(&kind).into_iter().flat_map(ByName::iter).collect();
        all.sort_by(|a, b| a.created.cmp(&b.created));
        all
    }

    /// Returns one object.
    pub(crate) fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Admitted<'a>> {
        self.admitted.get(&kind)?.get(namespace, name)
    }
}

/// Reports fields of the controller's configuration file that it does not have; it ignores them (Envoy Gateway `internal/envoygateway/config`).
fn unknown_settings(object: &Object, sink: &mut Findings) {
    let mut report = Report::new("EnvoyGateway", object, sink);
    let rules = Tidy { unknown: true, nulls: false, defaults: false };
    tidy(&object.root, &CONTROLLER_FILE, rules, &Path::root(""), &mut |path, change| {
        if let Change::Unknown(entry, members) = change {
            report.unknown_field(&path.key(&entry.key), (&entry.key, &entry.value), members, None, false, || None);
        }
    });
}

/// Returns the object as the API server stores it, and its verdict. Unknown fields are dropped with a warning.
fn admit(kind: Kind, object: &Object, options: &Options, memo: &Memo, sink: &mut Findings) -> (Option<Arc<Node>>, Verdict) {
    let mut verdict =
        Verdict { object: object.id, key: object.key.clone(), api_version: Str::new(&object.api_version), errors: Vec::new(), unknown: Vec::new() };
    if object.stored {
        return (Some(object.root.clone()), verdict);
    }
    let definition = kind.definition();
    let mut report = Report::new(definition.name, object, sink);
    let Some(version) = definition.version(&object.api_version) else {
        verdict.errors.push(chancery_kubernetes::admit::unsupported_version(definition, &mut report));
        return (None, verdict);
    };
    let older = versions::admit(options.version, kind, &object.api_version, &object.root, &mut report);
    verdict.unknown.extend(older.unknown);
    if !older.errors.is_empty() {
        verdict.errors = older.errors;
        return (None, verdict);
    }
    let written = older.root.map_or_else(|| object.root.clone(), Arc::new);
    let rules = Tidy { unknown: true, nulls: true, defaults: true };
    let tidied = tidy(&written, version.schema, rules, &Path::root(""), &mut |path, change| match change {
        Change::Unknown(entry, members) => {
            let path = path.key(&entry.key);
            verdict.unknown.push(format!("{path}"));
            report.unknown_field(&path, (&entry.key, &entry.value), members, None, false, || None);
        }
        Change::Null(entry, _) => report.null(&path.key(&entry.key), entry.value.id),
    });
    if definition.built_in {
        verdict.unknown.clear();
    }
    let root = tidied.map_or(written, Arc::new);
    if options.skip_validation {
        return (Some(root), verdict);
    }
    let faults = metadata::check(&root, root.get("metadata"), &mut report);
    if let Some(error) = faults.decoding {
        verdict.errors.push(error);
        return (None, verdict);
    }
    let violations = Check::api_server(memo).run(&root, version.schema, &Path::root(""));
    let incomplete = violations.iter().any(|violation| violation.blocking) && !definition.built_in;
    let addresses = if kind == Kind::Gateway { addresses(&root, &mut report) } else { Vec::new() };
    let incomplete = incomplete || !addresses.is_empty();
    for violation in &violations {
        let is_scalar = violation.reference.iter().any(|error| {
            error.contains(": Invalid value: \"object\": ") && error.contains("must be of type ") && !error.contains("must be of type array")
        });
        if let Some(Value::Object(fields)) = find(&root, violation.node).filter(|_| is_scalar).map(|node| &node.value) {
            verdict.unknown.extend(fields.into_iter().map(|entry| format!("{}.{}", violation.path, entry.key)));
        }
    }
    let mut errors: Vec<(String, String)> = faults.validation.into_iter().chain(addresses).map(|error| (path_of(&error), error)).collect();
    for violation in violations {
        report.violation(&violation, None);
        errors.extend(violation.reference.into_iter().map(|error| (path_of(&error), error)));
    }
    errors.sort_by(|a, b| a.0.cmp(&b.0));
    verdict.errors = errors.into_iter().map(|(_, error)| error).collect();
    if incomplete {
        let why = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
        verdict.errors.push(format!("<nil>: Invalid value: null: {why}"));
    }
    (verdict.errors.is_empty().then_some(root), verdict)
}

/// Finds a node.
fn find(root: &Node, id: NodeId) -> Option<&Node> {
    if root.id == id {
        return Some(root);
    }
    match &root.value {
        Value::Object(fields) => fields.into_iter().find_map(|entry| find(&entry.value, id)),
        Value::Array(items) => items.iter().find_map(|item| find(item, id)),
        _ => None,
    }
}

/// Checks that addresses of a Gateway with the type IPAddress are IP addresses.
fn addresses(root: &Node, report: &mut Report<'_>) -> Vec<String> {
    let mut errors = Vec::new();
    let items = match root.at(&["spec", "addresses"]).map(|list| &list.value) {
        Some(Value::Array(items)) => items.as_slice(),
        _ => &[],
    };
    for (place, item) in items.iter().enumerate() {
        let Some(value) = item.get("value") else { continue };
        let written = value.as_str().unwrap_or_default();
        let is_address = item.get("type").and_then(Node::as_str).unwrap_or("IPAddress") == "IPAddress";
        if !is_address || written.parse::<core::net::IpAddr>().is_ok() {
            continue;
        }
        let path = format!("spec.addresses[{place}]");
        let quoted = go_quoted(written);
        errors.push(format!("{path}.value: Invalid value: {quoted}: {path}.value in body must be of type ipv4: {quoted}"));
        errors.push(format!("<nil>: Invalid value: \"\": \"{path}\" must validate one and only one schema (oneOf). Found none valid"));
        errors.push(format!("<nil>: Invalid value: \"\": \"{path}.value\" must validate at least one schema (anyOf)"));
        let message = format!("`{path}.value` is not an IP address, as `type: IPAddress` wants");
        let finding = report.finding(&codes::INVALID_VALUE, message, value.id, Part::Value);
        report.sink.report(finding);
    }
    errors
}

/// Returns the path at the beginning of an error; errors without a path come last.
fn path_of(error: &str) -> String {
    let path = error.split(": ").next().unwrap_or_default();
    if path == "<nil>" { String::from("~") } else { String::from(path) }
}
