//! Assigns the ports of a Gateway's listeners, and finds conflicts (Contour `internal/gatewayapi/listeners.go`).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::Origin;
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::gateway_api::hostname;
use chancery_text::Str;

/// A port of Envoy's.
pub struct Port {
    /// `http-80`.
    pub name: Str,
    /// `http`, `https` or `tcp`.
    pub protocol: &'static str,
    /// The port that the Gateway's listeners request.
    pub number: i64,
    /// The port that Envoy listens on in its container.
    pub container_port: u32,
    /// The listener's port.
    pub origin: Origin,
}

/// An error of a listener.
pub struct Fault {
    /// The condition's type.
    pub kind: &'static str,
    /// Whether it is true.
    pub holds: bool,
    /// One word for it.
    pub reason: &'static str,
    /// A sentence.
    pub message: String,
}

/// The result for a Gateway's listeners.
#[derive(Default)]
pub struct Ports {
    /// The ports, in the order of the listeners.
    pub ports: Vec<Port>,
    /// The names of ports by the names of listeners.
    pub names: BTreeMap<Str, Str>,
    /// Errors of listeners, by name.
    pub faults: BTreeMap<Str, Fault>,
}

/// Validates a Gateway's listeners: a listener that conflicts with an earlier one is dropped.
pub fn validate(listeners: Cursor<'_>) -> Ports {
    let (mut result, mut earlier, mut known) = (Ports::default(), Earlier::default(), BTreeSet::new());
    for (index, listener) in listeners.items().enumerate() {
        let name = Str::new(listener.field("name").str());
        let (port, protocol, host) = (listener.field("port"), listener.field("protocol").str(), listener.field("hostname").str());
        let number = port.int().unwrap_or_default();
        let envoy = envoy_protocol(protocol);
        let faulty = (!host.is_empty()).then(|| hostname::check(host).err()).flatten();
        let fault = match (faulty, envoy) {
            (Some(message), _) => Some(Fault { kind: "Programmed", holds: false, reason: "Invalid", message: message.into() }),
            (None, None) => Some(unsupported(protocol)),
            (None, Some(envoy)) => earlier.conflict(number, envoy, host),
        };
        let envoy = envoy.unwrap_or_default();
        earlier.add(index, number, envoy, host);
        if let Some(fault) = fault {
            result.faults.insert(name, fault);
            continue;
        }
        let port_name = Str::from(format!("{envoy}-{number}"));
        if known.insert(port_name.clone()) {
            let container_port = u32::try_from(container_port(number)).unwrap_or_default();
            result.ports.push(Port { name: port_name.clone(), protocol: envoy, number, container_port, origin: port.origin() });
        }
        result.names.insert(name, port_name);
    }
    result
}

fn unsupported(protocol: &str) -> Fault {
    let known = "must be one of HTTP, HTTPS, TLS, TCP or projectcontour.io/https";
    let message = format!("Listener protocol {} is unsupported, {known}", go_quoted(protocol));
    Fault { kind: "Accepted", holds: false, reason: "UnsupportedProtocol", message }
}

/// The protocol of Envoy's listener.
fn envoy_protocol(protocol: &str) -> Option<&'static str> {
    match protocol {
        "HTTP" => Some("http"),
        "HTTPS" | "TLS" | "projectcontour.io/https" => Some("https"),
        "TCP" => Some("tcp"),
        _ => None,
    }
}

/// Containers cannot use ports below 1024: 8000 is added, too large ports wrap around and skip the low range.
fn container_port(port: i64) -> i64 {
    let moved = port.saturating_add(8000);
    let wrapped = if moved > 65535 { moved - 65535 } else { moved };
    if wrapped <= 1023 { wrapped + 1023 } else { wrapped }
}

