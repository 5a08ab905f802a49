//! Listeners with a wildcard host whose rule has a better priority than the rule of a listener for a host that the wildcard covers.
//!
//! Application Gateway evaluates routing rules by priority, so the wildcard's rule answers all requests for that host. Without
//! `rule-priority` annotations AGIC numbers rules by their names, which are hashes (pkg/appgw/requestroutingrules.go).

use super::{Run, named};
use crate::annotations as a;
use crate::codes;
use crate::model::Ingress;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Place};
use chancery_base::ir::appgw::{Listener, Part, Rule};
use chancery_base::resource::Origin;
use hashbrown::HashMap;

/// A listener that a rule serves.
struct Served<'a> {
    priority: i64,
    rule: &'a Part<Rule>,
    listener: &'a Part<Listener>,
}

impl Served<'_> {
    fn hosts(&self) -> impl Iterator<Item = &str> {
        let listener = &self.listener.properties;
        let several = listener.host_names.iter().flatten().map(|host| host.value.as_str());
        listener.host_name.iter().map(|host| host.value.as_str()).chain(several)
    }

    /// The address, port and protocol of the listener.
    fn socket(&self) -> (Option<&str>, Option<&str>, Option<&str>) {
        let listener = &self.listener.properties;
        (
            listener.frontend.as_ref().map(|reference| reference.id.as_str()),
            listener.port.as_ref().map(|reference| reference.id.as_str()),
            listener.protocol.as_ref().map(|protocol| protocol.as_str()),
        )
    }

    /// The place of the listener's hosts, or of the object that made the rule.
    fn origin(&self) -> Option<Origin> {
        let listener = &self.listener.properties;
        let host = listener.host_names.iter().flatten().chain(&listener.host_name).find_map(|host| host.origin);
        host.or(self.listener.origin).or(self.rule.origin)
    }
}

/// Reports hosts whose requests another listener's wildcard receives.
pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    let findings = findings(checked);
    findings.into_iter().for_each(|finding| checked.report(finding));
}

fn findings(checked: &Run<'_, '_, '_>) -> Vec<Diagnostic> {
    let Some(properties) = checked.processed.gateway.as_ref().and_then(|gateway| gateway.properties.as_ref()) else { return Vec::new() };
    let listeners: HashMap<String, &Part<Listener>> =
        properties.listeners.iter().flatten().map(|listener| (listener.id.to_ascii_lowercase(), &**listener)).collect();
    let serve = |rule: &'_ Arc<Part<Rule>>| {
        let listener = listeners.get(&rule.properties.listener.as_ref()?.id.value.to_ascii_lowercase())?;
        Some((rule.properties.priority?.value, *listener))
    };
    let mut served: Vec<Served<'_>> = Vec::new();
    for rule in properties.rules.iter().flatten() {
        if let Some((priority, listener)) = serve(rule) {
            served.push(Served { priority, rule, listener });
        }
    }
    served.sort_by_key(|served| served.priority);
    let mut wildcards: Vec<&Served<'_>> = Vec::new();
    let mut found = Vec::new();
    for later in &served {
        for host in later.hosts() {
            let covers = |wildcard: &&&Served<'_>| wildcard.socket() == later.socket() && wildcard.hosts().any(|pattern| covers(pattern, host));
            if let Some(first) = wildcards.iter().find(covers)
                && let Some(pattern) = first.hosts().find(|pattern| self::covers(pattern, host))
            {
                found.push(finding(checked, later, host, first, pattern));
            }
        }
        if later.hosts().any(|host| host.contains('*')) {
            wildcards.push(later);
        }
    }
    found
}

/// Whether a wildcard host matches every request for another host.
fn covers(pattern: &str, host: &str) -> bool {
    pattern != host
        && pattern.strip_prefix('*').is_some_and(|end| host.len() > end.len() && host.to_ascii_lowercase().ends_with(&end.to_ascii_lowercase()))
}

fn finding(checked: &Run<'_, '_, '_>, later: &Served<'_>, host: &str, first: &Served<'_>, pattern: &str) -> Diagnostic {
    let owner = |served: &Served<'_>| {
        let object = served.origin()?.object();
        checked.processed.ingresses.iter().find(|ingress| ingress.origin.object() == object).cloned()
    };
    let name = |ingress: Option<Arc<Ingress>>| ingress.map_or_else(|| "another rule of the gateway".into(), |ingress| named(&ingress));
    let sets_priority =
        |ingress: &Option<Arc<Ingress>>| ingress.as_ref().is_some_and(|ingress| ingress.annotations.text(&a::RULE_PRIORITY).is_some());
    let (winner, loser) = (owner(first), owner(later));
    let chosen = if sets_priority(&winner) { "" } else { "; AGIC chose these priorities by a hash of the hosts" };
    let message = format!(
        "no request for `{host}` reaches this listener: `{pattern}` of {} matches first, with priority {} before {}{chosen}",
        name(winner.clone()),
        first.priority,
        later.priority
    );
    let help = match (sets_priority(&winner), sets_priority(&loser)) {
        (true, true) => format!("give the Ingress of `{host}` a smaller `rule-priority` than the Ingress of `{pattern}`"),
        _ => format!("set `appgw.ingress.kubernetes.io/rule-priority` on both Ingresses, with the smaller number for `{host}`"),
    };
    let mut finding = checked.finding(&codes::WILDCARD_HOST_FIRST, message, later.origin()).help(help);
    if let Some(origin) = first.origin() {
        finding = finding.related(Place::origin(origin), "this wildcard host is matched first");
    }
    finding
}
