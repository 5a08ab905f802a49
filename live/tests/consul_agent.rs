//! Compares the resources that a proxy gets from us and from a real Consul agent: before and after edits, a restart and
//! a lost leader.

#[path = "support/agent.rs"]
mod agent;
#[path = "consul/datacenters.rs"]
mod datacenters;
#[path = "consul/not_given.rs"]
mod not_given;
#[path = "support/process.rs"]
#[expect(dead_code, reason = "each suite uses a part of it")]
mod process;
#[path = "consul/refusals.rs"]
mod refusals;
#[path = "consul/rotation.rs"]
mod rotation;
#[path = "support/stream.rs"]
mod stream;

use agent::{Ads, Servers};
use chancery_core::compilation::Options;
use chancery_core::dialect::consul as dialect;
use chancery_live::engine::Settings as Running;
use chancery_live::event::{Event, Events, SourceState};
use chancery_live::session::Session;
use chancery_live::sources::consul::{Consul, Settings};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The time limit of every wait. An election takes seconds.
const PATIENCE: Duration = Duration::from_secs(60);

struct Followed {
    session: Session,
    events: Events,
    address: String,
}

impl Followed {
    async fn of(servers: &Servers) -> Self {
        Self::with(servers, None).await
    }

    async fn with(servers: &Servers, token_file: Option<std::path::PathBuf>) -> Self {
        Self::by(Settings { address: Some(servers.http(0)), token_file, ..Settings::default() }).await
    }

    async fn by(settings: Settings) -> Self {
        let events = Events::default();
        let running = Running { options: Options::of(&dialect::DIALECT), spacing: Duration::ZERO, recorder: None, events: events.clone() };
        let mut session = Session::start(running, vec![Box::new(Consul::new(settings))]).expect("a session");
        let address = session.serve_xds(0).await.expect("a server").to_string();
        Self { session, events, address }
    }

    /// Waits until we and the agent serve a proxy the same resources. After the time limit, reports the differences.
    async fn agrees(&self, servers: &Servers, proxy: &str, when: &str) -> Value {
        self.agrees_on(servers, proxy, "", when).await
    }

    /// Waits for equal resources that contain this string.
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

    /// Whether the last report of any part is a failure.
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
    // Other datacenters and peers reach the servers through it.
    let meta = json!({"consul-wan-federation": "1"});
    let gateway = json!({"Kind": "mesh-gateway", "ID": "gateway", "Name": "gateway", "Port": 8444, "Address": "127.0.0.1", "Meta": meta});
    servers.put(0, "/v1/agent/service/register", &gateway).await;
    servers.put(0, "/v1/config", &json!({"Kind": "mesh", "Peering": {"PeerThroughMeshGateways": true}})).await;
}

const PROXIES: [&str; 5] = ["web-sidecar-proxy", "api-sidecar-proxy", "db-sidecar-proxy", "edge", "gateway"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proxies_get_same_resources_as_from_agent() {
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
    // A failing instance, and a removed instance.
    let sick = json!({"Name": "db", "ID": "db-2", "Port": 5433, "Check": {"TTL": "10m", "Status": "critical"}, "Connect": {"SidecarService": {}}});
    servers.put(0, "/v1/agent/service/register", &sick).await;
    followed.agrees_on(&servers, "web-sidecar-proxy", "UNHEALTHY", "with a critical instance").await;
    servers.put(0, "/v1/agent/service/deregister/db-2", &json!({})).await;
    followed.agrees(&servers, "web-sidecar-proxy", "without it").await;
    // The server that the client uses restarts.
    let served = Ads::ask(&followed.address, "web-sidecar-proxy").await;
    servers.kill(0);
    followed.until("the failure", Followed::is_troubled).await;
    assert_eq!(Ads::ask(&followed.address, "web-sidecar-proxy").await, served, "the last read state is used");
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
    assert_eq!(Ads::ask(&followed.address, "api-sidecar-proxy").await, served, "the last read state is used");
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
    // A new CA results in new certificates. Resources that connections depend on stay unchanged, so no connection is
    // dropped.
    let before = versions(&followed);
    let ec = json!({"Provider": "consul", "Config": {"PrivateKeyType": "ec", "PrivateKeyBits": 384, "LeafCertTTL": "72h"}});
    servers.put(0, "/v1/connect/ca/configuration", &ec).await;
    followed.until("the new certificates", |of| versions(of)["tls.v3.Secret"] != before["tls.v3.Secret"] && trusted_roots(of) > 1).await;
    for part in ["cluster.v3.Cluster", "listener.v3.Listener", "route.v3.RouteConfiguration"] {
        assert_eq!(versions(&followed)[part], before[part], "{part}");
    }
    followed.agrees(&servers, "web-sidecar-proxy", "after the rotation").await;
}

/// Returns the versions of a proxy's resources, by type.
fn versions(of: &Followed) -> std::collections::BTreeMap<&'static str, Option<String>> {
    let build = of.session.build();
    let gateway = build.as_ref().and_then(|build| build.gateways.iter().find(|gateway| &*gateway.id == "web-sidecar-proxy"));
    let types = [
        ("cluster.v3.Cluster", "envoy.config.cluster.v3.Cluster"),
        ("listener.v3.Listener", "envoy.config.listener.v3.Listener"),
        ("route.v3.RouteConfiguration", "envoy.config.route.v3.RouteConfiguration"),
        ("tls.v3.Secret", "envoy.extensions.transport_sockets.tls.v3.Secret"),
    ];
    let version = |url: &str| gateway.and_then(|gateway| gateway.snapshot.get(&format!("type.googleapis.com/{url}")).map(|all| all.version.clone()));
    types.into_iter().map(|(name, url)| (name, version(url))).collect()
}

