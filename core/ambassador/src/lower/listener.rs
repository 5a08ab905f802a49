//! Lowers listeners and their filter chains: the Hosts and TCP groups of each port.
//!
//! Source of the behaviour: Emissary `python/ambassador/envoy/v3/v3listener.py`.

use super::route::Routes;
use super::{Lowering, http::BaseHttp};
use crate::model::group::{Group, TcpGroup};
use crate::model::host::InsecureAction;
use crate::model::hostglob::globs_overlap;
use crate::model::listener::Security;
use crate::model::protocol::Protocol;
use crate::model::{ContextId, Host, Identity, Listener, Map};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::ir::{
    Address, AppendAction, FilterChain, FilterChainMatch, HeaderMutations, HeaderName, HeaderToAdd, HttpConnectionManager, ListenerFilter,
    NetworkFilter, Route, RouteConfiguration, SocketProtocol, TcpProxy, TrafficDirection, VirtualHost, WeightedCluster,
};
use chancery_base::resource::{Also, Origin, Rule, Sourced};
use chancery_text::Str;

/// The content of a chain under construction.
struct Chain<'m> {
    context: Option<ContextId>,
    /// By host name.
    members: Map<Str, Member<'m>>,
    server_names: Vec<Sourced<Str>>,
}

#[derive(Clone, Copy)]
enum Member<'m> {
    Http(&'m Host),
    Tcp(&'m Group, &'m TcpGroup),
}

impl Member<'_> {
    /// The origin of a TCPMapping's port.
    fn port(&self) -> Option<Origin> {
        match self {
            Member::Http(_) => None,
            Member::Tcp(_, tcp) => tcp.port.origin,
        }
    }
}

impl<'m> Chain<'m> {
    fn has_http(&self) -> bool {
        self.members.values().any(|member| matches!(member, Member::Http(_)))
    }

    fn add_server_name(&mut self, name: Sourced<Str>) {
        if !self.server_names.contains(&name) {
            self.server_names.push(name);
        }
    }

    /// The names sent to Envoy: empty if one of them is `*`.
    fn names(&self) -> Vec<Sourced<Str>> {
        if self.server_names.iter().any(|name| name.value == "*") { Vec::new() } else { self.server_names.clone() }
    }
}

type Chains<'m> = Map<String, Chain<'m>>;

