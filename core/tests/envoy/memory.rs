//! Checks that remembered results do not change the bytes.

use crate::rich::{OLD, forward, rich, route, s};
use crate::upstream::{cluster, dns};
use chancery_core::backend::envoy::v3::{Emitted, emit, output_map};
use chancery_core::backend::envoy::{Document, Layout, Options};
use chancery_core::ir::*;
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug)]
enum Edit {
    Timeout { listener: usize, host: usize, route: usize, timeout: u64 },
    Insert { listener: usize, host: usize, route: usize },
    Remove { listener: usize, host: usize, route: usize },
    Clear { listener: usize, host: usize },
    Cluster { index: usize, timeout: u64 },
    AddCluster { name: u8 },
    Respell,
}

fn edit() -> impl Strategy<Value = Edit> {
    let (listener, host, at) = (0..2usize, 0..2usize, 0..36usize);
    prop_oneof![
        4 => (listener.clone(), host.clone(), at.clone(), 0..5000u64)
            .prop_map(|(listener, host, route, timeout)| Edit::Timeout { listener, host, route, timeout }),
        2 => (listener.clone(), host.clone(), at.clone()).prop_map(|(listener, host, route)| Edit::Insert { listener, host, route }),
        2 => (listener.clone(), host.clone(), at).prop_map(|(listener, host, route)| Edit::Remove { listener, host, route }),
        1 => (listener, host).prop_map(|(listener, host)| Edit::Clear { listener, host }),
        2 => (0..4usize, 0..5000u64).prop_map(|(index, timeout)| Edit::Cluster { index, timeout }),
        1 => any::<u8>().prop_map(|name| Edit::AddCluster { name }),
        1 => Just(Edit::Respell),
    ]
}

fn options() -> impl Strategy<Value = Options<'static>> {
    let document = prop_oneof![Just(Document::Bootstrap), Just(Document::Resources)];
    let layout = prop_oneof![Just(Layout::Compact), Just(Layout::Pretty)];
    (document, layout).prop_map(|(document, layout)| Options { document, layout, ..Options::default() })
}

/// Changes the routes of a host of the first chain of a listener.
fn with_routes(ir: &mut Ir, listener: usize, host: usize, change: impl FnOnce(&mut Vec<Arc<Route>>)) {
    let Some(listener) = ir.listeners.get_mut(listener) else { return };
    let Some(NetworkFilter::Http(manager)) = Arc::make_mut(listener).chains[0].filters.first_mut() else { return };
    let Some(host) = Arc::make_mut(manager).routes.virtual_hosts.get_mut(host) else { return };
    change(Arc::make_mut(&mut host.routes));
}

/// Returns a gateway whose first host has enough routes to be remembered as a list.
fn big() -> Ir {
    let mut ir = rich(Spelling::CURRENT);
    with_routes(&mut ir, 0, 0, |routes| {
        let more = (0..24).map(|n| Arc::new(route(&format!("/{n}/"), RouteAction::Forward(forward("dns").into()))));
        routes.splice(0..0, more);
    });
    ir
}

fn apply(ir: &mut Ir, edit: &Edit) {
    match *edit {
        Edit::Timeout { listener, host, route, timeout } => with_routes(ir, listener, host, |routes| {
            if let Some(route) = routes.get_mut(route)
                && let RouteAction::Forward(forward) = &mut Arc::make_mut(route).action
            {
                Arc::make_mut(forward).timeout = Some(s(Duration::from_millis(timeout)));
            }
        }),
        Edit::Insert { listener, host, route: at } => with_routes(ir, listener, host, |routes| {
            routes.insert(at.min(routes.len()), Arc::new(route("/new/", RouteAction::Forward(forward("dns").into()))));
        }),
        Edit::Remove { listener, host, route } => with_routes(ir, listener, host, |routes| {
            if route < routes.len() {
                routes.remove(route);
            }
        }),
        Edit::Clear { listener, host } => with_routes(ir, listener, host, Vec::clear),
        Edit::Cluster { index, timeout } => {
            if let Some(cluster) = ir.clusters.get_mut(index) {
                Arc::make_mut(cluster).connect_timeout = s(Duration::from_millis(timeout));
            }
        }
        Edit::AddCluster { name } => {
            let name = format!("c{name}");
            ir.clusters.push(Arc::new(cluster(&name, dns(DnsKind::Strict, &name))));
        }
        Edit::Respell => ir.delivery.spelling = if ir.delivery.spelling == OLD { Spelling::CURRENT } else { OLD },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_bytes_do_not_depend_on_memory(steps in prop::collection::vec((edit(), options()), 1..24)) {
        let mut ir = big();
        let mut memory = Emitted::new();
        for (edit, options) in &steps {
            apply(&mut ir, edit);
            let remembered = emit(&ir, options, &mut memory);
            let anew = emit(&ir, options, &mut Emitted::new());
            prop_assert_eq!(remembered.text(), anew.text());
            let (remembered, anew) = (output_map(&ir, options, &mut memory), output_map(&ir, options, &mut Emitted::new()));
            prop_assert!(remembered.iter().eq(anew.iter()));
        }
    }
}

#[test]
fn edit_keeps_unchanged_pieces_shared() {
    let mut ir = big();
    let mut memory = Emitted::new();
    let options = Options::default();
    let before = emit(&ir, &options, &mut memory);
    apply(&mut ir, &Edit::Timeout { listener: 0, host: 0, route: 31, timeout: 4321 });
    let after = emit(&ir, &options, &mut memory);
    let known: std::collections::BTreeSet<*const u8> = before.pieces().map(str::as_ptr).collect();
    let new: Vec<&str> = after.pieces().filter(|piece| piece.starts_with("{\"match\"") && !known.contains(&piece.as_ptr())).collect();
    assert_eq!(new, [r#"{"match":{"prefix":"/"},"route":{"cluster":"dns","timeout":"4.321s"}}"#]);
}
