//! `chancery serve`: inputs from sources, resources to Envoys, answers to people.
//!
//! What must not be here: parts; they are put together here, and ended together: where one of them dies, the process ends instead of serving
//! half.

use crate::Failure;
use crate::address::Address;
use crate::arm::apply::{self, Allowed};
use crate::arm::plan::Fingerprint;
use crate::arm::source::Reader;
use crate::controllers::lease::{self, Holder, Leading};
use crate::controllers::writer::Writer;
use crate::engine::{Engine, Settings};
use crate::event::{Event, Events, Server};
use crate::http::{self, Door};
use crate::ports::{self, Ports};
use crate::proxies::Proxies;
use crate::proxies::file::ProxyFile;
use crate::sources::Source;
use crate::worker::build::{Build, withheld_events};
use crate::xds::clients::{Clients, Rejected};
use crate::xds::identity::Identities;
use crate::xds::server::Xds;
use crate::xds::snapshot::Snapshot;
use crate::xds::tls::{Files, Tls};
use chancery_core::backend::envoy::v3::Service;
use chancery_core::compilation::Serving;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Where servers listen, and how.
#[derive(Clone, Debug)]
pub struct Servers {
    /// Envoys.
    pub xds: Address,
    /// The page, the API, metrics.
    pub diagnostics: Address,
    /// Snapshots.
    pub snapshots: Address,
    /// Snapshots, redacted.
    pub public_snapshots: Address,
    /// Whether we are ready.
    pub ready: Address,
    /// Certificates of the xDS server.
    pub tls: Option<Files>,
    /// Snapshots have key material; public ones never do.
    pub with_secrets: bool,
    /// The token that whoever asks from another machine must bring.
    pub token: Option<String>,
    /// A file of proxies and of what certificates may ask for.
    pub proxies: Option<std::path::PathBuf>,
    /// A change goes to one Envoy of a gateway first.
    pub canary: bool,
    /// How long Envoys keep what they got where they hear nothing more of us; for ever where there is none.
    pub ttl: Option<Duration>,
    /// The playground, where this program holds it: the page of people then.
    pub page: Option<http::playground::Files>,
}

/// What is written into a cluster.
#[derive(Clone, Debug)]
pub struct Writing {
    /// Which cluster.
    pub cluster: crate::sources::kube::Settings,
    /// What other controllers write is written all the same.
    pub take_over: bool,
    /// The lease that the one of several replicas holds that writes; none where there is one only.
    pub lease: Option<String>,
    /// Which replica this is.
    pub replica: String,
    /// What is written.
    pub writes: crate::controllers::run::Writes,
}

/// An Application Gateway that is changed in Azure.
#[derive(Clone, Debug)]
pub struct Applying {
    /// Which, and who reads and changes it.
    pub reader: Arc<Reader>,
    /// What a person allows.
    pub allowed: Allowed,
    /// The lease that the one of several replicas holds that changes it; none where there is one only.
    pub lease: Option<Leasing>,
}

/// A lease by which one of several replicas writes.
#[derive(Clone, Debug)]
pub struct Leasing {
    /// The cluster that has it.
    pub cluster: crate::sources::kube::Settings,
    /// Its name.
    pub name: String,
    /// Which replica this is.
    pub replica: String,
}

/// How long streams may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// What a build changes, told as an event.
#[derive(Default)]
pub struct Reporter {
    findings: Option<BTreeSet<crate::event::FindingLine>>,
    /// What was wanted of an Application Gateway, and how it was.
    planned: Option<(Fingerprint, Fingerprint)>,
    /// The gateway of which it was reported that no input is for it.
    unplanned: Option<String>,
}

/// The most names of resources that one event tells.
const MOST_NAMES: usize = 100;

impl Reporter {
    /// How an Application Gateway differs from what a build wants, where that is not what was reported last.
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

    /// The event of a build.
    pub fn event(&mut self, build: &Build) -> Event {
        let findings = build.findings();
        let before = self.findings.replace(findings.clone()).unwrap_or_default();
        let changed = build.changed();
        Event::Build {
            version: build.version.clone(),
            took_ms: build.took.as_millis() as u64,
            inputs: build.inputs,
            errors: build.errors,
            changes: build.changes,
            edited: build.edited.clone(),
            found: findings.difference(&before).cloned().collect(),
            mended: before.difference(&findings).cloned().collect(),
            resources: changed.iter().map(|(list, names)| (list.clone(), names.iter().take(MOST_NAMES).cloned().collect())).collect(),
            changed: changed.into_iter().map(|(list, names)| (list, names.len())).collect(),
            requests: Vec::new(),
        }
    }
}

