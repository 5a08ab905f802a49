//! Path maps: for each listener the paths of all rules that ask for it, and what takes all other paths.
//!
//! AGIC `getPathMaps` and `mergePathMap` in `pkg/appgw/requestroutingrules.go`. Of one path the first counts; of defaults the last.

use super::builder::Builder;
use super::draft::Draft;
use super::draft::ListenerConfig;
use super::draft::Use;
use super::listeners;
use super::{pools, rewrites};
use crate::dialect::ingress::annotations as a;
use crate::dialect::ingress::death::Died;
use crate::dialect::ingress::model::{Ingress, Path, PathType, Rule};
use crate::dialect::ingress::names::{ListenerId, PartKind};
use crate::ir::appgw::{Part, PathMap, PathRule, Reference};
use crate::resource::{Origin, Sourced};
use crate::text::Str;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

/// What takes all paths that no path rule takes.
#[derive(Default)]
struct Defaults {
    backend: Option<(Reference, Reference)>,
    redirect: Option<Reference>,
    rewrites: Option<Reference>,
}

/// Puts all path maps together.
pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), Died> {
    for (number, ingress) in builder.ingresses.iter().enumerate() {
        if ingress.rules.is_empty() {
            without_rules(builder, number);
        }
        for (rule_number, rule) in ingress.rules.iter().enumerate().filter(|(_, rule)| rule.http.is_some()) {
            for (id, config) in listeners::of_rule(builder.source, builder.names, ingress, rule) {
                let defaults = defaults_of(builder, &id, &config, (number, ingress), (rule_number, rule));
                let rules = rules_of(builder, &id, &config, (number, ingress), (rule_number, rule));
                let empty = draft(builder, &id, rule.origin);
                merge(builder.path_maps.entry(id).or_insert(empty), defaults, rules, builder.names);
            }
        }
    }
    if builder.path_maps.is_empty() {
        let id = listeners::default_id(builder);
        let empty = draft(builder, &id, Origin::built_in());
        builder.path_maps.insert(id, empty);
    }
    Ok(())
}

/// A path map with the default pool and its settings.
fn draft(builder: &Builder<'_, '_>, id: &ListenerId, origin: Origin) -> Draft {
    let name = builder.names.path_map(id);
    let part_id = builder.names.id(PartKind::PathMap, &name);
    let map = PathMap {
        default_pool: Some(builder.reference(PartKind::Pool, &builder.names.default_pool(), Origin::built_in())),
        default_settings: Some(builder.reference(PartKind::Settings, &builder.names.default_settings(), Origin::built_in())),
        rules: Some(Vec::new()),
        ..PathMap::default()
    };
    Draft { map: Part::new(name, part_id, map, origin), taken: BTreeSet::new() }
}

/// An Ingress with a default backend and no rules takes the listener without hosts, with the default settings.
fn without_rules(builder: &mut Builder<'_, '_>, ingress: usize) {
    let Some(used) = builder.backends.default_of(ingress).cloned() else { return };
    let id = listeners::default_id(builder);
    let mut draft = draft(builder, &id, used.origin);
    let pool = pools::name_of(builder, &used);
    draft.map.properties.default_pool = Some(builder.reference(PartKind::Pool, &pool, pool.origin).with(&used.ports));
    builder.path_maps.insert(id, draft);
}

/// The redirect that HTTP of an Ingress goes through, if there is one. It is always looked for at port 443.
fn redirect(builder: &Builder<'_, '_>, id: &ListenerId, config: &ListenerConfig, ingress: &Ingress<'_>) -> Option<Reference> {
    if config.is_https || !ingress.annotations.is_true(&a::SSL_REDIRECT) {
        return None;
    }
    let target = ListenerId { port: 443, ..id.clone() };
    let at = ingress.annotations.text(&a::SSL_REDIRECT).and_then(|text| text.origin);
    let reference = builder.reference(PartKind::Redirect, &builder.names.redirect(&target), at);
    builder.redirects.contains_key(&reference.id.value).then_some(reference)
}

