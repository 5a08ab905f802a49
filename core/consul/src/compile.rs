//! The whole compile, from text to the resources of each proxy. The stages are in the other modules.

use super::agent::Agent;
use super::apply::{Applied, proxy_finding};
use super::chain::{self, Chain, NodeKind, Request, Set};
use super::documents::What;
use super::entry::Kind;
use super::instance::Instance;
use super::proxycfg::{Catalog, ConfigSource, FromCatalog, Local, Manager, Mirror, Refill, Snapshot, refusal};
use super::stages::{ProxyState, Stages};
use super::state::{DATACENTER, State};
use super::xds::{self, Context, Failure};
use super::{Options, bootstrap, documents, names, not_in_api, registration, service};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Answers, Draft, Gateway, GatewayId, Ledger, Outcome, SideRef, State as LedgerState, Task, Why};
use chancery_base::diagnostic::{Findings, Place, Severity};
use chancery_base::executor::{self, Executor};
use chancery_base::ir::{EnvoyDelivery, Ir, Tree, Verbatim};
use chancery_base::resource::{Inputs, ObjectId, Objects};
use chancery_kubernetes::gateway_api;
use chancery_text::Str;

/// The cache of a compile.
#[derive(Default)]
pub(super) struct Memory {
    options: Options,
    applied: Applied,
    running: Option<Running>,
}

/// The running proxies, and the sources of their data.
struct Running {
    /// The agent: if it changes, everything starts anew.
    agent: Option<Agent>,
    peers: Arc<BTreeMap<Str, State>>,
    data: Box<dyn Refill + Send>,
    manager: Manager,
    local: Local,
    catalog: FromCatalog,
    built: BTreeMap<Str, Arc<Built>>,
}

/// Compiles documents to gateways: one for each proxy that is registered with the agent.
pub(super) fn compile(task: Task<'_>) -> Draft {
    let Task { objects, options, ledger, sink, memory, executor, .. } = task;
    let objects = &*objects;
    let options = Options::of(options);
    let mut forgetful = Memory::default();
    let memory = memory.downcast_mut::<Memory>().unwrap_or(&mut forgetful);
    if memory.options != options {
        *memory = Memory { options: options.clone(), ..Memory::default() };
    }
    let mut state = State::with(objects, DATACENTER, &mut memory.applied);
    let mut found = core::mem::take(&mut state.diagnostics);
    found.extend(not_in_api::missing(&state, objects));
    let state = Arc::new(state);
    let served = state.served();
    let running = memory.run(&state, &served, &options, executor);
    let (mut proxies, mut gateways) = (BTreeMap::new(), Vec::new());
    for (id, instance) in &served {
        let Some(built) = running.built.get(id) else { continue };
        if let Some(failure) = &built.failure {
            found.report(proxy_finding(&built.merged, &failure.message, failure.origin.map(Place::origin)));
        }
        proxies.insert(id.clone(), built.state.clone());
        gateways.push(Gateway { id: GatewayId::new(id.clone()), owner: instance.object, outcome: Outcome::Runs(built.ir.clone()) });
    }
    sink.append(&mut found);
    record_ledger(objects, sink, ledger);
    unbound(&state, ledger);
    for (gateway, (id, _)) in gateways.iter().zip(&served).filter(|(_, (_, instance))| registration::is_gateway(&instance.kind)) {
        if let Some(object) = gateway.owner {
            ledger.emitted(object, format!("the proxy {id}"));
        }
    }
    let peers = running.peers.clone();
    Draft { stages: Arc::new(Stages { options, state, peers, proxies }), answers: Answers::default(), gateways }
}

