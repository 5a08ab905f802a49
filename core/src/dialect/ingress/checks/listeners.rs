//! Listeners: what is cut, what takes the place of what, and priorities that Azure refuses.

use super::{Checked, named};
use crate::diagnostic::{Diagnostic, Place};
use crate::dialect::ingress::annotations as a;
use crate::dialect::ingress::build::{ListenerConfig, all_hosts, listeners_of, listeners_of_rule};
use crate::dialect::ingress::codes;
use crate::dialect::ingress::model::{Ingress, Rule};
use crate::dialect::ingress::names::{ListenerId, MOST_HOSTS};
use crate::resource::Origin;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) fn check(checked: &mut Checked<'_, '_>) {
    let processed = checked.processed;
    let mut owners: BTreeMap<ListenerId, (usize, ListenerConfig)> = BTreeMap::new();
    let mut findings = Vec::new();
    for (number, ingress) in processed.ingresses.iter().enumerate() {
        let rules = ingress.rules.iter().filter(|rule| rule.http.is_some());
        findings.extend(rules.flat_map(|rule| of_rule(checked, ingress, rule)));
        for (id, config) in listeners_of(checked.source, checked.names, ingress) {
            if let Some((other, before)) = owners.get(&id)
                && let (Some(what), Some(other)) = (differs(before, &config), processed.ingresses.get(*other))
            {
                findings.push(contested(checked, (ingress, &config), (other, before), &id, what));
            }
            owners.insert(id, (number, config));
        }
    }
    findings.extend(priorities(checked));
    findings.into_iter().for_each(|finding| checked.tell(finding));
}

fn of_rule(checked: &Checked<'_, '_>, ingress: &Ingress<'_>, rule: &Rule) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let hosts = all_hosts(ingress, Some(rule));
    if let Some(first) = hosts.get(MOST_HOSTS) {
        let cut: Vec<&str> = hosts.iter().skip(MOST_HOSTS).map(|host| host.value.as_str()).collect();
        let message = format!("a rule has {} hosts, and only the first five are used: not {}", hosts.len(), cut.join(", "));
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

/// What differs between what is wanted of one listener.
fn differs(one: &ListenerConfig, other: &ListenerConfig) -> Option<&'static str> {
    let name = |value: &Option<crate::resource::Sourced<crate::text::Str>>| value.as_ref().map(|value| value.value.clone());
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
    (ingress, config): (&Ingress<'_>, &ListenerConfig),
    (other, before): (&Ingress<'_>, &ListenerConfig),
    id: &ListenerId,
    what: &str,
) -> Diagnostic {
    let message =
        format!("{} and {} want different {what} for {}; the later one by name is used, {}", named(other), named(ingress), words(id), ingress.key());
    checked.finding(&codes::CONTESTED_LISTENER, message, config.origin).related(Place::origin(before.origin), "the Ingress that is not followed")
}

/// A listener, in sentences.
pub(super) fn words(id: &ListenerId) -> String {
    match id.hosts.as_slice() {
        [] => format!("every host at port {}", id.port),
        hosts => format!("`{}` at port {}", hosts.join("`, `"), id.port),
    }
}

/// Priorities that two rules have.
fn priorities(checked: &Checked<'_, '_>) -> Vec<Diagnostic> {
    let properties = checked.processed.gateway.as_ref().and_then(|gateway| gateway.properties.as_ref());
    let mut seen: BTreeMap<i64, (&str, Option<Origin>)> = BTreeMap::new();
    let mut found = Vec::new();
    for rule in properties.and_then(|properties| properties.rules.as_ref()).into_iter().flatten() {
        let Some(priority) = rule.properties.priority else { continue };
        match seen.get(&priority.value) {
            Some((other, at)) => {
                let message =
                    format!("the rules `{other}` and `{}` both have the priority {}, and Azure refuses the gateway", rule.name, priority.value);
                let finding = checked.finding(&codes::PRIORITY_TAKEN, message, priority.origin);
                found.push(finding.related(Place::origin(*at), "the other rule"));
            }
            None => {
                seen.insert(priority.value, (&rule.name, priority.origin.or(rule.origin)));
            }
        }
    }
    found
}
