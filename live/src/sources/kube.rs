//! Follows an API server. Does not interpret objects; the dialect does.
//!
//! | module | what it holds |
//! |---|---|
//! | [`connect`] | creates a client from a kubeconfig or from a pod's account, and describes failures in one sentence |
//! | [`access`] | the kinds that the server has |
//! | `permissions` | the namespaces in which a kind may be read |
//! | [`follow`] | follows one kind in one place |
//! | `reason` | describes in one sentence why the server cannot be reached |
//!
//! The kinds tables decide which kinds are watched. The source checks at intervals for kinds whose CRD is not installed.
//! If a kind can no longer be read, its objects stay: only objects that the server reports as deleted are removed.

mod access;
mod connect;
mod follow;
mod permissions;
mod reason;
mod settings;

use super::{Outlet, Source};
use crate::Failure;
use crate::event::SourceState;
use access::{Place, ServedKind};
pub use access::{WatchedKind, wanted};
pub use connect::{Context, connect, contexts, namespaces};
use k8s_openapi::api::core::v1::Namespace;
pub use kube::Client;
use permissions::Permissions;
pub use reason::unreachable;
pub use settings::Settings;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How often the available kinds and our permissions are checked.
const LOOK: Duration = Duration::from_secs(10);

/// An API server.
#[derive(Debug)]
pub struct Kube {
    settings: Settings,
}

impl Kube {
    /// Creates a source for this server.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }
}

impl Source for Kube {
    fn name(&self) -> String {
        "kubernetes".into()
    }

    fn run(self: Box<Self>, outlet: Outlet) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>> {
        Box::pin(async move {
            let (client, default_namespace, address) = connect::connect_to(&self.settings).await?;
            let (listed, ready) = mpsc::unbounded_channel();
            let wanted = access::wanted(self.settings.dialect.as_deref());
            let watching = Watching {
                missing: wanted.iter().map(WatchedKind::name).collect(),
                settings: self.settings,
                client,
                default_namespace,
                address,
                outlet,
                wanted,
                followed: BTreeMap::new(),
                tasks: JoinSet::new(),
                listed,
                permissions: Permissions::default(),
                not_installed: BTreeSet::new(),
                synced: false,
            };
            watching.run(ready).await
        })
    }
}

/// The followed kinds and the missing kinds.
struct Watching {
    settings: Settings,
    client: Client,
    default_namespace: String,
    /// The address of the server.
    address: String,
    outlet: Outlet,
    wanted: Vec<WatchedKind>,
    /// The followed kinds, each with its places, and whether each place was listed.
    followed: BTreeMap<String, BTreeMap<Place, bool>>,
    /// Kinds whose existence is still unknown.
    missing: BTreeSet<String>,
    tasks: JoinSet<()>,
    /// Receives each kind and place whose first list is complete.
    listed: mpsc::UnboundedSender<(String, Place)>,
    permissions: Permissions,
    /// Kinds that the API server does not have.
    not_installed: BTreeSet<String>,
    synced: bool,
}

/// Names the kinds that are not installed, in one line.
fn not_installed(kinds: &BTreeSet<String>) -> Option<String> {
    const MOST: usize = 5;
    let named: Vec<&str> = kinds.iter().take(MOST).map(String::as_str).collect();
    let more = if kinds.len() > MOST { format!(" and {} more", kinds.len() - MOST) } else { String::new() };
    let (noun, verb) = if kinds.len() == 1 { ("kind", "is") } else { ("kinds", "are") };
    (!kinds.is_empty()).then(|| format!("{} {noun} {verb} not installed: {}{more}", kinds.len(), named.join(", ")))
}

