//! Attaches policies: to rules, routes, ListenerSets and Gateways, in this order, so that the most specific policy is applied first.
//!
//! BackendTrafficPolicy, SecurityPolicy and EnvoyExtensionPolicy attach alike. Does not know what they say; see [`Attached`].

use super::super::cluster::{Admitted, Name};
use super::super::context::Scope;
use super::super::context::{ListenerId, RouteKind, Translator};
use super::super::status::{PolicyStatus, Reference, sentence};
use super::super::value::tree;
use super::merge::{Keys, merge};
use super::scope_graph::{Graph, format};
use super::target::{self, Target};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::ObjectId;
use chancery_text::Str;

/// A kind of policies.
pub(super) trait Attached {
    /// Its name, as `kind` has it.
    const KIND: &'static str;
    /// What messages call other policies of a route.
    const FOR_ROUTES: &'static str;
    /// What messages call other policies of a Gateway.
    const MANY: &'static str;
    /// Whether messages name a Gateway's listener with its namespace.
    const NAMES_NAMESPACE: bool = false;
    /// Lists that are merged item by item.
    const KEYS: Keys;

    /// Returns all policies of the kind.
    fn all<'a>(t: &Translator<'a>) -> Vec<&'a Admitted<'a>>;

    /// Returns deprecated fields that are used, each with what to use instead; sorted.
    fn deprecated(spec: &Tree) -> Vec<(&'static str, &'static str)>;

    /// Checks a policy for a route before it is translated.
    fn check(_target: &Target, _spec: &Tree) -> Result<(), String> {
        Ok(())
    }

    /// Applies a policy to a route, or to one of its rules; only at one listener, if it is given.
    fn on_route(t: &mut Translator<'_>, policy: &Effective<'_>, route: usize, rule: Option<&str>, listener: Option<ListenerId>)
    -> Result<(), String>;

    /// Applies a policy to all routes of these listeners of a Gateway. `is_whole` says that the policy is for the whole Gateway.
    fn on_listeners(t: &mut Translator<'_>, policy: &Effective<'_>, gateway: usize, listeners: &[ListenerId], is_whole: bool) -> Result<(), String>;
}

/// A policy as it is applied: by itself, or merged into the policy of a wider scope.
pub(super) struct Effective<'p> {
    pub(super) object: &'p Admitted<'p>,
    pub(super) own: Tree,
    pub(super) parent: Option<(&'p Admitted<'p>, Tree)>,
    pub(super) spec: Tree,
}

impl<'p> Effective<'p> {
    fn of(object: &'p Admitted<'p>) -> Self {
        let own = tree(object.spec());
        Self { object, spec: own.clone(), own, parent: None }
    }

    fn merged(object: &'p Admitted<'p>, parent: &'p Admitted<'p>, keys: Keys) -> Self {
        let own = tree(object.spec());
        let wide = tree(parent.spec());
        let keys = if own.get("mergeType").is("JSONMerge") { &[] } else { keys };
        Self { object, spec: merge(&wide, &own, keys), own, parent: Some((parent, wide)) }
    }

    /// Returns the policy that holds a setting: the narrower one if it has it, else the wider one.
    pub(super) fn owner(&self, has: impl Fn(&Tree) -> bool) -> &'p Admitted<'p> {
        match &self.parent {
            Some((parent, _)) if !has(&self.own) => parent,
            _ => self.object,
        }
    }
}

/// Why a policy cannot be attached: reason and message.
type Refusal = (&'static str, String);

struct Driver<'a> {
    /// What has a policy already: kind, name and section.
    taken: BTreeSet<(Str, Name, Option<Str>)>,
    on_gateways: BTreeMap<(Name, Str), &'a Admitted<'a>>,
    on_listener_sets: BTreeMap<(Name, Str), &'a Admitted<'a>>,
    overrides: Graph,
    merged: Graph,
    handled: BTreeSet<ObjectId>,
    /// The places of the routes in [`Translator::routes`].
    routes: BTreeMap<(RouteKind, Name), usize>,
}

