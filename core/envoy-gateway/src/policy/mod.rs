//! Policies: BackendTrafficPolicy, ClientTrafficPolicy, SecurityPolicy, EnvoyExtensionPolicy and EnvoyPatchPolicy.
//!
//! Does not translate routes; see `translate`.

mod index;

pub(crate) use index::Index;

use super::translate::context::Translator;

/// Prepares what routes must know of policies before they are translated.
pub(crate) fn prepare(_: &mut Translator<'_>) {}

/// Applies EnvoyPatchPolicies, after listeners.
pub(crate) fn patches(_: &mut Translator<'_>) {}

/// Applies ClientTrafficPolicies, after routes.
pub(crate) fn client_traffic(_: &mut Translator<'_>) {}

/// Applies BackendTrafficPolicies, after ClientTrafficPolicies.
pub(crate) fn backend_traffic(_: &mut Translator<'_>) {}

/// Applies SecurityPolicies, after overlapping routes are reported.
pub(crate) fn security(_: &mut Translator<'_>) {}

/// Applies EnvoyExtensionPolicies, after SecurityPolicies.
pub(crate) fn extensions(_: &mut Translator<'_>) {}

/// Reads settings of a service that Envoy asks (`backendSettings`).
pub(crate) fn traffic_features(_: &chancery_base::ir::Tree) -> Result<Option<super::model::Traffic>, alloc::string::String> {
    Ok(None)
}
