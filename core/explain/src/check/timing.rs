//! Reports timeouts and retries that contradict each other. The dialects report invalid single values.

use super::whole::{Whole, clusters_of, is_written};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use chancery_base::diagnostic::{Place, codes};
use chancery_base::ir::{Forward, Priority, RetryPolicy};
use chancery_base::resource::Sourced;
use core::time::Duration;

/// Envoy's default of `circuit_breakers.thresholds.max_retries`. Up to this many retries need no separate limit.
const RETRIES_AT_ONCE: u32 = 3;

pub(super) fn check(whole: &mut Whole<'_>) {
    for (_, forward) in whole.forwards() {
        timeouts(whole, forward);
        if let Some(retry) = forward.retry.as_ref().filter(|retry| !retry.value.retry_on.value.is_empty()) {
            budget(whole, forward, retry);
        }
    }
}

fn seconds(of: Duration) -> String {
    let millis = of.as_millis();
    if millis.is_multiple_of(1000) { format!("{} s", millis / 1000) } else { format!("{millis} ms") }
}

/// Returns a timeout that is not infinite.
fn limited(time: Option<&Sourced<Duration>>) -> Option<&Sourced<Duration>> {
    time.filter(|time| !time.value.is_zero())
}

fn timeouts(whole: &mut Whole<'_>, forward: &Forward) {
    let Some(timeout) = limited(forward.timeout.as_ref()) else { return };
    let all = seconds(timeout.value);
    let tries = forward.retry.as_ref().and_then(|retry| limited(retry.value.per_try_timeout.as_ref()));
    if let Some(each) = tries.filter(|each| is_written(each.origin) && each.value >= timeout.value) {
        let message = format!("each try may take {}, but the whole request has only {all}: there is never time for a retry", seconds(each.value));
        report(whole, each, timeout, message);
    }
    let idle = limited(forward.idle_timeout.as_ref());
    if let Some(idle) = idle.filter(|idle| is_written(idle.origin) && is_written(timeout.origin) && idle.value < timeout.value) {
        let message = format!("a request without traffic ends after {}, so a slower upstream never gets its {all}", seconds(idle.value));
        report(whole, idle, timeout, message);
    }
    for (name, _) in clusters_of(forward) {
        let Some(cluster) = whole.clusters.get(name).copied() else { continue };
        let connect = &cluster.connect_timeout;
        if is_written(connect.origin) && connect.value > timeout.value {
            let message = format!("connecting may take {}, but the whole request has only {all}", seconds(connect.value));
            report(whole, connect, timeout, message);
        }
    }
}

fn report(whole: &mut Whole<'_>, short: &Sourced<Duration>, timeout: &Sourced<Duration>, message: String) {
    let mut finding = whole.finding(&codes::TIMEOUT_CONFLICT, short.origin, message);
    if is_written(timeout.origin) {
        finding = finding.related(Place::origin(timeout.origin), "the timeout of the whole request");
    }
    whole.report(finding);
}

fn budget(whole: &mut Whole<'_>, forward: &Forward, retry: &Sourced<Box<RetryPolicy>>) {
    let priority = forward.priority.as_ref().map_or(Priority::Default, |priority| priority.value);
    let count = retry.value.num_retries.as_ref().map_or(1, |count| count.value);
    let unlimited = clusters_of(forward).into_iter().filter_map(|(name, _)| whole.clusters.get(name).copied()).find(|cluster| {
        let mut breakers = cluster.circuit_breakers.iter().filter(|breaker| breaker.value.priority.value == priority);
        !breakers.any(|breaker| breaker.value.max_retries.is_some())
    });
    let at = retry.origin.or(retry.value.retry_on.origin);
    if count > RETRIES_AT_ONCE && unlimited.is_some() && whole.object(at).is_some() {
        let message = format!("a request may be retried {count} times, but at most {RETRIES_AT_ONCE} retries of all requests run at the same time");
        let finding = whole.finding(&codes::RETRIES_WITHOUT_BUDGET, at, message);
        whole.report(finding.help("set the circuit breaker's `max_retries` to what the upstream can handle"));
    }
}
