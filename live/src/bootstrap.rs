//! Writes the bootstrap of an Envoy that gets everything else from this server. Does not choose its resources; see
//! `proxies`.

use crate::Failure;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The clusters of the management server, by the names that resources use. Envoy requests routes, endpoints and
/// certificates from these, and all of them are this server.
const SERVER_CLUSTERS: [&str; 2] = ["chancery", "contour"];

/// The cluster of Envoy's admin interface in Contour's listeners. Contour's own bootstrap defines it, and Envoy rejects
/// listeners whose cluster is missing.
const ADMIN_CLUSTER: &str = "envoy-admin";

/// The settings of a bootstrap.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    /// The addresses of the management server: `HOST:PORT`. With several, Envoy tries the next one if one refuses it or crashes.
    pub xds: Vec<String>,
    /// `node.id`
    pub node_id: String,
    /// `node.cluster`
    pub node_cluster: String,
    /// The address of Envoy's admin interface: `HOST:PORT`, or `off`.
    pub admin: String,
    /// Whether Envoy uses the delta protocol, which sends only changes.
    pub delta: bool,
    /// The CA of the server's certificate. Envoy uses TLS if any of these three is given.
    pub tls_ca: Option<PathBuf>,
    /// The certificate that Envoy shows.
    pub tls_cert: Option<PathBuf>,
    /// The key of that certificate.
    pub tls_key: Option<PathBuf>,
}

impl Bootstrap {
    /// Returns the bootstrap as JSON.
    ///
    /// # Errors
    ///
    /// An address is invalid. The message names it.
    pub fn json(&self) -> Result<Value, Failure> {
        let mut out = json!({
            "node": {"id": self.node_id, "cluster": self.node_cluster},
            "dynamic_resources": {
                "ads_config": {
                    "api_type": if self.delta { "DELTA_GRPC" } else { "GRPC" },
                    "transport_api_version": "V3",
                    "grpc_services": [{"envoy_grpc": {"cluster_name": SERVER_CLUSTERS[0], "retry_policy": Self::retry_policy()}}],
                    "set_node_on_first_message_only": true,
                },
                "cds_config": {"resource_api_version": "V3", "ads": {}},
                "lds_config": {"resource_api_version": "V3", "ads": {}},
            },
        });
        let clusters: Result<Vec<Value>, Failure> = SERVER_CLUSTERS.iter().map(|name| self.cluster(name)).collect();
        let mut clusters = clusters?;
        let admin = if self.admin == "off" { None } else { Some(address(&self.admin, "--admin")?) };
        let admin = admin.map(|(host, port)| json!({"socket_address": {"address": host, "port_value": port}}));
        clusters.push(admin_cluster(admin.as_ref()));
        out["static_resources"] = json!({"clusters": clusters});
        if let Some(admin) = admin {
            out["admin"] = json!({"address": admin});
        }
        Ok(out)
    }

    /// Returns how soon Envoy tries again. By default, Envoy waits up to 30 s, which is too long to find the replica of a gateway.
    fn retry_policy() -> Value {
        json!({"retry_back_off": {"base_interval": "0.2s", "max_interval": "1s"}})
    }

    fn cluster(&self, name: &str) -> Result<Value, Failure> {
        let addresses: Vec<(&str, u16)> = self.xds.iter().map(|xds| address(xds, "--xds")).collect::<Result<_, _>>()?;
        let is_address = |host: &str| host.parse::<std::net::IpAddr>().is_ok();
        let are_addresses = addresses.iter().all(|(host, _)| is_address(host));
        let endpoint = |(host, port): &(&str, u16)| json!({"endpoint": {"address": {"socket_address": {"address": host, "port_value": port}}}});
        let endpoints: Vec<Value> = addresses.iter().map(endpoint).collect();
        // Several servers: Envoy must soon notice that the one it uses disappeared silently.
        let (interval, timeout) = if are_addresses && addresses.len() == 1 { ("30s", "5s") } else { ("1.5s", "1.5s") };
        let mut cluster = json!({
            "name": name,
            "type": if are_addresses { "STATIC" } else { "STRICT_DNS" },
            "connect_timeout": "1s",
            "load_assignment": {
                "cluster_name": name,
                "endpoints": [{"lb_endpoints": endpoints}],
            },
            "typed_extension_protocol_options": {
                "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                    "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
                    // Envoy notices when the server disappears silently.
                    "explicit_http_config": {"http2_protocol_options": {"connection_keepalive": {"interval": interval, "timeout": timeout}}},
                },
            },
        });
        if self.tls_ca.is_some() || self.tls_cert.is_some() {
            let hosts: Vec<&str> = addresses.iter().map(|(host, _)| *host).collect();
            cluster["transport_socket"] = self.transport_socket(&hosts);
        }
        Ok(cluster)
    }

    fn transport_socket(&self, hosts: &[&str]) -> Value {
        let mut common = json!({"alpn_protocols": ["h2"]});
        if let Some(authority) = &self.tls_ca {
            // The server's certificate must contain an address that Envoy connects to.
            let name = |host: &&str| {
                let kind = if host.parse::<std::net::IpAddr>().is_ok() { "IP_ADDRESS" } else { "DNS" };
                json!({"san_type": kind, "matcher": {"exact": host}})
            };
            let names: Vec<Value> = hosts.iter().map(name).collect();
            common["validation_context"] = json!({"trusted_ca": {"filename": authority}, "match_typed_subject_alt_names": names});
        }
        if let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) {
            common["tls_certificates"] = json!([{"certificate_chain": {"filename": certificate}, "private_key": {"filename": key}}]);
        }
        json!({
            "name": "envoy.transport_sockets.tls",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
                "sni": hosts.first(),
                "common_tls_context": common,
            },
        })
    }
}

