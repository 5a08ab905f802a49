//! Runs `chancery serve`: starts its parts, and ends them together. If one part fails, the process ends instead of serving half.

use crate::Failure;
use crate::admission::{Admission, Reviewer};
use crate::arm::apply::{self, Allowed};
use crate::arm::plan::Fingerprint;
use crate::arm::source::Reader;
use crate::controllers::lease::{self, Holder, Leading};
use crate::controllers::writer::Writer;
use crate::engine::{Engine, Settings};
use crate::event::{Event, Events, FindingLine, Server};
use crate::http::{self, HttpServer};
use crate::port::Port;
use crate::ports::{self, Ports};
use crate::proxies::Proxies;
use crate::proxies::file::ProxyFile;
use crate::replicas::Replicas;
use crate::replicas::membership::Membership;
pub use crate::servers::Servers;
use crate::sources::Source;
use crate::worker::build::{Build, withheld_events};
use crate::xds::clients::{Clients, Rejected};
use crate::xds::identity::Identities;
use crate::xds::server::Xds;
use crate::xds::snapshot::Snapshot;
use crate::xds::tls::Tls;
use chancery_core::backend::envoy::v3::Service;
use chancery_core::compilation::Serving;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The most withheld resources of one build that are logged.
const MOST_LOGGED: usize = 10;

/// How a cluster is written.
#[derive(Clone, Debug)]
pub struct Writing {
    /// The cluster.
    pub cluster: crate::sources::kube::Settings,
    /// Whether statuses that other controllers write are overwritten.
    pub take_over: bool,
    /// The Lease of the replica that writes; `None` for a single replica.
    pub lease: Option<String>,
    /// The name of this replica.
    pub replica: String,
    /// The kinds of writes.
    pub writes: crate::controllers::run::Writes,
}

/// An Application Gateway that is changed in Azure.
#[derive(Clone, Debug)]
pub struct Applying {
    /// The gateway, and the client that reads and changes it.
    pub reader: Arc<Reader>,
    /// What the user allows.
    pub allowed: Allowed,
    /// The Lease of the replica that changes it; `None` for a single replica.
    pub lease: Option<Leasing>,
}

/// The Lease that elects the replica that writes.
#[derive(Clone, Debug)]
pub struct Leasing {
    /// The cluster of the Lease.
    pub cluster: crate::sources::kube::Settings,
    pub name: String,
    /// The name of this replica.
    pub replica: String,
}

/// How long streams may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// Reports the changes of each build as events.
#[derive(Default)]
pub struct Reporter {
    findings: Option<BTreeSet<crate::event::FindingLine>>,
    /// The wanted and the present state of an Application Gateway at the last report.
    planned: Option<(Fingerprint, Fingerprint)>,
    /// The gateway that was reported to have no input.
    unplanned: Option<String>,
}

/// The most names of resources that one event has.
const MOST_NAMES: usize = 100;
/// The most findings of one kind that one event has. The timeline keeps events, so they must stay small.
const MOST_FINDINGS: usize = 100;

impl Reporter {
    /// Returns how an Application Gateway differs from a build, unless that was reported last.
    pub fn planned(&mut self, build: &Build) -> Option<Event> {
        if self.unplanned != build.unplanned {
            self.unplanned.clone_from(&build.unplanned);
            self.planned = None;
            if let Some(gateway) = build.unplanned.clone() {
                let message = "no Ingress is for it, so nothing is compared and nothing is changed; an Ingress for it has the annotation \
                               `kubernetes.io/ingress.class: azure/application-gateway` or an IngressClass of that controller, or all are with \
                               `--dialect ingress`";
                return Some(Event::Unplanned { gateway, message: message.into() });
            }
        }
        let plan = build.plan.as_ref()?;
        if self.planned.replace((plan.wanted, plan.present)) == Some((plan.wanted, plan.present)) {
            return None;
        }
        let count = |change: &str| plan.parts.iter().filter(|part| part.change == change).count();
        Some(Event::Planned {
            gateway: plan.gateway.clone(),
            version: plan.version(),
            compared: plan.is_compared,
            added: count("added"),
            changed: count("changed"),
            removed: count("removed"),
            kept: plan.kept,
            parts: plan.parts.iter().take(MOST_NAMES).cloned().collect(),
        })
    }

