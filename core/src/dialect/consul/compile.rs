//! The whole, from text to what each proxy gets.
//!
//! What must not be here: any of the stages.

use super::chain::{self, Chain, Request, Set};
use super::documents::What;
use super::entry::Kind;
use super::instance::Instance;
use super::proxycfg::{self, Mailbox, Source};
use super::stages::{ProxyState, Stages};
use super::state::{DATACENTER, State};
use super::xds::{self, Context, Failure};
use super::{Options, bootstrap, documents, names, registration, service};
use crate::compilation::{Answers, Draft, Gateway, GatewayId, Ledger, Outcome, SideRef, State as LedgerState, Task, Why};
use crate::diagnostic::{Findings, Place, Severity};
use crate::ir::{EnvoyDelivery, Ir, Tree, Verbatim};
use crate::order::Gather as _;
use crate::resource::{Inputs, ObjectId, Objects};
use crate::text::Str;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// From documents to gateways: one for each proxy that is registered with the agent.
pub(super) fn compile(task: Task<'_>) -> Draft {
    let Task { objects, options, ledger, sink, .. } = task;
    let objects = &*objects;
    let options = Options::of(options);
    let mut state = State::of(objects, DATACENTER);
    let served = state.served();
    let peers: BTreeMap<Str, State> = options.peers.iter().map(|(name, text)| (name.clone(), peer(text, name))).gathered();
    let (mut proxies, mut gateways) = (BTreeMap::new(), Vec::new());
    for (id, instance) in &served {
        let built = build(&state, &peers, &options, instance);
        if let Some(failure) = &built.failure {
            state.report_proxy(&built.merged, &failure.message, failure.origin.map(Place::origin));
        }
        proxies.insert(id.clone(), built.state);
        gateways.push(Gateway { id: GatewayId::new(id.clone()), owner: instance.object, outcome: Outcome::Runs(Arc::new(built.ir)) });
    }
    sink.append(&mut state.diagnostics);
    write_down(objects, sink, ledger);
    for (gateway, (id, _)) in gateways.iter().zip(&served).filter(|(_, (_, instance))| registration::is_gateway(&instance.kind)) {
        let is_empty = matches!(&gateway.outcome, Outcome::Runs(ir) if ir.delivery.verbatim.is_empty());
        if let Some(object) = gateway.owner {
            let nothing = if is_empty { ", which gets no listener and no cluster" } else { "" };
            ledger.emitted(object, format!("the proxy {id}{nothing}"));
        }
    }
    let chains = chains(&state);
    Draft { stages: Arc::new(Stages { options, state, peers, chains, proxies }), answers: Answers::default(), gateways }
}

/// Writes down what became of every object before proxies get anything of it.
fn write_down(objects: &Objects, sink: &Findings, ledger: &mut Ledger) {
    let mut refused: BTreeMap<ObjectId, Str> = BTreeMap::new();
    for finding in sink.iter().filter(|finding| finding.severity == Severity::Error) {
        if let Some(object) = finding.place.object() {
            refused.entry(object).or_insert_with(|| Str::from(finding.message.as_str()));
        }
    }
    for object in objects.iter() {
        if let What::Agent | What::Leaf | What::Roots = documents::what(&object.root).0 {
            ledger.emitted(object.id, "what the agent gives to all proxies");
            continue;
        }
        let becomes = match refused.get(&object.id) {
            Some(why) => LedgerState::Invalid(why.clone()),
            None if documents::what(&object.root).0 == What::Foreign => {
                LedgerState::Ignored(Why::UnknownKind, Str::new_static("Consul does not read this kind"))
            }
            None => LedgerState::Loaded,
        };
        ledger.set(object.id, becomes);
    }
}

/// What a peered cluster holds.
fn peer(text: &Str, name: &str) -> State {
    let (objects, _) = documents::load(&Inputs::one(format!("peer {name}"), text.as_str()));
    State::of(&objects, &format!("{name}-dc"))
}

/// A proxy with what it gets.
struct Built {
    merged: Instance,
    state: ProxyState,
    ir: Ir,
    /// Why it gets nothing.
    failure: Option<Failure>,
}