impl<'m> Lowering<'m, '_> {
    pub(super) fn listeners(&mut self, routes: &Routes<'m>) -> Vec<Arc<chancery_base::ir::Listener>> {
        let model = self.model;
        let mut out = Vec::new();
        for listener in model.listeners.values() {
            match self.listener(listener, routes) {
                Some(lowered) => out.push(Arc::new(lowered)),
                None => {
                    let message = "No matching Hosts/TCPMappings found, disabling!";
                    let help = match listener.speaks(Protocol::Http) {
                        true => {
                            "have `hostBinding` choose a Host that is there: by namespace (`namespace: {from: ALL}`), or by labels that the Host has"
                        }
                        false => "a TCPMapping needs the port of the Listener",
                    };
                    let finding = Diagnostic::new(&codes::LISTENER_WITHOUT_HOSTS, message, Place::origin(listener.identity.origin));
                    self.findings.report(finding.about(listener.identity.key()).help(help));
                }
            }
        }
        out
    }

    fn listener(&mut self, listener: &'m Listener, routes: &Routes<'m>) -> Option<chancery_base::ir::Listener> {
        let udp = listener.is_udp();
        let speaks_http = listener.speaks(Protocol::Http);
        let mut chains = Chains::default();
        self.tcp_chains(listener, &mut chains);
        let mut lowered: Vec<FilterChain> = Vec::new();
        for chain in chains.values() {
            for member in chain.members.values() {
                if let Member::Tcp(group, tcp) = member {
                    lowered.extend(self.tcp_chain(listener, chain, group, tcp));
                }
            }
        }
        if speaks_http {
            self.http_chains(listener, &mut chains);
            let base = self.base_http(listener);
            self.finish_http(listener, &chains, routes, &base, &mut lowered);
        }
        if lowered.is_empty() {
            return None;
        }
        let port = listener.port;
        let members = chains.values().flat_map(|chain| chain.members.values());
        let port_also = Also(members.filter_map(Member::port).collect());
        let stack = listener.stack.origin;
        let filters = listener.stack.value.iter().filter_map(|protocol| match protocol {
            Protocol::Proxy => Some(Sourced::new(ListenerFilter::ProxyProtocol, stack)),
            Protocol::Tls if !udp => Some(Sourced::new(ListenerFilter::TlsInspector { ja3: None, ja4: None }, stack)),
            _ => None,
        });
        let tracing = self.model.tracing.as_ref().filter(|_| speaks_http);
        let direction = match tracing {
            Some(tracing) => Sourced::new(TrafficDirection::Outbound, tracing.identity.origin.map(|origin| origin.by(Rule::Derived))),
            None => Sourced::built_in(TrafficDirection::Unspecified),
        };
        let limit = self.model.ambassador.settings.buffer_limit_bytes.filter(|limit| limit.value != 0);
        let identity = &self.model.ambassador.identity;
        Some(chancery_base::ir::Listener {
            name: Sourced::new(listener.identity.name.clone(), listener.identity.origin.map(|origin| origin.by(Rule::Derived))),
            address: Address {
                address: listener.bind_address.clone(),
                port,
                port_also,
                protocol: if udp { SocketProtocol::Udp } else { SocketProtocol::Tcp },
                ipv4_compat: false,
            },
            filters: filters.collect(),
            chains: lowered,
            per_connection_buffer_limit: limit.and_then(|limit| self.unsigned(&limit, "buffer_limit_bytes", identity).ok()),
            traffic_direction: Some(direction),
            in_bootstrap: false,
            origins: listener.identity.origin.into_iter().collect(),
            ..chancery_base::ir::Listener::default()
        })
    }

    fn tcp_chains(&mut self, listener: &'m Listener, chains: &mut Chains<'m>) {
        let model = self.model;
        let bound = listener.bind_to();
        for (group, tcp) in model.tcp_groups() {
            if tcp.bind_to(model.options) != bound {
                continue;
            }
            let context = match &tcp.host {
                None => None,
                Some(host) => match self.context_for_tcp(&host.value) {
                    Some(context) => Some(context),
                    None => {
                        self.error(&codes::UNKNOWN_TLS_CONTEXT, "No matching TLSContext found, disabling!", &group.identity, host.origin);
                        continue;
                    }
                },
            };
            let key = match (&tcp.host, context) {
                (Some(host), Some(_)) => format!("tls-{}", host.value),
                _ => "cleartext".into(),
            };
            let chain = chains.entry(key).or_insert_with(|| Chain { context, members: Map::default(), server_names: Vec::new() });
            if let Some(other) = chain.members.values().next() {
                let (kind, name) = match other {
                    Member::Http(host) => ("Host", String::from(host.identity.name.as_str())),
                    Member::Tcp(_, tcp) => ("TCPMapping", tcp.name()),
                };
                let message = format!("TCPMapping {}: discarding because it conflicts with {kind} {name}", tcp.name());
                self.error(&codes::CHAIN_CONFLICT, message, &group.identity, None);
                continue;
            }
            let host = tcp.host.clone().unwrap_or_else(|| Sourced::built_in("*".into()));
            if chain.context.is_some() {
                chain.add_server_name(host.clone());
            }
            chain.members.insert(host.value, Member::Tcp(group, tcp));
        }
    }

    /// The certificate for a TCP group with a host: a Host's whose name fits, else a TLSContext's that lists it.
    fn context_for_tcp(&self, host: &str) -> Option<ContextId> {
        let model = self.model;
        let mut hosts: Vec<&Host> = model.hosts.values().collect();
        hosts.sort_by(|a, b| a.hostname.value.cmp(&b.hostname.value));
        let by_host = hosts.into_iter().find_map(|candidate| {
            let context = candidate.context.filter(|context| model.context(*context).usable())?;
            globs_overlap(&candidate.hostname.value, host).then_some(context)
        });
        by_host.or_else(|| {
            model.context_names.values().copied().find(|id| {
                let hosts = model.context(*id).spec.hosts.as_ref();
                hosts.is_some_and(|hosts| hosts.value.iter().any(|name| name.value == host))
            })
        })
    }

    fn tcp_chain(&mut self, listener: &Listener, chain: &Chain<'m>, group: &Group, tcp: &TcpGroup) -> Option<FilterChain> {
        let tls = match chain.context {
            Some(context) => Some(self.downstream_tls(context, &group.identity).ok()?),
            None => None,
        };
        // Each share is a sum, and the last one is the remainder.
        let weights = tcp.mappings.iter().take(Also::MOST_OF_GROUP).filter_map(|member| member.spec.weight.as_ref()?.origin);
        let weight_also = if tcp.mappings.len() > 1 { Also(weights.map(|origin| origin.by(Rule::Derived)).collect()) } else { Also::default() };
        let clusters: Vec<WeightedCluster> = tcp
            .mappings
            .iter()
            .map(|mapping| {
                let name = Sourced::new(self.model.envoy_name(&mapping.cluster), mapping.service.origin);
                WeightedCluster { name, weight: mapping.share, weight_also: weight_also.clone(), ..WeightedCluster::default() }
            })
            .collect();
        let (usable, zero): (Vec<_>, Vec<_>) = clusters.into_iter().partition(|cluster| cluster.weight.value > 0);
        for cluster in zero {
            self.refuse("a weight of 0 is not allowed in a TCPMapping", &group.identity, cluster.weight.origin);
        }
        if usable.is_empty() {
            return None;
        }
        if let Some(timeout) = &tcp.mappings[0].spec.idle_timeout_ms {
            let message = "idle_timeout_ms of a TCPMapping has no effect";
            self.notice_without_effect(message, &group.identity, timeout.origin);
        }
        let proxy = TcpProxy { stat_prefix: listener.stats_prefix.clone(), clusters: usable, idle_timeout: None, access_logs: Vec::new() };
        let names = chain.names();
        Some(FilterChain {
            name: format!("tcphost-{}", tcp.name()).into(),
            matcher: Some(FilterChainMatch { server_names: names, transport_protocol: chain.context.map(|_| "tls".into()) }),
            tls,
            filters: vec![NetworkFilter::Tcp(proxy)],
            origins: tcp.mappings.iter().filter_map(|mapping| mapping.identity.origin).collect(),
        })
    }

    fn notice_without_effect(&mut self, message: &str, on: &Identity, origin: Option<Origin>) {
        self.error(&codes::FIELD_WITHOUT_EFFECT, message, on, origin);
    }

    fn http_chains(&mut self, listener: &'m Listener, chains: &mut Chains<'m>) {
        let model = self.model;
        let strict = model.options.strict_label_selectors();
        let mut hosts: Vec<&'m Host> = model.hosts.values().collect();
        hosts.sort_by(|a, b| a.hostname.value.cmp(&b.hostname.value));
        for host in hosts {
            if !listener.serves(host, strict) {
                continue;
            }
            let context = host.context.filter(|context| model.context(*context).usable());
            if listener.speaks(Protocol::Tls) && context.is_some() {
                self.add_http_host(chains, format!("tls-{}", host.sni), context, host);
            }
            if !(listener.security.value == Security::Insecure && host.insecure_action.value == InsecureAction::Reject) {
                self.add_http_host(chains, format!("cleartext-{}", host.hostname.value), None, host);
            }
        }
    }

    fn add_http_host(&mut self, chains: &mut Chains<'m>, key: String, context: Option<ContextId>, host: &'m Host) {
        let model = self.model;
        let chain = chains.entry(key).or_insert_with(|| Chain { context, members: Map::default(), server_names: Vec::new() });
        let prefix = if chain.context.is_some() { "TLS Host" } else { "Cleartext Host" };
        if let Some(tcp) = chain.members.values().find_map(|member| if let Member::Tcp(_, tcp) = member { Some(tcp) } else { None }) {
            let message = format!("{prefix} {}: discarding because it conflicts with TCPMapping {}", host.identity.name, tcp.name());
            self.error(&codes::CHAIN_CONFLICT, message, &host.identity, None);
            return;
        }
        if let (Some(chain_context), Some(own)) = (chain.context, host.context) {
            let (theirs, ours) = (model.context(chain_context), model.context(own));
            if theirs.identity.name != ours.identity.name || theirs.namespace != ours.namespace {
                let message = format!(
                    "{prefix} {}: discarding because mismatching TLSContext between Hosts matching on dns hostname={}",
                    host.identity.name, host.sni
                );
                self.error(&codes::CHAIN_CONFLICT, message, &host.identity, None);
                return;
            }
            chain.add_server_name(Sourced::new(host.sni.clone(), host.hostname.origin));
        }
        chain.members.insert(host.hostname.value.clone(), Member::Http(host));
    }

    fn finish_http(&mut self, listener: &Listener, chains: &Chains<'m>, routes: &Routes<'m>, base: &BaseHttp, out: &mut Vec<FilterChain>) {
        let udp = listener.is_udp();
        let mut shared: Option<usize> = None;
        let mut pending: Vec<(FilterChain, Vec<VirtualHost>)> = Vec::new();
        for chain in chains.values().filter(|chain| chain.has_http()) {
            let at = match chain.context {
                None if udp => continue,
                None => *shared.get_or_insert_with(|| {
                    let matcher = Some(FilterChainMatch::default());
                    pending.push((
                        FilterChain { name: "httphost-shared".into(), matcher, tls: None, filters: Vec::new(), origins: Vec::new() },
                        Vec::new(),
                    ));
                    pending.len() - 1
                }),
                Some(context) => {
                    let Some(Member::Http(first)) = chain.members.values().next() else { continue };
                    let Ok(tls) = self.downstream_tls(context, &first.identity) else { continue };
                    let matcher =
                        FilterChainMatch { server_names: chain.names(), transport_protocol: Some(if udp { "quic".into() } else { "tls".into() }) };
                    let name = format!("httpshost-{}", first.identity.name).into();
                    let lowered = FilterChain { name, matcher: Some(matcher), tls: Some(tls), filters: Vec::new(), origins: Vec::new() };
                    pending.push((lowered, Vec::new()));
                    pending.len() - 1
                }
            };
            let (lowered, hosts) = &mut pending[at];
            for member in chain.members.values() {
                let Member::Http(host) = member else { continue };
                lowered.origins.extend(host.identity.origin);
                let Some(chosen) = routes.of(host).map(|routes| routes.chosen(listener.security.value, host.insecure_action.value, self.executor))
                else {
                    continue;
                };
                match hosts.iter_mut().find(|known| known.domains.first().is_some_and(|domain| domain.value == host.hostname.value)) {
                    Some(known) => Arc::make_mut(&mut known.routes).extend(chosen.iter().cloned()),
                    None => hosts.push(virtual_host(listener, host, chosen.clone())),
                }
            }
        }
        for (mut chain, virtual_hosts) in pending {
            let name = format!("{}-{}", listener.identity.name, chain.name).into();
            let routes = RouteConfiguration { name, virtual_hosts, ..RouteConfiguration::default() };
            let manager = HttpConnectionManager { routes, ..base.manager.clone() };
            chain.filters = vec![NetworkFilter::Http(Arc::new(manager))];
            out.push(chain);
        }
    }
}

fn virtual_host(listener: &Listener, host: &Host, routes: Arc<Vec<Arc<Route>>>) -> VirtualHost {
    let mut response_headers = HeaderMutations::default();
    if listener.http3 && !listener.is_udp() {
        let value = "h3=\":443\"; ma=86400, h3-29=\":443\"; ma=86400".into();
        response_headers.add.push(Sourced::built_in(HeaderToAdd {
            name: const { HeaderName::fixed("alt-svc") },
            value,
            action: AppendAction::Unsaid,
        }));
    }
    VirtualHost {
        name: format!("{}-{}", listener.identity.name, host.hostname.value).into(),
        domains: vec![host.hostname.clone()],
        routes,
        response_headers,
        origins: host.identity.origin.into_iter().collect(),
        ..VirtualHost::default()
    }
}
