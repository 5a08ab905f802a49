//! Checks listeners: hosts that are cut, listeners that replace others, and priorities that Azure refuses.

use super::{Checked, Run, named};
use crate::annotations as a;
use crate::build::{Group, ListenerConfig, MOST_PRIORITY, all_hosts, listeners_of_rule};
use crate::codes;
use crate::model::{Ingress, Rule};
use crate::names::{ListenerId, MOST_HOSTS};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Place};
use chancery_base::ir::appgw::{Part, Rule as RoutingRule};

pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    let processed = checked.processed;
    for (at, share) in processed.shares.iter().enumerate().filter(|(at, _)| !checked.is_quiet(*at)).collect::<Vec<_>>() {
        let rules = share.ingress.rules.iter().filter(|rule| rule.http.is_some());
        let found: Vec<Diagnostic> = rules.flat_map(|rule| of_rule(checked, &share.ingress, rule)).collect();
        checked.report_about(at, found);
    }
    let shared = processed.path_maps.iter().filter(|group| group.paths.len() > 1);
    let mut findings: Vec<(u32, Diagnostic)> = shared.flat_map(|group| contests(checked, group)).collect();
    findings.sort_by_key(|(at, _)| *at);
    findings.into_iter().for_each(|(_, finding)| checked.report(finding));
    let taken = priorities(checked);
    taken.into_iter().for_each(|finding| checked.report(finding));
}

/// Reports listener settings that differ from those of an earlier Ingress, each with the index of the Ingress.
fn contests(checked: &Checked<'_, '_>, group: &Group) -> Vec<(u32, Diagnostic)> {
    let mut found = Vec::new();
    let mut before: Option<(&Ingress, &ListenerConfig)> = None;
    let mut places: Vec<u32> = group.paths.iter().map(|(at, _)| *at).collect();
    places.dedup();
    for at in places {
        let Some(share) = checked.processed.shares.get(at as usize) else { continue };
        let Some(wanted) = share.listeners.iter().find(|wanted| wanted.id == group.id) else { continue };
        let now = (&*share.ingress, &wanted.config);
        if let Some(other) = before.replace(now)
            && let Some(what) = differing_setting(other.1, now.1)
        {
            found.push((at, contested(checked, now, other, &group.id, what)));
        }
    }
    found
}

/// At most this many of the cut hosts are named.
const NAMED: usize = 5;

fn of_rule(checked: &Checked<'_, '_>, ingress: &Ingress, rule: &Rule) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let hosts = all_hosts(ingress, Some(rule));
    if let Some(first) = hosts.get(MOST_HOSTS) {
        let cut: Vec<&str> = hosts.iter().skip(MOST_HOSTS).take(NAMED).map(|host| host.value.as_str()).collect();
        let more = hosts.len() - MOST_HOSTS - cut.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let message = format!("a rule has {} hosts, and only the first five are used: not {}{more}", hosts.len(), cut.join(", "));
        found.push(checked.finding(&codes::TOO_MANY_HOSTS, message, first.origin).help("put the others into further rules or Ingresses"));
    }
    let listeners = listeners_of_rule(checked.source, checked.names, ingress, rule);
    let wants_both = ingress.annotations.is_true(&a::SSL_REDIRECT) && ingress.annotations.number(&a::OVERRIDE_FRONTEND_PORT).value().is_some();
    let has_tls = !ingress.tls.is_empty() || ingress.annotations.some_text(&a::SSL_CERTIFICATE).is_some();
    if wants_both && has_tls && listeners.len() == 1 && listeners.values().all(|config| !config.is_https) {
        let at = ingress.annotations.text(&a::OVERRIDE_FRONTEND_PORT).and_then(|text| text.origin);
        let message = "HTTPS and the HTTP that redirects to it are at one port, so that only HTTP is left";
        found.push(checked.finding(&codes::LISTENER_OVERWRITTEN, message, at).help("leave `override-frontend-port` or `ssl-redirect` out"));
    }
    found
}

/// Returns the setting in which two configurations of one listener differ.
fn differing_setting(one: &ListenerConfig, other: &ListenerConfig) -> Option<&'static str> {
    let name = |value: &Option<chancery_base::resource::Sourced<chancery_text::Str>>| value.as_ref().map(|value| value.value.clone());
    if one.is_https != other.is_https {
        return Some("protocols");
    }
    if name(&one.certificate) != name(&other.certificate) {
        return Some("certificates");
    }
    if name(&one.policy) != name(&other.policy) {
        return Some("firewall policies");
    }
    if name(&one.profile) != name(&other.profile) {
        return Some("TLS profiles");
    }
    one.redirect.is_some().ne(&other.redirect.is_some()).then_some("redirects")
}

fn contested(
    checked: &Checked<'_, '_>,
    (ingress, config): (&Ingress, &ListenerConfig),
    (other, before): (&Ingress, &ListenerConfig),
    id: &ListenerId,
    what: &str,
) -> Diagnostic {
    let message = format!(
        "{} and {} set different {what} for {}; those of {} apply, as its name comes later",
        named(other),
        named(ingress),
        words(id),
        named(ingress)
    );
    checked.finding(&codes::CONTESTED_LISTENER, message, config.origin).related(Place::origin(before.origin), "the Ingress that is not followed")
}

/// Describes a listener for a sentence.
pub(super) fn words(id: &ListenerId) -> String {
    match id.hosts.as_slice() {
        [] => format!("every host at port {}", id.port),
        hosts => format!("`{}` at port {}", hosts.join("`, `"), id.port),
    }
}

/// Reports priorities that several rules have, one finding for each.
fn priorities(checked: &Checked<'_, '_>) -> Vec<Diagnostic> {
    let properties = checked.processed.gateway.as_ref().and_then(|gateway| gateway.properties.as_ref());
    let mut seen: BTreeMap<i64, Vec<&Arc<Part<RoutingRule>>>> = BTreeMap::new();
    for rule in properties.and_then(|properties| properties.rules.as_ref()).into_iter().flatten() {
        if let Some(priority) = rule.properties.priority {
            seen.entry(priority.value).or_default().push(rule);
        }
    }
    let finding = |(priority, rules): (i64, Vec<&Arc<Part<RoutingRule>>>)| {
        let [first, second, more @ ..] = rules.as_slice() else { return None };
        let more = if more.is_empty() { "both".into() } else { format!("and {} more all", more.len()) };
        let message = format!("the rules `{}` and `{}` {more} have the priority {priority}, and Azure refuses the gateway", first.name, second.name);
        let at = |rule: &Part<RoutingRule>| rule.properties.priority.and_then(|priority| priority.origin).or(rule.origin);
        let finding = checked.finding(&codes::PRIORITY_TAKEN, message, at(second)).related(Place::origin(at(first)), "the first of them");
        // The controller has no more free numbers.
        let is_own = second.properties.priority.is_some_and(|priority| priority.origin == second.origin);
        Some(if is_own && priority == MOST_PRIORITY {
            finding.help(format!(
                "AGIC has no more free numbers below {MOST_PRIORITY}: give rules priorities by `rule-priority`, or use another gateway"
            ))
        } else {
            finding
        })
    };
    seen.into_iter().filter_map(finding).collect()
}
