//! What proxies know: a state machine for each kind, and the manager that runs them.
//!
//! ```text
//! config sources --register--> manager --notify--> data source
//!                                 ^                    |
//!                                 +------- events -----+        a snapshot of each proxy comes out
//! ```
//!
//! A machine returns its watches ([`Watch`]es): initial ones, and others that follow from replies ([`Reply`]s). A watch ends when no reply leads to it.
//! The manager never waits: the caller delivers events and takes snapshots. Does not emit Envoy's resources; see `xds`.

mod api_gateway;
mod bound;
mod config_source;
mod connect_proxy;
mod data_source;
mod ingress;
mod mailbox;
mod manager;
mod mesh;
mod same;
mod source;
mod terminating;
#[cfg(test)]
mod tests;
mod topic;
mod watch;
mod watch_set;
mod watched;

pub use api_gateway::{ApiGateway, Ready};
pub(crate) use api_gateway::{reference, services_of};
pub(crate) use bound::{bind, hosts, refusal};
pub use config_source::{ConfigSource, FromCatalog, Local};
pub use connect_proxy::ConnectProxy;
pub use data_source::{Catalog, CorrelationId, Counts, DataSource, Event, Mirror, Refill, Sender};
pub use ingress::{Ingress, Listener, ListenerKey};
pub use mailbox::{Machine, Mailbox};
pub use manager::{Manager, Snapshot};
pub use mesh::{Exported, MeshGateway};
pub use terminating::TerminatingGateway;
pub use topic::Topic;
pub(crate) use watch::own_health;
pub use watch::{Health, Reply, Watch};
pub use watch_set::WatchSet;

use super::instance::Instance;

/// A proxy and what it knows, by its kind.
#[derive(Clone, Debug)]
pub enum Proxy {
    /// A sidecar.
    Connect(ConnectProxy),
    /// An ingress gateway.
    Ingress(Ingress),
    /// A terminating gateway.
    Terminating(TerminatingGateway),
    /// A mesh gateway.
    Mesh(MeshGateway),
    /// An API gateway.
    Api(ApiGateway),
}

impl Proxy {
    /// The machine for an instance.
    pub(crate) fn of(instance: &Instance) -> Option<Self> {
        Some(match instance.kind.as_str() {
            "connect-proxy" => Self::Connect(ConnectProxy::of(instance)),
            "ingress-gateway" => Self::Ingress(Ingress::of(instance)),
            "terminating-gateway" => Self::Terminating(TerminatingGateway::of(instance)),
            "mesh-gateway" => Self::Mesh(MeshGateway::of(instance)),
            "api-gateway" => Self::Api(ApiGateway::of(instance)),
            _ => return None,
        })
    }

    /// As any machine.
    pub(crate) fn machine(&self) -> &dyn Machine {
        match self {
            Self::Connect(machine) => machine,
            Self::Ingress(machine) => machine,
            Self::Terminating(machine) => machine,
            Self::Mesh(machine) => machine,
            Self::Api(machine) => machine,
        }
    }
}
