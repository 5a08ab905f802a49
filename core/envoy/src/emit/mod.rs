//! Envoy's v3 API.
//!
//! One file for each resource, of pure functions from `ir` to messages; each tells a [`Trace`](chancery_base::output_map::Trace)
//! where its fields come from. On top of them the documents, put together twice: as messages ([`bootstrap`], [`resources`]), for
//! who wants to look into them, and as text ([`emit`]), which is made piece by piece so that nothing is made twice. Both are the
//! same document, but for the order of members.
//!
//! Not here: deciding. What Envoy cannot say is left out, and the lowering has reported it.

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

pub use document::{Violation, emit, output_map, stream, violations};
#[cfg(feature = "wire")]
pub use dump::config_dump;
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

/// Name of the CORS filter, under which routes configure it.
const CORS_FILTER: &str = "envoy.filters.http.cors";

/// What emitting needs to know beyond the thing that is emitted.
struct Context<'a> {
    spelling: Spelling,
    /// Whom to ask for what is served by name.
    source: &'a ConfigSource,
    /// Where connection managers say it themselves.
    tracer: Option<&'a Sourced<Tracer>>,
    /// Key material that is to stand inline.
    secrets: Option<Lookup<'a>>,
    /// The document is one bootstrap.
    in_bootstrap: bool,
    /// There is no management server to ask for endpoints.
    stands_alone: bool,
    /// Whom clusters of a bootstrap ask for certificates, on a stream of their own: they are there before the stream that
    /// serves everything, and Envoy crashes where they ask on that one.
    server: Option<&'a Str>,
    /// Tables of routes are asked for by name.
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
            rds: !in_bootstrap,
        }
    }

    /// Whether a cluster becomes the same message with another context. Key material, which only a host has, is left out.
    fn agrees_about_clusters(&self, other: &Self) -> bool {
        let Self { spelling, source, tracer: _, secrets, in_bootstrap, stands_alone, server, rds: _ } = self;
        let no_secrets = secrets.is_none() && other.secrets.is_none();
        let same_delivery = *spelling == other.spelling && *source == other.source && *server == other.server;
        no_secrets && same_delivery && *in_bootstrap == other.in_bootstrap && *stands_alone == other.stands_alone
    }

    /// Whether what this resource holds is to stand inline.
    fn gives(&self, held: &secret::SecretContent<'_>) -> bool {
        self.secrets.is_some_and(|secrets| held.references().all(|reference| secrets(reference).is_some()))
    }
}
