//! The ledger for people: what became of every input object, and into what.
//!
//! The stages write down what they decide ([`chancery_base::compilation::Ledger`]); what became of what was loaded is read off the IR here.
//!
//! What must not be here: decisions. An object that no stage decided on is reported as ignored, with the reason.

#[cfg(test)]
mod tests;

use super::dump::things;
use super::relation::references;
use super::{Positions, ResourceRef, Span};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, Gateway, GatewayId, Outcome, SideRef, State, Why};
use chancery_base::diagnostic::{Severity, codes};
use chancery_base::ir::{HeaderMatch, Ir, NetworkFilter, Route, RouteMatch};
use chancery_base::positions::holds_back;
use chancery_base::resource::{Object, ObjectId, ResourceKey, Sourced};
use chancery_envoy::Document;
use chancery_envoy::emit::{self, Emitted};
use chancery_text::Str;
use core::borrow::Borrow;
use hashbrown::{HashMap, HashSet};

/// What became of one object.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LedgerRow {
    /// The object.
    #[serde(skip)]
    pub object: ObjectId,
    /// The dialect whose controller it is about, where several stand side by side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<&'static str>,
    /// Its name.
    pub resource: ResourceRef,
    /// `emitted`, `merged`, `read`, `shadowed`, `ignored` or `invalid`.
    pub state: &'static str,
    /// What was made of it.
    pub into: Vec<Str>,
    /// With whom it was merged, or who reads it besides the first: at most [`LedgerRow::MOST_NAMED`], the first by name.
    pub with: Vec<ResourceRef>,
    /// How many more those are than `with` names.
    #[serde(skip_serializing_if = "is_none")]
    pub with_more: usize,
    /// Who took its place, or who reads it.
    pub by: Option<ResourceRef>,
    /// Why it was ignored, as one word.
    pub why: Option<&'static str>,
    /// Why it was ignored or what is wrong with it, in words.
    pub detail: Option<Str>,
    /// The object whose annotation holds it.
    pub holder: Option<ResourceRef>,
    /// Where it stands.
    #[serde(flatten)]
    pub span: Option<Span>,
}

impl LedgerRow {
    /// How many others a row names: rows of all members of a large group that name all the others would be too much to read, and to hold.
    pub const MOST_NAMED: usize = 16;

    /// Names the first of this many others, and counts the rest.
    fn name(&mut self, others: impl Iterator<Item = ResourceRef>, count: usize) {
        self.with = others.take(Self::MOST_NAMED).collect();
        self.with_more = count.saturating_sub(self.with.len());
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_none(number: &usize) -> bool {
    *number == 0
}

/// What became of every object for each side, one side after another, each in the order of the text. What a controller does not read is
/// in the ledger of the one that does; what none reads is in the first.
///
/// ```
/// use chancery_core::compilation::Options;
/// use chancery_core::compile::compile;
/// use chancery_core::dialect;
/// use chancery_core::resource::Inputs;
/// use chancery_core::explain::ledger;
///
/// let inputs = Inputs::one("quote.yaml", "\
/// apiVersion: getambassador.io/v3alpha1
/// kind: Mapping
/// metadata: {name: quote}
/// spec: {hostname: \"*\", prefix: /quote/, service: quote, timout_ms: 9000}
/// ");
/// let compilation = compile(&inputs, &Options::default(), dialect::ALL);
///
/// let rows = ledger(&compilation, &compilation.positions());
/// assert_eq!((rows[0].resource.to_string().as_str(), rows[0].state), ("Mapping quote.default", "emitted"));
/// ```
pub fn ledger(compilation: &Compilation, positions: &Positions<'_>) -> Vec<LedgerRow> {
    let several = compilation.sides.len() > 1;
    let mut all = Vec::new();
    for (at, side) in compilation.sides().enumerate() {
        let is_read_by =
            |other: SideRef<'_>, row: &LedgerRow| side.objects().get(row.object).is_some_and(|object| other.dialect().reads(&object.key));
        for mut row in ledger_of(side, positions) {
            let is_unknown = row.why == Some(Why::UnknownKind.name());
            if is_unknown && (at > 0 || compilation.sides().skip(1).any(|other| is_read_by(other, &row))) {
                continue;
            }
            row.dialect = Some(side.dialect().name).filter(|_| several);
            all.push(row);
        }
    }
    all
}

/// What became of every object for one side, in the order of the text.
pub fn ledger_of(side: SideRef<'_>, positions: &Positions<'_>) -> Vec<LedgerRow> {
    let facts = Facts::collect(side);
    let mut again = Again::new(side);
    side.objects().iter().map(|object| row(object, side, positions, &facts, || again.is_needed(object.id, &facts))).collect()
}

/// At most this many gateways are made again, to see what they would lack.
const MOST_MADE_AGAIN: usize = 400;

/// The gateways of a side, made again without an object.
struct Again<'a> {
    side: SideRef<'a>,
    /// How many of them may be made.
    budget: usize,
    /// What each gateway's Envoys get with the object, once it was asked for; `None` for what is no Envoy.
    served: Option<Vec<Option<String>>>,
}

impl<'a> Again<'a> {
    fn new(side: SideRef<'a>) -> Self {
        Self { side, budget: MOST_MADE_AGAIN, served: None }
    }

