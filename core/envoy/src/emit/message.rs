//! Emits whole documents as messages, for code that inspects them. It uses the same functions as the text in `document`.

use super::hcm::{connection_manager, rds};
use super::listener::{HTTP_FILTER, filter, filter_chain, listener, tcp_filter};
use super::route::{route, route_configuration, virtual_host};
use super::route_match::route_match;
use super::verbatim_memory::VerbatimMemory;
use super::{Context, Options, bootstrap as start, cluster, endpoint, pb, secret, verbatim};
use crate::Document;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use chancery_base::ir::{ClusterDiscovery, HttpConnectionManager, Ir, Listener, Locality, NetworkFilter, RouteConfiguration, RouteMatch};
use chancery_base::output_map::Trace;
use chancery_text::Str;
use pb::hcm::http_connection_manager::RouteSpecifier;

#[must_use]
pub fn bootstrap(ir: &Ir, options: &Options<'_>) -> pb::bootstrap::Bootstrap {
    let mut clusters = Vec::with_capacity(ir.clusters.len() + 4);
    let mut out = bootstrap_apart(ir, options, &mut |cluster| clusters.push(cluster));
    if let Some(resources) = &mut out.static_resources {
        resources.clusters = clusters;
    }
    out
}

/// Emits the bootstrap with its clusters one by one. There may be tens of thousands, each of several kilobytes.
pub fn bootstrap_apart(ir: &Ir, options: &Options<'_>, each: &mut dyn FnMut(pb::cluster::Cluster)) -> pb::bootstrap::Bootstrap {
    (0..ir.clusters.len()).filter_map(|at| cluster_at(ir, at, options)).for_each(&mut *each);
    bootstrap_around(ir, options, each)
}

/// Emits one of the IR's clusters, as the bootstrap contains it.
#[must_use]
pub fn cluster_at(ir: &Ir, at: usize, options: &Options<'_>) -> Option<pb::cluster::Cluster> {
    let cx = &Context::new(ir, &Options { document: Document::Bootstrap, ..*options });
    Some(cluster::cluster(ir.clusters.get(at)?, cx, &mut Trace::off()))
}

/// Whether the bootstraps of two IRs contain the same message of a shared cluster, without key material.
#[must_use]
pub fn agree_about_clusters(a: &Ir, b: &Ir) -> bool {
    let options = Options { document: Document::Bootstrap, ..Options::default() };
    Context::new(a, &options).agrees_about_clusters(&Context::new(b, &options))
}

/// Emits the bootstrap without the IR's clusters; `each` receives the clusters that follow them.
pub fn bootstrap_around(ir: &Ir, options: &Options<'_>, each: &mut dyn FnMut(pb::cluster::Cluster)) -> pb::bootstrap::Bootstrap {
    let cx = &Context::new(ir, &Options { document: Document::Bootstrap, ..*options });
    let t = &mut Trace::off();
    start::own_clusters(ir).into_iter().for_each(|of| each(cluster::cluster(of, cx, t)));
    verbatim::clusters(&ir.delivery.verbatim, cx, &mut VerbatimMemory::default()).iter().for_each(|of| each(verbatim::message(of)));
    start::server_cluster(ir, cx, t).into_iter().for_each(each);
    let mut listeners: Vec<_> = ir.listeners.iter().map(|of| whole_listener(of, cx, t)).collect();
    listeners.extend(verbatim::listeners(&ir.delivery.verbatim, cx, &mut VerbatimMemory::default()).iter().map(verbatim::message));
    let secrets = verbatim::secrets(&ir.delivery.verbatim, cx).iter().map(verbatim::message).collect();
    let mut out = start::frame(ir, cx, t);
    out.static_resources = Some(pb::bootstrap::bootstrap::StaticResources { listeners, clusters: Vec::new(), secrets });
    out
}

/// Emits the matcher of one route, for comparing routes.
#[must_use]
pub fn route_matcher(ir: &Ir, of: &RouteMatch) -> pb::route::RouteMatch {
    route_match(of, &Context::new(ir, &Options::default()), &mut Trace::off())
}

/// The resources that a management server serves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resources {
    /// From LDS. They request routes over RDS.
    pub listeners: Vec<pb::listener::Listener>,
    /// RDS.
    pub routes: Vec<pb::route::RouteConfiguration>,
    /// CDS.
    pub clusters: Vec<pb::cluster::Cluster>,
    /// EDS.
    pub endpoints: Vec<pb::endpoint::ClusterLoadAssignment>,
    /// SDS. Without [`Options::secrets`] they contain placeholders for the data.
    pub secrets: Vec<pb::tls::Secret>,
    /// RTDS.
    pub runtimes: Vec<pb::runtime::Runtime>,
}

