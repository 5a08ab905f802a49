//! The names of the views and overlays.

use chancery_web::protocol::Reach;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The graph of references.
    Graph,
    /// The routes in Envoy's order.
    Routes,
    /// The bootstrap.
    Envoy,
    /// The stages before the bootstrap.
    Ir,
    /// Findings, and inputs without an effect.
    Findings,
    /// The simulation of a request.
    Try,
    /// The differences from another state.
    Compare,
    /// The followed sources, Envoys and events.
    Live,
}

impl View {
    /// The views of every page, in the order of their tabs.
    pub const ALL: [View; 7] = [View::Graph, View::Routes, View::Envoy, View::Ir, View::Findings, View::Try, View::Compare];

    pub fn label(self) -> &'static str {
        match self {
            View::Graph => "Graph",
            View::Routes => "Routes",
            View::Envoy => "Envoy",
            View::Ir => "How it is built",
            View::Findings => "Findings",
            View::Try => "Try",
            View::Compare => "Compare",
            View::Live => "Live",
        }
    }

    /// The name in addresses.
    pub fn name(self) -> &'static str {
        match self {
            View::Graph => "graph",
            View::Routes => "routes",
            View::Envoy => "envoy",
            View::Ir => "ir",
            View::Findings => "findings",
            View::Try => "try",
            View::Compare => "compare",
            View::Live => "live",
        }
    }

    /// The view with this name. `stages` is another name of the view of stages.
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "stages" { View::Ir.name() } else { name };
        Self::ALL.into_iter().find(|view| view.name() == name)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Overlay {
    /// The examples.
    Gallery,
    /// The ways to open files.
    Open,
    /// The keyboard shortcuts.
    Help,
    /// Earlier sessions.
    Sessions,
    /// The export as a link or a file.
    Share,
    /// The options of the controller.
    Options,
    /// Search and commands.
    Palette,
    /// All files.
    Files,
    /// The contexts of the kubeconfig.
    Connect,
    /// A link from outside the window, before it is opened.
    Link(String),
    /// Why requests do not reach a resource.
    Reach(Box<Reach>),
    /// The documentation of a finding code.
    Page {
        code: String,
        /// Markdown.
        text: String,
    },
}