/// Returns how many CAs a proxy trusts.
fn trusted_roots(of: &Followed) -> usize {
    let build = of.session.build();
    let inputs = build.iter().flat_map(|build| &build.compilation.inputs.inputs);
    inputs.filter(|input| input.name == "consul/roots").map(|input| input.text.matches("BEGIN CERTIFICATE").count()).sum()
}

/// A token with all permissions, a token of the service `web`, and a token of `api`.
const MANAGEMENT: &str = "11111111-2222-3333-4444-555555555555";
const OF_WEB: &str = "22222222-2222-3333-4444-555555555555";
const OF_API: &str = "33333333-2222-3333-4444-555555555555";
const ACL: &str = "acl { enabled = true  default_policy = \"deny\"  tokens { initial_management = \"11111111-2222-3333-4444-555555555555\"  agent = \
                   \"11111111-2222-3333-4444-555555555555\" } }";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agent_with_acls_decides_about_stream_tokens() {
    let Some(servers) = Servers::start_with(ACL.into(), MANAGEMENT).await else { return };
    write(&servers).await;
    for (token, service) in [(OF_WEB, "web"), (OF_API, "api")] {
        servers.put(0, "/v1/acl/token", &json!({"SecretID": token, "ServiceIdentities": [{"ServiceName": service}]})).await;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let token = folder.path().join("token");
    std::fs::write(&token, MANAGEMENT).expect("a file");
    let followed = Followed::with(&servers, Some(token)).await;
    followed.until("the proxies", |of| of.session.build().is_some_and(|build| build.gateways.len() == PROXIES.len())).await;
    let ask = |proxy, token| stream::clusters(&followed.address, proxy, token);
    for (proxy, token) in [("web-sidecar-proxy", OF_WEB), ("api-sidecar-proxy", OF_API), ("edge", MANAGEMENT), ("web-sidecar-proxy", MANAGEMENT)] {
        assert!(ask(proxy, Some(token)).await.is_ok_and(|count| count > 0), "{proxy}");
    }
    for (proxy, token) in [("web-sidecar-proxy", Some(OF_API)), ("edge", Some(OF_WEB)), ("api-sidecar-proxy", None), ("edge", Some("unknown"))] {
        let refused = ask(proxy, token).await.expect_err("it may not");
        assert_eq!(refused.code(), tonic::Code::PermissionDenied, "{proxy}: {refused}");
        assert!(!refused.message().contains("2222"), "no token is shown: {refused}");
    }
    // Intentions deny every connection that no intention allows.
    let build = followed.session.build().expect("a build");
    let agent = build.compilation.inputs.inputs.iter().find(|input| input.name == "consul/agent").expect("the agent");
    assert!(agent.text.contains("deny"), "{}", agent.text);
}

/// Writes a CA, and certificates that it signed for servers and for clients.
fn certificates(folder: &std::path::Path) {
    use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
    let mut of_authority = CertificateParams::new(Vec::new()).expect("no names");
    of_authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    std::fs::write(folder.join("ca.pem"), of_authority.self_signed(&key).expect("a certificate").pem()).expect("a file");
    let issuer = Issuer::new(of_authority, key);
    for name in ["server", "client"] {
        let mut params = CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).expect("names");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &issuer).expect("a certificate").pem();
        std::fs::write(folder.join(format!("{name}.pem")), certificate).expect("a file");
        std::fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).expect("a file");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agent_with_mutual_tls_is_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    certificates(folder.path());
    let path = |name: &str| folder.path().join(name);
    let more = format!(
        "ports {{ https = HTTPS }}  tls {{ https {{ ca_file = {:?}  cert_file = {:?}  key_file = {:?}  verify_incoming = true }} }}",
        path("ca.pem"),
        path("server.pem"),
        path("server.key")
    );
    let Some(servers) = Servers::start_with(more, "").await else { return };
    write(&servers).await;
    let settings = |client: bool| Settings {
        address: Some(servers.https(0)),
        ca_file: Some(path("ca.pem")),
        client_cert: client.then(|| path("client.pem")),
        client_key: client.then(|| path("client.key")),
        ..Settings::default()
    };
    let followed = Followed::by(settings(true)).await;
    followed.until("the proxies", |of| of.session.build().is_some_and(|build| build.gateways.len() == PROXIES.len())).await;
    followed.agrees(&servers, "web-sidecar-proxy", "by TLS").await;
    // Without a client certificate nothing can be read.
    let stranger = Followed::by(settings(false)).await;
    stranger.until("the refusal", Followed::is_troubled).await;
    assert!(stranger.session.build().is_none());
}
