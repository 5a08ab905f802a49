//! Derives requests to try that a gateway permits: with the credential that the first request lacks, or with a path that the access rules name.
//! Does not check them; simulating a request shows that.

use super::sample_request::shortest;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{Gateway, WrittenRequest};
use pb::hcm::http_filter::ConfigType;
use pb::http_filter::rbac::v3::Rbac;
use pb::matcher::{StringMatcher, path_matcher, string_matcher::MatchPattern};
use pb::rbac::{Permission, permission::Rule};

/// At most this many paths are derived.
const MOST_PATHS: usize = 8;

/// Rules inside more rules than this are not read.
const MOST_DEPTH: usize = 16;

/// Returns the request with a placeholder for the credential that it lacks; `None` if it lacks none.
pub(super) fn with_credential(request: &WrittenRequest, config: &EnvoyConfig) -> Option<WrittenRequest> {
    let lacking = Gateway::new(config).simulate(&request.read().ok()?).lacks?;
    let mut with = request.clone();
    if lacking.in_query {
        let mark = if with.url.contains('?') { '&' } else { '?' };
        with.url.push_str(&alloc::format!("{mark}{}={}", lacking.name, lacking.value));
    } else {
        with.headers.push((lacking.name, lacking.value));
    }
    Some(with)
}

/// Returns the request with each path that the access rules of a gateway name.
pub(super) fn with_permitted_paths(request: &WrittenRequest, config: &EnvoyConfig) -> Vec<WrittenRequest> {
    let Some((scheme, rest)) = request.url.split_once("://") else { return Vec::new() };
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let with_path = |path: String| WrittenRequest { url: alloc::format!("{scheme}://{host}{path}"), ..request.clone() };
    permitted_paths(config).into_iter().map(with_path).collect()
}

fn permitted_paths(config: &EnvoyConfig) -> Vec<String> {
    let mut out = Vec::new();
    let filters = config.connection_managers().flat_map(|(_, manager)| &manager.http_filters);
    let rules = filters.filter_map(|filter| match &filter.config_type {
        Some(ConfigType::TypedConfig(config)) => config.downcast_ref::<Rbac>()?.rules.as_ref(),
        _ => None,
    });
    for permission in rules.flat_map(|rules| rules.policies.values()).flat_map(|policy| &policy.permissions) {
        collect_paths(permission, 0, &mut out);
    }
    out
}

fn collect_paths(permission: &Permission, depth: usize, out: &mut Vec<String>) {
    if depth > MOST_DEPTH || out.len() >= MOST_PATHS {
        return;
    }
    match &permission.rule {
        Some(Rule::AndRules(set) | Rule::OrRules(set)) => set.rules.iter().for_each(|rule| collect_paths(rule, depth + 1, out)),
        Some(Rule::UrlPath(of)) => {
            let Some(path_matcher::Rule::Path(matcher)) = &of.rule else { return };
            out.extend(path_of(matcher).filter(|path| path.starts_with('/') && !out.contains(path)));
        }
        _ => {}
    }
}

fn path_of(matcher: &StringMatcher) -> Option<String> {
    match matcher.match_pattern.as_ref()? {
        MatchPattern::Exact(text) | MatchPattern::Prefix(text) => Some(text.clone()),
        MatchPattern::SafeRegex(regex) => shortest(&regex.regex, "/"),
        MatchPattern::Suffix(_) | MatchPattern::Contains(_) | MatchPattern::Custom(_) => None,
    }
}
