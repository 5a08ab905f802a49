//! Emits Envoy's v3 API.
//!
//! Each resource has one file of pure functions from `ir` to messages; each function records the origins of its fields in a
//! [`Trace`](chancery_base::output_map::Trace). Documents are composed from them in two ways: as messages ([`bootstrap`], [`resources`]) for code
//! that inspects them, and as text ([`emit`]), piece by piece so that nothing is made twice. Both give the same document, except for the order of
//! members.
//!
//! Makes no decisions. Values that Envoy cannot express are left out, and the lowering has reported them.

pub mod pb;

mod access_log;
mod base;
mod bootstrap;
mod cluster;
mod compose;
mod cors;
mod document;
#[cfg(feature = "wire")]
mod dump;
#[cfg(feature = "wire")]
mod encode;
#[cfg(feature = "wire")]
mod encoded;
mod endpoint;
mod hcm;
mod health_check;
mod http_filter;
mod listener;
mod memory;
mod message;
mod per_filter;
mod route;
mod route_action;
mod route_match;
mod runs;
mod secret;
mod tls;
mod tracing;
mod verbatim;
mod verbatim_memory;

pub use document::{Violation, emit, output_map, stream, violations};
#[cfg(feature = "wire")]
pub use dump::{config_dump, resource_json};
#[cfg(feature = "wire")]
pub use encode::{Encoding, Served, Withheld, encode};
#[cfg(feature = "wire")]
pub use encoded::{Encoded, Fingerprint, Service};
pub use memory::Emitted;
pub use message::{Resources, agree_about_clusters, bootstrap, bootstrap_apart, bootstrap_around, cluster_at, resources, route_matcher};

use super::{Document, Lookup, Options};
use chancery_base::ir::{ConfigSource, Ir, Spelling, Tracer};
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// The key of routes' CORS configuration.
const CORS_FILTER: &str = "envoy.filters.http.cors";

/// The parameters of emitting.
struct Context<'a> {
    spelling: Spelling,
    /// The source of resources requested by name.
    source: &'a ConfigSource,
    /// The tracer, if connection managers configure it themselves.
    tracer: Option<&'a Sourced<Tracer>>,
    /// Key material to include inline.
    secrets: Option<Lookup<'a>>,
    /// Whether the document is one bootstrap.
    in_bootstrap: bool,
    /// Whether no management server provides endpoints.
    stands_alone: bool,
    /// The server that sends certificates to a bootstrap's clusters on separate streams: these clusters exist before the shared stream, and
    /// Envoy crashes if they use that one.
    server: Option<&'a Str>,
    /// Files that the machine of a bootstrap lacks; the server sends their content.
    pod_files: &'a [Str],
    /// Whether route tables are requested by name.
    rds: bool,
}

impl<'a> Context<'a> {
    fn new(ir: &'a Ir, options: &Options<'a>) -> Self {
        let in_bootstrap = options.document == Document::Bootstrap;
        let secrets = options.secrets.filter(|_| in_bootstrap);
        Self {
            spelling: ir.delivery.spelling,
            source: &ir.delivery.config_source,
            tracer: ir.delivery.bootstrap.tracer.as_ref(),
            secrets,
            in_bootstrap,
            stands_alone: secrets.is_some(),
            server: ir.delivery.bootstrap.xds_cluster.as_ref().filter(|_| in_bootstrap).map(|server| &server.name),
            pod_files: if in_bootstrap { &ir.delivery.bootstrap.pod_files } else { &[] },
            rds: !in_bootstrap,
        }
    }

    /// Whether another context gives a cluster the same message, apart from key material, which only a host has.
    fn agrees_about_clusters(&self, other: &Self) -> bool {
        let Self { spelling, source, tracer: _, secrets, in_bootstrap, stands_alone, server, pod_files: _, rds: _ } = self;
        let no_secrets = secrets.is_none() && other.secrets.is_none();
        let same_delivery = *spelling == other.spelling && *source == other.source && *server == other.server;
        no_secrets && same_delivery && *in_bootstrap == other.in_bootstrap && *stands_alone == other.stands_alone
    }

    /// Whether this resource's content is included inline.
    fn gives(&self, held: &secret::SecretContent<'_>) -> bool {
        self.secrets.is_some_and(|secrets| held.references().all(|reference| secrets(reference).is_some()))
    }
}
