//! Starts a management server in this process, and a client that acknowledges every response, as Envoy does.
//!
//! Does not contain tests; see `protocol` and `scenarios`.

#![expect(dead_code, reason = "each suite uses a part of it")]

use chancery_core::backend::envoy::v3::Service;
use chancery_live::event::Events;
use chancery_live::proxies::Proxies;
use chancery_live::replicas::Replicas;
use chancery_live::xds::clients::Clients;
use chancery_live::xds::harness::Harness;
use chancery_live::xds::identity::Identities;
use chancery_live::xds::server::Xds;
use chancery_live::xds::token::Tokens;
use envoy_types::pb::envoy::config::core::v3::Node;
use envoy_types::pb::envoy::service::cluster::v3::cluster_discovery_service_client::ClusterDiscoveryServiceClient;
use envoy_types::pb::envoy::service::discovery::v3::aggregated_discovery_service_client::AggregatedDiscoveryServiceClient;
use envoy_types::pb::envoy::service::discovery::v3::{DeltaDiscoveryRequest, DeltaDiscoveryResponse, DiscoveryRequest, DiscoveryResponse, Resource};
use envoy_types::pb::envoy::service::endpoint::v3::endpoint_discovery_service_client::EndpointDiscoveryServiceClient;
use envoy_types::pb::envoy::service::listener::v3::listener_discovery_service_client::ListenerDiscoveryServiceClient;
use envoy_types::pb::envoy::service::route::v3::route_discovery_service_client::RouteDiscoveryServiceClient;
use envoy_types::pb::google::protobuf::Any;
use envoy_types::pb::google::rpc::Status;
use prost::Message;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::{Channel, Endpoint};

/// After this long without a message, none will come.
pub const QUIET: Duration = Duration::from_millis(400);

/// A server.
pub struct Server {
    pub replicas: Replicas,
    /// The resources that it serves.
    pub harness: Arc<Harness>,
    /// Assigns snapshots to nodes.
    pub proxies: Proxies,
    /// The connected clients.
    pub clients: Clients,
    address: String,
    _stop: watch::Sender<bool>,
}

impl Server {
    /// Starts a server.
    pub async fn start() -> Self {
        Self::with_ttl(None).await
    }

    /// Starts a server whose clients forget resources after this time.
    pub async fn forgetting(ttl: Duration) -> Self {
        Self::with_ttl(Some(ttl)).await
    }

    /// Starts a server that shares the gateways with others.
    pub async fn of_replica(replicas: Replicas) -> Self {
        Self::with(None, replicas).await
    }

    async fn with_ttl(ttl: Option<Duration>) -> Self {
        Self::with(ttl, Replicas::default()).await
    }

    async fn with(ttl: Option<Duration>, replicas: Replicas) -> Self {
        let proxies = Proxies::default();
        let clients = Clients::new(Events::default());
        let (stop, stopping) = watch::channel(false);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let xds = Xds {
            proxies: proxies.clone(),
            clients: clients.clone(),
            stop: stopping,
            identities: Identities::default(),
            tokens: Tokens::default(),
            ttl,
            replicas: replicas.clone(),
        };
        tokio::spawn(xds.serve(listener, None));
        Self { replicas, harness: Arc::new(Harness::new(proxies.clone())), proxies, clients, address, _stop: stop }
    }

    /// Returns a connection to the server.
    pub async fn connect(&self) -> Channel {
        Endpoint::from_shared(self.address.clone()).expect("an address").connect().await.expect("a server")
    }
}

/// The variant of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// State of the world.
    Sotw,
    /// Only changes.
    Delta,
}

enum Wire {
    Sotw(mpsc::Sender<DiscoveryRequest>, Streaming<DiscoveryResponse>),
    Delta(mpsc::Sender<DeltaDiscoveryRequest>, Streaming<DeltaDiscoveryResponse>),
}

/// A response.
#[derive(Clone, Debug)]
pub struct Got {
    pub type_url: String,
    /// The version of the type's resources.
    pub version: String,
    pub nonce: String,
    /// Names of the resources.
    pub names: Vec<String>,
    /// Delta: versions of the resources.
    pub versions: Vec<String>,
    /// Names of removed resources.
    pub removed: Vec<String>,
    /// How long the resources may be kept.
    pub ttl: Option<Duration>,
    /// Whether the resources have content.
    pub has_content: bool,
}

