//! What the API server holds: objects that it accepted, with defaults put in, by kind, namespace and name.
//!
//! Does not know how the controller uses them; see `source`.

use super::kinds::{self, Kind};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::diagnostic::Findings;
use chancery_base::executor::Executor;
use chancery_base::resource::{Object, ObjectId, Objects, Secret};
use chancery_kubernetes::admit::{Admission, Verdict, verdicts};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::{overwritten, secret, service};
use chancery_text::{Node, Str, base64};
use hashbrown::HashMap;
use sha1::{Digest as _, Sha1};

/// An object that the API server accepted.
#[derive(Clone, Debug)]
pub struct Held<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its tree with defaults.
    pub root: Arc<Node>,
}

impl Held<'_> {
    /// Its tree.
    pub fn root(&self) -> Cursor<'_> {
        Cursor::new(self.object.id, &self.root)
    }

    /// Returns the namespace; empty for a cluster-scoped object.
    pub fn namespace(&self) -> &str {
        self.object.key.namespace.as_deref().unwrap_or_default()
    }

    /// Name.
    pub fn name(&self) -> &str {
        &self.object.key.name
    }

    /// `NAMESPACE/NAME`
    pub fn key(&self) -> Str {
        alloc::format!("{}/{}", self.namespace(), self.name()).into()
    }

    /// The ports of a Service.
    pub fn ports(&self) -> Vec<service::Port> {
        service::ports(&self.root)
    }
}

/// What the API server holds.
#[derive(Debug, Default)]
pub struct Cluster<'a> {
    /// By namespace and name.
    held: BTreeMap<Kind, BTreeMap<(Str, Str), Held<'a>>>,
    /// EndpointSlices by the namespace and name of their Service, by name.
    slices: HashMap<(Str, Str), Vec<(Str, Str)>>,
}

/// A Secret whose values can be used.
pub struct HeldSecret<'a> {
    /// The object.
    pub object: &'a Object,
}

impl HeldSecret<'_> {
    /// A value, decoded.
    pub fn bytes(&self, key: &str) -> Option<Vec<u8>> {
        base64::decode(secret::data(self.object).get(key)?.1.expose())
    }

    /// Whether it has a key.
    pub fn has(&self, key: &str) -> bool {
        secret::data(self.object).contains_key(key)
    }

    /// A value as text.
    pub fn text(&self, key: &str) -> Option<Secret<Str>> {
        Some(Secret::new(Str::from(String::from_utf8_lossy(&self.bytes(key)?))))
    }

    /// Its keys and values as lines of `KEY:VALUE`.
    pub fn lines(&self) -> Secret<Str> {
        let mut lines = String::new();
        for (key, (_, value)) in secret::data(self.object) {
            let value = base64::decode(value.expose()).unwrap_or_default();
            lines.push_str(&alloc::format!("{key}:{}\n", String::from_utf8_lossy(&value)));
        }
        Secret::new(Str::from(lines))
    }
}

fn admit(kind: Kind, object: &Object, admission: Admission<'_>, sink: &mut Findings) -> Result<Arc<Node>, Vec<String>> {
    admission.admit(kind.definition(), object, sink)
}

impl<'a> Cluster<'a> {
    /// Applies all documents in order.
    pub fn apply(objects: &'a Objects, executor: &dyn Executor, ledger: &mut Ledger, sink: &mut Findings) -> Self {
        let read = |object: &&Object| !object.broken && kinds::find(&object.key.group, &object.key.kind).is_some();
        let known: Vec<(Kind, &Object)> =
            objects.all().filter(read).filter_map(|object| Some((kinds::find(&object.key.group, &object.key.kind)?, object))).collect();
        let mut verdicts = verdicts(&known, false, executor, admit).into_iter();
        let mut cluster = Self::default();
        for object in objects.all() {
            let Some(kind) = kinds::find(&object.key.group, &object.key.kind).filter(|_| !object.broken) else {
                let state = match object.broken {
                    true => State::Invalid("it cannot be read".into()),
                    false => State::Ignored(Why::UnknownKind, "the controller does not read this kind".into()),
                };
                ledger.set(object.id, state);
                continue;
            };
            let Some(Verdict { taken, mut found, .. }) = verdicts.next() else { continue };
            sink.append(&mut found);
            match taken {
                Ok(root) => cluster.hold(kind, Held { object, root }, ledger, sink),
                Err(errors) => ledger.set(object.id, State::Invalid(errors.first().map_or("the API server refuses it", String::as_str).into())),
            }
        }
        cluster.index_slices();
        cluster
    }

