//! Reports resources without effect that no other finding mentions, so that nothing a user wrote is dropped silently.
//!
//! The ledger determines why a resource has no effect.

use super::class::ANNOTATION;
use crate::relation::references;
use crate::{LedgerRow, ResourceRef, rows_without_effect};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::compilation::{SideRef, State, Why};
use chancery_base::diagnostic::{Code, Diagnostic, Severity, codes};
use chancery_base::resource::{Object, ObjectId, ResourceKey};
use chancery_kubernetes::at_name;
use chancery_text::{Node, series};
use hashbrown::{HashMap, HashSet};

/// Kinds that only exist for others to refer to: without an effect they are not reported.
const PASSIVE: &[&str] = &["Service", "Endpoints", "EndpointSlice", "Secret", "Namespace", "ConfigMap", "Pod", "ReferenceGrant"];

/// Kinds that have an effect when a field of another resource names them. Other kinds have an effect by themselves: a Module, a Host, or settings
/// of a whole mesh.
const REFERRED: &[&str] =
    &["TLSContext", "ExtensionService", "KubernetesServiceResolver", "KubernetesEndpointResolver", "ConsulResolver", "HTTPProxy"];

/// Registrations of Consul services. A service without a proxy is normal next to others in use, but is reported as a notice.
const REGISTRATIONS: &[&str] = &["service", "catalog"];

/// The relation of a route to its Gateway or ListenerSet.
const PARENT: &str = "parent";

/// Whether a resource has no effect because it is meant for another controller.
fn is_for_another(row: &LedgerRow) -> bool {
    [Why::OtherController, Why::UnknownKind].iter().any(|why| row.why == Some(why.name()))
}

/// Properties of the whole input.
struct Input<'a> {
    side: SideRef<'a>,
    /// Whether nothing in the input has an effect.
    nothing: bool,
    /// Whether the whole input is meant for other controllers.
    only_others: bool,
    /// Whether the input is a part of a configuration whose listener is elsewhere.
    is_part: bool,
}

/// Whether the object's kind can have an effect by itself. An unreadable object has its own finding, unless it is a file in another object.
fn can_have_effect(object: &Object) -> bool {
    !PASSIVE.contains(&&*object.key.kind) && (!object.broken || object.parent.is_some())
}

/// Returns whether nothing in the input has an effect, and whether all of it is meant for other controllers.
fn is_idle<'r>(side: SideRef<'_>, idle: impl Iterator<Item = (&'r LedgerRow, &'r Object)> + Clone) -> (bool, bool) {
    let own = idle.filter(|(_, object)| can_have_effect(object));
    let nothing = own.clone().count() == side.objects().iter().filter(|object| can_have_effect(object)).count();
    (nothing, nothing && own.clone().all(|(row, _)| is_for_another(row)))
}

/// Raises findings about resources for other controllers to warnings if nothing in the input has an effect and nothing else is reported.
pub(super) fn raise_foreign(side: SideRef<'_>, found: &mut [Diagnostic]) {
    if found.iter().any(|finding| finding.severity != Severity::Notice) {
        return;
    }
    let is_foreign = |finding: &&mut Diagnostic| {
        const FOREIGN: [&Code; 3] = [&codes::CLASS_NOT_OURS, &codes::DANGLING_REFERENCE, &codes::UNKNOWN_KIND];
        FOREIGN.contains(&finding.code) && finding.severity == Severity::Notice
    };
    let mut foreign = found.iter_mut().filter(is_foreign).peekable();
    if foreign.peek().is_none() {
        return;
    }
    let rows = rows_without_effect(side, &side.compilation.positions(), can_have_effect);
    if is_idle(side, rows.iter().filter_map(|row| Some((row, side.objects().get(row.object)?)))).1 {
        foreign.for_each(|finding| finding.severity = Severity::Warning);
    }
}