    /// Whether gateways do something else without an object. `None` where that is not found out.
    fn is_needed(&mut self, object: ObjectId, facts: &Facts) -> Option<bool> {
        if let Some(known) = self.side.side.stages.is_needed(self.side, object, &facts.readers_of(object), &mut self.budget) {
            return Some(known);
        }
        let gateways = &self.side.side.gateways;
        self.budget = self.budget.checked_sub(gateways.len())?;
        let after = self.side.gateways_without(object)?;
        let served = self.served.get_or_insert_with(|| gateways.iter().map(served).collect());
        // A host may have asked for one of several gateways.
        let has_same = |(before, served): (&Gateway, &Option<String>)| {
            after.iter().any(|after| before.id == after.id && is_same(before, served.as_deref(), after))
        };
        Some(!gateways.iter().zip(&*served).all(has_same))
    }
}

/// All that an Envoy gets in one document: with endpoints, and without what it would not ask for. `None` for what is no Envoy.
fn served(gateway: &Gateway) -> Option<String> {
    let Outcome::Runs(ir) = &gateway.outcome else { return None };
    let options = chancery_envoy::Options { document: Document::Bootstrap, secrets: Some(&|_| None), ..chancery_envoy::Options::default() };
    Some(emit::emit(ir, &options, &mut Emitted::default()).text())
}

/// Whether two gateways do the same, wherever it comes from. `before_served` is what the Envoys of the first get.
fn is_same(before: &Gateway, before_served: Option<&str>, after: &Gateway) -> bool {
    match (&before.outcome, &after.outcome) {
        (Outcome::Runs(_), Outcome::Runs(_)) => before_served == served(after).as_deref(),
        (Outcome::AppGateway(before), Outcome::AppGateway(after)) => before == after,
        (Outcome::Stopped(before), Outcome::Stopped(after)) => before == after,
        _ => false,
    }
}

/// The rows of objects without effect (ignored, shadowed or invalid), in the order of the text, as [`ledger_of`] has them. It costs less, as the whole of
/// the IR is read only where something is left of which a look at parts does not say that it is in use. Small inputs are looked at in full: there it is
/// found out what gateways would do without a resource.
///
/// `looks_closer` chooses the objects for which the gateways may be made again without them; of others, one that is only looked up may be in the rows
/// although gateways need it.
pub fn rows_without_effect(side: SideRef<'_>, positions: &Positions<'_>, looks_closer: impl Fn(&Object) -> bool) -> Vec<LedgerRow> {
    if side.may_be_recompiled() {
        let (facts, mut again) = (Facts::collect(side), Again::new(side));
        let rows = side
            .objects()
            .iter()
            .map(|object| row(object, side, positions, &facts, || if looks_closer(object) { again.is_needed(object.id, &facts) } else { None }));
        return rows.filter(|row| [State::IGNORED, State::SHADOWED, State::INVALID].contains(&row.state)).collect();
    }
    let served = side.served();
    let mut facts = Facts::of_findings(side).with_made(Made::default(), side);
    let is_open = |object: &Object, facts: &Facts| {
        let is_undecided = matches!(side.side.ledger.get(object.id), State::Undecided | State::Loaded);
        is_undecided && !served.contains(&object.id) && facts.is_idle(object, side)
    };
    let some_are_open = |facts: &Facts| side.objects().iter().any(|object| is_open(object, facts));
    if some_are_open(&facts) {
        facts.is_partial = true;
        facts = facts.with_made(read_irs(side.irs().map(|ir| (reduced(ir), None))), side);
    }
    if some_are_open(&facts) {
        facts.is_partial = false;
        facts = facts.with_made(made_by_side(side), side);
    }
    let is_decided = |object: &Object| matches!(side.side.ledger.get(object.id), State::Ignored(..) | State::Shadowed(_) | State::Invalid(_));
    let idle = side.objects().iter().filter(|object| is_decided(object) || facts.shadowed.contains_key(&object.id) || is_open(object, &facts));
    let mut again = Again::new(side);
    let rows =
        idle.map(|object| row(object, side, positions, &facts, || if looks_closer(object) { again.is_needed(object.id, &facts) } else { None }));
    rows.filter(|row| row.state != State::EMITTED).collect()
}

/// The first routes of each virtual host and the first clusters, with everything around them: enough to see most of what is in use.
fn reduced(ir: &Ir) -> Ir {
    const ROUTES: usize = 16;
    const CLUSTERS: usize = 64;
    let mut ir = with_routes(ir, |routes| routes.iter().take(ROUTES).cloned().collect());
    ir.clusters.truncate(CLUSTERS);
    ir
}

/// Each route where it stands first: what it says of objects it says in all places alike.
fn with_routes_once(ir: &Ir) -> Ir {
    let mut seen = HashSet::new();
    with_routes(ir, |routes| routes.iter().filter(|route| seen.insert(Arc::as_ptr(route).addr())).cloned().collect())
}

/// The same with some of the routes of each virtual host.
fn with_routes(ir: &Ir, mut some: impl FnMut(&[Arc<Route>]) -> Vec<Arc<Route>>) -> Ir {
    let mut ir = ir.clone();
    let managers = ir.listeners.iter_mut().flat_map(|listener| &mut Arc::make_mut(listener).chains).flat_map(|chain| &mut chain.filters);
    let tables = managers.filter_map(|filter| match filter {
        NetworkFilter::Http(manager) => Some(&mut Arc::make_mut(manager).routes),
        NetworkFilter::Tcp(_) => None,
    });
    for host in tables.chain(ir.tables.iter_mut().map(Arc::make_mut)).flat_map(|table| &mut table.virtual_hosts) {
        host.routes = Arc::new(some(&host.routes));
    }
    ir
}

/// What the IR and the findings say of objects.
struct Facts {
    made: HashMap<ObjectId, MadeByObject>,
    /// Of objects in routes with others: all that are, themselves too, in the order of their names. One list for all of which it is the same.
    joined: HashMap<ObjectId, Arc<Vec<ObjectId>>>,
    /// By the object whose place was taken.
    shadowed: HashMap<ObjectId, ObjectId>,
    errors: HashMap<ObjectId, String>,
    /// Who looks an object up, each with whether it would do the same without.
    used_by: HashMap<ObjectId, BTreeMap<ObjectId, bool>>,
    /// Objects that are in use, or that what is in use looks up; known once the IR is.
    in_effect: HashSet<ObjectId>,
    /// Objects that make something, and what they could not do without.
    needed: HashSet<ObjectId>,
    /// Whether only a part of the IR was read, so that others may make the same clusters.
    is_partial: bool,
    /// How many objects make a thing of this name.
    makers: HashMap<Str, usize>,
    holds: HashMap<ObjectId, usize>,
}

/// What the IR says of an object.
#[derive(Default)]
struct MadeByObject {
    /// Things that it made.
    things: Vec<Str>,
    /// Things that take a value from it.
    settings: Vec<Str>,
    /// The groups of objects in one route that it belongs to, by their place.
    groups: BTreeSet<usize>,
}

/// What IRs say of all objects.
#[derive(Default)]
struct Made {
    objects: HashMap<ObjectId, MadeByObject>,
    /// The groups of objects in one route, each once.
    groups: Vec<Arc<Vec<ObjectId>>>,
}

impl Made {
    /// Those with which each object is in routes. Objects of the same groups share their list.
    fn joined(&self, side: SideRef<'_>) -> HashMap<ObjectId, Arc<Vec<ObjectId>>> {
        let mut lists: HashMap<&BTreeSet<usize>, Arc<Vec<ObjectId>>> = HashMap::new();
        let mut joined = HashMap::new();
        for (object, made) in self.objects.iter().filter(|(_, made)| !made.groups.is_empty()) {
            let list = lists.entry(&made.groups).or_insert_with(|| {
                let groups = made.groups.iter().filter_map(|at| self.groups.get(*at));
                let all: BTreeSet<ObjectId> = groups.flat_map(|group| group.iter().copied()).collect();
                let mut all: Vec<ObjectId> = all.into_iter().filter(|id| side.objects().get(*id).is_some()).collect();
                all.sort_by_cached_key(|id| side.objects().get(*id).map(|object| ResourceRef::from(&object.key)));
                Arc::new(all)
            });
            if list.len() > 1 {
                joined.insert(*object, list.clone());
            }
        }
        joined
    }
}

impl Facts {
    fn collect(side: SideRef<'_>) -> Self {
        Self::of_findings(side).with_made(made_by_side(side), side)
    }

