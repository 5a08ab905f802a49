//! What the page may ask of the window around it. The window refuses everything else.
//!
//! What must not be here: doing it.

use chancery_core::simulate::{Ending, WrittenRequest};
use serde::{Deserialize, Serialize};

/// An Envoy that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "in", rename_all = "kebab-case", deny_unknown_fields)]
pub enum EnvoyAt {
    /// On this machine.
    Local {
        /// Its admin address.
        address: String,
    },
    /// In a pod that was found.
    Pod {
        /// The context of its cluster.
        context: String,
        /// Its namespace.
        namespace: String,
        /// Its name.
        pod: String,
        /// The port of its admin interface.
        port: u16,
    },
}

/// What the page may ask of the window around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Call {
    /// Which contexts the kubeconfig has, by name; answered by a list.
    Contexts,
    /// Which namespaces a cluster has; answered by a list of names.
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
    /// Follow what was opened before. Other paths are refused: a page names none of its own.
    Reopen {
        /// The path, as it was told.
        path: String,
    },
    /// Follow nothing any more.
    Close,
    /// Write a file back that is followed; answered by whether there was a conflict.
    Save {
        /// The input.
        name: String,
        /// Its text.
        text: String,
        /// The text that the person began with: another one in the file is left alone.
        was: String,
    },
    /// Serve this text in place of the file's, or the file's again.
    Draft {
        /// The input.
        name: String,
        /// The text.
        text: Option<String>,
    },
    /// Serve Envoys of this machine on this port; 0 is a free one. Answered by the address.
    Serve {
        /// The port.
        port: u16,
    },
    /// Serve no Envoys any more.
    StopServing,
    /// The bootstrap of an Envoy that asks this window; answered by its text.
    Bootstrap,
    /// Look for Envoys in a cluster; answered by those that were found.
    FindEnvoys {
        /// The context; the one that is followed, or the current one, unless given.
        context: Option<String>,
        /// Only in this namespace.
        namespace: Option<String>,
        /// All pods with these labels, whatever runs in them.
        selector: Option<String>,
        /// The port of their admin interfaces.
        port: Option<u16>,
    },
    /// How an Envoy is: version, clusters, certificates.
    Overview {
        /// Which.
        envoy: EnvoyAt,
    },
    /// Statistics of an Envoy.
    Stats {
        /// Which.
        envoy: EnvoyAt,
        /// Words that their names must have.
        filter: String,
    },
    /// What an Envoy has; answered by the text of its `/config_dump`.
    Dump {
        /// Which.
        envoy: EnvoyAt,
    },
    /// Compare the source, what is served of it, and what an Envoy has.
    Drift {
        /// Which.
        envoy: EnvoyAt,
        /// The gateway that it belongs to, where there are several.
        gateway: Option<String>,
    },
    /// Send a request to an Envoy for real.
    Send {
        /// Which.
        envoy: EnvoyAt,
        /// The request.
        request: Box<WrittenRequest>,
        /// What the simulation says.
        simulated: Box<Ending>,
    },
    /// How many files have unsaved changes. If there are any, the window asks before it closes.
    Unsaved {
        /// How many.
        files: u32,
    },
}
