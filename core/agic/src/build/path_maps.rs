//! Makes path maps: for each listener the paths of all its rules, and the default target.
//!
//! AGIC `getPathMaps` and `mergePathMap` in `pkg/appgw/requestroutingrules.go`. The first of equal paths wins, and the last default.

use super::builder::Builder;
use super::draft::{Defaults, Group, ListenerConfig, Paths, Use};
use super::memory::{KnownPathMap, address};
use super::share::{Share, ShareInput};
use super::{listeners, pools, rewrites};
use crate::annotations as a;
use crate::crash::ControllerCrash;
use crate::model::{Ingress, Path, PathType, Rule};
use crate::names::{ListenerId, Names, PartKind};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Part, PathMap, PathRule, Reference};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;
use hashbrown::HashSet;

/// Makes all path maps.
pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    let all = builder.shares.iter().zip(0..).flat_map(|(share, at)| share.paths.iter().map(move |paths| (at, paths)));
    let all: Vec<(u32, &Arc<Paths>)> = all.collect();
    let paths = all.iter().map(|(_, paths)| (*paths).clone()).collect();
    let places = builder.memory.orders.groups.places(paths, |paths| &*paths.id);
    let sorted = places.iter().filter_map(|place| all.get(*place as usize)).map(|(at, paths)| (*at, (*paths).clone()));
    let mut groups: Vec<Vec<(u32, Arc<Paths>)>> = Vec::new();
    for (at, paths) in sorted {
        match groups.last_mut().filter(|group| group.first().is_some_and(|(_, first)| first.id == paths.id)) {
            Some(group) => group.push((at, paths)),
            None => groups.push(Vec::from([(at, paths)])),
        }
    }
    let mut made: Vec<Group> = groups.into_iter().filter_map(|paths| group(builder, paths)).collect();
    if made.is_empty() {
        let id = Arc::new(builder.given().default_listener());
        let map = Arc::new(empty(builder.names, &id, Origin::built_in()));
        made.push(Group { id, map, paths: Vec::new() });
    }
    builder.path_maps = made;
    Ok(())
}

/// Makes the path map of one listener from its paths.
fn group(builder: &mut Builder<'_, '_>, paths: Vec<(u32, Arc<Paths>)>) -> Option<Group> {
    let first = paths.first().map(|(_, first)| first.clone())?;
    let (names, redirects) = (builder.names, &builder.redirects);
    let redirected = || paths.iter().map(|(_, paths)| is_redirected(redirects, paths));
    let is = |known: &KnownPathMap| {
        known.paths.len() == paths.len()
            && known.paths.iter().zip(&paths).all(|(known, (_, now))| Arc::ptr_eq(known, now))
            && known.redirected.iter().copied().eq(redirected())
    };
    let make = || {
        let mut map = empty(names, &first.id, first.origin);
        let mut taken = HashSet::new();
        paths.iter().for_each(|(_, paths)| merge(names, (&mut map, &mut taken), paths, is_redirected(redirects, paths)));
        let of = paths.iter().map(|(_, paths)| paths.clone()).collect();
        KnownPathMap { paths: of, redirected: redirected().collect(), map: Arc::new(map) }
    };
    let map = builder.memory.path_maps.or_make(address(&first), is, make).map.clone();
    Some(Group { id: first.id.clone(), map, paths })
}

fn is_redirected(redirects: &HashSet<Str>, paths: &Paths) -> bool {
    paths.redirect.as_ref().is_some_and(|redirect| redirects.contains(&redirect.id.value))
}

/// A path map with the default pool and its settings.
fn empty(names: &Names, id: &ListenerId, origin: Origin) -> Part<PathMap> {
    let name = names.path_map(id);
    let part_id = names.id(PartKind::PathMap, &name);
    let reference = |kind, name: Str| Some(Reference::from(Sourced::new(names.id(kind, &name), Origin::built_in())));
    let map = PathMap {
        default_pool: reference(PartKind::Pool, names.default_pool()),
        default_settings: reference(PartKind::Settings, names.default_settings()),
        rules: Some(Vec::new()),
        ..PathMap::default()
    };
    Part::new(name, part_id, map, origin)
}

/// Adds the paths of an Ingress.
pub(super) fn add(given: &ShareInput<'_, '_>, share: &mut Share) {
    let mut paths = Vec::new();
    if share.ingress.rules.is_empty() {
        paths.extend(share.default_use().map(|used| without_rules(given, used)));
    }
    // Shared ids are compared by address.
    let shared = |id: ListenerId| match share.listeners.binary_search_by(|wanted| (*wanted.id).cmp(&id)) {
        Ok(at) => share.listeners[at].id.clone(),
        Err(_) => Arc::new(id),
    };
    for (number, rule) in share.ingress.rules.iter().enumerate().filter(|(_, rule)| rule.http.is_some()) {
        for (id, config) in listeners::of_rule(given.source, given.names, &share.ingress, rule) {
            let id = shared(id);
            paths.push(of_rule(given, share, id, &config, (number, rule)));
        }
    }
    share.paths = paths.into_iter().map(Arc::new).collect();
}

