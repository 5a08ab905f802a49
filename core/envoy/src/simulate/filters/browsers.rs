//! Simulates CORS and CSRF.
//!
//! Follows Envoy's `source/extensions/filters/http/cors/cors_filter.cc` and `csrf/csrf_filter.cc`.

use super::scopes::CorsAnswer;
use super::{Answer, Share, Stage, Verdict};
use crate::emit::pb;
use crate::simulate::HeaderChange;
use crate::simulate::matcher::takes;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use pb::hcm::HttpFilter;
use pb::http_filter::{cors::v3::Cors, csrf::v3::CsrfPolicy};

/// Only for routes that forward.
pub(super) fn cors(_: &HttpFilter, _: &Cors, stage: &Stage<'_, '_>) -> Verdict {
    let Some(policy) = stage.forwards().and_then(|_| stage.scopes.cors()) else {
        return Verdict::passes("does nothing: the route has no CORS policy");
    };
    if stage.share(policy.enabled, true) != Share::All {
        return Verdict::passes("is switched off");
    }
    let idle = || Verdict::passes("answers only preflight requests of browsers");
    let is_preflight = stage.request.method == "OPTIONS" && stage.header("access-control-request-method").is_some_and(|method| !method.is_empty());
    let Some(origin) = stage.header("origin").filter(|origin| !origin.is_empty() && is_preflight) else { return idle() };
    let allowed = policy.origins.iter().any(|matcher| takes(matcher, "*") || takes(matcher, origin));
    let answers = |why: String| Verdict::Answers(Answer { status: 200, why, as_it_is: true, ..Answer::default() });
    match (allowed, policy.forwards) {
        (true, _) => Verdict::Answers(Answer {
            status: 200,
            why: format!("it is a CORS preflight request from {origin}, which is an allowed origin{}", not_allowed(&policy.answer, stage)),
            as_it_is: true,
            headers: cors_headers(&policy.answer, origin),
            ..Answer::default()
        }),
        (false, Some(false)) => {
            answers(format!("it is a CORS preflight request from {origin}, which is not allowed: the response has no CORS headers"))
        }
        (false, _) => Verdict::passes(format!("passes the preflight request on: {origin} is not an allowed origin")),
    }
}

/// Methods that a browser sends without permission.
const SIMPLE_METHODS: [&str; 3] = ["GET", "HEAD", "POST"];

/// Says what the answer to a preflight request does not allow, so that the browser does not send the request itself (Fetch Standard, CORS-preflight
/// fetch). Header names that browsers always send never appear in the request for permission.
fn not_allowed(answer: &CorsAnswer<'_>, stage: &Stage<'_, '_>) -> String {
    let has_credentials = answer.credentials == Some(true);
    let lists = |list: &str, wanted: &str, is_case_sensitive: bool| {
        list.split(',')
            .map(str::trim)
            .any(|item| item == "*" && !has_credentials || item == wanted || !is_case_sensitive && item.eq_ignore_ascii_case(wanted))
    };
    let method = stage.header("access-control-request-method").unwrap_or_default();
    let mut missing: Vec<String> = Vec::new();
    if !SIMPLE_METHODS.contains(&method) && !lists(answer.methods, method, true) {
        missing.push(format!("the method {method}"));
    }
    let headers = stage.header("access-control-request-headers").unwrap_or_default().split(',').map(str::trim);
    missing.extend(headers.filter(|name| !name.is_empty() && !lists(answer.headers, name, false)).map(|name| format!("the header {name}")));
    match missing.is_empty() {
        true => String::new(),
        false => format!("; the answer does not allow {}, so a browser does not send the request", missing.join(" and ")),
    }
}

/// The headers of the answer to a preflight request.
fn cors_headers(answer: &CorsAnswer<'_>, origin: &str) -> Vec<HeaderChange> {
    let credentials = if answer.credentials == Some(true) { "true" } else { "" };
    let headers = [
        ("access-control-allow-origin", origin),
        ("access-control-allow-credentials", credentials),
        ("access-control-allow-methods", answer.methods),
        ("access-control-allow-headers", answer.headers),
        ("access-control-max-age", answer.max_age),
    ];
    let sent = headers.into_iter().filter(|(_, value)| !value.is_empty());
    sent.map(|(name, value)| HeaderChange { name: name.into(), value: Some(value.into()), action: "set", level: "envoy" }).collect()
}

pub(super) fn csrf(filter: &HttpFilter, of: &CsrfPolicy, stage: &Stage<'_, '_>) -> Verdict {
    let of = stage.scopes.first::<CsrfPolicy>(&filter.name).filter(|_| stage.forwards().is_some()).unwrap_or(of);
    let share = stage.share(of.filter_enabled.as_ref(), false);
    if share == Share::None || !matches!(stage.request.method.as_str(), "POST" | "PUT" | "DELETE" | "PATCH") {
        return Verdict::passes("rejects requests that change things and come from other sites");
    }
    let from = |name: &str| stage.header(name).map(site).filter(|site| !site.is_empty());
    let source = from("origin").or_else(|| from("referer")).unwrap_or_default();
    let target = site(&stage.prepared.authority);
    let is_same = !source.is_empty() && (source == target || of.additional_origins.iter().any(|matcher| takes(matcher, source)));
    let why = if source.is_empty() {
        "the request has neither an origin nor a referer".into()
    } else {
        format!("the request comes from {source}, and goes to {target}")
    };
    match share {
        _ if is_same => Verdict::passes("the request comes from its own site"),
        Share::Some(percent) => Verdict::asks(filter, format!("it is outside the {percent}% of requests that are checked ({why})"), Some(403)),
        _ => Verdict::answers(403, why),
    }
}

/// Returns host and port of a URL, or the unchanged text.
fn site(url: &str) -> &str {
    let Some((_, rest)) = url.split_once("://") else { return url };
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}