fn to(builder: &Builder<'_, '_>, used: &Use) -> (Reference, Reference) {
    let reference = |kind, name| builder.reference(kind, name, used.origin).with(&used.ports);
    (reference(PartKind::Pool, &used.pool), reference(PartKind::Settings, &used.settings))
}

fn defaults_of(
    builder: &Builder<'_, '_>,
    id: &ListenerId,
    config: &ListenerConfig,
    (number, ingress): (usize, &Ingress<'_>),
    (rule_number, rule): (usize, &Rule),
) -> Defaults {
    if let Some(redirect) = redirect(builder, id, config, ingress) {
        return Defaults { redirect: Some(redirect), ..Defaults::default() };
    }
    let last = rule.paths().iter().rposition(Path::is_catch_all);
    let used = match last {
        Some(path) => builder.backends.of_path(number, rule_number, path),
        None => builder.backends.default_of(number),
    };
    Defaults { backend: used.map(|used| to(builder, used)), redirect: None, rewrites: used.and_then(|_| rewrites::of_ingress(builder, ingress)) }
}

fn rules_of(
    builder: &Builder<'_, '_>,
    id: &ListenerId,
    config: &ListenerConfig,
    (number, ingress): (usize, &Ingress<'_>),
    (rule_number, rule): (usize, &Rule),
) -> Vec<Part<PathRule>> {
    let map = builder.names.path_map(id);
    let redirect = redirect(builder, id, config, ingress);
    let rewrites = rewrites::of_ingress(builder, ingress);
    let policy = ingress.annotations.text(&a::WAF_POLICY).map(Reference::from);
    let mut rules = Vec::new();
    for (path_number, path) in rule.paths().iter().enumerate().filter(|(_, path)| !path.is_catch_all()) {
        let name = builder.names.path_rule(&ingress.namespace, &ingress.name, rule_number, path_number);
        let part_id = builder.names.path_rule_id(&map, &name);
        let mut properties = PathRule {
            paths: Some(Vec::from([pattern(path)])),
            firewall_policy: policy.clone(),
            rewrites: rewrites.clone(),
            redirect: redirect.clone(),
            ..PathRule::default()
        };
        if redirect.is_none() {
            let Some(used) = builder.backends.of_path(number, rule_number, path_number) else { continue };
            let (pool, settings) = to(builder, used);
            properties.pool = Some(pool);
            properties.settings = Some(settings);
        }
        rules.push(Part::new(name, part_id, properties, path.origin));
    }
    rules
}

/// The path as the gateway has it: a prefix gets a star at its end, and an exact path loses one.
fn pattern(path: &Path) -> Sourced<Str> {
    path.path.clone().map(|text| match path.path_type {
        PathType::Exact => Str::new(text.strip_suffix('*').unwrap_or(&text)),
        PathType::Prefix if !text.ends_with('*') => format!("{text}*").into(),
        _ => text,
    })
}

/// Adds a rule's paths and defaults. What is the default pool or settings anyway changes nothing.
fn merge(draft: &mut Draft, defaults: Defaults, rules: Vec<Part<PathRule>>, names: &crate::dialect::ingress::names::Names) {
    let map = &mut draft.map.properties;
    if let Some((pool, settings)) = defaults.backend {
        if pool.id.value != names.id(PartKind::Pool, &names.default_pool()) {
            map.default_pool = Some(pool);
        }
        if settings.id.value != names.id(PartKind::Settings, &names.default_settings()) {
            map.default_settings = Some(settings);
        }
    }
    if let Some(redirect) = defaults.redirect {
        map.default_redirect = Some(redirect);
        map.default_pool = None;
        map.default_settings = None;
    }
    if let Some(rewrites) = defaults.rewrites {
        map.default_rewrites = Some(rewrites);
    }
    for rule in rules {
        let Some(path) = rule.properties.paths.as_ref().and_then(|paths| paths.first()) else { continue };
        if draft.taken.insert(path.value.clone()) {
            map.rules.get_or_insert_default().push(rule);
        }
    }
}