/// A client with one stream.
pub struct Client {
    wire: Wire,
    node: String,
    /// The last version and nonce of each resource.
    pub known: BTreeMap<String, BTreeMap<String, (String, String)>>,
    /// The resources that the server reported as removed.
    pub removed: BTreeMap<String, BTreeSet<String>>,
    /// All responses.
    pub got: Vec<Got>,
    /// The number of sent requests.
    pub requests: usize,
    /// The error that rejects the next response.
    pub reject: Option<String>,
    /// The last requested names, by type.
    asked: BTreeMap<String, Vec<String>>,
}

fn name_of(type_url: &str, value: &[u8]) -> String {
    /// The name is the first field of all tested types.
    #[derive(Clone, PartialEq, Message)]
    struct Named {
        #[prost(string, tag = "1")]
        name: String,
    }
    Named::decode(value).unwrap_or_else(|error| panic!("{type_url}: {error}")).name
}

/// Returns a resource of the state of the world that has more than its content.
fn wrapped(of: &Any) -> Option<Resource> {
    of.type_url.ends_with("/envoy.service.discovery.v3.Resource").then(|| Resource::decode(&of.value[..]).expect("a resource"))
}

fn ttl(of: &Resource) -> Option<Duration> {
    of.ttl.map(|ttl| Duration::new(ttl.seconds.unsigned_abs(), ttl.nanos.unsigned_abs()))
}

macro_rules! open {
    ($client:ident, $channel:expr, $sotw:ident, $delta:ident, $variant:expr) => {
        match $variant {
            Variant::Sotw => {
                let (send, requests) = mpsc::channel(64);
                let answer = $client::new($channel).$sotw(ReceiverStream::new(requests)).await.expect("a stream");
                Wire::Sotw(send, answer.into_inner())
            }
            Variant::Delta => {
                let (send, requests) = mpsc::channel(64);
                let answer = $client::new($channel).$delta(ReceiverStream::new(requests)).await.expect("a stream");
                Wire::Delta(send, answer.into_inner())
            }
        }
    };
}

impl Client {
    /// Opens a stream: the aggregated stream, or a stream of one type.
    pub async fn open(server: &Server, variant: Variant, only: Option<Service>, node: &str) -> Self {
        let channel = server.connect().await;
        let wire = match only {
            None => open!(AggregatedDiscoveryServiceClient, channel, stream_aggregated_resources, delta_aggregated_resources, variant),
            Some(Service::Clusters) => open!(ClusterDiscoveryServiceClient, channel, stream_clusters, delta_clusters, variant),
            Some(Service::Listeners) => open!(ListenerDiscoveryServiceClient, channel, stream_listeners, delta_listeners, variant),
            Some(Service::Routes) => open!(RouteDiscoveryServiceClient, channel, stream_routes, delta_routes, variant),
            Some(_) => open!(EndpointDiscoveryServiceClient, channel, stream_endpoints, delta_endpoints, variant),
        };
        Self {
            wire,
            node: node.into(),
            known: BTreeMap::new(),
            removed: BTreeMap::new(),
            got: Vec::new(),
            requests: 0,
            reject: None,
            asked: BTreeMap::new(),
        }
    }

    fn node(&mut self) -> Option<Node> {
        self.requests += 1;
        (self.requests == 1).then(|| Node { id: self.node.clone(), ..Default::default() })
    }

    /// Sends a request of the state of the world.
    pub async fn ask(&mut self, type_url: &str, names: &[&str], nonce: &str, error: Option<&str>) {
        let node = self.node();
        self.asked.insert(type_url.into(), names.iter().map(|name| (*name).into()).collect());
        let Wire::Sotw(send, _) = &self.wire else { panic!("this is a delta stream") };
        let request = DiscoveryRequest {
            node,
            type_url: type_url.into(),
            resource_names: names.iter().map(|name| (*name).into()).collect(),
            response_nonce: nonce.into(),
            error_detail: error.map(|message| Status { message: message.into(), ..Default::default() }),
            ..Default::default()
        };
        send.send(request).await.expect("an open stream");
    }

