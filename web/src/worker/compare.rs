//! Compares the current work with other work or with a pasted text. Does not find the differences; see `chancery_core::compare`.

use crate::languages::{inputs, requested};
use crate::protocol::{Comparison, Other};
use crate::worker::common::options;
use crate::worker::configs::Configs;
use chancery_core::backend::{OutputMap, envoy};
use chancery_core::compare::{
    AppGatewaySide, Change, ChangeKind, RequestOptions, Requests, Side, SideSource, Written, app_gateway_requests, compare, compare_app_gateways,
    compare_envoy, compare_written, requests,
};
use chancery_core::compilation::{AppGatewayRef, Compilation, Dialect, GatewayId, GatewayRef, Options};
use chancery_core::compile::{Compiler, EmittedByGateway};
use chancery_core::envoy_config::{EnvoyConfig, Running};
use chancery_core::explain::{Positions, Snapshot, share};
use chancery_core::redact::Redactor;
use chancery_core::resource::{Input, Inputs};
use std::sync::Arc;

pub type Changes = Comparison<Vec<Change>, Option<Requests>>;

/// The other state, read once.
pub struct Loaded {
    of: Other,
    state: State,
    /// A short name.
    counterpart: String,
    /// Removes credentials from answers.
    redactor: Redactor,
}

enum State {
    Compiled(Box<Proxies>),
    Running(Box<Running>),
}

/// A compilation with the configuration of each Envoy.
pub struct Proxies {
    compilation: Compilation,
    all: Vec<Proxy>,
}

/// The configuration of one Envoy.
struct Proxy {
    dialect: &'static str,
    id: GatewayId,
    config: Arc<EnvoyConfig>,
    map: OutputMap,
}

impl Proxies {
    pub fn new(compilation: Compilation, emitted: &mut EmittedByGateway, configs: &mut Configs) -> Self {
        let proxy = |gateway: GatewayRef<'_>| Proxy {
            dialect: gateway.side.dialect.name,
            id: gateway.id.clone(),
            config: configs.of(gateway.ir),
            map: envoy::v3::output_map(gateway.ir, &envoy::Options::default(), emitted.of(gateway)),
        };
        let all = compilation.gateways().map(proxy).collect();
        Self { compilation, all }
    }

    fn sides<'a>(&'a self, positions: &'a Positions<'a>) -> impl Iterator<Item = (&'a Proxy, Side<'a>)> {
        let side = |(proxy, gateway): (&'a Proxy, GatewayRef<'a>)| {
            (proxy, Side { config: &proxy.config, source: Some(SideSource { gateway, positions, map: &proxy.map }) })
        };
        self.all.iter().zip(self.compilation.gateways()).map(side)
    }
}

/// A change of a whole gateway.
fn whole(change: ChangeKind, name: &str) -> Change {
    Change { change, kind: "gateway".into(), name: name.into(), was: None, note: None, fields: Vec::new(), before: Vec::new(), after: Vec::new() }
}

impl Loaded {
    /// Reads the other state. Resources without options use the current options. Uses the compiler of the current state, so that equal parts share
    /// memory.
    pub fn new(of: Other, present: &Options, dialects: &'static [&'static Dialect], compiler: &mut Compiler) -> Result<Self, String> {
        let mut compiled = |inputs: &Inputs, options: &Options| {
            let compilation = compiler.compile(inputs, &options.clone().of_any_dialect());
            State::Compiled(Proxies::new(compilation, &mut compiler.emitted, &mut Configs::default()).into())
        };
        let (state, counterpart) = match &of {
            Other::Work(work) => {
                let inputs = inputs(&work.files);
                let wanted = requested(&inputs, work);
                (compiled(&inputs, &options(work, wanted, dialects)?), String::new())
            }
            Other::Text(text) => {
                let snapshot = match share::open(text.trim()).filter(|_| !text.trim().contains('\n')) {
                    Some(snapshot) => Some(snapshot.map_err(|why| format!("The link {why}."))?),
                    None if Snapshot::is_one(text) => Some(Snapshot::read(text).map_err(|why| format!("The text {why}."))?),
                    None => None,
                };
                if let Some(snapshot) = snapshot {
                    (compiled(&snapshot.inputs(), &snapshot.options), "the snapshot".into())
                } else if Running::is_one(text) {
                    let running = Running::read(text).map_err(|why| format!("The text {why}."))?;
                    let version = running.envoy_version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
                    (State::Running(Box::new(running)), format!("the running Envoy{version}"))
                } else {
                    let input = Input { name: "pasted.yaml".into(), text: text.as_str().into() };
                    let state = compiled(&Inputs::from(Vec::from([input])), present);
                    if matches!(&state, State::Compiled(of) if of.compilation.objects.iter().all(|object| object.key.kind.is_empty())) {
                        return Err("The text contains no resource and is not a response of /config_dump, a bootstrap, a snapshot or a link.".into());
                    }
                    (state, "the pasted resources".into())
                }
            }
        };
        let redactor = match &state {
            State::Compiled(of) => of.compilation.redactor(),
            State::Running(running) => running.redactor.clone(),
        };
        Ok(Self { of, state, counterpart, redactor })
    }

    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    pub fn is(&self, of: &Other) -> bool {
        self.of == *of
    }

    /// Compares the current state with it. Compares a running Envoy with the shown gateway.
    pub fn compare(&self, now: &Proxies, shown: Option<usize>) -> Changes {
        let positions = now.compilation.positions();
        let (resources, envoy, changed, uncompared) = match &self.state {
            State::Compiled(before) => {
                let (resources, envoy, changed) = compare_compilations(before, now);
                (resources, envoy, changed, Vec::new())
            }
            // A running Envoy also has its own resources, for example admin listeners. Do not report them as removed.
            State::Running(running) => {
                let after = now.sides(&positions).nth(shown.unwrap_or_default());
                let found = after.map(|(_, after)| compare(&Side { config: &running.config, source: None }, &after)).unwrap_or_default();
                (found.resources, found.envoy, None, found.uncompared.sentences())
            }
        };
        Comparison {
            with: self.counterpart.clone(),
            resources,
            envoy,
            requests: changed,
            notes: uncompared.into_iter().chain(self.notes()).collect(),
        }
    }

    fn notes(&self) -> Vec<String> {
        let State::Running(running) = &self.state else { return Vec::new() };
        let refused = running.refused.iter().map(|refused| format!("Envoy rejected the {} {}: {}", refused.kind, refused.name, refused.details));
        let warming = running.warming.iter().map(|(kind, name)| format!("The {kind} {name} is warming: Envoy does not use it yet."));
        let unknown = running.unknown_types.iter().map(|name| format!("The type {name} is unknown and was not compared."));
        refused.chain(warming).chain(unknown).collect()
    }
}

