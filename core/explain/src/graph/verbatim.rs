//! Adds Envoy's parts to the graph for resources that the controller passes on verbatim. Does not handle parts that the IR has types for; see
//! `envoy`.

use super::build::Builder;
use super::{NodeKind, Relation, Rule};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::{Tree, Verbatim};
use chancery_base::resource::{ObjectId, Origin};
use chancery_text::Str;

/// Names that other parts refer to.
struct Named {
    cluster_label: fn(&str) -> Option<String>,
    tables: BTreeMap<Str, Arc<Tree>>,
    clusters: BTreeMap<Str, Arc<Tree>>,
    endpoints: BTreeMap<Str, Arc<Tree>>,
}

impl Named {
    /// Returns the name of a cluster, and on a second line its readable name.
    fn label(&self, cluster: &str) -> String {
        (self.cluster_label)(cluster).into_iter().fold(cluster.to_string(), |name, label| format!("{name}\n{label}"))
    }
}

/// Collects one origin of each object in a value, at most `MOST`.
fn origins(of: &Tree, found: &mut Vec<Origin>) {
    const MOST: usize = 16;
    if found.len() >= MOST {
        return;
    }
    if let Some(origin) =
        of.origin.filter(|origin| origin.object() != ObjectId::BUILT_IN && !found.iter().any(|known| known.object() == origin.object()))
    {
        found.push(origin);
    }
    of.fields().iter().for_each(|(_, value)| origins(value, found));
    of.items().iter().for_each(|value| origins(value, found));
}

fn origins_of(of: &Tree) -> Vec<Origin> {
    let mut found = Vec::new();
    origins(of, &mut found);
    found
}

fn socket(of: &Tree) -> Option<String> {
    let of = of.get("socket_address");
    of.find("port_value").map(|port| format!("{}:{}", of.get("address").text(), port.int()))
}

/// Returns the path that a route matches.
fn path_of(of: &Tree) -> String {
    let text = |key: &str| of.find(key).map(Tree::text);
    if let Some(path) = text("prefix").or_else(|| text("path_separated_prefix")) {
        return format!("{path}*");
    }
    text("path").map_or_else(|| format!("~ {}", of.at(&["safe_regex", "regex"]).text()), ToString::to_string)
}

/// Returns the clusters that a value sends to, each with its weight.
fn clusters_of(of: &Tree) -> Vec<(Str, i64)> {
    if let Some(name) = of.find("cluster") {
        return Vec::from([(name.str(), 1)]);
    }
    let weighted = of.at(&["weighted_clusters", "clusters"]).items();
    weighted.iter().map(|one| (one.get("name").str(), one.get("weight").int())).collect()
}

