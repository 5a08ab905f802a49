//! The documents that one may ask about: what Envoy gets, in either form, the IR, and the parts of an Application Gateway.
//!
//! What must not be here: what a place in a document means.

use crate::backend::envoy::{self, v3::Emitted};
use crate::backend::{self, OutputMap};
use crate::ir::{Ir, appgw};
use crate::text::{Limits, Node, Value, parse};

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
        Self { name: "appgw", root: appgw::document(parts, which), map: backend::appgw::output_map(parts, which) }
    }

    /// The document of an Envoy.
    pub fn new(ir: &Ir, view: View, emitted: &mut Emitted) -> Self {
        let document = match view {
            View::Envoy => envoy::Document::Bootstrap,
            View::Xds => envoy::Document::Resources,
            View::Ir => {
                let (root, map) = super::dump(ir);
                return Self { name: view.name(), root, map };
            }
        };
        let options = envoy::Options { document, ..envoy::Options::default() };
        let text = envoy::v3::emit(ir, &options, emitted).text();
        let map = envoy::v3::output_map(ir, &options, emitted);
        let limits = Limits { max_nodes: u32::MAX, max_bytes: u32::MAX, ..Limits::default() };
        let root = parse(&text, &limits).root.unwrap_or_else(|| Node::synthesised(Value::Null));
        Self { name: view.name(), root, map }
    }
}
