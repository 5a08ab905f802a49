//! Defines the documents that a user can query: Envoy's configuration in either form, the IR, the parts of an Application Gateway or an
//! nginx, and further outputs of controllers.
//!
//! Does not explain places in a document; see `trace`.

use alloc::vec::Vec;
use chancery_base::OutputMap;
use chancery_base::compilation::{Output, SideRef};
use chancery_base::ir::{Ir, Plain, Tree, appgw, nginx};
use chancery_base::output_map::Trace;
use chancery_envoy::emit::Emitted;
use chancery_text::{Limits, Node, Value, parse};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// One Envoy bootstrap.
    #[default]
    Envoy,
    /// Envoy's resources by kind.
    Xds,
    Ir,
}

/// A document, and where in it each origin went.
#[derive(Clone, Debug)]
pub struct Viewed {
    /// Its name on the command line.
    pub name: &'static str,
    pub root: Node,
    pub map: OutputMap,
}

impl View {
    pub const ALL: [View; 3] = [View::Envoy, View::Xds, View::Ir];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            View::Envoy => "envoy",
            View::Xds => "xds",
            View::Ir => "ir",
        }
    }
}

impl Viewed {
    /// Creates the document of an Application Gateway's parts.
    pub fn app_gateway(parts: &appgw::Gateway) -> Self {
        let which = appgw::Document::Parts;
        Self { name: "appgw", root: appgw::document(parts, which), map: chancery_app_gateway::output_map(parts, which) }
    }

    /// Creates the document of an nginx: its servers, locations and upstreams.
    pub fn nginx(of: &nginx::Nginx) -> Self {
        let tree = of.tree();
        let mut trace = Trace::on();
        trace_tree(&tree, &mut trace);
        Self { name: "model", root: tree.node(), map: OutputMap::new(trace.finish(), Vec::new()) }
    }

    /// Creates the document of a controller's further output, if the origins of its values are known.
    pub fn answer(output: &Output, of: SideRef<'_>) -> Option<Self> {
        let tree = (output.traced?)(of)?;
        let mut trace = Trace::on();
        trace_tree(&tree, &mut trace);
        Some(Self { name: output.name, root: tree.node(), map: OutputMap::new(trace.finish(), Vec::new()) })
    }

    /// Creates the document of an Envoy.
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
