//! Follows a Consul agent through blocking queries.
//!
//! | module | what it holds |
//! |---|---|
//! | [`settings`] | the agent to follow, from options and from the variables of Consul's own command line |
//! | [`connect`] | one request and its answer |
//! | [`query`] | a blocking query, repeated after each answer |
//! | [`facts`] | the agent's own facts: its datacenter and node, the trust domain, the default policy, the roots |
//! | [`entries`] | config entries, kind by kind |
//! | [`catalog`] | instances of services with their proxies and checks, of each datacenter |
//! | [`peerings`] | reports the services of peers, which are not served |
//! | [`authorize`] | the permissions of streams' tokens for proxies |
//! | [`leaves`] | the certificates of services whose proxies are served |
//!
//! Each config entry, each instance and each certificate is a separate input, in the form in which the dialect reads
//! files. If a part can no longer be read, its inputs stay: only Consul's own answers remove inputs. Does not interpret
//! inputs; the dialect does.

mod authorize;
mod catalog;
mod connect;
mod entries;
mod facts;
mod leaves;
mod peerings;
mod query;
mod settings;

pub use settings::Settings;

use super::{Outlet, Source};
use crate::Failure;
use crate::event::SourceState;
use crate::xds::token::Authorize;
use authorize::Rights;
use chancery_core::dialect::consul::entry::Kind;
use connect::{Client, Trouble};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// The name of this source.
const NAME: &str = "consul";

/// A Consul agent.
#[derive(Debug)]
pub struct Consul {
    settings: Settings,
    rights: Rights,
}

impl Consul {
    /// Creates a source for this agent.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings, rights: Rights::default() }
    }
}

impl Source for Consul {
    fn name(&self) -> String {
        NAME.into()
    }

    fn run(self: Box<Self>, outlet: Outlet) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>> {
        Box::pin(async move {
            let settings = self.settings.resolved(|name| std::env::var(name).ok())?;
            let client = Arc::new(Client::new(&settings)?);
            self.rights.ask(client.clone());
            follow(Reader { client, outlet, rights: self.rights }, settings.datacenter).await
        })
    }

    fn authorize(&self) -> Option<Arc<dyn Authorize>> {
        Some(Arc::new(self.rights.clone()))
    }
}

/// The shared state of all parts: the client, and the outlet for inputs.
#[derive(Clone)]
struct Reader {
    client: Arc<Client>,
    outlet: Outlet,
    rights: Rights,
}

impl Reader {
    /// Puts an input in Consul's own form.
    fn put(&self, name: &str, value: &Value) {
        self.outlet.put_stored(name, serde_json::to_vec_pretty(value).unwrap_or_default());
    }

    /// Reports that a part can be read. `rule` is the rule that a token needs to read all of it.
    fn healthy(&self, part: &str, is_filtered: bool, rule: &str) {
        if is_filtered {
            let detail = format!("partial: the token may not see all of it; the ACL rule that is missing: {rule}");
            return self.outlet.state(part, SourceState::Forbidden, Some(detail));
        }
        self.outlet.state(part, SourceState::Synced, None);
    }

    /// Reports that a part cannot be read.
    fn trouble(&self, part: &str, trouble: &Trouble, rule: &str) {
        let (state, why) = match trouble {
            Trouble::Forbidden(said) => {
                let said = if said.is_empty() { String::new() } else { format!(" ({said})") };
                (SourceState::Forbidden, format!("the token may not read it{said}; the ACL rule that is missing: {rule}"))
            }
            Trouble::Unknown(why) => (SourceState::Missing, why.clone()),
            Trouble::Failed(why) => (SourceState::Error, why.clone()),
        };
        self.outlet.state(part, state, Some(format!("{why}; the last read state is used")));
    }
}

/// The agent's facts that the other parts need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    datacenter: String,
}

/// Signals once that a part has reported everything, or that it may not be read.
struct Ready {
    part: String,
    said: Option<mpsc::UnboundedSender<String>>,
}

impl Ready {
    fn say(&mut self) {
        if let Some(said) = self.said.take() {
            // The receiver may be gone when the process ends.
            let _ = said.send(self.part.clone());
        }
    }

    /// The source does not wait for a part that it may not read, or that this Consul lacks.
    fn say_unless_failed(&mut self, trouble: &Trouble) {
        if !matches!(trouble, Trouble::Failed(_)) {
            self.say();
        }
    }
}

/// Follows all parts as long as the process runs.
async fn follow(reader: Reader, datacenter: Option<String>) -> Result<(), Failure> {
    let (said, mut ready) = mpsc::unbounded_channel();
    let (known, learns) = watch::channel(Known { datacenter: datacenter.clone().unwrap_or_default() });
    let mut waited: BTreeSet<String> = BTreeSet::new();
    let mut tasks: JoinSet<()> = JoinSet::new();
    let mut part = |name: &str| {
        waited.insert(name.to_owned());
        Ready { part: name.to_owned(), said: Some(said.clone()) }
    };
    tasks.spawn(facts::run(reader.clone(), datacenter.clone(), known, part("agent")));
    // Consul's API gateway controller writes bound routes, and the core computes those itself. Sameness groups are an
    // Enterprise feature.
    for kind in Kind::ALL.iter().copied().filter(|kind| !matches!(kind, Kind::BoundApiGateway | Kind::SamenessGroup)) {
        tasks.spawn(entries::run(reader.clone(), kind, datacenter.clone(), part(kind.name())));
    }
    let (proxies, leaves) = watch::channel(BTreeSet::new());
    tasks.spawn(catalog::run(reader.clone(), learns, proxies, part("catalog")));
    tasks.spawn(leaves::run(reader.clone(), datacenter, leaves));
    tasks.spawn(peerings::run(reader.clone()));
    drop(said);
    loop {
        tokio::select! {
            Some(part) = ready.recv(), if !waited.is_empty() => {
                waited.remove(&part);
                if waited.is_empty() {
                    reader.outlet.synced();
                }
            }
            ended = tasks.join_next() => {
                let why = ended.and_then(Result::err).map_or_else(|| "a part has ended".to_owned(), |error| error.to_string());
                return Err(format!("following Consul has stopped: {why}").into());
            }
        }
    }
}

/// Removes fields that change without a change of content.
fn without_indexes(value: &mut Map<String, Value>) {
    for field in ["CreateIndex", "ModifyIndex", "Hash"] {
        value.shift_remove(field);
    }
}

/// Escapes a part of a path or of a query.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Adds the datacenter to a path, unless it is the agent's own.
fn in_datacenter(path: &str, datacenter: Option<&str>) -> String {
    match datacenter {
        Some(datacenter) => format!("{path}?dc={}", escaped(datacenter)),
        None => path.to_owned(),
    }
}
