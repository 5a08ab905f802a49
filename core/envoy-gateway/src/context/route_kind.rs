//! The kinds of routes and their names.

/// A kind of routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RouteKind {
    Http,
    Grpc,
    Tls,
    Tcp,
    Udp,
}

impl RouteKind {
    /// Returns its name, as `kind` has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RouteKind::Http => "HTTPRoute",
            RouteKind::Grpc => "GRPCRoute",
            RouteKind::Tls => "TLSRoute",
            RouteKind::Tcp => "TCPRoute",
            RouteKind::Udp => "UDPRoute",
        }
    }

    /// Returns its name in lower case, as names of Envoy's resources have it.
    pub(crate) fn lower(self) -> &'static str {
        match self {
            RouteKind::Http => "httproute",
            RouteKind::Grpc => "grpcroute",
            RouteKind::Tls => "tlsroute",
            RouteKind::Tcp => "tcproute",
            RouteKind::Udp => "udproute",
        }
    }
}
