//! Sets the priorities of rules: those that Ingresses request, and free numbers for the others, sorted by name.
//!
//! AGIC `getListenerPriorities` and `assignPriorityWhereMissing`. The last of several Ingresses with one listener wins, even without the
//! annotation. Duplicate priorities are not prevented.

use super::builder::Builder;
use super::memory::{NumberedRule, address};
use super::share::Share;
use crate::annotations::{self as a, Read};
use crate::crash::ControllerCrash;
use crate::model::Ingress;
use crate::names::ListenerId;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use chancery_base::ir::appgw::Part;
use chancery_base::resource::Sourced;
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

/// The largest priority.
pub(crate) const MOST: i64 = 20_000;
/// The first free number for rules with hosts.
const WITH_HOSTS: i64 = 19_000;
/// The first free number for rules for every host.
const WITHOUT_HOSTS: i64 = 19_500;
/// The distance between free numbers.
const STEP: i64 = 5;

/// Returns the priority that an Ingress requests; `None` if the value is invalid, which the controller only logs.
pub(super) fn of(ingress: &Ingress) -> Option<Option<Sourced<i64>>> {
    match ingress.annotations.number(&a::RULE_PRIORITY) {
        Read::Absent => Some(None),
        Read::Value(priority) if (1..=MOST).contains(&priority.value) => Some(Some(priority)),
        Read::Value(_) | Read::Invalid(_) => None,
    }
}

/// The priorities that Ingresses request.
pub(super) fn of_ingresses(shares: &[Arc<Share>]) -> HashMap<Arc<ListenerId>, Option<Sourced<i64>>> {
    let mut priorities = HashMap::new();
    if shares.iter().all(|share| !matches!(share.priority, Some(Some(_)))) {
        return priorities;
    }
    for share in shares {
        if let Some(priority) = share.priority {
            priorities.extend(share.listeners.iter().map(|wanted| (wanted.id.clone(), priority)));
        }
    }
    priorities
}

/// Gives free numbers to rules without a priority.
pub(super) fn fill(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    let Builder { gateway, memory, without_hosts, .. } = builder;
    let properties = gateway.properties.get_or_insert_default();
    let listeners = properties.listeners.iter().flatten().filter(|listener| without_hosts.is_none() && listener.properties.is_multi_site());
    let multi_site: HashSet<Str> = listeners.map(|listener| listener.id.clone()).collect();
    let rules = properties.rules.get_or_insert_default();
    let mut used: BTreeSet<i64> = rules.iter().filter_map(|rule| rule.properties.priority.map(|priority| priority.value)).collect();
    let (mut for_hosts, mut for_every_host) = (WITH_HOSTS, WITHOUT_HOSTS);
    for rule in rules.iter_mut().filter(|rule| rule.properties.priority.is_none()) {
        let listener = rule.properties.listener.as_ref().ok_or_else(|| ControllerCrash::without_field(&rule.name, "httpListener", rule.origin))?;
        let has_hosts = match &*without_hosts {
            Some(rules) => !rules.contains(&address(rule)),
            None => multi_site.contains(&listener.id.value),
        };
        let last = if has_hosts { &mut for_hosts } else { &mut for_every_host };
        while used.contains(last) && *last < MOST {
            *last = (*last + STEP).min(MOST);
        }
        used.insert(*last);
        let priority = Sourced::new(*last, rule.origin);
        let is = |(of, numbered): &NumberedRule| Arc::ptr_eq(of, rule) && numbered.properties.priority == Some(priority);
        let make = || {
            let mut numbered = Part::clone(rule);
            numbered.properties.priority = Some(priority);
            (rule.clone(), Arc::new(numbered))
        };
        let numbered = memory.numbered.or_make(address(rule), is, make).1.clone();
        *rule = numbered;
    }
    Ok(())
}
