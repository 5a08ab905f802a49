//! Kinds of routes, and which of them Contour watches.

use crate::cluster::Admitted;
use crate::kinds::Kind;
use crate::source::Source;
use alloc::vec::Vec;
use chancery_kubernetes::gateway_api::order::Precedence;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RouteKind {
    Http,
    Tls,
    Grpc,
    Tcp,
}

impl RouteKind {
    /// All of them, in the order in which Contour works on them.
    pub const ALL: [RouteKind; 4] = [RouteKind::Http, RouteKind::Tls, RouteKind::Grpc, RouteKind::Tcp];

    pub const fn name(self) -> &'static str {
        match self {
            RouteKind::Http => "HTTPRoute",
            RouteKind::Tls => "TLSRoute",
            RouteKind::Grpc => "GRPCRoute",
            RouteKind::Tcp => "TCPRoute",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The routes of this kind, conflict winners first.
    pub fn routes<'a>(self, source: &Source<'a>) -> Vec<&'a Admitted<'a>> {
        match self {
            RouteKind::Http | RouteKind::Grpc => {
                let kind = if self == RouteKind::Http { Kind::HttpRoute } else { Kind::GrpcRoute };
                let mut routes = watched(source, kind);
                routes.sort_by_cached_key(|route| Precedence::of(route.root(), route.namespace(), route.name()));
                routes
            }
            RouteKind::Tls => watched(source, Kind::TlsRoute),
            RouteKind::Tcp => watched(source, Kind::TcpRoute),
        }
    }
}

/// The objects of a Gateway API kind, unless a flag disables watching it.
pub(super) fn watched<'a>(source: &Source<'a>, kind: Kind) -> Vec<&'a Admitted<'a>> {
    let feature = match kind {
        Kind::HttpRoute => "httproutes",
        Kind::GrpcRoute => "grpcroutes",
        Kind::TlsRoute => "tlsroutes",
        Kind::TcpRoute => "tcproutes",
        Kind::ReferenceGrant => "referencegrants",
        Kind::BackendTlsPolicy => "backendtlspolicies",
        _ => "",
    };
    if source.is_disabled(feature) { Vec::new() } else { source.all(kind).collect() }
}
