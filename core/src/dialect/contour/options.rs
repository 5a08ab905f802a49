//! What changes the answer and is not in the YAML: how Contour is started.
//!
//! Nothing here is read from the process: hosts pass everything in. Defaults are those of the real deployment.

use crate::text::Str;
use alloc::vec::Vec;

/// Which of Contour's programs runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Controller {
    /// `contour serve`: the xDS server.
    #[default]
    Serve,
    /// `contour gateway-provisioner`: makes gateways from Gateways.
    GatewayProvisioner,
}

/// How Contour is started.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The program.
    pub controller: Controller,
    /// Its own flags as typed, `--root-namespaces=a,b`.
    pub arguments: Vec<Str>,
    /// The API server's validation is off; it prunes and defaults all the same.
    pub skip_validation: bool,
}

/// The namespace that Contour runs in.
pub const NAMESPACE: &str = "projectcontour";