    /// The same with what an IR says.
    fn with_made(mut self, made: Made, side: SideRef<'_>) -> Self {
        self.joined = made.joined(side);
        self.made = made.objects;
        self.makers = HashMap::new();
        for thing in self.made.values().flat_map(|made| &made.things) {
            *self.makers.entry(thing.clone()).or_default() += 1;
        }
        self.in_effect = self.reach(side, false);
        self.needed = self.reach(side, true);
        self
    }

    /// Objects that are in use by themselves, and on to all that they look up; with `needed`, to what they could not do without.
    fn reach(&self, side: SideRef<'_>, needed: bool) -> HashSet<ObjectId> {
        let served = side.served();
        let is_gone = |object: &ObjectId| {
            matches!(side.side.ledger.get(*object), State::Ignored(..) | State::Shadowed(_) | State::Invalid(_)) || self.shadowed.contains_key(object)
        };
        let by_itself = |object: &Object| match side.side.ledger.get(object.id) {
            State::Emitted(_) | State::Merged(_) => true,
            State::Read(_) => !needed,
            _ => served.contains(&object.id) || self.made.get(&object.id).is_some_and(|made| self.is_made(made)),
        };
        let mut open: Vec<ObjectId> =
            side.objects().all().filter(|object| by_itself(object)).map(|object| object.id).filter(|id| !is_gone(id)).collect();
        let mut looked_up: HashMap<ObjectId, Vec<ObjectId>> = HashMap::new();
        for (to, users) in &self.used_by {
            let counts = users.iter().filter(|(_, optional)| !needed || !**optional);
            counts.for_each(|(from, _)| looked_up.entry(*from).or_default().push(*to));
        }
        let mut reached: HashSet<ObjectId> = HashSet::new();
        while let Some(object) = open.pop() {
            if reached.insert(object) {
                open.extend(looked_up.get(&object).into_iter().flatten().copied().filter(|id| !is_gone(id)));
            }
        }
        reached
    }

