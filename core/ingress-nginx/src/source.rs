//! Which Ingresses count, and in which order they are merged.
//!
//! ingress-nginx `internal/ingress/controller/store/store.go`, `internal/ingress/inspector`. Does not merge them; see `build`.

use super::annotations::{self, CLASS, DropKind, Dropped, Extracted, GroupErrors, Reading};
use super::cluster::{AdmittedObject, Cluster};
use super::ingress::Ingress;
use super::kinds::Kind;
use super::options::Options;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Globals, Settings};
use chancery_base::resource::{Object, ObjectId, Objects, Secret};
use chancery_kubernetes::cluster::ReadKind as _;
use chancery_kubernetes::object_tables::{ByContent, CachedObject};
use chancery_kubernetes::selector::Selector;
use chancery_text::{Node, Str};
use hashbrown::HashMap;

/// Why the controller does not serve an Ingress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unhandled {
    /// The controller does not watch its namespace.
    Namespace,
    /// It has no class, or another controller's; with the controller's message.
    Class(String),
    /// The controller drops it.
    Dropped(Dropped),
}

/// An Ingress that the controller serves, with its settings.
#[derive(Clone, Debug)]
pub struct Counted {
    pub ingress: Arc<Ingress>,
    pub settings: Arc<Settings>,
    /// The content of its password file.
    pub passwords: Option<Secret<Str>>,
    pub errors: Arc<GroupErrors>,
}

impl Counted {
    pub fn new(ingress: Arc<Ingress>, extracted: Extracted) -> Self {
        let Extracted { settings, passwords, errors } = extracted;
        Self { ingress, settings, passwords, errors }
    }
}

/// The Ingresses of the input.
#[derive(Debug, Default)]
pub struct Source {
    /// The Ingresses that the controller serves, oldest first.
    pub counted: Vec<Counted>,
    /// The other Ingresses.
    pub unhandled: Vec<(Arc<Ingress>, Unhandled)>,
    /// The IngressClasses that an Ingress names.
    pub classes: Vec<ObjectId>,
    /// All Ingresses, oldest first.
    pub by_age: Vec<Arc<Ingress>>,
}

/// The Ingresses of earlier compiles, and the meaning of their annotations. Both hold as long as the options and all ConfigMaps are the same.
#[derive(Default)]
pub struct Memory {
    options: Option<Options>,
    config_maps: Vec<CachedObject>,
    /// With the place among the Ingresses of the input, which decides the default of its age.
    ingresses: ByContent<(usize, Arc<Ingress>)>,
    /// Only if no other object was looked up.
    extracted: ByContent<Result<Extracted, Dropped>>,
}

impl Memory {
    /// Starts a compile. Forgets everything if the options or a ConfigMap changed.
    fn begin(&mut self, cluster: &Cluster<'_>, options: &Options) {
        let config_maps = || cluster.all(Kind::ConfigMap).map(|map| map.object);
        let is_same = self.options.as_ref() == Some(options)
            && config_maps().count() == self.config_maps.len()
            && config_maps().zip(&self.config_maps).all(|(object, known)| known.is(object));
        if !is_same {
            let config_maps = config_maps().map(CachedObject::new).collect();
            *self = Self { options: Some(options.clone()), config_maps, ..Self::default() };
        }
        self.ingresses.begin();
        self.extracted.begin();
    }

    fn end(&mut self) {
        self.ingresses.end();
        self.extracted.end();
    }

    fn ingress(&mut self, admitted: &AdmittedObject<'_>, options: &Options, place: usize) -> Arc<Ingress> {
        if let Some((known_place, ingress)) = self.ingresses.get(admitted.object)
            && *known_place == place
        {
            return ingress.clone();
        }
        let ingress = Arc::new(Ingress::read(admitted, options, place));
        self.ingresses.put(admitted.object, (place, ingress.clone()));
        ingress
    }

    fn extract(&mut self, admitted: &AdmittedObject<'_>, reading: &Reading<'_>) -> Result<Extracted, Dropped> {
        if let Some(known) = self.extracted.get(admitted.object) {
            return known.clone();
        }
        let extracted = annotations::extract(reading);
        if !reading.looks_up() {
            self.extracted.put(admitted.object, extracted.clone());
        }
        extracted
    }
}

