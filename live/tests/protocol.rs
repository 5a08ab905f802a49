//! Tests cases that the CNCF's conformance test leaves out: rejections, reconnects, wildcards, order, unknown nodes,
//! certificates in TLS, slow clients and faulty clients.

mod support;

use chancery_core::backend::envoy::v3::{Encoded, Fingerprint, Service};
use chancery_live::event::Event;
use chancery_live::xds::snapshot::{Resources, Snapshot};
use envoy_types::pb::envoy::service::discovery::v3::aggregated_discovery_service_client::AggregatedDiscoveryServiceClient;
use envoy_types::pb::envoy::service::discovery::v3::{DiscoveryRequest, DiscoveryResponse};
use envoy_types::pb::envoy::service::status::v3::client_config::GenericXdsConfig;
use envoy_types::pb::envoy::service::status::v3::client_status_discovery_service_client::ClientStatusDiscoveryServiceClient;
use envoy_types::pb::envoy::service::status::v3::{ClientStatusRequest, ConfigStatus};
use envoy_types::pb::envoy::r#type::matcher::v3::{NodeMatcher, StringMatcher, string_matcher};
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Client, Server, Variant};
use tokio_stream::StreamExt;
use tonic::Code;

const CDS: Service = Service::Clusters;
const EDS: Service = Service::Endpoints;
const LDS: Service = Service::Listeners;
const RDS: Service = Service::Routes;

fn encoded(name: &str, content: &str) -> Arc<Encoded> {
    // A name, and a second field that these tests do not read.
    let value: Vec<u8> = [&[10, name.len() as u8], name.as_bytes(), &[18, content.len() as u8], content.as_bytes()].concat();
    Arc::new(Encoded { name: name.into(), version: Fingerprint::of(&[&value]), value })
}

/// Returns a snapshot. A resource is `("cds", "a", "1")`: service, name, content.
fn snapshot(gateway: &str, all: &[(Service, &str, &str)]) -> Snapshot {
    let mut out = Snapshot::new(gateway);
    for service in Service::ALL {
        let of = all.iter().filter(|(of, ..)| *of == service).map(|(_, name, content)| encoded(name, content));
        out.set(service.type_url(), Arc::new(Resources::new(of)));
    }
    out
}

fn types(client: &Client, from: usize) -> Vec<(String, Vec<String>, Vec<String>)> {
    let short = |url: &str| url.rsplit('.').next().unwrap_or_default().to_owned();
    client.got[from..].iter().map(|got| (short(&got.type_url), got.names.clone(), got.removed.clone())).collect()
}

/// Waits for a state of the server, which follows an answer at any later time.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    while !holds().await {
        assert!(begin.elapsed() < Duration::from_secs(10), "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn rejection_is_reported_once() {
    for variant in [Variant::Sotw, Variant::Delta] {
        let server = Server::start().await;
        server.proxies.publish_one(snapshot("g", &[(CDS, "a", "1"), (CDS, "b", "1")]));
        let mut client = Client::open(&server, variant, None, "n").await;
        client.subscribe(&CDS.type_url(), &[]).await;
        client.settle().await;
        client.reject = Some("Error adding/updating cluster(s) a: no such thing".into());
        server.proxies.publish_one(snapshot("g", &[(CDS, "a", "bad"), (CDS, "b", "1")]));
        client.settle().await;
        let told = client.got.len();
        client.settle().await;
        assert_eq!(client.got.len(), told, "{variant:?}: the same is not sent again");
        let rejected = || {
            let all = server.clients.events().timeline().into_iter();
            all.filter_map(|dated| if let Event::Rejected { resource, .. } = dated.event { Some(resource) } else { None }).collect::<Vec<_>>()
        };
        until("the rejection is reported", async || !rejected().is_empty()).await;
        assert_eq!(rejected(), ["a"], "{variant:?}: it is the one that the message names");
        let is_rejected = || server.clients.all()[0].types[&CDS.type_url()].rejected.is_some();
        assert!(is_rejected());
        server.proxies.publish_one(snapshot("g", &[(CDS, "a", "good"), (CDS, "b", "1")]));
        client.settle().await;
        assert_eq!(client.got.len(), told + 1, "{variant:?}: the fixed resource is sent");
        until("it is accepted", async || !is_rejected()).await;
    }
}

