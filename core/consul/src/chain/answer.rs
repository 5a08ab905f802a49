//! A chain in the form of the API's answer.

use super::{Chain, Node, NodeKind, Target};
use crate::go;
use crate::names::DEFAULT;
use crate::schema::{entries, write};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_base::resource::Sourced;

/// The value, unless it is empty.
fn non_empty(text: &str) -> Tree {
    if text.is_empty() { Tree::NULL } else { text.into() }
}

fn flag(value: bool) -> Tree {
    if value { true.into() } else { Tree::NULL }
}

fn list<'a>(texts: impl IntoIterator<Item = &'a String>) -> Tree {
    Tree::from(texts.into_iter().map(|text| Tree::from(text.as_str())).collect::<Vec<_>>())
}

pub(crate) fn answer(chain: &Chain) -> Tree {
    let extensions: Vec<Tree> = chain.extensions.iter().map(|of| write(of, &entries::ENVOY_EXTENSION)).collect();
    let mut out = Tree::object([
        ("ServiceName", Tree::from(&chain.service)),
        ("Namespace", DEFAULT.into()),
        ("Partition", DEFAULT.into()),
        ("Datacenter", (&chain.datacenter).into()),
        ("CustomizationHash", non_empty(&chain.hash)),
        ("Default", flag(chain.default)),
        ("Protocol", non_empty(&chain.protocol)),
        ("ServiceMeta", if chain.meta.fields().is_empty() { Tree::NULL } else { chain.meta.clone() }),
        ("EnvoyExtensions", if extensions.is_empty() { Tree::NULL } else { extensions.into() }),
        ("StartNode", non_empty(&chain.start)),
        ("Nodes", Tree::object(chain.nodes.iter().map(|(key, of)| (key.as_str(), node(of))))),
        ("Targets", Tree::object(chain.targets.iter().map(|(id, of)| (id.as_str(), target(of))))),
    ]);
    // Without a virtual IP, both fields are null.
    let (auto, manual) = match &chain.virtual_ip {
        Some(ip) => (Tree::from(Vec::from([Tree::from(ip)])), Tree::from(Vec::new())),
        None => (Tree::NULL, Tree::NULL),
    };
    if let Plain::Object(fields) = &mut out.value {
        fields.0.push(("AutoVirtualIPs".into(), auto));
        fields.0.push(("ManualVirtualIPs".into(), manual));
    }
    out
}

fn node(node: &Node) -> Tree {
    let (kind, field, what) = match &node.kind {
        NodeKind::Router(routes) => ("router", "Routes", {
            let route = |route: &super::Route| {
                let definition = write(&route.definition, &entries::SERVICE_ROUTE);
                Tree::object([("Definition", definition), ("NextNode", non_empty(&route.next))])
            };
            Tree::from(routes.iter().map(route).collect::<Vec<_>>())
        }),
        NodeKind::Splitter(splits) => ("splitter", "Splits", {
            let split = |split: &super::Split| {
                let definition = write(&split.definition, &entries::SERVICE_SPLIT);
                let weight = if split.weight == 0.0 { Tree::NULL } else { number(split.weight) };
                Tree::object([("Definition", definition), ("Weight", weight), ("NextNode", non_empty(&split.next))])
            };
            Tree::from(splits.iter().map(split).collect::<Vec<_>>())
        }),
        NodeKind::Resolver(resolver) => ("resolver", "Resolver", {
            let failover = (!resolver.failover.is_empty()).then(|| Tree::object([("Targets", list(&resolver.failover))]));
            let request = resolver.request_timeout;
            Tree::object([
                ("Default", flag(resolver.default)),
                ("ConnectTimeout", duration(resolver.connect_timeout)),
                ("RequestTimeout", if *request == 0 { Tree::NULL } else { Tree::from(*request).or_from(request.origin) }),
                ("Target", non_empty(&resolver.target)),
                ("Failover", failover.into()),
            ])
        }),
    };
    let load_balancer = node.load_balancer.as_ref().map(|of| write(of, &entries::LOAD_BALANCER));
    Tree::object([("Type", Tree::from(kind)), ("Name", non_empty(&node.name)), (field, what), ("LoadBalancer", load_balancer.into())])
}

fn duration(of: Sourced<i64>) -> Tree {
    Tree::from(go::duration(*of)).or_from(of.origin)
}

/// JSON does not distinguish 50.0 from 50.
fn number(value: f64) -> Tree {
    if value == go::round(value) { (value as i64).into() } else { value.into() }
}

fn target(target: &Target) -> Tree {
    Tree::object([
        ("ID", non_empty(&target.id)),
        ("Service", non_empty(&target.service)),
        ("ServiceSubset", non_empty(&target.subset)),
        ("Namespace", non_empty(&target.within.namespace)),
        ("Partition", non_empty(&target.within.partition)),
        ("Datacenter", non_empty(&target.datacenter)),
        ("Peer", non_empty(&target.peer)),
        ("MeshGateway", Tree::object([("Mode", non_empty(&target.mesh_gateway))])),
        ("Subset", write(&target.definition, &entries::SERVICE_RESOLVER_SUBSET)),
        ("TransparentProxy", Tree::object([("DialedDirectly", flag(target.dialed_directly))])),
        ("ConnectTimeout", duration(target.connect_timeout)),
        ("External", flag(target.external)),
        ("SNI", non_empty(&target.sni)),
        ("Name", non_empty(&target.name)),
    ])
}
