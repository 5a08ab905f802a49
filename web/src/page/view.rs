//! The views, and what can lie over the page: names alone.
//!
//! What must not be here: how any of them looks.

use chancery_web::protocol::Reach;

/// The views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// What refers to what.
    Graph,
    /// What Envoy does with requests, in order.
    Routes,
    /// The bootstrap.
    Envoy,
    /// The stages before it.
    Ir,
    /// What is wrong, and what had no effect.
    Findings,
    /// What becomes of a request.
    Try,
    /// What differs from another state.
    Compare,
    /// What is followed: sources, Envoys, what happened.
    Live,
}

impl View {
    /// Those that every page has, in the order of their tabs.
    pub const ALL: [View; 7] = [View::Graph, View::Routes, View::Envoy, View::Ir, View::Findings, View::Try, View::Compare];

    /// What the tab says.
    pub fn label(self) -> &'static str {
        match self {
            View::Graph => "Graph",
            View::Routes => "Routes",
            View::Envoy => "Envoy",
            View::Ir => "Stages",
            View::Findings => "Findings",
            View::Try => "Try",
            View::Compare => "Compare",
            View::Live => "Live",
        }
    }

    /// The word in addresses.
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

    /// The view of a word in an address.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.name() == name)
    }
}

/// What lies over the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Overlay {
    /// The examples.
    Gallery,
    /// The ways to bring work in.
    Open,
    /// The keys.
    Help,
    /// Work that was put aside.
    Sessions,
    /// The work as a link or a file.
    Share,
    /// Search for anything, and commands.
    Palette,
    /// All files.
    Files,
    /// Contexts of the kubeconfig.
    Connect,
    /// A link that came from outside of the window, before it is opened.
    Link(String),
    /// Why requests do not reach a resource.
    Reach(Box<Reach>),
    /// The page of a code.
    Page {
        /// The code.
        code: String,
        /// Markdown.
        text: String,
    },
}
