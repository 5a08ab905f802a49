//! Reads the instances of services in the catalog, with their proxies and checks. Does not read config entries; see
//! `entries`.
//!
//! Three blocking queries wait for changes: of nodes, of the names of services, and of checks. Consul answers the second
//! query if any instance changes. Then all nodes are read again, a few at a time. So the number of open requests does
//! not depend on the number of nodes.

use super::connect::{Answer, Trouble};
use super::query::Query;
use super::{Known, Reader, Ready, escaped, in_datacenter, without_indexes};
use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// The rule that a token needs to read the catalog.
const RULE: &str = "node_prefix \"\" { policy = \"read\" } and service_prefix \"\" { policy = \"read\" }";
/// The number of concurrent reads of nodes.
const AT_A_TIME: usize = 8;
/// The time limit for one read.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the list of datacenters is read.
const LOOK: Duration = Duration::from_secs(30);
/// The pause before unreadable nodes are read again.
const PAUSE: Duration = Duration::from_secs(1);

/// A node.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "PascalCase", default)]
struct Node {
    node: String,
    address: String,
    datacenter: String,
    tagged_addresses: Option<Map<String, Value>>,
    meta: Option<Map<String, Value>>,
}

/// A check without its last output, which changes all the time.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
struct Check {
    #[serde(rename = "Node")]
    node: String,
    #[serde(rename = "CheckID")]
    id: String,
    #[serde(rename = "Name")]
    name: String,
    #[serde(rename = "Status")]
    status: String,
    #[serde(rename = "ServiceID")]
    service: String,
}

/// `/v1/catalog/node-services/NODE`
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct OfNode {
    services: Option<Vec<Map<String, Value>>>,
}

/// An answer of a blocking query.
enum CatalogUpdate {
    Nodes(Vec<Node>),
    /// An instance has changed.
    Services,
    Checks(Vec<Check>),
}

