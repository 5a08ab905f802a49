//! Which Ingresses count, and in which order they are merged.
//!
//! ingress-nginx `internal/ingress/controller/store/store.go`, `internal/ingress/inspector`. Does not merge them; see `build`.

use super::annotations::{self, CLASS, DropKind, Dropped, Extracted, Reading};
use super::cluster::Cluster;
use super::ingress::Ingress;
use super::kinds::Kind;
use super::options::Options;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Globals, Settings};
use chancery_base::resource::{ObjectId, Objects, Secret};
use chancery_kubernetes::selector::Selector;
use chancery_text::{Node, Str};
use hashbrown::HashMap;

/// Why the controller does not look at an Ingress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unhandled {
    /// Its namespace is not watched.
    Namespace,
    /// Its class is another's, or it has none; what the controller says.
    Class(String),
    /// The controller drops it.
    Dropped(Dropped),
}

/// An effective Ingress, with its settings.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The Ingress.
    pub ingress: Arc<Ingress>,
    /// What its annotations mean.
    pub settings: Arc<Settings>,
    /// The file of passwords.
    pub passwords: Option<Secret<Str>>,
}

/// The Ingresses of the input.
#[derive(Debug, Default)]
pub struct Source {
    /// The effective Ingresses, oldest first.
    pub counted: Vec<Counted>,
    /// The others.
    pub unhandled: Vec<(Arc<Ingress>, Unhandled)>,
    /// Errors in annotations of the effective Ingresses.
    pub faults: HashMap<ObjectId, Extracted>,
    /// IngressClasses that an Ingress uses.
    pub classes: Vec<ObjectId>,
    /// All of them, in the order in which they were created.
    pub by_age: Vec<Arc<Ingress>>,
}

impl Source {
    /// Looks at each Ingress.
    pub fn new(objects: &Objects, cluster: &Cluster<'_>, options: &Options, globals: &Globals) -> Self {
        let is_ingress = |object: &&chancery_base::resource::Object| super::kinds::find(&object.key.group, &object.key.kind) == Some(Kind::Ingress);
        let places: HashMap<ObjectId, usize> = objects.all().filter(is_ingress).enumerate().map(|(place, object)| (object.id, place)).collect();
        let place = |id: ObjectId| places.get(&id).copied().unwrap_or_default();
        let mut all: Vec<Arc<Ingress>> =
            cluster.all(Kind::Ingress).map(|held| Arc::new(Ingress::read(held, options, place(held.object.id)))).collect();
        all.sort_by(|a, b| a.created.cmp(&b.created).then_with(|| b.key().cmp(&a.key())));
        let mut source = Self { by_age: all.clone(), ..Self::default() };
        for ingress in all {
            match source.handle(&ingress, cluster, options, globals) {
                Ok(extracted) => {
                    let Extracted { settings, passwords, denials, faults } = extracted;
                    let settings = Arc::new(settings);
                    source.counted.push(Counted { ingress: ingress.clone(), settings, passwords });
                    if !denials.is_empty() || !faults.is_empty() {
                        let rest = Extracted { settings: Settings::default(), passwords: None, denials, faults };
                        source.faults.insert(ingress.object, rest);
                    }
                }
                Err(why) => source.unhandled.push((ingress, why)),
            }
        }
        source
    }

    fn handle(&mut self, ingress: &Ingress, cluster: &Cluster<'_>, options: &Options, globals: &Globals) -> Result<Extracted, Unhandled> {
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
        check_words(ingress, globals).map_err(Unhandled::Dropped)?;
        annotations::extract(&reading(ingress, cluster, globals)).map_err(Unhandled::Dropped)
    }
}

pub(super) fn reading<'a>(ingress: &'a Ingress, cluster: &'a Cluster<'a>, globals: &'a Globals) -> Reading<'a> {
    Reading { annotations: &ingress.annotations, namespace: &ingress.namespace, name: &ingress.name, uid: &ingress.uid, cluster, globals }
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
