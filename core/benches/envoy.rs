//! Measures how long it takes to emit a big gateway: 2 listeners of 10 hosts of 2,000 routes each, every route in two hosts, and 8,000 clusters.

use chancery_core::backend::envoy::v3::{Emitted, emit, output_map};
use chancery_core::backend::envoy::{Document, Layout, Options};
use chancery_core::executor::Sequential;
use chancery_core::ir::*;
use chancery_core::resource::{ObjectId, Origin, Sourced};
use chancery_core::text::{NodeId, Str};
use divan::{Bencher, black_box};
use std::sync::Arc;
use std::time::Duration;

fn main() {
    divan::main();
}

const LISTENERS: usize = 2;
const HOSTS: usize = 10;
const ROUTES: usize = 2_000;
const CLUSTERS: usize = 8_000;

fn s<T>(value: T, object: usize) -> Sourced<T> {
    Sourced::new(value, Origin::field(ObjectId::from_index(object), NodeId(7)))
}

fn route(n: usize) -> Arc<Route> {
    let cluster = Str::from(format!("cluster_service_{}_namespace_{}", n % CLUSTERS, n % 50));
    let secure = n.is_multiple_of(2);
    let action = if secure {
        RouteAction::Forward(std::sync::Arc::new(Forward {
            clusters: UpstreamClusters::One(s(cluster.clone(), n)),
            timeout: Some(s(Duration::from_millis(3000), n)),
            priority: None,
            path_rewrite: Some(s(PathRewrite::Prefix(Str::new_static("/")), n)),
            ..Forward::default()
        }))
    } else {
        RouteAction::Redirect(Box::new(Redirect { https: Some(s(true, n)), ..Redirect::default() }))
    };
    let header = HeaderMatch {
        name: HeaderName::fixed("x-forwarded-proto"),
        value: StringMatch::Exact(Str::new_static("https")),
        invert: false,
        ignore_case: false,
        missing_as_empty: false,
    };
    Arc::new(Route {
        matcher: RouteMatch {
            path: s(PathMatch::Prefix(Str::from(format!("/namespace-{}/service-{n}/", n % 50))), n),
            case_sensitive: Some(s(true, n)),
            headers: if secure { vec![s(header, n)] } else { vec![] },
            fraction: Some(RuntimeFraction {
                percent: s(100, n),
                percent_also: Default::default(),
                runtime_key: Some(Str::from(format!("routing.traffic_shift.{cluster}"))),
            }),
            ..RouteMatch::default()
        },
        action,
        origins: vec![Origin::field(ObjectId::from_index(n), NodeId(1))],
        ..Route::default()
    })
}

fn cluster(n: usize) -> Arc<Cluster> {
    let name = Str::from(format!("cluster_service_{n}_namespace_{}", n % 50));
    let endpoint = Endpoint::new(Str::from(format!("service-{n}.namespace-{}", n % 50)), 8080);
    Arc::new(Cluster {
        name: s(name.clone(), n),
        alt_stat_name: Some(s(Str::from(format!("service-{n}_namespace-{}_8080", n % 50)), n)),
        discovery: ClusterDiscovery::Dns { kind: s(DnsKind::Strict, n), assignment_name: name, endpoints: vec![s(endpoint, n)] },
        lb_policy: s(LbPolicy::RoundRobin, n),
        connect_timeout: s(Duration::from_millis(3000), n),
        dns_family: Some(s(DnsFamily::V4Only, n)),
        origins: vec![Origin::field(ObjectId::from_index(n), NodeId(1))],
        ..Cluster::default()
    })
}

fn gateway() -> Ir {
    let routes: Vec<Arc<Route>> = (0..LISTENERS * HOSTS * ROUTES / 2).map(route).collect();
    let listener = |l: usize| {
        let host = |h: usize| {
            let from = (l * HOSTS + h) / 2 * ROUTES;
            VirtualHost {
                name: Str::from(format!("listener-{l}-host-{h}.example.com")),
                domains: vec![s(Str::from(format!("host-{h}.example.com")), h)],
                routes: routes[from..from + ROUTES].to_vec().into(),
                ..VirtualHost::default()
            }
        };
        let manager = HttpConnectionManager {
            stat_prefix: s(Str::new_static("ingress_http"), l),
            routes: RouteConfiguration {
                name: Str::from(format!("listener-{l}")),
                virtual_hosts: (0..HOSTS).map(host).collect(),
                ..RouteConfiguration::default()
            },
            ..HttpConnectionManager::default()
        };
        Arc::new(Listener {
            name: s(Str::from(format!("listener-{l}")), l),
            address: Address { address: s(Str::new_static("0.0.0.0"), l), port: s(8080, l), ..Address::default() },
            chains: vec![FilterChain {
                name: Str::new_static("shared"),
                matcher: Some(FilterChainMatch::default()),
                filters: vec![NetworkFilter::Http(Arc::new(manager))],
                ..FilterChain::default()
            }],
            ..Listener::default()
        })
    };
    Ir { listeners: (0..LISTENERS).map(listener).collect(), clusters: (0..CLUSTERS).map(cluster).collect(), ..Ir::default() }
}

const BOOTSTRAP: Options<'static> = Options { document: Document::Bootstrap, layout: Layout::Compact, secrets: None, executor: &Sequential };

#[divan::bench(args = [Layout::Compact, Layout::Pretty])]
fn from_scratch(bencher: Bencher<'_, '_>, layout: Layout) {
    let ir = gateway();
    bencher.bench(|| emit(black_box(&ir), &Options { layout, ..BOOTSTRAP }, &mut Emitted::new()).len());
}

#[divan::bench]
fn after_one_changed_route(bencher: Bencher<'_, '_>) {
    let mut ir = gateway();
    let mut memory = Emitted::new();
    let mut timeout = 0;
    let _ = emit(&ir, &BOOTSTRAP, &mut memory);
    bencher.bench_local(|| {
        timeout += 1;
        if let NetworkFilter::Http(manager) = &mut Arc::make_mut(&mut ir.listeners[0]).chains[0].filters[0]
            && let RouteAction::Forward(forward) =
                &mut Arc::make_mut(&mut Arc::make_mut(&mut Arc::make_mut(manager).routes.virtual_hosts[3].routes)[1000]).action
        {
            Arc::make_mut(forward).timeout = Some(s(Duration::from_millis(timeout), 1));
        }
        emit(black_box(&ir), &BOOTSTRAP, &mut memory).len()
    });
}

#[divan::bench]
fn writing_it_out(bencher: Bencher<'_, '_>) {
    let rope = emit(&gateway(), &BOOTSTRAP, &mut Emitted::new());
    bencher.bench(|| black_box(&rope).text().len());
}

#[divan::bench]
fn output_map_from_scratch(bencher: Bencher<'_, '_>) {
    let ir = gateway();
    bencher.bench(|| output_map(black_box(&ir), &BOOTSTRAP, &mut Emitted::new()).lookup("/static_resources/clusters/77/name").is_some());
}

#[divan::bench]
fn all_made_by_one_object(bencher: Bencher<'_, '_>) {
    let map = output_map(&gateway(), &BOOTSTRAP, &mut Emitted::new());
    bencher.bench(|| black_box(&map).made_by(ObjectId::from_index(77), |_| true).len());
}
