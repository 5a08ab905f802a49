//! Tests Envoys with mTLS: clients without a certificate, or with a foreign certificate, get nothing; certificates
//! rotate while connections stay open.

#[path = "support/authority.rs"]
mod authority;

use authority::{Authority, write};
use chancery_core::backend::envoy::v3::{Encoded, Fingerprint, Service};
use chancery_live::event::{Events, SourceState};
use chancery_live::proxies::Proxies;
use chancery_live::replicas::{Replicas, share};
use chancery_live::sources::States;
use chancery_live::xds::clients::Clients;
use chancery_live::xds::identity::{Identities, Rule};
use chancery_live::xds::server::Xds;
use chancery_live::xds::snapshot::{Resources, Snapshot};
use chancery_live::xds::tls::{Files, Tls};
use chancery_live::xds::token::Tokens;
use envoy_types::pb::envoy::config::core::v3::Node;
use envoy_types::pb::envoy::service::discovery::v3::aggregated_discovery_service_client::AggregatedDiscoveryServiceClient;
use envoy_types::pb::envoy::service::discovery::v3::{DiscoveryRequest, DiscoveryResponse};
use envoy_types::pb::envoy::service::status::v3::ClientStatusRequest;
use envoy_types::pb::envoy::service::status::v3::client_status_discovery_service_client::ClientStatusDiscoveryServiceClient;
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Streaming};

async fn connect(port: u16, server: &Authority, client: Option<(String, String)>) -> Result<Channel, tonic::transport::Error> {
    let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&server.pem)).domain_name("localhost");
    if let Some((certificate, key)) = client {
        tls = tls.identity(Identity::from_pem(certificate, key));
    }
    Endpoint::from_shared(format!("https://127.0.0.1:{port}"))?.tls_config(tls)?.connect_timeout(Duration::from_secs(5)).connect().await
}

/// Requests clusters, and returns whether an answer arrived.
async fn is_answered(channel: Channel) -> bool {
    ask(channel, "", Service::Clusters, &[]).await.is_ok()
}

/// Requests resources as a node. Returns their number, or why no answer arrived.
async fn ask(channel: Channel, node: &str, service: Service, names: &[&str]) -> Result<usize, Code> {
    open(channel, node, service, names).await.map(|(.., count)| count)
}

/// A stream, which lasts as long as both of its ends.
type Open = (mpsc::Sender<DiscoveryRequest>, Streaming<DiscoveryResponse>, usize);

/// Requests resources as a node, and keeps the stream open.
async fn open(channel: Channel, node: &str, service: Service, names: &[&str]) -> Result<Open, Code> {
    let (send, requests) = mpsc::channel(4);
    let node = Some(Node { id: node.into(), ..Default::default() });
    let resource_names = names.iter().map(|name| (*name).to_owned()).collect();
    let request = DiscoveryRequest { node, type_url: service.type_url(), resource_names, ..Default::default() };
    send.send(request).await.expect("an open channel");
    let stream = AggregatedDiscoveryServiceClient::new(channel).stream_aggregated_resources(ReceiverStream::new(requests)).await;
    let mut stream = stream.map_err(|status| status.code())?.into_inner();
    let answer = tokio::time::timeout(Duration::from_secs(5), stream.message()).await;
    match answer {
        Ok(Ok(Some(answer))) => Ok((send, stream, answer.resources.len())),
        Ok(Err(status)) => Err(status.code()),
        Ok(Ok(None)) | Err(_) => Err(Code::Unknown),
    }
}

/// Returns the nodes whose resources a client may read.
async fn seen(channel: &Channel) -> Vec<String> {
    let answer = ClientStatusDiscoveryServiceClient::new(channel.clone()).fetch_client_status(ClientStatusRequest::default()).await;
    let clients = answer.expect("an answer").into_inner().config;
    let mut nodes: Vec<String> = clients.into_iter().filter_map(|client| client.node).map(|node| node.id).collect();
    nodes.sort();
    nodes
}

/// Returns a snapshot with two Secrets.
fn snapshot(gateway: &str) -> Snapshot {
    let secret =
        |name: &str| Arc::new(Encoded { name: format!("{gateway}/{name}").into(), version: Fingerprint::of(&[name.as_bytes()]), value: Vec::new() });
    let mut out = Snapshot::new(gateway);
    out.set(Service::Secrets.type_url(), Arc::new(Resources::new([secret("a"), secret("b")])));
    out
}

