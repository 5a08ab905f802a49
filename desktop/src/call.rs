//! What a page may ask. Everything that is not said here is refused.
//!
//! What must not be here: doing it.

use serde::Deserialize;

/// What a page may ask.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Call {
    /// Which contexts the kubeconfig has: names alone.
    Contexts,
    /// Which namespaces a cluster has.
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
    /// Write a file back that is followed.
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
    /// Serve Envoys of this machine on this port; 0 is a free one.
    Serve {
        /// The port.
        port: u16,
    },
    /// Serve no Envoys any more.
    StopServing,
    /// The bootstrap of an Envoy that asks us.
    Bootstrap,
    /// What an Envoy on this machine has.
    Dump {
        /// Its admin address.
        address: String,
    },
}
