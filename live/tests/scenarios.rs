//! Runs the 98 scenarios of the CNCF's conformance test for xDS servers. State of the world has 24 on streams of one
//! type and 26 on aggregated streams; delta has 22 and 26.
//!
//! Does not test other cases; see `protocol.rs`.

mod support;

use chancery_core::backend::envoy::v3::Service;
use futures_util::future::join_all;
use prost::Message;
use std::sync::Arc;
use support::{Client, Server, Variant};

/// A running scenario.
struct Run {
    server: Arc<Server>,
    client: Client,
    node: String,
    what: String,
}

/// Returns a resource that only has a name.
fn named(name: &str) -> Vec<u8> {
    #[derive(Clone, PartialEq, Message)]
    struct Named {
        #[prost(string, tag = "1")]
        name: String,
    }
    Named { name: name.into() }.encode_to_vec()
}

fn split(names: &str) -> Vec<&str> {
    names.split(',').collect()
}

impl Run {
    async fn start(server: &Arc<Server>, what: &str, variant: Variant, aggregated: bool, services: &[Service], resources: &str) -> Self {
        let node = format!("{what} {variant:?} {aggregated} {services:?}");
        let all = services.iter().flat_map(|service| split(resources).into_iter().map(|name| (service.type_url(), named(name))));
        server.harness.set(&node, "1", all);
        let only = if aggregated { None } else { services.first().copied() };
        let client = Client::open(server, variant, only, &node).await;
        Self { server: server.clone(), client, what: node.clone(), node }
    }

    async fn subscribe(&mut self, service: Service, names: &str) {
        let names = if names.is_empty() { Vec::new() } else { split(names) };
        self.client.known.entry(service.type_url()).or_default().clear();
        self.client.subscribe(&service.type_url(), &names).await;
        self.client.settle().await;
    }

    /// Checks that each of these resources was last sent at this version.
    fn has(&self, service: Service, names: &str, version: &str) {
        let known = self.client.known.get(&service.type_url()).cloned().unwrap_or_default();
        for name in split(names) {
            let found = known.get(name).map(|(version, _)| version.as_str());
            assert_eq!(found, Some(version), "{}: {name} of {service:?}; known: {known:?}", self.what);
        }
    }

    fn has_only(&self, service: Service, names: &str, version: &str) {
        self.has(service, names, version);
        let known = self.client.known.get(&service.type_url()).cloned().unwrap_or_default();
        assert_eq!(known.len(), split(names).len(), "{}: {known:?}", self.what);
    }

    fn in_one_response(&self, service: Service, names: &str) {
        let known = self.client.known.get(&service.type_url()).cloned().unwrap_or_default();
        let nonces: std::collections::BTreeSet<_> = split(names).into_iter().map(|name| known.get(name).map(|(_, nonce)| nonce.clone())).collect();
        assert_eq!(nonces.len(), 1, "{}: {known:?}", self.what);
    }

    /// Checks that the last response with this resource contained no other resource.
    fn came_alone(&self, service: Service, name: &str) {
        let known = self.client.known.get(&service.type_url()).cloned().unwrap_or_default();
        let nonce = known.get(name).map(|(_, nonce)| nonce.clone());
        let with: Vec<_> = known.iter().filter(|(other, (_, of))| *other != name && Some(of) == nonce.as_ref()).collect();
        assert!(with.is_empty(), "{}: {name} came with {with:?}", self.what);
    }

    async fn put(&mut self, service: Service, name: &str, version: &str) {
        assert!(self.server.harness.put(&self.node, &service.type_url(), name, version), "{}", self.what);
        self.client.settle().await;
    }

    async fn remove(&mut self, service: Service, name: &str) {
        assert!(self.server.harness.remove(&self.node, &service.type_url(), name, "1"), "{}", self.what);
        self.client.settle().await;
    }

    /// Checks that the client answered every response, and that the server sent nothing after the last answer.
    async fn end(mut self) {
        self.client.settle().await;
        assert!(self.client.requests > self.client.got.len(), "{}: {} requests, {:?}", self.what, self.client.requests, self.client.got);
        let mut nonces: Vec<_> = self.client.got.iter().map(|got| &got.nonce).collect();
        nonces.sort();
        nonces.dedup();
        assert_eq!(nonces.len(), self.client.got.len(), "{}: nonces are unique", self.what);
    }
}

use Service::{Clusters as CDS, Endpoints as EDS, Listeners as LDS, Routes as RDS};
use Variant::{Delta, Sotw};

type Wanted = (Variant, bool);

async fn wildcard(server: Arc<Server>, (variant, aggregated): Wanted, service: Service) {
    let mut run = Run::start(&server, "wildcard", variant, aggregated, &[service], "A,B,C").await;
    run.subscribe(service, "").await;
    run.has(service, "C,A,B", "1");
    run.in_one_response(service, "A,B,C");
    run.end().await;
}

