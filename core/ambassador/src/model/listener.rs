//! Models IRListener: a port, its protocols, and its Hosts.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irlistener.py`, `ir/ir.py` (HTTP/3 companions).

use super::group::GroupKind;
use super::hostglob::selector_matches;
use super::notices::{ControllerNotice, Identity};
use super::protocol::Protocol;
use super::{Host, Model, spec_of};
use crate::spec;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Reported, codes};
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_text::Str;

/// IRListener.
#[derive(Clone, Debug)]
pub struct Listener {
    /// Who it is.
    pub identity: Identity,
    /// Address bound to.
    pub bind_address: Sourced<Str>,
    /// Port bound to.
    pub port: Sourced<u16>,
    /// The protocol stack, outermost last: `[TLS, HTTP, TCP]`.
    pub stack: Sourced<Vec<Protocol>>,
    /// Which requests are secure.
    pub security: Sourced<Security>,
    /// Prefix of statistics.
    pub stats_prefix: Sourced<Str>,
    /// Proxies in front that are trusted.
    pub l7_depth: Option<Sourced<i64>>,
    /// Streams of an HTTP/2 connection.
    pub max_concurrent_streams: Option<Sourced<i64>>,
    /// HTTP/3 is served on this listener or its companion.
    pub http3: bool,
    namespace: Binding,
    selector: Vec<(Str, Sourced<Str>)>,
}

/// Which requests are secure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Requests with `x-forwarded-proto: https`.
    Xfp,
    /// All.
    Secure,
    /// None.
    Insecure,
}

#[derive(Clone, Debug)]
enum Binding {
    All,
    Only(Str),
}

impl Listener {
    /// Whether UDP is bound, for HTTP/3.
    pub fn is_udp(&self) -> bool {
        self.stack.value.last() == Some(&Protocol::Udp)
    }

    /// Whether a protocol is spoken.
    pub fn speaks(&self, protocol: Protocol) -> bool {
        self.stack.value.contains(&protocol)
    }

    /// The unique key of a listener, e.g. `tcp-0.0.0.0-8080`.
    pub fn bind_to(&self) -> String {
        let protocol = if self.is_udp() { "udp" } else { "tcp" };
        format!("{protocol}-{}-{}", self.bind_address.value, self.port.value)
    }

    /// Whether it serves a Host: by namespace and labels.
    pub fn serves(&self, host: &Host, strict: bool) -> bool {
        let namespace = match &self.namespace {
            Binding::All => true,
            Binding::Only(namespace) => *namespace == host.namespace,
        };
        namespace && selector_matches(&self.selector, &host.labels, strict)
    }
}

fn stack_of(protocol: &str) -> Option<Vec<Protocol>> {
    use Protocol::{Http, Proxy, Tcp, Tls};
    Some(match protocol {
        "HTTP" => alloc::vec![Http, Tcp],
        "HTTPS" => alloc::vec![Tls, Http, Tcp],
        "HTTPPROXY" => alloc::vec![Proxy, Http, Tcp],
        "HTTPSPROXY" => alloc::vec![Tls, Proxy, Http, Tcp],
        "TCP" => alloc::vec![Tcp],
        "TLS" => alloc::vec![Tls, Tcp],
        _ => return None,
    })
}

fn element(name: &str) -> Option<Protocol> {
    Some(match name {
        "HTTP" => Protocol::Http,
        "PROXY" => Protocol::Proxy,
        "TLS" => Protocol::Tls,
        "TCP" => Protocol::Tcp,
        "UDP" => Protocol::Udp,
        _ => return None,
    })
}