/// Reports resources without effect that neither the stages nor `found` report.
pub(super) fn check(side: SideRef<'_>, found: &[Diagnostic]) -> Vec<Diagnostic> {
    // Findings about assumptions or values do not explain a missing effect.
    const OF_VALUES: [&Code; 4] = [&codes::ASSUMED_OBJECT, &codes::ASSUMED_SECRET, &codes::PLACEHOLDER, &codes::UNKNOWN_VALUE];
    let speaks = side.diagnostics().chain(found).filter(|finding| !OF_VALUES.contains(&finding.code));
    let known: HashSet<&ResourceKey> = speaks.filter_map(|finding| finding.resource.as_ref()).collect();
    // Objects that are never reported need no close look.
    let needs_finding = |object: &Object| !PASSIVE.contains(&&*object.key.kind);
    let without_effect = rows_without_effect(side, &side.compilation.positions(), needs_finding);
    let idle: Vec<(&LedgerRow, &Object)> = without_effect.iter().filter_map(|row| Some((row, side.objects().get(row.object)?))).collect();
    let (nothing, only_others) = is_idle(side, idle.iter().copied());
    let others: Vec<_> = side.compilation.sides().filter(|other| other.dialect() != side.dialect()).collect();
    let is_of_another = |row: &LedgerRow, object: &Object| {
        let reads = |other: &SideRef<'_>| other.dialect().reads(&object.key);
        let leaves = |other: &SideRef<'_>| matches!(other.side.ledger.get(object.id), State::Ignored(Why::OtherController | Why::NotWatched, _));
        let takes = |other: &SideRef<'_>| reads(other) && !leaves(other);
        [Why::UnknownKind, Why::NotCovered].iter().any(|why| row.why == Some(why.name())) && others.iter().any(reads)
            || row.why == Some(Why::OtherController.name()) && others.iter().any(takes)
    };
    let silent = idle.into_iter().filter(|(row, object)| can_have_effect(object) && !known.contains(&object.key) && !is_of_another(row, object));
    let silent: Vec<(&LedgerRow, &Object)> = silent.collect();
    if silent.is_empty() {
        return Vec::new();
    }
    let ids: HashSet<ObjectId> = without_effect.iter().map(|row| row.object).collect();
    let references = references(side);
    let resolved = || references.iter().filter_map(|of| Some((*of.to.as_ref().ok()?, of)));
    let referrers: HashMap<ObjectId, ObjectId> = resolved().map(|(to, of)| (to, of.from)).filter(|(_, from)| ids.contains(from)).collect();
    // The parents of routes that have no effect and are reported themselves.
    let is_reported = |id: &ObjectId| ids.contains(id) && side.objects().get(*id).is_some_and(|object| known.contains(&object.key));
    let parents: HashMap<ObjectId, ObjectId> =
        resolved().filter(|(to, of)| of.relation == PARENT && is_reported(to)).map(|(to, of)| (of.from, to)).collect();
    let is_part = side.diagnostics().chain(found).any(|finding| finding.code == &codes::NO_LISTENER && finding.severity == Severity::Notice);
    let input = Input { side, nothing, only_others, is_part };
    let parent = |object: &Object| parents.get(&object.id).and_then(|id| side.objects().get(*id));
    silent.into_iter().map(|(row, object)| input.finding(row, object, cause(object, &referrers, side), parent(object))).collect()
}

/// Returns the object that refers to this one and has no effect itself, unless the references form a cycle without a single cause.
fn cause<'a>(of: &Object, referrers: &HashMap<ObjectId, ObjectId>, side: SideRef<'a>) -> Option<&'a Object> {
    let (mut seen, mut at) = (Vec::from([of.id]), of.id);
    while let Some(from) = referrers.get(&at) {
        if seen.contains(from) {
            return None;
        }
        seen.push(*from);
        at = *from;
    }
    referrers.get(&of.id).and_then(|from| side.objects().get(*from))
}

