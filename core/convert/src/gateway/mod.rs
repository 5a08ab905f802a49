//! Plans a Gateway with its listeners, routes and policies, and writes them as objects of Gateway API and Envoy Gateway.
//!
//! Observes the limits of the API: rules and matches of a route, listeners of a Gateway, references between namespaces. Does not know the language
//! that is converted; see `nginx`.

mod parts;
mod write;

pub use parts::{Backend, Header, PathMatch, RouteMatch, ServiceRef, header_modifier, items, redirect, request_modifier, target_of};

use super::build::Fields;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::Node;

pub const V1: &str = "gateway.networking.k8s.io/v1";
pub const GATEWAY_GROUP: &str = "gateway.networking.k8s.io";
pub const ENVOY_GATEWAY: &str = "gateway.envoyproxy.io/v1alpha1";
pub const ENVOY_GATEWAY_GROUP: &str = "gateway.envoyproxy.io";

/// The controller that serves the converted objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// Gateway API with the policies of Envoy Gateway.
    EnvoyGateway,
    /// Gateway API as Contour serves it.
    Contour,
    /// Gateway API without any policies of a controller.
    Standard,
}

impl Target {
    /// Its word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Target::EnvoyGateway => "envoy-gateway",
            Target::Contour => "contour",
            Target::Standard => "standard",
        }
    }

    /// The name of the Gateway's class.
    const fn class(self) -> &'static str {
        match self {
            Target::EnvoyGateway => "envoy-gateway",
            Target::Contour => "contour",
            Target::Standard => "gateway",
        }
    }

    /// The controller that the Gateway's class names, if one is known.
    const fn controller(self) -> Option<&'static str> {
        match self {
            Target::EnvoyGateway => Some("gateway.envoyproxy.io/gatewayclass-controller"),
            Target::Contour => Some("projectcontour.io/gateway-controller"),
            Target::Standard => None,
        }
    }

    /// The namespace of the Gateway.
    pub const fn namespace(self) -> &'static str {
        match self {
            Target::EnvoyGateway => "envoy-gateway-system",
            Target::Contour => "projectcontour",
            Target::Standard => "default",
        }
    }
}

/// The name of the Gateway.
pub const GATEWAY: &str = "ingress";
/// The file of the Gateway and its policies.
pub const GATEWAY_FILE: &str = "gateway.yaml";
/// The name of the listener without TLS.
pub const HTTP: &str = "http";
/// The name of the listener with TLS for hosts without their own certificate.
pub const HTTPS: &str = "https";

/// A listener with TLS.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listener {
    pub name: String,
    /// `None` for all hosts.
    pub host: Option<String>,
    /// The namespace and name of the Secret with its certificate.
    pub secret: (String, String),
    /// TLS is passed on to the service.
    pub is_passthrough: bool,
    /// Further settings of its connections, such as client certificates.
    pub client: Option<OrderedNode>,
    pub file: String,
}

/// A listener for TCP or UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamListener {
    pub port: u16,
    /// `TCP` or `UDP`.
    pub protocol: &'static str,
}

impl StreamListener {
    pub fn name(self) -> String {
        alloc::format!("{}-{}", self.protocol.to_lowercase(), self.port)
    }
}

/// A tree with an order, by its text.
#[derive(Clone, Debug)]
pub struct OrderedNode(pub Node);

impl PartialEq for OrderedNode {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for OrderedNode {}

impl PartialOrd for OrderedNode {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedNode {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        chancery_text::to_json(&self.0, false).cmp(&chancery_text::to_json(&other.0, false))
    }
}

/// A rule of a route.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    pub comments: Vec<String>,
    pub matches: Vec<RouteMatch>,
    pub filters: Vec<Node>,
    pub backends: Vec<Backend>,
    /// Further fields, such as `timeouts`.
    pub extra: Vec<(&'static str, Node)>,
}

/// A route: rules with the same policies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route {
    pub namespace: String,
    /// The name that the route is derived from.
    pub origin: String,
    /// The end of its name, such as `redirect`; empty for none.
    pub role: &'static str,
    /// Its hosts; empty for all.
    pub hosts: Vec<String>,
    /// The names of its listeners.
    pub sections: Vec<String>,
    pub comments: Vec<String>,
    pub rules: Vec<Rule>,
    /// The spec of its BackendTrafficPolicy, without targets.
    pub traffic: Option<Node>,
    /// The spec of its SecurityPolicy, without targets.
    pub security: Option<Node>,
    pub file: String,
}

/// Permission for objects of one kind and namespace to name an object of another namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grant {
    pub from: (&'static str, &'static str, String),
    pub to: (&'static str, &'static str, String),
    pub name: String,
}

/// A Gateway with its listeners, routes and policies.
#[derive(Debug)]
pub struct Plan {
    pub target: Target,
    pub listeners: Vec<Listener>,
    /// Listeners for TCP and UDP, all of the Gateway.
    streams: BTreeSet<StreamListener>,
    /// The hosts that have their own listener without TLS.
    pub plain_hosts: BTreeSet<String>,
    pub routes: Vec<Route>,
    /// Objects that routes name, with their files: by kind, namespace and name.
    pub others: BTreeMap<(&'static str, String, String), (String, Node)>,
    pub grants: BTreeSet<Grant>,
    /// The spec of the Gateway's BackendTrafficPolicy, without targets.
    pub traffic: Fields,
    /// The specs of the ClientTrafficPolicies without and with TLS, without targets.
    pub clients: [Fields; 2],
    pub comments: Vec<String>,
}

impl Plan {
    pub fn new(target: Target) -> Self {
        Self {
            target,
            listeners: Vec::new(),
            streams: BTreeSet::new(),
            plain_hosts: BTreeSet::new(),
            routes: Vec::new(),
            others: BTreeMap::new(),
            grants: BTreeSet::new(),
            traffic: Fields::new(),
            clients: [Fields::new(), Fields::new()],
            comments: Vec::new(),
        }
    }

    /// Adds a listener for TCP or UDP. Returns whether there is room for it, next to listeners without and with TLS.
    pub fn stream(&mut self, listener: StreamListener) -> bool {
        let has_room = self.streams.len() + 2 < write::LISTENERS;
        if has_room {
            self.streams.insert(listener);
        }
        has_room
    }

    /// Adds a listener for a host with a certificate, and returns its name.
    pub fn listener(&mut self, host: Option<&str>, secret: (&str, &str), client: Option<Node>, file: &str) -> String {
        let base = match host {
            None => String::from(HTTPS),
            Some(host) => alloc::format!("https-{}", super::build::name_of(&host.replacen('*', "wildcard", 1))),
        };
        if let Some(known) = self.listeners.iter().find(|known| known.host.as_deref() == host) {
            return known.name.clone();
        }
        let mut name = base.clone();
        let mut count = 1;
        while self.listeners.iter().any(|known| known.name == name) {
            count += 1;
            name = alloc::format!("{base}-{count}");
        }
        self.listeners.push(Listener {
            name: name.clone(),
            host: host.map(String::from),
            secret: (secret.0.into(), secret.1.into()),
            is_passthrough: false,
            client: client.map(OrderedNode),
            file: file.into(),
        });
        name
    }
}