impl Builder<'_> {
    /// Adds the parts from listeners to endpoints. `cluster_label` returns a readable name for a cluster.
    pub fn add_verbatim(&mut self, of: &Verbatim, cluster_label: fn(&str) -> Option<String>) {
        let by_name = |all: &'_ [Arc<Tree>], key: &str| -> Vec<(Str, Arc<Tree>)> { all.iter().map(|of| (of.get(key).str(), of.clone())).collect() };
        let named = Named {
            cluster_label,
            tables: by_name(&of.routes, "name").into_iter().collect(),
            clusters: by_name(&of.clusters, "name").into_iter().collect(),
            endpoints: by_name(&of.endpoints, "cluster_name").into_iter().collect(),
        };
        for listener in &of.listeners {
            let name = listener.get("name").text();
            let id = self.scoped(format!("listener:{name}"));
            let address = socket(listener.get("address")).unwrap_or_default();
            // Some listener names end with their address.
            let short = name.strip_suffix(&address).and_then(|name| name.strip_suffix(':')).filter(|name| !name.is_empty()).unwrap_or(name);
            let at = self.node(&id, NodeKind::Listener, || format!("{short}\n{address}"));
            self.made(listener.origin.as_slice(), at);
            for (number, chain) in listener.get("filter_chains").items().iter().chain(listener.find("default_filter_chain")).enumerate() {
                self.verbatim_chain((at, listener), &id, (number, chain), &named);
            }
        }
        for cluster in &of.clusters {
            self.verbatim_cluster(cluster, &named);
        }
    }

    fn verbatim_chain(&mut self, (from, listener): (usize, &Tree), outer: &str, (number, chain): (usize, &Tree), named: &Named) {
        // The maker of an upstream's listener also made its routes, unless another resource did.
        let asked_by = listener.origin.filter(|_| listener.get("traffic_direction").text() == "OUTBOUND");
        let name = chain.get("name").text();
        let name = if name.is_empty() { number.to_string() } else { name.to_string() };
        let id = self.free(format!("{outer}/chain:{name}"));
        let at = self.node(&id, NodeKind::FilterChain, || chain_label(chain));
        self.edge(from, at, Relation::Forwards, "", None);
        for filter in chain.get("filters").items() {
            let config = filter.get("typed_config");
            self.made(&origins_of(filter), at);
            for (cluster, _) in clusters_of(config) {
                self.verbatim_forward(at, &cluster, named);
            }
            let asked = config.at(&["rds", "route_config_name"]).text();
            let Some(table) = config.find("route_config").or_else(|| named.tables.get(asked).map(|table| &**table)) else { continue };
            for host in table.get("virtual_hosts").items() {
                self.verbatim_host((at, asked_by), &id, host, named);
            }
        }
    }

    fn verbatim_host(&mut self, (from, asked_by): (usize, Option<Origin>), outer: &str, host: &Tree, named: &Named) {
        let id = self.free(format!("{outer}/{}", host.get("name").text()));
        let domains = || host.get("domains").items().iter().map(Tree::text).collect::<Vec<_>>().join(", ");
        let at = self.node(&id, NodeKind::VirtualHost, domains);
        self.edge(from, at, Relation::Forwards, "", None);
        self.made(host.origin.as_slice(), at);
        for route in host.get("routes").items() {
            let path = path_of(route.get("match"));
            let id = self.free(self.scoped(format!("route:{path}")));
            let to = self.node(&id, NodeKind::Route, || path.clone());
            self.rule(to, rule_of(route, path));
            self.edge(at, to, Relation::Forwards, "", None);
            let made_by = origins_of(route);
            self.made(if made_by.is_empty() { asked_by.as_slice() } else { &made_by }, to);
            for (cluster, _) in clusters_of(route.get("route")) {
                self.verbatim_forward(to, &cluster, named);
            }
        }
    }

    /// Adds an edge to a cluster, which may be missing.
    fn verbatim_forward(&mut self, from: usize, cluster: &str, named: &Named) {
        let id = self.scoped(format!("cluster:{cluster}"));
        let to = if named.clusters.contains_key(cluster) {
            self.node(&id, NodeKind::Cluster, || named.label(cluster))
        } else {
            self.missing(&format!("missing:{id}"), format!("cluster {cluster}"), "Envoy gets no such cluster".into())
        };
        self.edge(from, to, Relation::Forwards, "", None);
    }

    fn verbatim_cluster(&mut self, cluster: &Tree, named: &Named) {
        let name = cluster.get("name").text();
        let id = self.scoped(format!("cluster:{name}"));
        let at = self.node(&id, NodeKind::Cluster, || named.label(name));
        self.made(&origins_of(cluster), at);
        for other in cluster.at(&["cluster_type", "typed_config", "clusters"]).items() {
            self.verbatim_forward(at, other.text(), named);
        }
        let service = cluster.at(&["eds_cluster_config", "service_name"]).text();
        let asked = named.endpoints.get(if service.is_empty() { name } else { service });
        let assignment = cluster.find("load_assignment").or_else(|| asked.map(|known| &**known));
        let groups = assignment.into_iter().flat_map(|of| of.get("endpoints").items());
        let how = if cluster.find("eds_cluster_config").is_some() { "served by EDS" } else { "fixed" };
        let (mut services, mut count): (Vec<(usize, i64, Vec<Str>)>, usize) = (Vec::new(), 0);
        for group in groups {
            let mut ids = Vec::new();
            for host in group.get("lb_endpoints").items() {
                let Some(address) = socket(host.at(&["endpoint", "address"])) else { continue };
                let id = self.scoped(format!("endpoint:{address}"));
                let to = self.node(&id, NodeKind::Endpoint, || format!("{address}\n{how}"));
                self.edge(at, to, Relation::Forwards, "", None);
                self.made(&origins_of(host), to);
                ids.push(id.into());
            }
            count += 1;
            let service = self.named_service(group.origin.as_slice());
            services.extend(service.map(|service| (service, group.find("load_balancing_weight").map_or(1, Tree::int), ids)));
        }
        if count > 0 && services.len() == count {
            self.split(at, services);
        }
    }
}

fn chain_label(chain: &Tree) -> String {
    let names = chain.at(&["filter_chain_match", "server_names"]).items().iter().map(Tree::text).collect::<Vec<_>>().join(", ");
    let transport = if chain.find("transport_socket").is_some() { "TLS" } else { "plain text" };
    if names.is_empty() { format!("{transport}\nall connections") } else { format!("{transport}\n{names}") }
}

/// Converts a route to a rule of a story.
fn rule_of(route: &Tree, path: String) -> Rule {
    let of = route.get("match");
    let named = of.get("headers").items().iter().map(|header| header.get("name").str());
    let query = of.get("query_parameters").items().iter().map(|query| Str::from(format!("?{}", query.get("name").text())));
    let conditions = named.chain(query).map(|name| name.to_string()).collect();
    let clusters = clusters_of(route.get("route"));
    let total = clusters.iter().map(|(_, weight)| *weight).sum::<i64>().max(1);
    let shares = clusters.iter().map(|(name, weight)| (Str::from(name.as_str()), u32::try_from((weight * 100 + total / 2) / total).unwrap_or(100)));
    let action = if route.find("redirect").is_some() {
        Some(String::from("redirects"))
    } else {
        route.find("direct_response").map(|answer| format!("answers {}", answer.get("status").int()))
    };
    Rule { path: path.into(), takes: 100, conditions, shares: shares.collect(), action, ..Rule::default() }
}