impl Input<'_> {
    fn finding(&self, row: &LedgerRow, object: &Object, referrer: Option<&Object>, parent: Option<&Object>) -> Diagnostic {
        // If another dialect reads the kind, it has an effect there.
        if row.why == Some(Why::UnknownKind.name()) && !self.only_others && object.parent.is_none() {
            let message = format!("{} is not read by {}", object.key.kind, self.side.dialect().controller);
            return Diagnostic::new(&codes::UNKNOWN_KIND, message, at_name(object)).about(object.key.clone());
        }
        let name = ResourceRef::from(&object.key);
        if let Some(ingress) = self.names_by_annotation(object) {
            let message = format!("{name} has no effect: {} names the class by the annotation `{ANNOTATION}`", ResourceRef::from(&ingress.key));
            let mut finding = Diagnostic::new(&codes::NO_EFFECT, message, at_name(object)).about(object.key.clone());
            finding.severity = Severity::Notice;
            let help = format!("write `ingressClassName: {}` in `spec` of the Ingress instead of the annotation", object.key.name);
            return finding.related(at_name(ingress), "the Ingress").help(help);
        }
        let why = match (row.state, &row.by, &row.detail) {
            (State::SHADOWED, Some(by), _) => format!("{by} replaces it"),
            (_, _, Some(detail)) => detail.to_string(),
            _ => "the controller does not use it".into(),
        };
        let is_unread = row.why == Some(Why::NotCovered.name());
        let message = if is_unread { format!("Chancery does not read {name}: {why}") } else { format!("{name} has no effect: {why}") };
        let mut finding = Diagnostic::new(&codes::NO_EFFECT, message, at_name(object)).about(object.key.clone());
        let is_unused = row.why == Some(Why::NeverReferenced.name());
        // The referring object has no effect either, and is the place to look.
        let follows = referrer.filter(|_| is_unused).or(parent);
        let is_spare = is_unused && REGISTRATIONS.contains(&&*object.key.kind);
        // A missing listener is reported by itself, and may exist in the cluster.
        let may_be_elsewhere = self.is_part && is_unused && !REFERRED.contains(&&*object.key.kind);
        if is_for_another(row) && !self.only_others || (is_spare || is_unread) && !self.nothing || may_be_elsewhere || follows.is_some() {
            finding.severity = Severity::Notice;
        }
        let help = match follows {
            Some(referrer) => Some(format!("it has an effect once {} has one", ResourceRef::from(&referrer.key))),
            None => self.help(row, object),
        };
        match help {
            Some(help) => finding.help(help),
            None => finding,
        }
    }

    /// Returns an Ingress that names an IngressClass by the old annotation only.
    fn names_by_annotation(&self, class: &Object) -> Option<&Object> {
        let names = |object: &&Object| {
            let annotation = object.root.at(&["metadata", "annotations"]).and_then(|all| all.get(ANNOTATION)).and_then(Node::as_str);
            *object.key.kind == *"Ingress" && annotation == Some(&*class.key.name) && object.root.at(&["spec", "ingressClassName"]).is_none()
        };
        self.side.objects().iter().filter(|_| *class.key.kind == *"IngressClass").find(names)
    }

    /// Returns what the user can do about it.
    fn help(&self, row: &LedgerRow, object: &Object) -> Option<String> {
        let is_of_gateway_api = *object.key.group == *"gateway.networking.k8s.io";
        let controller = self.side.dialect().controller;
        let is = |why: Why| row.why == Some(why.name());
        if is(Why::OtherController) {
            Some(format!("if another controller reads it, leave it; otherwise give it the class or the id of this {controller}"))
        } else if is(Why::NotWatched) {
            Some(format!("move it to where {controller} looks, or let {controller} look there"))
        } else if is(Why::NeverReferenced) && REFERRED.contains(&&*row.resource.kind) && !self.nothing {
            Some("refer to it from a resource that is in use, or delete it".into())
        } else if is(Why::NeverReferenced) && !is_of_gateway_api {
            Some("what it applies to may be elsewhere: give the rest of the configuration as well, to see what it does".into())
        } else if is(Why::UnknownKind) {
            let listing = (self.side.dialect().listing)();
            let known: Vec<&str> = listing.iter().filter(|kind| *object.key.group == *kind.group).map(|kind| kind.name).collect();
            (!known.is_empty()).then(|| match object.key.group.as_str() {
                "" => format!("of the core group, {controller} reads {}", series(&known)),
                group => format!("of `{group}`, {controller} reads {}", series(&known)),
            })
        } else {
            None
        }
    }
}
