//! Defines the `getambassador.io` kinds: one file each, up to the point where the reference's Python compiler (diagd) receives an object, and one
//! table of all.
//!
//! To add a kind, write its file and add its line to the table. Decoding, the list of watched kinds, the legend and the documentation read the
//! table. Does not interpret kinds (see `model`) or lower them (see `lower`).

mod admit;
mod advice;
mod auth_service;
mod common;
mod consul_resolver;
mod dev_portal;
mod host;
mod kubernetes_endpoint_resolver;
mod kubernetes_service_resolver;
mod lints;
mod listener;
mod log_service;
mod mapping;
mod module;
mod rate_limit_service;
mod report;
mod tcp_mapping;
mod tls_context;
mod tracing_service;

pub use admit::{Admission, Via, admit, unfold};

use alloc::vec::Vec;
use chancery_base::schema::{KnownKind, Schema};
use chancery_text::Object;

/// The API group of all kinds.
pub const GROUP: &str = "getambassador.io";

/// A version of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// `v1`: a v2 of another name.
    V1,
    /// `v2`.
    V2,
    /// `v3alpha1`: the controller's internal version.
    V3Alpha1,
}

impl Version {
    /// All of them, the oldest first.
    pub const ALL: [Self; 3] = [Self::V1, Self::V2, Self::V3Alpha1];

    /// Its name without the group.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::V3Alpha1 => "v3alpha1",
        }
    }

    /// The version with the group, as in `apiVersion`.
    pub const fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "getambassador.io/v1",
            Self::V2 => "getambassador.io/v2",
            Self::V3Alpha1 => "getambassador.io/v3alpha1",
        }
    }

    /// The version of this `apiVersion`.
    pub fn of(api_version: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.api_version() == api_version)
    }
}

/// Everything about a kind that does not depend on an object.
#[derive(Debug)]
pub struct AmbassadorKind {
    /// Its name, as `kind` has it.
    pub name: &'static str,
    /// Its plural, as the API's paths have it.
    pub plural: &'static str,
    /// Where the configuration keeps its objects.
    pub config_key: &'static str,
    /// One-line description.
    pub doc: &'static str,
    /// The versions that the API server accepts, the oldest first.
    pub versions: &'static [Version],
    /// Whether an object without `spec` stops the controller.
    pub needs_spec: bool,
    v2: Option<&'static Schema>,
    v3alpha1: &'static Schema,
    convert: fn(&mut Object),
}

impl AmbassadorKind {
    /// The schema of its `spec` in a version, if the kind has this version.
    pub fn schema(&self, version: Version) -> Option<&'static Schema> {
        match version {
            _ if !self.versions.contains(&version) => None,
            Version::V1 | Version::V2 => self.v2,
            Version::V3Alpha1 => Some(self.v3alpha1),
        }
    }

    /// Its name in the API, `mappings.getambassador.io`.
    pub fn resource(&self) -> alloc::string::String {
        alloc::format!("{}.{GROUP}", self.plural)
    }
}

/// All of them in all their versions.
pub fn known() -> Vec<KnownKind> {
    let of = |kind: &'static AmbassadorKind| {
        let version = move |version: &Version| {
            Some(KnownKind { name: kind.name, api_version: version.api_version().into(), doc: kind.doc, spec: kind.schema(*version)? })
        };
        kind.versions.iter().rev().filter_map(version)
    };
    ALL.iter().flat_map(of).collect()
}

/// The kind of this name.
pub fn find(name: &str) -> Option<&'static AmbassadorKind> {
    ALL.iter().find(|kind| kind.name == name)
}

macro_rules! kinds {
    ($($name:literal $plural:literal $key:literal $module:ident [$($version:ident)*] $v2:expr, $needs_spec:literal, $doc:literal;)*) => {
        /// All kinds, in the order in which people meet them.
        pub static ALL: &[AmbassadorKind] = &[$(AmbassadorKind {
            name: $name,
            plural: $plural,
            config_key: $key,
            doc: $doc,
            versions: &[$(Version::$version),*],
            needs_spec: $needs_spec,
            v2: $v2,
            v3alpha1: &$module::V3ALPHA1,
            convert: $module::convert,
        }),*];
    };
}

kinds! {
    "Mapping" "mappings" "mappings" mapping [V1 V2 V3Alpha1] Some(&mapping::V2), false,
        "Routes requests to services";
    "Host" "hosts" "hosts" host [V2 V3Alpha1] Some(&host::V2), true,
        "A name that clients use, its certificate, and what happens to requests without TLS";
    "Listener" "listeners" "listeners" listener [V3Alpha1] None, true,
        "A port that Envoy listens on, its protocols, and the Hosts that it serves";
    "TLSContext" "tlscontexts" "tls_contexts" tls_context [V1 V2 V3Alpha1] Some(&tls_context::V2), false,
        "Certificates and TLS settings, for clients or towards services";
    "Module" "modules" "modules" module [V1 V2 V3Alpha1] Some(&module::V2), false,
        "Settings for the whole gateway";
    "TCPMapping" "tcpmappings" "tcpmappings" tcp_mapping [V1 V2 V3Alpha1] Some(&tcp_mapping::V2), false,
        "Routes TCP connections to services";
    "AuthService" "authservices" "auth_configs" auth_service [V1 V2 V3Alpha1] Some(&auth_service::V2), false,
        "The service that authorizes requests";
    "RateLimitService" "ratelimitservices" "ratelimit_configs" rate_limit_service [V1 V2 V3Alpha1] Some(&rate_limit_service::V2), false,
        "The service that limits requests";
    "TracingService" "tracingservices" "tracing_configs" tracing_service [V1 V2 V3Alpha1] Some(&tracing_service::V2), false,
        "Where traces of requests go";
    "LogService" "logservices" "log_services" log_service [V1 V2 V3Alpha1] Some(&log_service::V2), false,
        "Where access logs go, by gRPC";
    "KubernetesServiceResolver" "kubernetesserviceresolvers" "resolvers" kubernetes_service_resolver [V1 V2 V3Alpha1]
        Some(&kubernetes_service_resolver::V2), false, "Finds services by the cluster's own DNS";
    "KubernetesEndpointResolver" "kubernetesendpointresolvers" "resolvers" kubernetes_endpoint_resolver [V1 V2 V3Alpha1]
        Some(&kubernetes_endpoint_resolver::V2), false, "Finds services by their endpoints, so that Envoy balances over pods";
    "ConsulResolver" "consulresolvers" "resolvers" consul_resolver [V1 V2 V3Alpha1] Some(&consul_resolver::V2), false,
        "Finds services in Consul";
    "DevPortal" "devportals" "devportals" dev_portal [V1 V2 V3Alpha1] Some(&dev_portal::V2), false,
        "The page that shows developers the documentation of services";
}

#[cfg(test)]
mod tests;
