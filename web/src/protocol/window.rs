//! The calls that the page can make to its window. The window refuses all other calls. Does not carry them out; see `desktop/src/window_session.rs`.

use chancery_core::simulate::{Ending, WrittenRequest};
use serde::{Deserialize, Serialize};

/// A running Envoy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "in", rename_all = "kebab-case", deny_unknown_fields)]
pub enum EnvoyAt {
    /// An Envoy on this machine.
    Local {
        /// Its admin address.
        address: String,
    },
    /// An Envoy in a discovered pod.
    Pod {
        /// The kubeconfig context of its cluster.
        context: String,
        namespace: String,
        pod: String,
        /// The port of its admin interface.
        port: u16,
    },
}

/// A call from the page to its window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Call {
    /// Lists the contexts of the kubeconfig; answered by a list of names.
    Contexts,
    /// Lists the namespaces of a cluster; answered by a list of names.
    Namespaces { context: String },
    /// Follows a cluster.
    Connect {
        context: String,
        /// The namespace. If missing, all namespaces.
        namespace: Option<String>,
    },
    /// Lets the user choose a folder or a file, and follows it.
    Choose {
        /// Whether to choose a folder.
        folder: bool,
    },
    /// Follows a folder or file that was opened before. Refuses other paths: the page cannot name new paths.
    Reopen {
        /// The path, as the window reported it.
        path: String,
    },
    /// Stops following.
    Close,
    /// Writes a followed file; answered by whether there was a conflict.
    Save {
        name: String,
        text: String,
        /// The text that the user started with. If the file differs from it, the window does not overwrite the file.
        was: String,
    },
    /// Serves this text instead of the file's text, or the file's text again.
    Draft { name: String, text: Option<String> },
    /// Serves local Envoys on a port; 0 chooses a free port. Answered by the address.
    Serve { port: u16 },
    /// Stops serving Envoys.
    StopServing,
    /// Writes a bootstrap for an Envoy that connects to this window; answered by a string.
    Bootstrap,
    /// Finds Envoys in a cluster; answered by a list.
    FindEnvoys {
        /// The context. If missing, the followed context or the current context.
        context: Option<String>,
        /// Only this namespace.
        namespace: Option<String>,
        /// All pods with these labels, even if they do not look like Envoys.
        selector: Option<String>,
        /// The port of their admin interfaces.
        port: Option<u16>,
    },
    /// Reads the state of an Envoy: version, clusters, certificates.
    Overview { envoy: EnvoyAt },
    /// Reads statistics of an Envoy.
    Stats {
        envoy: EnvoyAt,
        /// Words that the names must contain.
        filter: String,
    },
    /// Reads an Envoy's configuration; answered by its `/config_dump`.
    Dump { envoy: EnvoyAt },
    /// Compares the source, the served configuration and an Envoy's configuration.
    Drift {
        envoy: EnvoyAt,
        /// The gateway of the Envoy, if there are several.
        gateway: Option<String>,
    },
    /// Sends a real request to an Envoy.
    Send {
        envoy: EnvoyAt,
        request: Box<WrittenRequest>,
        /// The simulated result.
        simulated: Box<Ending>,
    },
    /// Reports how many files have unsaved changes. If there are any, the window asks before it closes.
    Unsaved { files: u32 },
}