    pub fn event(&mut self, build: &Build) -> Event {
        let findings = build.findings();
        let before = self.findings.replace(findings.clone());
        // The first build reads every input; none of them was edited.
        let edited = if before.is_some() { build.edited.clone() } else { Vec::new() };
        let before = before.unwrap_or_default();
        let bounded = |all: &mut dyn Iterator<Item = &FindingLine>| all.take(MOST_FINDINGS).cloned().collect();
        let changed = build.changed();
        Event::Build {
            version: build.version.clone(),
            took_ms: build.took.as_millis() as u64,
            inputs: build.inputs,
            errors: build.errors,
            changes: build.changes,
            edited,
            found_count: findings.difference(&before).count(),
            fixed_count: before.difference(&findings).count(),
            found: bounded(&mut findings.difference(&before)),
            fixed: bounded(&mut before.difference(&findings)),
            resources: changed.iter().map(|(list, names)| (list.clone(), names.iter().take(MOST_NAMES).cloned().collect())).collect(),
            changed: changed.into_iter().map(|(list, names)| (list, names.len())).collect(),
            requests: Vec::new(),
        }
    }
}

/// Starts the webhook.
async fn review(admission: &Admission, shared: &http::Shared, parts: &mut JoinSet<Result<(), Failure>>) -> Result<(), Failure> {
    let tls = Arc::new(Tls::new(admission.tls.clone())?);
    let Some((listener, local)) = admission.address.bind("--admission").await? else { return Ok(()) };
    let reviewer = Arc::new(Reviewer::new(shared.options.clone(), shared.builds.clone(), &admission.deny));
    shared.events.publish(Event::Listening { server: Server::Admission, address: local.to_string() });
    parts.spawn(crate::admission::serve(listener, tls, reviewer, shared.stop.clone()));
    Ok(())
}

/// Serves until `end`, or until a part fails.
///
/// # Errors
///
/// An address is in use, a certificate cannot be read, or a part has failed.
pub async fn serve(
    settings: Settings,
    mut sources: Vec<Box<dyn Source>>,
    servers: &Servers,
    writing: Option<&Writing>,
    applying: Option<&Applying>,
    end: impl Future<Output = ()> + Send,
) -> Result<(), Failure> {
    let events = settings.events.clone();
    let (stop, stopping) = watch::channel(false);
    let proxies = Proxies::new(servers.canary, events.clone());
    let clients = Clients::new(events.clone());
    let identities = Identities::default();
    let file = servers.proxies.clone().map(|path| ProxyFile::open(path, proxies.of_file(), identities.clone())).transpose()?;
    if identities.has_rules() && servers.tls.as_ref().is_none_or(|files| files.client_ca.is_none()) {
        return Err("the file of proxies has identities, so Envoys must show certificates: give --xds-client-ca".into());
    }
    let (latest, builds) = watch::channel(None::<Arc<Build>>);
    let tls = servers.tls.clone().map(Tls::new).transpose()?.map(Arc::new);
    let options = settings.options.clone();
    let (written, applied) = (builds.clone(), builds.clone());
    let (mut listeners, ports) = ports::bind(servers, &events).await?;
    let certificates = tls.clone();
    let publish = publisher(proxies.clone(), clients.clone(), latest, events.clone(), ports);
    let tokens = crate::sources::tokens(&sources);
    let replicas = share(servers, listeners.get(Server::Ready.name()), &mut sources)?;
    let mut engine = Engine::start_replica(settings, sources, replicas.clone(), publish)?;
    let shared = http::Shared {
        options,
        builds,
        clients: clients.clone(),
        proxies: proxies.clone(),
        replicas: replicas.clone(),
        events,
        states: engine.states.clone(),
        metrics: engine.metrics.clone(),
        intake: engine.intake.clone(),
        token: servers.token.clone(),
        with_secrets: servers.with_secrets,
        page: servers.page,
        stop: stopping.clone(),
    };
    let mut parts: JoinSet<Result<(), Failure>> = JoinSet::new();
    if let Some(admission) = &servers.admission {
        review(admission, &shared, &mut parts).await?;
    }
    if let Some(port) = listeners.remove(Server::Xds.name()) {
        let xds = Xds { proxies, clients: clients.clone(), stop: stopping.clone(), identities, tokens, ttl: servers.ttl, replicas };
        parts.spawn(async move { xds.serve(port.into_listener(), tls).await.map_err(|error| format!("the xDS server has stopped: {error}").into()) });
    }
    for server in [HttpServer::Diagnostics, HttpServer::Snapshots, HttpServer::PublicSnapshots, HttpServer::Ready] {
        if let Some(port) = listeners.remove(server.server().name()) {
            parts.spawn(http::serve(port, server, shared.clone()));
        }
    }
    if let Some(tls) = certificates {
        let (states, events) = (engine.states.clone(), engine.events.clone());
        parts.spawn(until(stopping.clone(), async move {
            tls.watch(states, events).await;
            Ok(())
        }));
    }
    if let Some(file) = file {
        parts.spawn(until(stopping.clone(), file.follow()));
    }
    let leading = match lease_of(writing, applying) {
        Some(lease) => Some(lead(&lease, &mut parts).await?),
        None => None,
    };
    if let Some(writing) = writing {
        parts.spawn(write(writing.clone(), written, clients.clone(), leading.clone()));
    }
    if let Some(Applying { reader, allowed, .. }) = applying {
        parts.spawn(apply::run(applied, reader.clone(), engine.intake.clone(), engine.events.clone(), *allowed, leading.clone()));
    }
    // The Lease is released when no part of this process writes any more.
    drop(leading);
    tokio::pin!(end);
    let mut finite = false;
    let outcome = loop {
        tokio::select! {
            () = &mut end => break Ok(()),
            // After a source ends, its inputs are still served.
            failure = engine.wait_for_end(), if !finite => match failure {
                Some(failure) => break Err(failure),
                None => finite = true,
            },
            ended = parts.join_next(), if !parts.is_empty() => break Err(match ended {
                Some(Ok(Err(failure))) => failure,
                Some(Err(error)) => format!("a server has stopped: {error}").into(),
                Some(Ok(Ok(()))) | None => "a server has stopped".into(),
            }),
        }
    };
    // Every part may have ended already.
    let _ = stop.send(true);
    engine.stop();
    let _ = tokio::time::timeout(GRACE, async { while parts.join_next().await.is_some() {} }).await;
    outcome
}

