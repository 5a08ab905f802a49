//! Emits documents as text: composes a bootstrap or a set of resources from pieces.
//!
//! It uses the same functions as `message`, but makes no piece twice, and keeps at most one piece at a time.

use super::compose::{Composer, Outlet, is_needed_once};
use super::hcm::{connection_manager, rds};
use super::listener::{filter_chain, http_filter, listener, tcp_filter};
use super::memory::Emitted;
use super::message::{assignments, by_name, route_tables, served_listeners};
use super::route::{route, route_configuration, virtual_host};
use super::verbatim_memory::VerbatimMemory;
use super::{Context, Options, bootstrap, cluster, endpoint, pb, secret, verbatim};
use crate::Document;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::executor::Executor;
use chancery_base::ir::{Cluster, HttpConnectionManager, Ir, Listener, NetworkFilter, RouteConfiguration, Tree, VirtualHost};
use chancery_base::resource::Origin;
use chancery_base::{OutputMap, Rope};
use chancery_envoy_api::describe::Describe;
use chancery_envoy_api::envoy::extensions::filters::network::http_connection_manager::v3::http_connection_manager::RouteSpecifier;
use chancery_envoy_api::json::Readable;
use core::borrow::Borrow;

/// Emits the document as text. Cached pieces are not made again; the bytes do not depend on the cache.
#[must_use]
pub fn emit(ir: &Ir, options: &Options<'_>, memory: &mut Emitted) -> Rope {
    Writer::new(ir, options, Composer::text(options.layout), memory).write().into_rope()
}

/// Emits the document as text, part by part in order, and keeps none of them, so that a large document needs little memory. The bytes are those of
/// [`emit`].
///
/// For documents that are made once. `memory` keeps only pieces that the document uses several times.
pub fn stream(ir: &Ir, options: &Options<'_>, memory: &mut Emitted, put: &mut dyn FnMut(&Rope)) {
    let outlet = Outlet { put: &mut *put, executor: options.executor };
    let rest = Writer::new(ir, options, Composer::stream(options.layout, outlet), memory).write().into_rope();
    put(&rest);
}

/// Returns the place of each origin in the document.
///
/// ```
/// use chancery_base::compilation::Options;
/// use chancery_compile::Compiler;
/// use chancery_base::resource::Inputs;
/// use chancery_envoy::{Options as Wanted, emit};
///
/// let inputs = Inputs::one("quote.yaml", "\
/// apiVersion: getambassador.io/v3alpha1
/// kind: Mapping
/// metadata: {name: quote}
/// spec: {hostname: \"*\", prefix: /quote/, service: quote, timout_ms: 9000}
/// ");
/// let mut compiler = Compiler::new(&[&chancery_ambassador::DIALECT]);
/// let compilation = compiler.compile(&inputs, &Options::default());
///
/// let gateway = compilation.gateways().next().expect("Emissary runs one gateway");
/// let memory = compiler.emitted.of(gateway);
/// let text = emit::emit(gateway.ir, &Wanted::default(), memory).text();
/// assert!(text.contains("cluster_quote_default"));
/// let map = emit::output_map(gateway.ir, &Wanted::default(), memory);
/// let name = map.lookup("/static_resources/clusters/0/name").expect("a place");
/// assert!(!name.origins.is_empty(), "the Mapping names its service");
/// ```
#[must_use]
pub fn output_map(ir: &Ir, options: &Options<'_>, memory: &mut Emitted) -> OutputMap {
    Writer::new(ir, options, Composer::map(), memory).write().into_map().0
}

/// A rule of Envoy that a field of the document breaks.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The place in the document.
    pub pointer: String,
    pub rule: &'static str,
    /// What the value would have to be.
    pub message: String,
    /// The origins of the field, or of the nearest enclosing place.
    pub origins: Vec<Origin>,
}

/// Returns the rules that the document breaks. A piece that is used several times is reported once.
#[must_use]
pub fn violations(ir: &Ir, options: &Options<'_>, memory: &mut Emitted) -> Vec<Violation> {
    // Most documents break no rule, so places are computed only if needed.
    if Writer::new(ir, options, Composer::rules(), memory).write().into_map().1.is_empty() {
        return Vec::new();
    }
    let (map, broken) = Writer::new(ir, options, Composer::broken_rules(), memory).write().into_map();
    broken
        .into_iter()
        .map(|of| Violation {
            origins: map.lookup(&of.pointer).map(|made| made.origins.to_vec()).unwrap_or_default(),
            pointer: of.pointer,
            rule: of.rule,
            message: of.message,
        })
        .collect()
}

struct Writer<'a> {
    ir: &'a Ir,
    options: &'a Options<'a>,
    cx: Context<'a>,
    c: Composer<'a>,
    memory: &'a mut Emitted,
}

