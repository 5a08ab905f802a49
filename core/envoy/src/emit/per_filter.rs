//! Emits `typed_per_filter_config`: HTTP filter settings of one virtual host, route or cluster. Does not emit the filters themselves; see
//! `http_filter`.

use super::base::{json_object, text};
use super::cors::cors_policy;
use super::http_filter::{access, local_rate_limit};
use super::{Context, pb};
use alloc::collections::BTreeMap;
use alloc::string::String;
use chancery_base::ir::{HostRateLimits, PerFilter};
use chancery_base::output_map::Trace;
use chancery_base::resource::Sourced;
use chancery_text::Str;
use pb::Any;
use pb::http_filter as filter;

pub(super) fn configs(all: &[(Str, Sourced<PerFilter>)], cx: &Context<'_>, t: &mut Trace) -> BTreeMap<String, Any> {
    t.at("typed_per_filter_config", |t| {
        let each = all.iter().map(|(name, config)| {
            let config = t.at(name, |t| {
                t.here(config.origin);
                one(config, cx, t)
            });
            (text(name), config)
        });
        each.collect()
    })
}

fn one(config: &PerFilter, cx: &Context<'_>, t: &mut Trace) -> Any {
    use filter::ext_authz::v3::{CheckSettings, ExtAuthzPerRoute, ext_authz_per_route};
    use filter::jwt_authn::v3::{PerRouteConfig, per_route_config::RequirementSpecifier};
    use filter::lua::v3::{LuaPerRoute, lua_per_route};
    use filter::ratelimit::v3::{RateLimitPerRoute, rate_limit_per_route::VhRateLimitsOptions};
    use filter::rbac::v3::RbacPerRoute;
    match config {
        PerFilter::ExtAuthzDisabled => Any::pack(ExtAuthzPerRoute { r#override: Some(ext_authz_per_route::Override::Disabled(true)) }),
        PerFilter::ExtAuthzContext(extensions) => {
            let context_extensions = t.at("check_settings", |t| {
                t.at("context_extensions", |t| extensions.iter().map(|(name, value)| (text(name), text(t.field(name, value)))).collect())
            });
            let settings = CheckSettings { context_extensions, ..Default::default() };
            Any::pack(ExtAuthzPerRoute { r#override: Some(ext_authz_per_route::Override::CheckSettings(settings)) })
        }
        PerFilter::Cors(cors) => Any::pack(cors_policy(cors, cx, t).for_filter()),
        PerFilter::Rbac(rbac) => Any::pack(RbacPerRoute { rbac: Some(t.at("rbac", |t| access(rbac, cx, t))) }),
        PerFilter::LocalRateLimit(limit) => Any::pack(local_rate_limit(limit, cx, t)),
        PerFilter::HostRateLimits(limits) => {
            let option = match limits {
                HostRateLimits::Override => VhRateLimitsOptions::Override,
                HostRateLimits::Include => VhRateLimitsOptions::Include,
                HostRateLimits::Ignore => VhRateLimitsOptions::Ignore,
            };
            Any::pack(RateLimitPerRoute { vh_rate_limits: option as i32, ..Default::default() })
        }
        PerFilter::Jwt(provider) => Any::pack(PerRouteConfig { requirement_specifier: Some(RequirementSpecifier::RequirementName(text(provider))) }),
        PerFilter::Lua { script, context, context_also } => {
            t.here(&context_also.0);
            Any::pack(LuaPerRoute {
                r#override: Some(lua_per_route::Override::Name(text(script))),
                filter_context: Some(json_object(context)),
                ..Default::default()
            })
        }
    }
}
