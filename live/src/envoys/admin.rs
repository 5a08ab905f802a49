//! Reads an Envoy's state from its admin interface. Does not compare it; see `drift`.

use super::http::get;
use super::reach::Reach;
use hyper::StatusCode;
use serde::Serialize;
use serde_json::Value;

/// The longest answer that is read, in bytes.
const LARGEST: usize = 256 << 20;
/// The most statistics that are returned.
const MOST_STATS: usize = 500;

/// The state of an Envoy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Overview {
    pub version: String,
    /// `LIVE`, or another state.
    pub state: String,
    /// Seconds since the start.
    pub uptime: u64,
    /// The node id in the Envoy's xDS requests.
    pub node: String,
    /// The number of rejected updates since the start, by type.
    pub rejected: Vec<(String, u64)>,
    pub clusters: Vec<ClusterState>,
    pub certificates: Vec<CertificateState>,
}

/// The state of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClusterState {
    pub name: String,
    /// The number of endpoints.
    pub endpoints: usize,
    /// The number of healthy endpoints.
    pub healthy: usize,
    /// The number of requests to the endpoints.
    pub requests: u64,
    /// The number of failed requests.
    pub errors: u64,
}

/// A certificate of an Envoy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CertificateState {
    /// `certificate`, or `authority`.
    pub kind: &'static str,
    /// The names in the certificate, or the path of an authority.
    pub names: Vec<String>,
    /// Days until expiry.
    pub days: Option<i64>,
    pub expires: String,
}

/// Returns the answer of `/config_dump`, including endpoints.
///
/// # Errors
///
/// One sentence: the address does not answer like an Envoy.
pub async fn config_dump(reach: &Reach) -> Result<String, String> {
    let text = text(reach, "/config_dump?include_eds").await?;
    if text.trim_start().starts_with('{') { Ok(text) } else { Err(no_envoy(reach)) }
}

/// Returns the states of an Envoy's clusters, by name.
///
/// # Errors
///
/// See [`config_dump`].
pub async fn clusters(reach: &Reach) -> Result<Vec<ClusterState>, String> {
    let answer = json(reach, "/clusters?format=json").await?;
    let mut out: Vec<ClusterState> = list(&answer, "cluster_statuses").map(cluster).collect();
    out.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(out)
}

fn cluster(of: &Value) -> ClusterState {
    let mut out = ClusterState { name: string(of, "name"), ..ClusterState::default() };
    for host in list(of, "host_statuses") {
        out.endpoints += 1;
        // Envoy lists only the unhealthy statuses; a missing field means false.
        let failed = host["health_status"].as_object().into_iter().flatten().any(|(name, value)| name.starts_with("failed_") && *value == true);
        let eds = host["health_status"]["eds_health_status"].as_str().unwrap_or("HEALTHY");
        out.healthy += usize::from(!failed && matches!(eds, "HEALTHY" | "UNKNOWN"));
        for stat in list(host, "stats") {
            let value = number(&stat["value"]);
            match stat["name"].as_str() {
                Some("rq_total") => out.requests += value,
                Some("rq_error") => out.errors += value,
                _ => {}
            }
        }
    }
    out
}

/// Returns an Envoy's certificates. The answer contains no keys.
///
/// # Errors
///
/// See [`config_dump`].
pub async fn certificates(reach: &Reach) -> Result<Vec<CertificateState>, String> {
    let answer = json(reach, "/certs").await?;
    let both = |of: &Value| {
        let own = list(of, "cert_chain").map(|of| certificate("certificate", of)).collect::<Vec<_>>();
        own.into_iter().chain(list(of, "ca_cert").map(|of| certificate("authority", of)).collect::<Vec<_>>())
    };
    Ok(list(&answer, "certificates").flat_map(both).collect())
}

