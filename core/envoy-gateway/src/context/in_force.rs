//! The policies in force, by what they are for, and which of them count for a route. Does not attach them; see `policy`.

use super::super::cluster::Name;
use super::super::status::PolicyStatuses;
use super::backend_policies::BackendPolicies;
use super::route_kind::RouteKind;
use super::scope::Scope;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{ChosenRoute, EffectivePolicy};
use chancery_base::resource::{Object, ObjectId, Objects, Origin};
use chancery_text::{FieldPath, Segment, Str};

/// Fields of a policy that say what it is for.
pub(crate) const ADDRESSING: [&str; 4] = ["targetRef", "targetRefs", "targetSelectors", "mergeType"];

/// The policies in force.
#[derive(Debug, Default)]
pub(crate) struct InForce {
    by_scope: BTreeMap<(&'static str, Scope), Attachment>,
    /// Policies that are merged into another one, as pairs of the narrower and the wider.
    merged: BTreeSet<(ObjectId, ObjectId)>,
    /// The scopes in which narrower policies replace a policy.
    replaced: BTreeMap<ObjectId, BTreeSet<Scope>>,
    pub(crate) backends: BackendPolicies,
    /// The listeners by their names in the model.
    listeners: BTreeMap<Str, ListenerName>,
}

/// A policy at a scope.
#[derive(Clone, Copy, Debug)]
struct Attachment {
    policy: ObjectId,
    /// Whether the controller found the policy invalid after it attached it. It replaces wider policies even so.
    is_refused: bool,
}

/// What a listener belongs to.
#[derive(Clone, Debug)]
pub(crate) struct ListenerName {
    pub(crate) gateway: Name,
    pub(crate) set: Option<Name>,
    pub(crate) name: Str,
}

impl InForce {
    /// Notes that a policy of a kind is attached to this scope, and whether it is invalid there.
    pub(crate) fn put(&mut self, kind: &'static str, scope: Scope, policy: ObjectId, is_refused: bool) {
        let attached = self.by_scope.entry((kind, scope)).or_insert(Attachment { policy, is_refused });
        attached.is_refused |= is_refused && attached.policy == policy;
    }

    /// Notes that a policy is merged into one of a wider scope.
    pub(crate) fn merge(&mut self, own: ObjectId, wide: ObjectId) {
        self.merged.insert((own, wide));
    }

    /// Returns the policies that this one is merged into.
    pub(crate) fn wider(&self, own: ObjectId) -> impl Iterator<Item = ObjectId> {
        self.merged.range((own, ObjectId::BUILT_IN)..).take_while(move |(narrow, _)| *narrow == own).map(|(_, wide)| *wide)
    }

    /// Notes the scopes in which narrower policies replace this one.
    pub(crate) fn replace(&mut self, policy: ObjectId, scopes: BTreeSet<Scope>) {
        self.replaced.entry(policy).or_default().extend(scopes);
    }

    /// Returns the policies that replace a policy of this kind, each with its scope.
    pub(crate) fn replacements(&self, kind: &'static str, policy: ObjectId) -> impl Iterator<Item = (&Scope, ObjectId)> {
        let scopes = self.replaced.get(&policy).into_iter().flatten();
        scopes.filter_map(move |scope| Some((scope, self.by_scope.get(&(kind, scope.clone()))?.policy)))
    }

    /// Adds the policies of a class, and the class's listeners by their names in the model.
    pub(crate) fn add(&mut self, of_class: InForce, statuses: &PolicyStatuses, listeners: impl Iterator<Item = (Str, ListenerName)>) {
        self.by_scope.extend(of_class.by_scope);
        self.backends.add(of_class.backends, statuses);
        self.merged.extend(of_class.merged);
        self.listeners.extend(listeners);
    }

    /// Returns the policies that count for a route, by kind.
    pub(crate) fn of_route(&self, objects: &Objects, chosen: ChosenRoute<'_>) -> Vec<EffectivePolicy> {
        let scopes = self.scopes(objects, chosen);
        let kinds: BTreeSet<&'static str> = self.by_scope.keys().map(|(kind, _)| *kind).collect();
        let of_backends = chosen.route.iter().find_map(|origin| {
            let (_, object, path) = route(objects, *origin)?;
            let [_, _, Segment::Index(rule), ..] = path.segments.as_slice() else { return None };
            Some(self.backends.of_rule(objects, object, *rule))
        });
        let mut of_scopes: Vec<EffectivePolicy> = kinds.into_iter().flat_map(|kind| self.of_kind(kind, &scopes, objects)).collect();
        if !chosen.is_tls {
            of_scopes.retain_mut(|policy| {
                let is_of_clients = objects.get(policy.object).is_some_and(|object| *object.key.kind == *"ClientTrafficPolicy");
                let count = policy.settings.len();
                policy.settings.retain(|(name, _)| !(is_of_clients && NEEDS_TLS.contains(&name.as_str())));
                count == 0 || !policy.settings.is_empty()
            });
        }
        of_scopes.into_iter().chain(of_backends.into_iter().flatten()).collect()
    }

