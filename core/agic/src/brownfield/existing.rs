//! Determines which parts of a gateway others own: everything that leads to a prohibited target, and the parts of it.
//!
//! AGIC determines this from the current gateway at each step of the builder, so the result changes while the gateway is built.

use super::Targets;
use crate::crash::ControllerCrash;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Part, PathMap, Properties, Reference, Rule};
use chancery_text::Str;

/// The parts that others own, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Existing {
    /// Rules that lead to a prohibited target.
    pub rules: BTreeSet<Str>,
    /// Path maps that lead to a prohibited target.
    pub path_maps: BTreeSet<Str>,
    /// Pools of these rules and path maps.
    pub pools: BTreeSet<Str>,
    /// Settings of these rules and path maps.
    pub settings: BTreeSet<Str>,
    /// Probes of these settings.
    pub probes: BTreeSet<Str>,
    /// Redirects of these rules and path maps.
    pub redirects: BTreeSet<Str>,
    /// Listeners of these rules, and listeners of a prohibited host.
    pub listeners: BTreeSet<Str>,
}

/// The hosts and paths of a rule or a path map.
type Reached = BTreeMap<Str, Vec<(Str, Str)>>;

impl Existing {
    /// Finds them in the current gateway.
    ///
    /// # Errors
    ///
    /// A part lacks a field that the controller relies on.
    pub fn find(gateway: &Properties, targets: &Targets) -> Result<Self, ControllerCrash> {
        let (of_rules, of_maps) = reached(gateway)?;
        let covered =
            |all: &Reached, name: &Str| all.get(name).is_some_and(|reached| reached.iter().any(|(host, path)| targets.covers(host, path).is_some()));
        let mut found = Self::default();
        for rule in gateway.rules.iter().flatten().filter(|rule| covered(&of_rules, &rule.name)) {
            found.rules.insert(rule.name.clone());
            let properties = &rule.properties;
            note(&mut found.pools, &properties.pool);
            note(&mut found.settings, &properties.settings);
            note(&mut found.redirects, &properties.redirect);
            note(&mut found.listeners, &properties.listener);
        }
        for map in gateway.path_maps.iter().flatten().filter(|map| covered(&of_maps, &map.name)) {
            found.path_maps.insert(map.name.clone());
            found.note_path_map(map);
        }
        for listener in gateway.listeners.iter().flatten() {
            let names_it = |host: &Str| targets.names_host(host);
            let one = listener.properties.host_name.as_deref().is_some_and(names_it);
            if one || listener.properties.host_names.iter().flatten().any(|host| names_it(host)) {
                found.listeners.insert(listener.name.clone());
            }
        }
        for settings in gateway.settings.iter().flatten().filter(|settings| found.settings.contains(&settings.name)) {
            note(&mut found.probes, &settings.properties.probe);
        }
        Ok(found)
    }

    fn note_path_map(&mut self, map: &Part<PathMap>) {
        let properties = &map.properties;
        note(&mut self.pools, &properties.default_pool);
        if properties.default_pool.is_some() {
            note(&mut self.settings, &properties.default_settings);
        }
        note(&mut self.redirects, &properties.default_redirect);
        for rule in properties.rules.iter().flatten() {
            note(&mut self.pools, &rule.properties.pool);
            if rule.properties.pool.is_some() {
                note(&mut self.settings, &rule.properties.settings);
            }
            note(&mut self.redirects, &rule.properties.redirect);
        }
    }
}

fn note(names: &mut BTreeSet<Str>, reference: &Option<Reference>) {
    names.extend(reference.as_ref().map(|reference| Str::new(reference.name())));
}

/// Returns the hosts and paths of each rule and each path map.
fn reached(gateway: &Properties) -> Result<(Reached, Reached), ControllerCrash> {
    let listeners: BTreeMap<&str, _> = gateway.listeners.iter().flatten().map(|listener| (listener.name.as_str(), &listener.properties)).collect();
    let maps: BTreeMap<&str, &Part<PathMap>> = gateway.path_maps.iter().flatten().map(|map| (map.name.as_str(), &**map)).collect();
    let (mut of_rules, mut of_maps) = (Reached::new(), Reached::new());
    for rule in gateway.rules.iter().flatten() {
        let Some(listener) = rule.properties.listener.as_ref().and_then(|listener| listeners.get(listener.name())) else { continue };
        let mut hosts: Vec<Str> = match &listener.host_name {
            Some(only) => Vec::from([only.value.clone()]),
            None => listener.host_names.iter().flatten().map(|host| host.value.clone()).collect(),
        };
        if hosts.is_empty() {
            hosts.push(Str::default());
        }
        let of_rule = of_rules.entry(rule.name.clone()).or_default();
        of_rule.extend(hosts.iter().map(|host| (host.clone(), Str::default())));
        for path in paths_of(rule, &maps)? {
            let all = hosts.iter().map(|host| (host.clone(), path.clone()));
            of_rule.extend(all.clone());
            let map = rule.properties.path_map.as_ref().map(|map| Str::new(map.name())).unwrap_or_default();
            of_maps.entry(map).or_default().extend(all);
        }
    }
    Ok((of_rules, of_maps))
}

fn paths_of(rule: &Part<Rule>, maps: &BTreeMap<&str, &Part<PathMap>>) -> Result<Vec<Str>, ControllerCrash> {
    let Some(map) = rule.properties.path_map.as_ref().and_then(|map| maps.get(map.name())) else { return Ok(Vec::new()) };
    let rules = map.properties.rules.as_ref().ok_or_else(|| ControllerCrash::without_field(&map.name, "pathRules", map.origin))?;
    Ok(rules.iter().flat_map(|rule| rule.properties.paths.iter().flatten()).map(|path| path.value.clone()).collect())
}