fn certificate(kind: &'static str, of: &Value) -> CertificateState {
    let named = list(of, "subject_alt_names").filter_map(|name| name.as_object()?.values().next()?.as_str()).map(str::to_owned).collect::<Vec<_>>();
    let names = if named.is_empty() { vec![string(of, "path")] } else { named };
    let days = of.get("days_until_expiration").and_then(|days| days.as_i64().or_else(|| days.as_str()?.parse().ok()));
    CertificateState { kind, names, days, expires: string(of, "expiration_time") }
}

/// Returns the nonzero statistics whose names contain every word of `filter`, by name, and their number.
///
/// # Errors
///
/// See [`config_dump`].
pub async fn stats(reach: &Reach, filter: &str) -> Result<(Vec<(String, u64)>, usize), String> {
    let mut all = used_stats(reach).await?;
    all.retain(|(name, value)| *value > 0 && filter.split_whitespace().all(|word| name.contains(word)));
    let count = all.len();
    all.truncate(MOST_STATS);
    Ok((all, count))
}

async fn used_stats(reach: &Reach) -> Result<Vec<(String, u64)>, String> {
    let answer = json(reach, "/stats?format=json&usedonly&type=All").await?;
    let mut out: Vec<(String, u64)> =
        list(&answer, "stats").filter_map(|of| Some((of["name"].as_str()?.to_owned(), of.get("value").map(number)?))).collect();
    out.sort();
    Ok(out)
}

/// Returns an Envoy's state.
///
/// # Errors
///
/// See [`config_dump`].
pub async fn overview(reach: &Reach) -> Result<Overview, String> {
    let info = json(reach, "/server_info").await?;
    let stats = used_stats(reach).await?;
    let rejected = stats.into_iter().filter(|(name, value)| name.ends_with(".update_rejected") && *value > 0);
    let uptime = string(&info, "uptime_current_epoch");
    Ok(Overview {
        version: version(&string(&info, "version")),
        state: string(&info, "state"),
        uptime: uptime.trim_end_matches('s').parse().unwrap_or_default(),
        node: info["node"]["id"].as_str().unwrap_or_default().to_owned(),
        rejected: rejected.map(|(name, value)| (name.trim_end_matches(".update_rejected").to_owned(), value)).collect(),
        clusters: clusters(reach).await?,
        certificates: certificates(reach).await?,
    })
}

/// Returns the second part of `HASH/1.36.2/Clean/RELEASE/BoringSSL`.
fn version(text: &str) -> String {
    text.split('/').nth(1).unwrap_or(text).to_owned()
}

/// Returns the ports of an Envoy's listeners at addresses of this machine or pod.
pub(super) async fn listeners(reach: &Reach) -> Result<Vec<u16>, String> {
    let answer = json(reach, "/listeners?format=json").await?;
    let port = |of: &Value| u16::try_from(of["local_address"]["socket_address"]["port_value"].as_u64()?).ok();
    let mut ports: Vec<u16> = list(&answer, "listener_statuses").filter_map(port).collect();
    ports.sort_unstable();
    ports.dedup();
    Ok(ports)
}

async fn text(reach: &Reach, path: &str) -> Result<String, String> {
    let answer = get(reach, path, LARGEST).await?;
    if answer.status != StatusCode::OK {
        return Err(no_envoy(reach));
    }
    Ok(String::from_utf8_lossy(&answer.body).into_owned())
}

async fn json(reach: &Reach, path: &str) -> Result<Value, String> {
    serde_json::from_str(&text(reach, path).await?).map_err(|_| no_envoy(reach))
}

fn no_envoy(reach: &Reach) -> String {
    format!("what answers at {}, port {}, is no admin interface of Envoy", reach.name(), reach.admin_port())
}

fn list<'v>(of: &'v Value, field: &str) -> impl Iterator<Item = &'v Value> {
    of[field].as_array().into_iter().flatten()
}

fn string(of: &Value, field: &str) -> String {
    of[field].as_str().unwrap_or_default().to_owned()
}