impl Memory {
    /// Updates all proxies. A proxy's resources are made again only if its snapshot changed.
    fn run(&mut self, state: &Arc<State>, served: &[(Str, Arc<Instance>)], options: &Options, executor: &dyn Executor) -> &Running {
        let default_deny = denies(state, options);
        let running = self.running.take().filter(|running| running.agent == state.agent);
        let (mut running, changed) = match running {
            Some(mut running) => {
                let changed = running.data.replace(state.clone(), &mut running.manager.inbox);
                (running, changed)
            }
            None => (Running::new(state, options), BTreeSet::new()),
        };
        let Running { data, manager, local, catalog, built, .. } = &mut running;
        let mut sources: [&mut dyn ConfigSource; 2] = [local, catalog];
        // A proxy that another source takes over is released first.
        sources.iter_mut().for_each(|source| source.let_go(served, manager, &mut **data));
        sources.iter_mut().for_each(|source| source.sync(served, state, &changed, manager));
        let changed: Vec<Str> = manager.run(&mut **data).into_iter().collect();
        let agent = state.agent.as_ref();
        let made = executor::map(executor, &changed, |id| manager.snapshot(id).map(|snapshot| Arc::new(build(&snapshot, default_deny, agent))));
        built.extend(changed.iter().cloned().zip(made).filter_map(|(id, made)| Some((id, made?))));
        built.retain(|id, _| manager.snapshot(id).is_some());
        self.running.insert(running)
    }
}

impl Running {
    fn new(state: &Arc<State>, options: &Options) -> Self {
        let peers: BTreeMap<Str, State> = options.peers.iter().map(|(name, text)| (name.clone(), peer(text, name))).collect();
        let peers = Arc::new(peers);
        let catalog = Catalog::new(state.clone(), peers.clone(), denies(state, options));
        // Inputs are complete; a live agent's data may not be read completely yet.
        let data: Box<dyn Refill + Send> = if state.agent.is_some() { Box::new(Mirror::new(catalog)) } else { Box::new(catalog) };
        Self {
            agent: state.agent.clone(),
            peers,
            data,
            manager: Manager::default(),
            local: Local::default(),
            catalog: FromCatalog::default(),
            built: BTreeMap::new(),
        }
    }
}

/// Whether everything is denied without an intention.
pub(super) fn denies(state: &State, options: &Options) -> bool {
    state.agent.as_ref().map_or(options.default_deny, |agent| agent.default_deny)
}

/// Records the ledger state of objects that proxies need not use.
fn record_ledger(objects: &Objects, sink: &Findings, ledger: &mut Ledger) {
    let mut refused: BTreeMap<ObjectId, Str> = BTreeMap::new();
    for finding in sink.iter().filter(|finding| finding.severity == Severity::Error) {
        if let Some(object) = finding.place.object() {
            refused.entry(object).or_insert_with(|| Str::from(finding.message.as_str()));
        }
    }
    for object in objects.iter() {
        let (what, name) = documents::what(&object.root);
        let given = match what {
            What::Agent | What::Leaf | What::Roots => Some("what the agent gives to all proxies"),
            // It registers itself.
            What::Catalog if name == registration::SERVERS => Some("a server of Consul"),
            _ => None,
        };
        if let Some(given) = given {
            ledger.emitted(object.id, given);
            continue;
        }
        let becomes = match refused.get(&object.id) {
            Some(why) => LedgerState::Invalid(why.clone()),
            // Entries that consul-k8s generates are written separately.
            None if what == What::Foreign && (object.key.group.ends_with(documents::GROUP) || *object.key.group == *gateway_api::GROUP) => {
                LedgerState::Ignored(Why::NotCovered, Str::new_static("other programs read it"))
            }
            None if what == What::Foreign => LedgerState::Ignored(Why::UnknownKind, Str::new_static("Consul does not read this kind")),
            None => LedgerState::Loaded,
        };
        ledger.set(object.id, becomes);
    }
}

