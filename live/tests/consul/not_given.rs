//! What an agent knows and its API does not give: it is said where a proxy needs it, and nothing else differs.
//!
//! What must not be here: how findings are shown.

use super::Followed;
use super::agent::{Ads, Servers};
use serde_json::{Value, json};

const REGISTER: &str = "/v1/agent/service/register";

impl Followed {
    /// What is said of what the API does not give, as of the last build.
    fn not_given(&self) -> Vec<String> {
        let found = self.session.build().map(|build| build.findings()).unwrap_or_default();
        found.into_iter().filter(|finding| finding.code == "not-in-consul-api").map(|finding| finding.message).collect()
    }
}

/// What the agent serves to a proxy, and what we do.
async fn both(servers: &Servers, followed: &Followed, proxy: &str) -> [Value; 2] {
    [Ads::ask(&servers.grpc(0), proxy).await.expect("an answer"), Ads::ask(&followed.address, proxy).await.expect("an answer")]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paths_of_exposed_checks_are_said_to_be_missing_and_can_be_listed() {
    let Some(servers) = Servers::alone().await else { return };
    let web = |expose: Value| {
        let check = json!({"HTTP": "http://127.0.0.1:8080/health", "Interval": "10s"});
        json!({"Name": "web", "Port": 8080, "Check": check, "Connect": {"SidecarService": {"Port": 21030, "Proxy": {"Expose": expose}}}})
    };
    servers.put(0, REGISTER, &web(json!({"Checks": true}))).await;
    let followed = Followed::of(&servers).await;
    followed.until("the notice", |of| !of.not_given().is_empty()).await;
    eprintln!("{:?}", followed.not_given());
    let [theirs, ours] = both(&servers, &followed, "web-sidecar-proxy").await;
    eprintln!("{}\n{}", serde_json::to_string_pretty(&theirs).unwrap(), serde_json::to_string_pretty(&ours).unwrap());
    servers.put(0, REGISTER, &web(json!({"Paths": [{"Path": "/health", "LocalPathPort": 8080, "ListenerPort": 21500, "Protocol": "http"}]}))).await;
    followed.agrees_on(&servers, "web-sidecar-proxy", "exposed_path", "with its paths").await;
    assert_eq!(followed.not_given(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn virtual_addresses_without_a_proxy_are_said_to_be_missing() {
    let Some(servers) = Servers::alone().await else { return };
    let web = |upstreams: Value| {
        let proxy = json!({"Mode": "transparent", "Upstreams": upstreams});
        json!({"Name": "web", "Port": 8080, "Connect": {"SidecarService": {"Port": 21030, "Proxy": proxy}}})
    };
    servers.put(0, REGISTER, &web(json!([]))).await;
    servers.put(0, REGISTER, &json!({"Name": "api", "Port": 8081, "Connect": {"SidecarService": {"Port": 21031}}})).await;
    servers.put(0, "/v1/config", &json!({"Kind": "service-resolver", "Name": "old", "Redirect": {"Service": "api"}})).await;
    let followed = Followed::of(&servers).await;
    followed.until("the notice", |of| !of.not_given().is_empty()).await;
    eprintln!("{:?}", followed.not_given());
    let [theirs, ours] = both(&servers, &followed, "web-sidecar-proxy").await;
    eprintln!("{}\n{}", serde_json::to_string_pretty(&theirs).unwrap(), serde_json::to_string_pretty(&ours).unwrap());
    servers.put(0, REGISTER, &web(json!([{"DestinationName": "old", "LocalBindPort": 9191}]))).await;
    followed.agrees_on(&servers, "web-sidecar-proxy", "9191", "with an upstream").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_of_mesh_gateways_are_said_to_be_missing() {
    let Some(servers) = Servers::alone().await else { return };
    servers.put(0, REGISTER, &json!({"Name": "api", "Port": 8081, "Connect": {"SidecarService": {"Port": 21031}}})).await;
    servers.put(0, REGISTER, &json!({"Kind": "mesh-gateway", "ID": "gateway", "Name": "gateway", "Address": "127.0.0.1", "Port": 8443})).await;
    servers.put(0, "/v1/config", &json!({"Kind": "service-defaults", "Name": "api", "Protocol": "http"})).await;
    let exported = json!({"Kind": "exported-services", "Name": "default", "Services": [{"Name": "api", "Consumers": [{"Peer": "cloud"}]}]});
    servers.put(0, "/v1/config", &exported).await;
    servers.post(0, "/v1/peering/token", &json!({"PeerName": "cloud"})).await;
    let followed = Followed::of(&servers).await;
    followed.until("the notice", |of| !of.not_given().is_empty()).await;
    eprintln!("{:?}", followed.not_given());
    let [theirs, ours] = both(&servers, &followed, "gateway").await;
    eprintln!("{}\n{}", serde_json::to_string_pretty(&theirs).unwrap(), serde_json::to_string_pretty(&ours).unwrap());
}