/// Serves until `end`, or until a part of it dies.
///
/// # Errors
///
/// An address is taken, a certificate cannot be read, or a part has died.
pub async fn serve(
    settings: Settings,
    sources: Vec<Box<dyn Source>>,
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
    let (mut doors, ports) = ports::bind(servers, &events).await?;
    let certificates = tls.clone();
    let publish = publisher(proxies.clone(), latest, events.clone(), ports);
    let tokens = crate::sources::tokens(&sources);
    let mut engine = Engine::start(settings, sources, publish)?;
    let shared = http::Shared {
        options,
        builds,
        clients: clients.clone(),
        proxies: proxies.clone(),
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
    if let Some(port) = doors.remove(Server::Xds.name()) {
        let xds = Xds { proxies, clients: clients.clone(), stop: stopping.clone(), identities, tokens, ttl: servers.ttl };
        parts.spawn(async move { xds.serve(port.into_listener(), tls).await.map_err(|error| format!("the xDS server has stopped: {error}").into()) });
    }
    for door in [Door::Diagnostics, Door::Snapshots, Door::PublicSnapshots, Door::Ready] {
        if let Some(port) = doors.remove(door.server().name()) {
            parts.spawn(http::serve(port, door, shared.clone()));
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
    // The lease is given back when no part of this process writes any more.
    drop(leading);
    tokio::pin!(end);
    let mut finite = false;
    let outcome = loop {
        tokio::select! {
            () = &mut end => break Ok(()),
            // Of sources that have an end, what they told is served on.
            failure = engine.died(), if !finite => match failure {
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
    // Nobody need listen any more.
    let _ = stop.send(true);
    engine.stop();
    let _ = tokio::time::timeout(GRACE, async { while parts.join_next().await.is_some() {} }).await;
    outcome
}

/// A part that has no end of its own ends when the process is to end.
async fn until(mut stop: watch::Receiver<bool>, part: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    tokio::select! {
        ended = part => ended,
        // An error means that the sender is gone: stop as well.
        _ = stop.wait_for(|stop| *stop) => Ok(()),
    }
}

/// Writes statuses, for as long as the process lives.
async fn write(writing: Writing, builds: watch::Receiver<Option<Arc<Build>>>, clients: Clients, leading: Option<Leading>) -> Result<(), Failure> {
    let (client, _) = crate::sources::kube::connect(&writing.cluster).await?;
    let writer = Writer::new(client, writing.take_over);
    let (out, rejected) = watch::channel(Rejected::default());
    tokio::select! {
        ended = crate::controllers::run::run(builds, rejected, writer, leading, writing.writes) => ended,
        () = clients.tell_rejected(out) => Ok(()),
    }
}

/// The lease by which one of several replicas writes, where that is asked for.
fn lease_of(writing: Option<&Writing>, applying: Option<&Applying>) -> Option<Leasing> {
    let of_writing = writing.and_then(|of| Some(Leasing { cluster: of.cluster.clone(), name: of.lease.clone()?, replica: of.replica.clone() }));
    of_writing.or_else(|| applying.and_then(|of| of.lease.clone()))
}

/// Has a lease renewed as long as somebody wants to know who holds it.
async fn lead(lease: &Leasing, parts: &mut JoinSet<Result<(), Failure>>) -> Result<Leading, Failure> {
    let (client, namespace) = crate::sources::kube::connect(&lease.cluster).await?;
    let (leading, kept) = lease::keep(Holder::new(client, &namespace, &lease.name, &lease.replica));
    parts.spawn(async move {
        kept.await;
        Ok(())
    });
    Ok(leading)
}

/// Which replica this process is: in a pod, by its name.
#[must_use]
pub fn identity() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "chancery".into());
    format!("{host}-{}", std::process::id())
}

/// Logs where a controller stands otherwise to its own configuration than one build before.
fn log_serving(build: &Build, before: &mut BTreeMap<&'static str, Serving>) {
    for side in &build.compilation.sides {
        let Some(life) = &side.answers.life else { continue };
        let dialect = side.dialect.name;
        let known = before.insert(dialect, life.serving);
        match life.serving {
            now if known == Some(now) => {}
            Serving::Ready if known.is_none() => {}
            Serving::Ready => tracing::info!(dialect, "the controller's configuration is valid and takes effect"),
            Serving::Defaults => tracing::warn!(dialect, "the controller's configuration does not exist: its defaults take effect"),
            Serving::Unready => {
                tracing::error!(dialect, "nothing new is served: {}", life.error.as_deref().unwrap_or("the configuration is invalid"))
            }
        }
    }
}

/// How many listeners the Envoys of each gateway are to have.
fn listeners(build: &Build) -> BTreeMap<Arc<str>, usize> {
    let url = Service::Listeners.type_url();
    let count = |snapshot: &Snapshot| snapshot.get(&url).map_or(0, |listeners| listeners.by_name.len());
    build.gateways.iter().map(|gateway| (gateway.id.clone(), count(&gateway.snapshot))).collect()
}

/// Hands builds on: first to Envoys, then to all others.
pub(crate) fn publisher(
    proxies: Proxies,
    latest: watch::Sender<Option<Arc<Build>>>,
    events: Events,
    mut ports: Ports,
) -> impl FnMut(&Arc<Build>) -> Result<(), String> + Send + 'static {
    let mut reporter = Reporter::default();
    let mut told: BTreeSet<String> = BTreeSet::new();
    let mut serving: BTreeMap<&'static str, Serving> = BTreeMap::new();
    let mut had: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    move |build| {
        log_serving(build, &mut serving);
        let has = listeners(build);
        let before = std::mem::replace(&mut had, has);
        events.hold_back(build.compilation.redactor());
        ports.make_room(build);
        proxies.publish(build.gateways.iter().map(|gateway| (gateway.id.clone(), gateway.snapshot.clone())).collect());
        latest.send_replace(Some(build.clone()));
        events.tell(reporter.event(build));
        for (gateway, listeners) in before.into_iter().filter(|(_, listeners)| *listeners > 0) {
            // Of a gateway that is gone, Envoys keep what they have.
            if had.get(&gateway) == Some(&0) {
                tracing::error!(gateway = &*gateway, listeners, "the Envoys of a gateway lose all their listeners");
                events.tell(Event::Emptied { gateway: gateway.to_string(), listeners });
            }
        }
        reporter.planned(build).into_iter().for_each(|event| events.tell(event));
        let mut now = BTreeSet::new();
        for event in build.gateways.iter().flat_map(withheld_events) {
            // What was reported once is reported again only when it comes back.
            let text = serde_json::to_string(&event).unwrap_or_default();
            if !told.contains(&text) {
                events.tell(event);
            }
            now.insert(text);
        }
        told = now;
        Ok(())
    }
}
