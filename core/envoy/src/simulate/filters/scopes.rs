//! Finds the configuration of a filter for one request: on the filter, the virtual host, the route, or the cluster. Does not interpret it.

use crate::emit::pb;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use pb::hcm::HttpFilter;
use pb::route::weighted_cluster::ClusterWeight;
use pb::route::{Route, RouteConfiguration, VirtualHost};

/// The levels that configure filters for a request, the most specific first.
#[derive(Clone, Copy, Default)]
pub(in crate::simulate) struct Scopes<'a> {
    /// For weighted clusters, the one that was drawn.
    pub(in crate::simulate) cluster: Option<&'a ClusterWeight>,
    /// Without a route, Envoy reads only the filter's own configuration.
    pub(in crate::simulate) route: Option<&'a Route>,
    pub(in crate::simulate) host: Option<&'a VirtualHost>,
    pub(in crate::simulate) table: Option<&'a RouteConfiguration>,
}

impl<'a> Scopes<'a> {
    /// Returns each level's configuration of a filter, the most specific first.
    pub(super) fn all(&self, filter: &str) -> impl Iterator<Item = &'a pb::Any> {
        let maps: [Option<&'a BTreeMap<String, pb::Any>>; 4] = [
            self.cluster.map(|cluster| &cluster.typed_per_filter_config),
            self.route.map(|route| &route.typed_per_filter_config),
            self.host.map(|host| &host.typed_per_filter_config),
            self.table.map(|table| &table.typed_per_filter_config),
        ];
        let maps = maps.into_iter().flatten().filter(|_| self.route.is_some());
        maps.filter_map(|map| map.get(filter)).collect::<Vec<_>>().into_iter()
    }

    /// Returns the most specific configuration of a filter, if it has this message type.
    pub(super) fn first<M: 'static>(&self, filter: &str) -> Option<&'a M> {
        self.all(filter).find_map(|config| unwrapped(config).downcast_ref::<M>())
    }

    /// Returns all configurations of a filter with this message type, the most specific first.
    pub(super) fn all_of<M: 'static>(&self, filter: &str) -> Vec<&'a M> {
        self.all(filter).filter_map(|config| unwrapped(config).downcast_ref::<M>()).collect()
    }

    /// Whether a filter does not run.
    pub(super) fn is_disabled(&self, filter: &HttpFilter) -> bool {
        match self.all(&filter.name).next() {
            None => filter.disabled,
            Some(config) => config.downcast_ref::<pb::route::FilterConfig>().is_some_and(|of| of.disabled),
        }
    }

    /// Returns the effective CORS policy.
    pub(in crate::simulate) fn cors(&self) -> Option<Cors<'a>> {
        use pb::http_filter::cors::v3::CorsPolicy;
        let own: Vec<&'a CorsPolicy> = self.all("envoy.filters.http.cors").filter_map(|config| unwrapped(config).downcast_ref()).collect();
        if let Some(first) = own.first() {
            // Envoy takes each setting from the most specific level that has it, but the enabled state only from the first level.
            let origins = own.iter().map(|of| of.allow_origin_string_match.as_slice()).find(|all| !all.is_empty());
            let forwards = own.iter().find_map(|of| of.forward_not_matching_preflights);
            let answer = own.iter().map(|of| CorsAnswer {
                methods: &of.allow_methods,
                headers: &of.allow_headers,
                max_age: &of.max_age,
                credentials: of.allow_credentials,
            });
            return Some(Cors {
                origins: origins.unwrap_or_default(),
                enabled: first.filter_enabled.as_ref(),
                forwards,
                answer: CorsAnswer::of_levels(answer),
            });
        }
        let action = self.route.and_then(|route| match &route.action {
            Some(pb::route::route::Action::Route(action)) => action.cors.as_deref(),
            _ => None,
        });
        let policies: Vec<_> = action.into_iter().chain(self.host.and_then(|host| host.cors.as_deref())).collect();
        let first = policies.first()?;
        let enabled = first.enabled_specifier.as_ref().map(|pb::route::cors_policy::EnabledSpecifier::FilterEnabled(enabled)| enabled);
        let origins = policies.iter().map(|of| of.allow_origin_string_match.as_slice()).find(|all| !all.is_empty());
        let forwards = policies.iter().find_map(|of| of.forward_not_matching_preflights);
        let answer = policies.iter().map(|of| CorsAnswer {
            methods: &of.allow_methods,
            headers: &of.allow_headers,
            max_age: &of.max_age,
            credentials: of.allow_credentials,
        });
        Some(Cors { origins: origins.unwrap_or_default(), enabled, forwards, answer: CorsAnswer::of_levels(answer) })
    }
}

/// A CORS policy.
pub(in crate::simulate) struct Cors<'a> {
    pub(in crate::simulate) origins: &'a [pb::matcher::StringMatcher],
    pub(super) enabled: Option<&'a pb::base::RuntimeFractionalPercent>,
    /// Whether preflight requests of other origins are forwarded.
    pub(super) forwards: Option<bool>,
    pub(super) answer: CorsAnswer<'a>,
}

/// What the answer to an allowed preflight request permits; an empty string is not sent.
#[derive(Clone, Copy, Default)]
pub(super) struct CorsAnswer<'a> {
    pub(super) methods: &'a str,
    pub(super) headers: &'a str,
    pub(super) max_age: &'a str,
    pub(super) credentials: Option<bool>,
}

impl<'a> CorsAnswer<'a> {
    /// Takes each setting from the first level that has it.
    fn of_levels(levels: impl Iterator<Item = Self>) -> Self {
        let first = |own: &'a str, next: &'a str| if own.is_empty() { next } else { own };
        levels.fold(Self::default(), |all, level| Self {
            methods: first(all.methods, level.methods),
            headers: first(all.headers, level.headers),
            max_age: first(all.max_age, level.max_age),
            credentials: all.credentials.or(level.credentials),
        })
    }
}

/// Returns the content of a `FilterConfig`, or the message itself.
fn unwrapped(config: &pb::Any) -> &pb::Any {
    config.downcast_ref::<pb::route::FilterConfig>().and_then(|of| of.config.as_ref()).unwrap_or(config)
}