/// Adds the source that finds the other replicas, if gateways are shared with them.
fn share(servers: &Servers, ready: Option<&Port>, sources: &mut Vec<Box<dyn Source>>) -> Result<Replicas, Failure> {
    if servers.replicas.is_empty() {
        return Ok(Replicas::default());
    }
    let ready = ready.and_then(|port| port.listener.local_addr().ok());
    let ready = ready.ok_or("replicas check each other by their readiness servers: give --ready an address that the others can reach")?;
    let replicas = Replicas::shared();
    sources.push(Box::new(Membership::new(replicas.clone(), servers.replicas.clone(), ready.port())));
    Ok(replicas)
}

/// Ends a part that never ends by itself when the process stops.
async fn until(mut stop: watch::Receiver<bool>, part: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    tokio::select! {
        ended = part => ended,
        // An error means that the sender is gone: stop as well.
        _ = stop.wait_for(|stop| *stop) => Ok(()),
    }
}

/// Writes into a cluster as long as the process runs.
async fn write(writing: Writing, builds: watch::Receiver<Option<Arc<Build>>>, clients: Clients, leading: Option<Leading>) -> Result<(), Failure> {
    let (client, _) = crate::sources::kube::connect(&writing.cluster).await?;
    let writer = Writer::new(client, writing.take_over);
    let (out, rejected) = watch::channel(Rejected::default());
    tokio::select! {
        ended = crate::controllers::run::run(builds, rejected, writer, leading, writing.writes) => ended,
        () = clients.watch_rejections(out) => Ok(()),
    }
}

/// Returns the Lease that elects the replica that writes, if there is one.
fn lease_of(writing: Option<&Writing>, applying: Option<&Applying>) -> Option<Leasing> {
    let of_writing = writing.and_then(|of| Some(Leasing { cluster: of.cluster.clone(), name: of.lease.clone()?, replica: of.replica.clone() }));
    of_writing.or_else(|| applying.and_then(|of| of.lease.clone()))
}

/// Renews a Lease as long as a part of the process uses it.
async fn lead(lease: &Leasing, parts: &mut JoinSet<Result<(), Failure>>) -> Result<Leading, Failure> {
    let (client, namespace) = crate::sources::kube::connect(&lease.cluster).await?;
    let (leading, kept) = lease::keep(Holder::new(client, &namespace, &lease.name, &lease.replica));
    parts.spawn(async move {
        kept.await;
        Ok(())
    });
    Ok(leading)
}