    /// The objects that refer to an object, directly or by others.
    fn readers_of(&self, object: ObjectId) -> BTreeSet<ObjectId> {
        let (mut found, mut open) = (BTreeSet::new(), Vec::from([object]));
        while let Some(object) = open.pop() {
            open.extend(self.used_by.get(&object).into_iter().flat_map(BTreeMap::keys).copied().filter(|reader| found.insert(*reader)));
        }
        found
    }

    /// Whether an object makes something that would not be there without it.
    fn is_made(&self, made: &MadeByObject) -> bool {
        let is_shared = |thing: &Str| thing.starts_with("cluster ") && (self.is_partial || self.makers.get(thing).is_some_and(|makers| *makers > 1));
        !made.settings.is_empty() || made.things.iter().any(|thing| !is_shared(thing))
    }

    /// What in effect refers to an object, or has the listener at which it counts; in the order of the text.
    fn readers_in_effect(&self, object: &Object, side: SideRef<'_>) -> Vec<ObjectId> {
        let in_effect = |of: &dyn Fn(ObjectId) -> bool| -> Vec<ObjectId> {
            let others = side.objects().iter().map(|other| other.id).filter(|id| *id != object.id && self.in_effect.contains(id));
            others.filter(|id| of(*id)).collect()
        };
        let users = self.used_by.get(&object.id);
        let readers = in_effect(&|id| users.is_some_and(|users| users.contains_key(&id)));
        let listens = |id: ObjectId| self.made.get(&id).is_some_and(|made| made.things.iter().any(|thing| thing.starts_with("listener ")));
        if readers.is_empty() { in_effect(&listens) } else { readers }
    }

