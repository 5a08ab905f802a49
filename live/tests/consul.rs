//! Tests Consul as a source, with a stand-in for rare cases: indexes that decrease, failures, missing permissions.

#[path = "support/stream.rs"]
mod stream;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::IntoResponse;
use chancery_core::compilation::Options;
use chancery_core::dialect::consul;
use chancery_live::engine::Settings as Running;
use chancery_live::event::{Event, Events, SourceState};
use chancery_live::session::Session;
use chancery_live::sources::consul::{Consul, Settings};
use chancery_live::sources::recording::Recorder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use stream::clusters;

/// A token that no output may contain.
const TOKEN: &str = "marked-token-7c1f";
/// A key that no output may contain.
const KEY: &str = "bWFya2VkLWtleS1vZi10aGUtbGVhZg";

#[derive(Default)]
struct Agent {
    /// The answer of each path: status, body, index.
    answers: BTreeMap<String, (u16, String, u64)>,
    /// The requests, each with its token.
    asked: Vec<(String, String)>,
    /// Tokens that may write services, with the names of the services.
    writers: BTreeMap<String, String>,
}

#[derive(Clone, Default)]
struct StandIn(Arc<Mutex<Agent>>);

impl StandIn {
    fn agent(&self) -> std::sync::MutexGuard<'_, Agent> {
        self.0.lock().expect("a lock")
    }

    fn set(&self, path: &str, body: &Value, index: u64) {
        self.agent().answers.insert(path.into(), (200, body.to_string(), index));
    }

    fn fail(&self, path: &str, status: u16, body: &str) {
        self.agent().answers.insert(path.into(), (status, body.into(), 0));
    }

    /// Returns an agent with the service `web`, its sidecar, and their entries.
    fn usual() -> Self {
        let out = Self::default();
        let self_ = json!({"Config": {"Datacenter": "east", "NodeName": "n1"}, "DebugConfig": {"ACLResolverSettings": {"ACLsEnabled": false, "ACLDefaultPolicy": "deny"}}});
        out.set("/v1/agent/self", &self_, 0);
        let roots =
            json!({"TrustDomain": "domain.consul", "Roots": [{"RootCert": "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"}]});
        out.set("/v1/agent/connect/ca/roots", &roots, 5);
        out.set("/v1/catalog/datacenters", &json!(["east"]), 0);
        out.set("/v1/catalog/nodes", &json!([{"Node": "n1", "Address": "10.0.0.1", "Datacenter": "east"}]), 5);
        out.set("/v1/catalog/services", &json!({"web": []}), 5);
        let sidecar = json!({"Kind": "connect-proxy", "ID": "web-proxy", "Service": "web-proxy", "Port": 21000, "ModifyIndex": 4,
            "Proxy": {"DestinationServiceName": "web", "LocalServiceAddress": "127.0.0.1", "LocalServicePort": 8080}});
        out.set("/v1/catalog/node-services/n1", &json!({"Services": [{"ID": "web", "Service": "web", "Port": 8080}, sidecar]}), 5);
        out.set(
            "/v1/health/state/any",
            &json!([{"Node": "n1", "CheckID": "c", "Status": "passing", "Output": "marked-output", "ServiceID": "web"}]),
            5,
        );
        let key = format!("-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----\n");
        let leaf = json!({"CertPEM": "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n", "PrivateKeyPEM": key});
        out.set("/v1/agent/connect/ca/leaf/web", &leaf, 5);
        out.set("/v1/config/service-defaults", &json!([{"Kind": "service-defaults", "Name": "web", "Protocol": "http", "ModifyIndex": 3}]), 40);
        out
    }

    /// Serves the agent at a free port.
    async fn start(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let app = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        address
    }
}

