//! Tests the facts that an agent's API does not give: a notice reports each of them if a proxy needs it, and nothing
//! else differs.
//!
//! Does not test how findings are shown.

use super::agent::{Ads, Servers};
use super::{Followed, PATIENCE};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const REGISTER: &str = "/v1/agent/service/register";

impl Followed {
    /// Returns the notices about missing facts in the last build.
    fn not_given(&self) -> Vec<String> {
        let found = self.session.build().map(|build| build.findings()).unwrap_or_default();
        found.into_iter().filter(|finding| finding.code == "not-in-consul-api").map(|finding| finding.message).collect()
    }

    /// Waits until a notice contains `said`. Apart from resources with this mark, the proxy gets the same resources as
    /// from the agent.
    async fn lacks(&self, servers: &Servers, proxy: &str, mark: &str, said: &str) {
        self.until("the notice", |of| of.not_given() == [said]).await;
        let begin = Instant::now();
        loop {
            let (theirs, ours) = (Ads::ask(&servers.grpc(0), proxy).await, Ads::ask(&self.address, proxy).await);
            let has = |of: &Option<Value>| of.as_ref().is_some_and(|of| of.to_string().contains(mark));
            if has(&theirs) && !has(&ours) && theirs.clone().map(|of| without(of, mark)) == ours {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "{proxy}:\n--- the agent\n{theirs:?}\n--- we\n{ours:?}");
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }
}

/// Removes resources that have a mark. Of listeners, removes only the filter chains that have it.
fn without(mut of: Value, mark: &str) -> Value {
    let has = |of: &Value| of.to_string().contains(mark);
    for resources in of.as_object_mut().into_iter().flat_map(|types| types.values_mut()).filter_map(Value::as_object_mut) {
        resources.retain(|_, resource| {
            if let Some(chains) = resource.get_mut("filter_chains").and_then(Value::as_array_mut) {
                chains.retain(|chain| !has(chain));
            }
            !has(resource)
        });
    }
    if let Some(types) = of.as_object_mut() {
        types.retain(|_, resources| resources.as_object().is_some_and(|resources| !resources.is_empty()));
    }
    of
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_paths_of_exposed_checks_are_reported() {
    let Some(servers) = Servers::alone().await else { return };
    let web = |expose: Value| {
        let check = json!({"HTTP": "http://127.0.0.1:8080/health", "Interval": "10s"});
        json!({"Name": "web", "Port": 8080, "Check": check, "Connect": {"SidecarService": {"Port": 21030, "Proxy": {"Expose": expose}}}})
    };
    servers.put(0, REGISTER, &web(json!({"Checks": true}))).await;
    let followed = Followed::of(&servers).await;
    let said = "Consul's API does not say the paths of the checks of `web`: none is exposed";
    followed.lacks(&servers, "web-sidecar-proxy", "exposed_path", said).await;
    // The notice recommends this.
    servers.put(0, REGISTER, &web(json!({"Paths": [{"Path": "/health", "LocalPathPort": 8080, "ListenerPort": 21500, "Protocol": "http"}]}))).await;
    followed.agrees_on(&servers, "web-sidecar-proxy", "exposed_path", "with its paths").await;
    assert_eq!(followed.not_given(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_virtual_addresses_are_reported() {
    let Some(servers) = Servers::alone().await else { return };
    let web = |upstreams: Value| {
        let proxy = json!({"Mode": "transparent", "Upstreams": upstreams});
        json!({"Name": "web", "Port": 8080, "Connect": {"SidecarService": {"Port": 21030, "Proxy": proxy}}})
    };
    servers.put(0, REGISTER, &web(json!([]))).await;
    servers.put(0, REGISTER, &json!({"Name": "api", "Port": 8081, "Connect": {"SidecarService": {"Port": 21031}}})).await;
    servers.put(0, "/v1/config", &json!({"Kind": "service-resolver", "Name": "old", "Redirect": {"Service": "api"}})).await;
    let followed = Followed::of(&servers).await;
    let said = "Consul's API does not give the virtual address of `old`, which has no proxy: transparent proxies do not find it";
    followed.lacks(&servers, "web-sidecar-proxy", "upstream.old.", said).await;
    // The notice recommends this.
    servers.put(0, REGISTER, &web(json!([{"DestinationName": "old", "LocalBindPort": 9191}]))).await;
    followed.agrees_on(&servers, "web-sidecar-proxy", "9191", "with an upstream").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn services_exported_to_peers_are_reported() {
    let Some(servers) = Servers::alone().await else { return };
    servers.put(0, REGISTER, &json!({"Name": "api", "Port": 8081, "Connect": {"SidecarService": {"Port": 21031}}})).await;
    servers.put(0, REGISTER, &json!({"Kind": "mesh-gateway", "ID": "gateway", "Name": "gateway", "Address": "127.0.0.1", "Port": 8443})).await;
    let exported = json!({"Kind": "exported-services", "Name": "default", "Services": [{"Name": "api", "Consumers": [{"Peer": "cloud"}]}]});
    servers.put(0, "/v1/config", &exported).await;
    servers.post(0, "/v1/peering/token", &json!({"PeerName": "cloud"})).await;
    let followed = Followed::of(&servers).await;
    let said = "Consul's API gives neither the authorities of peers nor certificates of mesh gateways: no peer can call `api`";
    followed.lacks(&servers, "gateway", "exported~api", said).await;
}