/// Parses a number. Envoy writes long numbers as strings.
fn number(of: &Value) -> u64 {
    of.as_u64().or_else(|| of.as_str()?.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Answers every request with the entry of the first path that the request begins with.
    async fn answering(answers: &'static [(&'static str, &'static str)]) -> Reach {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut asked = [0; 512];
                let length = stream.read(&mut asked).await.unwrap_or_default();
                let asked = String::from_utf8_lossy(&asked[..length]).into_owned();
                let answer = answers.iter().find(|(path, _)| asked.starts_with(&format!("GET {path}")));
                let text = answer.map_or("HTTP/1.0 404 Not Found\r\n\r\nno".to_owned(), |(_, text)| (*text).to_owned());
                let text = if text.starts_with("HTTP") { text } else { format!("HTTP/1.0 200 OK\r\n\r\n{text}") };
                stream.write_all(text.as_bytes()).await.expect("it is written");
            }
        });
        Reach::Local(address)
    }

    #[tokio::test]
    async fn admin_of_other_program_is_error() {
        let dump = answering(&[("/config_dump", "{\"configs\":[]}")]).await;
        assert_eq!(config_dump(&dump).await.as_deref(), Ok("{\"configs\":[]}"));
        let chunked =
            answering(&[("/config_dump", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"con\r\n9\r\nfigs\":[]}\r\n0\r\n\r\n")]).await;
        assert_eq!(config_dump(&chunked).await.as_deref(), Ok("{\"configs\":[]}"));
        assert!(config_dump(&answering(&[]).await).await.is_err_and(|why| why.contains("no admin interface")));
        assert!(overview(&answering(&[("/server_info", "<html>")]).await).await.is_err_and(|why| why.contains("no admin interface")));
    }

    #[tokio::test]
    async fn overview_sums_up_envoy() {
        let reach = answering(&[
            ("/server_info", r#"{"version":"abc/1.36.2/Clean/RELEASE/BoringSSL","state":"LIVE","uptime_current_epoch":"75s","node":{"id":"envoy-1"}}"#),
            ("/stats", r#"{"stats":[{"name":"http.in.downstream_rq_total","value":7},{"name":"listener_manager.lds.update_rejected","value":2},{"histograms":{}}]}"#),
            (
                "/clusters",
                r#"{"cluster_statuses":[{"name":"b","host_statuses":[
                    {"stats":[{"name":"rq_total","value":"5"},{"name":"rq_error","value":"1"}],"health_status":{"eds_health_status":"HEALTHY"}},
                    {"health_status":{"failed_active_health_check":true,"eds_health_status":"HEALTHY"}}]},{"name":"a"}]}"#,
            ),
            (
                "/certs",
                r#"{"certificates":[{"ca_cert":[{"path":"ca.pem","days_until_expiration":"9"}],
                    "cert_chain":[{"path":"<inline>","subject_alt_names":[{"dns":"shop.example"}],"days_until_expiration":"-1","expiration_time":"2026-01-01T00:00:00Z"}]}]}"#,
            ),
        ])
        .await;
        let found = overview(&reach).await.expect("an overview");
        assert_eq!((found.version.as_str(), found.state.as_str(), found.uptime, found.node.as_str()), ("1.36.2", "LIVE", 75, "envoy-1"));
        assert_eq!(found.rejected, [("listener_manager.lds".to_owned(), 2)]);
        assert_eq!(found.clusters[1], ClusterState { name: "b".into(), endpoints: 2, healthy: 1, requests: 5, errors: 1 });
        assert_eq!((found.certificates[0].names[0].as_str(), found.certificates[0].days), ("shop.example", Some(-1)));
        assert_eq!((found.certificates[1].kind, found.certificates[1].names[0].as_str()), ("authority", "ca.pem"));
        assert_eq!(stats(&reach, "downstream rq").await, Ok((vec![("http.in.downstream_rq_total".to_owned(), 7)], 1)));
    }
}
