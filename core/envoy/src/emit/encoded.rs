//! Encoded resources: their bytes and fingerprints. Does not encode them; see `encode`.

use super::pb;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_envoy_api::any::TYPE_URL_PREFIX;
use chancery_envoy_api::describe::Describe;
use chancery_envoy_api::prost::Message;
use chancery_text::Str;
use hashbrown::HashMap;
use sha2::{Digest, Sha256};

/// A discovery service of Envoy's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Service {
    /// CDS.
    Clusters,
    /// EDS.
    Endpoints,
    /// LDS.
    Listeners,
    /// RDS.
    Routes,
    /// SDS.
    Secrets,
    /// RTDS.
    Runtimes,
}

impl Service {
    /// All services; referenced resources come before the resources that refer to them.
    pub const ALL: [Service; 6] = [Service::Clusters, Service::Endpoints, Service::Listeners, Service::Routes, Service::Secrets, Service::Runtimes];

    /// The list in [`Document::Resources`].
    #[must_use]
    pub fn list(self) -> &'static str {
        match self {
            Service::Clusters => "clusters",
            Service::Endpoints => "endpoints",
            Service::Listeners => "listeners",
            Service::Routes => "routes",
            Service::Secrets => "secrets",
            Service::Runtimes => "runtimes",
        }
    }

    /// The full name of the message.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Service::Clusters => pb::cluster::Cluster::INFO.full_name,
            Service::Endpoints => pb::endpoint::ClusterLoadAssignment::INFO.full_name,
            Service::Listeners => pb::listener::Listener::INFO.full_name,
            Service::Routes => pb::route::RouteConfiguration::INFO.full_name,
            Service::Secrets => pb::tls::Secret::INFO.full_name,
            Service::Runtimes => pb::runtime::Runtime::INFO.full_name,
        }
    }

    /// The URL of the type in discovery requests.
    #[must_use]
    pub fn type_url(self) -> String {
        format!("{TYPE_URL_PREFIX}{}", self.message())
    }
}

/// A hash of a resource's content, the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 16]);

impl Fingerprint {
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self::from(hasher)
    }

    pub(super) fn from(hasher: Sha256) -> Self {
        let mut out = [0; 16];
        out.iter_mut().zip(hasher.finalize()).for_each(|(to, from)| *to = from);
        Self(out)
    }
}

impl core::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A resource on the wire.
#[derive(Debug)]
pub struct Encoded {
    /// Clients request it by this name.
    pub name: Str,
    pub version: Fingerprint,
    /// The encoded message: the value of an `Any`.
    pub value: Vec<u8>,
}

/// The last encoded resources, by service and name.
#[derive(Debug, Default)]
pub(super) struct Latest(pub(super) HashMap<(Service, Str), Arc<Encoded>>);

/// An encoded shared value.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) bytes: Arc<[u8]>,
    pub(super) version: Fingerprint,
}

impl Piece {
    pub(super) fn new(message: &impl Message) -> Self {
        let bytes = message.encode_to_vec();
        Self { version: Fingerprint::of(&[&bytes]), bytes: bytes.into() }
    }
}