/// Returns the name of this replica: in a pod, that of the pod.
#[must_use]
pub fn identity() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "chancery".into());
    format!("{host}-{}", std::process::id())
}

/// Logs whether a controller's own configuration takes effect, if that changed.
fn log_serving(build: &Build, before: &mut BTreeMap<&'static str, Serving>) {
    for side in &build.compilation.sides {
        let Some(state) = &side.answers.controller_state else { continue };
        let dialect = side.dialect.name;
        let serving = if build.on_defaults.contains(dialect) { Serving::Defaults } else { state.serving };
        let known = before.insert(dialect, serving);
        match serving {
            now if known == Some(now) => {}
            Serving::Ready if known.is_none() => {}
            Serving::Ready => tracing::info!(dialect, "the controller's configuration is valid and takes effect"),
            Serving::Defaults if build.on_defaults.contains(dialect) => {
                tracing::warn!(dialect, "the controller's configuration was deleted: its defaults take effect");
            }
            Serving::Defaults => tracing::error!(dialect, "the controller's configuration does not exist: nothing is served until it does"),
            Serving::Unready => {
                tracing::error!(dialect, "nothing new is served: {}", state.error.as_deref().unwrap_or("the configuration is invalid"))
            }
        }
    }
}

/// Counts the listeners of each gateway.
fn listeners(build: &Build) -> BTreeMap<Arc<str>, usize> {
    let url = Service::Listeners.type_url();
    let count = |snapshot: &Snapshot| snapshot.get(&url).map_or(0, |listeners| listeners.by_name.len());
    build.gateways.iter().map(|gateway| (gateway.id.clone(), count(&gateway.snapshot))).collect()
}

/// Returns the function that publishes builds: first to Envoys, then to all others.
pub(crate) fn publisher(
    proxies: Proxies,
    clients: Clients,
    latest: watch::Sender<Option<Arc<Build>>>,
    events: Events,
    mut ports: Ports,
) -> impl FnMut(&Arc<Build>) -> Result<(), String> + Send + 'static {
    let mut reporter = Reporter::default();
    let mut reported: BTreeSet<String> = BTreeSet::new();
    let mut serving: BTreeMap<&'static str, Serving> = BTreeMap::new();
    let mut had: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    move |build| {
        log_serving(build, &mut serving);
        let has = listeners(build);
        let before = std::mem::replace(&mut had, has);
        events.hold_back(build.compilation.redactor());
        ports.make_room(build);
        let newest: BTreeMap<Arc<str>, Arc<Snapshot>> = build.gateways.iter().map(|gateway| (gateway.id.clone(), gateway.snapshot.clone())).collect();
        clients.set_newest(&newest);
        proxies.publish_share(newest, build.elsewhere.keys().cloned().collect());
        latest.send_replace(Some(build.clone()));
        events.publish(reporter.event(build));
        for (gateway, listeners) in before.into_iter().filter(|(_, listeners)| *listeners > 0) {
            // If a gateway is gone, its Envoys keep their configuration.
            if had.get(&gateway) == Some(&0) {
                tracing::error!(gateway = &*gateway, listeners, "the Envoys of a gateway lose all their listeners");
                events.publish(Event::Emptied { gateway: gateway.to_string(), listeners });
            }
        }
        reporter.planned(build).into_iter().for_each(|event| events.publish(event));
        let (mut now, mut withheld) = (BTreeSet::new(), 0);
        for event in build.gateways.iter().flat_map(withheld_events) {
            // A withheld resource is reported again only if it was sent meanwhile.
            let text = serde_json::to_string(&event).unwrap_or_default();
            if !reported.contains(&text) {
                if withheld < MOST_LOGGED {
                    log_withheld(&event, &events);
                }
                withheld += 1;
                events.publish(event);
            }
            now.insert(text);
        }
        if withheld > MOST_LOGGED {
            tracing::error!(more = withheld - MOST_LOGGED, "more resources are not sent");
        }
        reported = now;
        Ok(())
    }
}

/// Logs that a resource is not sent.
fn log_withheld(event: &Event, events: &Events) {
    let Event::Withheld { r#type, resource, message, places, gateway } = event else { return };
    let kind = r#type.rsplit('.').next().unwrap_or(r#type);
    let place = places.first().map(|place| format!(" ({}:{})", place.file, place.line)).unwrap_or_default();
    tracing::error!(gateway, "{kind} {resource} is not sent, because {}{place}", events.scrubbed(message));
}
