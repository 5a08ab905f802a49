//! What the page may ask of the window around it. The window refuses everything else.
//!
//! What must not be here: doing it.

use serde::{Deserialize, Serialize};

/// What the page may ask of the window around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// What an Envoy on this machine has; answered by the text of its `/config_dump`.
    Dump {
        /// Its admin address.
        address: String,
    },
    /// How many files have unsaved changes. If there are any, the window asks before it closes.
    Unsaved {
        /// How many.
        files: u32,
    },
}