impl<'a> Writer<'a> {
    fn new(ir: &'a Ir, options: &'a Options<'a>, c: Composer<'a>, memory: &'a mut Emitted) -> Self {
        memory.begin(ir);
        Self { ir, options, cx: Context::new(ir, options), c, memory }
    }

    fn write(self) -> Composer<'a> {
        let Self { ir, options, cx, mut c, memory } = self;
        let cx = &cx;
        prepare(ir, options, cx, &c, memory);
        match options.document {
            Document::Bootstrap => whole_bootstrap(ir, options, cx, &mut c, memory),
            Document::Resources => resources(ir, options, cx, &mut c, memory),
        }
        c
    }
}

/// Makes routes and clusters, the bulk of a document, on all threads of the host. For a streamed document only pieces that are needed again.
fn prepare(ir: &Ir, options: &Options<'_>, cx: &Context<'_>, c: &Composer<'_>, memory: &mut Emitted) {
    let tables = route_tables(ir);
    let streams = c.streams();
    let hosts = tables.iter().flat_map(|table| &table.virtual_hosts);
    let routes = hosts.flat_map(|host| host.routes.iter().filter(move |of| !(streams && is_needed_once(&host.routes) && is_needed_once(of))));
    c.prepare(routes, &mut memory.routes, options.executor, |of, t| route(of, cx, t));
    if !cx.stands_alone && !streams {
        c.prepare(ir.clusters.iter(), memory.clusters(cx), options.executor, |of, t| cluster::cluster(of, cx, t));
    }
}

fn whole_bootstrap(ir: &Ir, options: &Options<'_>, cx: &Context<'_>, c: &mut Composer<'_>, memory: &mut Emitted) {
    c.message(
        |t| bootstrap::frame(ir, cx, t),
        |_| {},
        |c| {
            c.member("static_resources", |c| {
                c.object(|c| {
                    let verbatim = &ir.delivery.verbatim;
                    if !ir.listeners.is_empty() || !verbatim.listeners.is_empty() {
                        c.list_of("listeners", |c| {
                            ir.listeners.iter().for_each(|of| c.element(|c| whole_listener(of, cx, c, memory)));
                            emit_verbatim::<pb::listener::Listener, _>(
                                &verbatim::listeners(verbatim, cx, &mut memory.verbatim),
                                c,
                                &mut memory.verbatim,
                                options.executor,
                            );
                        });
                    }
                    // The management server's own cluster comes last.
                    let server = bootstrap::server_cluster(ir, cx, &mut chancery_base::output_map::Trace::off());
                    let own = bootstrap::own_clusters(ir);
                    if !ir.clusters.is_empty() || !verbatim.clusters.is_empty() || !own.is_empty() || server.is_some() {
                        c.list_of("clusters", |c| {
                            clusters(&ir.clusters, cx, c, memory);
                            own.into_iter().for_each(|of| clusters(core::slice::from_ref(of), cx, c, memory));
                            emit_verbatim::<pb::cluster::Cluster, _>(
                                &verbatim::clusters(verbatim, cx, &mut memory.verbatim),
                                c,
                                &mut memory.verbatim,
                                options.executor,
                            );
                            if server.is_some() {
                                c.element(|c| c.whole(|t| bootstrap::server_cluster(ir, cx, t).unwrap_or_default()));
                            }
                        });
                    }
                    let secrets = verbatim::secrets(verbatim, cx);
                    if !secrets.is_empty() {
                        c.list_of("secrets", |c| emit_verbatim::<pb::tls::Secret, _>(&secrets, c, &mut memory.verbatim, options.executor));
                    }
                });
            });
        },
    );
}

fn resources(ir: &Ir, options: &Options<'_>, cx: &Context<'_>, c: &mut Composer<'_>, memory: &mut Emitted) {
    let own = &ir.delivery.verbatim;
    c.object(|c| {
        c.list_of("listeners", |c| {
            served_listeners(ir).for_each(|of| c.element(|c| whole_listener(of, cx, c, memory)));
            emit_verbatim::<pb::listener::Listener, _>(&verbatim::filled(&own.listeners, options.secrets), c, &mut memory.verbatim, options.executor);
        });
        c.list_of("routes", |c| {
            route_tables(ir).into_iter().for_each(|of| c.element(|c| table(of, cx, c, memory)));
            emit_verbatim::<pb::route::RouteConfiguration, _>(
                &verbatim::filled(&own.routes, options.secrets),
                c,
                &mut memory.verbatim,
                options.executor,
            );
        });
        c.list_of("clusters", |c| {
            clusters(&ir.clusters, cx, c, memory);
            emit_verbatim::<pb::cluster::Cluster, _>(&verbatim::filled(&own.clusters, options.secrets), c, &mut memory.verbatim, options.executor);
        });
        c.list_of("endpoints", |c| {
            assignments(ir).into_iter().for_each(|(name, of)| c.element(|c| c.whole(|t| endpoint::load_assignment(name, of, t))));
            emit_verbatim::<pb::endpoint::ClusterLoadAssignment, _>(
                &verbatim::filled(&own.endpoints, options.secrets),
                c,
                &mut memory.verbatim,
                options.executor,
            );
        });
        c.list_of("secrets", |c| {
            secret::all(ir).values().for_each(|(held, origins)| {
                c.element(|c| {
                    c.whole(|t| {
                        t.here(origins);
                        held.secret(options.secrets)
                    });
                });
            });
            emit_verbatim::<pb::tls::Secret, _>(&verbatim::filled(&own.secrets, options.secrets), c, &mut memory.verbatim, options.executor);
        });
        c.list_even_empty("runtimes", &ir.delivery.runtimes, |c, of| c.whole(|t| bootstrap::runtime(of, t)));
    });
}

