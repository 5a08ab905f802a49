//! The services of gRPC: aggregated discovery and one for each type, both variants of the protocol.
//!
//! A stream is one task: it hands requests and snapshots to [`Stream`](super::stream::Stream), and sends what that says. A client that
//! does not read holds up its own task only, and for a limited time. What must not be here: what is sent when.

use super::clients::{Clients, Connected, Node};
use super::identity::{Grant, Identities};
use super::snapshot::Snapshot;
use super::stream::{Protocol, Request, Response, Stream};
use super::subscription::WILDCARD;
use super::tls::{Connection, Peer, Tls};
use crate::event::Event;
use crate::proxies::{Assigned, Joined, Proxies, Snapshots};
use chancery_core::backend::envoy::v3::{Encoded, Service};
use envoy_types::pb::envoy::config::core::v3 as base;
use envoy_types::pb::envoy::service::cluster::v3::cluster_discovery_service_server as cds;
use envoy_types::pb::envoy::service::discovery::v3 as discovery;
use envoy_types::pb::envoy::service::discovery::v3::aggregated_discovery_service_server as ads;
use envoy_types::pb::envoy::service::endpoint::v3::endpoint_discovery_service_server as eds;
use envoy_types::pb::envoy::service::listener::v3::listener_discovery_service_server as lds;
use envoy_types::pb::envoy::service::route::v3::route_discovery_service_server as rds;
use envoy_types::pb::envoy::service::runtime::v3::runtime_discovery_service_server as rtds;
use envoy_types::pb::envoy::service::secret::v3::secret_discovery_service_server as sds;
use envoy_types::pb::envoy::service::status::v3::client_status_discovery_service_server as csds;
use envoy_types::pb::google::protobuf::{self, Any};
use prost::{Message, Name};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

/// How long a client may take to read a response.
const SLOWEST: Duration = Duration::from_secs(60);
/// Responses that wait in front of a client; what is newer waits as a snapshot, the latest only.
const WAITING: usize = 2;
/// The largest request that is read: an Envoy that comes back lists all that it has.
const LARGEST_REQUEST: usize = 64 << 20;
/// Streams that one connection may have.
const MOST_STREAMS: u32 = 256;
const KEEPALIVE: Duration = Duration::from_secs(30);

/// What all streams share.
#[derive(Clone, Debug)]
pub struct Xds {
    /// Who gets what.
    pub proxies: Proxies,
    /// Who is connected.
    pub clients: Clients,
    /// True from when the server is to end.
    pub stop: watch::Receiver<bool>,
    /// What clients may ask for by their certificates.
    pub identities: Identities,
    /// How long an Envoy keeps resources without a heartbeat from this server; `None`: for ever.
    pub ttl: Option<Duration>,
}

impl Xds {
    /// Serves, until `stop`.
    ///
    /// # Errors
    ///
    /// The listener fails.
    pub async fn serve(self, listener: TcpListener, tls: Option<Arc<Tls>>) -> Result<(), tonic::transport::Error> {
        let mut stop = self.stop.clone();
        let incoming = super::tls::incoming(listener, tls);
        tonic::transport::Server::builder()
            .http2_keepalive_interval(Some(KEEPALIVE))
            .http2_keepalive_timeout(Some(KEEPALIVE))
            .max_concurrent_streams(Some(MOST_STREAMS))
            .add_service(ads::AggregatedDiscoveryServiceServer::new(self.clone()).max_decoding_message_size(LARGEST_REQUEST))
            .add_service(cds::ClusterDiscoveryServiceServer::new(self.clone()).max_decoding_message_size(LARGEST_REQUEST))
            .add_service(eds::EndpointDiscoveryServiceServer::new(self.clone()).max_decoding_message_size(LARGEST_REQUEST))
            .add_service(lds::ListenerDiscoveryServiceServer::new(self.clone()).max_decoding_message_size(LARGEST_REQUEST))
            .add_service(rds::RouteDiscoveryServiceServer::new(self.clone()).max_decoding_message_size(LARGEST_REQUEST))
            .add_service(sds::SecretDiscoveryServiceServer::new(self.clone()).max_decoding_message_size(LARGEST_REQUEST))
            .add_service(csds::ClientStatusDiscoveryServiceServer::new(self.clone()))
            .add_service(rtds::RuntimeDiscoveryServiceServer::new(self).max_decoding_message_size(LARGEST_REQUEST))
            .serve_with_incoming_shutdown(incoming, async move {
                // An error means that the sender is gone: stop as well.
                let _ = stop.wait_for(|stop| *stop).await;
            })
            .await
    }