#[tokio::test]
async fn reconnected_client_gets_only_changes() {
    let server = Server::start().await;
    server.proxies.publish_one(snapshot("g", &[(CDS, "same", "1"), (CDS, "changed", "1"), (CDS, "gone", "1")]));
    let mut first = Client::open(&server, Variant::Delta, None, "n").await;
    first.change(&CDS.type_url(), &[], &[], &[]).await;
    first.settle().await;
    let got = first.got.first().expect("a response").clone();
    let versions: Vec<(&str, &str)> = got.names.iter().map(String::as_str).zip(got.versions.iter().map(String::as_str)).collect();
    assert_eq!(versions.len(), 3);
    drop(first);
    server.proxies.publish_one(snapshot("g", &[(CDS, "same", "1"), (CDS, "changed", "2"), (CDS, "new", "1")]));
    let mut second = Client::open(&server, Variant::Delta, None, "n").await;
    second.change(&CDS.type_url(), &[], &[], &versions).await;
    second.settle().await;
    assert_eq!(second.known[&CDS.type_url()].keys().collect::<Vec<_>>(), ["changed", "new"]);
    assert_eq!(second.removed[&CDS.type_url()].iter().collect::<Vec<_>>(), ["gone"]);
}

#[tokio::test]
async fn reconnected_client_gets_only_changes_by_name() {
    let server = Server::start().await;
    server.proxies.publish_one(snapshot("g", &[(EDS, "a", "1"), (EDS, "b", "1")]));
    let mut first = Client::open(&server, Variant::Delta, None, "n").await;
    first.change(&EDS.type_url(), &["a", "b"], &[], &[]).await;
    first.settle().await;
    let got = first.got.first().expect("a response").clone();
    let versions: Vec<(&str, &str)> = got.names.iter().map(String::as_str).zip(got.versions.iter().map(String::as_str)).collect();
    let mut second = Client::open(&server, Variant::Delta, None, "n").await;
    second.change(&EDS.type_url(), &["a", "b"], &[], &versions).await;
    second.settle().await;
    assert!(second.got.iter().all(|got| got.names.is_empty()), "{:?}", second.got);
    second.change(&EDS.type_url(), &["a"], &[], &[]).await;
    second.settle().await;
    assert_eq!(second.got.last().map(|got| got.names.clone()), Some(vec!["a".to_owned()]), "asked for again, it is sent again");
}

#[tokio::test]
async fn wildcards_of_delta() {
    let server = Server::start().await;
    server.proxies.publish_one(snapshot("g", &[(RDS, "a", "1"), (RDS, "b", "1"), (LDS, "l", "1")]));
    let mut client = Client::open(&server, Variant::Delta, None, "n").await;
    client.change(&RDS.type_url(), &["*"], &[], &[]).await;
    client.settle().await;
    assert_eq!(client.known[&RDS.type_url()].len(), 2, "an asterisk means all of any type");
    client.change(&RDS.type_url(), &[], &["*"], &[]).await;
    client.settle().await;
    server.proxies.publish_one(snapshot("g", &[(RDS, "a", "2"), (RDS, "b", "1"), (LDS, "l", "1")]));
    let before = client.got.len();
    client.settle().await;
    assert_eq!(client.got.len(), before, "no longer");
    client.change(&LDS.type_url(), &["l"], &[], &[]).await;
    client.change(&LDS.type_url(), &[], &["l"], &[]).await;
    client.settle().await;
    server.proxies.publish_one(snapshot("g", &[(LDS, "l", "3")]));
    let before = client.got.len();
    client.settle().await;
    assert_eq!(client.got.len(), before, "names that are all given back do not mean all");
}

#[tokio::test]
async fn an_empty_gateway_is_an_answer() {
    for variant in [Variant::Sotw, Variant::Delta] {
        let server = Server::start().await;
        server.proxies.publish_one(snapshot("g", &[]));
        let mut client = Client::open(&server, variant, None, "n").await;
        client.subscribe(&CDS.type_url(), &[]).await;
        client.settle().await;
        assert_eq!(client.got.len(), 1, "{variant:?}: Envoy waits for it before it listens");
    }
}