/// Attaches and applies all policies of a kind.
pub(super) fn run<'a, K: Attached>(t: &mut Translator<'a>) {
    let policies = K::all(t);
    let routes: Vec<&'a Admitted<'a>> = t.routes.iter().map(|route| route.object).collect();
    let gateways: Vec<&'a Admitted<'a>> = t.gateways.iter().map(|gateway| gateway.object).collect();
    let sets: Vec<&'a Admitted<'a>> = t.resources.listener_sets.clone();
    let mut driver = Driver {
        taken: BTreeSet::new(),
        on_gateways: BTreeMap::new(),
        on_listener_sets: BTreeMap::new(),
        overrides: Graph::default(),
        merged: Graph::default(),
        handled: BTreeSet::new(),
        routes: t.routes.iter().enumerate().map(|(at, route)| ((route.kind, route.object.full_name()), at)).collect(),
    };
    let resolve = |t: &Translator<'a>, candidates: &[&'a Admitted<'a>]| -> Vec<(&'a Admitted<'a>, Target)> {
        let all = policies.iter().map(|policy| (*policy, target::resolve(t, policy, candidates)));
        all.flat_map(|(policy, targets)| targets.into_iter().map(move |target| (policy, target))).collect()
    };
    let named: Vec<(&'a Admitted<'a>, Target)> =
        policies.iter().flat_map(|policy| target::of_references(policy).into_iter().map(move |target| (*policy, target))).collect();
    let for_routes = resolve(t, &routes);
    let for_gateways = resolve(t, &gateways);
    let for_sets = resolve(t, &sets);
    driver.index(t, &for_gateways, &for_sets);

    for (policy, target) in named.iter().filter(|(_, target)| !target.is_gateway() && target.section.is_some()) {
        driver.route::<K>(t, policy, target);
    }
    for (policy, target) in for_routes.iter().filter(|(_, target)| !target.is_gateway() && target.section.is_none()) {
        driver.route::<K>(t, policy, target);
    }
    for (policy, target) in named.iter().filter(|(_, target)| target.is_listener_set() && target.section.is_some()) {
        driver.listener_set::<K>(t, policy, target);
    }
    for (policy, target) in for_sets.iter().filter(|(_, target)| target.is_listener_set() && target.section.is_none()) {
        driver.listener_set::<K>(t, policy, target);
    }
    for (policy, target) in named.iter().filter(|(_, target)| target.is_gateway() && target.section.is_some()) {
        driver.gateway::<K>(t, policy, target);
    }
    for (policy, target) in for_gateways.iter().filter(|(_, target)| target.is_gateway() && target.section.is_none()) {
        driver.gateway::<K>(t, policy, target);
    }
    for id in &driver.handled {
        if let Some(status) = t.policies.get_mut(id) {
            status.truncate();
        }
    }
}

impl<'a> Driver<'a> {
    /// Finds the policies of Gateways and ListenerSets. Policies of routes may be merged into them.
    fn index(&mut self, t: &Translator<'a>, gateways: &[(&'a Admitted<'a>, Target)], sets: &[(&'a Admitted<'a>, Target)]) {
        for (policy, target) in gateways.iter().filter(|(_, target)| target.is_gateway()) {
            let Some(gateway) = gateway_of(t, &target.full_name()) else { continue };
            if target.section().is_none_or(|section| has_listener(t, gateway, section)) {
                self.on_gateways.entry((target.full_name(), target.section.clone().unwrap_or_default())).or_insert(policy);
            }
        }
        for (policy, target) in sets.iter().filter(|(_, target)| target.is_listener_set()) {
            let Some(set) = set_of(t, &target.full_name()) else { continue };
            if target.section().is_none_or(|section| set_has_listener(set, section)) {
                self.on_listener_sets.entry((target.full_name(), target.section.clone().unwrap_or_default())).or_insert(policy);
            }
        }
    }

    /// Notes that a policy is for this target, unless another one is.
    fn take<K: Attached>(&mut self, target: &Target) -> Result<(), Refusal> {
        let key = (target.kind.clone(), target.full_name(), target.section.clone());
        if self.taken.contains(&key) {
            let what = match (&target.section, target.route_kind()) {
                (None, _) => format!("{} {}", target.kind, target.name),
                (Some(rule), Some(_)) => format!("RouteRule {}/{rule}", target.name),
                (Some(listener), None) if target.is_gateway() && K::NAMES_NAMESPACE => {
                    format!("Listener {}/{}/{listener}", target.namespace, target.name)
                }
                (Some(listener), None) => format!("Listener {}/{listener}", target.name),
            };
            return Err(("Conflicted", format!("Unable to target {what}, another {} has already attached to it", K::KIND)));
        }
        self.taken.insert(key);
        Ok(())
    }

