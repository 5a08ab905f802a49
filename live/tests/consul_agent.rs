//! What we serve to a proxy, and what a real Consul agent serves to it: the same, before and after edits, a restart and a lost leader.

#[path = "support/agent.rs"]
mod agent;

use agent::{Ads, Servers};
use chancery_core::compilation::Options;
use chancery_core::dialect::consul as dialect;
use chancery_live::engine::Settings as Running;
use chancery_live::event::{Event, Events, SourceState};
use chancery_live::session::Session;
use chancery_live::sources::consul::{Consul, Settings};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long anything may take: an election takes seconds.
const PATIENCE: Duration = Duration::from_secs(60);

struct Followed {
    session: Session,
    events: Events,
    address: String,
}

impl Followed {
    async fn of(servers: &Servers) -> Self {
        let events = Events::default();
        let running = Running { options: Options::of(&dialect::DIALECT), spacing: Duration::ZERO, recorder: None, events: events.clone() };
        let settings = Settings { address: Some(servers.http(0)), ..Settings::default() };
        let mut session = Session::start(running, vec![Box::new(Consul::new(settings))]).expect("a session");
        let address = session.serve_xds(0).await.expect("a server").to_string();
        Self { session, events, address }
    }

    /// Waits until a proxy is served what the agent serves it; tells how the two differ where they do not agree in time.
    async fn agrees(&self, servers: &Servers, proxy: &str, when: &str) -> Value {
        self.agrees_on(servers, proxy, "", when).await
    }

