//! Selects the Secrets that the controller passes to the compiler: those that a used resource references.
//!
//! Source of behaviour: Emissary `cmd/entrypoint/secrets.go` and `fetch/secret.py`.

use super::super::{Options, kinds};
use super::annotations::Annotations;
use super::emit::{self, Emitter, Parts, made_text};
use super::findings;
use super::role::Role;
use super::visible::{VisibleObjects, ignore};
use crate::config::{Config, Payload, Resource, SecretData};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Assumptions, Ledger, Why};
use chancery_base::diagnostic::Findings;
use chancery_base::resource::{Object, ObjectId, Objects, Origin, REDACTED, ResourceKey, Rule, Secret, provided_secrets};
use chancery_kubernetes::{ingress, pem, secret};
use chancery_text::{self, Node, NodeId, Str, Value};

/// Types of Secrets that the compiler accepts.
const KNOWN_TYPES: [&str; 3] = ["Opaque", "kubernetes.io/tls", "istio.io/key-and-cert"];
/// A Secret needs at least one of these keys.
const KNOWN_KEYS: [&str; 7] = ["tls.crt", "tls.key", "user.key", "cert-chain.pem", "key.pem", "root-cert.pem", "crl.pem"];
/// The Secret that is always requested.
const FALLBACK: &str = "fallback-self-signed-cert";

/// Namespace and name, and the fields that refer to it.
type References = BTreeMap<(Str, Str), Vec<(ObjectId, NodeId)>>;

pub(super) struct Secrets<'a> {
    pub(super) taken: Vec<Passed<'a>>,
    /// Secrets that are withheld because they are not PEM, without their values, so that the error is seen.
    pub(super) redacted: Vec<Passed<'a>>,
    references: References,
    supplied: Vec<ResourceKey>,
}

/// A Secret that the compiler gets.
pub(super) struct Passed<'a> {
    object: &'a Object,
    errors: Vec<String>,
}

/// Adds Secrets that the front end passes on.
pub(super) fn emit(passed: &[Passed<'_>], emitter: &mut Emitter<'_>) {
    for secret in passed {
        if let Some(resource) = secret.resource(emitter.options) {
            emitter.push(Arc::new(resource));
        }
    }
}

pub(super) fn reconcile<'a>(
    seen: &VisibleObjects<'a>,
    annotations: &Annotations<'_>,
    options: &Options,
    ledger: &mut Ledger,
    sink: &mut Findings,
) -> Secrets<'a> {
    let references = references(seen, annotations, options);
    let mut secrets = Secrets { taken: Vec::new(), redacted: Vec::new(), references, supplied: Vec::new() };
    for applied in seen.of(Role::Secret) {
        let object = applied.object;
        secrets.supplied.push(object.key.clone());
        let namespace = object.key.namespace.clone().unwrap_or_default();
        if !secrets.references.contains_key(&(namespace, object.key.name.clone())) {
            ignore(ledger, object.id, Why::NeverReferenced, "nothing in use refers to it");
            sink.report(findings::unreferenced_secret(object));
            continue;
        }
        let forced = options.force_secret_validation();
        let errors = check_pem(object, forced, sink);
        if let Some(why) = unusable(object) {
            ignore(ledger, object.id, Why::NothingInIt, why);
            sink.report(findings::unusable_secret(object, why));
            continue;
        }
        if forced && !errors.is_empty() {
            secrets.redacted.push(Passed { object, errors });
        } else {
            secrets.taken.push(Passed { object, errors: Vec::new() });
        }
    }
    secrets
}

/// Why the compiler would drop a Secret.
fn unusable(object: &Object) -> Option<&'static str> {
    if !KNOWN_TYPES.contains(&&*secret::secret_type(object)) {
        return Some("only types Opaque, kubernetes.io/tls and istio.io/key-and-cert are read");
    }
    let data = secret::data(object);
    if !data.keys().any(|key| KNOWN_KEYS.contains(&&**key)) {
        return Some("it has none of the keys that hold certificates");
    }
    None
}

fn check_pem(object: &Object, forced: bool, sink: &mut Findings) -> Vec<String> {
    let data = secret::data(object);
    let mut errors = Vec::new();
    for (key, what) in [("tls.key", "key"), ("tls.crt", "certificate")] {
        let Some((node, value)) = data.get(key).filter(|(_, value)| !value.expose().is_empty()) else { continue };
        let wrong = match pem::form(value) {
            pem::Form::Der => continue,
            pem::Form::NotDer => format!("has a PEM block, but no {what} in it"),
            pem::Form::Absent => format!("is not a PEM-encoded {what}"),
        };
        sink.report(findings::bad_pem(object, *node, key, &wrong, forced));
        errors.push(format!("{key} {wrong}"));
    }
    errors
}