fn build(state: &State, peers: &BTreeMap<Str, State>, options: &Options, instance: &Arc<Instance>) -> Built {
    let merged = service::merged(instance, &state.entries);
    let default_deny = state.agent.as_ref().map_or(options.default_deny, |agent| agent.default_deny);
    let source = Source { home: state, peers, default_deny };
    let proxy = proxycfg::Proxy::of(&merged);
    let mail = proxy.as_ref().map(|proxy| Mailbox::settle(proxy.machine(), &source)).unwrap_or_default();
    let resources =
        proxy.as_ref().map(|proxy| xds::resources(&Context { instance: &merged, mail: &mail, proxy, default_deny, agent: state.agent.as_ref() }));
    // There one bad value ends the whole proxy; here it gets nothing, and an error says why.
    let (verbatim, failure) = match resources.unwrap_or_else(|| Ok(Verbatim::default())) {
        Ok(verbatim) => (verbatim, None),
        Err(failure) => (Verbatim::default(), Some(failure)),
    };
    let delivery = EnvoyDelivery {
        verbatim,
        identity: Some(state.agent.as_ref().map_or_else(|| names::identity(&merged), |agent| agent.named(&names::identity(&merged)))),
        bootstrap: bootstrap::start(&merged),
        ..EnvoyDelivery::default()
    };
    let known = ProxyState { object: instance.object, service: service::answer(&merged), bootstrap: bootstrap::bootstrap(&merged), mail };
    Built { merged, state: known, ir: Ir { delivery, ..Ir::default() }, failure }
}

/// Of larger inputs, documents are not applied again without one of them: what Consul would then refuse is not seen.
const MOST_APPLIED_AGAIN: usize = 64;

/// Whether a gateway of the side would be sent something else without a config entry.
pub(super) fn is_needed(stages: &Stages, side: SideRef<'_>, object: ObjectId, readers: &BTreeSet<ObjectId>, budget: &mut usize) -> Option<bool> {
    if !stages.state.entries.values().any(|entry| entry.object == object) {
        return None;
    }
    let state = if side.objects().len() <= MOST_APPLIED_AGAIN {
        let mut objects = side.objects().clone();
        objects.retain(|of| of.id != object);
        State::of(&objects, DATACENTER)
    } else {
        let mut state = stages.state.clone();
        state.entries.retain(|_, entry| entry.object != object);
        state
    };
    let served: BTreeMap<Str, Arc<Instance>> = state.served().into_iter().gathered();
    let of_readers: Vec<&Gateway> = side.side.gateways.iter().filter(|gateway| gateway.owner.is_some_and(|owner| readers.contains(&owner))).collect();
    // Without a reader, a proxy may still see it: intentions name upstreams of transparent proxies.
    if of_readers.is_empty() {
        return None;
    }
    for gateway in of_readers {
        let (Outcome::Runs(ir), Some(instance)) = (&gateway.outcome, served.get(gateway.id.as_str())) else { continue };
        *budget = budget.checked_sub(1)?;
        let after = build(&state, &stages.peers, &stages.options, instance).ir.delivery;
        if ir.delivery.identity != after.identity || !same(&ir.delivery.verbatim, &after.verbatim) {
            return Some(true);
        }
    }
    Some(false)
}

/// Whether a proxy has the same values, wherever they come from.
fn same(a: &Verbatim, b: &Verbatim) -> bool {
    let all = |of: &Verbatim| [of.listeners.clone(), of.routes.clone(), of.clusters.clone(), of.endpoints.clone()];
    let same = |a: &Vec<Arc<Tree>>, b: &Vec<Arc<Tree>>| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.node() == b.node());
    all(a).iter().zip(&all(b)).all(|(a, b)| same(a, b))
}

/// The chain of a service as nobody in particular sees it.
fn plain_chain(state: &State, service: &Str) -> Option<Chain> {
    let request = Request { service: service.clone(), datacenter: state.datacenter.clone(), ..Request::default() };
    let mut chain = chain::compile(&Set::of(&state.entries), &request).ok()?;
    chain.virtual_ip = state.virtual_ips.get(service).cloned();
    Some(chain)
}

/// The chains of all services that are spoken of.
fn chains(state: &State) -> Tree {
    let kinds = [Kind::ServiceDefaults, Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver];
    let configured = state.entries.values().filter(|entry| kinds.contains(&entry.kind) && entry.name != "*").map(|entry| entry.name.clone());
    let typical = state.here().filter(|instance| instance.kind.is_empty()).map(|instance| instance.service.clone());
    let upstreams = state.here().flat_map(|instance| instance.proxy.get("Upstreams").items());
    let upstreams = upstreams.filter(|upstream| !upstream.get("DestinationType").is("prepared_query"));
    let upstreams = upstreams.map(|upstream| upstream.get("DestinationName").str());
    let all: BTreeSet<Str> = configured.chain(typical).chain(upstreams).gathered();
    Tree::object(all.iter().filter_map(|name| Some((name.clone(), chain::answer(&plain_chain(state, name)?)))))
}
