//! Reports rules of a global rate limit that never decide, because another rule of the policy is stricter for all their requests.
//!
//! The rate limit service counts a request in every rule that it matches, and refuses it if one limit is reached (Envoy Gateway
//! `api/v1alpha1/ratelimit_types.go`).

use super::{finding, value_place};
use crate::cluster::Admitted;
use crate::codes;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::Findings;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

pub(super) fn never_reached(policy: &Admitted<'_>, sink: &mut Findings) {
    let rules: Vec<Cursor<'_>> = policy.spec().at("rateLimit.global.rules").items().collect();
    for (at, rule) in rules.iter().enumerate() {
        let stricter = rules.iter().enumerate().find(|(other, of)| *other != at && decides_first(**of, *rule));
        let Some((number, other)) = stricter else { continue };
        let (own, first) = (rule.at("limit.requests"), other.at("limit.requests"));
        let message = format!(
            "the limit of {} is never reached: each of these requests also counts in rule {}, whose limit is {}",
            own.int().unwrap_or_default(),
            number + 1,
            first.int().unwrap_or_default()
        );
        let found = finding(&codes::LIMIT_NEVER_REACHED, message, policy, value_place(own));
        let found = found.help(format!("exclude these requests from rule {}, with a selector that has `invert: true`", number + 1));
        sink.report(found.related(value_place(first), "this limit is reached first"));
    }
}

/// Whether one rule refuses requests before another rule can.
fn decides_first(one: Cursor<'_>, other: Cursor<'_>) -> bool {
    let limit = |rule: Cursor<'_>| (rule.at("limit.requests").int(), Str::new(rule.at("limit.unit").str()));
    let ((Some(strict), unit), (Some(loose), other_unit)) = (limit(one), limit(other)) else { return false };
    let counts_otherwise = one.field("cost").exists() || other.field("cost").exists();
    let counts_less = other.field("shared").is_true() && !one.field("shared").is_true();
    strict < loose && unit == other_unit && !counts_otherwise && !counts_less && covers(one, other)
}

/// Whether each request of a rule matches another rule, and one of its counters.
fn covers(wide: Cursor<'_>, narrow: Cursor<'_>) -> bool {
    let narrow = conditions(narrow);
    let fixes = |name: &str| {
        let of = |(field, of): &(Str, Cursor<'_>)| {
            let is_exact = matches!(of.field("type").str(), "" | "Exact") && !of.field("invert").is_true();
            field == "headers" && of.field("name").str().eq_ignore_ascii_case(name) && is_exact
        };
        narrow.iter().any(of)
    };
    conditions(wide).iter().all(|(field, of)| {
        let is_same = |(other_field, other): &(Str, Cursor<'_>)| field == other_field && of.node() == other.node();
        narrow.iter().any(is_same) || field == "headers" && of.field("type").str() == "Distinct" && fixes(of.field("name").str())
    })
}

/// All conditions of a rule's selectors: a request must meet all of them.
fn conditions(rule: Cursor<'_>) -> Vec<(Str, Cursor<'_>)> {
    let mut all = Vec::new();
    for (field, value) in rule.field("clientSelectors").items().flat_map(Cursor::entries) {
        if value.items().len() > 0 {
            all.extend(value.items().map(|item| (field.clone(), item)));
        } else {
            all.push((field.clone(), value));
        }
    }
    all
}