impl Passed<'_> {
    /// The Secret as a resource.
    pub(super) fn resource(&self, options: &Options) -> Option<Resource> {
        let object = self.object;
        let secret_type = secret::secret_type(object);
        let mut data = secret::data(object);
        if !self.errors.is_empty() {
            data.values_mut().for_each(|(_, value)| *value = Secret::new(Str::new_static("-redacted-")));
        }
        let mut spec = chancery_text::Object::new();
        spec.insert("ambassador_id", made_text(object.root.id, options.ambassador_id.clone()));
        spec.insert("secret_type", made_text(object.root.get("type").map_or(object.root.id, |node| node.id), secret_type.clone()));
        for (key, (node, _)) in &data {
            spec.insert(key.replace('.', "_"), made_text(*node, REDACTED));
        }
        let parts = Parts {
            kind: object.key.kind.clone(),
            name: object.key.name.clone(),
            namespace: object.key.namespace.clone().unwrap_or_default(),
            api_version: Str::new_static(emit::CURRENT_VERSION),
            labels: emit::labels(object.root.at(&["metadata", "labels"])),
            spec: Arc::new(Node { id: object.root.id, value: Value::Object(spec) }),
            rule: Rule::Field,
            key: object.key.clone(),
            payload: Payload::Secret(Arc::new(SecretData { secret_type, data })),
            invalid: self.errors.clone(),
        };
        let mut resource = parts.resource(object, options);
        let base = format!("{}.{}", resource.name, resource.namespace);
        emit::number(&mut resource, &base, object, 1);
        Some(resource)
    }
}

/// All Secrets that resources of this instance reference.
fn references(seen: &VisibleObjects<'_>, annotations: &Annotations<'_>, options: &Options) -> References {
    let mut users: Vec<(&str, &Object, &str, &Node)> = Vec::new();
    for (object, unfolded) in annotations.iter() {
        let Some(spec) = unfolded.spec.as_deref().filter(|_| unfolded.valid) else { continue };
        if emit::front_end_id(spec, options) {
            users.push((&unfolded.kind, object, unfolded.key.namespace.as_deref().unwrap_or_default(), spec));
        }
    }
    for kind in ["Host", "TLSContext", "Module"].into_iter().filter_map(kinds::find) {
        for applied in seen.of(Role::Ambassador(kind)) {
            let Some(spec) = applied.verdict.spec.as_deref().filter(|_| applied.verdict.errors.is_empty()) else { continue };
            if emit::front_end_id(spec, options) {
                users.push((kind.name, applied.object, applied.object.key.namespace.as_deref().unwrap_or_default(), spec));
            }
        }
    }
    let is_ambassador_module = |(kind, object, _, _): &&(&str, &Object, &str, &Node)| *kind == "Module" && name_of(object) == "ambassador";
    let namespacing =
        users.iter().filter(is_ambassador_module).find_map(|(_, _, _, spec)| module_secrets(spec)).is_none_or(|secrets| secrets.namespacing);

    let mut references = References::new();
    let fallback = (options.ambassador_namespace.clone(), Str::new_static(FALLBACK));
    references.entry(fallback).or_default();
    for (kind, object, namespace, spec) in users {
        let mut found = SecretCollector { references: &mut references, object: object.id, namespace };
        match kind {
            "Host" => {
                for field in ["ca_secret", "crl_secret"] {
                    found.add(spec.at(&["tls", field]), namespacing);
                }
                let secret_namespace = spec.at(&["tlsSecret", "namespace"]).and_then(Node::as_str).filter(|name| !name.is_empty());
                found.add_in(secret_namespace.unwrap_or(namespace), spec.at(&["tlsSecret", "name"]), false);
                found.add(spec.at(&["acmeProvider", "privateKeySecret", "name"]), false);
            }
            "TLSContext" => {
                let namespacing = spec.get("secret_namespacing").and_then(Node::as_bool).unwrap_or(namespacing);
                for field in ["secret", "ca_secret", "crl_secret"] {
                    found.add(spec.get(field), namespacing);
                }
            }
            "Module" => {
                for node in module_secrets(spec).into_iter().flat_map(|secrets| secrets.named) {
                    found.add(Some(node), namespacing);
                }
            }
            _ => {}
        }
    }
    for applied in seen.of(Role::Ingress) {
        let object = applied.object;
        let namespace = object.key.namespace.as_deref().unwrap_or_default();
        for tls in ingress::Ingress::read(&object.root).tls {
            let Some(secret) = tls.secret else { continue };
            let mut found = SecretCollector { references: &mut references, object: object.id, namespace };
            found.add_text(namespace, secret.text, secret.node, namespacing);
        }
    }
    references
}

