//! What a proxy knows: a state machine for each kind of proxy.
//!
//! A machine says what it wants to know ([`Watch`]es); each [`Reply`] may make it want to know more, or less. There is no
//! waiting: whoever runs it asks a source until nothing new is wanted. What must not be here: Envoy's words.

mod api_gateway;
mod bound;
mod connect_proxy;
mod ingress;
mod mailbox;
mod mesh;
mod source;
mod terminating;
mod watch;
mod watched;

pub use api_gateway::{ApiGateway, Ready};
pub(crate) use api_gateway::{reference, services_of};
pub(crate) use bound::{bind, hosts};
pub use connect_proxy::ConnectProxy;
pub use ingress::{Ingress, Listener, ListenerKey};
pub use mailbox::{Machine, Mailbox};
pub use mesh::{Exported, MeshGateway};
pub use source::Source;
pub use terminating::TerminatingGateway;
pub(crate) use watch::own_health;
pub use watch::{Health, Reply, Watch};

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