/// The earlier listeners, including invalid ones: the index of the first of each sort.
#[derive(Default)]
struct Earlier {
    by_container_port: BTreeMap<i64, BTreeMap<i64, usize>>,
    by_protocol: BTreeMap<(i64, &'static str), usize>,
    by_hostname: BTreeMap<(i64, Str), usize>,
}

impl Earlier {
    fn add(&mut self, index: usize, port: i64, protocol: &'static str, hostname: &str) {
        self.by_container_port.entry(container_port(port)).or_default().entry(port).or_insert(index);
        self.by_protocol.entry((port, protocol)).or_insert(index);
        self.by_hostname.entry((port, Str::new(hostname))).or_insert(index);
    }

    /// The first conflict of a listener with an earlier one.
    fn conflict(&self, port: i64, protocol: &'static str, hostname: &str) -> Option<Fault> {
        let other_ports = self.by_container_port.get(&container_port(port)).into_iter().flatten();
        let unavailable = other_ports.filter(|(other, _)| **other != port).map(|(_, index)| *index).min();
        let others = ["", "http", "https", "tcp"].into_iter().filter(|other| *other != protocol);
        let incompatible = others.filter_map(|other| self.by_protocol.get(&(port, other)).copied()).min();
        let same = self.by_hostname.get(&(port, Str::new(hostname))).copied();
        let conflicted = |reason, message: &str| Fault { kind: "Conflicted", holds: true, reason, message: message.into() };
        let faults = [
            (unavailable, Fault { kind: "Accepted", holds: false, reason: "PortUnavailable", message: TAKEN.into() }),
            (incompatible, conflicted("ProtocolConflict", "All Listener protocols for a given port must be compatible")),
            (same, conflicted("HostnameConflict", "All Listener hostnames for a given port must be unique")),
        ];
        let mut found: Vec<_> = faults.into_iter().filter_map(|(index, fault)| Some((index?, fault))).collect();
        found.sort_by_key(|(index, _)| *index);
        found.into_iter().next().map(|(_, fault)| fault)
    }
}

const TAKEN: &str = "Listener port conflicts with a previous Listener's port";

#[cfg(test)]
mod tests {
    use super::{container_port, validate};
    use alloc::vec::Vec;
    use chancery_base::resource::ObjectId;
    use chancery_kubernetes::cursor::Cursor;
    use chancery_kubernetes::status::{list, number, object, text};
    use chancery_text::Node;

    fn listener(name: &str, port: i64, protocol: &str, hostname: &str) -> Node {
        object(alloc::vec![("name", text(name)), ("port", number(port)), ("protocol", text(protocol)), ("hostname", text(hostname))])
    }

    fn reasons(listeners: Vec<Node>) -> Vec<&'static str> {
        let node = list(listeners);
        validate(Cursor::new(ObjectId::BUILT_IN, &node)).faults.values().map(|fault| fault.reason).collect()
    }

    #[test]
    fn ports_go_up_by_8000_and_round() {
        assert_eq!([80, 443, 57535, 57536, 58558, 58559].map(container_port), [8080, 8443, 65535, 1024, 2046, 1024]);
    }

    #[test]
    fn the_first_of_two_listeners_that_conflict_stays() {
        assert_eq!(reasons(alloc::vec![listener("a", 80, "HTTP", ""), listener("b", 80, "HTTP", "")]), ["HostnameConflict"]);
        assert_eq!(reasons(alloc::vec![listener("a", 80, "HTTP", ""), listener("b", 80, "HTTPS", "")]), ["ProtocolConflict"]);
        assert_eq!(reasons(alloc::vec![listener("a", 443, "TLS", "x.y"), listener("b", 443, "projectcontour.io/https", "")]), [""; 0]);
        assert_eq!(reasons(alloc::vec![listener("a", 57536, "HTTP", ""), listener("b", 58559, "HTTP", "")]), ["PortUnavailable"]);
    }

    #[test]
    fn an_omitted_listener_blocks_later_ones() {
        let listeners = alloc::vec![listener("a", 80, "UDP", ""), listener("b", 80, "HTTP", "")];
        assert_eq!(reasons(listeners), ["UnsupportedProtocol", "ProtocolConflict"]);
    }
}