fn name_of(object: &Object) -> &str {
    &object.key.name
}

/// The parts of a Module's `config` that the front end reads.
struct ModuleSecrets<'a> {
    namespacing: bool,
    named: Vec<&'a Node>,
}

/// Reads a Module's `config` like the front end: completely, or not at all if a type is wrong.
fn module_secrets(spec: &Node) -> Option<ModuleSecrets<'_>> {
    let none = ModuleSecrets { namespacing: false, named: Vec::new() };
    let config = match spec.get("config") {
        None => return Some(none),
        Some(config) if config.is_null() => return Some(none),
        Some(config) => config,
    };
    config.as_object()?;
    let part = |name: &str| match config.get(name) {
        None => Some(None),
        Some(part) if part.is_null() => Some(None),
        Some(part) => part.as_object().map(Some),
    };
    let namespacing = match part("defaults")?.and_then(|defaults| defaults.get("tls_secret_namespacing")).map(|node| &node.value) {
        None | Some(Value::Null) => false,
        Some(Value::Bool(namespacing)) => *namespacing,
        Some(_) => return None,
    };
    let mut named = Vec::new();
    for name in ["upstream", "server", "client"] {
        let secret = part(name)?.and_then(|part| part.get("secret"));
        match secret.map(|node| (node, &node.value)) {
            None | Some((_, Value::Null)) => {}
            Some((node, Value::String(_))) => named.push(node),
            Some(_) => return None,
        }
    }
    Some(ModuleSecrets { namespacing, named })
}

struct SecretCollector<'r> {
    references: &'r mut References,
    object: ObjectId,
    namespace: &'r str,
}

impl SecretCollector<'_> {
    fn add(&mut self, name: Option<&Node>, namespacing: bool) {
        self.add_in(self.namespace, name, namespacing);
    }

    fn add_in(&mut self, namespace: &str, name: Option<&Node>, namespacing: bool) {
        let Some((text, node)) = name.and_then(|node| Some((node.as_str()?, node.id))) else { return };
        self.add_text(namespace, text, node, namespacing);
    }

    fn add_text(&mut self, namespace: &str, text: &str, node: NodeId, namespacing: bool) {
        if text.is_empty() {
            return;
        }
        let (name, namespace) = text.rsplit_once('.').filter(|_| namespacing).unwrap_or((text, namespace));
        self.references.entry((Str::new(namespace), Str::new(name))).or_default().push((self.object, node));
    }
}

impl Secrets<'_> {
    /// Records in the configuration which resources use which Secrets, and which Secrets are assumed.
    pub(super) fn finish(self, config: &mut Config, users: Vec<(ObjectId, Str)>, objects: &Objects, missing: &Assumptions, sink: &mut Findings) {
        config.supplied_secrets = self.supplied.into_iter().collect();
        config.assume_missing = missing.assumes(&ResourceKey::new("", "Secret", "", ""), &[("", "Secret")], objects, &BTreeSet::new());
        config.assume_unreferenced = missing.assumes_unreferenced_secrets();
        if missing.assumes_provided() {
            config.provided_secrets = Arc::new(provided_secrets(objects.iter()));
        }
        let mut rkeys: BTreeMap<ObjectId, Vec<Str>> = BTreeMap::new();
        for (object, rkey) in users {
            rkeys.entry(object).or_default().push(rkey);
        }
        for ((namespace, name), by) in &self.references {
            let key = ResourceKey::new("", "Secret", namespace.clone(), name.clone());
            let supplied = config.supplied_secrets.contains(&key);
            let mut used = false;
            for (object, node) in by {
                for rkey in rkeys.get(object).into_iter().flatten() {
                    used = true;
                    config.link(rkey, &format!("{name}.{namespace}.1"), Some(Origin::field(*object, *node)));
                }
            }
            if config.assumes(&key) && !supplied && used {
                let maker = config.provided_secrets.get(&key).and_then(|id| objects.get(*id));
                sink.report(findings::assumed_secret(by, namespace, name, maker));
                let origins = by.iter().map(|(object, node)| Origin::field(*object, *node)).collect();
                config.assumed.insert(key, origins);
            }
        }
    }
}
