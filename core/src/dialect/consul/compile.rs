//! The whole, from text to what each proxy gets.
//!
//! What must not be here: any of the stages.

use super::chain::{self, Chain, Request, Set};
use super::entry::Kind;
use super::instance::Instance;
use super::proxycfg::{self, Mailbox, Source};
use super::state::{DATACENTER, State};
use super::xds::{self, Context, Failure};
use super::{Options, documents, registration, service};
use crate::config::Answer;
use crate::diagnostic::{Diagnostic, Place};
use crate::ir::{Ir, Tree, Verbatim};
use crate::resource::{DocumentCache, Inputs, Objects};
use crate::text::Str;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What a proxy gets.
#[derive(Clone, Debug, Default)]
pub struct Proxy {
    /// Its id.
    pub id: Str,
    /// Envoy's resources.
    pub ir: Ir,
    /// Answers that are about this proxy: `service`, `bootstrap`.
    pub answers: BTreeMap<&'static str, Answer>,
}

/// What was compiled.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// The documents.
    pub objects: Objects,
    /// The registered proxies, in the order of their registration.
    pub proxies: Vec<Proxy>,
    /// Answers that are about no proxy: `chain`, `entries`.
    pub answers: BTreeMap<&'static str, Answer>,
    /// What was found.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles an input.
#[must_use]
pub fn compile(inputs: &Inputs, options: &Options, cache: &mut DocumentCache) -> Compiled {
    let (objects, mut diagnostics) = documents::load(inputs, cache);
    let mut state = State::of(&objects, DATACENTER);
    let value = |tree: &Tree| Answer::Value(tree.node());
    let answers = BTreeMap::from([("entries", value(&state.answer())), ("chain", value(&chains(&state)))]);
    let local: Vec<Arc<Instance>> = state.here().filter(|instance| instance.local && is_proxy(instance)).cloned().collect();
    let peers: BTreeMap<Str, State> = options.peers.iter().map(|(name, inputs)| (name.clone(), peer(inputs, &name.clone()))).collect();
    let mut proxies = Vec::new();
    for instance in &local {
        let merged = service::merged(instance, &state.entries);
        let answers = BTreeMap::from([("service", value(&service::answer(&merged)))]);
        let source = Source { home: &state, peers: &peers, default_deny: options.default_deny };
        let verbatim = match resources(&merged, &source) {
            Ok(verbatim) => verbatim,
            Err(failure) => {
                let place = failure.origin.map(|origin| Place::origin(origin));
                state.report_proxy(&merged, &failure.message, place);
                Verbatim::default()
            }
        };
        proxies.push(Proxy { id: instance.id.clone(), ir: Ir { verbatim, ..Ir::default() }, answers });
    }
    diagnostics.append(&mut state.diagnostics);
    Compiled { objects, proxies, answers, diagnostics }
}

/// What a peered cluster holds.
fn peer(inputs: &Inputs, name: &str) -> State {
    let (objects, _) = documents::load(inputs, &mut DocumentCache::default());
    State::of(&objects, &format!("{name}-dc"))
}

/// What a proxy gets.
fn resources(instance: &Instance, source: &Source<'_>) -> Result<Verbatim, Failure> {
    let Some(proxy) = proxycfg::Proxy::of(instance) else { return Ok(Verbatim::default()) };
    let mail = Mailbox::settle(proxy.machine(), source);
    xds::resources(&Context { instance, mail: &mail, proxy: &proxy, default_deny: source.default_deny })
}

/// Whether it has an Envoy.
fn is_proxy(instance: &Instance) -> bool {
    instance.kind == "connect-proxy" || registration::is_gateway(&instance.kind)
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
    let all: BTreeSet<Str> = configured.chain(typical).chain(upstreams).collect();
    Tree::object(all.iter().filter_map(|name| Some((name.clone(), chain::answer(&plain_chain(state, name)?)))))
}
