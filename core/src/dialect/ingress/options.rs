//! What changes the answer and is not in the YAML: how the controller is started, and what Azure answers.
//!
//! Nothing here is read from the process: hosts pass everything in.

use crate::text::Str;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;

/// How the controller is started, and what Azure answers.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The gateway as it is now, as ARM JSON; an empty one unless given.
    pub existing_gateway: Option<GatewayFile>,
    /// Variables of the controller's pod; defaults are those of its Helm chart.
    pub env: BTreeMap<Str, Str>,
    /// The addresses of public addresses, by their ids; every one is 203.0.113.10 unless given.
    pub public_ips: Option<BTreeMap<Str, Str>>,
    /// What Azure answers when the gateway is asked for, instead of the gateway.
    pub get_error: Option<Str>,
    /// What Azure answers when the gateway is changed, instead of changing it.
    pub update_error: Option<Str>,
    /// The cluster is older than 1.19: Ingresses are those of `extensions/v1beta1`.
    pub old_ingress_api: bool,
}

/// A file that the host has read.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GatewayFile {
    /// Its name, for messages.
    pub name: Str,
    /// What is in it.
    pub text: Arc<str>,
}
