//! Holds destinations of requests and connections.

use super::{AddHeader, ClusterTraffic, CredentialInjection, Metadata, UpstreamTls, UrlRewrite};
use alloc::boxed::Box;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// Where a route sends requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Destination {
    /// The cluster's name: `httproute/NS/NAME/rule/N`.
    pub(crate) name: Str,
    /// The name in statistics; `Tree::NULL` if unset.
    pub(crate) stat_name: Tree,
    pub(crate) settings: Vec<DestinationSetting>,
    /// Shared clusters, with merged backends.
    pub(crate) cluster_refs: Vec<BackendClusterRef>,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) origin: Option<Origin>,
}

impl Destination {
    /// Whether the only backend is found by the request's host.
    pub(crate) fn is_dynamic_resolver(&self) -> bool {
        matches!(&self.settings[..], [only] if only.is_dynamic_resolver)
    }
}

/// A shared cluster by its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BackendClusterRef {
    pub(crate) name: Str,
    pub(crate) weight: Option<Sourced<i64>>,
}

/// A cluster that several routes share.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BackendCluster {
    pub(crate) name: Str,
    pub(crate) setting: DestinationSetting,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) traffic: Option<ClusterTraffic>,
    pub(crate) use_client_protocol: Tree,
}

/// The protocol of a backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AppProtocol {
    #[default]
    Unset,
    Grpc,
    Http,
    Http2,
    Https,
    Tcp,
    Udp,
}

/// What kind of addresses a backend has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AddressType {
    Ip,
    Fqdn,
    Mixed,
    /// Unix domain sockets.
    Uds,
    /// Addresses and Unix domain sockets.
    Static,
}

/// One backend of a destination.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DestinationSetting {
    /// `httproute/NS/NAME/rule/N/backend/M`
    pub(crate) name: Str,
    pub(crate) is_dynamic_resolver: bool,
    pub(crate) is_custom_backend: bool,
    pub(crate) weight: Option<Sourced<i64>>,
    pub(crate) priority: Option<Sourced<i64>>,
    pub(crate) protocol: AppProtocol,
    pub(crate) force_http1: bool,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) address_type: Option<AddressType>,
    /// `IPv4`, `IPv6` or `DualStack`; empty if unset.
    pub(crate) ip_family: Str,
    pub(crate) tls: Option<Box<UpstreamTls>>,
    pub(crate) filters: Option<Box<DestinationFilters>>,
    /// {minEndpointsThreshold, force: {minEndpointsInZoneThreshold}, percentageEnabled}: zone-aware routing.
    pub(crate) prefer_local: Tree,
    pub(crate) metadata: Option<Metadata>,
    /// The reference is broken; its share of requests is refused.
    pub(crate) invalid: bool,
    /// The reference.
    pub(crate) origin: Option<Origin>,
}

/// Filters of one backend.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DestinationFilters {
    pub(crate) add_request_headers: Vec<AddHeader>,
    pub(crate) remove_request_headers: Vec<Sourced<Str>>,
    pub(crate) add_response_headers: Vec<AddHeader>,
    pub(crate) remove_response_headers: Vec<Sourced<Str>>,
    pub(crate) credential_injection: Option<CredentialInjection>,
    pub(crate) rewrite: Option<UrlRewrite>,
}

/// One address of a backend.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Endpoint {
    /// The name that health checks and rewrites use; `Tree::NULL` if unset.
    pub(crate) hostname: Tree,
    pub(crate) host: Sourced<Str>,
    pub(crate) port: Sourced<i64>,
    /// The reference's port number, if it selects the port of the endpoints.
    pub(crate) port_reference: Option<Origin>,
    /// The path of a Unix domain socket; `Tree::NULL` if it is none.
    pub(crate) path: Tree,
    pub(crate) draining: bool,
    /// `Tree::NULL` if unknown.
    pub(crate) zone: Tree,
    pub(crate) origin: Option<Origin>,
}