/// Answers like an agent: if the request has the present index, the answer waits for another index.
async fn answer(State(stand_in): State<StandIn>, uri: Uri, RawQuery(query): RawQuery, headers: HeaderMap, question: String) -> impl IntoResponse {
    let query = query.unwrap_or_default();
    let token = headers.get("x-consul-token").and_then(|token| token.to_str().ok()).unwrap_or_default().to_owned();
    stand_in.agent().asked.push((format!("{}?{query}", uri.path()), token.clone()));
    let known: Option<u64> = query.split('&').find_map(|part| part.strip_prefix("index=")).and_then(|index| index.parse().ok());
    if uri.path() == "/v1/internal/acl/authorize" {
        let of = stand_in.agent().writers.get(&token).cloned();
        let asked: Value = serde_json::from_str(&question).expect("a question in JSON");
        let rights: Vec<Value> =
            asked.as_array().expect("a list").iter().map(|one| json!({"Allow": of.as_deref().is_some_and(|of| one["Segment"] == of)})).collect();
        let known = if of.is_some() || token.is_empty() { StatusCode::OK } else { StatusCode::FORBIDDEN };
        return (known, [("x-consul-index", "0".to_owned())], json!(rights).to_string());
    }
    let begin = Instant::now();
    loop {
        let found = stand_in.agent().answers.get(uri.path()).cloned().unwrap_or((200, "[]".into(), 1));
        let (status, body, index) = found;
        if status != 200 || known != Some(index) || begin.elapsed() > Duration::from_secs(20) {
            return (StatusCode::from_u16(status).expect("a status"), [("x-consul-index", index.to_string())], body);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

struct Followed {
    session: Session,
    events: Events,
}

impl Followed {
    fn of(address: &str, token_file: Option<std::path::PathBuf>, recorder: Option<Recorder>) -> Self {
        let events = Events::default();
        let running = Running { options: Options::of(&consul::DIALECT), spacing: Duration::ZERO, recorder, events: events.clone() };
        let settings = Settings { address: Some(address.into()), token_file, ..Settings::default() };
        Self { session: Session::start(running, vec![Box::new(Consul::new(settings))]).expect("a session"), events }
    }

    fn text(&self, name: &str) -> Option<String> {
        let build = self.session.build()?;
        build.compilation.inputs.inputs.iter().find(|input| input.name == name).map(|input| input.text.to_string())
    }

    async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let begin = Instant::now();
        while !holds(self) {
            assert!(begin.elapsed() < Duration::from_secs(20), "{what} does not come: {:?}", self.states());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Returns the last reported state of each part.
    fn states(&self) -> BTreeMap<String, (SourceState, String)> {
        let told = self.events.timeline().into_iter().filter_map(|dated| match dated.event {
            Event::Source { kind, state, detail, .. } => Some((kind, (state, detail.unwrap_or_default()))),
            _ => None,
        });
        told.collect()
    }

    fn is(&self, part: &str, state: SourceState) -> bool {
        self.states().get(part).is_some_and(|(known, _)| *known == state)
    }
}

#[tokio::test]
async fn source_follows_agent_with_gateway_per_proxy() {
    let stand_in = StandIn::usual();
    let followed = Followed::of(&stand_in.start().await, None, None);
    followed.until("the first build", |of| of.session.build().is_some_and(|build| !build.gateways.is_empty())).await;
    let build = followed.session.build().expect("a build");
    assert_eq!(build.gateways.iter().map(|gateway| &*gateway.id).collect::<Vec<_>>(), ["web-proxy"]);
    assert_eq!(build.errors, 0, "{:?}", build.findings());
    let instance = followed.text("consul/service/east/n1/web-proxy").expect("the sidecar");
    assert!(!instance.contains("ModifyIndex"), "{instance}");
    assert!(!followed.text("consul/service/east/n1/web").expect("the service").contains("marked-output"), "what checks print is not kept");
    let agent = followed.text("consul/agent").expect("the agent");
    assert!(agent.contains("domain.consul") && agent.contains("\"allow\""), "without ACLs every client may do everything: {agent}");
    // An edit, and a removed service.
    stand_in.set("/v1/config/service-defaults", &json!([{"Kind": "service-defaults", "Name": "web", "Protocol": "grpc"}]), 41);
    followed.until("the edit", |of| of.text("consul/service-defaults/web").is_some_and(|text| text.contains("grpc"))).await;
    stand_in.set("/v1/catalog/node-services/n1", &json!({"Services": []}), 6);
    stand_in.set("/v1/catalog/services", &json!({}), 6);
    followed.until("the end of the service", |of| of.session.build().is_some_and(|build| build.gateways.is_empty())).await;
    followed.until("the end of its certificate", |of| of.text("consul/leaf/web").is_none()).await;
}

#[tokio::test]
async fn decreasing_index_hides_no_change() {
    let stand_in = StandIn::usual();
    let followed = Followed::of(&stand_in.start().await, None, None);
    followed.until("the entry", |of| of.text("consul/service-defaults/web").is_some()).await;
    for (index, protocol) in [(3, "tcp"), (2, "grpc"), (1, "http2")] {
        stand_in.set("/v1/config/service-defaults", &json!([{"Kind": "service-defaults", "Name": "web", "Protocol": protocol}]), index);
        followed.until(protocol, |of| of.text("consul/service-defaults/web").is_some_and(|text| text.contains(protocol))).await;
    }
    let asked = stand_in.agent().asked.clone();
    assert!(asked.iter().any(|(path, _)| path.contains("index=40&wait=")), "{asked:?}");
}

#[tokio::test]
async fn unreadable_part_keeps_inputs_and_reports_reason() {
    let stand_in = StandIn::usual();
    let followed = Followed::of(&stand_in.start().await, None, None);
    followed.until("the entry", |of| of.text("consul/service-defaults/web").is_some()).await;
    stand_in.fail("/v1/config/service-defaults", 500, "No cluster leader");
    followed.until("the failure", |of| of.is("service-defaults", SourceState::Error)).await;
    let (_, why) = followed.states().remove("service-defaults").expect("a state");
    assert!(why.contains("No cluster leader") && why.contains("the last read state is used"), "{why}");
    assert!(followed.text("consul/service-defaults/web").is_some());
    // A restored cluster begins with low indexes.
    stand_in.set("/v1/config/service-defaults", &json!([{"Kind": "service-defaults", "Name": "web", "Protocol": "tcp"}]), 2);
    followed.until("the recovery", |of| of.text("consul/service-defaults/web").is_some_and(|text| text.contains("tcp"))).await;
    assert!(followed.is("service-defaults", SourceState::Synced));
}

#[tokio::test]
async fn missing_permission_is_named_without_token() {
    let stand_in = StandIn::usual();
    stand_in.fail("/v1/config/service-intentions", 403, &format!("Permission denied: token {TOKEN} lacks permission"));
    stand_in.fail("/v1/agent/connect/ca/leaf/web", 403, "Permission denied");
    let folder = tempfile::tempdir().expect("a folder");
    let (token, recording) = (folder.path().join("token"), folder.path().join("recording"));
    std::fs::write(&token, format!("{TOKEN}\n")).expect("a file");
    let followed = Followed::of(&stand_in.start().await, Some(token), Some(Recorder::new(&recording).expect("a recording")));
    // Everything else is served.
    followed.until("the first build", |of| of.session.build().is_some_and(|build| !build.gateways.is_empty())).await;
    followed.until("the certificate", |of| of.is("certificate of web", SourceState::Forbidden)).await;
    let states = followed.states();
    let (state, why) = &states["service-intentions"];
    assert!(*state == SourceState::Forbidden && why.contains("intentions = \"read\""), "{why}");
    assert!(states["certificate of web"].1.contains("service \"web\" { policy = \"write\" }"), "{states:?}");
    stand_in.set(
        "/v1/agent/connect/ca/leaf/web",
        &json!({"CertPEM": "c", "PrivateKeyPEM": format!("-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----\n")}),
        9,
    );
    followed.until("the permission", |of| of.is("certificate of web", SourceState::Synced)).await;
    assert!(stand_in.agent().asked.iter().all(|(_, token)| token == TOKEN));
    let shown = format!("{:?} {}", followed.events.timeline(), std::fs::read_to_string(&recording).expect("the recording"));
    assert!(shown.contains("consul/leaf/web"), "the certificate is recorded");
    for secret in [TOKEN, KEY] {
        assert!(!shown.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn terminating_gateway_shows_certificates_of_its_services() {
    let stand_in = StandIn::usual();
    let gateway = json!({"Kind": "terminating-gateway", "ID": "tgw", "Service": "tgw", "Port": 8443,
        "TaggedAddresses": {"consul-virtual:billing": {"Address": "240.0.0.9", "Port": 0}}});
    stand_in.set("/v1/catalog/node-services/n1", &json!({"Services": [gateway, {"ID": "billing", "Service": "billing", "Port": 443}]}), 5);
    stand_in.set("/v1/config/terminating-gateway", &json!([{"Kind": "terminating-gateway", "Name": "tgw", "Services": [{"Name": "billing"}]}]), 40);
    let key = format!("-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----\n");
    let leaf = json!({"CertPEM": "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n", "PrivateKeyPEM": key});
    stand_in.set("/v1/agent/connect/ca/leaf/billing", &leaf, 5);
    let followed = Followed::of(&stand_in.start().await, None, None);
    followed.until("the certificate", |of| of.is("certificate of billing", SourceState::Synced)).await;
    let names = |of: &Followed| -> Vec<String> {
        let build = of.session.build();
        let secrets = build.as_ref().and_then(|build| build.gateways.first()?.snapshot.get(SECRETS).cloned());
        secrets.map(|all| all.by_name.keys().map(|name| name.to_string()).collect()).unwrap_or_default()
    };
    followed.until("the secrets", |of| names(of) == ["leaf:billing", "roots"]).await;
    assert!(!followed.states().contains_key("certificate of tgw"), "it has no certificate: {:?}", followed.states());
}

#[tokio::test]
async fn new_certificate_changes_only_its_secret() {
    let stand_in = StandIn::usual();
    let followed = Followed::of(&stand_in.start().await, None, None);
    followed.until("the certificate", |of| of.is("certificate of web", SourceState::Synced)).await;
    let secrets = |of: &Followed| of.session.build().and_then(|build| build.gateways.first()?.snapshot.get(SECRETS).map(|all| all.by_name.len()));
    followed.until("the secrets", |of| secrets(of) == Some(2)).await;
    let before = followed.session.build().expect("a build");
    let leaf = json!({"CertPEM": "-----BEGIN CERTIFICATE-----\nBB==\n-----END CERTIFICATE-----\n", "PrivateKeyPEM": format!("-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----\n")});
    stand_in.set("/v1/agent/connect/ca/leaf/web", &leaf, 6);
    followed
        .until("the rotation", |of| of.session.build().is_some_and(|build| !build.gateways[0].changed.is_empty() && build.number > before.number))
        .await;
    let after = followed.session.build().expect("a build");
    // Resources that connections depend on are unchanged, so an Envoy drops no connection for a secret.
    let changed: Vec<(&str, Vec<&str>)> =
        after.gateways[0].changed.iter().map(|(url, names)| (&**url, names.iter().map(|name| &**name).collect())).collect();
    assert_eq!(changed, [(SECRETS, vec!["leaf:web"])]);
}

const SECRETS: &str = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

#[tokio::test]
async fn stream_token_must_allow_writing_service() {
    let stand_in = StandIn::usual();
    let self_ = json!({"Config": {"Datacenter": "east", "NodeName": "n1"}, "DebugConfig": {"ACLResolverSettings": {"ACLsEnabled": true, "ACLDefaultPolicy": "allow"}}});
    stand_in.set("/v1/agent/self", &self_, 0);
    stand_in.agent().writers = BTreeMap::from([(TOKEN.to_owned(), "web".to_owned()), ("of-api".to_owned(), "api".to_owned())]);
    let mut followed = Followed::of(&stand_in.start().await, None, None);
    followed.until("the first build", |of| of.session.build().is_some_and(|build| !build.gateways.is_empty())).await;
    let address = followed.session.serve_xds(0).await.expect("a server").to_string();
    assert!(clusters(&address, "web-proxy", Some(TOKEN)).await.expect("the proxy's clusters") > 0);
    for (token, says) in
        [(Some("of-api"), "service \"web\" { policy = \"write\" }"), (None, "service \"web\""), (Some("unknown"), "does not know the token")]
    {
        let refused = clusters(&address, "web-proxy", token).await.expect_err("it may not");
        assert_eq!(refused.code(), tonic::Code::PermissionDenied, "{token:?}");
        assert!(refused.message().contains(says), "{token:?}: {}", refused.message());
        assert!(!refused.message().contains("of-api") && !refused.message().contains("unknown"), "{}", refused.message());
    }
    // Without ACLs no request needs a token.
    let open = json!({"Config": {"Datacenter": "east", "NodeName": "n1"}, "DebugConfig": {"ACLResolverSettings": {"ACLsEnabled": false}}});
    let free = StandIn::usual();
    free.set("/v1/agent/self", &open, 0);
    let mut followed = Followed::of(&free.start().await, None, None);
    followed.until("the first build", |of| of.session.build().is_some_and(|build| !build.gateways.is_empty())).await;
    let address = followed.session.serve_xds(0).await.expect("a server").to_string();
    assert!(clusters(&address, "web-proxy", None).await.expect("the proxy's clusters") > 0);
    let asked = free.agent().asked.clone();
    assert!(asked.iter().all(|(path, _)| !path.contains("acl/authorize")), "{asked:?}");
}

#[tokio::test]
async fn missing_agent_is_awaited() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    drop(listener);
    let followed = Followed::of(&address, None, None);
    followed.until("the failure", |of| of.is("roots", SourceState::Error)).await;
    let (_, why) = followed.states().remove("roots").expect("a state");
    assert!(why.contains(&address) && why.contains("cannot be reached"), "{why}");
    assert!(followed.session.build().is_none(), "nothing is served before everything is known");
}