    fn route<K: Attached>(&mut self, t: &mut Translator<'a>, policy: &'a Admitted<'a>, target: &Target) {
        self.handled.insert(policy.id());
        let Some(kind) = target.route_kind() else { return };
        let Some(at) = self.routes.get(&(kind, target.full_name())).copied() else { return };
        let resolved = match target.section() {
            Some(rule) if !t.routes[at].has_rule(rule) => {
                let message = format!("No section name {rule} found for {} {}/{}", target.kind, target.namespace, target.name);
                Err(("TargetNotFound", message))
            }
            _ => self.take::<K>(target),
        };
        let child = Scope::route(kind, &target.full_name(), None);
        let (mut ancestors, mut parents) = (Vec::new(), Vec::new());
        for (place, parent) in t.routes[at].parents.iter().enumerate() {
            let reference = &parent.reference;
            let name: Name = (reference.namespace.clone().unwrap_or_else(|| target.namespace.clone()), reference.name.clone());
            let section = reference.section.as_deref();
            match reference.kind.as_deref().unwrap_or("Gateway") {
                "Gateway" => {
                    self.overrides.add(Scope::gateway(&name, section), child.clone());
                    ancestors.push(Reference::new("Gateway", &name.0, &name.1, reference.section.clone()));
                }
                "ListenerSet" => {
                    let Some(set) = set_of(t, &name) else { continue };
                    self.overrides.register(&name, &gateway_name(set));
                    self.overrides.add(Scope::listener_set(&name, section), child.clone());
                    ancestors.push(Reference::new("ListenerSet", &name.0, &name.1, reference.section.clone()));
                }
                _ => continue,
            }
            parents.push(place);
        }
        if let Err((reason, message)) = resolved {
            status(t, policy).set_all(&ancestors, "Accepted", false, reason, &message);
            return;
        }
        let own = Effective::of(policy);
        if let Err(error) = K::check(target, &own.spec) {
            let what = if *target.kind == *"TCPRoute" { " for TCP route" } else { "" };
            let message = sentence(&format!("invalid {}{what}: {error}", K::KIND));
            status(t, policy).set_all(&ancestors, "Accepted", false, "Invalid", &message);
            return;
        }
        if own.spec.get("mergeType").is_null() {
            let applied = K::on_route(t, &own, at, target.section(), None);
            attached::<K>(t, policy, &Scope::route(kind, &target.full_name(), target.section()), applied.is_err());
            if let Err(error) = applied {
                status(t, policy).set_all(&ancestors, "Accepted", false, "Invalid", &sentence(&error));
            }
        } else {
            let listeners: Vec<ListenerId> = parents.iter().flat_map(|place| t.routes[at].parents[*place].listeners.clone()).collect();
            for listener in listeners {
                self.merge::<K>(t, &own, target, at, listener, &child);
            }
        }
        status(t, policy).accept(&ancestors);
        warn::<K>(t, &own, &ancestors);
        if target.section.is_some() {
            return;
        }
        let key = (target.kind.clone(), target.full_name());
        let rules: Vec<&str> = self
            .taken
            .range((key.0.clone(), key.1.clone(), None)..)
            .take_while(|(kind, name, _)| (kind, name) == (&key.0, &key.1))
            .filter_map(|(_, _, section)| section.as_deref())
            .collect();
        if !rules.is_empty() {
            let message = format!("This policy is being overridden by other {} for these route rules: [{}]", K::FOR_ROUTES, rules.join(" "));
            let scopes = rules.iter().map(|rule| Scope::route(kind, &target.full_name(), Some(rule))).collect();
            t.in_force.replace(policy.id(), scopes);
            status(t, policy).set_all(&ancestors, "Overridden", true, "Overridden", &message);
        }
    }