async fn wildcard_update(server: Arc<Server>, (variant, aggregated): Wanted, service: Service) {
    let mut run = Run::start(&server, "wildcard update", variant, aggregated, &[service], "A,B,C").await;
    run.subscribe(service, "").await;
    run.has(service, "A,B,C", "1");
    run.put(service, "A", "2").await;
    run.has(service, "A,B,C", "2");
    run.in_one_response(service, "A,B,C");
    run.end().await;
}

async fn wildcard_add(server: Arc<Server>, (variant, aggregated): Wanted, service: Service) {
    let mut run = Run::start(&server, "wildcard add", variant, aggregated, &[service], "A,B,C").await;
    run.subscribe(service, "").await;
    run.put(service, "D", "2").await;
    run.has(service, "A,B,C,D", "2");
    run.in_one_response(service, "A,B,C,D");
    run.end().await;
}

async fn subset(server: Arc<Server>, (variant, aggregated): Wanted, service: Service) {
    let mut run = Run::start(&server, "subset", variant, aggregated, &[service], "G,B,L,D").await;
    run.subscribe(service, "L,G").await;
    run.has_only(service, "L,G", "1");
    run.end().await;
}

async fn subset_update(server: Arc<Server>, (variant, aggregated): Wanted, service: Service) {
    let mut run = Run::start(&server, "subset update", variant, aggregated, &[service], "A,B,C,D").await;
    run.subscribe(service, "B,D").await;
    run.has_only(service, "B,D", "1");
    run.put(service, "B", "2").await;
    if matches!(service, CDS | LDS) {
        run.has_only(service, "B,D", "2");
        run.in_one_response(service, "B,D");
    } else {
        run.has(service, "B", "2");
    }
    run.end().await;
}

async fn created_later(server: Arc<Server>, (variant, aggregated): Wanted, service: Service) {
    let mut run = Run::start(&server, "created later", variant, aggregated, &[service], "A,B,C").await;
    run.subscribe(service, "A,Z").await;
    run.has_only(service, "A", "1");
    run.put(service, "Z", "2").await;
    if matches!(service, CDS | LDS) {
        run.has_only(service, "A,Z", "2");
        run.in_one_response(service, "A,Z");
    } else {
        run.has(service, "Z", "2");
    }
    run.end().await;
}

async fn unsubscribe_some(server: Arc<Server>, (variant, aggregated): Wanted, service: Service) {
    let mut run = Run::start(&server, "unsubscribe some", variant, aggregated, &[service], "F,A,B,C,D").await;
    run.subscribe(service, "C,A,B").await;
    let nonce = run.client.got.last().map(|got| got.nonce.clone()).unwrap_or_default();
    run.client.known.clear();
    run.client.ask(&service.type_url(), &["A"], &nonce, None).await;
    run.client.settle().await;
    run.put(service, "A", "2").await;
    run.has(service, "A", "2");
    if matches!(service, RDS | EDS) {
        run.has_only(service, "A", "2");
    }
    run.end().await;
}

async fn unsubscribe_all(server: Arc<Server>, (variant, aggregated): Wanted, service: Service) {
    let mut run = Run::start(&server, "unsubscribe all", variant, aggregated, &[service], "A,B,C,D").await;
    run.subscribe(service, "A,B").await;
    let nonce = run.client.got.last().map(|got| got.nonce.clone()).unwrap_or_default();
    run.client.known.clear();
    run.client.ask(&service.type_url(), &[""], &nonce, None).await;
    run.client.settle().await;
    let before = run.client.got.len();
    run.put(service, "B", "2").await;
    assert_eq!(run.client.got.len(), before, "{}", run.what);
    run.end().await;
}

async fn several_services(server: Arc<Server>, (variant, _): Wanted, (one, other): (Service, Service)) {
    let mut run = Run::start(&server, "several services", variant, true, &[one, other], "A,B,C").await;
    run.subscribe(one, "B").await;
    run.has(one, "B", "1");
    // The test acknowledges the second type with the URL of the first type, as in the original.
    run.client.subscribe(&other.type_url(), &["B"]).await;
    let got = run.client.next().await.expect("an answer");
    assert_eq!((got.type_url.clone(), got.names.clone()), (other.type_url(), vec!["B".to_owned()]));
    if variant == Sotw {
        run.client.ask(&one.type_url(), &["B"], &got.nonce, None).await;
    } else {
        run.client.answer(&got).await;
    }
    run.put(one, "B", "2").await;
    run.has(one, "B", "2");
    if variant == Delta {
        run.put(other, "B", "2").await;
        run.has(other, "B", "2");
    }
    run.end().await;
}

