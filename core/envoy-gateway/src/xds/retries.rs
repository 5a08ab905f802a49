//! Writes when and how often requests are tried again.

use super::proto::{duration, empty, extension, list, message, one};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;

const RETRY_ON: &str = "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes";

/// Returns the reasons for a retry, by Envoy's names.
fn retry_on(triggers: &[Tree]) -> Result<Tree, String> {
    let mut words = Vec::new();
    for trigger in triggers {
        let known = ["5xx", "gateway-error", "reset", "reset-before-request", "connect-failure", "retriable-4xx", "refused-stream"];
        let more = ["retriable-status-codes", "cancelled", "deadline-exceeded", "internal", "resource-exhausted", "unavailable"];
        let Some(word) = known.iter().chain(&more).find(|word| trigger.is(word)) else {
            return Err(String::from("unsupported RetryOn trigger"));
        };
        words.push(*word);
    }
    Ok(Tree::from(words.join(",")).or_from(triggers.first().and_then(|trigger| trigger.origin)))
}

pub(crate) fn retry_policy(of: &Tree) -> Result<Tree, String> {
    let on = of.get("retryOn");
    let (codes, triggers) = (on.get("httpStatusCodes"), on.get("triggers"));
    let has_on = !codes.is_null() || !triggers.is_null();
    let number = of.get("numRetries");
    let priority = of.get("numAttemptsPerPriority");
    let kind = "envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig";
    let priority = if priority.int() > 0 {
        extension("envoy.retry_priorities.previous_priorities", kind, message! { "update_frequency": priority.clone() })
    } else {
        Tree::NULL
    };
    let back_off = of.at(&["perRetry", "backOff"]);
    let back_off = message! { "base_interval": duration(back_off.get("baseInterval")), "max_interval": duration(back_off.get("maxInterval")) };
    let previous = "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate";
    let out = message! {
        "retry_on": if triggers.items().is_empty() { RETRY_ON.into() } else { retry_on(triggers.items())? },
        "retriable_status_codes": if has_on { list(codes.items().to_vec()) } else { one(503_i64.into()) },
        "num_retries": if number.is_null() { 2_i64.into() } else { number.clone() },
        "retry_host_predicate": one(extension("envoy.retry_host_predicates.previous_hosts", previous, empty())),
        "host_selection_retry_max_attempts": 5_i64,
        "retry_priority": priority,
        "per_try_timeout": duration(of.at(&["perRetry", "timeout"])),
        "retry_back_off": if back_off.fields().is_empty() { Tree::NULL } else { back_off },
    };
    Ok(out.or_from(of.origin))
}

/// How often services other than backends are tried again.
pub(crate) fn service_retry_policy(of: &Tree) -> Result<Tree, String> {
    let triggers = of.at(&["retryOn", "triggers"]).items();
    let back_off = of.at(&["perRetry", "backOff"]);
    let (base, most) = (back_off.get("baseInterval"), back_off.get("maxInterval"));
    // The reference crashes if one interval is missing.
    let back_off = if base.is_null() || most.is_null() {
        Tree::NULL
    } else {
        message! { "base_interval": duration(base), "max_interval": duration(most) }.or_from(back_off.origin)
    };
    let out = message! {
        "retry_on": if triggers.is_empty() { RETRY_ON.into() } else { retry_on(triggers)? },
        "retry_back_off": back_off,
        "num_retries": of.get("numRetries").clone(),
    };
    Ok(out.or_from(of.origin))
}
