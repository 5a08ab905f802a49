//! Tracks the metadata that filters write for later filters, as far as the request determines it.
//!
//! Follows Envoy's `source/extensions/filters/common/rbac/matchers.cc` and `filter.cc` of `jwt_authn`. Does not predict the decisions of services.

use super::{HARMLESS, Stage, tokens};
use crate::emit::pb;
use crate::simulate::simulation::Credential;
use pb::hcm::{HttpFilter, http_filter::ConfigType};
use pb::http_filter::jwt_authn::v3::JwtAuthentication;
use pb::http_filter::{header_to_metadata::v3 as by_header, set_metadata::v3 as set};
use pb::matcher::{MetadataMatcher, metadata_matcher::path_segment::Segment};

/// The metadata namespace of `jwt_authn`, independent of the filter's name.
const JWT: &str = "envoy.filters.http.jwt_authn";

/// Further filters that write no metadata, or only under their own name.
const OTHERS: &[&str] = &[
    "envoy.extensions.filters.http.cors.v3.Cors",
    "envoy.extensions.filters.http.csrf.v3.CsrfPolicy",
    "envoy.extensions.filters.http.health_check.v3.HealthCheck",
    "envoy.extensions.filters.http.rbac.v3.RBAC",
    "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
    "envoy.extensions.filters.http.basic_auth.v3.BasicAuth",
    "envoy.extensions.filters.http.oauth2.v3.OAuth2",
    "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit",
    "envoy.extensions.filters.http.ratelimit.v3.RateLimit",
    "envoy.extensions.filters.http.buffer.v3.Buffer",
    "envoy.extensions.filters.http.fault.v3.HTTPFault",
];

/// The keys that lead to a value.
pub(super) fn path(of: &MetadataMatcher) -> impl Iterator<Item = &str> {
    of.path.iter().filter_map(|part| part.segment.as_ref()).map(|Segment::Key(key)| key.as_str())
}

/// Whether a request's metadata meets a condition, if the request determines it: a request without a token has no claims. A missing value never
/// matches.
pub(super) fn is_match(of: &MetadataMatcher, stage: &Stage<'_, '_>) -> Option<bool> {
    let key = path(of).next().filter(|_| of.filter == JWT)?;
    let is_left_out = |filter: &HttpFilter| {
        if stage.scopes.is_disabled(filter) {
            return true;
        }
        let Some(ConfigType::TypedConfig(config)) = &filter.config_type else { return false };
        if let Some(jwt) = config.downcast_ref::<JwtAuthentication>() {
            return tokens::leaves_nothing(filter, jwt, key, stage);
        }
        if let Some(set) = config.downcast_ref::<set::Config>() {
            return set.metadata_namespace != of.filter && set.metadata.iter().all(|one| one.metadata_namespace != of.filter);
        }
        if let Some(by_header) = config.downcast_ref::<by_header::Config>() {
            let mut pairs = by_header.request_rules.iter().flat_map(|rule| [&rule.on_header_present, &rule.on_header_missing]).flatten();
            return pairs.all(|pair| pair.metadata_namespace != of.filter);
        }
        let name = config.type_name();
        OTHERS.contains(&name) || HARMLESS.iter().any(|(harmless, _)| *harmless == name)
    };
    stage.before.iter().all(is_left_out).then_some(of.invert)
}

/// Returns the provider and issuer of the token whose claims a matcher reads.
pub(super) fn claim<'s>(of: &'s MetadataMatcher, before: &'s [HttpFilter]) -> Option<(&'s str, &'s str)> {
    let key = path(of).next().filter(|_| of.filter == JWT)?;
    before.iter().find_map(|filter| {
        let Some(ConfigType::TypedConfig(config)) = &filter.config_type else { return None };
        tokens::provider_of(config.downcast_ref::<JwtAuthentication>()?, key)
    })
}

/// Returns a token that the request lacks and whose claims an earlier filter would write.
pub(super) fn missing_credential(stage: &Stage<'_, '_>) -> Option<Credential> {
    stage.before.iter().filter(|filter| !stage.scopes.is_disabled(filter)).find_map(|filter| {
        let Some(ConfigType::TypedConfig(config)) = &filter.config_type else { return None };
        tokens::missing_claims(filter, config.downcast_ref::<JwtAuthentication>()?, stage)
    })
}