    /// Applies a policy of a route at one listener, merged into the policy of the listener, ListenerSet or Gateway if there is one.
    fn merge<K: Attached>(&mut self, t: &mut Translator<'a>, own: &Effective<'a>, target: &Target, route: usize, at: ListenerId, child: &Scope) {
        let listener = t.listener(at);
        let gateway = t.gateways[at.gateway].name();
        let name = listener.name.clone();
        let whole = || Str::default();
        let on_gateway = |section: Str| self.on_gateways.get(&(gateway.clone(), section)).copied();
        let (ancestor, parent) = match &listener.set_name {
            Some(set) => {
                let on_set = |section: Str| self.on_listener_sets.get(&(set.clone(), section)).copied();
                let parent = on_set(name.clone())
                    .map(|policy| (policy, Scope::listener_set(set, Some(&name))))
                    .or_else(|| Some((on_set(whole())?, Scope::listener_set(set, None))))
                    .or_else(|| Some((on_gateway(whole())?, Scope::gateway(&gateway, None))));
                (Reference::new("ListenerSet", &set.0, &set.1, Some(name.clone())), parent)
            }
            None => {
                let parent = on_gateway(name.clone())
                    .map(|policy| (policy, Scope::gateway(&gateway, Some(&name))))
                    .or_else(|| Some((on_gateway(whole())?, Scope::gateway(&gateway, None))));
                (Reference::new("Gateway", &gateway.0, &gateway.1, Some(name.clone())), parent)
            }
        };
        let own_scope = Scope::route(t.routes[route].kind, &target.full_name(), target.section());
        let refuse = |t: &mut Translator<'a>, error: &str| {
            status(t, own.object).set(&ancestor, "Accepted", false, "Invalid", error);
        };
        let Some((parent, scope)) = parent else {
            let applied = K::on_route(t, own, route, target.section(), Some(at));
            attached::<K>(t, own.object, &own_scope, applied.is_err());
            if let Err(error) = applied {
                refuse(t, &sentence(&error));
            }
            return;
        };
        let merged = Effective::merged(own.object, parent, K::KEYS);
        if let Err(error) = K::check(target, &merged.spec) {
            return refuse(t, &sentence(&error));
        }
        let applied = K::on_route(t, &merged, route, target.section(), Some(at));
        attached::<K>(t, own.object, &own_scope, applied.is_err());
        if let Err(error) = applied {
            return refuse(t, &sentence(&error));
        }
        self.merged.add(scope, child.clone());
        t.in_force.merge(own.object.id(), parent.id());
        let message = format!("Merged with policy {}", parent.path());
        status(t, own.object).set(&ancestor, "Merged", true, "Merged", &message);
    }

    fn listener_set<K: Attached>(&mut self, t: &mut Translator<'a>, policy: &'a Admitted<'a>, target: &Target) {
        self.handled.insert(policy.id());
        let name = target.full_name();
        let Some(set) = set_of(t, &name) else { return };
        let resolved = match target.section() {
            Some(section) if !set_has_listener(set, section) => {
                Err(("TargetNotFound", format!("No section name {section} found for ListenerSet {}/{}", name.0, name.1)))
            }
            _ => self.take::<K>(target),
        };
        let parent = gateway_name(set);
        let Some(gateway) = gateway_of(t, &parent) else { return };
        let ancestor = Reference::new("ListenerSet", &name.0, &name.1, target.section.clone());
        if let Err((reason, message)) = resolved {
            status(t, policy).set(&ancestor, "Accepted", false, reason, &message);
            return;
        }
        let scope = Scope::listener_set(&name, target.section());
        if target.section.is_some() {
            self.overrides.register(&name, &parent);
            self.overrides.add(Scope::listener_set(&name, None), scope.clone());
        } else {
            self.overrides.add(Scope::gateway(&parent, None), scope.clone());
        }
        let listeners: Vec<ListenerId> = listeners(t, gateway, |listener| {
            listener.set_name.as_ref() == Some(&name) && target.section().is_none_or(|section| *listener.name == *section)
        });
        let own = Effective::of(policy);
        self.finish::<K>(t, &own, (gateway, &listeners, false), &ancestor, &scope);
    }

    fn gateway<K: Attached>(&mut self, t: &mut Translator<'a>, policy: &'a Admitted<'a>, target: &Target) {
        self.handled.insert(policy.id());
        let name = target.full_name();
        let Some(gateway) = gateway_of(t, &name) else { return };
        let resolved = match target.section() {
            Some(section) if !has_listener(t, gateway, section) => {
                Err(("TargetNotFound", format!("No section name {section} found for Gateway {}/{}", name.0, name.1)))
            }
            _ => self.take::<K>(target),
        };
        let ancestor = Reference::new("Gateway", &name.0, &name.1, target.section.clone());
        if let Err((reason, message)) = resolved {
            status(t, policy).set(&ancestor, "Accepted", false, reason, &message);
            return;
        }
        let scope = Scope::gateway(&name, target.section());
        if target.section.is_some() {
            self.overrides.add(Scope::gateway(&name, None), scope.clone());
        }
        let listeners: Vec<ListenerId> =
            listeners(t, gateway, |listener| target.section().is_none_or(|section| !listener.is_from_listener_set() && *listener.name == *section));
        let own = Effective::of(policy);
        self.finish::<K>(t, &own, (gateway, &listeners, target.section.is_none()), &ancestor, &scope);
    }

    fn finish<K: Attached>(
        &mut self,
        t: &mut Translator<'a>,
        own: &Effective<'a>,
        (gateway, listeners, is_whole): (usize, &[ListenerId], bool),
        ancestor: &Reference,
        scope: &Scope,
    ) {
        let applied = K::on_listeners(t, own, gateway, listeners, is_whole);
        attached::<K>(t, own.object, scope, applied.is_err());
        if let Err(error) = applied {
            status(t, own.object).set(ancestor, "Accepted", false, "Invalid", &sentence(&error));
        }
        let ancestors = core::slice::from_ref(ancestor);
        status(t, own.object).accept(ancestors);
        warn::<K>(t, own, ancestors);
        let merged = self.merged.children(scope);
        let overridden: BTreeSet<Scope> = self.overrides.descendants(scope).difference(&merged).cloned().collect();
        t.in_force.replace(own.object.id(), overridden.clone());
        for (scopes, condition, verb) in [(&merged, "Merged", "merged"), (&overridden, "Overridden", "overridden")] {
            let named = format(scopes);
            if !named.is_empty() {
                let message = format!("This policy is being {verb} by other {} for {named}", K::MANY);
                status(t, own.object).set(ancestor, condition, true, condition, &message);
            }
        }
    }
}

