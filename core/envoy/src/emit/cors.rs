//! Emits cross-origin resource sharing, for routes and for the filter.

use super::base::{runtime_percent, string_matcher, text};
use super::{Context, pb};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Cors;
use chancery_base::output_map::Trace;
use chancery_base::resource::Sourced;

/// CORS settings. Envoy has two messages with the same fields: one for routes, one for the filter.
pub(super) struct CorsPolicy {
    origins: Vec<pb::matcher::StringMatcher>,
    methods: String,
    headers: String,
    expose: String,
    max_age: String,
    credentials: Option<bool>,
    private_network: Option<bool>,
    enabled: Option<pb::base::RuntimeFractionalPercent>,
}

pub(super) fn cors_policy(cors: &Cors, cx: &Context<'_>, t: &mut Trace) -> CorsPolicy {
    let mut optional = |name: &str, value: &Option<Sourced<chancery_text::Str>>| t.optional(name, value).map(text).unwrap_or_default();
    CorsPolicy {
        methods: optional("allow_methods", &cors.allow_methods),
        headers: optional("allow_headers", &cors.allow_headers),
        expose: optional("expose_headers", &cors.expose_headers),
        max_age: optional("max_age", &cors.max_age),
        origins: t.sourced_list("allow_origin_string_match", &cors.allow_origins, |origin, _| {
            string_matcher(origin, cors.ignore_case, cx).unwrap_or_default()
        }),
        credentials: t.optional("allow_credentials", &cors.allow_credentials).copied(),
        private_network: t.optional("allow_private_network_access", &cors.allow_private_network).copied(),
        enabled: cors.runtime_key.as_ref().map(|key| t.own("filter_enabled", runtime_percent(100, Some(key)))),
    }
}

impl CorsPolicy {
    pub(super) fn for_route(self) -> pb::route::CorsPolicy {
        pb::route::CorsPolicy {
            allow_origin_string_match: self.origins,
            allow_methods: self.methods,
            allow_headers: self.headers,
            expose_headers: self.expose,
            max_age: self.max_age,
            allow_credentials: self.credentials,
            allow_private_network_access: self.private_network,
            enabled_specifier: self.enabled.map(pb::route::cors_policy::EnabledSpecifier::FilterEnabled),
            ..Default::default()
        }
    }

    pub(super) fn for_filter(self) -> pb::http_filter::cors::v3::CorsPolicy {
        pb::http_filter::cors::v3::CorsPolicy {
            allow_origin_string_match: self.origins,
            allow_methods: self.methods,
            allow_headers: self.headers,
            expose_headers: self.expose,
            max_age: self.max_age,
            allow_credentials: self.credentials,
            allow_private_network_access: self.private_network,
            filter_enabled: self.enabled,
            ..Default::default()
        }
    }
}
