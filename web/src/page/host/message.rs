//! What the program around the page says. What it is asked is in the protocol, as a window reads it too.
//!
//! What must not be here: what is done about it.

use chancery_web::protocol::From;
use serde::Deserialize;
use serde_json::Value;

/// What the program says.
#[derive(Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Message {
    /// Something else is shown from now on, or the same in another way.
    Session(About),
    /// The same is compiled in another way.
    Options {
        /// As options or their words.
        options: Value,
    },
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

/// Envoys that were found in a cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct FoundEnvoys {
    /// The context of the cluster.
    pub context: String,
    /// The first of them.
    pub envoys: Vec<FoundEnvoy>,
    /// How many there are.
    pub count: usize,
    /// The only namespace that was looked into.
    pub namespace: Option<String>,
    /// Whether there are more pods than were looked at.
    pub is_cut: bool,
}

/// A pod with an Envoy.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct FoundEnvoy {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub pod: String,
    /// The container.
    pub container: String,
    /// The port of its admin interface.
    pub port: u16,
    /// Whether all its containers are ready.
    pub ready: bool,
}

/// How an Envoy is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Overview {
    /// Its version.
    pub version: String,
    /// `LIVE`, or what it does instead.
    pub state: String,
    /// Since when it runs, in seconds.
    pub uptime: u64,
    /// The id by which it asks its management server.
    pub node: String,
    /// Updates that it rejected since it started, by what they were of.
    pub rejected: Vec<(String, u64)>,
    /// Its clusters.
    pub clusters: Vec<ClusterState>,
    /// Its certificates.
    pub certificates: Vec<CertificateState>,
}

/// How a cluster is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct ClusterState {
    /// Its name.
    pub name: String,
    /// How many endpoints it has.
    pub endpoints: usize,
    /// How many of them are healthy.
    pub healthy: usize,
    /// Requests that were sent to them.
    pub requests: u64,
    /// Those that failed.
    pub errors: u64,
}

/// A certificate that an Envoy has.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct CertificateState {
    /// `certificate`, or `authority`.
    pub kind: String,
    /// The names that it is for.
    pub names: Vec<String>,
    /// Days until it expires.
    pub days: Option<i64>,
    /// When it expires.
    pub expires: String,
}

/// Statistics of an Envoy.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Stats {
    /// By name.
    pub stats: Vec<(String, u64)>,
    /// How many there are.
    pub count: usize,
}

/// The source, what is served of it, and what an Envoy has.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Drift {
    /// The gateway that the Envoy was compared with.
    pub gateway: String,
    /// What is not the same.
    pub parts: Vec<DriftedPart>,
    /// What is not certain, and what Envoy refused.
    pub notes: Vec<String>,
}

/// A part of which the three are not the same.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct DriftedPart {
    /// What it is.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Whether the source has it.
    pub in_source: bool,
    /// Whether it is served.
    pub in_served: bool,
    /// Whether the Envoy has it.
    pub in_envoy: bool,
    /// Fields that are not the same.
    pub fields: Vec<DriftedField>,
    /// What made it, in the source.
    pub origins: Vec<From>,
}

/// A field of which the three are not the same.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct DriftedField {
    /// Its path.
    pub path: String,
    /// By the source.
    pub source: Option<String>,
    /// As it is served.
    pub served: Option<String>,
    /// As the Envoy has it.
    pub envoy: Option<String>,
}

/// The answer to a request that was sent for real.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct RealAnswer {
    /// The port that it was sent to.
    pub port: u16,
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The beginning of the body.
    pub body: String,
    /// Whether the body goes on behind that.
    pub is_cut: bool,
    /// Milliseconds until it was there.
    pub took_ms: u64,
    /// Whether that is what the simulation says; nothing where it cannot be known.
    pub agrees: Option<bool>,
    /// Why.
    pub why: String,
}