impl Model<'_> {
    /// ListenerFactory.load_all.
    pub(super) fn load_listeners(&mut self) {
        for resource in self.resources("listeners") {
            let spec: spec::Listener = spec_of(resource);
            if let Ok(listener) = self.listener(Identity::of(resource), &resource.namespace, &spec) {
                self.save_listener(listener);
            }
        }
    }

    fn save_listener(&mut self, listener: Listener) {
        let key = Str::from(listener.bind_to());
        if let Some(known) = self.listeners.get(&key) {
            let protocol = if listener.is_udp() { "udp" } else { "tcp" };
            let message = format!(
                "Duplicate listener {} on {protocol}://{}:{}; keeping definition from {}",
                listener.identity.name, listener.bind_address.value, listener.port.value, known.identity.rkey
            );
            self.notices.overall(ControllerNotice::new(&codes::DUPLICATE_LISTENER, message, listener.port.origin));
            return;
        }
        self.listeners.insert(key, listener);
    }

    /// Beside a UDP listener, the TCP listener of the same address and port announces HTTP/3.
    pub(super) fn pair_http3_listeners(&mut self) {
        let companions: Vec<String> = self
            .listeners
            .values()
            .filter(|listener| listener.is_udp())
            .map(|listener| format!("tcp-{}-{}", listener.bind_address.value, listener.port.value))
            .collect();
        for key in companions {
            if let Some(listener) = self.listeners.get_mut(key.as_str()) {
                listener.http3 = true;
            }
        }
    }

    fn listener(&mut self, identity: Identity, namespace: &Str, spec: &spec::Listener) -> Result<Listener, Reported> {
        let invalid = |message: &str, origin: Option<Origin>| ControllerNotice::new(&codes::INVALID_LISTENER, message, origin);
        let stack = self.protocol_stack(&identity, spec)?;
        let Some(security) = &spec.security_model else {
            return Err(self.notices.error(&identity, invalid("securityModel is required", None)));
        };
        let security = Sourced::new(
            match security.value.as_str() {
                "SECURE" => Security::Secure,
                "INSECURE" => Security::Insecure,
                _ => Security::Xfp,
            },
            security.origin,
        );
        let written_port = spec.port.unwrap_or_default();
        let Ok(port) = u16::try_from(written_port.value) else {
            return Err(self.notices.error(&identity, invalid("port must be from 0 to 65535", written_port.origin)));
        };
        let written = spec.stats_prefix.clone().filter(|prefix| !prefix.value.is_empty());
        let stats_prefix =
            written.unwrap_or_else(|| Sourced::new(default_stats_prefix(&stack.value, port).into(), stack.origin.map(|o| o.by(Rule::Derived))));
        let Some(binding) = &spec.host_binding else {
            return Err(self.notices.error(&identity, invalid("hostBinding is required", None)));
        };
        let from = binding.value.namespace.as_ref().and_then(|namespace| namespace.value.from.clone());
        let selector = binding.value.selector.clone().filter(|s| s.value.match_labels.is_some() || s.value.match_expressions.is_some());
        if from.is_none() && selector.is_none() {
            return Err(self.notices.error(&identity, invalid("hostBinding must have at least one of namespace or selector", binding.origin)));
        }
        let mut bound = Binding::Only(namespace.clone());
        if let Some(from) = from {
            match from.value.to_ascii_lowercase().as_str() {
                "all" => bound = Binding::All,
                "selector" => {
                    let message = "hostBinding.namespace.from=selector is not yet supported";
                    self.notices.error(&identity, super::notices::unsupported(message, from.origin));
                }
                _ => {}
            }
        }
        let selector = match selector {
            Some(selector) => match selector.value.match_labels {
                Some(labels) => labels.value.0,
                None => {
                    let message = "hostBinding.selector currently supports only matchLabels";
                    return Err(self.notices.error(&identity, super::notices::unsupported(message, selector.origin)));
                }
            },
            None => Vec::new(),
        };
        Ok(Listener {
            bind_address: Sourced::built_in(self.options.bind_address()),
            port: Sourced::new(port, written_port.origin),
            http3: stack.value.last() == Some(&Protocol::Udp),
            stack,
            security,
            stats_prefix,
            l7_depth: spec.l7_depth,
            max_concurrent_streams: spec.http2_max_concurrent_streams,
            namespace: bound,
            selector,
            identity,
        })
    }

    fn protocol_stack(&mut self, identity: &Identity, spec: &spec::Listener) -> Result<Sourced<Vec<Protocol>>, Reported> {
        let written = spec.protocol_stack.clone().filter(|stack| !stack.value.is_empty());
        let stack = match (written, &spec.protocol) {
            (Some(stack), protocol) => {
                if let Some(protocol) = protocol {
                    let message = "protocol and protocolStack may not both be specified; using protocolStack and ignoring protocol";
                    self.notices.error(identity, ControllerNotice::new(&codes::MUTUALLY_EXCLUSIVE, message, protocol.origin));
                }
                Sourced::new(stack.value.iter().filter_map(|name| element(&name.value)).collect(), stack.origin)
            }
            (None, None) => {
                let message = "one of protocol and protocolStack must be specified";
                return Err(self.notices.error(identity, ControllerNotice::new(&codes::INVALID_LISTENER, message, None)));
            }
            (None, Some(protocol)) => match stack_of(&protocol.value) {
                Some(stack) => Sourced::new(stack, protocol.origin),
                None => {
                    let message = format!("protocol {} is not valid", protocol.value);
                    let post = ControllerNotice::new(&codes::INVALID_LISTENER, message, protocol.origin)
                        .help("for HTTP/3 use `protocolStack: [TLS, HTTP, UDP]`");
                    return Err(self.notices.error(identity, post));
                }
            },
        };
        let problem = match stack.value.last() {
            Some(Protocol::Tcp) => None,
            Some(Protocol::Udp) if stack.value.contains(&Protocol::Http) => None,
            Some(Protocol::Udp) => Some(format!("UDP is only supported with HTTP. Invalid protocolStack for listener {}", identity.name)),
            _ => Some(format!(
                "TCP or UDP should be the last protocol in the protocolStack. Unable to determine socket protocol for listener {}",
                identity.name
            )),
        };
        match problem {
            Some(message) => Err(self.notices.error(identity, ControllerNotice::new(&codes::INVALID_LISTENER, message, stack.origin))),
            None => Ok(stack),
        }
    }

    /// ListenerFactory.finalize: TCP groups whose port has no listener get one.
    pub(super) fn add_tcp_listeners(&mut self) {
        let mut wanted: Vec<Listener> = Vec::new();
        let mut no_ports = Vec::new();
        for (group, tcp) in self.tcp_groups() {
            let key = tcp.bind_to(self.options);
            if self.listeners.contains_key(key.as_str()) || wanted.iter().any(|listener| listener.bind_to() == key) {
                continue;
            }
            let Ok(port) = u16::try_from(tcp.port.value) else {
                no_ports.push((group.identity.clone(), tcp.port));
                continue;
            };
            let origin = tcp.port.origin.map(|origin| origin.by(Rule::Derived));
            let stack = if tcp.host.is_some() { alloc::vec![Protocol::Tls, Protocol::Tcp] } else { alloc::vec![Protocol::Tcp] };
            let bind_address = tcp.address.clone().unwrap_or_else(|| Sourced::built_in(self.options.bind_address()));
            let name = format!("listener-{}-{port}", bind_address.value);
            wanted.push(Listener {
                identity: Identity { origin: group.identity.origin, ..Identity::internal("-internal-", "Listener", name) },
                bind_address,
                port: Sourced::new(port, tcp.port.origin),
                stats_prefix: Sourced::new(default_stats_prefix(&stack, port).into(), origin),
                stack: Sourced::new(stack, origin),
                security: Sourced::new(Security::Secure, origin),
                l7_depth: None,
                max_concurrent_streams: None,
                http3: false,
                namespace: Binding::Only(self.options.ambassador_namespace.clone()),
                selector: Vec::new(),
            });
        }
        for listener in wanted {
            self.save_listener(listener);
        }
        for (identity, port) in no_ports {
            let message = format!("there is no port {}: ports end at 65535", port.value);
            self.notices.error(&identity, ControllerNotice::new(&codes::REFUSED_BY_ENVOY, message, port.origin));
        }
    }

    /// Groups of TCPMappings, the latest first.
    pub fn tcp_groups(&self) -> impl Iterator<Item = (&super::Group, &super::group::TcpGroup)> {
        self.groups.tcp.values().rev().filter_map(|group| match &group.kind {
            GroupKind::Tcp(tcp) => Some((group, &**tcp)),
            GroupKind::Http(_) => None,
        })
    }
}

fn default_stats_prefix(stack: &[Protocol], port: u16) -> String {
    let (tls, http) = (stack.contains(&Protocol::Tls), stack.contains(&Protocol::Http));
    match (http, tls) {
        (true, true) => "ingress_https".into(),
        (true, false) => "ingress_http".into(),
        (false, true) => format!("ingress_tls_{port}"),
        (false, false) => format!("ingress_{}_{port}", if stack.last() == Some(&Protocol::Udp) { "udp" } else { "tcp" }),
    }
}
