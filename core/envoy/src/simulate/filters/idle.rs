//! Decides whether a filter does nothing for requests whose route, virtual host or table does not configure it. Does not simulate it; see the
//! other modules.

use crate::emit::pb;
use pb::hcm::{HttpFilter, http_filter::ConfigType};
use pb::http_filter as http;
use pb::route::{Route, RouteConfiguration, VirtualHost, route::Action, route_action::ClusterSpecifier};

/// Whether a filter does nothing by itself: it is disabled, or its own configuration has no rule.
#[must_use]
pub fn is_idle(filter: &HttpFilter) -> bool {
    if filter.disabled {
        return true;
    }
    let Some(ConfigType::TypedConfig(config)) = &filter.config_type else { return false };
    if let Some(of) = config.downcast_ref::<http::rbac::v3::Rbac>() {
        return of.rules.is_none() && of.matcher.is_none() && of.shadow_rules.is_none() && of.shadow_matcher.is_none();
    }
    if let Some(of) = config.downcast_ref::<http::local_ratelimit::v3::LocalRateLimit>() {
        return of.token_bucket.is_none() && of.descriptors.is_empty();
    }
    if let Some(of) = config.downcast_ref::<http::ratelimit::v3::RateLimit>() {
        return of.rate_limits.is_empty();
    }
    if let Some(of) = config.downcast_ref::<http::jwt_authn::v3::JwtAuthentication>() {
        return of.rules.is_empty() && of.filter_state_rules.is_none();
    }
    if let Some(of) = config.downcast_ref::<http::fault::v3::HttpFault>() {
        return of.delay.is_none() && of.abort.is_none() && of.response_rate_limit.is_none();
    }
    if let Some(of) = config.downcast_ref::<http::header_mutation::v3::HeaderMutation>() {
        return of.mutations.as_ref().is_none_or(|mutations| *mutations == http::header_mutation::v3::Mutations::default());
    }
    if let Some(of) = config.downcast_ref::<http::lua::v3::Lua>() {
        return of.inline_code.is_empty() && of.default_source_code.is_none();
    }
    if let Some(of) = config.downcast_ref::<http::stateful_session::v3::StatefulSession>() {
        return of.session_state.is_none();
    }
    config.downcast_ref::<http::cors::v3::Cors>().is_some()
}

/// Whether a table configures a filter for all its requests.
#[must_use]
pub fn table_configures(table: &RouteConfiguration, filter: &str) -> bool {
    table.typed_per_filter_config.contains_key(filter)
}

/// Whether a virtual host or any of its routes configures a filter. Routes configure the filters for rate limits and CORS also by other fields.
#[must_use]
pub fn host_configures(host: &VirtualHost, filter: &str) -> bool {
    let by_fields = !host.rate_limits.is_empty() && filter.contains("ratelimit") || host.cors.is_some() && filter.contains("cors");
    by_fields || host.typed_per_filter_config.contains_key(filter) || host.routes.iter().any(|route| route_configures(route, filter))
}

fn route_configures(route: &Route, filter: &str) -> bool {
    let Some(Action::Route(action)) = &route.action else { return route.typed_per_filter_config.contains_key(filter) };
    let by_fields = !action.rate_limits.is_empty() && filter.contains("ratelimit") || action.cors.is_some() && filter.contains("cors");
    let by_share = || match &action.cluster_specifier {
        Some(ClusterSpecifier::WeightedClusters(all)) => all.clusters.iter().any(|share| share.typed_per_filter_config.contains_key(filter)),
        _ => false,
    };
    by_fields || route.typed_per_filter_config.contains_key(filter) || by_share()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pb::http_filter::rbac::v3::Rbac;

    fn filter(config: pb::Any, disabled: bool) -> HttpFilter {
        HttpFilter { name: "f".into(), config_type: Some(ConfigType::TypedConfig(config)), disabled, ..HttpFilter::default() }
    }

    #[test]
    fn filter_without_own_rules_is_idle() {
        let rules = || Rbac { rules: Some(pb::rbac::Rbac::default()), ..Rbac::default() };
        assert!(is_idle(&filter(pb::Any::pack(Rbac::default()), false)));
        assert!(!is_idle(&filter(pb::Any::pack(rules()), false)));
        assert!(is_idle(&filter(pb::Any::pack(rules()), true)));
        assert!(!is_idle(&HttpFilter::default()), "an unknown filter may do anything");
    }
}