async fn one_after_the_other(server: Arc<Server>, (variant, aggregated): Wanted, service: Service) {
    let mut run = Run::start(&server, "one after the other", variant, aggregated, &[service], "A,B,C").await;
    run.subscribe(service, "A").await;
    run.has_only(service, "A", "1");
    run.subscribe(service, "B").await;
    run.has_only(service, "B", "1");
    run.end().await;
}

async fn only_the_updated(server: Arc<Server>, (variant, aggregated): Wanted, service: Service) {
    let mut run = Run::start(&server, "only the updated", variant, aggregated, &[service], "A,B,C").await;
    run.subscribe(service, "A,B,C").await;
    run.has(service, "A,B,C", "1");
    run.put(service, "A", "2").await;
    run.has(service, "A", "2");
    run.has(service, "B,C", "1");
    run.came_alone(service, "A");
    run.end().await;
}

async fn absence_is_sent(server: Arc<Server>, (variant, aggregated): Wanted, service: Service) {
    let mut run = Run::start(&server, "absence is sent", variant, aggregated, &[service], "A").await;
    run.subscribe(service, "A,B").await;
    run.has_only(service, "A", "1");
    assert!(run.client.removed[&service.type_url()].contains("B"), "{}: B does not exist", run.what);
    run.put(service, "B", "1").await;
    run.has(service, "B", "1");
    run.came_alone(service, "B");
    run.end().await;
}

async fn removed(server: Arc<Server>, (variant, aggregated): Wanted, service: Service) {
    let mut run = Run::start(&server, "removed", variant, aggregated, &[service], "A,B").await;
    run.subscribe(service, "A,B").await;
    run.has(service, "A,B", "1");
    run.remove(service, "B").await;
    assert!(run.client.removed[&service.type_url()].contains("B"), "{}", run.what);
    run.put(service, "B", "2").await;
    run.has(service, "B", "2");
    run.came_alone(service, "B");
    run.end().await;
}

async fn unsubscribe_one_by_one(server: Arc<Server>, (variant, aggregated): Wanted, service: Service) {
    let mut run = Run::start(&server, "unsubscribe one by one", variant, aggregated, &[service], "A,B").await;
    run.subscribe(service, "A,B").await;
    for name in ["B", "A"] {
        run.client.change(&service.type_url(), &[], &[name], &[]).await;
        run.client.settle().await;
        let before = run.client.got.len();
        run.put(service, name, "2").await;
        assert_eq!(run.client.got.len(), before, "{}: {name} is not asked for", run.what);
    }
    run.end().await;
}

/// Runs a scenario for each of these, and counts the runs.
macro_rules! all {
    ($tasks:ident, $server:ident, $scenario:ident, $wanted:expr, [$($of:expr),+]) => {
        $($tasks.push(tokio::spawn($scenario($server.clone(), $wanted, $of)));)+
    };
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_98_scenarios() {
    let server = Arc::new(Server::start().await);
    let mut tasks = Vec::new();
    for aggregated in [false, true] {
        let sotw = (Sotw, aggregated);
        all!(tasks, server, wildcard, sotw, [CDS, LDS]);
        all!(tasks, server, wildcard_update, sotw, [CDS, LDS]);
        all!(tasks, server, wildcard_add, sotw, [CDS, LDS]);
        all!(tasks, server, subset, sotw, [LDS, RDS]);
        all!(tasks, server, subset_update, sotw, [CDS, LDS, RDS, EDS]);
        all!(tasks, server, created_later, sotw, [CDS, LDS, RDS, EDS]);
        all!(tasks, server, unsubscribe_some, sotw, [CDS, LDS, RDS, EDS]);
        all!(tasks, server, unsubscribe_all, sotw, [CDS, RDS, LDS, EDS]);
        let delta = (Delta, aggregated);
        all!(tasks, server, subset, delta, [LDS, RDS]);
        all!(tasks, server, one_after_the_other, delta, [CDS, LDS, RDS, EDS]);
        all!(tasks, server, only_the_updated, delta, [CDS, LDS, RDS, EDS]);
        all!(tasks, server, absence_is_sent, delta, [CDS, LDS, RDS, EDS]);
        all!(tasks, server, removed, delta, [CDS, LDS, RDS, EDS]);
        all!(tasks, server, unsubscribe_one_by_one, delta, [CDS, LDS, RDS, EDS]);
    }
    all!(tasks, server, several_services, (Sotw, true), [(CDS, LDS), (RDS, EDS)]);
    all!(tasks, server, several_services, (Delta, true), [(CDS, LDS), (LDS, CDS), (RDS, EDS), (EDS, RDS)]);
    assert_eq!(tasks.len(), 98);
    let failed: Vec<_> = join_all(tasks).await.into_iter().filter_map(Result::err).collect();
    assert!(failed.is_empty(), "{} of 98 failed", failed.len());
}
