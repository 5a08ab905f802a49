//! Tests certificates that rotate under open connections, with two real Envoys: the sidecars of a client and of a
//! server.
//!
//! Does not test how certificates are served; see `consul_agent`.

use super::agent::Servers;
use super::{Followed, PATIENCE, process};
use chancery_tests::port::free;
use serde_json::json;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A running sidecar.
struct Sidecar(Child);

impl Drop for Sidecar {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server that returns everything that it receives. Returns its port.
async fn mirror() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut read, mut write) = stream.split();
                tokio::io::copy(&mut read, &mut write).await
            });
        }
    });
    port
}

/// Sends bytes and waits for their return. Returns whether they came back.
async fn carries(stream: &mut TcpStream) -> bool {
    let both = async {
        let mut back = [0; 5];
        stream.write_all(b"bytes").await?;
        stream.read_exact(&mut back).await.map(|_| back == *b"bytes")
    };
    tokio::time::timeout(Duration::from_secs(5), both).await.is_ok_and(|came| came.unwrap_or_default())
}

/// Opens a separate connection, which ends after an exchange. Returns whether the exchange succeeded.
async fn connects(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)).await else { return false };
    carries(&mut stream).await
}

/// Returns a certificate in the form of Envoy's log.
async fn leaf(servers: &Servers, service: &str) -> String {
    let answer = servers.get(0, &format!("/v1/agent/connect/ca/leaf/{service}")).await;
    let chain = answer["CertPEM"].as_str().expect("a certificate");
    let end = "-----END CERTIFICATE-----\n";
    let first = &chain[..chain.find(end).expect("an end") + end.len()];
    [("\n", "%0A"), (" ", "%20"), ("+", "%2B"), ("/", "%2F"), ("=", "%3D")].iter().fold(first.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Returns how many ended connections an Envoy logged with these two certificates: the client's, and the certificate of
/// the server behind the Envoy.
fn logged(log: &Path, client: &str, server: &str) -> usize {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().filter(|line| *line == format!("{client} {server}")).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connection_through_envoys_outlives_certificate_rotation() {
    let Some(envoy) = process::envoy() else { return };
    let Some(servers) = Servers::start().await else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (log, upstream) = (folder.path().join("access.log"), free());
    let logs = json!({"Enabled": true, "Type": "file", "Path": log, "TextFormat": "%DOWNSTREAM_PEER_CERT% %UPSTREAM_PEER_CERT%"});
    servers.put(0, "/v1/config", &json!({"Kind": "proxy-defaults", "Name": "global", "AccessLogs": logs})).await;
    let register = async |service: &str, port: u16, upstreams| {
        // The check copies the service's health, so the test need not wait until the agent has tried the port.
        let checks = json!([{"Name": "as the service", "AliasService": service}]);
        let sidecar = json!({"Port": free(), "Checks": checks, "Proxy": {"Upstreams": upstreams}});
        servers.put(0, "/v1/agent/service/register", &json!({"Name": service, "Port": port, "Connect": {"SidecarService": sidecar}})).await;
    };
    register("db", mirror().await, json!([])).await;
    register("web", 8080, json!([{"DestinationName": "db", "LocalBindPort": upstream}])).await;
    let followed = Followed::of(&servers).await;
    let sidecar = |id: &str| {
        let own = folder.path().join(id);
        std::fs::create_dir(&own).expect("a folder");
        Sidecar(process::start_envoy_as(id, &envoy, &own, followed.address.clone(), true, None))
    };
    let _both = [sidecar("db-sidecar-proxy"), sidecar("web-sidecar-proxy")];
    let begin = Instant::now();
    while !connects(upstream).await {
        assert!(begin.elapsed() < PATIENCE, "nothing is carried");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut open = TcpStream::connect(("127.0.0.1", upstream)).await.expect("a connection");
    assert!(carries(&mut open).await);
    let before = (leaf(&servers, "web").await, leaf(&servers, "db").await);
    // With another CA, the agent requests new certificates from it within half a minute.
    let other = json!({"Provider": "consul", "Config": {"PrivateKeyType": "ec", "PrivateKeyBits": 384}});
    servers.put(0, "/v1/connect/ca/configuration", &other).await;
    let begin = Instant::now();
    loop {
        assert!(carries(&mut open).await, "the open connection is lost");
        assert!(connects(upstream).await, "a new connection is refused");
        let after = (leaf(&servers, "web").await, leaf(&servers, "db").await);
        let shows_new = logged(&log, &after.0, "-") > 0 && logged(&log, "-", &after.1) > 0;
        if before.0 != after.0 && before.1 != after.1 && shows_new {
            break;
        }
        assert!(begin.elapsed() < 2 * PATIENCE, "no connection shows the new certificates");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // The old connection keeps its first certificates until its end.
    assert!(carries(&mut open).await, "the open connection is lost");
    let ended = || (logged(&log, &before.0, "-"), logged(&log, "-", &before.1));
    let known = ended();
    drop(open);
    let begin = Instant::now();
    while ended() != (known.0 + 1, known.1 + 1) {
        assert!(begin.elapsed() < PATIENCE, "its end is not logged: {known:?} {:?}", ended());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