    fn open<W: Wire>(&self, only: Option<Service>, request: tonic::Request<Streaming<W::Request>>) -> Reply<W::Response> {
        let peer = request.extensions().get::<Peer>().cloned().unwrap_or_default();
        if only == Some(Service::Secrets) && !peer.may_have_secrets() {
            return Err(Status::permission_denied("certificates are served on this machine, or to clients with a certificate of their own"));
        }
        let (out, responses) = mpsc::channel(WAITING);
        let task = Task::<W> {
            shared: self.clone(),
            only,
            machine: Stream::new(W::PROTOCOL, only.is_none()).with_ttl(self.ttl),
            node: Node::default(),
            connected: None,
            joined: None,
            peer,
            asked_secrets: BTreeSet::new(),
            sent_of: BTreeMap::new(),
            told_unknown: false,
            out,
        };
        tokio::spawn(task.run(request.into_inner()));
        Ok(tonic::Response::new(Box::pin(ReceiverStream::new(responses))))
    }
}

type Outgoing<T> = Pin<Box<dyn futures_util::Stream<Item = Result<T, Status>> + Send>>;
type Reply<T> = Result<tonic::Response<Outgoing<T>>, Status>;

/// A variant of the protocol on the wire.
trait Wire: Send + 'static {
    const PROTOCOL: Protocol;
    type Request: Send + 'static;
    type Response: Send + 'static;
    /// Reads a request, and who sends it if it says so.
    fn read(request: Self::Request) -> (Option<base::Node>, Request);
    fn write(response: Response) -> Self::Response;
}

struct Sotw;
struct Delta;

impl Wire for Sotw {
    const PROTOCOL: Protocol = Protocol::Sotw;
    type Request = discovery::DiscoveryRequest;
    type Response = discovery::DiscoveryResponse;

    fn read(of: Self::Request) -> (Option<base::Node>, Request) {
        let error = of.error_detail.map(|status| status.message);
        let request = Request { type_url: of.type_url, nonce: of.response_nonce, error, names: of.resource_names, ..Request::default() };
        (of.node, request)
    }

    fn write(of: Response) -> Self::Response {
        let plain = |resource: &Encoded| Any { type_url: of.type_url.to_string(), value: resource.value.clone() };
        let wrapped = |resource: &Encoded| Any { type_url: discovery::Resource::type_url(), value: wrap(&of, resource).encode_to_vec() };
        discovery::DiscoveryResponse {
            version_info: of.version.clone(),
            // Plain where nothing is to be said besides.
            resources: of.resources.iter().map(|resource| if of.ttl.is_some() { wrapped(resource) } else { plain(resource) }).collect(),
            type_url: of.type_url.to_string(),
            nonce: of.nonce.clone(),
            ..Default::default()
        }
    }
}

impl Wire for Delta {
    const PROTOCOL: Protocol = Protocol::Delta;
    type Request = discovery::DeltaDiscoveryRequest;
    type Response = discovery::DeltaDiscoveryResponse;

    fn read(of: Self::Request) -> (Option<base::Node>, Request) {
        let request = Request {
            type_url: of.type_url,
            nonce: of.response_nonce,
            error: of.error_detail.map(|status| status.message),
            subscribe: of.resource_names_subscribe,
            unsubscribe: of.resource_names_unsubscribe,
            initial: of.initial_resource_versions.into_iter().collect(),
            names: Vec::new(),
        };
        (of.node, request)
    }

