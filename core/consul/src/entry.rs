//! Config entries: their kinds, and their stored form. Does not validate them; see `validate`.

use super::schema::{self, Struct, entries, gateways};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{ObjectId, Secret};
use chancery_text::Str;

macro_rules! kinds {
    ($($kind:ident = $name:literal, $shape:path, $doc:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $(#[doc = $doc] $kind,)*
        }

        impl Kind {
            pub const ALL: &'static [Kind] = &[$(Kind::$kind),*];

            /// The written kind.
            pub fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)*
                }
            }

            /// A one-line description.
            pub fn doc(self) -> &'static str {
                match self {
                    $(Kind::$kind => $doc,)*
                }
            }

            fn ident(self) -> &'static str {
                match self {
                    $(Kind::$kind => stringify!($kind),)*
                }
            }

            pub(crate) fn shape(self) -> &'static Struct {
                match self {
                    $(Kind::$kind => &$shape,)*
                }
            }
        }
    };
}

kinds! {
    ServiceDefaults = "service-defaults", entries::SERVICE_DEFAULTS, "The settings of a service: its protocol, limits, upstreams.";
    ProxyDefaults = "proxy-defaults", entries::PROXY_DEFAULTS, "The settings of all proxies.";
    ServiceRouter = "service-router", entries::SERVICE_ROUTER, "Routes by path, header and method.";
    ServiceSplitter = "service-splitter", entries::SERVICE_SPLITTER, "Shares of the traffic.";
    ServiceResolver = "service-resolver", entries::SERVICE_RESOLVER, "Subsets, redirects and failover.";
    IngressGateway = "ingress-gateway", gateways::INGRESS_GATEWAY, "Ports of an ingress gateway.";
    TerminatingGateway = "terminating-gateway", gateways::TERMINATING_GATEWAY, "Services behind a terminating gateway.";
    ServiceIntentions = "service-intentions", entries::SERVICE_INTENTIONS, "Who may call a service.";
    Mesh = "mesh", entries::MESH, "The settings of the mesh.";
    ExportedServices = "exported-services", entries::EXPORTED_SERVICES, "Services that peers may use.";
    SamenessGroup = "sameness-group", entries::SAMENESS_GROUP, "Enterprise: clusters that have the same services.";
    ApiGateway = "api-gateway", gateways::API_GATEWAY, "Listeners of an API gateway.";
    BoundApiGateway = "bound-api-gateway", gateways::BOUND_API_GATEWAY, "Routes that are bound to an API gateway; Consul writes it.";
    InlineCertificate = "inline-certificate", gateways::INLINE_CERTIFICATE, "A certificate with its key.";
    HttpRoute = "http-route", gateways::HTTP_ROUTE, "HTTP routes of API gateways.";
    TcpRoute = "tcp-route", gateways::TCP_ROUTE, "TCP routes of API gateways.";
    JwtProvider = "jwt-provider", entries::JWT_PROVIDER, "Who issues tokens.";
}

impl Kind {
    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The kind of a Kubernetes resource, such as `ServiceDefaults`.
    pub fn of_resource(name: &str) -> Option<Self> {
        Self::resources().find(|kind| kind.resource() == name)
    }

    /// The kinds that are Kubernetes resources. API gateways and their routes use the Gateway API there.
    pub fn resources() -> impl Iterator<Item = Kind> {
        let other =
            |kind: &Kind| matches!(kind, Kind::ApiGateway | Kind::BoundApiGateway | Kind::InlineCertificate | Kind::HttpRoute | Kind::TcpRoute);
        Self::ALL.iter().copied().filter(move |kind| !other(kind))
    }

    /// Its name as a Kubernetes resource.
    pub fn resource(self) -> &'static str {
        match self {
            Kind::JwtProvider => "JWTProvider",
            _ => self.ident(),
        }
    }
}

/// A stored config entry: normalised, with the field names of its shape.
#[derive(Clone, Debug)]
pub struct Entry {
    pub kind: Kind,
    pub name: Str,
    /// Its fields that were given or normalised.
    pub tree: Tree,
    /// The private key of an inline certificate. The fields contain a placeholder.
    pub key: Option<Secret<Str>>,
    /// The object that it was written in.
    pub object: ObjectId,
}

impl Entry {
    /// Its targets: routes, splits, redirects and failover, each as the tree that names a service.
    pub(crate) fn targets(&self) -> Vec<&Tree> {
        let tree = &self.tree;
        let routes = tree.get("Routes").items().iter().map(|route| route.get("Destination"));
        let failover = tree.get("Failover").fields().iter().flat_map(|(_, of)| core::iter::once(of).chain(of.get("Targets").items()));
        routes.chain(tree.get("Splits").items()).chain([tree.get("Redirect")]).chain(failover).collect()
    }

    /// The services that it leads to.
    pub(crate) fn related_services(&self) -> BTreeSet<Str> {
        let tree = &self.tree;
        let own = |service: Str| if service.is_empty() { self.name.clone() } else { service };
        let found: Vec<Str> = match self.kind {
            Kind::ServiceRouter => {
                let all = tree.get("Routes").items().iter().map(|route| own(route.at(&["Destination", "Service"]).str()));
                all.chain([self.name.clone()]).collect()
            }
            Kind::ServiceSplitter => tree.get("Splits").items().iter().map(|split| own(split.get("Service").str())).collect(),
            Kind::ServiceResolver => {
                let failover = tree.get("Failover").fields().iter().map(|(_, failover)| failover);
                let targets = failover.flat_map(|failover| [failover].into_iter().chain(failover.get("Targets").items()));
                targets.chain([tree.get("Redirect")]).map(|to| own(to.get("Service").str())).collect()
            }
            Kind::IngressGateway => {
                let services = tree.get("Listeners").items().iter().flat_map(|listener| listener.get("Services").items());
                services.map(|service| service.get("Name").str()).filter(|name| name != "*").collect()
            }
            _ => Vec::new(),
        };
        found.into_iter().collect()
    }

    /// In the form of the API's answer, without indexes and times.
    pub fn answer(&self) -> Tree {
        let mut written = schema::write(&self.tree, self.kind.shape());
        if self.kind == Kind::Mesh {
            written.take("Name");
        }
        written
    }
}

/// Entries by kind and name.
pub type Entries = BTreeMap<(Kind, Str), Arc<Entry>>;
