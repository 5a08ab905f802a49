//! Collects the header changes of filters (header_mutation), which apply before the request is sent and after the response arrives.
//!
//! Follows Envoy's `source/extensions/filters/http/header_mutation/header_mutation.cc`. Does not change headers; see `headers`.

use super::scopes::Scopes;
use crate::emit::pb;
use alloc::vec::Vec;
use pb::hcm::{HttpConnectionManager, http_filter::ConfigType};
use pb::http_filter::header_mutation::v3::{HeaderMutation, HeaderMutationPerRoute, Mutations};
use pb::mutation;

/// Returns the changes of the request and of the response, in their order.
pub(in crate::simulate) fn header_mutations(manager: &HttpConnectionManager, scopes: &Scopes<'_>) -> [Vec<mutation::HeaderMutation>; 2] {
    let mut out = [Vec::new(), Vec::new()];
    let mut response: Vec<Vec<mutation::HeaderMutation>> = Vec::new();
    for filter in manager.http_filters.iter().filter(|filter| !scopes.is_disabled(filter)) {
        let Some(ConfigType::TypedConfig(config)) = &filter.config_type else { continue };
        let Some(of) = config.downcast_ref::<HeaderMutation>() else { continue };
        let mut routes: Vec<&Mutations> =
            scopes.all_of::<HeaderMutationPerRoute>(&filter.name).into_iter().filter_map(|route| route.mutations.as_ref()).collect();
        // The last change wins.
        if of.most_specific_header_mutations_wins {
            routes.reverse();
        }
        let all: Vec<&Mutations> = of.mutations.iter().chain(routes).collect();
        out[0].extend(all.iter().flat_map(|of| &of.request_mutations).cloned());
        response.push(all.iter().flat_map(|of| &of.response_mutations).cloned().collect());
    }
    // Responses pass the filters in the opposite order.
    out[1] = response.into_iter().rev().flatten().collect();
    out
}