    fn hold(&mut self, kind: Kind, held: Held<'a>, ledger: &mut Ledger, sink: &mut Findings) {
        let object = held.object;
        ledger.set(object.id, State::Loaded);
        let name = (Str::new(held.namespace()), object.key.name.clone());
        if let Some(earlier) = self.held.entry(kind).or_default().insert(name, held) {
            ledger.set(earlier.object.id, State::Shadowed(object.id));
            sink.report(overwritten(earlier.object, object));
        }
    }

    fn index_slices(&mut self) {
        let mut slices: HashMap<(Str, Str), Vec<(Str, Str)>> = HashMap::new();
        for (name, held) in self.held.get(&Kind::EndpointSlice).into_iter().flatten() {
            if let Some(service) = held.root.at(&["metadata", "labels", "kubernetes.io/service-name"]).and_then(Node::as_str) {
                slices.entry((name.0.clone(), Str::new(service))).or_default().push(name.clone());
            }
        }
        self.slices = slices;
    }

    /// All objects of a kind, by namespace and name.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &Held<'a>> {
        self.held.get(&kind).into_iter().flat_map(BTreeMap::values)
    }

    /// One object.
    pub fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Held<'a>> {
        self.held.get(&kind)?.get(&(Str::new(namespace), Str::new(name)))
    }

    /// A Service.
    pub fn service(&self, namespace: &str, name: &str) -> Option<&Held<'a>> {
        self.get(Kind::Service, namespace, name)
    }

    /// A Secret.
    pub fn secret(&self, namespace: &str, name: &str) -> Option<HeldSecret<'a>> {
        self.get(Kind::Secret, namespace, name).map(|held| HeldSecret { object: held.object })
    }

    /// An object by `NAMESPACE/NAME`.
    pub fn by_key(&self, kind: Kind, key: &str) -> Option<&Held<'a>> {
        let (namespace, name) = key.split_once('/')?;
        self.get(kind, namespace, name)
    }

    /// The values of a ConfigMap, by `NAMESPACE/NAME`.
    pub fn config_map(&self, key: &str) -> Option<BTreeMap<Str, Str>> {
        let data = self.by_key(Kind::ConfigMap, key)?.root.get("data").and_then(Node::as_object);
        let entries = data.into_iter().flatten();
        Some(entries.filter_map(|entry| Some((entry.key.clone(), Str::new(entry.value.as_str()?)))).collect())
    }

    /// The EndpointSlices of a Service, by name.
    pub fn slices(&self, namespace: &str, service: &str) -> impl Iterator<Item = &Held<'a>> {
        let names = self.slices.get(&(Str::new(namespace), Str::new(service)));
        names.into_iter().flatten().filter_map(|(namespace, name)| self.get(Kind::EndpointSlice, namespace, name))
    }

    /// The UID of an object. The default is derived from the name.
    pub fn uid(&self, object: &Object) -> Str {
        uid_of(object)
    }
}

/// The UID of an object. The default is derived from the name.
pub fn uid_of(object: &Object) -> Str {
    if let Some(uid) = object.root.at(&["metadata", "uid"]).and_then(Node::as_str).filter(|uid| !uid.is_empty()) {
        return Str::new(uid);
    }
    let kind = if object.key.kind == "Secret" { "*v1.Secret/" } else { "" };
    let name = alloc::format!("{kind}{}/{}", object.key.namespace.as_deref().unwrap_or_default(), object.key.name);
    let mut bytes: [u8; 16] = core::array::from_fn(|_| 0);
    bytes.iter_mut().zip(Sha1::digest(name.as_bytes())).for_each(|(slot, byte)| *slot = byte);
    bytes[6] = bytes[6] & 0x0f | 0x50;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: Vec<String> = bytes.iter().map(|byte| alloc::format!("{byte:02x}")).collect();
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().concat();
    [part(0, 4), part(4, 6), part(6, 8), part(8, 10), part(10, 16)].join("-").to_string().into()
}

/// The objects of a kind that are used, for the ledger.
pub type Used = hashbrown::HashSet<ObjectId>;