    fn write(of: Response) -> Self::Response {
        discovery::DeltaDiscoveryResponse {
            system_version_info: of.version.clone(),
            resources: of.resources.iter().map(|resource| wrap(&of, resource)).collect(),
            type_url: of.type_url.to_string(),
            removed_resources: of.removed.iter().map(|name| name.to_string()).collect(),
            nonce: of.nonce.clone(),
            ..Default::default()
        }
    }
}

/// A resource with its name and version; without its content where the client has that and is to keep it.
fn wrap(of: &Response, resource: &Encoded) -> discovery::Resource {
    discovery::Resource {
        name: resource.name.to_string(),
        version: resource.version.to_string(),
        resource: (!of.heartbeat).then(|| Any { type_url: of.type_url.to_string(), value: resource.value.clone() }),
        ttl: of.ttl.map(|ttl| protobuf::Duration { seconds: ttl.as_secs().cast_signed(), nanos: ttl.subsec_nanos().cast_signed() }),
        ..Default::default()
    }
}

/// One stream.
struct Task<W: Wire> {
    shared: Xds,
    /// The one type that it carries, if it is no aggregated one.
    only: Option<Service>,
    machine: Stream,
    node: Node,
    connected: Option<Connected>,
    joined: Option<Joined>,
    peer: Peer,
    /// Names of Secrets that were asked for, and are not looked at yet.
    asked_secrets: BTreeSet<String>,
    /// The snapshot that the last response of a type was made of.
    sent_of: BTreeMap<Arc<str>, Arc<Snapshot>>,
    told_unknown: bool,
    out: mpsc::Sender<Result<W::Response, Status>>,
}

/// The stream is to end, with this status for the client.
struct End(Option<Status>);

impl<W: Wire> Task<W> {
    async fn run(mut self, mut requests: Streaming<W::Request>) {
        let mut snapshots = self.shared.proxies.subscribe();
        let mut stop = self.shared.stop.clone();
        let end = loop {
            let now = Instant::now();
            let wakes = [self.machine.wake(now), self.deadline(&snapshots.borrow()).filter(|at| *at > now)];
            let wake = wakes.into_iter().flatten().min().unwrap_or(now + Duration::from_secs(3600));
            let step = tokio::select! {
                request = requests.message() => match request {
                    Ok(Some(request)) => self.request(W::read(request)),
                    // The client has gone, by itself or by an accident of the network.
                    Ok(None) | Err(_) => Err(End(None)),
                },
                changed = snapshots.changed() => changed.map_err(|_| End(None)),
                () = tokio::time::sleep_until(wake.into()) => Ok(()),
                _ = stop.wait_for(|stop| *stop) => Err(End(Some(Status::unavailable("the server ends; ask again")))),
            };
            let latest = snapshots.borrow_and_update().clone();
            let step = match step {
                Ok(()) => self.pump(&latest).await,
                Err(end) => Err(end),
            };
            if let Err(end) = step {
                break end;
            }
        };
        if let End(Some(status)) = end {
            // Nobody need be there to read it.
            let _ = self.out.try_send(Err(status));
        }
    }

    fn request(&mut self, (node, mut request): (Option<base::Node>, Request)) -> Result<(), End> {
        if let Some(node) = node.filter(|_| self.connected.is_none()) {
            self.node = Node { agent: agent(&node), id: node.id, cluster: node.cluster };
        }
        if let Some(service) = self.only {
            let own = service.type_url();
            if !request.type_url.is_empty() && request.type_url != own {
                return Err(End(Some(Status::invalid_argument(format!("this service has {own}, not {}", request.type_url)))));
            }
            request.type_url = own;
        } else if request.type_url.is_empty() {
            return Err(End(Some(Status::invalid_argument("the request names no type_url"))));
        }
        if request.type_url == Service::Secrets.type_url() {
            self.asked_secrets.extend(request.names.iter().chain(&request.subscribe).cloned());
        }
        if let Some(verdict) = self.machine.request(&request, Instant::now()) {
            let snapshot = self.sent_of.get(&verdict.type_url).cloned().unwrap_or_default();
            let (clients, id) = (self.shared.clients.clone(), self.node.id.clone());
            if verdict.rejected.is_some() {
                if let Some(joined) = &self.joined {
                    joined.rejected(&snapshot);
                }
                // Finding out who is to blame takes as long as a compile.
                tokio::task::spawn_blocking(move || clients.answered(&id, &verdict, &snapshot));
            } else {
                clients.answered(&id, &verdict, &snapshot);
            }
        }
        Ok(())
    }