#[tokio::test]
async fn certificate_names_decide_permissions() {
    let folder = tempfile::tempdir().expect("a folder");
    let ours = Authority::new();
    write(folder.path(), &ours, &ours);
    let path = |name: &str| folder.path().join(name);
    let files = Files { certificate: path("server.crt"), key: path("server.key"), client_ca: Some(path("clients.crt")) };
    let tls = Arc::new(Tls::new(files).expect("certificates"));
    let (proxies, identities) = (Proxies::default(), Identities::default());
    for gateway in ["one", "two"] {
        proxies.publish_one(snapshot(gateway));
    }
    let (_stop, stopping) = watch::channel(false);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let clients = Clients::new(Events::default());
    let xds = Xds {
        proxies: proxies.clone(),
        clients,
        stop: stopping,
        identities: identities.clone(),
        tokens: Tokens::default(),
        ttl: None,
        replicas: Replicas::default(),
    };
    tokio::spawn(xds.serve(listener, Some(tls)));
    let as_name = async |name: &str| connect(port, &ours, Some(ours.sign(name))).await.expect("a connection");
    let (one, other) = (as_name("one").await, as_name("envoy").await);
    let secrets = async |channel: &Channel, node: &str, names: &[&str]| ask(channel.clone(), node, Service::Secrets, names).await;

    assert_eq!(secrets(&one, "one", &["one/a"]).await, Ok(1));
    assert_eq!(secrets(&one, "two", &["two/a"]).await, Err(Code::PermissionDenied), "it names the other gateway");
    assert_eq!(secrets(&other, "two", &["two/a"]).await, Ok(1), "it names none");

    let held = [open(one.clone(), "one", Service::Secrets, &["one/a"]).await, open(other.clone(), "two", Service::Secrets, &["two/a"]).await];
    assert!(held.iter().all(Result::is_ok));
    assert_eq!(seen(&one).await, ["one"], "what Envoys have is read by the same rule");
    assert_eq!(seen(&other).await, ["one", "two"]);
    drop(held);

    let rule = Rule { name: "env*".into(), gateways: vec!["two".into()], secrets: Some(vec!["two/a".into()]) };
    identities.set(Some(vec![rule]));
    assert_eq!(secrets(&one, "one", &["one/a"]).await, Err(Code::PermissionDenied), "no rule names it");
    assert_eq!(secrets(&other, "two", &["two/a"]).await, Ok(1));
    assert_eq!(secrets(&other, "two", &["two/a", "two/b"]).await, Err(Code::PermissionDenied), "the rule names one Secret");
    assert_eq!(secrets(&other, "one", &["one/a"]).await, Err(Code::PermissionDenied));
}

#[tokio::test]
async fn certificate_names_gateways_of_other_replicas() {
    let folder = tempfile::tempdir().expect("a folder");
    let ours = Authority::new();
    write(folder.path(), &ours, &ours);
    let path = |name: &str| folder.path().join(name);
    let files = Files { certificate: path("server.crt"), key: path("server.key"), client_ca: Some(path("clients.crt")) };
    let (proxies, replicas, (_stop, stopping)) = (Proxies::default(), Replicas::shared(), watch::channel(false));
    let members: [Arc<str>; 2] = ["a", "b"].map(Arc::from);
    let gateway_of = |owner: usize| {
        let all = (0..).map(|number| format!("g{number}"));
        all.into_iter().find(|gateway| share::owner(&members, gateway) == members.get(owner)).expect("a gateway")
    };
    let (own, other) = (gateway_of(0), gateway_of(1));
    let served = [(Arc::from(&*own), Arc::new(snapshot(&own)))].into();
    proxies.publish_share(served, [Arc::from(&*other)].into());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let clients = Clients::new(Events::default());
    let identities = Identities::default();
    let xds = Xds { proxies, clients, stop: stopping, identities, tokens: Tokens::default(), ttl: None, replicas: replicas.clone() };
    tokio::spawn(xds.serve(listener, Some(Arc::new(Tls::new(files).expect("certificates")))));
    let check = || replicas.note(std::time::Instant::now(), members.to_vec(), members.first().cloned(), Vec::new());
    check();
    let secret = format!("{own}/a");
    let ask_as = async |name: &str, node: &str| {
        let channel = connect(port, &ours, Some(ours.sign(name))).await.expect("a connection");
        let names = [&*secret];
        let answer = ask(channel, node, Service::Secrets, &names);
        let checked = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            check();
        };
        tokio::join!(answer, checked).0
    };
    assert_eq!(ask_as(&own, &own).await, Ok(1));
    assert_eq!(ask_as(&other, &own).await, Err(Code::PermissionDenied), "it names a gateway, though another replica serves it");
    assert_eq!(ask_as(&other, &other).await, Err(Code::Unavailable), "the other replica serves it");
    assert_eq!(ask_as(&own, &other).await, Err(Code::PermissionDenied), "it learns nothing about the owner");
}

