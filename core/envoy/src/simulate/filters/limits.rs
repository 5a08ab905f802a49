//! Simulates rate limits, body limits and injected faults.
//!
//! Descriptors are computed in `descriptors`. Follows Envoy's `local_ratelimit.cc`, `ratelimit.cc`, `buffer_filter.cc` and `fault_filter.cc` in `source/extensions/filters/http`. Does not
//! count: the number of earlier requests is unknown.

use super::descriptors::{Entry, descriptor};
use super::services::{cluster_of, query_service};
use super::{Answer, Share, Stage, Verdict};
use crate::emit::pb;
use crate::simulate::action::seconds;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use pb::hcm::HttpFilter;
use pb::http_filter::buffer::v3::{Buffer, BufferPerRoute, buffer_per_route};
use pb::http_filter::fault::v3::{HttpFault, fault_abort::ErrorType};
use pb::http_filter::local_ratelimit::v3::LocalRateLimit;
use pb::http_filter::ratelimit::v3::{RateLimit, RateLimitPerRoute, rate_limit_per_route::VhRateLimitsOptions};
use pb::kind::TokenBucket;

pub(super) fn local(filter: &HttpFilter, of: &LocalRateLimit, stage: &Stage<'_, '_>) -> Verdict {
    let of = stage.scopes.first::<LocalRateLimit>(&filter.name).unwrap_or(of);
    let is_on = stage.share(of.filter_enabled.as_ref(), false) != Share::None && stage.share(of.filter_enforced.as_ref(), false) != Share::None;
    let Some(default) = of.token_bucket.as_ref().filter(|_| is_on) else { return Verdict::passes("limits nothing here") };
    let status = of.status.as_ref().map(|status| status.code).filter(|code| *code >= 400).unwrap_or(429);
    let (matching, misses) = matching_buckets(of, stage);
    let uses_default = matching.is_empty() || of.always_consume_default_token_bucket.unwrap_or(true);
    // Controllers write the largest number where only descriptors limit.
    let default = Some(capacity(default)).filter(|_| uses_default && default.max_tokens != u32::MAX);
    let limits: Vec<String> = matching.into_iter().chain(default).collect();
    if limits.is_empty() {
        let misses = if misses.is_empty() { String::new() } else { format!(": {}", misses.join("; ")) };
        return Verdict::passes(format!("does not limit this request{misses}"));
    }
    Verdict::asks(filter, format!("the limit is not exceeded: {}", limits.join(", and ")), u32::try_from(status).ok())
}

fn capacity(bucket: &TokenBucket) -> String {
    let each = bucket.fill_interval.as_ref().map(seconds).unwrap_or_default();
    format!("{} requests at once, {} more every {each}", bucket.max_tokens, bucket.tokens_per_fill.unwrap_or(1))
}

/// Returns the buckets whose descriptors the request has, in words, and why descriptors are missing. Follows
/// `source/extensions/filters/common/local_ratelimit/local_ratelimit_impl.cc`: an entry without a value has a bucket for each value.
fn matching_buckets(of: &LocalRateLimit, stage: &Stage<'_, '_>) -> (Vec<String>, Vec<String>) {
    let of_route = stage.forwards().map(|action| action.rate_limits.as_slice()).unwrap_or_default();
    let of_host = stage.scopes.host.map(|host| host.rate_limits.as_slice()).unwrap_or_default();
    let outside = if of_route.is_empty() { of_host } else { of_route };
    let limits = if of.rate_limits.is_empty() { outside } else { &of.rate_limits };
    let (mut buckets, mut misses) = (Vec::new(), Vec::new());
    for limit in limits.iter().filter(|limit| limit.stage.unwrap_or_default() == of.stage) {
        let own = match descriptor(limit, stage) {
            Ok(own) => own,
            Err(why) => {
                misses.push(why);
                continue;
            }
        };
        for known in of.descriptors.iter().filter(|known| known.entries.len() == own.len()) {
            let fits = |(known, own): (&pb::descriptor::rate_limit_descriptor::Entry, &Entry)| {
                known.key == own.key && (known.value.is_empty() || own.value.as_deref() == Some(&known.value))
            };
            let Some(bucket) = known.token_bucket.as_ref().filter(|_| known.entries.iter().zip(&own).all(fits)) else { continue };
            let each = known.entries.iter().zip(&own).filter(|(known, _)| known.value.is_empty());
            let each: Vec<&str> = each.map(|(_, own)| own.of.as_str()).collect();
            let each = if each.is_empty() { String::new() } else { format!(" for each {}", each.join(" and ")) };
            buckets.push(format!("{}{each}", capacity(bucket)));
        }
    }
    (buckets, misses)
}

