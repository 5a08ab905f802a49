//! Builds the graph of an Envoy's own configuration, from any source: listeners to addresses.
//!
//! Its nodes have the same kinds as the graph of resources, so that both can be shown in the same way. Does not know resources; see `build`.

use super::{Edge, Graph, GraphNode, NodeKind, Relation};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::config::managers_of;
use chancery_envoy::emit::pb;
use hashbrown::HashSet;
use pb::hcm::http_connection_manager::RouteSpecifier;
use pb::route::route::Action;
use pb::route::route_action::ClusterSpecifier;
use pb::route::route_match::PathSpecifier;

#[must_use]
pub fn graph_of(config: &EnvoyConfig) -> Graph {
    let mut builder = Builder { config, graph: Graph::default(), known: HashSet::new(), drawn: HashSet::new() };
    for listener in &config.listeners {
        builder.listener(&listener.message);
    }
    for cluster in config.clusters.iter() {
        builder.cluster(&cluster.message);
    }
    builder.graph
}

struct Builder<'a> {
    config: &'a EnvoyConfig,
    graph: Graph,
    known: HashSet<String>,
    drawn: HashSet<(String, String)>,
}

impl Builder<'_> {
    fn node(&mut self, id: &str, kind: NodeKind, label: impl FnOnce() -> String) {
        if self.known.insert(id.to_string()) {
            self.graph.nodes.push(GraphNode::new(id, kind, label()));
        }
    }

    /// Returns an unused id.
    fn free(&self, id: String) -> String {
        let others = (2_u32..).map(|number| format!("{id}#{number}"));
        core::iter::once(id.clone()).chain(others).find(|id| !self.known.contains(id)).unwrap_or(id)
    }

    fn edge(&mut self, from: &str, to: &str) {
        if self.drawn.insert((from.to_string(), to.to_string())) {
            self.graph.edges.push(Edge {
                from: from.into(),
                to: to.into(),
                relation: Relation::Forwards,
                label: "",
                at: None,
                terms: Box::default(),
                share: None,
                weight: None,
            });
        }
    }

    fn listener(&mut self, listener: &pb::listener::Listener) {
        let id = self.free(format!("listener:{}", listener.name));
        let address = listener.address.as_ref().map(address).unwrap_or_default();
        self.node(&id, NodeKind::Listener, || format!("{}\n{address}", listener.name));
        for (at, chain) in listener.filter_chains.iter().chain(&listener.default_filter_chain).enumerate() {
            self.chain(&id, at, chain);
        }
    }

    fn chain(&mut self, from: &str, at: usize, chain: &pb::listener::FilterChain) {
        let name = if chain.name.is_empty() { at.to_string() } else { chain.name.clone() };
        let id = self.free(format!("{from}/chain:{name}"));
        self.node(&id, NodeKind::FilterChain, || {
            let transport = if chain.transport_socket.is_some() { "TLS" } else { "plain text" };
            let names = chain.filter_chain_match.as_ref().map(|matched| matched.server_names.join(", ")).filter(|names| !names.is_empty());
            format!("{transport}\n{}", names.unwrap_or_else(|| "all connections".into()))
        });
        self.edge(from, &id);
        for (_, manager) in managers_of(chain) {
            let table = match &manager.route_specifier {
                Some(RouteSpecifier::RouteConfig(table)) => Some(table),
                Some(RouteSpecifier::Rds(rds)) => {
                    let found = self.config.routes.iter().find(|table| table.message.name == rds.route_config_name);
                    if found.is_none() {
                        self.missing(&id, &format!("route table {}", rds.route_config_name), "Envoy has no such table of routes");
                    }
                    found.map(|found| &found.message)
                }
                _ => None,
            };
            for host in table.iter().flat_map(|table| &table.virtual_hosts) {
                self.host(&id, table.map_or("", |table| &table.name), host);
            }
        }
        for name in tcp_clusters(chain) {
            self.forward(&id, &name);
        }
    }

    fn missing(&mut self, from: &str, label: &str, reason: &str) {
        let id = format!("missing:{label}");
        self.node(&id, NodeKind::Missing, || label.to_string());
        if let Some(node) = self.graph.nodes.iter_mut().find(|node| node.id == id) {
            node.reason = Some(reason.into());
        }
        self.edge(from, &id);
    }

    fn host(&mut self, from: &str, table: &str, host: &pb::route::VirtualHost) {
        // Several chains may use a table that they request by name.
        let id = format!("virtual_host:{table}/{}", host.name);
        let seen = self.known.contains(&id) && !table.is_empty();
        let id = if seen { id } else { self.free(id) };
        self.node(&id, NodeKind::VirtualHost, || if host.domains.is_empty() { host.name.clone() } else { host.domains.join(", ") });
        self.edge(from, &id);
        if seen {
            return;
        }
        for route in &host.routes {
            let path = path(route);
            let name = if route.name.is_empty() { path.clone() } else { route.name.clone() };
            let route_id = self.free(format!("{id}/route:{name}"));
            let mut more: Vec<String> = match &route.action {
                Some(Action::Redirect(_)) => Vec::from(["redirects".into()]),
                Some(Action::DirectResponse(answer)) => Vec::from([format!("answers {}", answer.status)]),
                _ => Vec::new(),
            };
            more.extend(route.r#match.iter().flat_map(|matched| &matched.headers).map(header));
            self.node(&route_id, NodeKind::Route, || if more.is_empty() { path } else { format!("{path}\n{}", more.join(", ")) });
            self.edge(&id, &route_id);
            let Some(Action::Route(action)) = &route.action else { continue };
            match &action.cluster_specifier {
                Some(ClusterSpecifier::Cluster(name)) => self.forward(&route_id, name),
                Some(ClusterSpecifier::WeightedClusters(all)) => all.clusters.iter().for_each(|of| self.forward(&route_id, &of.name)),
                _ => {}
            }
            action
                .request_mirror_policies
                .iter()
                .filter(|mirror| !mirror.cluster.is_empty())
                .for_each(|mirror| self.forward(&route_id, &mirror.cluster));
        }
    }

    fn forward(&mut self, from: &str, cluster: &str) {
        if self.config.cluster(cluster).is_some() {
            let id = format!("cluster:{cluster}");
            self.node(&id, NodeKind::Cluster, || cluster.to_string());
            self.edge(from, &id);
        } else {
            self.missing(from, &format!("cluster {cluster}"), "Envoy has no such cluster");
        }
    }

    fn cluster(&mut self, cluster: &pb::cluster::Cluster) {
        let id = format!("cluster:{}", cluster.name);
        self.node(&id, NodeKind::Cluster, || cluster.name.clone());
        let service = cluster.eds_cluster_config.as_ref().map(|eds| if eds.service_name.is_empty() { &cluster.name } else { &eds.service_name });
        let served = service.and_then(|service| self.config.endpoints.iter().find(|endpoints| endpoints.message.cluster_name == *service));
        let assignment = cluster.load_assignment.as_ref().or(served.map(|served| &served.message));
        for endpoint in assignment.iter().flat_map(|of| &of.endpoints).flat_map(|locality| &locality.lb_endpoints) {
            use pb::endpoint::lb_endpoint::HostIdentifier;
            let Some(HostIdentifier::Endpoint(endpoint)) = &endpoint.host_identifier else { continue };
            let address = endpoint.address.as_ref().map(address).unwrap_or_default();
            let to = format!("endpoint:{address}");
            self.node(&to, NodeKind::Endpoint, || address);
            self.edge(&id, &to);
        }
    }
}

