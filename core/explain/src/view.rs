//! The documents that one may ask about: what Envoy gets, in either form, the IR, the parts of an Application Gateway, and what controllers answer besides.
//!
//! What must not be here: what a place in a document means.

use alloc::vec::Vec;
use chancery_base::OutputMap;
use chancery_base::compilation::{Output, SideRef};
use chancery_base::ir::{Ir, Plain, Tree, appgw};
use chancery_base::output_map::Trace;
use chancery_envoy::emit::Emitted;
use chancery_text::{Limits, Node, Value, parse};

/// Which document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// One Envoy bootstrap.
    #[default]
    Envoy,
    /// Envoy's resources by kind.
    Xds,
    /// The IR.
    Ir,
}

/// A document, and where in it each origin went.
#[derive(Clone, Debug)]
pub struct Viewed {
    /// The word by which the command line names it.
    pub name: &'static str,
    /// The document.
    pub root: Node,
    /// Where each origin went.
    pub map: OutputMap,
}

impl View {
    /// All of them.
    pub const ALL: [View; 3] = [View::Envoy, View::Xds, View::Ir];

    /// The word by which the command line names it.
    pub fn name(self) -> &'static str {
        match self {
            View::Envoy => "envoy",
            View::Xds => "xds",
            View::Ir => "ir",
        }
    }
}

impl Viewed {
    /// The parts of an Application Gateway.
    pub fn app_gateway(parts: &appgw::Gateway) -> Self {
        let which = appgw::Document::Parts;
        Self { name: "appgw", root: appgw::document(parts, which), map: chancery_app_gateway::output_map(parts, which) }
    }

    /// What a controller answers besides, where it is known where its values come from.
    pub fn answer(output: &Output, of: SideRef<'_>) -> Option<Self> {
        let tree = (output.traced?)(of)?;
        let mut trace = Trace::on();
        trace_tree(&tree, &mut trace);
        Some(Self { name: output.name, root: tree.node(), map: OutputMap::new(trace.finish(), Vec::new()) })
    }

    /// The document of an Envoy.
    pub fn new(ir: &Ir, view: View, emitted: &mut Emitted) -> Self {
        let document = match view {
            View::Envoy => chancery_envoy::Document::Bootstrap,
            View::Xds => chancery_envoy::Document::Resources,
            View::Ir => {
                let (root, map) = super::dump(ir);
                return Self { name: view.name(), root, map };
            }
        };
        let options = chancery_envoy::Options { document, ..chancery_envoy::Options::default() };
        let text = chancery_envoy::emit::emit(ir, &options, emitted).text();
        let map = chancery_envoy::emit::output_map(ir, &options, emitted);
        let limits = Limits { max_nodes: u32::MAX, max_bytes: u32::MAX, ..Limits::default() };
        let root = parse(&text, &limits).root.unwrap_or_else(|| Node::synthesised(Value::Null));
        Self { name: view.name(), root, map }
    }
}

fn trace_tree(tree: &Tree, t: &mut Trace) {
    t.here(tree.origin);
    match &tree.value {
        Plain::Object(fields) => fields.0.iter().for_each(|(name, value)| t.at(name, |t| trace_tree(value, t))),
        Plain::List(items) => items.iter().enumerate().for_each(|(at, item)| t.item(at, |t| trace_tree(item, t))),
        _ => {}
    }
}
