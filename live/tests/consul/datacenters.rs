//! Tests two datacenters of real agents: the resources of one datacenter that a proxy of the other gets, directly and
//! through mesh gateways.
//!
//! Does not start agents; see `support::agent`.

use super::agent::{Ads, Servers};
use super::{Followed, PATIENCE, Settings};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const REGISTER: &str = "/v1/agent/service/register";
/// The addresses of the gateways and a sidecar for another datacenter.
const GATEWAY_EAST: &str = "198.51.100.6";
const GATEWAY_WEST: &str = "198.51.100.7";
const SIDECAR_WEST: &str = "198.51.100.8";

async fn gateway(servers: &Servers, name: &str, wide: &str) {
    let addresses = json!({"lan": {"Address": "127.0.0.1", "Port": 8443}, "wan": {"Address": wide, "Port": 443}});
    let gateway = json!({"Kind": "mesh-gateway", "ID": name, "Name": name, "Address": "127.0.0.1", "Port": 8443, "TaggedAddresses": addresses});
    servers.put(0, REGISTER, &gateway).await;
}

async fn mode(east: &Servers, mode: &str) {
    east.put(0, "/v1/config", &json!({"Kind": "proxy-defaults", "Name": "global", "MeshGateway": {"Mode": mode}})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn remote_datacenter_is_served_like_the_agent() {
    let Some([east, mut west]) = Servers::federated().await else { return };
    let sidecar = json!({"Port": 21010, "TaggedAddresses": {"wan": {"Address": SIDECAR_WEST, "Port": 21443}}});
    west.put(0, REGISTER, &json!({"Name": "orders", "Port": 9090, "Connect": {"SidecarService": sidecar}})).await;
    west.put(0, REGISTER, &json!({"Name": "billing", "Port": 9091, "Connect": {"SidecarService": {"Port": 21011}}})).await;
    gateway(&west, "gateway-west", GATEWAY_WEST).await;
    gateway(&east, "gateway-east", GATEWAY_EAST).await;
    east.put(0, REGISTER, &json!({"Name": "billing", "ID": "billing", "Port": 9091, "Connect": {"SidecarService": {"Port": 21012}}})).await;
    let upstreams = json!([
        {"DestinationName": "orders", "Datacenter": "west", "LocalBindPort": 9191},
        {"DestinationName": "billing", "LocalBindPort": 9192},
    ]);
    east.put(0, REGISTER, &json!({"Name": "web", "Port": 8080, "Connect": {"SidecarService": {"Port": 21013, "Proxy": {"Upstreams": upstreams}}}}))
        .await;
    let followed = Followed::of(&east).await;
    followed.agrees_on(&east, "web-sidecar-proxy", SIDECAR_WEST, "directly").await;
    // Through the remote gateway, and through the local gateway, which forwards to the remote gateway.
    mode(&east, "remote").await;
    followed.agrees_on(&east, "web-sidecar-proxy", GATEWAY_WEST, "through a gateway there").await;
    mode(&east, "local").await;
    let served = followed.agrees_on(&east, "web-sidecar-proxy", "8443", "through a gateway here").await;
    assert!(!served.to_string().contains(GATEWAY_WEST), "{served}");
    followed.agrees_on(&east, "gateway-east", GATEWAY_WEST, "as a gateway").await;
    // A failover, and a redirect.
    mode(&east, "remote").await;
    east.put(0, "/v1/config", &json!({"Kind": "service-resolver", "Name": "billing", "Failover": {"*": {"Datacenters": ["west"]}}})).await;
    followed.agrees_on(&east, "web-sidecar-proxy", "failover-target~1~billing", "with a failover").await;
    east.put(0, "/v1/config", &json!({"Kind": "service-resolver", "Name": "billing", "Redirect": {"Service": "orders", "Datacenter": "west"}})).await;
    followed.agrees_on(&east, "web-sidecar-proxy", GATEWAY_WEST, "with a redirect").await;
    // Health of the other datacenter.
    mode(&east, "none").await;
    let sick = json!({"Name": "orders", "Port": 9090, "Check": {"TTL": "10m", "Status": "critical"},
        "Connect": {"SidecarService": {"Port": 21010, "TaggedAddresses": {"wan": {"Address": SIDECAR_WEST, "Port": 21443}}}}});
    west.put(0, REGISTER, &sick).await;
    followed.agrees_on(&east, "web-sidecar-proxy", "UNHEALTHY", "with a critical instance there").await;
    // The other datacenter is lost, and comes back with another instance.
    let served = Ads::ask(&followed.address, "web-sidecar-proxy").await;
    west.kill(0);
    followed.until("the loss", Followed::is_troubled).await;
    assert_eq!(Ads::ask(&followed.address, "web-sidecar-proxy").await, served, "the last read state is used");
    west.begin(0);
    west.ready().await;
    west.put(0, REGISTER, &json!({"Name": "orders", "ID": "orders-2", "Port": 9090, "Connect": {"SidecarService": {"Port": 21020}}})).await;
    followed.until("the return", |of| !of.is_troubled()).await;
    followed.agrees_on(&east, "web-sidecar-proxy", "21020", "behind the return").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secondary_datacenter_is_followed() {
    let Some([east, west]) = Servers::federated().await else { return };
    for servers in [&east, &west] {
        super::write(servers).await;
    }
    let followed = Followed::of(&west).await;
    for proxy in super::PROXIES {
        followed.agrees(&west, proxy, "in a secondary datacenter").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agent_answers_for_other_datacenter() {
    let Some([east, west]) = Servers::federated().await else { return };
    super::write(&west).await;
    let followed = Followed::by(Settings { address: Some(east.http(0)), datacenter: Some("west".into()), ..Settings::default() }).await;
    for proxy in super::PROXIES {
        followed.agrees(&west, proxy, "by an agent of another datacenter").await;
    }
    // The certificate is for the remote service.
    let begin = Instant::now();
    loop {
        let secrets = Ads::secrets(&followed.address, "web-sidecar-proxy", &["leaf:web"]).await;
        let secret: Option<Value> = secrets.get("leaf:web").and_then(|secret| serde_json::from_str(secret).ok());
        let chain = secret.as_ref().and_then(|secret| secret["tls_certificate"]["certificate_chain"]["inline_string"].as_str());
        if let Some(chain) = chain {
            let (_, pem) = x509_parser::pem::parse_x509_pem(chain.as_bytes()).expect("a certificate");
            let names = String::from_utf8_lossy(&pem.contents).into_owned();
            assert!(names.contains("/ns/default/dc/west/svc/web"), "{names}");
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "the certificate is not served: {secret:?}");
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}