    /// Until when this Envoy may take, where it is the one that tries a change.
    fn deadline(&self, latest: &Snapshots) -> Option<Instant> {
        let gateway = self.sent_of.values().next()?.gateway.clone();
        self.joined.as_ref()?.deadline(latest, &gateway)
    }

    async fn pump(&mut self, latest: &Snapshots) -> Result<(), End> {
        if self.joined.is_none() {
            self.joined = Some(self.shared.proxies.join(&self.node));
        }
        if self.deadline(latest).is_some_and(|at| at <= Instant::now())
            && let (Some(joined), Some(sent)) = (&self.joined, self.sent_of.values().next())
        {
            joined.give_up(&sent.gateway);
        }
        let assigned = self.shared.proxies.assign(&self.node, latest);
        let gateway = assigned.snapshot().map(|snapshot| snapshot.gateway.to_string());
        match &self.connected {
            None => self.connected = Some(self.shared.clients.open(&self.node, gateway.as_deref())),
            Some(_) => self.shared.clients.moved(&self.node.id, gateway.as_deref()),
        }
        let snapshot = match assigned {
            Assigned::Early => return Ok(()),
            Assigned::Unknown => {
                if !std::mem::replace(&mut self.told_unknown, true) {
                    self.tell_unknown(latest);
                }
                return Ok(());
            }
            Assigned::Snapshot(snapshot) => snapshot,
        };
        self.told_unknown = false;
        let given = self.granted(&snapshot, latest)?;
        for response in self.machine.pump(&given, Instant::now()) {
            if !response.heartbeat {
                self.shared.clients.sent(&self.node.id, &response.type_url, &response.version);
                self.sent_of.insert(response.type_url.clone(), snapshot.clone());
            }
            match self.out.send_timeout(Ok(W::write(response)), SLOWEST).await {
                Ok(()) => {}
                Err(mpsc::error::SendTimeoutError::Timeout(_)) => {
                    return Err(End(Some(Status::deadline_exceeded("the client does not read what it asked for"))));
                }
                Err(mpsc::error::SendTimeoutError::Closed(_)) => return Err(End(None)),
            }
        }
        if let Some(joined) = self.joined.as_ref().filter(|_| self.machine.is_settled(&given)) {
            joined.settled(&snapshot);
        }
        Ok(())
    }

    /// What of a snapshot this client may have. One that asks for more than that has its stream ended.
    fn granted(&mut self, snapshot: &Arc<Snapshot>, latest: &Snapshots) -> Result<Arc<Snapshot>, End> {
        let gateways = latest.iter().flat_map(|all| all.keys()).map(|gateway| &**gateway);
        let grant = self.shared.identities.grant(&self.peer, &snapshot.gateway, gateways);
        let asked = std::mem::take(&mut self.asked_secrets);
        let refused = match &grant {
            Grant::Nothing => Some(format!("the gateway {}", snapshot.gateway)),
            grant => {
                asked.iter().find(|name| !name.is_empty() && **name != WILDCARD && !grant.has_secret(name)).map(|name| format!("the Secret {name}"))
            }
        };
        if let Some(what) = refused {
            let names = self.peer.names.join(", ");
            tracing::warn!(node = %self.node.id, certificate = %names, "a client may not ask for {what}");
            return Err(End(Some(Status::permission_denied(format!("the certificate of {names} may not ask for {what}")))));
        }
        let url = Service::Secrets.type_url();
        Ok(if self.peer.may_have_secrets() { grant.of(snapshot) } else { Arc::new(snapshot.without(&url)) })
    }

