//! Follows sources while a user looks at them, with an xDS server that can be switched on and off.
//!
//! A process of `serve` ends with its parts; a session is one of many in a program. If a source can never be read, the session stays and reports
//! that.

use crate::Failure;
use crate::address::Address;
use crate::engine::{Engine, Settings};
use crate::envoys::DriftSource;
use crate::event::{Event, Events, Server, SourceState};
use crate::feed::Feed;
use crate::ports::Ports;
use crate::proxies::Proxies;
use crate::replicas::Replicas;
use crate::serve::publisher;
use crate::sources::{Source, States};
use crate::worker::build::Build;
use crate::worker::intake::Intake;
use crate::xds::clients::Clients;
use crate::xds::identity::Identities;
use crate::xds::server::Xds;
use crate::xds::token::Tokens;
use chancery_core::compilation::Options;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

/// Follows sources until it is dropped.
pub struct Session {
    events: Events,
    states: States,
    intake: Intake,
    clients: Clients,
    proxies: Proxies,
    builds: watch::Receiver<Option<Arc<Build>>>,
    options: Options,
    tokens: Tokens,
    xds: Option<Serving>,
    /// Stops the engine when it is dropped.
    _alive: oneshot::Sender<()>,
}

/// A running xDS server.
struct Serving {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Session {
    /// Follows sources. Must be called within a runtime of tokio.
    ///
    /// # Errors
    ///
    /// The system gives no thread.
    pub fn start(settings: Settings, sources: Vec<Box<dyn Source>>) -> Result<Self, Failure> {
        let (events, options) = (settings.events.clone(), settings.options.clone());
        let names: Vec<String> = sources.iter().map(|source| source.name()).collect();
        let proxies = Proxies::new(false, events.clone());
        let (latest, builds) = watch::channel(None);
        let tokens = crate::sources::tokens(&sources);
        let clients = Clients::new(events.clone());
        let publish = publisher(proxies.clone(), clients.clone(), latest, events.clone(), Ports::default());
        let engine = Engine::start(settings, sources, publish)?;
        let (alive, ended) = oneshot::channel();
        let session = Self {
            clients,
            states: engine.states.clone(),
            intake: engine.intake.clone(),
            events,
            proxies,
            builds,
            options,
            tokens,
            xds: None,
            _alive: alive,
        };
        tokio::spawn(follow(engine, names.join(", "), ended));
        Ok(session)
    }

    /// Returns the feed for a page.
    #[must_use]
    pub fn feed(&self) -> Feed {
        Feed::new(self.builds.clone(), &self.events, self.states.clone(), self.clients.clone(), None)
    }

    /// Returns the last build.
    #[must_use]
    pub fn build(&self) -> Option<Arc<Build>> {
        self.builds.borrow().clone()
    }

    /// Whether every source has been read, and the last build has everything that they delivered.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.intake.is_synced() && !self.intake.is_pending() && self.build().is_some()
    }

    /// Returns the kinds that cannot be read, each with the reason.
    #[must_use]
    pub fn unread(&self) -> Vec<String> {
        let is_unread = |status: &crate::sources::Status| matches!(status.state, SourceState::Error | SourceState::Forbidden);
        let all = self.states.all().into_iter().filter(is_unread);
        all.map(|status| format!("{}: {}", status.kind, status.detail.as_deref().unwrap_or(status.state.name()))).collect()
    }

    /// Returns the builds, now and later; `None` before the first.
    #[must_use]
    pub fn builds(&self) -> watch::Receiver<Option<Arc<Build>>> {
        self.builds.clone()
    }

    /// Returns what an Envoy is compared with; `None` before the first build.
    #[must_use]
    pub fn drift_source(&self) -> Option<DriftSource> {
        let latest = self.proxies.subscribe().borrow().clone()?;
        let served = latest.iter().map(|(gateway, rollout)| (gateway.clone(), rollout.newest().clone())).collect();
        Some(DriftSource { build: self.build()?, options: self.options.clone(), served })
    }

    /// Replaces the text of an input by a draft, until `None`.
    pub fn draft(&self, name: &str, text: Option<&str>) {
        self.intake.draft(name, text);
    }

    /// Serves Envoys by xDS, at a loopback address: certificates are served without TLS.
    ///
    /// # Errors
    ///
    /// A server runs already, the address is not a loopback address, or it is in use.
    pub async fn serve_xds(&mut self, port: u16) -> Result<SocketAddr, Failure> {
        if let Some(serving) = &self.xds {
            return Err(format!("Envoys are served on {} already: stop that first", serving.address).into());
        }
        let bound = Address::At(format!("127.0.0.1:{port}")).bind("the port").await?;
        let (listener, address) = bound.ok_or("no address to listen on")?;
        let (stop, stopping) = watch::channel(false);
        let xds = Xds {
            proxies: self.proxies.clone(),
            clients: self.clients.clone(),
            stop: stopping,
            identities: Identities::default(),
            tokens: self.tokens.clone(),
            ttl: None,
            replicas: Replicas::default(),
        };
        // The session ended it.
        let task = tokio::spawn(async move { drop(xds.serve(listener, None).await) });
        self.events.publish(Event::Listening { server: Server::Xds, address: address.to_string() });
        self.xds = Some(Serving { address, stop, task });
        Ok(address)
    }

    /// Returns the address of the xDS server.
    #[must_use]
    pub fn xds(&self) -> Option<SocketAddr> {
        self.xds.as_ref().map(|serving| serving.address)
    }

    /// Stops the xDS server. Envoys keep their configuration.
    pub async fn stop_xds(&mut self) {
        if let Some(mut serving) = self.xds.take() {
            // Streams may end by themselves at once. Aborting the task ends the others.
            let _ = serving.stop.send(true);
            serving.task.abort();
            // The port is free when the task has ended.
            let _ = (&mut serving.task).await;
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Streams may end by themselves. Aborting the task ends the others.
        let _ = self.stop.send(true);
        self.task.abort();
    }
}

/// Keeps the engine running while the session exists, and reports its failure. The last build stays.
async fn follow(mut engine: Engine, name: String, ended: oneshot::Receiver<()>) {
    let mut ended = std::pin::pin!(ended);
    tokio::select! {
        failure = engine.wait_for_end() => {
            if let Some(failure) = failure {
                engine.states.note(&engine.events, &name, &name, SourceState::Error, Some(failure.0));
            }
            // An error means that the session was dropped.
            let _ = ended.await;
        }
        _ = &mut ended => {}
    }
    // Stopping waits for a running build. A worker that panicked has reported that itself.
    let _ = tokio::task::spawn_blocking(move || engine.stop()).await;
}