#[tokio::test]
async fn certificates_are_required_and_rotate() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ours, theirs, next) = (Authority::new(), Authority::new(), Authority::new());
    write(folder.path(), &ours, &ours);
    let path = |name: &str| folder.path().join(name);
    let files = Files { certificate: path("server.crt"), key: path("server.key"), client_ca: Some(path("clients.crt")) };
    let tls = Arc::new(Tls::new(files).expect("certificates"));
    let proxies = Proxies::default();
    proxies.publish_one(Snapshot::new("g"));
    let (_stop, stopping) = watch::channel(false);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(
        Xds {
            proxies,
            clients: Clients::new(Events::default()),
            stop: stopping,
            identities: Identities::default(),
            tokens: Tokens::default(),
            ttl: None,
            replicas: Replicas::default(),
        }
        .serve(listener, Some(tls)),
    );

    let known = connect(port, &ours, Some(ours.sign("envoy"))).await.expect("a connection");
    assert!(is_answered(known.clone()).await);
    for client in [None, Some(theirs.sign("envoy"))] {
        let is_let_in = match connect(port, &ours, client).await {
            Ok(channel) => is_answered(channel).await,
            Err(_) => false,
        };
        assert!(!is_let_in, "who is not known gets nothing");
    }

    // Half of a change changes nothing; new connections get the whole change.
    fs::write(path("server.key"), "half").expect("a file");
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let channel = connect(port, &ours, Some(ours.sign("envoy"))).await.expect("the old certificate");
    assert!(is_answered(channel).await);
    write(folder.path(), &next, &next);
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert!(connect(port, &ours, Some(ours.sign("envoy"))).await.is_err(), "the old authority is no longer the server's");
    let channel = connect(port, &next, Some(next.sign("envoy"))).await.expect("the new certificate");
    assert!(is_answered(channel).await);
    assert!(is_answered(known).await, "the connection from before lasts");
}

#[tokio::test]
async fn expired_certificate_is_reported_until_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let ours = Authority::new();
    write(folder.path(), &ours, &ours);
    let path = |name: &str| folder.path().join(name);
    let files = Files { certificate: path("server.crt"), key: path("server.key"), client_ca: Some(path("clients.crt")) };
    let tls = Arc::new(Tls::new(files).expect("certificates"));
    let (states, events) = (States::default(), Events::default());
    let watching = tokio::spawn(tls.clone().watch(states.clone(), events));
    let state = async |wanted: SourceState, part: &str| {
        let begin = std::time::Instant::now();
        loop {
            let now = states.all().pop().map(|of| (of.state, of.detail.unwrap_or_default()));
            if now.as_ref().is_some_and(|(state, detail)| *state == wanted && detail.contains(part)) {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(10), "{now:?} is not {wanted:?} with `{part}`");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(states.all().is_empty(), "nothing is wrong: {:?}", states.all());
    // A complete change, with an expired certificate, as if time had passed.
    let (certificate, key) = ours.sign_until("localhost", 2020);
    fs::write(path("server.key"), key).expect("a file");
    state(SourceState::Error, "do not go together").await;
    fs::write(path("server.crt"), certificate).expect("a file");
    state(SourceState::Error, "server.crt has expired at 2020-01-01T00:00:00Z: replace the file").await;
    write(folder.path(), &ours, &ours);
    state(SourceState::Synced, "").await;
    watching.abort();

    // An Envoy whose certificate has expired gets nothing.
    let (_stop, stopping) = watch::channel(false);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let clients = Clients::new(Events::default());
    let xds = Xds {
        proxies: Proxies::default(),
        clients,
        stop: stopping,
        identities: Identities::default(),
        tokens: Tokens::default(),
        ttl: None,
        replicas: Replicas::default(),
    };
    tokio::spawn(xds.serve(listener, Some(tls)));
    let expired = ours.sign_until("envoy", 2020);
    let is_let_in = match connect(port, &ours, Some(expired)).await {
        Ok(channel) => is_answered(channel).await,
        Err(_) => false,
    };
    assert!(!is_let_in);
}

#[test]
fn wrong_files_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let told = |certificate: &str, key: &str| {
        let files = Files { certificate: path(certificate), key: path(key), client_ca: None };
        Tls::new(files).err().map(|failure| failure.0).unwrap_or_default()
    };
    let (one, other) = (Authority::new().sign("a"), Authority::new().sign("b"));
    fs::write(path("a.crt"), &one.0).expect("a file");
    fs::write(path("a.key"), &one.1).expect("a file");
    fs::write(path("b.key"), &other.1).expect("a file");
    assert!(told("nowhere", "a.key").contains("nowhere"));
    assert!(told("a.key", "a.key").contains("a.key contains no certificate in PEM"));
    assert!(told("a.crt", "a.crt").contains("a.crt contains no private key in PEM"));
    assert!(told("a.crt", "b.key").contains("do not go together"), "{}", told("a.crt", "b.key"));
    assert_eq!(told("a.crt", "a.key"), "");
}
