//! Routing rules: one for each listener, with a path map, or where that has no path rules with a target of its own.
//!
//! AGIC `RequestRoutingRules` in `pkg/appgw/requestroutingrules.go`.

use super::builder::{Builder, kept};
use super::priorities;
use crate::dialect::ingress::brownfield;
use crate::dialect::ingress::death::Died;
use crate::dialect::ingress::names::PartKind;
use crate::ir::appgw::{BASIC, PATH_BASED, Part, PathMap, Rule};
use crate::order::Order as _;
use crate::resource::Sourced;
use crate::text::Str;
use alloc::vec::Vec;

/// Makes all rules, and their path maps.
pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), Died> {
    let priorities = priorities::of_ingresses(builder);
    let (mut rules, mut maps): (Vec<Part<Rule>>, Vec<Part<PathMap>>) = (Vec::new(), Vec::new());
    for (id, draft) in core::mem::take(&mut builder.path_maps) {
        // A map without a listener is removed.
        let Some((listener, _)) = builder.found.get(&id) else { continue };
        let name = builder.names.rule(&id);
        let part_id = builder.names.id(PartKind::Rule, &name);
        let origin = draft.map.origin;
        let mut rule = Rule {
            listener: Some(builder.reference(PartKind::Listener, listener, origin)),
            priority: priorities.get(&id).cloned().flatten(),
            ..Rule::default()
        };
        let word = |text: &'static str| Some(Sourced::new(Str::new_static(text), origin));
        if draft.rules().is_empty() {
            let map = draft.map.properties;
            rule.rule_type = word(BASIC);
            // With both, the redirect counts.
            if map.default_redirect.is_none() {
                rule.pool = map.default_pool;
                rule.settings = map.default_settings;
            }
            rule.redirect = map.default_redirect;
            rule.rewrites = map.default_rewrites;
        } else {
            rule.rule_type = word(PATH_BASED);
            rule.path_map = Some(draft.map.reference(origin));
            maps.push(draft.map);
        }
        rules.push(Part::new(name, part_id, rule, origin));
    }
    if builder.targets.is_some() {
        drop_own_path_rules(builder)?;
        if let Some(existing) = builder.existing()? {
            let theirs = kept(&builder.properties().path_maps, |name| existing.path_maps.contains(name));
            maps = brownfield::path_maps(theirs, maps);
        }
    }
    maps.order_by(|one, other| one.name.cmp(&other.name));
    builder.properties().path_maps = Some(maps);
    if let Some(existing) = builder.existing()? {
        let properties = builder.properties();
        let theirs = kept(&properties.rules, |name| existing.rules.contains(name));
        rules = brownfield::rules(properties, theirs, rules)?;
    }
    rules.order_by(|one, other| one.name.cmp(&other.name));
    builder.properties().rules = Some(rules);
    Ok(())
}

/// Takes path rules out of path maps that the controller put there before.
fn drop_own_path_rules(builder: &mut Builder<'_, '_>) -> Result<(), Died> {
    let prefix = builder.names.path_rule_prefix();
    let maps = builder.properties().path_maps.as_mut().ok_or_else(|| Died::without_list("urlPathMaps"))?;
    for map in maps {
        let rules = map.properties.rules.as_mut().ok_or_else(|| Died::without_field(&map.name, "pathRules", map.origin))?;
        rules.retain(|rule| !rule.name.starts_with(&prefix));
    }
    Ok(())
}