    /// Another object that makes one of the things that an object makes: the first in the text that has routes.
    fn made_with(&self, object: &Object, made: &MadeByObject, side: SideRef<'_>) -> Option<ObjectId> {
        let has_routes = |of: &MadeByObject| of.things.iter().any(|thing| thing.contains("route "));
        let makes_same =
            |id: ObjectId| self.made.get(&id).is_some_and(|of| has_routes(of) && of.things.iter().any(|thing| made.things.contains(thing)));
        side.objects().iter().map(|other| other.id).find(|id| *id != object.id && makes_same(*id))
    }

    /// Whether nothing but the IR could say that an object has an effect.
    fn is_idle(&self, object: &Object, side: SideRef<'_>) -> bool {
        matches!(decide(object, side, self, || None), State::Ignored(..) | State::Invalid(_) | State::Shadowed(_))
    }

    /// All but what the IR says.
    fn of_findings(side: SideRef<'_>) -> Self {
        let mut facts = Self {
            made: HashMap::new(),
            joined: HashMap::new(),
            shadowed: HashMap::new(),
            errors: HashMap::new(),
            used_by: HashMap::new(),
            holds: HashMap::new(),
            in_effect: HashSet::new(),
            needed: HashSet::new(),
            is_partial: false,
            makers: HashMap::new(),
        };
        for (holder, _) in side.objects().iter().filter_map(|object| object.parent) {
            *facts.holds.entry(holder).or_default() += 1;
        }
        // Most findings have a place.
        let mut by_key: Option<HashMap<_, ObjectId>> = None;
        let mut named = |key: &ResourceKey| {
            let by_key = by_key.get_or_insert_with(|| {
                let mut by_key = HashMap::new();
                for object in side.objects().iter() {
                    by_key.entry((&object.key.kind, &object.key.namespace, &object.key.name)).or_insert(object.id);
                }
                by_key
            });
            by_key.get(&(&key.kind, &key.namespace, &key.name)).copied()
        };
        for finding in side.diagnostics() {
            let Some(object) = finding.place.object().or_else(|| named(finding.resource.as_ref()?)) else { continue };
            if [&codes::DUPLICATE_RESOURCE, &codes::OVERWRITTEN].contains(&finding.code) {
                if let Some(other) = finding.related.iter().find_map(|related| related.place.object()) {
                    facts.shadowed.entry(other).or_insert(object);
                }
            } else if *finding.code == codes::DUPLICATE_MEMBER {
                if let Some(other) = finding.related.iter().find_map(|related| related.place.object()) {
                    facts.shadowed.entry(object).or_insert(other);
                }
            } else if finding.severity == Severity::Error || *finding.code == codes::SECRET_NOT_FOUND {
                facts.errors.entry(object).or_insert_with(|| finding.message.clone());
            }
        }
        for reference in references(side) {
            if let Ok(to) = reference.to {
                let optional = facts.used_by.entry(to).or_default().entry(reference.from).or_insert(true);
                *optional &= reference.optional;
            }
        }
        facts
    }
}

/// What every object made, by the origins in the IRs of a side.
fn made_by_side(side: SideRef<'_>) -> Made {
    let several = side.side.gateways.len() > 1;
    read_irs(side.gateways().map(|gateway| (&**gateway.ir, several.then_some(gateway.id))))
}

/// What every object made, by the origins in IRs, each with the name of its gateway if that is to be said.
fn read_irs<'i>(irs: impl Iterator<Item = (impl Borrow<Ir>, Option<&'i GatewayId>)>) -> Made {
    let mut made = Made::default();
    let mut known = HashMap::new();
    for (ir, gateway) in irs {
        let things = things(&with_routes_once(ir.borrow()));
        let mut seen = HashSet::new();
        for (object, name, whole) in things.iter() {
            if seen.insert((object, name, whole)) {
                let entry = made.objects.entry(object).or_default();
                let list = if whole { &mut entry.things } else { &mut entry.settings };
                list.push(gateway.map_or_else(|| name.clone(), |id| format!("{name} of {id}").into()));
            }
        }
        merge(ir.borrow(), &mut made, &mut known);
    }
    made
}