    /// The scopes that contain a route, narrowest first, each with its description.
    fn scopes(&self, objects: &Objects, chosen: ChosenRoute<'_>) -> Vec<(Scope, String)> {
        let mut out = Vec::new();
        if let Some((kind, object, path)) = chosen.route.iter().find_map(|origin| route(objects, *origin)) {
            let name = name_of(object);
            let label = format!("{} {}", kind.name(), name.1);
            let rule = rule(object, &path);
            out.extend(rule.map(|rule| (Scope::route(kind, &name, Some(&rule)), format!("rule `{rule}` of {label}"))));
            out.push((Scope::route(kind, &name, None), label));
        }
        if let Some(listener) = self.listener(objects, chosen) {
            let ListenerName { gateway, set, name } = listener;
            let own = match &set {
                Some(set) => (Scope::listener_set(set, Some(&name)), format!("listener `{name}` of ListenerSet {}", set.1)),
                None => (Scope::gateway(&gateway, Some(&name)), format!("listener `{name}` of Gateway {}", gateway.1)),
            };
            out.push(own);
            out.extend(set.map(|set| (Scope::listener_set(&set, None), format!("ListenerSet {}", set.1))));
            let label = format!("Gateway {}", gateway.1);
            out.push((Scope::gateway(&gateway, None), label));
        }
        out
    }

    /// Finds the listener of a virtual host by its name, or by the origins of Envoy's listener.
    fn listener(&self, objects: &Objects, chosen: ChosenRoute<'_>) -> Option<ListenerName> {
        let of_host = chosen.virtual_host.rsplit_once('/').and_then(|(name, _)| self.listeners.get(name));
        of_host.cloned().or_else(|| {
            let object = chosen.listener.iter().find_map(|origin| objects.get(origin.object()).map(|object| (object, *origin)));
            let (object, origin) = object.filter(|(object, _)| *object.key.kind == *"Gateway")?;
            let path = object.path(origin.node());
            let name = section(object, "listeners", &path)?;
            Some(ListenerName { gateway: name_of(object), set: None, name })
        })
    }

    fn of_kind(&self, kind: &'static str, scopes: &[(Scope, String)], objects: &Objects) -> Vec<EffectivePolicy> {
        let mut found = scopes.iter().filter_map(|(scope, label)| {
            let Attachment { policy, is_refused } = *self.by_scope.get(&(kind, scope.clone()))?;
            let settings = objects.get(policy).map(settings).unwrap_or_default();
            Some(EffectivePolicy { object: policy, target: label.clone(), settings, is_refused, is_merged: false, replaced: Vec::new() })
        });
        let Some(mut first) = found.next() else { return Vec::new() };
        let (mut merged, replaced): (Vec<_>, Vec<_>) = found.partition(|wide| self.merged.contains(&(first.object, wide.object)));
        first.replaced = replaced;
        for wide in &mut merged {
            wide.is_merged = true;
        }
        merged.insert(0, first);
        merged
    }
}

/// Fields of a ClientTrafficPolicy that count only for connections with TLS.
const NEEDS_TLS: [&str; 2] = ["tls", "http3"];

fn name_of(object: &Object) -> Name {
    let namespace = object.key.namespace.clone().filter(|namespace| !namespace.is_empty());
    (namespace.unwrap_or_else(|| Str::new_static("default")), object.key.name.clone())
}

fn route(objects: &Objects, origin: Origin) -> Option<(RouteKind, &Object, FieldPath)> {
    let object = objects.get(origin.object())?;
    let all = [RouteKind::Http, RouteKind::Grpc, RouteKind::Tls, RouteKind::Tcp, RouteKind::Udp];
    let kind = all.into_iter().find(|kind| *object.key.kind == *kind.name())?;
    Some((kind, object, object.path(origin.node())))
}

/// The name of the rule that contains a place.
fn rule(object: &Object, path: &FieldPath) -> Option<Str> {
    section(object, "rules", path)
}

/// The name of the item of a list in `spec` that contains a place.
fn section(object: &Object, list: &str, path: &FieldPath) -> Option<Str> {
    let [Segment::Key(spec), Segment::Key(found), Segment::Index(at), ..] = path.segments.as_slice() else { return None };
    let is_meant = *spec == *"spec" && *found == *list;
    let items = object.root.at(&["spec", list]).filter(|_| is_meant)?.as_array()?;
    Some(Str::new(items.get(*at as usize)?.at(&["name"])?.as_str()?))
}

/// The fields of a policy that change what requests get, with their places.
fn settings(policy: &Object) -> Vec<(Str, Origin)> {
    let fields = policy.root.at(&["spec"]).and_then(|spec| spec.as_object());
    let all = fields.into_iter().flat_map(|fields| fields.iter());
    let counting = all.filter(|entry| !ADDRESSING.contains(&entry.key.as_str()));
    counting.map(|entry| (entry.key.clone(), Origin::field(policy.id, entry.value.id))).collect()
}