    /// Sends a delta request.
    pub async fn change(&mut self, type_url: &str, subscribe: &[&str], unsubscribe: &[&str], initial: &[(&str, &str)]) {
        let node = self.node();
        let Wire::Delta(send, _) = &self.wire else { panic!("this is not a delta stream") };
        let request = DeltaDiscoveryRequest {
            node,
            type_url: type_url.into(),
            resource_names_subscribe: subscribe.iter().map(|name| (*name).into()).collect(),
            resource_names_unsubscribe: unsubscribe.iter().map(|name| (*name).into()).collect(),
            initial_resource_versions: initial.iter().map(|(name, version)| ((*name).into(), (*version).into())).collect(),
            ..Default::default()
        };
        send.send(request).await.expect("an open stream");
    }

    /// Requests resources by name, in either variant.
    pub async fn subscribe(&mut self, type_url: &str, names: &[&str]) {
        match self.wire {
            Wire::Sotw(..) => self.ask(type_url, names, "", None).await,
            Wire::Delta(..) => self.change(type_url, names, &[], &[]).await,
        }
    }

    /// Returns the next response without answering it, or `None` if none arrives.
    pub async fn next(&mut self) -> Option<Got> {
        let next = async {
            match &mut self.wire {
                Wire::Sotw(_, stream) => stream.message().await.expect("an open stream").map(|of| Got {
                    ttl: of.resources.iter().find_map(|of| ttl(&wrapped(of)?)),
                    has_content: of.resources.iter().all(|of| wrapped(of).is_none_or(|of| of.resource.is_some())),
                    names: of.resources.iter().map(|of| wrapped(of).map_or_else(|| name_of(&of.type_url, &of.value), |of| of.name)).collect(),
                    type_url: of.type_url,
                    version: of.version_info,
                    nonce: of.nonce,
                    versions: Vec::new(),
                    removed: Vec::new(),
                }),
                Wire::Delta(_, stream) => stream.message().await.expect("an open stream").map(|of| Got {
                    ttl: of.resources.iter().find_map(ttl),
                    has_content: of.resources.iter().all(|of| of.resource.is_some()),
                    names: of.resources.iter().map(|of| of.name.clone()).collect(),
                    versions: of.resources.iter().map(|of| of.version.clone()).collect(),
                    type_url: of.type_url,
                    version: of.system_version_info,
                    nonce: of.nonce,
                    removed: of.removed_resources,
                }),
            }
        };
        let got = tokio::time::timeout(QUIET, next).await.ok()??;
        self.got.push(got.clone());
        Some(got)
    }

    /// Waits until the server ends the stream, and returns the status.
    pub async fn wait_for_refusal(&mut self) -> tonic::Status {
        let ended = async {
            loop {
                let message = match &mut self.wire {
                    Wire::Sotw(_, stream) => stream.message().await.map(|of| of.is_some()),
                    Wire::Delta(_, stream) => stream.message().await.map(|of| of.is_some()),
                };
                match message {
                    Ok(true) => {}
                    Ok(false) => panic!("the stream ends without a status"),
                    Err(status) => return status,
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(10), ended).await.expect("the server ends the stream")
    }

    /// Answers a response.
    pub async fn answer(&mut self, got: &Got) {
        let node = self.node();
        let error_detail = self.reject.take().map(|message| Status { message, ..Default::default() });
        let names = self.asked.get(&got.type_url).cloned().unwrap_or_default();
        let (type_url, nonce) = (got.type_url.clone(), got.nonce.clone());
        match &self.wire {
            Wire::Sotw(send, _) => {
                let request = DiscoveryRequest { node, type_url, resource_names: names, response_nonce: nonce, error_detail, ..Default::default() };
                send.send(request).await.expect("an open stream");
            }
            Wire::Delta(send, _) => {
                let request = DeltaDiscoveryRequest { node, type_url, response_nonce: nonce, error_detail, ..Default::default() };
                send.send(request).await.expect("an open stream");
            }
        }
    }

    /// Answers responses until no more arrive.
    pub async fn settle(&mut self) {
        while let Some(got) = self.next().await {
            let known = self.known.entry(got.type_url.clone()).or_default();
            for name in &got.names {
                known.insert(name.clone(), (got.version.clone(), got.nonce.clone()));
            }
            self.removed.entry(got.type_url.clone()).or_default().extend(got.removed.iter().cloned());
            self.answer(&got).await;
        }
    }
}
