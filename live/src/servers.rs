//! The settings of the servers that `chancery serve` runs. Does not start them; see `serve`.

use crate::address::Address;
use crate::admission::Admission;
use crate::http::playground;
use crate::xds::tls::Files;
use std::time::Duration;

/// The servers' settings.
#[derive(Clone, Debug)]
pub struct Servers {
    /// The address for Envoys.
    pub xds: Address,
    /// The address of the page, the API and metrics.
    pub diagnostics: Address,
    /// The address for snapshots of the inputs.
    pub snapshots: Address,
    /// The address for snapshots without key material.
    pub public_snapshots: Address,
    /// The address for readiness checks.
    pub ready: Address,
    /// Certificates of the xDS server.
    pub tls: Option<Files>,
    /// Whether snapshots have key material. Public ones never do.
    pub with_secrets: bool,
    /// The token that requests from other machines need.
    pub token: Option<String>,
    /// The file of proxies, and of what certificates give access to.
    pub proxies: Option<std::path::PathBuf>,
    /// Whether one Envoy per gateway receives each change first.
    pub canary: bool,
    /// How long Envoys keep resources without a heartbeat of this server; `None` means without a limit.
    pub ttl: Option<Duration>,
    /// The playground, if this program has it. It replaces the plain page.
    pub page: Option<playground::Files>,
    /// The addresses (`HOST:PORT`) of the xDS servers that share the gateways; none for a single server.
    pub replicas: Vec<String>,
    /// The webhook that reviews objects before the API server stores them.
    pub admission: Option<Admission>,
}
