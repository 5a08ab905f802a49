//! Models IRFilter: the HTTP filters in the order in which requests pass them.

use super::Model;
use chancery_base::ir::{Compressor, GrpcStats, Rbac};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// One HTTP filter.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Envoy's name for it.
    pub name: Str,
    /// What it does.
    pub kind: FilterKind,
    /// The origin; `None` for filters that always exist.
    pub origin: Option<Origin>,
}

#[derive(Clone, Debug)]
pub enum FilterKind {
    /// gRPC over HTTP/1.1.
    GrpcHttp1Bridge,
    GrpcWeb,
    /// Statistics by gRPC method.
    GrpcStats(GrpcStats),
    /// The Module's script.
    Lua(Sourced<Str>),
    /// Compression.
    Gzip(Compressor),
    /// Buffering.
    Buffer(Sourced<u32>),
    /// Allowed or denied addresses.
    Rbac(Rbac),
    Cors,
    /// Authentication; its settings are [`Model::auth`].
    Auth,
    /// Rate limiting; its settings are [`Model::rate_limit`].
    RateLimit,
    Router,
}

impl Model<'_> {
    pub(super) fn add_cors_filter(&mut self) {
        self.filters.push(Filter { name: "envoy.filters.http.cors".into(), kind: FilterKind::Cors, origin: None });
    }

    /// Authentication, then rate limiting.
    pub(super) fn add_service_filters(&mut self) {
        if let Some(auth) = &self.auth {
            let origin = auth.identity.origin;
            self.filters.push(Filter { name: "envoy.filters.http.ext_authz".into(), kind: FilterKind::Auth, origin });
        }
        if let Some(limit) = &self.rate_limit {
            let origin = limit.identity.origin;
            self.filters.push(Filter { name: "envoy.filters.http.ratelimit".into(), kind: FilterKind::RateLimit, origin });
        }
    }

    pub(super) fn add_router_filter(&mut self) {
        self.filters.push(Filter { name: "envoy.filters.http.router".into(), kind: FilterKind::Router, origin: None });
    }
}
