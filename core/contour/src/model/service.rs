//! Models a Service's port as an upstream. Does not look up Services; see `source`.

use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// One port of a Service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Port {
    /// Its name; may be empty.
    pub name: Str,
    /// Its number.
    pub port: u16,
    /// `targetPort`: number or name.
    pub target: Str,
    /// `TCP`, `UDP`, `SCTP`.
    pub protocol: Str,
}

/// A Service's port as an upstream.
#[derive(Clone, Debug)]
pub struct Service {
    pub namespace: Str,
    pub name: Str,
    pub port: Port,
    /// The port for health checks.
    pub health_port: Port,
    /// `h2`, `h2c`, `tls` or empty, from `appProtocol` or annotations.
    pub protocol: Sourced<Str>,
    /// Limits.
    pub circuit_breakers: CircuitBreakers,
    /// `externalName`; empty for others.
    pub external_name: Sourced<Str>,
    /// The weight of its endpoints. Only a Gateway API `backendRef` sets it; otherwise it is 1.
    pub weight: Sourced<u32>,
    /// The Service's `ports` field, which contains the referenced port.
    pub ports: Origin,
}

/// Limits; 0 leaves Envoy's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CircuitBreakers {
    pub max_connections: Sourced<u32>,
    /// Requests that wait.
    pub max_pending_requests: Sourced<u32>,
    pub max_requests: Sourced<u32>,
    pub max_retries: Sourced<u32>,
    /// Connections to one endpoint.
    pub per_host_max_connections: Sourced<u32>,
}