#[tokio::test]
async fn updates_respect_order_of_references() {
    for variant in [Variant::Sotw, Variant::Delta] {
        let server = Server::start().await;
        let all = [(CDS, "old", "1"), (EDS, "old", "1"), (LDS, "l", "1"), (RDS, "r", "old")];
        server.proxies.publish_one(snapshot("g", &all));
        let mut client = Client::open(&server, variant, None, "n").await;
        client.subscribe(&CDS.type_url(), &[]).await;
        client.settle().await;
        client.subscribe(&EDS.type_url(), &["old", "new"]).await;
        client.subscribe(&LDS.type_url(), &[]).await;
        client.subscribe(&RDS.type_url(), &["r"]).await;
        client.settle().await;
        let before = client.got.len();
        server.proxies.publish_one(snapshot("g", &[(CDS, "new", "1"), (EDS, "new", "1"), (LDS, "l", "2"), (RDS, "r", "new")]));
        // Until the client answers, it does not have the new cluster. So no resource that refers to the cluster arrives
        // before.
        let first = client.next().await.expect("a response");
        assert!(first.type_url.ends_with("Cluster") && first.names.contains(&"new".to_owned()), "{first:?}");
        if variant == Variant::Sotw {
            assert!(first.names.contains(&"old".to_owned()), "omitted names would be removed: {first:?}");
        }
        assert!(client.next().await.is_none(), "{variant:?}: the rest waits for the answer");
        client.answer(&first).await;
        client.settle().await;
        let order = types(&client, before);
        let kinds: Vec<&str> = order.iter().map(|(kind, ..)| kind.as_str()).collect();
        match variant {
            Variant::Sotw => {
                assert_eq!(kinds, ["Cluster", "ClusterLoadAssignment", "Listener", "RouteConfiguration", "Cluster"], "{order:?}");
                assert_eq!(order[4].1, ["new"]);
            }
            Variant::Delta => {
                assert_eq!(kinds, ["Cluster", "ClusterLoadAssignment", "Listener", "RouteConfiguration", "Cluster", "ClusterLoadAssignment"]);
                assert_eq!(order[4].2, ["old"], "{order:?}");
                assert!(order[..4].iter().all(|(_, _, removed)| removed.is_empty()), "{order:?}");
            }
        }
    }
}

#[tokio::test]
async fn silent_client_delays_rest_briefly() {
    let server = Server::start().await;
    server.proxies.publish_one(snapshot("g", &[(CDS, "a", "1"), (RDS, "r", "1")]));
    let mut client = Client::open(&server, Variant::Delta, None, "n").await;
    client.change(&CDS.type_url(), &[], &[], &[]).await;
    client.change(&RDS.type_url(), &["r"], &[], &[]).await;
    client.settle().await;
    server.proxies.publish_one(snapshot("g", &[(CDS, "a", "2"), (RDS, "r", "2")]));
    assert!(client.next().await.is_some_and(|got| got.type_url == CDS.type_url()));
    let begin = Instant::now();
    while client.next().await.is_none() {
        assert!(begin.elapsed() < Duration::from_secs(20), "the routes never come");
    }
    assert!(begin.elapsed() > Duration::from_millis(500), "they waited: {:?}", begin.elapsed());
}

