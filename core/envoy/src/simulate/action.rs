//! Simulates the action of a route: where the request goes and how it is rewritten, or the response.
//!
//! Follows Envoy's `source/common/router/config_impl.cc` and `router.cc`. Does not choose the route; see `run`.

use super::manager::Prepared;
use super::path::{split, without_query};
use crate::emit::pb;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use chancery_base::re2::engine::Finder;
use pb::matcher::RegexMatchAndSubstitute;
use pb::route::redirect_action::{PathRewriteSpecifier, SchemeRewriteSpecifier};
use pb::route::route_match::PathSpecifier;
use pb::route::{RedirectAction, RouteAction, RouteMatch};

/// Returns the length of the path prefix that a rewrite replaces, in bytes.
fn matched(of: &RouteMatch, path: &str) -> usize {
    match &of.path_specifier {
        Some(PathSpecifier::Prefix(prefix) | PathSpecifier::PathSeparatedPrefix(prefix)) => prefix.len(),
        Some(PathSpecifier::ConnectMatcher(_)) => 0,
        _ => without_query(path).len(),
    }
}

fn with_prefix(of: &RouteMatch, path: &str, prefix: &str) -> String {
    format!("{prefix}{}", path.get(matched(of, path)..).unwrap_or_default())
}

/// Returns `None` if the expression cannot be evaluated.
fn with_regex(rewrite: &RegexMatchAndSubstitute, path: &str) -> Option<String> {
    let bare = without_query(path);
    let regex = Finder::new(&rewrite.pattern.as_ref()?.regex).ok()?;
    Some(format!("{}{}", regex.replace_all(bare, &rewrite.substitution), path.get(bare.len()..).unwrap_or_default()))
}

/// Returns the rewritten path; `None` if the route does not rewrite it.
pub(super) fn rewritten(of: &RouteMatch, action: &RouteAction, path: &str, notes: &mut alloc::vec::Vec<String>) -> Option<String> {
    if !action.prefix_rewrite.is_empty() {
        return Some(with_prefix(of, path, &action.prefix_rewrite));
    }
    if let Some(rewrite) = &action.regex_rewrite {
        let new = with_regex(rewrite, path);
        if new.is_none() {
            notes.push("the expression of regex_rewrite cannot be evaluated here; the path is shown unchanged".to_owned());
        }
        return new;
    }
    if let Some(policy) = &action.path_rewrite_policy {
        notes.push(format!("path_rewrite_policy {} is an extension that is not simulated; the path is shown unchanged", policy.name));
    }
    if !action.path_rewrite.is_empty() {
        notes.push("path_rewrite is a format that is not simulated; the path is shown unchanged".to_owned());
    }
    None
}

/// `Location` of a redirect: `Utility::newUri` in `source/common/http/utility.cc`.
pub(super) fn location(of: &RouteMatch, redirect: &RedirectAction, prepared: &Prepared) -> String {
    let scheme = match &redirect.scheme_rewrite_specifier {
        Some(SchemeRewriteSpecifier::SchemeRedirect(scheme)) if !scheme.is_empty() => scheme.as_str(),
        Some(SchemeRewriteSpecifier::HttpsRedirect(true)) => "https",
        _ => prepared.forwarded_proto.as_str(),
    };
    let port = if redirect.port_redirect == 0 { String::new() } else { format!(":{}", redirect.port_redirect) };
    let host = if redirect.host_redirect.is_empty() { same_host(prepared, scheme, !port.is_empty()) } else { redirect.host_redirect.as_str() };
    let path = match &redirect.path_rewrite_specifier {
        Some(PathRewriteSpecifier::PrefixRewrite(prefix)) if !prefix.is_empty() => with_prefix(of, &prepared.path, prefix),
        Some(PathRewriteSpecifier::RegexRewrite(rewrite)) => with_regex(rewrite, &prepared.path).unwrap_or_else(|| prepared.path.clone()),
        _ => prepared.path.clone(),
    };
    let (bare, query) = split(&path);
    let kept = if redirect.strip_query { "" } else { query };
    match &redirect.path_rewrite_specifier {
        // A query in the redirect replaces the request's query.
        Some(PathRewriteSpecifier::PathRedirect(new)) if new.contains('?') => format!("{scheme}://{host}{port}{new}"),
        Some(PathRewriteSpecifier::PathRedirect(new)) if !new.is_empty() => format!("{scheme}://{host}{port}{new}{kept}"),
        _ => format!("{scheme}://{host}{port}{bare}{kept}"),
    }
}

/// Returns the request's host, without a port that belongs to the old scheme.
fn same_host<'p>(prepared: &'p Prepared, scheme: &str, new_port: bool) -> &'p str {
    let authority = prepared.authority.as_str();
    let end = if authority.starts_with('[') { authority.rfind("]:").map(|at| at + 1) } else { authority.rfind(':') };
    let Some((host, port)) = end.and_then(|end| authority.split_at_checked(end)) else { return authority };
    let was = prepared.forwarded_proto.as_str();
    let usual = scheme != was && ((was == "https" && port == ":443") || (was == "http" && port == ":80"));
    if new_port || usual { host } else { authority }
}

/// The status of a redirect.
pub(super) fn status(redirect: &RedirectAction) -> u32 {
    use pb::route::redirect_action::RedirectResponseCode as Code;
    match redirect.response_code() {
        Code::MovedPermanently => 301,
        Code::Found => 302,
        Code::SeeOther => 303,
        Code::TemporaryRedirect => 307,
        Code::PermanentRedirect => 308,
    }
}

/// The status if the cluster does not exist.
pub(super) fn not_found_status(action: &RouteAction) -> u32 {
    use pb::route::route_action::ClusterNotFoundResponseCode as Code;
    match action.cluster_not_found_response_code() {
        Code::ServiceUnavailable => 503,
        Code::NotFound => 404,
        Code::InternalServerError => 500,
    }
}

/// A duration in proto3's JSON form.
pub(super) fn seconds(of: &pb::Duration) -> String {
    if of.nanos == 0 {
        return format!("{}s", of.seconds);
    }
    let nanos = format!("{:09}", of.nanos.unsigned_abs());
    format!("{}.{}s", of.seconds, nanos.trim_end_matches('0'))
}

/// Returns the text of a body that the configuration contains.
pub(super) fn inline(source: &pb::base::DataSource) -> Option<String> {
    use pb::base::data_source::Specifier;
    match source.specifier.as_ref()? {
        Specifier::InlineString(text) => Some(text.to_string()),
        Specifier::InlineBytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Specifier::Filename(_) | Specifier::EnvironmentVariable(_) => None,
    }
}