impl Watching {
    async fn run(mut self, mut ready: mpsc::UnboundedReceiver<(String, Place)>) -> Result<(), Failure> {
        let mut reached = false;
        loop {
            match access::discover(&self.client, &self.wanted).await {
                Ok(found) => {
                    if !reached {
                        self.know_cluster().await;
                    }
                    reached = true;
                    self.take(found).await;
                    self.outlet.state("kubernetes", SourceState::Synced, not_installed(&self.not_installed));
                }
                Err(why) => self.outlet.state("kubernetes", SourceState::Error, Some(format!("{why} ({})", self.address))),
            }
            self.check_synced(reached);
            let pause = tokio::time::sleep(LOOK);
            tokio::pin!(pause);
            loop {
                tokio::select! {
                    () = &mut pause => break,
                    Some((kind, place)) = ready.recv() => {
                        if let Some(listed) = self.followed.get_mut(&kind).and_then(|places| places.get_mut(&place)) {
                            *listed = true;
                        }
                        self.check_synced(reached);
                    }
                    Some(ended) = self.tasks.join_next() => {
                        if let Err(error) = ended {
                            return Err(format!("watching a kind has stopped: {error}").into());
                        }
                    }
                }
            }
        }
    }

    /// Stores the id of the cluster, if namespaces may be read.
    async fn know_cluster(&self) {
        let namespace = self.settings.namespace.as_deref().unwrap_or("default");
        let found = kube::Api::<Namespace>::all(self.client.clone()).get_metadata_opt(namespace).await;
        if let Some(id) = found.ok().flatten().and_then(|found| found.metadata.uid) {
            self.outlet.states.set_cluster(&self.outlet.name, id);
        }
    }

    /// Notes that the source is synced, once every existing and permitted kind was listed.
    fn check_synced(&mut self, reached: bool) {
        let all = self.followed.values().flat_map(BTreeMap::values).all(|listed| *listed);
        if reached && !self.synced && all && self.missing.is_empty() {
            self.synced = true;
            self.outlet.synced();
        }
    }

    /// Follows the new kinds among the found kinds.
    async fn take(&mut self, found: BTreeMap<String, Option<ServedKind>>) {
        for (kind, found) in found {
            self.missing.remove(&kind);
            let Some(found) = found else {
                // The follower of a removed kind reports that itself, and continues when the kind returns.
                if !self.followed.contains_key(&kind) {
                    let detail = "the API server does not have this kind: its CRD is not installed";
                    self.outlet.states.note_silently(&self.outlet.name, &kind, SourceState::Missing, Some(detail.into()));
                    self.not_installed.insert(kind);
                }
                continue;
            };
            self.not_installed.remove(&kind);
            if self.followed.get(&kind).is_some_and(|places| places.contains_key(&Place::All)) {
                continue;
            }
            let places = self.permissions.places(&self.client, &found, &self.settings, &self.default_namespace).await;
            let places = match places {
                Ok(places) => places,
                Err(why) => {
                    self.outlet.state(&kind, SourceState::Error, Some(why));
                    self.missing.insert(kind);
                    continue;
                }
            };
            if places.is_empty() && self.settings.namespace.is_some() && !found.namespaced {
                let detail = "it is cluster-scoped, and --namespace reads one namespace only";
                self.outlet.states.note_silently(&self.outlet.name, &kind, SourceState::Missing, Some(detail.into()));
                continue;
            }
            if places.is_empty() {
                self.outlet.state(&kind, SourceState::Forbidden, Some(found.missing_rule(self.settings.namespace.as_deref())));
                continue;
            }
            self.follow(&kind, &found, places);
        }
    }

    fn follow(&mut self, kind: &str, found: &ServedKind, places: Vec<Place>) {
        let known = self.followed.entry(kind.to_owned()).or_default();
        if let Some(partial) = access::partial(found, &places, self.settings.namespace.as_deref()) {
            self.outlet.state(kind, SourceState::Forbidden, Some(partial));
        }
        for place in places {
            if known.contains_key(&place) {
                continue;
            }
            known.insert(place.clone(), false);
            let follower = follow::Follower {
                kind: kind.to_owned(),
                types: found.types(),
                place,
                outlet: self.outlet.clone(),
                listed: Some(self.listed.clone()),
                config: found.watch_config(self.settings.selector.as_deref()),
                versions: follow::Versions::default(),
            };
            let api = found.api(&self.client, &follower.place);
            self.tasks.spawn(follower.run(api));
        }
    }
}
