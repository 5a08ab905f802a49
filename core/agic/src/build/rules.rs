//! Makes routing rules: one for each listener, with a path map, or with its own target if there are no path rules.
//!
//! AGIC `RequestRoutingRules` in `pkg/appgw/requestroutingrules.go`.

use super::builder::{Builder, kept};
use super::memory::{KnownRule, address};
use super::priorities;
use crate::brownfield;
use crate::crash::ControllerCrash;
use crate::names::{ListenerId, Names, PartKind};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{BASIC, PATH_BASED, Part, Parts, PathMap, Reference, Rule};
use chancery_base::resource::Sourced;
use chancery_text::Str;
use hashbrown::HashSet;

/// Makes all rules and their path maps.
pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    let priorities = priorities::of_ingresses(builder.shares);
    let (mut rules, mut maps): (Parts<Rule>, Parts<PathMap>) = (Vec::new(), Vec::new());
    let mut found = builder.found.search();
    let mut without_hosts = HashSet::new();
    for group in &builder.path_maps {
        // A map without a listener is removed.
        let Some(listener) = found.find(&group.id) else { continue };
        let priority = priorities.get(&group.id).copied().flatten();
        let is =
            |known: &KnownRule| Arc::ptr_eq(&known.map, &group.map) && Arc::ptr_eq(&known.listener, listener) && is_same(&known.priority, &priority);
        let make = || {
            let rule = Arc::new(rule(builder.names, &group.id, &group.map, &listener.name, priority));
            KnownRule { map: group.map.clone(), listener: listener.clone(), priority, rule }
        };
        let rule = builder.memory.rules.or_make(address(&group.map), is, make).rule.clone();
        if !listener.properties.is_multi_site() {
            without_hosts.insert(address(&rule));
        }
        rules.push(rule);
        if has_paths(&group.map) {
            maps.push(group.map.clone());
        }
    }
    builder.without_hosts = builder.targets.is_none().then_some(without_hosts);
    if builder.targets.is_some() {
        drop_own_path_rules(builder)?;
        if let Some(existing) = builder.existing()? {
            let theirs = kept(&builder.properties().path_maps, |name| existing.path_maps.contains(name));
            maps = brownfield::path_maps(theirs, maps);
        }
    }
    let maps = builder.memory.orders.path_maps.sorted(maps, Part::name);
    builder.properties().path_maps = Some(maps);
    if let Some(existing) = builder.existing()? {
        let properties = builder.properties();
        let theirs = kept(&properties.rules, |name| existing.rules.contains(name));
        rules = brownfield::rules(properties, theirs, rules)?;
    }
    let rules = builder.memory.orders.rules.sorted(rules, Part::name);
    builder.properties().rules = Some(rules);
    Ok(())
}

/// Whether two priorities are equal and requested at the same place.
fn is_same(one: &Option<Sourced<i64>>, other: &Option<Sourced<i64>>) -> bool {
    one == other && one.map(|of| of.origin) == other.map(|of| of.origin)
}

fn has_paths(map: &Part<PathMap>) -> bool {
    map.properties.rules.as_ref().is_some_and(|rules| !rules.is_empty())
}

fn rule(names: &Names, id: &ListenerId, map: &Part<PathMap>, listener: &str, priority: Option<Sourced<i64>>) -> Part<Rule> {
    let name = names.rule(id);
    let part_id = names.id(PartKind::Rule, &name);
    let origin = map.origin;
    let listener = Reference::from(Sourced::new(names.id(PartKind::Listener, listener), origin));
    let mut rule = Rule { listener: Some(listener), priority, ..Rule::default() };
    let word = |text: &'static str| Some(Sourced::new(Str::new_static(text), origin));
    if has_paths(map) {
        rule.rule_type = word(PATH_BASED);
        rule.path_map = Some(map.reference(origin));
    } else {
        let map = &map.properties;
        rule.rule_type = word(BASIC);
        // With both, the redirect wins.
        if map.default_redirect.is_none() {
            rule.pool.clone_from(&map.default_pool);
            rule.settings.clone_from(&map.default_settings);
        }
        rule.redirect.clone_from(&map.default_redirect);
        rule.rewrites.clone_from(&map.default_rewrites);
    }
    Part::new(name, part_id, rule, origin)
}

/// Removes path rules that the controller added earlier.
fn drop_own_path_rules(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    let prefix = builder.names.path_rule_prefix();
    let maps = builder.properties().path_maps.as_mut().ok_or_else(|| ControllerCrash::without_list("urlPathMaps"))?;
    for map in maps {
        let map = Arc::make_mut(map);
        let rules = map.properties.rules.as_mut().ok_or_else(|| ControllerCrash::without_field(&map.name, "pathRules", map.origin))?;
        rules.retain(|rule| !rule.name.starts_with(&prefix));
    }
    Ok(())
}
