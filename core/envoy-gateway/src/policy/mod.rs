//! Policies: BackendTrafficPolicy, ClientTrafficPolicy, SecurityPolicy, EnvoyExtensionPolicy and EnvoyPatchPolicy.
//!
//! Does not translate routes; see `translate`.

mod attach;
mod authentication;
mod authorization;
mod backend_traffic;
mod client_tls;
mod client_traffic;
mod extension;
mod headers;
mod indexing;
mod matching;
mod merge;
mod patch;
mod rate_limit;
mod reference;
mod scope_graph;
mod security;
mod target;

pub(crate) use matching::value_or_first;
pub(crate) use patch::report as report_patches;

use super::context::Translator;

/// Prepares what routes must know of policies before they are translated.
pub(crate) fn prepare(t: &mut Translator<'_>) {
    t.index = indexing::build(t);
}

/// Applies EnvoyPatchPolicies, after listeners.
pub(crate) fn patches(t: &mut Translator<'_>) {
    patch::attach(t);
}

/// Applies ClientTrafficPolicies, after routes.
pub(crate) fn client_traffic(t: &mut Translator<'_>) {
    client_traffic::run(t);
}

/// Applies BackendTrafficPolicies, after ClientTrafficPolicies.
pub(crate) fn backend_traffic(t: &mut Translator<'_>) {
    attach::run::<backend_traffic::BackendTraffic>(t);
}

/// Applies SecurityPolicies, after overlapping routes are reported.
pub(crate) fn security(t: &mut Translator<'_>) {
    attach::run::<security::SecurityPolicy>(t);
}

/// Applies EnvoyExtensionPolicies, after SecurityPolicies.
pub(crate) fn extensions(t: &mut Translator<'_>) {
    attach::run::<extension::ExtensionPolicy>(t);
}