/// Follows the catalogs of all datacenters. Reports the services whose certificates the proxies of the agent's
/// datacenter show in `proxies`.
pub(super) async fn run(reader: Reader, mut known: watch::Receiver<Known>, proxies: watch::Sender<BTreeSet<String>>, mut ready: Ready) {
    let proxies = Arc::new(proxies);
    let mut home = String::new();
    let mut followed: BTreeMap<String, tokio::task::AbortHandle> = BTreeMap::new();
    let mut tasks: JoinSet<()> = JoinSet::new();
    loop {
        let now = known.borrow_and_update().datacenter.clone();
        if !now.is_empty() && now != home {
            // An agent of another cluster answers at this address.
            followed.values().for_each(tokio::task::AbortHandle::abort);
            followed.clear();
            home = now;
            let said = ready.said.take().map(|said| Ready { part: ready.part.clone(), said: Some(said) });
            let catalog = Catalog::new(reader.clone(), home.clone(), Some(proxies.clone()), said);
            followed.insert(home.clone(), tasks.spawn(catalog.run()));
        }
        if !home.is_empty() {
            let all = others(&reader, &home).await;
            for name in all {
                followed.entry(name.clone()).or_insert_with(|| tasks.spawn(Catalog::new(reader.clone(), name, None, None).run()));
            }
        }
        tokio::select! {
            changed = known.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

/// Returns the other datacenters that the agent knows.
async fn others(reader: &Reader, home: &str) -> Vec<String> {
    let Ok(answer) = reader.client.get("/v1/catalog/datacenters", PATIENCE).await else { return Vec::new() };
    let all: Vec<String> = serde_json::from_slice(&answer.body).unwrap_or_default();
    all.into_iter().filter(|name| name != home).collect()
}

/// The catalog of one datacenter.
struct Catalog {
    reader: Reader,
    datacenter: String,
    part: String,
    proxies: Option<Arc<watch::Sender<BTreeSet<String>>>>,
    ready: Option<Ready>,
    nodes: Option<BTreeMap<String, Node>>,
    checks: Option<BTreeMap<String, Vec<Check>>>,
    services: BTreeMap<String, Vec<Map<String, Value>>>,
    all_read: bool,
    /// The instances that were put, by name.
    written: BTreeMap<String, Registered>,
}

/// An instance with its node and checks.
#[derive(PartialEq)]
struct Registered {
    node: Node,
    service: Map<String, Value>,
    checks: Vec<Check>,
}

impl Catalog {
    fn new(reader: Reader, datacenter: String, proxies: Option<Arc<watch::Sender<BTreeSet<String>>>>, ready: Option<Ready>) -> Self {
        let part = if proxies.is_some() { "catalog".to_owned() } else { format!("catalog of {datacenter}") };
        Self {
            reader,
            datacenter,
            part,
            proxies,
            ready,
            nodes: None,
            checks: None,
            services: BTreeMap::new(),
            all_read: false,
            written: BTreeMap::new(),
        }
    }

    async fn run(mut self) {
        let (out, mut updates) = mpsc::channel(8);
        let mut tasks: JoinSet<()> = JoinSet::new();
        let nodes = |answer: &Answer| parsed(answer).map(CatalogUpdate::Nodes);
        let checks = |answer: &Answer| parsed(answer).map(CatalogUpdate::Checks);
        tasks.spawn(ask(self.reader.clone(), self.part.clone(), self.path("/v1/catalog/nodes"), out.clone(), nodes));
        tasks.spawn(ask(self.reader.clone(), self.part.clone(), self.path("/v1/catalog/services"), out.clone(), |_| Ok(CatalogUpdate::Services)));
        tasks.spawn(ask(self.reader.clone(), self.part.clone(), self.path("/v1/health/state/any"), out, checks));
        while let Some(first) = updates.recv().await {
            // Changes that arrive meanwhile cause a single read.
            let mut dirty = self.take(first);
            while let Ok(next) = updates.try_recv() {
                dirty |= self.take(next);
            }
            while dirty && self.nodes.is_some() {
                match self.read_nodes().await {
                    Ok(()) => dirty = false,
                    Err(trouble) => {
                        self.reader.trouble(&self.part, &trouble, RULE);
                        tokio::time::sleep(PAUSE).await;
                    }
                }
            }
            self.write();
        }
    }

    fn path(&self, path: &str) -> String {
        in_datacenter(path, Some(&self.datacenter))
    }

    /// Handles an answer. Returns whether instances must be read again.
    fn take(&mut self, update: CatalogUpdate) -> bool {
        match update {
            CatalogUpdate::Services => true,
            CatalogUpdate::Nodes(nodes) => {
                let nodes: BTreeMap<String, Node> = nodes.into_iter().map(|node| (node.node.clone(), node)).collect();
                let is_new = self.nodes.as_ref().is_none_or(|known| nodes.keys().any(|name| !known.contains_key(name)));
                self.services.retain(|name, _| nodes.contains_key(name));
                self.nodes = Some(nodes);
                is_new
            }
            CatalogUpdate::Checks(checks) => {
                let mut all: BTreeMap<String, Vec<Check>> = BTreeMap::new();
                for check in checks {
                    all.entry(check.node.clone()).or_default().push(check);
                }
                self.checks = Some(all);
                false
            }
        }
    }

    async fn read_nodes(&mut self) -> Result<(), Trouble> {
        let names: Vec<String> = self.nodes.iter().flatten().map(|(name, _)| name.clone()).collect();
        let reader = &self.reader;
        let asked = names.into_iter().map(|name| {
            let path = self.path(&format!("/v1/catalog/node-services/{}", escaped(&name)));
            async move {
                let answer = reader.client.get(&path, PATIENCE).await?;
                // A node that was removed meanwhile has no instances.
                let of_node: Option<OfNode> = parsed(&answer)?;
                Ok::<_, Trouble>((name, of_node.and_then(|of| of.services).unwrap_or_default()))
            }
        });
        let asked: Vec<_> = asked.collect();
        let mut answers = stream::iter(asked).buffer_unordered(AT_A_TIME);
        let mut found = BTreeMap::new();
        while let Some(answer) = answers.next().await {
            let (name, mut services) = answer?;
            services.iter_mut().for_each(without_indexes);
            found.insert(name, services);
        }
        drop(answers);
        self.services = found;
        self.all_read = true;
        Ok(())
    }

    /// Puts all changed instances, once every query has answered.
    fn write(&mut self) {
        let (Some(nodes), Some(checks), true) = (&self.nodes, &self.checks, self.all_read) else { return };
        let prefix = format!("consul/service/{}/", self.datacenter);
        let mut seen = BTreeSet::new();
        let mut shown: BTreeSet<String> = BTreeSet::new();
        let mut proxies: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, services) in &self.services {
            let Some(node) = nodes.get(name) else { continue };
            let mut of_service: BTreeMap<&str, Vec<&Check>> = BTreeMap::new();
            for check in checks.get(name).into_iter().flatten() {
                of_service.entry(&check.service).or_default().push(check);
            }
            let of = |id: &str| of_service.get(id).into_iter().flatten().map(|check| Check::clone(check));
            for service in services {
                let text = |field: &str| service.get(field).and_then(Value::as_str).unwrap_or_default();
                let id = text("ID");
                let input = format!("{prefix}{name}/{id}");
                let own = of("").chain(of(id).filter(|check| !check.service.is_empty())).collect();
                let registered = Registered { node: node.clone(), service: service.clone(), checks: own };
                if self.written.get(&input) != Some(&registered) {
                    self.reader.put(&input, &registered.document());
                    self.written.insert(input.clone(), registered);
                }
                seen.insert(input);
                if let Some(stands_for) = stands_for(service) {
                    match text("Kind") {
                        "mesh-gateway" => {}
                        "terminating-gateway" => shown.extend(behind(service).map(str::to_owned)),
                        _ => drop(shown.insert(stands_for.to_owned())),
                    }
                    for gateway in [id.to_owned(), format!("{name}/{id}")] {
                        proxies.entry(gateway).or_default().insert(stands_for.to_owned());
                    }
                }
            }
        }
        self.written.retain(|name, _| seen.contains(name));
        self.reader.outlet.retain(&prefix, &seen);
        if let Some(known) = &self.proxies {
            self.reader.rights.set_services(proxies);
            known.send_if_modified(|known| std::mem::replace(known, shown.clone()) != shown);
        }
        if let Some(ready) = &mut self.ready {
            ready.say();
        }
    }
}

/// Returns the service that a proxy belongs to: the proxy shows its certificate, and the proxy's token must be allowed
/// to write it.
fn stands_for(service: &Map<String, Value>) -> Option<&str> {
    match service.get("Kind").and_then(Value::as_str)? {
        "connect-proxy" => service.get("Proxy").and_then(|proxy| proxy["DestinationServiceName"].as_str()),
        "ingress-gateway" | "terminating-gateway" | "api-gateway" | "mesh-gateway" => service.get("Service").and_then(Value::as_str),
        _ => None,
    }
}

/// Returns the services behind a terminating gateway, whose certificates it shows. The catalog lists their virtual
/// addresses at the gateway.
fn behind(gateway: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let tagged = gateway.get("TaggedAddresses").and_then(Value::as_object).into_iter().flatten();
    tagged.filter_map(|(name, _)| name.strip_prefix("consul-virtual:"))
}

impl Registered {
    /// Returns the form of a registration in the catalog.
    fn document(&self) -> Value {
        let check = |check: &Check| json!({"CheckID": check.id, "Name": check.name, "Status": check.status, "ServiceID": check.service});
        json!({
            "Node": self.node.node,
            "Address": self.node.address,
            "Datacenter": self.node.datacenter,
            "TaggedAddresses": self.node.tagged_addresses,
            "NodeMeta": self.node.meta,
            "Service": self.service,
            "Checks": self.checks.iter().map(check).collect::<Vec<_>>(),
        })
    }
}

fn parsed<T: DeserializeOwned>(answer: &Answer) -> Result<T, Trouble> {
    serde_json::from_slice(&answer.body).map_err(|error| Trouble::Failed(format!("Consul's answer cannot be read: {error}")))
}

/// Repeats one query, and sends its answers.
async fn ask(
    reader: Reader,
    part: String,
    path: String,
    out: mpsc::Sender<CatalogUpdate>,
    read: impl Fn(&Answer) -> Result<CatalogUpdate, Trouble> + Send,
) {
    let mut query = Query::new(reader.client.clone(), path);
    loop {
        match query.next().await.and_then(|answer| Ok((read(&answer)?, answer.is_filtered))) {
            Ok((update, is_filtered)) => {
                reader.healthy(&part, is_filtered, RULE);
                if out.send(update).await.is_err() {
                    return;
                }
            }
            Err(trouble) => reader.trouble(&part, &trouble, RULE),
        }
    }
}
