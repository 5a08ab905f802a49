//! The gRPC services: aggregated discovery and one service for each type, in both variants of the protocol.
//!
//! Each stream is one task: it passes requests and snapshots to [`Stream`](super::stream::Stream), and sends the responses. A client that does not
//! read delays its own task only, and for a limited time.

use super::blame::named;
use super::clients::{Clients, Connected, Node};
use super::connection::Connection;
use super::identity::{Grant, Identities};
use super::message::Request;
use super::peer::Peer;
use super::snapshot::Snapshot;
use super::stream::Stream;
use super::subscription::WILDCARD;
use super::tls::Tls;
use super::token::{self, Tokens, Verdict};
use super::wire::{self, Delta, Outgoing, Sotw, Wire};
use crate::event::Event;
use crate::log_limit::LogLimit;
use crate::proxies::{Assigned, Joined, Proxies, Snapshots};
use crate::replicas::Replicas;
use chancery_core::backend::envoy::v3::Service;
use envoy_types::pb::envoy::config::core::v3 as base;
use envoy_types::pb::envoy::service::status::v3::client_status_discovery_service_server as csds;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tonic::body::Body;
use tonic::codec::Codec;
use tonic::server::NamedService;
use tonic::{Status, Streaming};
use tonic_prost::ProstCodec;

/// How long a client may take to read a response.
const SLOWEST: Duration = Duration::from_secs(60);
/// Responses that wait for a client. Newer changes wait as one snapshot, the latest.
const WAITING: usize = 2;
/// The largest request that is read. An Envoy that reconnects lists everything it has: 16 MiB are enough for some 100,000 resources.
const LARGEST_REQUEST: usize = 16 << 20;
/// Limits the lines about messages that cannot be decoded.
static UNDECODABLE: LogLimit = LogLimit::new();
/// The most streams of a connection.
const MOST_STREAMS: u32 = 256;
const KEEPALIVE: Duration = Duration::from_secs(30);
/// How long the permission of a token is valid: as long as with Consul.
const AUTHORISED: Duration = Duration::from_secs(5 * 60);
/// When a permission that could not be read is requested again.
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// The state that all streams share.
#[derive(Clone, Debug)]
pub struct Xds {
    /// The snapshots of Envoys.
    pub proxies: Proxies,
    /// The connected Envoys.
    pub clients: Clients,
    /// Becomes true when the server must end.
    pub stop: watch::Receiver<bool>,
    /// What the certificates of clients give access to.
    pub identities: Identities,
    /// What the tokens of clients give access to.
    pub tokens: Tokens,
    /// How long an Envoy keeps resources without a heartbeat from this server; `None` means without a limit.
    pub ttl: Option<Duration>,
    /// The replicas that share the gateways.
    pub replicas: Replicas,
}

impl Xds {
    /// Serves, until `stop`.
    ///
    /// # Errors
    ///
    /// The listener fails.
    pub async fn serve(self, listener: TcpListener, tls: Option<Arc<Tls>>) -> Result<(), tonic::transport::Error> {
        let mut stop = self.stop.clone();
        let incoming = super::connection::incoming(listener, tls);
        tonic::transport::Server::builder()
            .http2_keepalive_interval(Some(KEEPALIVE))
            .http2_keepalive_timeout(Some(KEEPALIVE))
            .max_concurrent_streams(Some(MOST_STREAMS))
            .add_service(Ads(self.clone()))
            .add_service(Cds(self.clone()))
            .add_service(Eds(self.clone()))
            .add_service(Lds(self.clone()))
            .add_service(Rds(self.clone()))
            .add_service(Sds(self.clone()))
            .add_service(Rtds(self.clone()))
            .add_service(OldAds(()))
            .add_service(OldCds(()))
            .add_service(OldEds(()))
            .add_service(OldLds(()))
            .add_service(OldRds(()))
            .add_service(csds::ClientStatusDiscoveryServiceServer::new(self))
            .serve_with_incoming_shutdown(incoming, async move {
                // An error means that the sender is gone: stop as well.
                let _ = stop.wait_for(|stop| *stop).await;
            })
            .await
    }

