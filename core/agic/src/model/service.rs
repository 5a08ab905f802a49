//! Services of one cluster or several, and their addresses.

use super::super::cluster::AdmittedObject;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::resource::{ObjectId, Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::{Str, Value};

#[derive(Clone, Debug)]
pub struct Service {
    pub object: ObjectId,
    pub ports: Vec<ServicePort>,
    /// The labels of its pods.
    pub selector: Vec<(Str, Str)>,
}

/// A port of a Service.
#[derive(Clone, Debug)]
pub struct ServicePort {
    pub name: Str,
    pub port: i64,
    /// Whether it is TCP; other ports are ignored.
    pub is_tcp: bool,
    /// The port of the pods.
    pub target: Target,
    pub origin: Origin,
}

/// A port of pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// By number.
    Number(i64),
    /// By name.
    Name(Str),
}

impl Target {
    pub fn text(&self) -> Str {
        match self {
            Target::Number(number) => format!("{number}").into(),
            Target::Name(name) => name.clone(),
        }
    }
}

/// Addresses that share their ports.
#[derive(Clone, Debug, Default)]
pub struct Subset {
    /// Its addresses, ready or not.
    pub addresses: Vec<EndpointAddress>,
    pub ports: Vec<EndpointPort>,
}

/// An address: an IP address, or else a name.
#[derive(Clone, Debug)]
pub struct EndpointAddress {
    pub ip: Option<Sourced<Str>>,
    pub hostname: Option<Sourced<Str>>,
}

/// A port of addresses.
#[derive(Clone, Debug)]
pub struct EndpointPort {
    pub name: Str,
    pub port: i64,
    pub is_tcp: bool,
    pub origin: Origin,
}

impl Service {
    /// Reads a Service, with the API server's defaults.
    pub fn read(held: &AdmittedObject<'_>) -> Self {
        let spec = held.root().field("spec");
        let port = |at: Cursor<'_>| {
            let port = at.field("port").int().unwrap_or_default();
            let target = match at.field("targetPort").node().map(|node| &node.value) {
                Some(Value::String(name)) if !name.is_empty() => Target::Name(name.clone()),
                Some(Value::Int(number)) if *number != 0 => Target::Number(*number),
                _ => Target::Number(port),
            };
            let is_tcp = matches!(at.field("protocol").str(), "TCP" | "");
            ServicePort { name: Str::new(at.field("name").str()), port, is_tcp, target, origin: at.origin() }
        };
        Self { object: held.object.id, ports: spec.field("ports").items().map(port).collect(), selector: labels(spec.field("selector")) }
    }

    /// Reads a MultiClusterService without defaults: a port without a protocol is not TCP, and without a target it leads to 0.
    pub fn read_of_clusters(held: &AdmittedObject<'_>) -> Self {
        let spec = held.root().field("spec");
        let port = |at: Cursor<'_>| ServicePort {
            name: Str::new(at.field("name").str()),
            port: at.field("port").int().unwrap_or_default(),
            is_tcp: at.field("protocol").str() == "TCP",
            target: Target::Number(at.field("targetPort").int().unwrap_or_default()),
            origin: at.origin(),
        };
        let selector = labels(spec.at("selector.matchLabels"));
        Self { object: held.object.id, ports: spec.field("ports").items().map(port).collect(), selector }
    }

    /// Whether it has a TCP port.
    pub fn has_tcp(&self) -> bool {
        self.ports.iter().any(|port| port.is_tcp)
    }

    /// Returns the ports that a reference may mean: by number, by name, or by the port of the pods.
    pub fn ports_meant<'s>(&'s self, text: &'s str) -> impl Iterator<Item = &'s ServicePort> {
        self.ports.iter().filter(move |port| port.is_tcp && (format!("{}", port.port) == text || port.name == text || port.target.text() == text))
    }
}

/// Labels with their values.
pub(super) fn labels(at: Cursor<'_>) -> Vec<(Str, Str)> {
    at.entries().map(|(key, value)| (key.clone(), Str::new(value.str()))).collect()
}

/// The addresses of Endpoints.
pub fn subsets(held: &AdmittedObject<'_>) -> Vec<Subset> {
    let address = |at: Cursor<'_>| EndpointAddress { ip: at.field("ip").text(), hostname: at.field("hostname").text() };
    let port = |at: Cursor<'_>| EndpointPort {
        name: Str::new(at.field("name").str()),
        port: at.field("port").int().unwrap_or_default(),
        is_tcp: matches!(at.field("protocol").str(), "TCP" | ""),
        origin: at.origin(),
    };
    let subset = |at: Cursor<'_>| Subset {
        addresses: at.field("addresses").items().chain(at.field("notReadyAddresses").items()).map(address).collect(),
        ports: at.field("ports").items().map(port).collect(),
    };
    held.root().field("subsets").items().map(subset).collect()
}

/// The addresses of a MultiClusterService: those of its status, at its own ports.
pub fn subsets_of_clusters(held: &AdmittedObject<'_>) -> Vec<Subset> {
    let root = held.root();
    let address = |at: Cursor<'_>| EndpointAddress { ip: at.field("ip").text(), hostname: None };
    let port = |at: Cursor<'_>| EndpointPort {
        name: Str::default(),
        port: at.field("port").int().unwrap_or_default(),
        is_tcp: at.field("protocol").str() == "TCP",
        origin: at.origin(),
    };
    let addresses = root.at("status.endpoints").items().map(address).collect();
    Vec::from([Subset { addresses, ports: root.at("spec.ports").items().map(port).collect() }])
}
