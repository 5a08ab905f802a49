//! Decides whether two replies are equal. Places matter: the same value from another line is another reply, since `explain` shows the line.

use super::watch::Reply;
use crate::chain::{Chain, NodeKind};
use crate::entry::Entry;
use crate::instance::{Check, Instance};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Origin;

pub(super) fn reply(one: &Reply, two: &Reply) -> bool {
    match (one, two) {
        (Reply::Entry(one), Reply::Entry(two)) => match (one, two) {
            (Some(one), Some(two)) => entry(one, two),
            (one, two) => one.is_none() && two.is_none(),
        },
        (Reply::Entries(one), Reply::Entries(two)) => each(one, two, entry),
        (Reply::Chain(one), Reply::Chain(two)) => match (one, two) {
            (Some(one), Some(two)) => chain(one, two),
            (one, two) => one.is_none() && two.is_none(),
        },
        (Reply::NoDatacenter, Reply::NoDatacenter) => true,
        (Reply::Instances(one), Reply::Instances(two)) => each(one, two, instance),
        (Reply::Names(one), Reply::Names(two)) => one == two,
        (Reply::Upstreams(one), Reply::Upstreams(two)) => one == two,
        (Reply::Exports(one), Reply::Exports(two)) => one == two,
        (Reply::Trees(one), Reply::Trees(two)) => each(one, two, Tree::is_same),
        (Reply::Certificate { given: one }, Reply::Certificate { given: two }) => one == two,
        _ => false,
    }
}

fn each<T>(one: &[T], two: &[T], is_same: impl Fn(&T, &T) -> bool) -> bool {
    one.len() == two.len() && one.iter().zip(two).all(|(one, two)| is_same(one, two))
}

pub(super) fn entry(one: &Arc<Entry>, two: &Arc<Entry>) -> bool {
    let same = || one.kind == two.kind && one.name == two.name && one.object == two.object && one.key == two.key;
    Arc::ptr_eq(one, two) || (same() && one.tree.is_same(&two.tree))
}

pub(super) fn instance(one: &Arc<Instance>, two: &Arc<Instance>) -> bool {
    let check = |one: &Check, two: &Check| one == two && one.status.origin == two.status.origin;
    let names = || one.kind == two.kind && one.id == two.id && one.service == two.service && one.object == two.object && one.local == two.local;
    let addresses = || one.node == two.node && one.address == two.address && one.port == two.port && one.tagged == two.tagged;
    let rest = || one.weights == two.weights && one.native == two.native && one.peer == two.peer && each(&one.checks, &two.checks, check);
    let trees = || one.tree.is_same(&two.tree) && one.proxy.is_same(&two.proxy) && each(&one.probes, &two.probes, Tree::is_same);
    Arc::ptr_eq(one, two) || (names() && addresses() && rest() && trees())
}

fn chain(one: &Arc<Chain>, two: &Arc<Chain>) -> bool {
    Arc::ptr_eq(one, two) || (one == two && places(one).eq(places(two)) && trees(one).zip(trees(two)).all(|(one, two)| one.is_same(two)))
}

/// All origins in a chain, except those of values.
fn places(of: &Chain) -> impl Iterator<Item = Option<Origin>> {
    let of_resolvers = of.nodes.values().flat_map(|node| match &node.kind {
        NodeKind::Resolver(resolver) => Vec::from([resolver.connect_timeout.origin, resolver.request_timeout.origin]),
        NodeKind::Router(_) | NodeKind::Splitter(_) => Vec::new(),
    });
    of_resolvers.chain(of.targets.values().flat_map(|target| [target.only_passing.origin, target.connect_timeout.origin]))
}

/// The values of a chain.
fn trees(of: &Chain) -> impl Iterator<Item = &Tree> {
    let of_nodes = of.nodes.values().flat_map(|node| {
        let (routes, splits): (&[_], &[_]) = match &node.kind {
            NodeKind::Router(routes) => (routes, &[]),
            NodeKind::Splitter(splits) => (&[], splits),
            NodeKind::Resolver(_) => (&[], &[]),
        };
        routes.iter().map(|route| &route.definition).chain(splits.iter().map(|split| &split.definition)).chain(&node.load_balancer)
    });
    let of_targets = of.targets.values().map(|target| &target.definition);
    core::iter::once(&of.meta).chain(&of.extensions).chain(of_nodes).chain(of_targets)
}