    fn open<W: Wire>(&self, only: Option<Service>, request: hyper::Request<Body>) -> hyper::Response<Body> {
        let peer = request.extensions().get::<Peer>().cloned().unwrap_or_default();
        if only == Some(Service::Secrets) && !peer.may_have_secrets() {
            return Status::permission_denied("certificates are served on this machine, or to clients with their own certificate").into_http();
        }
        let token = request.headers().get(token::HEADER).and_then(|token| token.to_str().ok()).filter(|token| !token.is_empty()).map(str::to_owned);
        let decoder = ProstCodec::<(), W::Request>::default().decoder();
        let requests = Streaming::new_request(decoder, request.into_body(), None, Some(LARGEST_REQUEST));
        let (out, responses) = mpsc::channel(WAITING);
        let task = Task::<W> {
            shared: self.clone(),
            only,
            machine: Stream::new(W::PROTOCOL, only.is_none()).with_ttl(self.ttl),
            node: Node::default(),
            begun: Instant::now(),
            has_asked: false,
            connected: None,
            joined: None,
            peer,
            token,
            authorised: None,
            asked_secrets: BTreeSet::new(),
            sent_of: BTreeMap::new(),
            told_unknown: false,
            out,
            variant: PhantomData,
        };
        tokio::spawn(task.run(requests));
        wire::answer(responses)
    }
}

/// One stream.
struct Task<W: Wire> {
    shared: Xds,
    /// Its only type, unless it is aggregated.
    only: Option<Service>,
    machine: Stream,
    node: Node,
    begun: Instant,
    /// Whether a request has come. Before the first, the node is not known.
    has_asked: bool,
    connected: Option<Connected>,
    joined: Option<Joined>,
    peer: Peer,
    /// The token that the client sends.
    token: Option<String>,
    /// The gateway that the token gives access to, and until when.
    authorised: Option<(Arc<str>, Instant)>,
    /// Names of requested Secrets whose permission is not checked yet.
    asked_secrets: BTreeSet<String>,
    /// The snapshot of the last response of each type.
    sent_of: BTreeMap<Arc<str>, Arc<Snapshot>>,
    told_unknown: bool,
    out: mpsc::Sender<Result<Outgoing, Status>>,
    variant: PhantomData<fn() -> W>,
}

/// Ends a stream, with this status for the client.
struct End(Option<Status>);