/// Routes for the same requests, of which each takes its share, belong together. `known` has the places of the groups that were met.
fn merge(ir: &Ir, made: &mut Made, known: &mut HashMap<Arc<Vec<ObjectId>>, usize>) {
    let managers = ir.listeners.iter().flat_map(|listener| &listener.chains).flat_map(|chain| &chain.filters);
    let hosts = managers.filter_map(|filter| match filter {
        NetworkFilter::Http(manager) => Some(&manager.routes.virtual_hosts),
        NetworkFilter::Tcp(_) => None,
    });
    for host in hosts.flatten() {
        for group in host.routes.chunk_by(|a, b| same_requests(&a.matcher, &b.matcher)) {
            let members: BTreeSet<ObjectId> = group.iter().flat_map(|route| &route.origins).map(|origin| origin.object()).collect();
            if members.len() < 2 {
                continue;
            }
            let group: Arc<Vec<ObjectId>> = Arc::new(members.into_iter().collect());
            let at = *known.entry(group.clone()).or_insert_with(|| {
                made.groups.push(group.clone());
                made.groups.len() - 1
            });
            for member in &*group {
                if let Some(entry) = made.objects.get_mut(member) {
                    entry.groups.insert(at);
                }
            }
        }
    }
}

/// Whether two routes take the same requests, but for the share.
fn same_requests(a: &RouteMatch, b: &RouteMatch) -> bool {
    // Routes that Emissary makes for secure and insecure requests differ in this one header, and stand by turns.
    fn headers(of: &RouteMatch) -> impl Iterator<Item = &Sourced<HeaderMatch>> {
        of.headers.iter().filter(|header| &*header.value.name != "x-forwarded-proto")
    }
    a.path == b.path && a.query == b.query && a.grpc == b.grpc && headers(a).eq(headers(b))
}