/// Envoy queries the service if the route or its host has descriptors for the request.
pub(super) fn by_service(filter: &HttpFilter, of: &RateLimit, stage: &Stage<'_, '_>) -> Verdict {
    let idle = || Verdict::passes("does not ask the service: no descriptor applies");
    let wants = if stage.prepared.internal { "internal" } else { "external" };
    let Some(action) = stage.forwards().filter(|_| matches!(of.request_type.as_str(), "" | "both") || of.request_type == wants) else {
        return idle();
    };
    let is_on = stage.share(of.filter_enabled.as_ref(), true) != Share::None && stage.share(of.filter_enforced.as_ref(), true) != Share::None;
    if !is_on || !stage.reaches_cluster(action) {
        return idle();
    }
    let per_route = stage.scopes.first::<RateLimitPerRoute>(&filter.name);
    let of_host = stage.scopes.host.map(|host| host.rate_limits.as_slice()).unwrap_or_default();
    let includes = action.include_vh_rate_limits == Some(true);
    let option = per_route.map(RateLimitPerRoute::vh_rate_limits).unwrap_or_default();
    let of_host = match option {
        VhRateLimitsOptions::Include => of_host,
        _ if includes => of_host,
        VhRateLimitsOptions::Override if action.rate_limits.is_empty() => of_host,
        VhRateLimitsOptions::Override | VhRateLimitsOptions::Ignore => &[],
    };
    let own = per_route.map(|of| of.rate_limits.as_slice()).filter(|all| !all.is_empty()).or(Some(&of.rate_limits)).filter(|all| !all.is_empty());
    let all = own.into_iter().flatten().chain(action.rate_limits.iter().chain(of_host).filter(|_| own.is_none()));
    let mut misses = Vec::new();
    let mut descriptors = Vec::new();
    for limit in all.filter(|limit| limit.stage.unwrap_or_default() == of.stage) {
        match descriptor(limit, stage) {
            Ok(entries) => descriptors.push(entries),
            Err(why) => misses.push(why),
        }
    }
    if descriptors.is_empty() {
        misses.dedup();
        return if misses.is_empty() { idle() } else { Verdict::passes(format!("does not ask the service: {}", misses.join("; "))) };
    }
    let cluster = of.rate_limit_service.as_ref().and_then(|service| service.grpc_service.as_ref()).and_then(cluster_of);
    let status = of.rate_limited_status.as_ref().and_then(|status| u32::try_from(status.code).ok()).filter(|code| *code >= 400);
    query_service(filter, cluster, "answers that the limit is not exceeded", status.or(Some(429)), Some(counted(&descriptors)))
}

