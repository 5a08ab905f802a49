//! Tests how a server treats streams of gateways that other replicas own: it refuses them, ends them when a gateway moves,
//! and serves them when it takes over. Does not test processes; see `cli/tests/replicas.rs`.

mod support;

use chancery_core::backend::envoy::v3::{Encoded, Fingerprint, Service};
use chancery_live::replicas::{Replicas, share};
use chancery_live::xds::snapshot::{Resources, Snapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;
use support::{Client, Server, Variant};
use tonic::Code;

const CDS: Service = Service::Clusters;
const VARIANTS: [Variant; 2] = [Variant::Sotw, Variant::Delta];

fn names(all: &[&str]) -> Vec<Arc<str>> {
    all.iter().map(|name| Arc::from(*name)).collect()
}

/// Returns a gateway that this member owns.
fn gateway_of(owner: &str, members: &[&str]) -> String {
    let all = names(members);
    (0..).map(|number| format!("team/{number}")).find(|gateway| share::owner(&all, gateway).is_some_and(|of| **of == *owner)).expect("a gateway")
}

fn snapshots(gateways: &[&str]) -> BTreeMap<Arc<str>, Arc<Snapshot>> {
    let one = |gateway: &&str| {
        let cluster = Encoded { name: "c".into(), version: Fingerprint::of(&[b"c"]), value: vec![10, 1, b'c'] };
        let mut snapshot = Snapshot::new(*gateway);
        snapshot.set(CDS.type_url(), Arc::new(Resources::new([Arc::new(cluster)])));
        (Arc::from(*gateway), Arc::new(snapshot))
    };
    gateways.iter().map(one).collect()
}

fn elsewhere(gateways: &[&str]) -> BTreeSet<Arc<str>> {
    names(gateways).into_iter().collect()
}

/// Sets the replicas that serve; the first is this one.
fn check(replicas: &Replicas, members: &[&str]) {
    let mut all = names(members);
    all.sort();
    replicas.note(Instant::now(), all, members.first().map(|own| Arc::from(*own)), Vec::new());
}

/// Starts a replica that owns one gateway, next to a replica that owns another.
async fn replica_of(own: &str, other: &str) -> Server {
    let server = Server::of_replica(Replicas::shared()).await;
    server.proxies.publish_share(snapshots(&[own]), elsewhere(&[other]));
    check(&server.replicas, &["a", "b"]);
    server
}

async fn open(server: &Server, variant: Variant, gateway: &str) -> Client {
    let mut client = Client::open(server, variant, None, gateway).await;
    client.subscribe(&CDS.type_url(), &[]).await;
    client
}

fn is_refused_for(status: &tonic::Status, owner: &str, gateway: &str) {
    assert_eq!((status.code(), status.message()), (Code::Unavailable, &*format!("the replica {owner} serves the gateway {gateway}")));
}

#[tokio::test]
async fn stream_of_another_replica_is_refused() {
    let (own, other) = (gateway_of("a", &["a", "b"]), gateway_of("b", &["a", "b"]));
    for variant in VARIANTS {
        let server = replica_of(&own, &other).await;
        let mut client = open(&server, variant, &other).await;
        // The owner is checked once more after the stream began.
        check(&server.replicas, &["a", "b"]);
        is_refused_for(&client.wait_for_refusal().await, "b", &other);
        assert!(server.clients.all().is_empty(), "an Envoy of another replica is not connected");
        let mut client = open(&server, variant, &own).await;
        client.settle().await;
        assert!(client.known[&CDS.type_url()].contains_key("c"), "{variant:?}");
    }
}

#[tokio::test]
async fn stream_waits_for_takeover() {
    let (own, other) = (gateway_of("a", &["a", "b"]), gateway_of("b", &["a", "b"]));
    for variant in VARIANTS {
        let server = replica_of(&own, &other).await;
        let mut client = open(&server, variant, &other).await;
        // The Envoy noticed first that the owner crashed.
        check(&server.replicas, &["a"]);
        assert!(client.next().await.is_none(), "nothing is sent before the build");
        server.proxies.publish_share(snapshots(&[&own, &other]), elsewhere(&[]));
        client.settle().await;
        assert!(client.known[&CDS.type_url()].contains_key("c"), "{variant:?}");
    }
}

#[tokio::test]
async fn stream_ends_when_gateway_moves() {
    let own = gateway_of("c", &["a", "b", "c"]);
    for variant in VARIANTS {
        let server = Server::of_replica(Replicas::shared()).await;
        server.proxies.publish_share(snapshots(&[&own]), elsewhere(&[]));
        check(&server.replicas, &["a"]);
        let mut client = open(&server, variant, &own).await;
        client.settle().await;
        assert!(client.known[&CDS.type_url()].contains_key("c"));
        check(&server.replicas, &["a", "c"]);
        is_refused_for(&client.wait_for_refusal().await, "c", &own);
        assert!(client.got.iter().all(|got| got.removed.is_empty()), "nothing is removed from the Envoy");
    }
}

#[tokio::test]
async fn replica_before_first_build_refuses_streams() {
    let server = Server::of_replica(Replicas::shared()).await;
    check(&server.replicas, &["a", "b"]);
    let mut client = open(&server, Variant::Delta, "any").await;
    let status = client.wait_for_refusal().await;
    assert_eq!((status.code(), status.message()), (Code::Unavailable, "this replica is not ready; another one is"));
    // A replica without others lets Envoys wait for its first build.
    check(&server.replicas, &["a"]);
    let mut client = open(&server, Variant::Delta, "any").await;
    assert!(client.next().await.is_none());
    server.proxies.publish_share(snapshots(&["any"]), elsewhere(&[]));
    client.settle().await;
    assert!(client.known[&CDS.type_url()].contains_key("c"));
}

#[tokio::test]
async fn envoy_that_misses_owner_is_served() {
    let (own, other) = (gateway_of("a", &["a", "b"]), gateway_of("b", &["a", "b"]));
    let server = Server::of_replica(Replicas::shared()).await;
    server.proxies.publish_share(snapshots(&[&own]), elsewhere(&[&other]));
    check(&server.replicas, &["a", "b"]);
    for _ in 0..3 {
        let mut client = open(&server, Variant::Delta, &other).await;
        check(&server.replicas, &["a", "b"]);
        is_refused_for(&client.wait_for_refusal().await, "b", &other);
    }
    let mut client = open(&server, Variant::Delta, &other).await;
    check(&server.replicas, &["a", "b"]);
    assert!(client.next().await.is_none(), "it waits for the build");
    assert!(server.replicas.view().owner(&other).is_none(), "this replica builds it now");
    server.proxies.publish_share(snapshots(&[&own, &other]), elsewhere(&[]));
    client.settle().await;
    assert!(client.known[&CDS.type_url()].contains_key("c"));
    assert_eq!(server.replicas.refused(), 4);
}
