//! A Consul agent, by blocking queries.
//!
//! | module | what it holds |
//! |---|---|
//! | [`settings`] | which agent, by options and by the variables of Consul's own command line |
//! | [`connect`] | one request and its answer |
//! | [`query`] | a question that is asked again when there is another answer |
//! | [`facts`] | what only the agent knows: its datacenter and node, the trust domain, the default policy, the roots |
//! | [`entries`] | config entries, kind by kind |
//! | [`catalog`] | instances of services with their proxies and checks, of each datacenter |
//! | [`peerings`] | which services of peers are not served |
//! | [`authorize`] | whether the tokens of streams may ask for a proxy |
//! | [`leaves`] | the certificates of services whose proxies are served |
//!
//! Each config entry, each instance and each certificate is an input of its own, in the form in which the dialect reads files. What cannot be read
//! any more keeps what was read: only what Consul says is gone is gone. Not here: what inputs mean.

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

/// What this source is called.
const NAME: &str = "consul";

/// A Consul agent.
#[derive(Debug)]
pub struct Consul {
    settings: Settings,
    rights: Rights,
}

impl Consul {
    /// This one.
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

/// What every part has: whom it asks, and where it puts what it is told.
#[derive(Clone)]
struct Reader {
    client: Arc<Client>,
    outlet: Outlet,
    rights: Rights,
}

impl Reader {
    /// An input, as Consul stores it.
    fn put(&self, name: &str, value: &Value) {
        self.outlet.put_stored(name, serde_json::to_vec_pretty(value).unwrap_or_default());
    }

    /// A part can be read. `rule` is what a token needs so that it sees all of it.
    fn healthy(&self, part: &str, is_filtered: bool, rule: &str) {
        if is_filtered {
            let detail = format!("partial: the token may not see all of it; the ACL rule that is missing: {rule}");
            return self.outlet.state(part, SourceState::Forbidden, Some(detail));
        }
        self.outlet.state(part, SourceState::Synced, None);
    }

    /// A part cannot be read.
    fn trouble(&self, part: &str, trouble: &Trouble, rule: &str) {
        let (state, why) = match trouble {
            Trouble::Forbidden(said) => {
                let said = if said.is_empty() { String::new() } else { format!(" ({said})") };
                (SourceState::Forbidden, format!("the token may not read it{said}; the ACL rule that is missing: {rule}"))
            }
            Trouble::Unknown(why) => (SourceState::Missing, why.clone()),
            Trouble::Failed(why) => (SourceState::Error, why.clone()),
        };
        self.outlet.state(part, state, Some(format!("{why}; what was read is kept")));
    }
}

/// What the parts need to know of the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    datacenter: String,
}

/// Says once that a part has told all that it holds, or that it may not be read.
struct Ready {
    part: String,
    said: Option<mpsc::UnboundedSender<String>>,
}

impl Ready {
    fn say(&mut self) {
        if let Some(said) = self.said.take() {
            // Nobody waits any more when the process ends.
            let _ = said.send(self.part.clone());
        }
    }

    /// A part that may not be read, or that this Consul does not have, is not waited for.
    fn say_unless_failed(&mut self, trouble: &Trouble) {
        if !matches!(trouble, Trouble::Failed(_)) {
            self.say();
        }
    }
}

/// Follows all parts for as long as the process lives.
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
    // The controller of API gateways writes what is bound, and the core finds it itself; sameness groups are of Enterprise.
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

/// An object without what changes although nothing that matters does.
fn without_indexes(value: &mut Map<String, Value>) {
    for field in ["CreateIndex", "ModifyIndex", "Hash"] {
        value.shift_remove(field);
    }
}

/// A part of a path or of a query.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// A path with the datacenter that is asked, where it is not the agent's.
fn in_datacenter(path: &str, datacenter: Option<&str>) -> String {
    match datacenter {
        Some(datacenter) => format!("{path}?dc={}", escaped(datacenter)),
        None => path.to_owned(),
    }
}