fn address(of: &pb::base::Address) -> String {
    use pb::base::{address::Address, socket_address::PortSpecifier};
    match &of.address {
        Some(Address::SocketAddress(socket)) => match &socket.port_specifier {
            Some(PortSpecifier::PortValue(port)) => format!("{}:{port}", socket.address),
            Some(PortSpecifier::NamedPort(name)) => format!("{}:{name}", socket.address),
            None => socket.address.clone(),
        },
        Some(Address::Pipe(pipe)) => pipe.path.clone(),
        Some(Address::EnvoyInternalAddress(_)) => "inside of Envoy".into(),
        None => String::new(),
    }
}

fn path(of: &pb::route::Route) -> String {
    let matched = of.r#match.as_ref();
    match matched.and_then(|matched| matched.path_specifier.as_ref()) {
        Some(PathSpecifier::Prefix(path) | PathSpecifier::PathSeparatedPrefix(path)) => format!("{path}*"),
        Some(PathSpecifier::Path(path)) => path.clone(),
        Some(PathSpecifier::SafeRegex(regex)) => format!("~ {}", regex.regex),
        Some(PathSpecifier::ConnectMatcher(_)) => "CONNECT".into(),
        Some(PathSpecifier::PathMatchPolicy(policy)) => policy.name.clone(),
        None => "any path".into(),
    }
}

/// Describes the condition of a header.
fn header(of: &pb::route::HeaderMatcher) -> String {
    use pb::matcher::string_matcher::MatchPattern;
    use pb::route::header_matcher::HeaderMatchSpecifier;
    let not = if of.invert_match { "not " } else { "" };
    let name = of.name.trim_start_matches(':');
    let value = match &of.header_match_specifier {
        Some(HeaderMatchSpecifier::StringMatch(text)) => match &text.match_pattern {
            Some(MatchPattern::Exact(text)) => format!(" {text}"),
            Some(MatchPattern::Prefix(text)) => format!(" {text}*"),
            Some(MatchPattern::Suffix(text)) => format!(" *{text}"),
            Some(MatchPattern::Contains(text)) => format!(" *{text}*"),
            Some(MatchPattern::SafeRegex(regex)) => format!(" ~ {}", regex.regex),
            _ => String::new(),
        },
        Some(HeaderMatchSpecifier::ExactMatch(text)) => format!(" {text}"),
        Some(HeaderMatchSpecifier::PrefixMatch(text)) => format!(" {text}*"),
        Some(HeaderMatchSpecifier::SuffixMatch(text)) => format!(" *{text}"),
        Some(HeaderMatchSpecifier::SafeRegexMatch(regex)) => format!(" ~ {}", regex.regex),
        _ => String::new(),
    };
    format!("{not}{name}{value}")
}

fn tcp_clusters(chain: &pb::listener::FilterChain) -> Vec<String> {
    use pb::listener::filter::ConfigType;
    use pb::tcp_proxy::tcp_proxy::ClusterSpecifier;
    let proxies = chain.filters.iter().filter_map(|filter| match &filter.config_type {
        Some(ConfigType::TypedConfig(config)) => config.downcast_ref::<pb::tcp_proxy::TcpProxy>(),
        _ => None,
    });
    let names = proxies.flat_map(|proxy| match &proxy.cluster_specifier {
        Some(ClusterSpecifier::Cluster(name)) => Vec::from([name.clone()]),
        Some(ClusterSpecifier::WeightedClusters(all)) => all.clusters.iter().map(|cluster| cluster.name.clone()).collect(),
        None => Vec::new(),
    });
    names.collect()
}
