//! Finds changes of requests that lose protection: authentication, authorization, limits, and redirects to https.
//!
//! Reads the differences of a report. Does not compare; see `requests`.

use super::RequestChange;
use super::requests::CHECKS;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::series;

/// The filters that protect but check no client, with the words for their protection.
const LIMITS: [(&str, &str); 3] = [("csrf", "protection against CSRF"), ("local_ratelimit", "a local rate limit"), ("ratelimit", "a rate limit")];

/// Returns the protection that requests lose, each as the end of a sentence that begins with "no longer".
#[must_use]
pub fn lost_protection(change: &RequestChange) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for of in &change.differences {
        let (before, after) = (of.before.as_deref(), of.after.as_deref());
        match of.what.as_str() {
            "protection" => {
                let needs = |side: Option<&str>, need: &str| side.is_some_and(|side| side.contains(need));
                let lost = CHECKS.iter().filter(|(_, need)| needs(before, need) && !needs(after, need));
                out.extend(lost.map(|(_, need)| format!("need {need}")));
            }
            "removed request headers" => {
                let names =
                    |side: Option<&str>| side.unwrap_or_default().split(", ").filter(|name| *name != "none").map(String::from).collect::<Vec<_>>();
                let (removed, still) = (names(before), names(after));
                let kept: Vec<&str> = removed.iter().filter(|name| !still.contains(name)).map(String::as_str).collect();
                if !kept.is_empty() {
                    out.push(format!("have the client's headers {} removed", series(&kept)));
                }
            }
            "outcome" => out.extend(by_outcome(before.unwrap_or_default(), after.unwrap_or_default())),
            what => {
                let is_named = |name: &str| what.contains(name) || [before, after].iter().flatten().any(|value| value.contains(name));
                let is_disabled = |value: Option<&str>| value.is_some_and(|value| value.contains("\"disabled\":true"));
                let is_lost = !is_disabled(before) && (is_disabled(after) || before.is_some() && after.is_none());
                let limit = LIMITS.iter().find(|(name, _)| is_named(name)).map(|(_, words)| format!("have {words}"));
                // For a list of filters, another difference states which checks are lost.
                let is_list = what.contains(".http_filters");
                let check = || CHECKS.iter().filter(|_| !is_list).find(|(name, _)| is_named(name)).map(|(_, need)| format!("need {need}"));
                out.extend(limit.or_else(check).filter(|_| is_lost));
            }
        }
    }
    out.sort();
    out.dedup();
    out
}

fn by_outcome(before: &str, after: &str) -> Option<String> {
    if !after.starts_with("goes to") {
        return None;
    }
    if before.starts_with("is redirected") && before.contains("https://") {
        return Some("are redirected to https".into());
    }
    let is_refused = ["is answered 401", "is answered 403", "is answered 429"].iter().any(|answer| before.starts_with(answer));
    is_refused.then(|| format!("are refused ({})", before.trim_start_matches("is answered ")))
}

#[cfg(test)]
mod tests {
    use super::super::Difference;
    use super::*;
    use alloc::string::ToString;

    fn lost(what: &str, before: Option<&str>, after: Option<&str>) -> Vec<String> {
        let text = |value: Option<&str>| value.map(ToString::to_string);
        let difference = Difference { what: what.into(), before: text(before), after: text(after), before_from: None, after_from: None };
        lost_protection(&RequestChange { differences: Vec::from([difference]), ..RequestChange::default() })
    }

    #[test]
    fn disabled_filter_loses_protection() {
        let disabled = Some("{\"disabled\":true}");
        assert_eq!(lost("route.typed_per_filter_config.envoy.filters.http.jwt_authn", None, disabled), ["need a valid token"]);
        assert!(lost("route.typed_per_filter_config.envoy.filters.http.jwt_authn", disabled, None).is_empty());
        assert_eq!(lost("protection", Some("a valid token and a login"), Some("a login")), ["need a valid token"]);
        assert!(lost("protection", Some("not checked"), Some("a login")).is_empty());
        assert_eq!(lost("removed request headers", Some("x-role, x-user"), Some("x-role")), ["have the client's headers x-user removed"]);
        assert!(lost("removed request headers", Some("none"), Some("x-role")).is_empty());
    }

    #[test]
    fn removed_redirect_to_https_is_lost_protection() {
        assert_eq!(lost("outcome", Some("is redirected (301) to https://a/"), Some("goes to a")), ["are redirected to https"]);
        assert!(lost("outcome", Some("is redirected (301) to http://a/"), Some("goes to a")).is_empty());
        assert_eq!(lost("outcome", Some("is answered 403"), Some("goes to a")), ["are refused (403)"]);
    }
}
