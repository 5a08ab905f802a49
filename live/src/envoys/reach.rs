//! Connects to a port of an Envoy: on this machine, or in a pod through a port-forward of Kubernetes.
//!
//! A port-forward opens no port on this machine: its stream is used directly.

use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};
use std::future::Future;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// The time limit for a connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait for the reason of a port-forward that ended.
const REASON: Duration = Duration::from_millis(300);

/// The address of an Envoy.
#[derive(Clone)]
pub enum Reach {
    /// On this machine.
    Local(SocketAddr),
    /// In a pod.
    Pod {
        client: Client,
        namespace: String,
        pod: String,
        /// The port of the admin interface.
        port: u16,
    },
}

/// A connection's bytes.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

pub struct Connection {
    /// Carries the bytes of the connection.
    pub stream: Box<dyn Stream>,
    /// Resolves to the reason why a port-forward ended, if it reports one.
    reason: Option<Pin<Box<dyn Future<Output = Option<String>> + Send>>>,
}

impl Connection {
    /// Splits the connection into its stream and the reason for its end.
    #[must_use]
    pub fn split(self) -> (Box<dyn Stream>, Reason) {
        (self.stream, Reason(self.reason))
    }
}

/// The reason why a connection ended, once it is known.
pub struct Reason(Option<Pin<Box<dyn Future<Output = Option<String>> + Send>>>);

impl Reason {
    /// Returns the reason, if the port-forward reports it soon.
    pub async fn text(self) -> Option<String> {
        tokio::time::timeout(REASON, self.0?).await.ok().flatten()
    }
}

impl Reach {
    /// Parses an admin interface of this machine, as `HOST:PORT`.
    ///
    /// # Errors
    ///
    /// The string is not an address, or the address belongs to another machine: a page must not reach other machines
    /// through this program.
    pub fn local(address: &str) -> Result<Self, String> {
        let wrong = || format!("`{address}` is not an address: write HOST:PORT");
        let at = address.trim().to_socket_addrs().map_err(|_| wrong())?.next().ok_or_else(wrong)?;
        if at.ip().is_loopback() { Ok(Self::Local(at)) } else { Err(format!("{address} is not on this machine: forward its port here first")) }
    }

    /// Returns the port of the admin interface.
    #[must_use]
    pub fn admin_port(&self) -> u16 {
        match self {
            Self::Local(at) => at.port(),
            Self::Pod { port, .. } => *port,
        }
    }

    /// Returns the Envoy's name for sentences.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Local(at) => at.to_string(),
            Self::Pod { namespace, pod, .. } => format!("the pod {namespace}/{pod}"),
        }
    }

    /// Connects to a port of the Envoy.
    ///
    /// # Errors
    ///
    /// One sentence: the port does not accept connections, or the cluster refuses.
    pub async fn connect(&self, port: u16) -> Result<Connection, String> {
        let connected = tokio::time::timeout(PATIENCE, self.connect_now(port)).await;
        connected.map_err(|_| format!("{} does not answer within {} s", self.name(), PATIENCE.as_secs()))?
    }

    async fn connect_now(&self, port: u16) -> Result<Connection, String> {
        match self {
            Self::Local(at) => {
                let at = SocketAddr::new(at.ip(), port);
                let stream = TcpStream::connect(at).await.map_err(|error| format!("nothing answers at {at}: {error}"))?;
                Ok(Connection { stream: Box::new(stream), reason: None })
            }
            Self::Pod { client, namespace, pod, .. } => {
                let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
                let mut forwarded = pods.portforward(pod, &[port]).await.map_err(|error| refused(&error, namespace, pod))?;
                let stream = forwarded.take_stream(port).ok_or_else(|| format!("the port {port} of the pod {namespace}/{pod} is not forwarded"))?;
                let reason = forwarded.take_error(port).map(|reason| Box::pin(reason) as Pin<Box<dyn Future<Output = _> + Send>>);
                Ok(Connection { stream: Box::new(stream), reason })
            }
        }
    }
}

/// Describes why the cluster does not forward a port, with the missing rule if that is the reason.
fn refused(error: &kube::Error, namespace: &str, pod: &str) -> String {
    let text = error.to_string();
    let forbidden = matches!(error, kube::Error::Api(status) if status.code == 403) || text.contains("403");
    if forbidden {
        return format!(
            "ports of pods in the namespace {namespace} may not be forwarded; the rule that is missing: \
             apiGroups: [\"\"], resources: [\"pods/portforward\"], verbs: [get, create]"
        );
    }
    if matches!(error, kube::Error::Api(status) if status.code == 404) || text.contains("404") {
        return format!("there is no pod {namespace}/{pod} any more: look for Envoys again");
    }
    format!("the cluster does not forward ports of the pod {namespace}/{pod}: {}", crate::sources::kube::unreachable(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_accepts_only_addresses_of_this_machine() {
        assert!(Reach::local("127.0.0.1:8001").is_ok_and(|reach| reach.admin_port() == 8001));
        for wrong in ["", "8001", "192.0.2.1:80", "nowhere"] {
            assert!(Reach::local(wrong).is_err(), "{wrong}");
        }
    }
}