/// Notes that a policy is attached to this scope, and whether it is invalid there.
fn attached<K: Attached>(t: &mut Translator<'_>, policy: &Admitted<'_>, scope: &Scope, is_refused: bool) {
    t.in_force.put(K::KIND, scope.clone(), policy.id(), is_refused);
}

/// Returns the status of a policy, to add to it.
pub(super) fn status<'t>(t: &'t mut Translator<'_>, policy: &Admitted<'_>) -> &'t mut PolicyStatus {
    t.policies.entry(policy.id()).or_default()
}

fn warn<K: Attached>(t: &mut Translator<'_>, policy: &Effective<'_>, ancestors: &[Reference]) {
    let used: Vec<String> = K::deprecated(&policy.own).iter().map(|(old, new)| format!("{old} is deprecated, use {new} instead")).collect();
    if used.is_empty() {
        return;
    }
    let message = used.join("; ");
    for ancestor in ancestors {
        status(t, policy.object).warn(ancestor, "DeprecatedField", &message);
    }
}

/// Returns the place of an accepted Gateway.
pub(super) fn gateway_of(t: &Translator<'_>, name: &Name) -> Option<usize> {
    t.gateways.iter().position(|gateway| gateway.name() == *name)
}

/// Whether a Gateway itself has this listener.
pub(super) fn has_listener(t: &Translator<'_>, gateway: usize, name: &str) -> bool {
    t.gateways[gateway].listeners.iter().any(|listener| !listener.is_from_listener_set() && *listener.name == *name)
}

/// Returns a ListenerSet of the class.
pub(super) fn set_of<'a>(t: &Translator<'a>, name: &Name) -> Option<&'a Admitted<'a>> {
    t.resources.listener_sets.iter().copied().find(|set| set.full_name() == *name)
}

/// Whether a ListenerSet has this listener.
pub(super) fn set_has_listener(set: &Admitted<'_>, name: &str) -> bool {
    set.spec().field("listeners").items().any(|listener| listener.field("name").str() == name)
}

/// Returns the name of the Gateway of a ListenerSet.
pub(super) fn gateway_name(set: &Admitted<'_>) -> Name {
    let parent = set.spec().field("parentRef");
    let namespace = parent.field("namespace").some_str().map_or_else(|| set.namespace().clone(), Str::new);
    (namespace, Str::new(parent.field("name").str()))
}

/// Returns the listeners of a Gateway and its ListenerSets that are meant.
pub(super) fn listeners(t: &Translator<'_>, gateway: usize, is_meant: impl Fn(&super::super::context::Listener<'_>) -> bool) -> Vec<ListenerId> {
    let all = t.gateways[gateway].listeners.iter().enumerate();
    all.filter(|(_, listener)| is_meant(listener)).map(|(at, _)| ListenerId { gateway, listener: at }).collect()
}