/// Returns the cluster of the admin interface. If the interface is off, the cluster has no endpoints.
fn admin_cluster(address: Option<&Value>) -> Value {
    let endpoints: Vec<Value> = address.into_iter().map(|address| json!({"lb_endpoints": [{"endpoint": {"address": reachable(address)}}]})).collect();
    json!({
        "name": ADMIN_CLUSTER,
        "type": "STATIC",
        "connect_timeout": "1s",
        "load_assignment": {"cluster_name": ADMIN_CLUSTER, "endpoints": endpoints},
    })
}

/// Returns the address to connect to: the loopback address for an interface that listens on all addresses.
fn reachable(address: &Value) -> Value {
    let mut out = address.clone();
    let host = match address["socket_address"]["address"].as_str() {
        Some("0.0.0.0") => "127.0.0.1",
        Some("::") => "::1",
        _ => return out,
    };
    out["socket_address"]["address"] = host.into();
    out
}

fn address<'a>(text: &'a str, flag: &str) -> Result<(&'a str, u16), Failure> {
    let wrong = || Failure(format!("{flag} {text} is not an address: write HOST:PORT"));
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = port.parse().map_err(|_| wrong())?;
    if host.is_empty() || port == 0 { Err(wrong()) } else { Ok((host, port)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bootstrap(xds: &[&str], tls_ca: Option<&str>) -> Result<Value, Failure> {
        let bootstrap = Bootstrap {
            xds: xds.iter().map(|xds| (*xds).to_owned()).collect(),
            node_id: "n".into(),
            node_cluster: "c".into(),
            admin: "off".into(),
            delta: true,
            tls_ca: tls_ca.map(PathBuf::from),
            tls_cert: None,
            tls_key: None,
        };
        bootstrap.json()
    }

    /// Returns the type, the addresses and the keepalive of the cluster of the server.
    fn cluster(xds: &[&str]) -> (String, Vec<String>, String) {
        let all = bootstrap(xds, None).expect("a bootstrap");
        let cluster = &all["static_resources"]["clusters"][0];
        let endpoints = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"].as_array().expect("endpoints");
        let address = |of: &Value| {
            let address = &of["endpoint"]["address"]["socket_address"];
            format!("{} {}", address["address"].as_str().unwrap_or_default(), address["port_value"])
        };
        let options = &cluster["typed_extension_protocol_options"]["envoy.extensions.upstreams.http.v3.HttpProtocolOptions"];
        let keepalive = &options["explicit_http_config"]["http2_protocol_options"]["connection_keepalive"]["interval"];
        (cluster["type"].as_str().unwrap_or_default().into(), endpoints.iter().map(address).collect(), keepalive.as_str().unwrap_or_default().into())
    }

    #[test]
    fn bootstrap_lists_every_server() {
        assert_eq!(cluster(&["127.0.0.1:1"]), ("STATIC".into(), vec!["127.0.0.1 1".into()], "30s".into()));
        assert_eq!(cluster(&["chancery.a.svc:1"]), ("STRICT_DNS".into(), vec!["chancery.a.svc 1".into()], "1.5s".into()));
        let several = cluster(&["127.0.0.1:1", "127.0.0.2:2"]);
        assert_eq!(several, ("STATIC".into(), vec!["127.0.0.1 1".into(), "127.0.0.2 2".into()], "1.5s".into()));
        assert!(bootstrap(&["127.0.0.1:1", "nowhere"], None).is_err());
    }

    #[test]
    fn certificate_of_any_server_is_accepted() {
        let all = bootstrap(&["chancery.a.svc:1", "127.0.0.2:2"], Some("ca.crt")).expect("a bootstrap");
        let tls = &all["static_resources"]["clusters"][0]["transport_socket"]["typed_config"];
        let names = &tls["common_tls_context"]["validation_context"]["match_typed_subject_alt_names"];
        assert_eq!(
            *names,
            json!([{"san_type": "DNS", "matcher": {"exact": "chancery.a.svc"}}, {"san_type": "IP_ADDRESS", "matcher": {"exact": "127.0.0.2"}}])
        );
        assert_eq!(tls["sni"], "chancery.a.svc");
    }
}
