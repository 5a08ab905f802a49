//! The messages from the host to the page. Does not define the page's calls; see `protocol::Call`.

use chancery_web::protocol::{Finding, From};
use serde::Deserialize;
use serde_json::Value;

/// A message from the host.
#[derive(Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Message {
    /// Other inputs are followed, or the same inputs with other options.
    Session(About),
    /// The same inputs are compiled with other options.
    Options {
        /// Options, or a string of command line options.
        options: Value,
    },
    Inputs(Change),
    Event(Happened),
    /// The state of all sources.
    Sources {
        /// By source and kind.
        sources: Vec<Source>,
    },
    /// All connected Envoys.
    Envoys {
        /// By node id.
        envoys: Vec<Envoy>,
        /// What they reject now.
        #[serde(default)]
        findings: Vec<Finding>,
    },
    /// The user chose a menu item that the page handles.
    Menu {
        item: String,
    },
    /// The user opened a link to exported work outside the window.
    Link {
        url: String,
    },
    /// A message for the user.
    Notice {
        text: String,
    },
}

/// The followed inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct About {
    /// `folder`, `cluster` or `server`; empty if nothing is followed.
    pub kind: String,
    pub id: u64,
    /// The display name.
    pub title: String,
    /// The address of the xDS server, if Envoys are served.
    pub xds: Option<String>,
    /// Paths that were opened before, latest first.
    pub recent: Vec<String>,
    /// Options, or a string of command line options. Null for the defaults of partial configurations.
    pub options: Value,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Change {
    /// Whether to drop the known inputs first.
    pub begins: bool,
    /// Whether this is the last part of the change.
    pub ends: bool,
    /// New and changed inputs.
    pub put: Vec<Text>,
    /// Names of removed inputs.
    pub gone: Vec<String>,
}

/// An input without secrets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Text {
    pub name: String,
    pub text: String,
    /// Whether a secret was replaced.
    pub hidden: bool,
}

/// An event, as in the timeline of `chancery events`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Happened {
    /// The kind of event.
    pub event: String,
    /// The time in milliseconds since 1970.
    pub at_ms: f64,
    /// The other fields.
    #[serde(flatten)]
    pub rest: Value,
}

/// The state of a source, or of one kind of resources in it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Source {
    pub source: String,
    /// The kind, or the source's name.
    pub kind: String,
    /// `synced`, `missing`, `forbidden` or `error`.
    pub state: String,
    pub detail: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Envoy {
    pub id: String,
    /// The version that it reports.
    pub agent: String,
    pub gateway: Option<String>,
    /// By type URL.
    pub types: std::collections::BTreeMap<String, Acceptance>,
}

/// The versions of one type.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Acceptance {
    /// The last sent version.
    pub sent: String,
    /// The last accepted version.
    #[serde(default)]
    pub accepted: Option<String>,
    /// The last rejection.
    #[serde(default)]
    pub rejected: Option<Rejection>,
    /// Names of resources that are not sent.
    #[serde(default)]
    pub withheld: Vec<String>,
    /// Names of resources that stay at their last accepted version, because an Envoy rejected the newest one.
    #[serde(default)]
    pub held: Vec<String>,
}

/// A rejection by an Envoy.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Rejection {
    /// Envoy's message.
    pub message: String,
    /// The resources that the message names.
    pub resources: Vec<Blamed>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Blamed {
    pub resource: String,
    /// The lines that caused the rejection, or produced the resource.
    pub places: Vec<Place>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Place {
    pub file: String,
    /// Counts from 1.
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Context {
    pub name: String,
    pub cluster: String,
    /// The context's default namespace.
    pub namespace: Option<String>,
    pub current: bool,
    /// Why it cannot be used.
    pub problem: Option<String>,
}

/// The result of saving a file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Saved {
    /// The file changed since the user started, so the window did not write it.
    pub conflict: bool,
}

/// Envoys of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct FoundEnvoys {
    /// The context of the cluster.
    pub context: String,
    /// The first Envoys.
    pub envoys: Vec<FoundEnvoy>,
    /// How many Envoys there are.
    pub count: usize,
    /// The namespace, if only one was searched.
    pub namespace: Option<String>,
    /// Whether the search stopped early because there are too many pods.
    pub is_cut: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct FoundEnvoy {
    pub namespace: String,
    pub pod: String,
    pub container: String,
    /// The port of its admin interface.
    pub port: u16,
    /// Whether all its containers are ready.
    pub ready: bool,
}

/// The state of an Envoy.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Overview {
    pub version: String,
    /// `LIVE`, or another server state.
    pub state: String,
    /// In seconds.
    pub uptime: u64,
    pub node: String,
    /// Updates that it rejected since it started, by type.
    pub rejected: Vec<(String, u64)>,
    pub clusters: Vec<ClusterState>,
    pub certificates: Vec<CertificateState>,
}

/// The state of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct ClusterState {
    pub name: String,
    pub endpoints: usize,
    pub healthy: usize,
    pub requests: u64,
    pub errors: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct CertificateState {
    /// `certificate`, or `authority`.
    pub kind: String,
    pub names: Vec<String>,
    /// Days until it expires.
    pub days: Option<i64>,
    pub expires: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Stats {
    pub stats: Vec<(String, u64)>,
    pub count: usize,
}

/// The differences between the source, the served configuration and an Envoy's configuration.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Drift {
    /// The gateway that the Envoy was compared with.
    pub gateway: String,
    pub parts: Vec<DriftedPart>,
    /// Uncertain parts of the comparison, and rejected updates.
    pub notes: Vec<String>,
}

/// A part that differs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct DriftedPart {
    pub kind: String,
    pub name: String,
    pub in_source: bool,
    pub in_served: bool,
    pub in_envoy: bool,
    pub fields: Vec<DriftedField>,
    /// The lines that produced it.
    pub origins: Vec<From>,
}

/// A field that differs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct DriftedField {
    pub path: String,
    /// The value in the source.
    pub source: Option<String>,
    /// The served value.
    pub served: Option<String>,
    /// The Envoy's value.
    pub envoy: Option<String>,
}

/// The response to a real request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct RealAnswer {
    /// The port of the listener.
    pub port: u16,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// The beginning of the body.
    pub body: String,
    /// Whether the body is longer.
    pub is_cut: bool,
    pub took_ms: u64,
    /// Whether it agrees with the simulation. Missing if that is unknown.
    pub agrees: Option<bool>,
    pub why: String,
}