/// An Ingress with a default backend and no rules uses the listener without hosts, with the default settings.
fn without_rules(given: &ShareInput<'_, '_>, used: &Use) -> Paths {
    let pool = pools::name_of(given, used);
    let pool = given.reference(PartKind::Pool, &pool, pool.origin).with(&used.ports);
    let settings = given.reference(PartKind::Settings, &given.names.default_settings(), Origin::built_in());
    let defaults = Defaults { backend: Some((pool, settings)), rewrites: None };
    Paths { id: Arc::new(given.default_listener()), rule: None, origin: used.origin, redirect: None, defaults, rules: Vec::new() }
}

fn of_rule(given: &ShareInput<'_, '_>, share: &Share, id: Arc<ListenerId>, config: &ListenerConfig, (number, rule): (usize, &Rule)) -> Paths {
    let last = rule.paths().iter().rposition(Path::is_catch_all);
    let used = match last {
        Some(path) => share.use_of(number, path),
        None => share.default_use(),
    };
    let rewrites = rewrites::of_ingress(given, &share.ingress);
    let backend = used.map(|used| to(given, used));
    let defaults = Defaults { rewrites: rewrites.clone().filter(|_| backend.is_some()), backend };
    let rules = rules_of(given, share, &id, rewrites.as_ref(), (number, rule));
    Paths { redirect: redirect(given, &id, config, &share.ingress), id, rule: Some(number), origin: rule.origin, defaults, rules }
}

/// Returns the redirect of an Ingress's HTTP, if the gateway has it. It is always looked up at port 443.
fn redirect(given: &ShareInput<'_, '_>, id: &ListenerId, config: &ListenerConfig, ingress: &Ingress) -> Option<Reference> {
    if config.is_https || !ingress.annotations.is_true(&a::SSL_REDIRECT) {
        return None;
    }
    let target = id.at_port(443);
    let at = ingress.annotations.text(&a::SSL_REDIRECT).and_then(|text| text.origin);
    Some(given.reference(PartKind::Redirect, &given.names.redirect(&target), at))
}

fn to(given: &ShareInput<'_, '_>, used: &Use) -> (Reference, Reference) {
    let reference = |kind, name| given.reference(kind, name, used.origin).with(&used.ports);
    (reference(PartKind::Pool, &used.pool), reference(PartKind::Settings, &used.settings))
}

fn rules_of(
    given: &ShareInput<'_, '_>,
    share: &Share,
    id: &ListenerId,
    rewrites: Option<&Reference>,
    (number, rule): (usize, &Rule),
) -> Vec<Part<PathRule>> {
    let ingress = &share.ingress;
    let map = given.names.path_map(id);
    let policy = ingress.annotations.text(&a::WAF_POLICY).map(Reference::from);
    let paths = rule.paths().iter().enumerate().filter(|(_, path)| !path.is_catch_all());
    let made = paths.map(|(path_number, path)| {
        let name = given.names.path_rule(&ingress.namespace, &ingress.name, number, path_number);
        let part_id = given.names.path_rule_id(&map, &name);
        let (pool, settings) = share.use_of(number, path_number).map(|used| to(given, used)).unzip();
        let properties = PathRule {
            paths: Some(Vec::from([pattern(path)])),
            firewall_policy: policy.clone(),
            rewrites: rewrites.cloned(),
            pool,
            settings,
            ..PathRule::default()
        };
        Part::new(name, part_id, properties, path.origin)
    });
    made.collect()
}

/// Returns the gateway's form of the path: a prefix gets a star at its end, and an exact path loses one.
fn pattern(path: &Path) -> Sourced<Str> {
    path.path.clone().map(|text| match path.path_type {
        PathType::Exact => Str::new(text.strip_suffix('*').unwrap_or(&text)),
        PathType::Prefix if !text.ends_with('*') => format!("{text}*").into(),
        _ => text,
    })
}

/// Merges a rule's paths and defaults. The first of equal paths wins. The default pool and settings change nothing.
fn merge(names: &Names, (part, taken): (&mut Part<PathMap>, &mut HashSet<Str>), paths: &Paths, is_redirected: bool) {
    if paths.rule.is_none() {
        taken.clear();
        *part = empty(names, &paths.id, paths.origin);
        part.properties.default_pool = paths.defaults.backend.as_ref().map(|(pool, _)| pool.clone());
        return;
    }
    let map = &mut part.properties;
    let redirect = paths.redirect.as_ref().filter(|_| is_redirected);
    if let Some(redirect) = redirect {
        map.default_redirect = Some(redirect.clone());
        map.default_pool = None;
        map.default_settings = None;
    } else {
        if let Some((pool, settings)) = &paths.defaults.backend {
            if pool.id.value != names.id(PartKind::Pool, &names.default_pool()) {
                map.default_pool = Some(pool.clone());
            }
            if settings.id.value != names.id(PartKind::Settings, &names.default_settings()) {
                map.default_settings = Some(settings.clone());
            }
        }
        if let Some(rewrites) = &paths.defaults.rewrites {
            map.default_rewrites = Some(rewrites.clone());
        }
    }
    let rules = map.rules.get_or_insert_default();
    for rule in &paths.rules {
        let Some(path) = rule.properties.paths.as_ref().and_then(|paths| paths.first()) else { continue };
        if !taken.insert(path.value.clone()) {
            continue;
        }
        let mut rule = rule.clone();
        if let Some(redirect) = redirect {
            rule.properties.redirect = Some(redirect.clone());
            (rule.properties.pool, rule.properties.settings) = (None, None);
        }
        rules.push(rule);
    }
}
