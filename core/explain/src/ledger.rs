//! Reports what happened to every input object: its state, and the parts made from it.
//!
//! The stages record their decisions ([`chancery_base::compilation::Ledger`]); for loaded objects, this module derives the result from the IR.
//!
//! Makes no decisions. An object that no stage decided on is reported as ignored, with the reason.

mod rebuilt;
mod redundant;
mod sentence;
mod status;
#[cfg(test)]
mod tests;

use super::dump::collect_named_parts;
use super::finding::{Finding, findings};
use super::reach::unreached_objects;
use super::relation::references;
use super::{Positions, ResourceRef, Span};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, GatewayId, SideRef, State, Why};
use chancery_base::diagnostic::{Severity, codes};
use chancery_base::ir::{HeaderMatch, Ir, NetworkFilter, Route, RouteMatch};
use chancery_base::positions::holds_back;
use chancery_base::resource::{Object, ObjectId, Origin, ResourceKey, Sourced};
use chancery_text::Str;
use core::borrow::Borrow;
use hashbrown::{HashMap, HashSet};
use rebuilt::RebuiltGateways;
pub use status::StatusCondition;

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LedgerRow {
    #[serde(skip)]
    pub object: ObjectId,
    /// The dialect whose controller the row is about, if several dialects are compiled together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<&'static str>,
    pub resource: ResourceRef,
    /// `emitted`, `merged`, `read`, `unreached`, `shadowed`, `ignored` or `invalid`.
    pub state: &'static str,
    /// The parts made from it.
    pub into: Vec<Str>,
    /// The objects that it was merged with, or the readers after the first: at most [`LedgerRow::MOST_NAMED`], the first by name.
    pub with: Vec<ResourceRef>,
    /// How many more objects there are than `with` names.
    #[serde(skip_serializing_if = "is_none")]
    pub with_more: usize,
    /// The object that replaces it, or that reads it.
    pub by: Option<ResourceRef>,
    /// The place of `by`, if that object takes its effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_at: Option<Span>,
    /// Why it was ignored, as one word.
    pub why: Option<&'static str>,
    /// Why it was ignored or what is wrong with it, as a phrase.
    pub detail: Option<Str>,
    /// The errors and warnings about it, in the order of the text: at most [`LedgerRow::MOST_FINDINGS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<LedgerFinding>,
    /// How many more errors and warnings there are than `findings` has.
    #[serde(skip_serializing_if = "is_none")]
    pub findings_more: usize,
    /// The conditions that the controller writes to its status.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<StatusCondition>,
    /// The object whose annotation holds it.
    pub holder: Option<ResourceRef>,
    #[serde(flatten)]
    pub span: Option<Span>,
}

/// A finding about the object of a row, in brief.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LedgerFinding {
    pub code: &'static str,
    pub severity: &'static str,
    pub message: String,
    #[serde(flatten)]
    pub span: Option<Span>,
}

impl LedgerRow {
    /// The state of an object that makes parts of a gateway that no request reaches.
    pub const UNREACHED: &'static str = "unreached";

    /// How many findings a row has.
    pub const MOST_FINDINGS: usize = 8;

    /// How many other objects a row names. Rows of a large group that name all members would need too much memory and be unreadable.
    pub const MOST_NAMED: usize = 16;

