//! Merges parts that others own with parts that the controller makes.
//!
//! AGIC keeps them in unordered maps; here the result has a fixed order, with the parts of others first.

use super::super::crash::ControllerCrash;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{BASIC, Listener, PATH_BASED, Part, Parts, PathMap, PathRule, Properties, Rule};
use chancery_text::Str;
use hashbrown::HashMap;

/// Merges parts by name: the last part of a name wins, at the position of the first. Made parts have distinct names.
pub fn by_name<T>(kept: Parts<T>, made: Parts<T>) -> Parts<T> {
    if kept.is_empty() { made } else { joined(kept, made, |part| &part.name) }
}

fn joined<P>(kept: Vec<P>, made: Vec<P>, name: impl Fn(&P) -> &Str) -> Vec<P> {
    let mut places: HashMap<Str, usize> = HashMap::new();
    let mut merged: Vec<P> = Vec::with_capacity(kept.len() + made.len());
    for part in kept.into_iter().chain(made) {
        let next = merged.len();
        let place = *places.entry(name(&part).clone()).or_insert(next);
        match merged.get_mut(place) {
            Some(earlier) => *earlier = part,
            None => merged.push(part),
        }
    }
    merged
}

/// Merges listeners: the first listener for the same hosts and place wins.
pub fn listeners(kept: Parts<Listener>, made: Parts<Listener>) -> Parts<Listener> {
    let identity = |listener: &Listener| {
        let mut hosts: Vec<Str> = listener.host_name.iter().map(|host| host.value.clone()).collect();
        if let Some(several) = listener.host_names.as_ref().filter(|several| !several.is_empty()) {
            for (at, host) in several.iter().enumerate().take(5) {
                match hosts.get_mut(at) {
                    Some(slot) => *slot = host.value.clone(),
                    None => hosts.push(host.value.clone()),
                }
            }
        }
        while hosts.last().is_some_and(|host| host.is_empty()) {
            hosts.pop();
        }
        let text = |reference: &Option<chancery_base::ir::appgw::Reference>| reference.as_ref().map(|reference| reference.id.value.clone());
        let protocol = listener.protocol.as_ref().map(|protocol| protocol.value.clone());
        (hosts, protocol, text(&listener.port).unwrap_or_default(), text(&listener.frontend).unwrap_or_default())
    };
    let mut seen = HashMap::new();
    let all = kept.into_iter().chain(made);
    all.filter(|listener| seen.insert(identity(&listener.properties), ()).is_none()).collect()
}

/// Merges path maps of the same name, with the path rules of both.
pub fn path_maps(kept: Parts<PathMap>, made: Parts<PathMap>) -> Parts<PathMap> {
    let mut places: HashMap<Str, usize> = HashMap::new();
    let mut merged: Parts<PathMap> = Vec::with_capacity(kept.len() + made.len());
    for map in kept.into_iter().chain(made) {
        let next = merged.len();
        let place = *places.entry(map.name.clone()).or_insert(next);
        match merged.get_mut(place) {
            Some(earlier) => {
                let earlier = Arc::make_mut(earlier);
                earlier.properties.rules = Some(path_rules(earlier.properties.rules.take(), map.properties.rules.clone()));
            }
            None => merged.push(map),
        }
    }
    merged
}

fn path_rules(first: Option<Vec<Part<PathRule>>>, second: Option<Vec<Part<PathRule>>>) -> Vec<Part<PathRule>> {
    joined(first.unwrap_or_default(), second.unwrap_or_default(), |rule| &rule.name)
}

/// Merges rules that share a listener, and their path maps in the gateway.
///
/// # Errors
///
/// A rule has no listener, or its path map is missing.
pub fn rules(gateway: &mut Properties, kept: Parts<Rule>, made: Parts<Rule>) -> Result<Parts<Rule>, ControllerCrash> {
    let mut places: HashMap<Str, usize> = HashMap::new();
    let mut merged: Parts<Rule> = Vec::with_capacity(kept.len() + made.len());
    for rule in kept.into_iter().chain(made) {
        let listener = rule.properties.listener.as_ref().ok_or_else(|| ControllerCrash::without_field(&rule.name, "httpListener", rule.origin))?;
        let next = merged.len();
        let place = *places.entry(listener.id.value.clone()).or_insert(next);
        match merged.get_mut(place) {
            Some(earlier) => {
                let first = core::mem::take(earlier);
                *earlier = merge_rules(gateway, first, rule)?;
            }
            None => merged.push(rule),
        }
    }
    Ok(merged)
}

fn is(rule: &Part<Rule>, kind: &str) -> bool {
    rule.properties.rule_type.as_ref().is_some_and(|of| *of.value == *kind)
}

/// Merges two rules of one listener: the rule with paths is kept, and gets the defaults or path rules of the other.
fn merge_rules(gateway: &mut Properties, first: Arc<Part<Rule>>, second: Arc<Part<Rule>>) -> Result<Arc<Part<Rule>>, ControllerCrash> {
    let (first, second) = if is(&first, BASIC) && is(&second, PATH_BASED) { (second, first) } else { (first, second) };
    if !is(&first, PATH_BASED) {
        return Ok(first);
    }
    let place = place_of(gateway, &first)?;
    if is(&second, BASIC) {
        if let Some(map) = gateway.path_maps.as_mut().and_then(|maps| maps.get_mut(place)).map(Arc::make_mut) {
            let second = &second.properties;
            map.properties.default_pool.clone_from(&second.pool);
            map.properties.default_settings.clone_from(&second.settings);
            map.properties.default_redirect.clone_from(&second.redirect);
            map.properties.default_rewrites.clone_from(&second.rewrites);
        }
        return Ok(first);
    }
    let other = place_of(gateway, &second)?;
    if place != other
        && let Some(maps) = &mut gateway.path_maps
    {
        let theirs = maps.get_mut(other).and_then(|map| Arc::make_mut(map).properties.rules.take());
        if let Some(map) = maps.get_mut(place).map(Arc::make_mut) {
            map.properties.rules = Some(path_rules(map.properties.rules.take(), theirs));
        }
        maps.remove(other);
    }
    Ok(first)
}

fn place_of(gateway: &Properties, rule: &Part<Rule>) -> Result<usize, ControllerCrash> {
    let map = rule.properties.path_map.as_ref().ok_or_else(|| ControllerCrash::without_field(&rule.name, "urlPathMap", rule.origin))?;
    let found = gateway.path_maps.iter().flatten().position(|known| known.id == map.id.value);
    found.ok_or_else(|| ControllerCrash::of(format!("the rule `{}` leads to a path map that the gateway does not have", rule.name), map.id.origin))
}