/// Compares two compilations: resources, Envoy configurations and results of requests. If each has one gateway, compares these two. Otherwise
/// compares gateways of the same controller with the same id.
fn compare_compilations(before: &Proxies, now: &Proxies) -> (Vec<Change>, Vec<Change>, Option<Requests>) {
    let (old_positions, new_positions) = (before.compilation.positions(), now.compilation.positions());
    let sides = before.compilation.sides().next().zip(now.compilation.sides().next());
    let written = sides.map(|(old, new)| (Written { of: old, positions: &old_positions }, Written { of: new, positions: &new_positions }));
    let resources = written.map(|(old, new)| compare_written(&old, &new)).unwrap_or_default();
    let (old, new): (Vec<_>, Vec<_>) = (before.sides(&old_positions).collect(), now.sides(&new_positions).collect());
    let only = old.len() == 1 && new.len() == 1;
    let is_same = |one: &Proxy, other: &Proxy| only || (one.dialect == other.dialect && one.id == other.id);
    let label = |of: &Side<'_>| of.source.and_then(|source| source.gateway.label()).filter(|_| !only);
    let (mut envoy, mut all) = (Vec::new(), None::<Requests>);
    for (proxy, after) in &new {
        let prefix = label(after);
        let Some((_, before)) = old.iter().find(|(of, _)| is_same(of, proxy)) else {
            envoy.push(whole(ChangeKind::Added, prefix.as_deref().unwrap_or(proxy.id.as_str())));
            continue;
        };
        let changes = compare_envoy(before, after).changes;
        envoy.extend(changes.into_iter().map(|change| Change { name: prefixed(prefix.as_deref(), &change.name), ..change }));
        add(&mut all, requests(before, after, &RequestOptions::default()), prefix.as_deref());
    }
    let gone = old.iter().filter(|(of, _)| !new.iter().any(|(proxy, _)| is_same(of, proxy)));
    envoy.extend(gone.map(|(proxy, _)| whole(ChangeKind::Removed, proxy.id.as_str())));
    for after in now.compilation.app_gateways() {
        let same = |of: &AppGatewayRef<'_>| of.named.id == after.named.id && of.named.of.dialect() == after.named.of.dialect();
        match before.compilation.app_gateways().find(same) {
            Some(before) => {
                let (before, after) = (AppGatewaySide::new(before, &old_positions), AppGatewaySide::new(after, &new_positions));
                envoy.extend(compare_app_gateways(&before, &after));
                add(&mut all, app_gateway_requests(&before, &after), None);
            }
            None => envoy.push(whole(ChangeKind::Added, after.named.id.as_str())),
        }
    }
    (resources, envoy, all)
}

fn prefixed(prefix: Option<&str>, name: &str) -> String {
    prefix.map_or_else(|| name.to_string(), |prefix| format!("{prefix}: {name}"))
}

/// Adds the changes of one gateway's requests to the changes of the other gateways.
fn add(all: &mut Option<Requests>, mut more: Requests, prefix: Option<&str>) {
    more.changes.iter_mut().for_each(|change| change.requests = prefixed(prefix, &change.requests));
    more.limits.iter_mut().for_each(|limit| *limit = prefixed(prefix, limit));
    match all {
        None => *all = Some(more),
        Some(all) => {
            all.changes.append(&mut more.changes);
            all.limits.append(&mut more.limits);
            all.compared += more.compared;
        }
    }
}
