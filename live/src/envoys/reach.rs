//! Connects to a port of an Envoy: on this machine, or in a pod by a port-forward of Kubernetes.
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

/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the reason of a port-forward that ended is waited for.
const REASON: Duration = Duration::from_millis(300);

/// Where an Envoy is.
#[derive(Clone)]
pub enum Reach {
    /// On this machine.
    Local(SocketAddr),
    /// In a pod.
    Pod {
        /// The cluster.
        client: Client,
        /// Its namespace.
        namespace: String,
        /// Its name.
        pod: String,
        /// The port of its admin interface.
        port: u16,
    },
}

/// What is read and written.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection.
pub struct Connection {
    /// What is said.
    pub stream: Box<dyn Stream>,
    /// Why a port-forward cannot go on, if it says so.
    reason: Option<Pin<Box<dyn Future<Output = Option<String>> + Send>>>,
}

impl Connection {
    /// The stream, and what may say why it ended.
    #[must_use]
    pub fn split(self) -> (Box<dyn Stream>, Reason) {
        (self.stream, Reason(self.reason))
    }
}

/// What may say why a connection ended.
pub struct Reason(Option<Pin<Box<dyn Future<Output = Option<String>> + Send>>>);

impl Reason {
    /// Why it ended, if it is said soon.
    pub async fn said(self) -> Option<String> {
        tokio::time::timeout(REASON, self.0?).await.ok().flatten()
    }
}

impl Reach {
    /// An admin interface of this machine, as `HOST:PORT`.
    ///
    /// # Errors
    ///
    /// It is no address, or it is not of this machine: a page must not reach others through us.
    pub fn local(address: &str) -> Result<Self, String> {
        let wrong = || format!("`{address}` is not an address: say HOST:PORT");
        let at = address.trim().to_socket_addrs().map_err(|_| wrong())?.next().ok_or_else(wrong)?;
        if at.ip().is_loopback() { Ok(Self::Local(at)) } else { Err(format!("{address} is not on this machine: forward its port here first")) }
    }

    /// The port of the admin interface.
    #[must_use]
    pub fn admin_port(&self) -> u16 {
        match self {
            Self::Local(at) => at.port(),
            Self::Pod { port, .. } => *port,
        }
    }

    /// Its name in sentences.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Local(at) => at.to_string(),
            Self::Pod { namespace, pod, .. } => format!("the pod {namespace}/{pod}"),
        }
    }

    /// Connects to a port of it.
    ///
    /// # Errors
    ///
    /// In one sentence: nobody listens there, or the cluster does not let us.
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

/// Why a port is not forwarded, with the rule that is missing where that is the reason.
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
    fn only_addresses_of_this_machine_are_reached() {
        assert!(Reach::local("127.0.0.1:8001").is_ok_and(|reach| reach.admin_port() == 8001));
        for wrong in ["", "8001", "192.0.2.1:80", "nowhere"] {
            assert!(Reach::local(wrong).is_err(), "{wrong}");
        }
    }
}
