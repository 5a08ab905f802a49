//! What the program around the page says, and what it is asked.
//!
//! What must not be here: what is done about it.

use serde::{Deserialize, Serialize};
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
    /// By what it is told apart from others.
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

/// What the window is asked.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Call {
    /// Which contexts there are; answered by a list of [`Context`].
    Contexts,
    /// Which namespaces a context has; answered by a list of names.
    Namespaces {
        /// The context.
        context: String,
    },
    /// Follow a cluster.
    Connect {
        /// The context.
        context: String,
        /// The one namespace; all unless given.
        namespace: Option<String>,
    },
    /// Let the person choose a folder or a file, and follow it.
    Choose {
        /// A folder.
        folder: bool,
    },
    /// Follow what was opened before.
    Reopen {
        /// Its path.
        path: String,
    },
    /// Follow nothing any more.
    Close,
    /// Write a file; answered by [`Saved`].
    Save {
        /// The input.
        name: String,
        /// Its text.
        text: String,
        /// The text that the person began with.
        was: String,
    },
    /// Take this text in place of the file's, or the file's again.
    Draft {
        /// The input.
        name: String,
        /// The text.
        text: Option<String>,
    },
    /// Serve Envoys on this port; 0 is a free one. Answered by the address.
    Serve {
        /// The port.
        port: u16,
    },
    /// Serve no Envoys any more.
    StopServing,
    /// How an Envoy starts that asks us; answered by its text.
    Bootstrap,
    /// What an Envoy on this machine has; answered by the text of its `/config_dump`.
    Dump {
        /// Its admin address.
        address: String,
    },
}

/// How saving went.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Saved {
    /// The file has another text than the one that the person began with, and was left alone.
    pub conflict: bool,
}