#[tokio::test]
async fn slow_client_gets_latest_snapshot() {
    let server = Server::start().await;
    server.proxies.publish_one(snapshot("g", &[(RDS, "r", "0")]));
    let mut client = Client::open(&server, Variant::Delta, Some(RDS), "n").await;
    client.change(&RDS.type_url(), &["r"], &[], &[]).await;
    let first = client.next().await.expect("a response");
    for version in 1..=50 {
        server.proxies.publish_one(snapshot("g", &[(RDS, "r", &version.to_string())]));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    client.answer(&first).await;
    client.settle().await;
    assert!(client.got.len() <= 3, "{} responses", client.got.len());
    let last = client.got.last().expect("a response");
    assert_eq!(last.versions, [encoded("r", "50").version.to_string()]);
}

#[tokio::test]
async fn old_envoy_gets_version_message() {
    let server = Server::start().await;
    server.proxies.publish_one(snapshot("g", &[(CDS, "a", "1")]));
    let ask = |type_url: &str| {
        let request = DiscoveryRequest { type_url: type_url.into(), ..DiscoveryRequest::default() };
        tokio_stream::once(request).chain(tokio_stream::pending())
    };
    let mut client = AggregatedDiscoveryServiceClient::new(server.connect().await);
    let mut stream = client.stream_aggregated_resources(ask("type.googleapis.com/envoy.api.v2.Cluster")).await.expect("a stream").into_inner();
    let refused = stream.message().await.expect_err("it is refused");
    assert!(refused.code() == Code::InvalidArgument && refused.message().contains("version 3 of xDS only"), "{refused}");
    // A service of version 2 has the same method under another name.
    for service in ["envoy.service.discovery.v2.AggregatedDiscoveryService", "envoy.api.v2.ClusterDiscoveryService"] {
        let mut old = tonic::client::Grpc::new(server.connect().await);
        old.ready().await.expect("a connection");
        let path = format!("/{service}/Stream").parse().expect("a path");
        let codec = tonic_prost::ProstCodec::<DiscoveryRequest, DiscoveryResponse>::default();
        let request = tonic::Request::new(ask("type.googleapis.com/envoy.api.v2.Cluster"));
        let refused = old.streaming(request, path, codec).await.expect_err("it is refused");
        assert!(refused.code() == Code::Unimplemented && refused.message().contains("version 3 of xDS only"), "{refused}");
    }
    let mut other = Client::open(&server, Variant::Delta, None, "n").await;
    other.subscribe(&CDS.type_url(), &[]).await;
    other.settle().await;
    assert_eq!(other.got.len(), 1, "others are served");
}

#[tokio::test]
async fn nodes_get_their_own_gateway() {
    let server = Server::start().await;
    server.proxies.publish_one(snapshot("one", &[(CDS, "of-one", "1")]));
    server.proxies.publish_one(snapshot("two", &[(CDS, "of-two", "1")]));
    let mut client = Client::open(&server, Variant::Delta, None, "two").await;
    client.change(&CDS.type_url(), &[], &[], &[]).await;
    client.settle().await;
    assert_eq!(client.known[&CDS.type_url()].keys().collect::<Vec<_>>(), ["of-two"]);
    let mut stranger = Client::open(&server, Variant::Delta, None, "three").await;
    stranger.change(&CDS.type_url(), &[], &[], &[]).await;
    stranger.settle().await;
    assert!(stranger.got.is_empty());
    let told = |id: &str| {
        let all = server.clients.events().timeline();
        all.into_iter().filter(|dated| matches!(&dated.event, Event::UnknownNode { id: of, .. } if of == id)).count()
    };
    assert_eq!((told("three"), told("two")), (1, 0));
    server.proxies.publish_one(snapshot("three", &[(CDS, "of-three", "1")]));
    stranger.settle().await;
    assert_eq!(stranger.known[&CDS.type_url()].keys().collect::<Vec<_>>(), ["of-three"], "it waits until there is a gateway for it");
}

#[tokio::test]
async fn build_before_first_request_changes_nothing() {
    for variant in [Variant::Sotw, Variant::Delta] {
        let server = Server::start().await;
        server.proxies.publish_one(snapshot("one", &[(CDS, "a", "1")]));
        server.proxies.publish_one(snapshot("two", &[(CDS, "b", "1")]));
        let mut client = Client::open(&server, variant, None, "one").await;
        server.proxies.publish_one(snapshot("two", &[(CDS, "b", "2")]));
        // The stream's task sees the build before the first request.
        tokio::time::sleep(Duration::from_millis(200)).await;
        client.subscribe(&CDS.type_url(), &[]).await;
        client.settle().await;
        assert!(client.known[&CDS.type_url()].contains_key("a"), "{variant:?}");
        assert_eq!(server.clients.all().len(), 1, "{variant:?}: no stream without a node is shown");
    }
}

#[tokio::test]
async fn stale_answer_changes_nothing() {
    let server = Server::start().await;
    server.proxies.publish_one(snapshot("g", &[(RDS, "a", "1"), (RDS, "b", "1")]));
    let mut client = Client::open(&server, Variant::Sotw, None, "n").await;
    client.ask(&RDS.type_url(), &["a"], "", None).await;
    client.settle().await;
    let before = client.got.len();
    client.ask(&RDS.type_url(), &["a", "b"], "long ago", None).await;
    assert!(client.next().await.is_none(), "neither an answer nor an error");
    let nonce = client.got[before - 1].nonce.clone();
    client.ask(&RDS.type_url(), &["a", "b"], &nonce, None).await;
    assert_eq!(client.next().await.map(|got| got.names), Some(vec!["b".to_owned()]));
}

#[tokio::test]
async fn envoys_come_and_go() {
    let server = Server::start().await;
    server.proxies.publish_one(snapshot("g", &[(CDS, "a", "1")]));
    let mut client = Client::open(&server, Variant::Delta, None, "n").await;
    client.change(&CDS.type_url(), &[], &[], &[]).await;
    client.settle().await;
    let all = server.clients.all();
    assert_eq!((all.len(), all[0].node.id.as_str(), all[0].gateway.as_deref()), (1, "n", Some("g")));
    let has_accepted = |of: &chancery_live::xds::clients::Acceptance| of.accepted.as_ref() == Some(&of.sent);
    until("it accepts", async || has_accepted(&server.clients.all()[0].types[&CDS.type_url()])).await;
    drop(client);
    until("it is gone", async || server.clients.all().is_empty()).await;
}

#[tokio::test]
async fn snapshot_rejected_by_one_envoy_is_held() {
    let server = Server::start().await;
    server.proxies.publish_one(snapshot("g", &[(CDS, "a", "1")]));
    let mut clients = Vec::new();
    for node in ["first", "second", "third"] {
        let mut client = Client::open(&server, Variant::Delta, None, node).await;
        client.change(&CDS.type_url(), &[], &[], &[]).await;
        client.settle().await;
        clients.push(client);
    }
    clients[0].reject = Some("cluster a: no".into());
    server.proxies.publish_one(snapshot("g", &[(CDS, "a", "bad")]));
    for client in &mut clients {
        client.settle().await;
    }
    let got = |clients: &[Client]| clients.iter().map(|client| client.got.len()).collect::<Vec<_>>();
    assert_eq!(got(&clients), [2, 1, 1], "one has tried it");
    server.proxies.publish_one(snapshot("g", &[(CDS, "a", "good")]));
    for client in &mut clients {
        client.settle().await;
    }
    assert_eq!(got(&clients), [3, 2, 2], "the fixed resource goes to all");
    let last = encoded("a", "good").version.to_string();
    assert!(clients.iter().all(|client| client.got.last().is_some_and(|got| got.versions == [last.clone()])));
}

/// A request whose version is not a string.
#[derive(Clone, PartialEq, prost::Message)]
struct Undecodable {
    #[prost(bytes = "vec", tag = "1")]
    version: Vec<u8>,
}

#[tokio::test]
async fn undecodable_and_oversized_requests_end_the_stream() {
    let server = Server::start().await;
    let long = Undecodable { version: vec![b'a'; 17 << 20] };
    for (request, code) in [(Undecodable { version: vec![0xff] }, Code::Internal), (long, Code::OutOfRange)] {
        let mut client = tonic::client::Grpc::new(server.connect().await);
        client.ready().await.expect("it is ready");
        let path = hyper::http::uri::PathAndQuery::from_static("/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources");
        let codec = tonic_prost::ProstCodec::<Undecodable, DiscoveryResponse>::default();
        let requests = tonic::Request::new(tokio_stream::iter([request]).chain(tokio_stream::pending()));
        let mut answers = client.streaming(requests, path, codec).await.expect("a stream").into_inner();
        let status = answers.message().await.expect_err("it ends");
        assert_eq!(status.code(), code, "{status}");
    }
    let (_, undecodable, _) = server.clients.counts.all();
    assert_eq!(undecodable, 2);
}

/// Sends the request of another tool.
async fn statuses(server: &Server, prefix: &str) -> Result<Vec<(String, String, ConfigStatus, bool)>, tonic::Status> {
    let pattern = string_matcher::MatchPattern::Prefix(prefix.into());
    let node_id = Some(StringMatcher { match_pattern: Some(pattern), ..Default::default() });
    let request = ClientStatusRequest { node_matchers: vec![NodeMatcher { node_id, ..Default::default() }], ..Default::default() };
    let answer = ClientStatusDiscoveryServiceClient::new(server.connect().await).fetch_client_status(request).await?;
    let mut out = Vec::new();
    for client in answer.into_inner().config {
        let id = client.node.map(|node| node.id).unwrap_or_default();
        let one = |of: GenericXdsConfig| (id.clone(), of.name.clone(), of.config_status(), of.xds_config.is_some());
        out.extend(client.generic_xds_configs.into_iter().map(one));
    }
    Ok(out)
}

#[tokio::test]
async fn status_service_reports_envoys() {
    let server = Server::start().await;
    server.proxies.publish_one(snapshot("g", &[(CDS, "a", "1"), (CDS, "b", "1"), (LDS, "l", "1"), (Service::Secrets, "s", "key")]));
    let mut client = Client::open(&server, Variant::Delta, None, "edge-1").await;
    for service in [CDS, Service::Secrets] {
        client.subscribe(&service.type_url(), if service == CDS { &[] } else { &["s"] }).await;
    }
    client.settle().await;
    let told = statuses(&server, "edge-").await.expect("an answer");
    let all: Vec<_> = told.iter().map(|(id, name, status, content)| (id.as_str(), name.as_str(), *status, *content)).collect();
    let synced = |name, content| ("edge-1", name, ConfigStatus::Synced, content);
    assert_eq!(all, [synced("a", true), synced("b", true), ("edge-1", "l", ConfigStatus::NotSent, true), synced("s", false)]);
    assert!(statuses(&server, "other").await.expect("an answer").is_empty());
    client.reject = Some("Error adding/updating cluster(s) a: no such thing".into());
    server.proxies.publish_one(snapshot("g", &[(CDS, "a", "2"), (CDS, "b", "1"), (Service::Secrets, "s", "key")]));
    client.settle().await;
    until("the rejection is reported", async || {
        let told = statuses(&server, "edge-1").await.expect("an answer");
        let of = |wanted: &str| told.iter().find(|(_, name, ..)| name == wanted).map(|(_, _, status, _)| *status);
        (of("a"), of("b"), of("s")) == (Some(ConfigStatus::Error), Some(ConfigStatus::Stale), Some(ConfigStatus::Synced))
    })
    .await;
}

#[tokio::test]
async fn client_with_ttl_gets_heartbeats() {
    for variant in [Variant::Sotw, Variant::Delta] {
        let server = Server::forgetting(Duration::from_millis(200)).await;
        server.proxies.publish_one(snapshot("g", &[(CDS, "a", "1"), (CDS, "b", "1")]));
        let mut client = Client::open(&server, variant, None, "n").await;
        client.subscribe(&CDS.type_url(), &[]).await;
        let begin = Instant::now();
        let mut beats = 0;
        while beats < 5 {
            assert!(begin.elapsed() < Duration::from_secs(20), "{variant:?}: only {beats} heartbeats");
            let Some(got) = client.next().await else { continue };
            assert_eq!(got.names, ["a", "b"], "{variant:?}");
            assert_eq!(got.ttl, Some(Duration::from_millis(200)), "{variant:?}");
            beats += usize::from(!got.has_content);
            client.answer(&got).await;
        }
        assert!(begin.elapsed() >= Duration::from_millis(400), "{variant:?}: one comes in half of the time: {:?}", begin.elapsed());
        assert_eq!(client.got.iter().filter(|got| got.has_content).count(), 1, "{variant:?}: content is sent once");
        let accepted = server.clients.events().timeline().into_iter().filter(|dated| matches!(dated.event, Event::Accepted { .. })).count();
        assert_eq!(accepted, 1, "{variant:?}: an answer to a heartbeat is no news");
    }
}

/// Knows the inputs of a build.
struct Inputs;

impl chancery_live::xds::snapshot::Blame for Inputs {
    fn places(&self, _: &str, _: &str, _: Option<&str>) -> Vec<chancery_live::event::Place> {
        Vec::new()
    }
}

#[tokio::test]
async fn stream_keeps_no_inputs_of_accepted_builds() {
    let server = Server::start().await;
    let blamed = |content: &str| {
        let mut out = snapshot("g", &[(CDS, "a", content), (RDS, "r", "1")]);
        let inputs: Arc<dyn chancery_live::xds::snapshot::Blame> = Arc::new(Inputs);
        let weak = Arc::downgrade(&inputs);
        out.blame = Some(inputs);
        server.proxies.publish_one(out);
        weak
    };
    let first = blamed("1");
    let mut client = Client::open(&server, Variant::Delta, None, "n").await;
    client.change(&CDS.type_url(), &[], &[], &[]).await;
    client.change(&RDS.type_url(), &["r"], &[], &[]).await;
    client.settle().await;
    // Routes are not sent again, so the stream's last response of routes is of the first build.
    let second = blamed("2");
    client.settle().await;
    assert_eq!(client.got.last().map(|got| got.type_url.clone()), Some(CDS.type_url()));
    let begin = Instant::now();
    while first.strong_count() > 0 {
        assert!(begin.elapsed() < Duration::from_secs(10), "the inputs of the first build stay in memory");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(second.strong_count() > 0, "a rejection can still be blamed on the present inputs");
}