impl<W: Wire> Task<W> {
    async fn run(mut self, mut requests: Streaming<W::Request>) {
        let mut snapshots = self.shared.proxies.subscribe();
        let mut stop = self.shared.stop.clone();
        let mut owners = self.shared.replicas.subscribe();
        let end = loop {
            let now = Instant::now();
            let authorised = self.authorised.as_ref().map(|(_, until)| *until).filter(|until| *until > now);
            let wakes = [self.machine.wake(now), self.deadline(&snapshots.borrow()).filter(|at| *at > now), authorised];
            let wake = wakes.into_iter().flatten().min().unwrap_or(now + Duration::from_secs(3600));
            let step = tokio::select! {
                request = requests.message() => match request {
                    Ok(Some(request)) => self.request(W::read(request)),
                    Ok(None) => Err(End(None)),
                    Err(status) => Err(self.end_of(status)),
                },
                changed = snapshots.changed() => changed.map_err(|_| End(None)),
                changed = owners.changed() => changed.map_err(|_| End(None)),
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
            // The client may be gone.
            let _ = self.out.try_send(Err(status));
        }
    }

    /// How a stream ends that cannot be read any more.
    fn end_of(&self, status: Status) -> End {
        use tonic::Code::{Internal, InvalidArgument, OutOfRange, ResourceExhausted, Unimplemented};
        // Other codes mean that the client went away, or that the network was cut.
        if !matches!(status.code(), Internal | InvalidArgument | OutOfRange | ResourceExhausted | Unimplemented)
            || std::error::Error::source(&status).is_some()
        {
            return End(None);
        }
        self.shared.clients.counts.undecodable();
        if let Some(suppressed) = UNDECODABLE.allow() {
            let client = self.peer.address.map(|address| address.to_string());
            tracing::warn!(node = %self.node.id, client, suppressed, "a message on an xDS stream cannot be decoded: {}", status.message());
        }
        End(Some(Status::new(status.code(), status.message())))
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
        if request.type_url.contains("/envoy.api.v2.") {
            tracing::warn!(node = %self.node.id, "an Envoy asks for {}: {OLD_VERSION}", request.type_url);
            return Err(End(Some(Status::invalid_argument(OLD_VERSION))));
        }
        if request.type_url == Service::Secrets.type_url() {
            self.asked_secrets.extend(request.names.iter().chain(&request.subscribe).cloned());
        }
        self.has_asked = true;
        if let Some(verdict) = self.machine.request(&request, Instant::now()) {
            // An answered snapshot is not needed any more. It would keep the inputs of its build in memory.
            let answered = |sent: &mut Arc<Snapshot>| std::mem::replace(sent, Arc::new(Snapshot::new(sent.gateway.clone())));
            let snapshot = self.sent_of.get_mut(&verdict.type_url).map(answered).unwrap_or_default();
            let (clients, id) = (self.shared.clients.clone(), self.node.id.clone());
            if let Some(message) = &verdict.rejected {
                if let Some(joined) = &self.joined {
                    joined.rejected(&snapshot, &verdict.type_url, &named(&verdict.names, message));
                }
                // Finding the blamed places takes as long as a compile.
                tokio::task::spawn_blocking(move || clients.answered(&id, &verdict, &snapshot));
            } else {
                clients.answered(&id, &verdict, &snapshot);
            }
        }
        Ok(())
    }

    /// Returns until when this Envoy must answer, if it tries a change for the others.
    fn deadline(&self, latest: &Snapshots) -> Option<Instant> {
        let gateway = self.sent_of.values().next()?.gateway.clone();
        self.joined.as_ref()?.deadline(latest, &gateway)
    }

    async fn pump(&mut self, latest: &Snapshots) -> Result<(), End> {
        if !self.has_asked {
            return Ok(());
        }
        if self.joined.is_none() {
            self.joined = Some(self.shared.proxies.join(&self.node));
        }
        if self.deadline(latest).is_some_and(|at| at <= Instant::now())
            && let (Some(joined), Some(sent)) = (&self.joined, self.sent_of.values().next())
        {
            joined.give_up(&sent.gateway);
        }
        let assigned = self.shared.proxies.assign(&self.node, latest);
        self.check_owner(&assigned, latest).await?;
        let gateway = assigned.snapshot().map(|snapshot| snapshot.gateway.to_string());
        match &self.connected {
            None => self.connected = Some(self.shared.clients.open(&self.node, gateway.as_deref())),
            Some(_) => self.shared.clients.moved(&self.node.id, gateway.as_deref()),
        }
        let snapshot = match assigned {
            // The first build, or the build after another replica crashed, follows.
            Assigned::Early | Assigned::Unbuilt(_) => return Ok(()),
            Assigned::Unknown => {
                if !std::mem::replace(&mut self.told_unknown, true) {
                    self.report_unknown_node(latest);
                }
                return Ok(());
            }
            Assigned::Snapshot(snapshot) => snapshot,
        };
        self.told_unknown = false;
        self.authorise(&snapshot.gateway).await?;
        let given = self.granted(&snapshot, latest)?;
        for response in self.machine.pump(&given, Instant::now()) {
            if !response.heartbeat {
                self.shared.clients.sent(&self.node.id, &response.type_url, &response.version);
                self.sent_of.insert(response.type_url.clone(), snapshot.clone());
            }
            let outgoing = Outgoing::new::<W>(response).map_err(|status| {
                tracing::error!(node = %self.node.id, "{}", status.message());
                End(Some(status))
            })?;
            match self.out.send_timeout(Ok(outgoing), SLOWEST).await {
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

    /// Ends the stream if another replica serves its gateway, so that the Envoy tries the next address.
    async fn check_owner(&self, assigned: &Assigned, latest: &Snapshots) -> Result<(), End> {
        let replicas = &self.shared.replicas;
        let refused = |why: String| Err(End(Some(Status::unavailable(why))));
        let Some(gateway) = assigned.gateway() else {
            return match assigned {
                Assigned::Early if replicas.view().has_others() => refused("this replica is not ready; another one is".into()),
                _ => Ok(()),
            };
        };
        if replicas.view().owner(gateway).is_none() {
            return Ok(());
        }
        if self.grant(gateway, latest) == Grant::Nothing {
            return Err(self.forbid(&format!("the gateway {gateway}")));
        }
        replicas.checked_since(self.begun).await;
        let view = replicas.view();
        let Some(owner) = view.owner(gateway) else { return Ok(()) };
        if replicas.refuse(gateway, (&self.node.id, self.only.map_or("all", Service::list))) {
            return Ok(());
        }
        tracing::debug!(node = %self.node.id, gateway = &**gateway, "a stream is refused: {owner} serves its gateway");
        refused(format!("the replica {owner} serves the gateway {gateway}"))
    }

    /// Ends the stream if its token gives no access to a gateway. A client that had access keeps it while that cannot be checked.
    async fn authorise(&mut self, gateway: &Arc<str>) -> Result<(), End> {
        let known = self.authorised.as_ref().filter(|(of, _)| of == gateway);
        if self.shared.tokens.is_empty() || known.is_some_and(|(_, until)| *until > Instant::now()) {
            return Ok(());
        }
        let lasts = match self.shared.tokens.may(self.token.as_deref(), gateway).await {
            Verdict::Allowed => AUTHORISED,
            Verdict::Unknown(_) if known.is_some() => ASK_AGAIN,
            Verdict::Unknown(why) => return Err(End(Some(Status::unavailable(why)))),
            Verdict::Denied(why) => {
                tracing::warn!(node = %self.node.id, "a client's token may not ask for the gateway {gateway}");
                return Err(End(Some(Status::permission_denied(why))));
            }
        };
        self.authorised = Some((gateway.clone(), Instant::now() + lasts));
        Ok(())
    }

    /// Returns what the client's certificate gives access to.
    fn grant(&self, gateway: &str, latest: &Snapshots) -> Grant {
        self.shared.identities.grant(&self.peer, gateway, latest.iter().flat_map(|all| all.names()))
    }

    /// Ends a stream that requests something forbidden.
    fn forbid(&self, what: &str) -> End {
        let names = self.peer.names.join(", ");
        tracing::warn!(node = %self.node.id, certificate = %names, "a client may not ask for {what}");
        End(Some(Status::permission_denied(format!("the certificate of {names} may not ask for {what}"))))
    }

    /// Returns the part of a snapshot that this client may have. A request for more ends the stream.
    fn granted(&mut self, snapshot: &Arc<Snapshot>, latest: &Snapshots) -> Result<Arc<Snapshot>, End> {
        let grant = self.grant(&snapshot.gateway, latest);
        let asked = std::mem::take(&mut self.asked_secrets);
        let refused = match &grant {
            Grant::Nothing => Some(format!("the gateway {}", snapshot.gateway)),
            grant => {
                asked.iter().find(|name| !name.is_empty() && **name != WILDCARD && !grant.has_secret(name)).map(|name| format!("the Secret {name}"))
            }
        };
        if let Some(what) = refused {
            return Err(self.forbid(&what));
        }
        let url = Service::Secrets.type_url();
        Ok(if self.peer.may_have_secrets() { grant.of(snapshot) } else { Arc::new(snapshot.without(&url)) })
    }

    fn report_unknown_node(&self, latest: &Snapshots) {
        let gateways: Vec<&str> = latest.iter().flat_map(|all| all.names()).collect();
        let detail = if gateways.is_empty() {
            "there is no gateway in the configuration".to_owned()
        } else {
            format!("neither its id nor its cluster is a gateway: there are {}", gateways.join(", "))
        };
        self.shared.clients.events().publish(Event::UnknownNode { id: self.node.id.clone(), cluster: self.node.cluster.clone(), detail });
    }
}

/// Returns the name and version of a client's program, such as `envoy 1.40.0`.
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

/// Declares a gRPC service by its full name, and the function that answers it.
macro_rules! service {
    ($name:ident($state:ty), $path:literal, $answer:expr) => {
        #[derive(Clone)]
        struct $name($state);

        impl NamedService for $name {
            const NAME: &'static str = $path;
        }

        impl tonic::codegen::Service<hyper::Request<Body>> for $name {
            type Response = hyper::Response<Body>;
            type Error = Infallible;
            type Future = std::future::Ready<Result<Self::Response, Infallible>>;

            fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
                Poll::Ready(Ok(()))
            }

            fn call(&mut self, request: hyper::Request<Body>) -> Self::Future {
                std::future::ready(Ok($answer(&self.0, request)))
            }
        }
    };
}

/// Declares a discovery service of all types, or of one, and the names of its two methods.
macro_rules! discovery {
    ($name:ident, $path:literal, $only:expr, $sotw:literal, $delta:literal) => {
        service!($name(Xds), $path, |xds: &Xds, request: hyper::Request<Body>| {
            match request.uri().path().rsplit('/').next() {
                Some($sotw) => xds.open::<Sotw>($only, request),
                Some($delta) => xds.open::<Delta>($only, request),
                _ => Status::unimplemented("resources are sent on a stream").into_http(),
            }
        });
    };
}

discovery!(Ads, "envoy.service.discovery.v3.AggregatedDiscoveryService", None, "StreamAggregatedResources", "DeltaAggregatedResources");
discovery!(Cds, "envoy.service.cluster.v3.ClusterDiscoveryService", Some(Service::Clusters), "StreamClusters", "DeltaClusters");
discovery!(Eds, "envoy.service.endpoint.v3.EndpointDiscoveryService", Some(Service::Endpoints), "StreamEndpoints", "DeltaEndpoints");
discovery!(Lds, "envoy.service.listener.v3.ListenerDiscoveryService", Some(Service::Listeners), "StreamListeners", "DeltaListeners");
discovery!(Rds, "envoy.service.route.v3.RouteDiscoveryService", Some(Service::Routes), "StreamRoutes", "DeltaRoutes");
discovery!(Sds, "envoy.service.secret.v3.SecretDiscoveryService", Some(Service::Secrets), "StreamSecrets", "DeltaSecrets");
discovery!(Rtds, "envoy.service.runtime.v3.RuntimeDiscoveryService", Some(Service::Runtimes), "StreamRuntime", "DeltaRuntime");

service!(OldAds(()), "envoy.service.discovery.v2.AggregatedDiscoveryService", refuse_old);
service!(OldCds(()), "envoy.api.v2.ClusterDiscoveryService", refuse_old);
service!(OldEds(()), "envoy.api.v2.EndpointDiscoveryService", refuse_old);
service!(OldLds(()), "envoy.api.v2.ListenerDiscoveryService", refuse_old);
service!(OldRds(()), "envoy.api.v2.RouteDiscoveryService", refuse_old);

/// The message for an Envoy that uses version 2 of the protocol.
const OLD_VERSION: &str = "this server speaks version 3 of xDS only: set resource_api_version and transport_api_version to V3";

/// Refuses a request in version 2 of the protocol, and logs the client.
fn refuse_old((): &(), request: hyper::Request<Body>) -> hyper::Response<Body> {
    let client = request.extensions().get::<Peer>().and_then(|peer| peer.address).map(|address| address.to_string());
    tracing::warn!(client, method = request.uri().path(), "an Envoy asks for resources by an older version: {OLD_VERSION}");
    Status::unimplemented(OLD_VERSION).into_http()
}

/// Gives streams the client of their connection.
impl tonic::transport::server::Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer()
    }
}