impl Source {
    /// Reads all Ingresses.
    pub fn new(objects: &Objects, cluster: &Cluster<'_>, options: &Options, globals: &Globals, memory: &mut Memory) -> Self {
        memory.begin(cluster, options);
        let is_ingress = |object: &&Object| Kind::find(&object.key.group, &object.key.kind) == Some(Kind::Ingress);
        let places: HashMap<ObjectId, usize> = objects.all().filter(is_ingress).enumerate().map(|(place, object)| (object.id, place)).collect();
        let place = |id: ObjectId| places.get(&id).copied().unwrap_or_default();
        let read = |admitted| (admitted, memory.ingress(admitted, options, place(admitted.object.id)));
        let mut all: Vec<(&AdmittedObject<'_>, Arc<Ingress>)> = cluster.all(Kind::Ingress).map(read).collect();
        all.sort_by(|(_, a), (_, b)| a.created.cmp(&b.created).then_with(|| b.key().cmp(&a.key())));
        let mut source = Self { by_age: all.iter().map(|(_, ingress)| ingress.clone()).collect(), ..Self::default() };
        for (admitted, ingress) in all {
            let handled = source.handle(&ingress, cluster, options, globals).and_then(|()| {
                let reading = Reading::new(&ingress, cluster, globals);
                memory.extract(admitted, &reading).map_err(Unhandled::Dropped)
            });
            match handled {
                Ok(extracted) => source.counted.push(Counted::new(ingress, extracted)),
                Err(why) => source.unhandled.push((ingress, why)),
            }
        }
        memory.end();
        source
    }

    /// Records the class of an Ingress.
    ///
    /// # Errors
    ///
    /// The controller does not serve it, whatever its annotations mean.
    fn handle(&mut self, ingress: &Ingress, cluster: &Cluster<'_>, options: &Options, globals: &Globals) -> Result<(), Unhandled> {
        if !watches(&ingress.namespace, cluster, options) {
            return Err(Unhandled::Namespace);
        }
        self.classes.extend(class(ingress, cluster, options).map_err(Unhandled::Class)?);
        if options.inspects {
            inspect(ingress).map_err(Unhandled::Dropped)?;
        }
        if options.disables_catch_all
            && let Some(backend) = &ingress.default_backend
        {
            let message = "Ignoring add for catch-all ingress because of --disable-catch-all".into();
            let dropped = Dropped { message, origin: Some(backend.origin), annotation: None, kind: DropKind::CatchAll };
            return Err(Unhandled::Dropped(dropped));
        }
        check_words(ingress, globals).map_err(Unhandled::Dropped)
    }
}

/// Whether the controller looks at a namespace.
pub fn watches(namespace: &str, cluster: &Cluster<'_>, options: &Options) -> bool {
    if !options.watches(namespace) {
        return false;
    }
    if options.watch_selector.is_empty() {
        return true;
    }
    let Some(held) = cluster.get(Kind::Namespace, "", namespace) else { return false };
    let labels = held.root.at(&["metadata", "labels"]);
    Selector::parse(&options.watch_selector).matches(|name| labels?.get(name)?.as_str())
}

/// The class of an Ingress that is the controller's; the IngressClass, if it names one.
///
/// # Errors
///
/// Why it is not the controller's.
pub fn class(ingress: &Ingress, cluster: &Cluster<'_>, options: &Options) -> Result<Option<ObjectId>, String> {
    if let Some(name) = &ingress.class {
        let missing = || format!("no object matching key {} in local store", chancery_base::schema::go_quoted(name));
        let held = cluster.get(Kind::IngressClass, "", name).ok_or_else(missing)?;
        let controller = held.root.at(&["spec", "controller"]).and_then(Node::as_str).unwrap_or_default();
        let is_named = options.class_by_name && name.value == options.ingress_class;
        return if is_named || controller == options.controller_class { Ok(Some(held.object.id)) } else { Err(missing()) };
    }
    match ingress.annotations.full(CLASS) {
        Some(class) if class.value == options.ingress_class => Ok(None),
        Some(_) => Err("ingress class annotation is not equal to the expected by Ingress Controller".into()),
        None if options.watches_without_class => Ok(None),
        None => Err("ingress does not contain a valid IngressClass".into()),
    }
}

/// A text that could be an attempt to write other directives.
fn is_suspicious(text: &str) -> bool {
    let has_directive = |word: &str| text.find(word).is_some_and(|at| text.get(at..).unwrap_or_default().contains(';'));
    let directories = ["/etc/passwd", "/etc/shadow", "/etc/group", "/etc/nginx", "/etc/ingress-controller", "/var/run/secrets", "_by_lua"];
    has_directive("alias") || has_directive("root") || directories.iter().any(|word| text.contains(word))
}

/// Looks for suspicious strings in hosts, paths and names of Secrets.
///
/// # Errors
///
/// The Ingress contains a suspicious string.
pub fn inspect(ingress: &Ingress) -> Result<(), Dropped> {
    let (namespace, name) = (&ingress.namespace, &ingress.name);
    let found = |text: &chancery_base::resource::Sourced<Str>, message: String| {
        Err(Dropped { message, origin: text.origin, annotation: None, kind: DropKind::Inspection })
    };
    for rule in &ingress.rules {
        if is_suspicious(&rule.host) {
            return found(&rule.host, format!("invalid host in ingress {namespace}/{name}: invalid value found: {}", rule.host.value));
        }
        if let Some(path) = rule.paths.iter().flatten().find(|path| is_suspicious(&path.path)) {
            let message = format!("invalid rule in ingress {namespace}/{name}: invalid http path: invalid value found: {}", path.path.value);
            return found(&path.path, message);
        }
    }
    for tls in &ingress.tls {
        if is_suspicious(&tls.secret) {
            return found(&tls.secret, format!("invalid secret in ingress {namespace}/{name}: invalid value found: {}", tls.secret.value));
        }
        if let Some(host) = tls.hosts.iter().find(|host| is_suspicious(host)) {
            return found(host, format!("invalid host in ingress tls config {namespace}/{name}: invalid value found: {}", host.value));
        }
    }
    Ok(())
}

/// Looks for forbidden words in the values of annotations.
fn check_words(ingress: &Ingress, globals: &Globals) -> Result<(), Dropped> {
    let list = globals.text("annotation-value-word-blocklist");
    if list.is_empty() {
        return Ok(());
    }
    for (name, value) in ingress.annotations.own() {
        // An empty word, as after a comma at the end, is in every value.
        if let Some(word) = list.trim().split(',').find(|word| value.contains(*word)) {
            let message = format!("{name} annotation contains invalid word {word}");
            return Err(Dropped { message, origin: value.origin, annotation: None, kind: DropKind::Word });
        }
    }
    Ok(())
}
