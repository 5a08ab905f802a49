//! Lowers the per-host and per-route settings of HTTP filters: CORS, addresses, rate limits, cookies. Does not lower the filters; see `filter`.

use super::Lowering;
use super::matching::regex;
use crate::model::{CookieRewrite, CorsPolicy, IpFilter, LocalRateLimit, MatchType, RateLimitDescriptor, RateLimitEntry, Timeout};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::ir::{
    AppendAction, Cors, HeaderMutations, HeaderToAdd, Json, PerFilter, RateLimitAction, Rbac, RbacAction, StringMatch, TokenBucket,
};
use chancery_base::resource::{Also, Sourced};
use chancery_text::Str;

/// The script that changes cookies; routes pass it the changes.
pub(super) const COOKIE_SCRIPT: &str = "cookie_rewrite.lua";

pub(super) fn cors(of: &CorsPolicy) -> PerFilter {
    let joined = |values: &[Sourced<Str>]| {
        let first = values.first()?;
        let texts: Vec<&str> = values.iter().map(|value| value.value.as_str()).collect();
        Some(Sourced::new(Str::from(texts.join(",")), first.origin))
    };
    let origin = |of: &Sourced<(MatchType, Str)>| {
        let (kind, text) = &of.value;
        let matcher = if *kind == MatchType::Regex { StringMatch::Regex(regex(text.clone())) } else { StringMatch::Exact(text.clone()) };
        Sourced::new(matcher, of.origin)
    };
    let max_age = match of.max_age.value {
        Timeout::Default => None,
        Timeout::Disabled => Some(Sourced::new("0".into(), of.max_age.origin)),
        Timeout::After(time) => Some(Sourced::new(format!("{:.0}", time.as_secs_f64()).into(), of.max_age.origin)),
    };
    PerFilter::Cors(Box::new(Cors {
        allow_origins: of.allow_origin.iter().map(origin).collect(),
        allow_methods: joined(&of.allow_methods),
        allow_headers: joined(&of.allow_headers),
        expose_headers: joined(&of.expose_headers),
        max_age,
        allow_credentials: Some(of.allow_credentials),
        runtime_key: None,
        ignore_case: true,
        allow_private_network: Some(of.allow_private_network),
    }))
}

pub(super) fn ip_filter(of: &IpFilter) -> Sourced<PerFilter> {
    let action = if of.allow { RbacAction::Allow } else { RbacAction::Deny };
    let rbac = Rbac { action, policy: "ip-rules".into(), principals: of.rules.clone() };
    Sourced::new(PerFilter::Rbac(rbac), of.rules.first().and_then(|rule| rule.origin))
}

impl Lowering<'_> {
    /// The limit of a host or one of its routes.
    pub(super) fn local_rate_limit(&mut self, of: &LocalRateLimit, host: &str) -> PerFilter {
        let mut add = Vec::new();
        for (name, value) in &of.response_headers {
            let Some(name) = self.header_name(name, value.origin) else { continue };
            add.push(Sourced::new(HeaderToAdd { name, value: value.value.clone(), action: AppendAction::Overwrite }, value.origin));
        }
        PerFilter::LocalRateLimit(chancery_base::ir::LocalRateLimit {
            stat_prefix: format!("vhost.{host}").into(),
            bucket: Some(TokenBucket { max_tokens: of.max_tokens, tokens_per_fill: of.tokens_per_fill, fill_interval: of.fill_interval }),
            status: Some(of.status).filter(|status| status.value > 0).and_then(|status| self.status(status)),
            response_headers: HeaderMutations { add, remove: Vec::new() },
        })
    }

    pub(super) fn rate_limits(&mut self, of: &Sourced<Vec<RateLimitDescriptor>>) -> Vec<Sourced<chancery_base::ir::RateLimitDescriptor>> {
        let mut descriptors = Vec::new();
        for descriptor in &of.value {
            let actions = descriptor.entries.iter().map(|entry| Some(Sourced::new(self.rate_limit_action(entry)?, entry.origin)));
            // A descriptor without one of its entries would count other requests.
            let Some(actions) = actions.collect::<Option<Vec<_>>>() else { continue };
            let origin = actions.first().and_then(|action| action.origin).or(of.origin);
            descriptors.push(Sourced::new(chancery_base::ir::RateLimitDescriptor { stage: None, actions }, origin));
        }
        descriptors
    }

    fn rate_limit_action(&mut self, entry: &Sourced<RateLimitEntry>) -> Option<RateLimitAction> {
        Some(match &entry.value {
            RateLimitEntry::GenericKey { key, value } => RateLimitAction::GenericKey { key: key.clone(), value: value.clone() },
            RateLimitEntry::RequestHeader { header, key } => {
                RateLimitAction::RequestHeader { key: key.clone(), header: self.header_name(header, entry.origin)? }
            }
            RateLimitEntry::HeaderValueMatch { headers, expect_match, value } => RateLimitAction::HeaderValueMatch {
                headers: headers.iter().map(|header| self.header_match(header)).collect::<Option<_>>()?,
                expect_match: *expect_match,
                value: value.clone(),
            },
            RateLimitEntry::RemoteAddress => RateLimitAction::RemoteAddress,
        })
    }
}

/// The argument of the script for cookies: attributes by cookie. A cluster's override the route's.
pub(super) fn cookies(route: &[Sourced<CookieRewrite>], cluster: &[Sourced<CookieRewrite>]) -> Option<Sourced<PerFilter>> {
    let mut rules: BTreeMap<Str, BTreeMap<&'static str, Json>> = BTreeMap::new();
    for cookie in route.iter().chain(cluster) {
        let rule = rules.entry(cookie.name.clone()).or_default();
        let text = |value: &Option<Sourced<Str>>| value.as_ref().map(|value| Json::String(value.value.clone()));
        let attributes = [
            ("Path", text(&cookie.path)),
            ("Domain", text(&cookie.domain)),
            ("Secure", cookie.secure.as_ref().map(|secure| Json::Bool(secure.value))),
            ("SameSite", text(&cookie.same_site)),
        ];
        rule.extend(attributes.into_iter().filter_map(|(name, value)| Some((name, value?))));
    }
    let origin = route.iter().chain(cluster).next()?.origin;
    let rule = |rule: BTreeMap<&'static str, Json>| Json::Object(rule.into_iter().map(|(name, value)| (Str::new_static(name), value)).collect());
    let rules = Json::Object(rules.into_iter().map(|(name, of)| (name, rule(of))).collect());
    let context = vec![(Str::new_static("cookie_rewrite_rules"), rules)];
    let context_also = Also(route.iter().chain(cluster).skip(1).filter_map(|cookie| cookie.origin).collect());
    Some(Sourced::new(PerFilter::Lua { script: Str::new_static(COOKIE_SCRIPT), context, context_also }, origin))
}

/// Whether no key in the set is secret: neither symmetric nor the private half of a pair.
pub(super) fn is_public(jwks: &str) -> bool {
    let packed = packed(jwks);
    !["\"k\":", "\"d\":"].into_iter().any(|member| packed.contains(member))
}

fn packed(jwks: &str) -> String {
    jwks.split_ascii_whitespace().collect()
}