    /// Names the first of the other objects, and counts the rest.
    fn name(&mut self, others: impl Iterator<Item = ResourceRef>, count: usize) {
        self.with = others.take(Self::MOST_NAMED).collect();
        self.with_more = count.saturating_sub(self.with.len());
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_none(number: &usize) -> bool {
    *number == 0
}

/// Returns the ledger of every side, one side after another, each in the order of the text. An object that a controller does not read is in the
/// ledger of the controller that reads it; an object that none reads is in the first ledger.
///
/// ```
/// use chancery_base::compilation::Options;
/// use chancery_compile::compile;
/// use chancery_base::resource::Inputs;
/// use chancery_explain::ledger;
///
/// let inputs = Inputs::one("quote.yaml", "\
/// apiVersion: getambassador.io/v3alpha1
/// kind: Mapping
/// metadata: {name: quote}
/// spec: {hostname: \"*\", prefix: /quote/, service: quote, timout_ms: 9000}
/// ");
/// let compilation = compile(&inputs, &Options::default(), &[&chancery_ambassador::DIALECT]);
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
    add_findings(&mut all, compilation, positions);
    status::add_statuses(&mut all, compilation);
    all
}

/// Adds the errors and warnings of a compilation to the rows of their objects.
fn add_findings(rows: &mut [LedgerRow], compilation: &Compilation, positions: &Positions<'_>) {
    let mut by_object: HashMap<(ResourceRef, Option<&'static str>), Vec<LedgerFinding>> = HashMap::new();
    for Finding { code, severity, dialect, message, span, object, resource, .. } in findings(compilation, positions) {
        if let Some(of) = object.or(resource).filter(|_| severity != Severity::Notice.name()) {
            by_object.entry((of, dialect)).or_default().push(LedgerFinding { code, severity, message, span });
        }
    }
    for row in rows {
        // A finding that all controllers share names no dialect.
        let dialects = [None, row.dialect];
        let keys = dialects.into_iter().take(1 + usize::from(row.dialect.is_some())).map(|dialect| (row.resource.clone(), dialect));
        let mut found: Vec<LedgerFinding> = keys.filter_map(|key| by_object.get(&key)).flatten().cloned().collect();
        let is_own = |finding: &LedgerFinding| {
            row.span.is_none() || finding.span.as_ref().is_none_or(|at| row.span.as_ref().is_some_and(|own| own.file == at.file))
        };
        found.retain(is_own);
        row.findings_more = found.len().saturating_sub(LedgerRow::MOST_FINDINGS);
        found.truncate(LedgerRow::MOST_FINDINGS);
        row.findings = found;
    }
}

/// Returns the ledger of one side, in the order of the text.
pub fn ledger_of(side: SideRef<'_>, positions: &Positions<'_>) -> Vec<LedgerRow> {
    let facts = Facts::collect(side);
    let mut again = RebuiltGateways::new(side);
    let unreached = unreached_objects(side);
    let row = |object: &Object| {
        let mut row = row(object, side, positions, &facts, || again.is_object_needed(object.id, &facts));
        if redundant::is_unspecific(&row) && again.is_object_needed(object.id, &facts) == Some(false) {
            redundant::describe_as_read(&mut row, object, side, &facts);
        }
        if let Some(of) = unreached.get(&object.id).filter(|_| [State::EMITTED, MERGED].contains(&row.state)) {
            row.state = LedgerRow::UNREACHED;
            row.by = of.by.and_then(|by| side.objects().get(by)).map(|by| ResourceRef::from(&by.key));
            row.by_at = of.by.and_then(|by| positions.object(by));
            (row.with, row.with_more) = (Vec::new(), 0);
            row.detail = Some(of.why.clone());
        }
        row
    };
    side.objects().iter().map(row).collect()
}

/// The word for [`State::Merged`].
const MERGED: &str = "merged";

/// Returns the rows of objects without effect (ignored, shadowed or invalid), in the order of the text and with the content of [`ledger_of`]. It is
/// cheaper than the whole ledger: it reads the whole IR only for objects that parts of the IR do not show to be in use. For small inputs it checks
/// all objects by rebuilding the gateways without them.
///
/// `looks_closer` selects the objects to check by rebuilding the gateways. Of other objects, an object that is only looked up may be in the rows
/// although gateways need it.
pub fn rows_without_effect(side: SideRef<'_>, positions: &Positions<'_>, looks_closer: impl Fn(&Object) -> bool) -> Vec<LedgerRow> {
    if side.may_be_recompiled() {
        let (facts, mut again) = (Facts::collect(side), RebuiltGateways::new(side));
        let rows = side.objects().iter().map(|object| {
            row(object, side, positions, &facts, || if looks_closer(object) { again.is_object_needed(object.id, &facts) } else { None })
        });
        return rows.filter(|row| [State::IGNORED, State::SHADOWED, State::INVALID].contains(&row.state)).collect();
    }
    let served = side.served();
    let mut facts = Facts::of_findings(side).with_made(MadeParts::default(), side);
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
    let mut again = RebuiltGateways::new(side);
    let rows = idle
        .map(|object| row(object, side, positions, &facts, || if looks_closer(object) { again.is_object_needed(object.id, &facts) } else { None }));
    rows.filter(|row| row.state != State::EMITTED).collect()
}

/// Returns the first routes of each virtual host and the first clusters, with everything around them: enough to see most of the objects in use.
fn reduced(ir: &Ir) -> Ir {
    const ROUTES: usize = 16;
    const CLUSTERS: usize = 64;
    let mut ir = with_routes(ir, |routes| routes.iter().take(ROUTES).cloned().collect());
    ir.clusters.truncate(CLUSTERS);
    let verbatim = &mut ir.delivery.verbatim;
    verbatim.routes.clear();
    verbatim.clusters.truncate(CLUSTERS);
    verbatim.endpoints.truncate(CLUSTERS);
    ir
}

/// Keeps the first occurrence of each route: all occurrences have the same origins.
fn with_routes_once(ir: &Ir) -> Ir {
    let mut seen = HashSet::new();
    with_routes(ir, |routes| routes.iter().filter(|route| seen.insert(Arc::as_ptr(route).addr())).cloned().collect())
}

/// Returns the IR with some of the routes of each virtual host.
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

/// What the IR and the findings show about objects.
struct Facts {
    made: HashMap<ObjectId, MadeByObject>,
    /// For each object that shares routes with others, all these objects including itself, by name. Objects with equal lists share one list.
    joined: HashMap<ObjectId, Arc<Vec<ObjectId>>>,
    /// By the object that was replaced.
    shadowed: HashMap<ObjectId, ObjectId>,
    errors: HashMap<ObjectId, String>,
    /// The objects that look an object up, each with whether it would behave the same without it.
    used_by: HashMap<ObjectId, BTreeMap<ObjectId, bool>>,
    /// Objects that are in use, or that objects in use look up; known once the IR is read.
    in_effect: HashSet<ObjectId>,
    /// Objects that make a part, and the objects that these need.
    needed: HashSet<ObjectId>,
    /// Whether only a part of the IR was read, so that other objects may make the same clusters.
    is_partial: bool,
    /// How many objects make the part of this name.
    makers: HashMap<Str, usize>,
    holds: HashMap<ObjectId, usize>,
}

/// What the IR shows about one object.
#[derive(Default)]
struct MadeByObject {
    /// Parts that it made.
    parts: Vec<Str>,
    /// Parts that have a value from it.
    settings: Vec<Str>,
    /// Indexes of the route groups that it belongs to.
    groups: BTreeSet<usize>,
}

/// What the IRs show about all objects.
#[derive(Default)]
struct MadeParts {
    objects: HashMap<ObjectId, MadeByObject>,
    /// The groups of objects in one route, each once.
    groups: Vec<Arc<Vec<ObjectId>>>,
}

impl MadeParts {
    /// Returns the objects that share routes with each object. Objects of the same groups share their list.
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

    /// Adds what an IR shows.
    fn with_made(mut self, made: MadeParts, side: SideRef<'_>) -> Self {
        self.joined = made.joined(side);
        self.made = made.objects;
        self.makers = HashMap::new();
        for thing in self.made.values().flat_map(|made| &made.parts) {
            *self.makers.entry(thing.clone()).or_default() += 1;
        }
        self.in_effect = self.reach(side, false);
        self.needed = self.reach(side, true);
        self
    }

    /// Returns the objects that have an effect themselves and everything that they look up; with `needed`, only the objects that they need.
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

    /// Returns the objects that refer to an object, directly or through others.
    fn readers_of(&self, object: ObjectId) -> BTreeSet<ObjectId> {
        let (mut found, mut open) = (BTreeSet::new(), Vec::from([object]));
        while let Some(object) = open.pop() {
            open.extend(self.used_by.get(&object).into_iter().flat_map(BTreeMap::keys).copied().filter(|reader| found.insert(*reader)));
        }
        found
    }

    /// Whether an object makes a part that would not exist without it.
    fn is_made(&self, made: &MadeByObject) -> bool {
        let is_shared = |thing: &Str| thing.starts_with("cluster ") && (self.is_partial || self.makers.get(thing).is_some_and(|makers| *makers > 1));
        !made.settings.is_empty() || made.parts.iter().any(|thing| !is_shared(thing))
    }

    /// Returns the objects in effect that refer to an object or have its listener, in the order of the text.
    fn readers_in_effect(&self, object: &Object, side: SideRef<'_>) -> Vec<ObjectId> {
        let in_effect = |of: &dyn Fn(ObjectId) -> bool| -> Vec<ObjectId> {
            let others = side.objects().iter().map(|other| other.id).filter(|id| *id != object.id && self.in_effect.contains(id));
            others.filter(|id| of(*id)).collect()
        };
        let users = self.used_by.get(&object.id);
        let readers = in_effect(&|id| users.is_some_and(|users| users.contains_key(&id)));
        let listens = |id: ObjectId| self.made.get(&id).is_some_and(|made| made.parts.iter().any(|thing| thing.starts_with("listener ")));
        if readers.is_empty() { in_effect(&listens) } else { readers }
    }

    /// Returns another object that generates one of the same parts: the first in the text that has routes.
    fn made_with(&self, object: &Object, made: &MadeByObject, side: SideRef<'_>) -> Option<ObjectId> {
        let has_routes = |of: &MadeByObject| of.parts.iter().any(|thing| thing.contains("route "));
        let makes_same =
            |id: ObjectId| self.made.get(&id).is_some_and(|of| has_routes(of) && of.parts.iter().any(|thing| made.parts.contains(thing)));
        side.objects().iter().map(|other| other.id).find(|id| *id != object.id && makes_same(*id))
    }

    /// Whether only the IR can show that an object has an effect.
    fn is_idle(&self, object: &Object, side: SideRef<'_>) -> bool {
        matches!(decide(object, side, self, || None), State::Ignored(..) | State::Invalid(_) | State::Shadowed(_))
    }

    /// Collects all facts except facts from the IR.
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

/// Collects the parts of every object, by the origins in the IRs of a side.
fn made_by_side(side: SideRef<'_>) -> MadeParts {
    let several = side.side.gateways.len() > 1;
    read_irs(side.gateways().map(|gateway| (&**gateway.ir, several.then_some(gateway.id))))
}

/// Collects the parts of every object, by the origins in IRs, each with the name of its gateway if the output needs it.
fn read_irs<'i>(irs: impl Iterator<Item = (impl Borrow<Ir>, Option<&'i GatewayId>)>) -> MadeParts {
    let mut made = MadeParts::default();
    let mut known = HashMap::new();
    for (ir, gateway) in irs {
        let parts = collect_named_parts(&with_routes_once(ir.borrow()));
        let mut seen = HashSet::new();
        for (object, name, whole) in parts.iter() {
            if seen.insert((object, name, whole)) {
                let entry = made.objects.entry(object).or_default();
                let list = if whole { &mut entry.parts } else { &mut entry.settings };
                list.push(gateway.map_or_else(|| name.clone(), |id| format!("{name} of {id}").into()));
            }
        }
        merge(ir.borrow(), &mut made, &mut known);
    }
    made
}

/// Joins the makers of routes that share the same requests. `known` has the indexes of the groups seen so far.
fn merge(ir: &Ir, made: &mut MadeParts, known: &mut HashMap<Arc<Vec<ObjectId>>, usize>) {
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

/// Whether two routes match the same requests, apart from their share.
fn same_requests(a: &RouteMatch, b: &RouteMatch) -> bool {
    // Emissary's routes for secure and insecure requests differ in this one header and alternate.
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
        by_at: None,
        why: None,
        detail: None,
        findings: Vec::new(),
        findings_more: 0,
        status: Vec::new(),
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
    // A phrase may quote a value that is secret at its place.
    let said = |detail: Str| {
        let place = object.value_range(object.root.id).filter(|_| holds_back(object));
        let said = place.map_or_else(|| detail.clone(), |place| positions.redact_message(object.source.source, place, &detail).into());
        Some(said).filter(|detail| !detail.is_empty())
    };
    match state {
        State::Emitted(into) => {
            // An error is more precise.
            row.detail =
                unreached(&into).and_then(|hint| said(facts.errors.get(&object.id).map_or(Str::new_static(hint), |error| error.as_str().into())));
            // A part of a configuration leaves its listener to the rest.
            if row.detail.is_some() && has_listener(side) {
                row.state = LedgerRow::UNREACHED;
            }
            row.into = Arc::unwrap_or_clone(into);
        }
        State::Merged(with) => {
            row.name(with.iter().filter(|other| **other != object.id).filter_map(|other| name(*other)), with.len().saturating_sub(1));
            row.into = facts.made.get(&object.id).map(|made| made.parts.clone()).unwrap_or_default();
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
        State::Shadowed(by) => {
            row.by = name(by);
            row.by_at = positions.object(by);
        }
        State::Ignored(why, detail) => {
            row.why = Some(why.name());
            row.detail = said(detail);
        }
        State::Invalid(detail) => row.detail = said(detail),
        State::Undecided | State::Loaded => {}
    }
    row
}

/// Whether the input has a listener, or an object for one.
fn has_listener(side: SideRef<'_>) -> bool {
    let is_written = |origin: &Origin| origin.object() != ObjectId::BUILT_IN;
    let listens = side.irs().flat_map(|ir| &ir.listeners).any(|listener| listener.origins.iter().any(is_written));
    listens || side.objects().iter().any(|object| *object.key.kind == *"Listener")
}

/// Decides the state of an object that others look up, if it is known whether gateways need it.
fn looked_up(users: &BTreeMap<ObjectId, bool>, needed: Option<bool>, side: SideRef<'_>, facts: &Facts) -> State {
    let in_text = |ids: &mut dyn Iterator<Item = ObjectId>| {
        let mut objects: Vec<&Object> = ids.filter_map(|id| side.objects().get(id)).collect();
        // In the order of the text: object numbers depend on what a cache has seen.
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
        // Several objects may share a name.
        let mut seen = HashSet::new();
        let names = users.iter().map(|user| ResourceRef::from(&user.key).to_string()).filter(|name| seen.insert(name.clone()));
        return State::Emitted(Arc::new(names.map(|name| format!("used by {name}").into()).collect()));
    }
    if !readers.is_empty() {
        return State::Read(readers.iter().map(|reader| reader.id).collect());
    }
    let first = idle.first().map(|user| ResourceRef::from(&user.key).to_string()).unwrap_or_default();
    let more = if idle.len() > 1 {
        format!(" and {} more refer to it, and they have no effect", idle.len() - 1)
    } else {
        " refers to it, and that object has no effect".into()
    };
    State::Ignored(Why::NeverReferenced, format!("only {first}{more}").into())
}

/// The detail of an object that is accepted but changes nothing.
const SAME_WITHOUT: &str = "Envoy gets the same without it";

/// Whether a part exists only to contain others.
fn is_container(thing: &Str) -> bool {
    ["virtual host ", "filter chain ", "listener "].iter().any(|frame| thing.starts_with(frame))
}

/// Decides the state of a loaded object. `needed` determines whether gateways would behave differently without it.
fn decide(object: &Object, side: SideRef<'_>, facts: &Facts, needed: impl FnOnce() -> Option<bool>) -> State {
    if let Some(by) = facts.shadowed.get(&object.id) {
        return State::Shadowed(*by);
    }
    let made = facts.made.get(&object.id);
    if let Some(made) = made.filter(|made| facts.is_made(made)) {
        if let Some(joined) = facts.joined.get(&object.id).filter(|_| !made.parts.is_empty()) {
            return State::Merged(joined.clone());
        }
        // Other objects, or the controller itself, may make the same hosts and chains.
        if made.parts.iter().all(is_container) && needed() == Some(false) {
            let readers = facts.readers_in_effect(object, side);
            return match facts.made_with(object, made, side) {
                Some(other) => State::Shadowed(other),
                None if readers.is_empty() => State::Ignored(Why::NeverReferenced, Str::new_static(SAME_WITHOUT)),
                None => State::Read(readers),
            };
        }
        let settings = made.settings.iter().filter(|_| made.parts.is_empty());
        return State::Emitted(Arc::new(made.parts.iter().cloned().chain(settings.map(|thing| format!("settings of {thing}").into())).collect()));
    }
    if let Some(error) = facts.errors.get(&object.id) {
        return State::Invalid(error.as_str().into());
    }
    let is_file = *object.key.kind == *"ConfigMap";
    let held = facts.holds.get(&object.id).map(|count| match count {
        1 if is_file => "one file in its data".into(),
        count if is_file => format!("{count} files in its data"),
        1 => "one object in its annotation".into(),
        count => format!("{count} objects in its annotations"),
    });
    if let Some(users) = facts.used_by.get(&object.id) {
        return match (needed(), held) {
            (Some(true), Some(held)) => State::Emitted(Arc::new(Vec::from([held.into()]))),
            (needed, _) => looked_up(users, needed, side, facts),
        };
    }
    if made.is_some_and(|made| !made.parts.is_empty()) {
        let reason = (side.dialect().hints.why_unreached)(side, object).unwrap_or("nothing leads there");
        return State::Ignored(Why::NeverReferenced, format!("{reason}; Envoy gets the same without it").into());
    }
    if let Some(held) = held {
        return State::Emitted(Arc::new(Vec::from([held.into()])));
    }
    if needed() == Some(true) {
        return State::Emitted(Arc::new(Vec::from(["gateways work differently without it".into()])));
    }
    let detail = (side.dialect().hints.why_idle)(&object.key.kind);
    State::Ignored(Why::NeverReferenced, Str::new_static(detail))
}