#[must_use]
pub fn resources(ir: &Ir, options: &Options<'_>) -> Resources {
    let cx = &Context::new(ir, &Options { document: Document::Resources, ..*options });
    let t = &mut Trace::off();
    let mut out = Resources {
        listeners: served_listeners(ir).map(|of| whole_listener(of, cx, t)).collect(),
        routes: route_tables(ir).into_iter().map(|of| whole_table(of, cx, t)).collect(),
        clusters: ir.clusters.iter().map(|of| cluster::cluster(of, cx, t)).collect(),
        endpoints: assignments(ir).into_iter().map(|(name, of)| endpoint::load_assignment(name, of, t)).collect(),
        secrets: secret::all(ir).values().map(|(held, _)| held.secret(options.secrets)).collect(),
        runtimes: ir.delivery.runtimes.iter().map(|layer| start::runtime(layer, t)).collect(),
    };
    let own = &ir.delivery.verbatim;
    out.listeners.extend(verbatim::filled(&own.listeners, options.secrets).iter().map(|of| verbatim::message(of)));
    out.routes.extend(verbatim::filled(&own.routes, options.secrets).iter().map(|of| verbatim::message(of)));
    out.clusters.extend(verbatim::filled(&own.clusters, options.secrets).iter().map(|of| verbatim::message(of)));
    out.endpoints.extend(verbatim::filled(&own.endpoints, options.secrets).iter().map(|of| verbatim::message(of)));
    out.secrets.extend(verbatim::filled(&own.secrets, options.secrets).iter().map(|of| verbatim::message(of)));
    out
}

/// Listeners that xDS serves.
pub(super) fn served_listeners(ir: &Ir) -> impl Iterator<Item = &Listener> {
    ir.listeners.iter().map(|listener| &**listener).filter(|listener| !listener.in_bootstrap)
}

/// Whether this table is requested by its name. A table without a name cannot be.
pub(super) fn by_name(table: &RouteConfiguration, cx: &Context<'_>) -> bool {
    cx.rds && !table.name.is_empty()
}

/// Route tables that RDS serves, one per name.
pub(super) fn route_tables(ir: &Ir) -> Vec<&RouteConfiguration> {
    let mut names: BTreeSet<&Str> = BTreeSet::new();
    let managers = served_listeners(ir).flat_map(|listener| &listener.chains).flat_map(|chain| &chain.filters);
    let tables = managers.filter_map(|filter| match filter {
        NetworkFilter::Http(manager) => Some(&manager.routes),
        NetworkFilter::Tcp(_) => None,
    });
    let tables = tables.chain(ir.tables.iter().map(|table| &**table));
    tables.filter(|table| !table.name.is_empty() && !table.absent && names.insert(&table.name)).collect()
}

/// Endpoints that EDS serves, by the requested name, one per name.
pub(super) fn assignments(ir: &Ir) -> Vec<(&Str, &[Locality])> {
    let mut names: BTreeSet<&Str> = BTreeSet::new();
    let of_clusters = ir.clusters.iter().filter_map(|cluster| match &cluster.discovery {
        ClusterDiscovery::Eds { service_name, localities, .. } => Some((service_name, &localities[..])),
        ClusterDiscovery::Dns { .. } | ClusterDiscovery::Static { .. } => None,
    });
    of_clusters.filter(|(name, _)| names.insert(name)).collect()
}

pub(super) fn whole_listener(of: &Listener, cx: &Context<'_>, t: &mut Trace) -> pb::listener::Listener {
    let mut out = listener(of, t);
    out.filter_chains = of
        .chains
        .iter()
        .map(|chain| {
            let mut out = filter_chain(chain, of.address.protocol, cx, t);
            out.filters = chain.filters.iter().map(|filter| network_filter(filter, cx, t)).collect();
            out
        })
        .collect();
    out
}

fn network_filter(of: &NetworkFilter, cx: &Context<'_>, t: &mut Trace) -> pb::listener::Filter {
    match of {
        NetworkFilter::Http(manager) => filter(HTTP_FILTER, pb::Any::pack(whole_manager(manager, cx, t))),
        NetworkFilter::Tcp(proxy) => tcp_filter(proxy, cx, t),
    }
}

fn whole_manager(manager: &HttpConnectionManager, cx: &Context<'_>, t: &mut Trace) -> pb::hcm::HttpConnectionManager {
    let mut out = connection_manager(manager, cx, t);
    out.route_specifier = Some(if by_name(&manager.routes, cx) {
        rds(&manager.routes.name, cx)
    } else {
        RouteSpecifier::RouteConfig(whole_table(&manager.routes, cx, t))
    });
    out
}

fn whole_table(table: &RouteConfiguration, cx: &Context<'_>, t: &mut Trace) -> pb::route::RouteConfiguration {
    let mut out = route_configuration(table, cx, t);
    out.virtual_hosts = table
        .virtual_hosts
        .iter()
        .map(|host| {
            let mut out = virtual_host(host, cx, t);
            out.routes = host.routes.iter().map(|of| route(of, cx, t)).collect();
            out
        })
        .collect();
    out
}