fn row(object: &Object, side: SideRef<'_>, positions: &Positions<'_>, facts: &Facts, needed: impl FnOnce() -> Option<bool>) -> LedgerRow {
    let name = |id: ObjectId| side.objects().get(id).map(|object| ResourceRef::from(&object.key));
    let mut row = LedgerRow {
        object: object.id,
        dialect: None,
        resource: ResourceRef::from(&object.key),
        state: "",
        into: Vec::new(),
        with: Vec::new(),
        with_more: 0,
        by: None,
        why: None,
        detail: None,
        holder: object.parent.and_then(|(holder, _)| name(holder)),
        span: positions.object(object.id),
    };
    let state = match side.side.ledger.get(object.id) {
        State::Undecided | State::Loaded => decide(object, side, facts, needed),
        decided => decided.clone(),
    };
    row.state = state.name();
    let is_route = |thing: &Str| thing.contains("route ");
    let unreached = |into: &[Str]| {
        let settings = facts.made.get(&object.id).map(|made| &made.settings[..]).unwrap_or_default();
        if into.iter().chain(settings).any(is_route) { None } else { (side.dialect().hints.why_unreached)(side, object) }
    };
    // What a sentence quotes may be secret where it is written.
    let said = |detail: Str| {
        let place = object.value_range(object.root.id).filter(|_| holds_back(object));
        let said = place.map_or_else(|| detail.clone(), |place| positions.redact_message(object.source.source, place, &detail).into());
        Some(said).filter(|detail| !detail.is_empty())
    };
    match state {
        State::Emitted(into) => {
            // An error says it better.
            row.detail =
                unreached(&into).and_then(|hint| said(facts.errors.get(&object.id).map_or(Str::new_static(hint), |error| error.as_str().into())));
            row.into = Arc::unwrap_or_clone(into);
        }
        State::Merged(with) => {
            row.name(with.iter().filter(|other| **other != object.id).filter_map(|other| name(*other)), with.len().saturating_sub(1));
            row.into = facts.made.get(&object.id).map(|made| made.things.clone()).unwrap_or_default();
        }
        State::Read(by) => {
            let others = by.len().saturating_sub(1);
            let mut readers = by.into_iter().filter_map(name);
            row.by = readers.next();
            row.name(readers, others);
            if facts.made.get(&object.id).is_some_and(|made| facts.is_made(made)) {
                row.detail = Some(Str::new_static(SAME_WITHOUT));
            }
        }
        State::Shadowed(by) => row.by = name(by),
        State::Ignored(why, detail) => {
            row.why = Some(why.name());
            row.detail = said(detail);
        }
        State::Invalid(detail) => row.detail = said(detail),
        State::Undecided | State::Loaded => {}
    }
    row
}

