//! What the program around the page says. What it is asked is in the protocol, as a window reads it too.
//!
//! What must not be here: what is done about it.

use serde::Deserialize;
use serde_json::Value;

/// What the program says.
#[derive(Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Message {
    /// Something else is shown from now on, or the same in another way.
    Session(About),
    /// Inputs changed.
    Inputs(Change),
    /// Something happened.
    Event(Happened),
    /// How all sources are.
    Sources {
        /// By source and kind.
        sources: Vec<Source>,
    },
    /// All Envoys that are connected.
    Envoys {
        /// By node id.
        envoys: Vec<Envoy>,
    },
    /// An item of the window's menu that the page carries out was chosen.
    Menu {
        /// Its id.
        item: String,
    },
    /// A link to shared work came from outside.
    Link {
        /// The whole link.
        url: String,
    },
    /// A word to the person.
    Notice {
        /// A sentence.
        text: String,
    },
}

/// What is shown live.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct About {
    /// `folder`, `cluster` or `server`; empty for nothing.
    pub kind: String,
    /// What distinguishes it from others.
    pub id: u64,
    /// What people call it.
    pub title: String,
    /// Where Envoys are served, if they are.
    pub xds: Option<String>,
    /// Paths that were opened before, the last one first.
    pub recent: Vec<String>,
    /// How it is compiled, as options or their words; null for what suits people who look at a part of a configuration.
    pub options: Value,
}

/// Inputs that changed.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Change {
    /// Whether what is known is to be forgotten first.
    pub begins: bool,
    /// Whether this is all that belongs to it.
    pub ends: bool,
    /// Inputs that are new or have another text.
    pub put: Vec<Text>,
    /// Names of inputs that are gone.
    pub gone: Vec<String>,
}

/// An input as a page may see it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Text {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whether something in it is replaced by a stand-in.
    pub hidden: bool,
}

/// Something that happened, as the timeline of `chancery events` has it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Happened {
    /// What.
    pub event: String,
    /// When, in milliseconds since 1970.
    pub at_ms: f64,
    /// All else.
    #[serde(flatten)]
    pub rest: Value,
}

/// How a source is, or a kind of resources in it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Source {
    /// The source.
    pub source: String,
    /// The kind, or the source's name.
    pub kind: String,
    /// `synced`, `missing`, `forbidden` or `error`.
    pub state: String,
    /// More of it.
    pub detail: Option<String>,
}

/// An Envoy that is connected.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Envoy {
    /// Its node id.
    pub id: String,
    /// Its version, as it says.
    pub agent: String,
    /// Its gateway, where it has one.
    pub gateway: Option<String>,
    /// By the URL of the type.
    pub types: std::collections::BTreeMap<String, Acceptance>,
}

/// What an Envoy has of one type.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Acceptance {
    /// The version that it was sent last.
    pub sent: String,
    /// The version that it accepted last.
    #[serde(default)]
    pub accepted: Option<String>,
    /// What it rejected last.
    #[serde(default)]
    pub rejected: Option<Rejection>,
}

/// What an Envoy rejected.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Rejection {
    /// What it says.
    pub message: String,
    /// The resources that it names.
    pub resources: Vec<Blamed>,
}

/// A resource that was rejected.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Blamed {
    /// Its name.
    pub resource: String,
    /// What made it.
    pub places: Vec<Place>,
}

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Place {
    /// The input.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
}

/// A context of the kubeconfig.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Context {
    /// Its name.
    pub name: String,
    /// The name of its cluster.
    pub cluster: String,
    /// The namespace that it names.
    pub namespace: Option<String>,
    /// Whether it is the current one.
    pub current: bool,
    /// Why it cannot be used.
    pub problem: Option<String>,
}

/// How saving went.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Saved {
    /// The file has another text than the one that the person began with, and was left alone.
    pub conflict: bool,
}