/// Says which requests the service counts together.
fn counted(descriptors: &[Vec<Entry>]) -> String {
    let mut groups: Vec<String> = Vec::new();
    for entries in descriptors {
        let parts: Vec<&str> = entries.iter().filter(|entry| entry.distinguishes).map(|entry| entry.of.as_str()).collect();
        let group = if parts.is_empty() { "all requests together".to_owned() } else { format!("the requests of each {}", parts.join(" and ")) };
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    format!("the service counts {}", groups.join(", and "))
}

impl Stage<'_, '_> {
    /// Whether the route names an existing cluster.
    fn reaches_cluster(&self, action: &pb::route::RouteAction) -> bool {
        use pb::route::route_action::ClusterSpecifier;
        let known = |name: &str| self.gateway.cluster(name).is_some();
        match &action.cluster_specifier {
            Some(ClusterSpecifier::Cluster(name)) => known(name),
            Some(ClusterSpecifier::ClusterHeader(header)) => self.header(&header.to_ascii_lowercase()).is_some_and(known),
            Some(ClusterSpecifier::WeightedClusters(_)) => self.scopes.cluster.is_none_or(|of| known(&of.name)),
            _ => true,
        }
    }
}

/// A longer body is answered with 413. Only the declared length is known.
pub(super) fn buffer(filter: &HttpFilter, of: &Buffer, stage: &Stage<'_, '_>) -> Verdict {
    use buffer_per_route::Override;
    let of = match stage.scopes.first::<BufferPerRoute>(&filter.name).and_then(|of| of.r#override.as_ref()) {
        Some(Override::Disabled(true)) => return Verdict::passes("does not buffer the body: the route disables it"),
        Some(Override::Buffer(of)) => of,
        Some(Override::Disabled(false)) | None => of,
    };
    let most = of.max_request_bytes.unwrap_or_default();
    let length = stage.header("content-length").and_then(|text| text.parse::<u64>().ok());
    let may_have_body = stage.header("transfer-encoding").is_some() || matches!(stage.request.method.as_str(), "POST" | "PUT" | "PATCH");
    match length {
        Some(length) if length > most.into() => Verdict::answers(413, format!("the body of {length} bytes exceeds the limit of {most} bytes")),
        None if may_have_body => Verdict::asks(filter, format!("its body has at most {most} bytes"), Some(413)),
        _ => Verdict::passes(format!("buffers the whole body, at most {most} bytes")),
    }
}

pub(super) fn fault(filter: &HttpFilter, of: &HttpFault, stage: &Stage<'_, '_>) -> Verdict {
    let of = stage.scopes.first::<HttpFault>(&filter.name).unwrap_or(of);
    let cluster = || {
        stage.forwards().and_then(|action| match &action.cluster_specifier {
            Some(pb::route::route_action::ClusterSpecifier::Cluster(name)) => Some(name),
            _ => None,
        })
    };
    let node = stage.header("x-envoy-downstream-service-node").unwrap_or_default();
    let is_meant = (of.upstream_cluster.is_empty() || cluster() == Some(&of.upstream_cluster))
        && (of.downstream_nodes.is_empty() || of.downstream_nodes.iter().any(|known| known == node))
        && stage.takes_headers(&of.headers);
    let Some(abort) = of.abort.as_ref().filter(|_| is_meant) else {
        let delays = is_meant && of.delay.is_some();
        return if delays { Verdict::passes("delays requests") } else { Verdict::PASSES };
    };
    let key = if of.abort_percent_runtime.is_empty() { "fault.http.abort.abort_percent" } else { &of.abort_percent_runtime };
    let percentage = pb::base::RuntimeFractionalPercent { default_value: abort.percentage, runtime_key: key.to_owned() };
    let mut answer = Answer { why: "a fault is injected".to_owned(), ..Answer::default() };
    match &abort.error_type {
        Some(ErrorType::HttpStatus(status)) => answer.status = *status,
        Some(ErrorType::GrpcStatus(status)) => (answer.status, answer.grpc_status) = (200, Some(*status)),
        Some(ErrorType::HeaderAbort(_)) => match stage.header("x-envoy-fault-abort-request").and_then(|text| text.parse().ok()) {
            Some(status) if (200..600).contains(&status) => answer.status = status,
            _ => return Verdict::passes("aborts requests that ask for it by x-envoy-fault-abort-request"),
        },
        None => return Verdict::PASSES,
    }
    match stage.share(Some(&percentage), false) {
        Share::None => Verdict::PASSES,
        Share::All => Verdict::Answers(answer),
        Share::Some(percent) => Verdict::asks(filter, chance(percent), Some(answer.status)),
    }
}

fn chance(percent: f64) -> String {
    format!("it is outside the {percent}% of requests that are aborted")
}