/// Records routes that every named gateway rejects: they have no effect.
fn unbound(state: &State, ledger: &mut Ledger) {
    for route in [Kind::HttpRoute, Kind::TcpRoute].into_iter().flat_map(|kind| state.of_kind(kind)) {
        let parents = route.tree.get("Parents").items();
        let refused: Vec<String> = parents.iter().filter_map(|parent| refusal(state, route, parent)).collect();
        if let Some(why) = refused.first().filter(|_| refused.len() == parents.len()) {
            ledger.set(route.object, LedgerState::Ignored(Why::NeverReferenced, Str::from(why.as_str())));
        }
    }
}

/// The state of a peered cluster.
fn peer(text: &Str, name: &str) -> State {
    let (objects, _) = documents::load(&Inputs::one(format!("peer {name}"), text.as_str()));
    State::of(&objects, &format!("{name}-dc"))
}

/// A proxy with its resources.
struct Built {
    merged: Arc<Instance>,
    state: Arc<ProxyState>,
    ir: Arc<Ir>,
    /// Why it gets nothing.
    failure: Option<Failure>,
}

fn build(of: &Snapshot<'_>, default_deny: bool, agent: Option<&Agent>) -> Built {
    let instance: &Instance = of.instance;
    let resources = of.proxy.map(|proxy| xds::resources(&Context { instance, mail: of.mail, proxy, default_deny, agent }));
    // In Consul one bad value ends the proxy's stream; here it gets nothing, and an error explains why.
    let (verbatim, failure) = match resources.unwrap_or_else(|| Ok(Verbatim::default())) {
        Ok(verbatim) => (verbatim, None),
        Err(failure) => (Verbatim::default(), Some(failure)),
    };
    let identity = names::identity(instance);
    let delivery = EnvoyDelivery {
        verbatim,
        identity: Some(agent.map_or_else(|| identity.clone(), |agent| agent.named(&identity))),
        bootstrap: bootstrap::start(instance),
        ..EnvoyDelivery::default()
    };
    let mail = of.mail.clone();
    let known = ProxyState { object: instance.object, service: service::answer(instance), bootstrap: bootstrap::bootstrap(instance), mail };
    Built { merged: of.instance.clone(), state: Arc::new(known), ir: Arc::new(Ir { delivery, ..Ir::default() }), failure }
}

/// Compiles one proxy of a cluster from scratch.
fn compile_proxy(state: &Arc<State>, stages: &Stages, instance: &Arc<Instance>) -> Option<Built> {
    let default_deny = denies(state, &stages.options);
    let mut data = Catalog::new(state.clone(), stages.peers.clone(), default_deny);
    let mut manager = Manager::default();
    manager.register(&instance.id, Arc::new(service::merged(instance, &state.entries)));
    manager.run(&mut data);
    manager.snapshot(&instance.id).map(|snapshot| build(&snapshot, default_deny, state.agent.as_ref()))
}

/// For larger inputs, documents are not applied again without one of them, so later refusals by Consul are not detected.
const MOST_APPLIED_AGAIN: usize = 64;

/// A proxy with more clusters than this counts as several proxies in the budget of [`is_needed`].
const CLUSTERS_OF_A_PROXY: usize = 50;

/// Whether a gateway of the side would get other resources without a config entry. `None` if the budget is used up: the number of proxies that may be
/// compiled again.
pub(super) fn is_needed(stages: &Stages, side: SideRef<'_>, object: ObjectId, readers: &BTreeSet<ObjectId>, budget: &mut usize) -> Option<bool> {
    if *budget == 0 || !stages.state.entries.values().any(|entry| entry.object == object) {
        return None;
    }
    let of_readers: Vec<&Gateway> = side.side.gateways.iter().filter(|gateway| gateway.owner.is_some_and(|owner| readers.contains(&owner))).collect();
    // Without a reader, a proxy may still use it: intentions name upstreams of transparent proxies.
    if of_readers.is_empty() {
        return None;
    }
    let state = if side.objects().len() <= MOST_APPLIED_AGAIN {
        let mut objects = side.objects().clone();
        objects.retain(|of| of.id != object);
        State::of(&objects, DATACENTER)
    } else {
        let mut state = State::clone(&stages.state);
        state.entries.retain(|_, entry| entry.object != object);
        state
    };
    let state = Arc::new(state);
    let served: BTreeMap<Str, Arc<Instance>> = state.served().into_iter().collect();
    for gateway in of_readers {
        let (Outcome::Runs(ir), Some(instance)) = (&gateway.outcome, served.get(gateway.id.as_str())) else { continue };
        *budget = budget.saturating_sub(1 + ir.delivery.verbatim.clusters.len() / CLUSTERS_OF_A_PROXY);
        let after = compile_proxy(&state, stages, instance)?.ir;
        let after = &after.delivery;
        if ir.delivery.identity != after.identity || !same(&ir.delivery.verbatim, &after.verbatim) {
            return Some(true);
        }
    }
    Some(false)
}