/// How many resources are written before a streamed text is passed on.
const PASSED_ON: usize = 256;

/// Resources that are passed on verbatim.
fn emit_verbatim<M: Readable + Describe, T: Borrow<Tree>>(all: &[T], c: &mut Composer<'_>, memory: &mut VerbatimMemory, executor: &dyn Executor) {
    let broken = if c.judges() { verbatim::all_broken::<M, T>(all, memory, executor) } else { Vec::new() };
    for (at, of) in all.iter().enumerate() {
        c.element(|c| c.verbatim::<M>(of.borrow(), broken.get(at).map_or(&[][..], Vec::as_slice), memory));
        if (at + 1) % PASSED_ON == 0 {
            c.pass_on();
        }
    }
    c.pass_on();
}

fn clusters(all: &[Arc<Cluster>], cx: &Context<'_>, c: &mut Composer<'_>, memory: &mut Emitted) {
    if cx.stands_alone {
        // These clusters depend on data from the host.
        all.iter().for_each(|of| c.element(|c| c.whole(|t| cluster::cluster(of, cx, t))));
    } else {
        c.elements_of_one_place(all, memory.clusters(cx), |of, t| cluster::cluster(of, cx, t));
    }
}

fn whole_listener(of: &Listener, cx: &Context<'_>, c: &mut Composer<'_>, memory: &mut Emitted) {
    c.message(
        |t| listener(of, t),
        |_| {},
        |c| {
            c.list("filter_chains", &of.chains, |c, chain| {
                c.message(
                    |t| filter_chain(chain, of.address.protocol, cx, t),
                    |_| {},
                    |c| c.list("filters", &chain.filters, |c, filter| network_filter(filter, cx, c, memory)),
                );
            });
        },
    );
}

fn network_filter(of: &NetworkFilter, cx: &Context<'_>, c: &mut Composer<'_>, memory: &mut Emitted) {
    match of {
        NetworkFilter::Http(manager) => c.message(|_| http_filter(), |_| {}, |c| c.member("typed_config", |c| whole_manager(manager, cx, c, memory))),
        NetworkFilter::Tcp(proxy) => c.whole(|t| tcp_filter(proxy, cx, t)),
    }
}

fn whole_manager(manager: &HttpConnectionManager, cx: &Context<'_>, c: &mut Composer<'_>, memory: &mut Emitted) {
    let by_name = by_name(&manager.routes, cx);
    c.packed(
        |t| {
            let mut out = connection_manager(manager, cx, t);
            out.route_specifier = by_name.then(|| t.own("rds", rds(&manager.routes.name, cx)));
            out
        },
        |out| {
            out.route_specifier.get_or_insert_with(|| RouteSpecifier::RouteConfig(Default::default()));
        },
        |c| {
            if !by_name {
                c.member("route_config", |c| table(&manager.routes, cx, c, memory));
            }
        },
    );
}

fn table(of: &RouteConfiguration, cx: &Context<'_>, c: &mut Composer<'_>, memory: &mut Emitted) {
    c.message(|t| route_configuration(of, cx, t), |_| {}, |c| c.list("virtual_hosts", &of.virtual_hosts, |c, host| whole_host(host, cx, c, memory)));
}

fn whole_host(host: &VirtualHost, cx: &Context<'_>, c: &mut Composer<'_>, memory: &mut Emitted) {
    c.message(
        |t| virtual_host(host, cx, t),
        |_| {},
        |c| {
            if !host.routes.is_empty() {
                let (memo, emit) = (&mut memory.routes, |of: &_, t: &mut _| route(of, cx, t));
                c.list_of("routes", |c| match is_needed_once(&host.routes) {
                    true => c.elements_of_one_place(&host.routes, memo, emit),
                    false => c.elements(&host.routes, memo, emit),
                });
            }
        },
    );
}
