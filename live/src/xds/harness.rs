//! Holds the snapshots that a conformance test sets: resources that only have names, with versions that the test
//! chooses. Does not serve them; see `server`.

use super::snapshot::{Resources, Snapshot};
use crate::controllers::delivery::Registration;
use crate::lock;
use crate::proxies::Proxies;
use chancery_core::backend::envoy::v3::{Encoded, Fingerprint, Service};
use envoy_types::pb::envoy::config::cluster::v3::Cluster;
use envoy_types::pb::envoy::config::endpoint::v3::ClusterLoadAssignment;
use envoy_types::pb::envoy::config::endpoint::v3::cluster_load_assignment::Policy;
use envoy_types::pb::envoy::config::listener::v3::Listener;
use envoy_types::pb::envoy::config::route::v3::RouteConfiguration;
use envoy_types::pb::google::protobuf::UInt32Value;
use prost::Message;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The resources of one node. Each type has its version, and its resources by name.
type State = BTreeMap<String, (String, BTreeMap<String, Arc<Encoded>>)>;

/// The snapshots of all nodes.
#[derive(Debug, Default)]
pub struct Harness {
    proxies: Proxies,
    states: Mutex<BTreeMap<String, State>>,
}

impl Harness {
    /// Creates a harness without snapshots.
    #[must_use]
    pub fn new(proxies: Proxies) -> Self {
        Self { proxies, states: Mutex::default() }
    }

    /// Replaces the resources of a node. Resources of unknown types are left out.
    pub fn set(&self, node: &str, version: &str, resources: impl IntoIterator<Item = (String, Vec<u8>)>) {
        let mut state: State = [Service::Clusters, Service::Endpoints, Service::Listeners, Service::Routes]
            .iter()
            .map(|service| (service.type_url(), (version.to_owned(), BTreeMap::new())))
            .collect();
        for (type_url, value) in resources {
            if let Some(name) = name_of(&type_url, &value)
                && let Some((_, resources)) = state.get_mut(&type_url)
            {
                resources.insert(name.clone(), encoded(&name, value));
            }
        }
        lock(&self.states).insert(node.to_owned(), state);
        self.publish(node);
    }

    /// Removes all resources of a node.
    pub fn clear(&self, node: &str) {
        lock(&self.states).insert(node.to_owned(), State::new());
        self.publish(node);
    }

    /// Adds or changes a resource.
    pub fn put(&self, node: &str, type_url: &str, name: &str, version: &str) -> bool {
        let count = {
            let mut states = lock(&self.states);
            let state = states.entry(node.to_owned()).or_default();
            let (current, resources) = state.entry(type_url.to_owned()).or_default();
            version.clone_into(current);
            let Some(value) = message(type_url, name, &format!("{version}-{}", resources.contains_key(name))) else { return false };
            resources.insert(name.to_owned(), encoded(name, value));
            resources.len()
        };
        self.publish(node);
        count > 0
    }

    /// Removes a resource.
    pub fn remove(&self, node: &str, type_url: &str, name: &str, version: &str) -> bool {
        let removed = {
            let mut states = lock(&self.states);
            let state = states.entry(node.to_owned()).or_default();
            let (current, resources) = state.entry(type_url.to_owned()).or_default();
            if !version.is_empty() {
                version.clone_into(current);
            }
            resources.remove(name).is_some()
        };
        self.publish(node);
        removed
    }

    fn publish(&self, node: &str) {
        let mut snapshot = Snapshot::new(node);
        for (type_url, (version, resources)) in lock(&self.states).get(node).into_iter().flatten() {
            let mut set = Resources::new(resources.values().cloned());
            set.version.clone_from(version);
            snapshot.set(type_url.as_str(), Arc::new(set));
        }
        self.proxies.of_file().register(node, Registration { gateway: Some(node.into()), ..Registration::default() });
        self.proxies.publish_one(snapshot);
    }
}

fn encoded(name: &str, value: Vec<u8>) -> Arc<Encoded> {
    Arc::new(Encoded { name: name.into(), version: Fingerprint::of(&[&value]), value })
}

fn name_of(type_url: &str, value: &[u8]) -> Option<String> {
    match place(type_url)? {
        Service::Clusters => Cluster::decode(value).ok().map(|of| of.name),
        Service::Endpoints => ClusterLoadAssignment::decode(value).ok().map(|of| of.cluster_name),
        Service::Listeners => Listener::decode(value).ok().map(|of| of.name),
        Service::Routes => RouteConfiguration::decode(value).ok().map(|of| of.name),
        Service::Secrets | Service::Runtimes => None,
    }
}

fn place(type_url: &str) -> Option<Service> {
    Service::ALL.into_iter().find(|service| service.type_url() == type_url)
}

/// Returns a resource with this name and a mark. Another mark results in other bytes.
fn message(type_url: &str, name: &str, mark: &str) -> Option<Vec<u8>> {
    let name = name.to_owned();
    Some(match place(type_url)? {
        Service::Clusters => Cluster { name, alt_stat_name: mark.to_owned(), ..Default::default() }.encode_to_vec(),
        Service::Listeners => Listener { name, stat_prefix: mark.to_owned(), ..Default::default() }.encode_to_vec(),
        Service::Routes => RouteConfiguration { name, request_headers_to_remove: vec![mark.to_owned()], ..Default::default() }.encode_to_vec(),
        Service::Endpoints => {
            let factor = mark.bytes().fold(7u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
            let policy = Policy { overprovisioning_factor: Some(UInt32Value { value: factor }), ..Default::default() };
            ClusterLoadAssignment { cluster_name: name, policy: Some(policy), ..Default::default() }.encode_to_vec()
        }
        Service::Secrets | Service::Runtimes => return None,
    })
}