/// Whether a proxy has the same values, regardless of origins.
fn same(a: &Verbatim, b: &Verbatim) -> bool {
    let all = |of: &Verbatim| [of.listeners.clone(), of.routes.clone(), of.clusters.clone(), of.endpoints.clone()];
    let same = |a: &Vec<Arc<Tree>>, b: &Vec<Arc<Tree>>| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.node() == b.node());
    all(a).iter().zip(&all(b)).all(|(a, b)| same(a, b))
}

/// The chain of a service without a specific proxy's view.
fn plain_chain(state: &State, service: &Str) -> Option<Chain> {
    let request = Request { service: service.clone(), datacenter: state.datacenter.clone(), ..Request::default() };
    let mut chain = chain::compile(&Set::of(&state.entries), &request).ok()?;
    chain.virtual_ip = state.virtual_ips.get(service).cloned();
    Some(chain)
}

/// The chains of all services that are mentioned.
pub(super) fn chains(state: &State) -> Tree {
    let kinds = [Kind::ServiceDefaults, Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver];
    let configured = state.entries.values().filter(|entry| kinds.contains(&entry.kind) && entry.name != "*").map(|entry| entry.name.clone());
    let typical = state.here().filter(|instance| instance.kind.is_empty()).map(|instance| instance.service.clone());
    let upstreams = state.here().flat_map(|instance| instance.proxy.get("Upstreams").items());
    let upstreams = upstreams.filter(|upstream| !upstream.get("DestinationType").is("prepared_query"));
    let upstreams = upstreams.map(|upstream| upstream.get("DestinationName").str());
    let all: BTreeSet<Str> = configured.chain(typical).chain(upstreams).collect();
    Tree::object(all.iter().filter_map(|name| Some((name.clone(), answer_of(state, &plain_chain(state, name)?)))))
}

/// A chain in the API's form, with the origins of its nodes and targets.
fn answer_of(state: &State, chain: &Chain) -> Tree {
    let entry = |kind, service: &str| state.tree(kind, service).origin;
    let resolver = |target: &str| chain.targets.get(target).and_then(|target| entry(Kind::ServiceResolver, &target.service));
    let mut out = chain::answer(chain);
    for (key, node) in &chain.nodes {
        let service = node.name.split('.').next().unwrap_or_default();
        let origin = match &node.kind {
            NodeKind::Router(_) => entry(Kind::ServiceRouter, service),
            NodeKind::Splitter(_) => entry(Kind::ServiceSplitter, service),
            NodeKind::Resolver(found) => resolver(&found.target),
        };
        out.trace(&["Nodes", key], origin);
    }
    for (id, target) in &chain.targets {
        // A target that only a failover names has the failover as its origin.
        let leads = |node: &chain::Node| match &node.kind {
            NodeKind::Resolver(found) if found.failover.contains(id) => {
                let from = chain.targets.get(&found.target)?;
                state.tree(Kind::ServiceResolver, &from.service).get("Failover").origin
            }
            _ => None,
        };
        let origin = target.definition.origin.or_else(|| chain.nodes.values().find_map(leads)).or_else(|| resolver(id));
        out.trace(&["Targets", id], origin);
    }
    out
}