/// What became of an object that others look up, as far as it is known whether gateways need it.
fn looked_up(users: &BTreeMap<ObjectId, bool>, needed: Option<bool>, side: SideRef<'_>, facts: &Facts) -> State {
    let in_text = |ids: &mut dyn Iterator<Item = ObjectId>| {
        let mut objects: Vec<&Object> = ids.filter_map(|id| side.objects().get(id)).collect();
        // In the order of the text: numbers of objects differ with what a memory has seen.
        objects.sort_by_key(|user| (user.source.source, user.source.offset));
        objects
    };
    let in_effect = |id: &ObjectId| facts.in_effect.contains(id);
    let needing = in_text(&mut users.iter().filter(|(id, optional)| facts.needed.contains(*id) && !**optional).map(|(id, _)| *id));
    let readers = in_text(&mut users.keys().copied().filter(in_effect));
    let idle = in_text(&mut users.keys().copied());
    let emitted = match needed {
        Some(true) => [&needing, &readers, &idle].into_iter().find(|users| !users.is_empty()),
        Some(false) => None,
        None => Some(&needing).filter(|users| !users.is_empty()),
    };
    if let Some(users) = emitted {
        // Several may have one name.
        let mut seen = HashSet::new();
        let names = users.iter().map(|user| ResourceRef::from(&user.key).to_string()).filter(|name| seen.insert(name.clone()));
        return State::Emitted(Arc::new(names.map(|name| format!("looked up by {name}").into()).collect()));
    }
    if !readers.is_empty() {
        return State::Read(readers.iter().map(|reader| reader.id).collect());
    }
    let first = idle.first().map(|user| ResourceRef::from(&user.key).to_string()).unwrap_or_default();
    let more = if idle.len() > 1 {
        format!(" and {} more refer to it, and have no effect", idle.len() - 1)
    } else {
        " refers to it, and has no effect".into()
    };
    State::Ignored(Why::NeverReferenced, format!("only {first}{more}").into())
}

/// Said of what changes nothing though it is taken.
const SAME_WITHOUT: &str = "Envoy gets the same without it";

/// Whether a thing is there to hold others.
fn is_frame(thing: &Str) -> bool {
    ["virtual host ", "filter chain ", "listener "].iter().any(|frame| thing.starts_with(frame))
}

/// What became of an object that was loaded. `needed` finds out whether gateways would do something else without it.
fn decide(object: &Object, side: SideRef<'_>, facts: &Facts, needed: impl FnOnce() -> Option<bool>) -> State {
    if let Some(by) = facts.shadowed.get(&object.id) {
        return State::Shadowed(*by);
    }
    let made = facts.made.get(&object.id);
    if let Some(made) = made.filter(|made| facts.is_made(made)) {
        if let Some(joined) = facts.joined.get(&object.id).filter(|_| !made.things.is_empty()) {
            return State::Merged(joined.clone());
        }
        // Others may make the same hosts and chains, and so may the controller by itself.
        if made.things.iter().all(is_frame) && needed() == Some(false) {
            let readers = facts.readers_in_effect(object, side);
            return match facts.made_with(object, made, side) {
                Some(other) => State::Shadowed(other),
                None if readers.is_empty() => State::Ignored(Why::NeverReferenced, Str::new_static(SAME_WITHOUT)),
                None => State::Read(readers),
            };
        }
        let settings = made.settings.iter().filter(|_| made.things.is_empty());
        return State::Emitted(Arc::new(made.things.iter().cloned().chain(settings.map(|thing| format!("settings of {thing}").into())).collect()));
    }
    if let Some(error) = facts.errors.get(&object.id) {
        return State::Invalid(error.as_str().into());
    }
    let held = facts.holds.get(&object.id).map(|count| match count {
        1 => "one object in its annotation".into(),
        count => format!("{count} objects in its annotations"),
    });
    if let Some(users) = facts.used_by.get(&object.id) {
        return match (needed(), held) {
            (Some(true), Some(held)) => State::Emitted(Arc::new(Vec::from([held.into()]))),
            (needed, _) => looked_up(users, needed, side, facts),
        };
    }
    if made.is_some_and(|made| !made.things.is_empty()) {
        let reason = (side.dialect().hints.why_unreached)(side, object).unwrap_or("nothing leads there");
        return State::Ignored(Why::NeverReferenced, format!("{reason}; Envoy gets the same without it").into());
    }
    if let Some(held) = held {
        return State::Emitted(Arc::new(Vec::from([held.into()])));
    }
    if needed() == Some(true) {
        return State::Emitted(Arc::new(Vec::from(["gateways get something else without it".into()])));
    }
    let detail = (side.dialect().hints.why_idle)(&object.key.kind);
    State::Ignored(Why::NeverReferenced, Str::new_static(detail))
}