    /// The same, once this text is in it.
    async fn agrees_on(&self, servers: &Servers, proxy: &str, mark: &str, when: &str) -> Value {
        let begin = Instant::now();
        loop {
            let (theirs, ours) = (Ads::ask(&servers.grpc(0), proxy).await, Ads::ask(&self.address, proxy).await);
            if let (Some(theirs), Some(ours)) = (&theirs, &ours)
                && theirs == ours
                && theirs.as_object().is_some_and(|lists| !lists.is_empty())
                && theirs.to_string().contains(mark)
            {
                return theirs.clone();
            }
            let show = |of: &Option<Value>| serde_json::to_string_pretty(of).unwrap_or_default();
            assert!(begin.elapsed() < PATIENCE, "{proxy} {when}:\n--- the agent\n{}\n--- we\n{}", show(&theirs), show(&ours));
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }

    async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let begin = Instant::now();
        while !holds(self) {
            assert!(begin.elapsed() < PATIENCE, "{what} does not come: {:?}", self.events.timeline());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Whether any part cannot be read, as it was told last.
    fn is_troubled(&self) -> bool {
        let mut last = std::collections::BTreeMap::new();
        for dated in self.events.timeline() {
            if let Event::Source { kind, state, .. } = dated.event {
                last.insert(kind, state);
            }
        }
        last.values().any(|state| *state == SourceState::Error)
    }
}

async fn write(servers: &Servers) {
    let web = json!({"Name": "web", "Port": 8080, "Connect": {"SidecarService": {"Proxy": {"Upstreams": [
        {"DestinationName": "api", "LocalBindPort": 9191}, {"DestinationName": "db", "LocalBindPort": 9192},
    ]}}}});
    servers.put(0, "/v1/agent/service/register", &web).await;
    servers
        .put(0, "/v1/agent/service/register", &json!({"Name": "api", "Port": 8081, "Meta": {"version": "v1"}, "Connect": {"SidecarService": {}}}))
        .await;
    servers.put(0, "/v1/agent/service/register", &json!({"Name": "db", "Port": 5432, "Connect": {"SidecarService": {}}})).await;
    servers.put(0, "/v1/config", &json!({"Kind": "service-defaults", "Name": "api", "Protocol": "http"})).await;
    let allow =
        json!({"Kind": "service-intentions", "Name": "api", "Sources": [{"Name": "web", "Action": "allow"}, {"Name": "*", "Action": "deny"}]});
    servers.put(0, "/v1/config", &allow).await;
    servers
        .put(0, "/v1/agent/service/register", &json!({"Kind": "ingress-gateway", "ID": "edge", "Name": "edge", "Port": 8443, "Address": "127.0.0.1"}))
        .await;
    let edge = json!({"Kind": "ingress-gateway", "Name": "edge", "Listeners": [{"Port": 9000, "Protocol": "http", "Services": [{"Name": "api"}]}]});
    servers.put(0, "/v1/config", &edge).await;
}

const PROXIES: [&str; 4] = ["web-sidecar-proxy", "api-sidecar-proxy", "db-sidecar-proxy", "edge"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_proxy_gets_from_us_what_it_gets_from_a_real_agent() {
    let Some(mut servers) = Servers::start().await else { return };
    write(&servers).await;
    let followed = Followed::of(&servers).await;
    for proxy in PROXIES {
        followed.agrees(&servers, proxy, "at the beginning").await;
    }
    // An edit of entries.
    let resolver =
        json!({"Kind": "service-resolver", "Name": "api", "ConnectTimeout": "3s", "Subsets": {"v1": {"Filter": "Service.Meta.version == v1"}}});
    servers.put(0, "/v1/config", &resolver).await;
    let router = json!({"Kind": "service-router", "Name": "api", "Routes": [
        {"Match": {"HTTP": {"PathPrefix": "/v1"}}, "Destination": {"ServiceSubset": "v1", "PrefixRewrite": "/"}}]});
    servers.put(0, "/v1/config", &router).await;
    for proxy in ["web-sidecar-proxy", "edge"] {
        followed.agrees_on(&servers, proxy, "v1.api.default.", "behind the edit").await;
    }
    // An instance that does not pass, and one that goes.
    let sick = json!({"Name": "db", "ID": "db-2", "Port": 5433, "Check": {"TTL": "10m", "Status": "critical"}, "Connect": {"SidecarService": {}}});
    servers.put(0, "/v1/agent/service/register", &sick).await;
    followed.agrees_on(&servers, "web-sidecar-proxy", "UNHEALTHY", "with a critical instance").await;
    servers.put(0, "/v1/agent/service/deregister/db-2", &json!({})).await;
    followed.agrees(&servers, "web-sidecar-proxy", "without it").await;
    // The server that is asked starts again.
    let served = Ads::ask(&followed.address, "web-sidecar-proxy").await;
    servers.kill(0);
    followed.until("the failure", Followed::is_troubled).await;
    assert_eq!(Ads::ask(&followed.address, "web-sidecar-proxy").await, served, "what was read is kept");
    servers.begin(0);
    servers.ready().await;
    write(&servers).await;
    followed.until("the recovery", |of| !of.is_troubled()).await;
    followed.agrees(&servers, "web-sidecar-proxy", "behind a restart").await;
    // Two of three servers are lost, and with them the leader.
    let served = Ads::ask(&followed.address, "api-sidecar-proxy").await;
    servers.kill(1);
    servers.kill(2);
    followed.until("the lost leader", Followed::is_troubled).await;
    assert_eq!(Ads::ask(&followed.address, "api-sidecar-proxy").await, served, "what was read is kept");
    servers.begin(1);
    servers.begin(2);
    servers.ready().await;
    servers.put(0, "/v1/config", &json!({"Kind": "service-intentions", "Name": "api", "Sources": [{"Name": "db", "Action": "deny"}]})).await;
    followed.agrees_on(&servers, "api-sidecar-proxy", "/svc/db", "behind a lost leader").await;
    drop(followed.session);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_of_the_agent_are_served_by_name() {
    let Some(servers) = Servers::start().await else { return };
    write(&servers).await;
    let followed = Followed::of(&servers).await;
    followed.agrees(&servers, "web-sidecar-proxy", "at the beginning").await;
    let begin = Instant::now();
    loop {
        let secrets = Ads::secrets(&followed.address, "web-sidecar-proxy", &["leaf:web", "roots"]).await;
        let whole = |name: &str, marks: [&str; 2]| secrets.get(name).is_some_and(|secret| marks.iter().all(|mark| secret.contains(mark)));
        if whole("leaf:web", ["BEGIN CERTIFICATE", "PRIVATE KEY"]) && whole("roots", ["trusted_ca", "BEGIN CERTIFICATE"]) {
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "the certificates are not served: {:?}", secrets.keys());
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    // No view shows a key.
    let build = followed.session.build().expect("a build");
    let trees = build.compilation.objects.iter().map(|object| object.root.clone()).collect::<Vec<_>>();
    let shown = format!("{trees:?} {:?} {:?}", followed.events.timeline(), build.findings());
    assert!(!shown.contains("PRIVATE KEY"), "a key is shown");
}