    fn tell_unknown(&self, latest: &Snapshots) {
        let gateways: Vec<&str> = latest.iter().flat_map(|all| all.keys()).map(|gateway| &**gateway).collect();
        let detail = if gateways.is_empty() {
            "there is no gateway in the configuration".to_owned()
        } else {
            format!("neither its id nor its cluster is a gateway: there are {}", gateways.join(", "))
        };
        self.shared.clients.events().tell(Event::UnknownNode { id: self.node.id.clone(), cluster: self.node.cluster.clone(), detail });
    }
}

/// What runs there, as `envoy 1.40.0`.
fn agent(node: &base::Node) -> String {
    use base::node::UserAgentVersionType;
    let version = match &node.user_agent_version_type {
        Some(UserAgentVersionType::UserAgentVersion(version)) => version.clone(),
        Some(UserAgentVersionType::UserAgentBuildVersion(build)) => {
            build.version.as_ref().map(|of| format!("{}.{}.{}", of.major_number, of.minor_number, of.patch)).unwrap_or_default()
        }
        None => String::new(),
    };
    format!("{} {version}", node.user_agent_name).trim().to_owned()
}

/// Implements a service of one type, or the aggregated one.
macro_rules! service {
    ($module:ident :: $name:ident, $only:expr, $sotw:ident -> $sotw_stream:ident, $delta:ident -> $delta_stream:ident $(, $fetch:ident)?) => {
        #[tonic::async_trait]
        impl $module::$name for Xds {
            type $sotw_stream = Outgoing<discovery::DiscoveryResponse>;

            async fn $sotw(&self, request: tonic::Request<Streaming<discovery::DiscoveryRequest>>) -> Reply<discovery::DiscoveryResponse> {
                self.open::<Sotw>($only, request)
            }

            type $delta_stream = Outgoing<discovery::DeltaDiscoveryResponse>;

            async fn $delta(&self, request: tonic::Request<Streaming<discovery::DeltaDiscoveryRequest>>) -> Reply<discovery::DeltaDiscoveryResponse> {
                self.open::<Delta>($only, request)
            }

            $(async fn $fetch(&self, _: tonic::Request<discovery::DiscoveryRequest>) -> Result<tonic::Response<discovery::DiscoveryResponse>, Status> {
                Err(Status::unimplemented("resources are sent on a stream"))
            })?
        }
    };
}

service!(ads::AggregatedDiscoveryService, None, stream_aggregated_resources -> StreamAggregatedResourcesStream,
    delta_aggregated_resources -> DeltaAggregatedResourcesStream);
service!(cds::ClusterDiscoveryService, Some(Service::Clusters), stream_clusters -> StreamClustersStream,
    delta_clusters -> DeltaClustersStream, fetch_clusters);
service!(eds::EndpointDiscoveryService, Some(Service::Endpoints), stream_endpoints -> StreamEndpointsStream,
    delta_endpoints -> DeltaEndpointsStream, fetch_endpoints);
service!(lds::ListenerDiscoveryService, Some(Service::Listeners), stream_listeners -> StreamListenersStream,
    delta_listeners -> DeltaListenersStream, fetch_listeners);
service!(rds::RouteDiscoveryService, Some(Service::Routes), stream_routes -> StreamRoutesStream,
    delta_routes -> DeltaRoutesStream, fetch_routes);
service!(sds::SecretDiscoveryService, Some(Service::Secrets), stream_secrets -> StreamSecretsStream,
    delta_secrets -> DeltaSecretsStream, fetch_secrets);
service!(rtds::RuntimeDiscoveryService, Some(Service::Runtimes), stream_runtime -> StreamRuntimeStream,
    delta_runtime -> DeltaRuntimeStream, fetch_runtime);

/// What is known of a connection, for its streams.
impl tonic::transport::server::Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer()
    }
}
