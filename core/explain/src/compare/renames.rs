//! Finds renamed hosts: hosts whose routes are all or mostly the same under another name on the second side. The first side can then be compared as
//! if the hosts already had their new names, and each rename is reported once.
//!
//! Does not compare parts (see `parts`) or requests (see `requests`).

use super::{Change, ChangeKind, Side};
use crate::{OriginView, ResourceRef};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::emit::pb;
use chancery_envoy_api::prost::Message;
use core::cmp::Reverse;
use hashbrown::HashSet;
use pb::hcm::{HttpConnectionManager, http_connection_manager::RouteSpecifier};
use pb::listener::{FilterChain, filter::ConfigType};
use pb::matcher::string_matcher::MatchPattern;
use pb::route::{HeaderMatcher, Route, RouteConfiguration, VirtualHost, header_matcher::HeaderMatchSpecifier};

/// A route that this many hosts share does not identify any of them.
const MOST_HOSTS: usize = 64;

/// New host names by old host names.
pub(super) type Names = BTreeMap<String, String>;

#[derive(Default)]
pub(super) struct Renames {
    /// New names by old names.
    pub names: Names,
    /// The change to report for each rename.
    pub changes: Vec<Change>,
}

/// A host that only one side has.
#[derive(Default)]
struct NamedGroup {
    /// Whether a virtual host has the name, not only routes.
    is_virtual_host: bool,
    /// The place of the virtual host, or of its first route.
    pointer: String,
    /// Further names of the virtual host.
    aliases: Vec<String>,
    /// Its routes without the name.
    routes: BTreeSet<Vec<u8>>,
}

type ByName = BTreeMap<String, NamedGroup>;

/// The placeholder for the name in routes.
const NAMELESS: &str = "\u{0}";

/// Finds the renamed hosts.
pub(super) fn find(before: &Side<'_>, after: &Side<'_>) -> Renames {
    let names = [names(before.config), names(after.config)];
    let gone: BTreeSet<&str> = names[0].difference(&names[1]).copied().collect();
    let come: BTreeSet<&str> = names[1].difference(&names[0]).copied().collect();
    if gone.is_empty() || come.is_empty() {
        return Renames::default();
    }
    let (old, new) = (known(before.config, &gone), known(after.config, &come));
    let mut by_route: BTreeMap<&[u8], Vec<&str>> = BTreeMap::new();
    for (name, known) in &new {
        known.routes.iter().for_each(|route| by_route.entry(route).or_default().push(name));
    }
    by_route.retain(|_, names| names.len() <= MOST_HOSTS);
    let mut pairs = Vec::new();
    for (name, was) in &old {
        let mut common: BTreeMap<&str, usize> = BTreeMap::new();
        for other in was.routes.iter().filter_map(|route| by_route.get(route.as_slice())).flatten() {
            *common.entry(*other).or_default() += 1;
        }
        let origin = made_by(before, &was.pointer);
        for (other, same) in common {
            let Some(is) = new.get(other) else { continue };
            let all = was.routes.len().max(is.routes.len());
            if same * 2 >= all && was.is_virtual_host == is.is_virtual_host && was.aliases.len() == is.aliases.len() {
                // The most similar candidate; among equals, one made by the same resource.
                let is_others = origin.is_none() || origin != made_by(after, &is.pointer);
                pairs.push((Reverse(same * 1000 / all), is_others, name, other, same));
            }
        }
    }
    pairs.sort();
    let mut found = Renames::default();
    let mut taken = BTreeSet::new();
    for (.., name, other, same) in pairs {
        let (Some(was), Some(is)) = (old.get(name), new.get(other)) else { continue };
        if found.names.contains_key(name) || !taken.insert(other) {
            continue;
        }
        found.names.insert(name.clone(), other.to_string());
        found.names.extend(was.aliases.iter().cloned().zip(is.aliases.iter().cloned()));
        found.changes.push(Change {
            change: ChangeKind::Renamed,
            kind: if was.is_virtual_host { "virtual host" } else { "host" }.into(),
            name: other.to_string(),
            was: Some(name.clone()),
            note: Some(note(same, was.routes.len())),
            fields: Vec::new(),
            before: origins(before, &was.pointer),
            after: origins(after, &is.pointer),
        });
    }
    found
}

fn note(same: usize, all: usize) -> String {
    match (same, all) {
        (1, 1) => "its route is the same".into(),
        _ if same == all => format!("its {all} routes are the same"),
        _ => format!("{same} of its {all} routes are the same"),
    }
}

fn origins(side: &Side<'_>, pointer: &str) -> Vec<OriginView> {
    side.source.map(|source| source.origins(pointer)).unwrap_or_default()
}

fn made_by(side: &Side<'_>, pointer: &str) -> Option<ResourceRef> {
    origins(side, pointer).into_iter().find_map(|origin| origin.resource)
}

/// Returns all host names in a configuration.
fn names(config: &EnvoyConfig) -> HashSet<&str> {
    let mut out = HashSet::new();
    for (_, table) in config.route_tables() {
        for host in &table.virtual_hosts {
            out.extend(host.domains.iter().map(String::as_str));
            out.extend(host.routes.iter().filter_map(required_host));
        }
    }
    out
}

/// Returns the host that a route requires.
fn required_host(route: &Route) -> Option<&str> {
    route.r#match.iter().flat_map(|of| &of.headers).filter(|of| is_host(of)).find_map(|of| match &of.header_match_specifier {
        Some(HeaderMatchSpecifier::StringMatch(of)) => match &of.match_pattern {
            Some(MatchPattern::Exact(name)) => Some(name.as_str()),
            _ => None,
        },
        _ => None,
    })
}

fn is_host(of: &HeaderMatcher) -> bool {
    of.name.eq_ignore_ascii_case(":authority") || of.name.eq_ignore_ascii_case("host")
}

/// Collects the hosts with these names.
fn known(config: &EnvoyConfig, names: &BTreeSet<&str>) -> ByName {
    let mut out = ByName::new();
    for (pointer, table) in config.route_tables() {
        for (at, host) in table.virtual_hosts.iter().enumerate() {
            let pointer = format!("{pointer}/virtual_hosts/{at}");
            let own = host.domains.first().filter(|_| host.domains.iter().all(|name| names.contains(name.as_str())));
            if let Some(name) = own {
                let known = out.entry(name.clone()).or_default();
                if !known.is_virtual_host {
                    let aliases = host.domains.get(1..).unwrap_or_default().to_vec();
                    *known = NamedGroup { is_virtual_host: true, pointer, aliases, routes: BTreeSet::new() };
                }
                let nameless = host.domains.iter().map(|name| (name.clone(), NAMELESS.into())).collect();
                known.routes.extend(host.routes.iter().map(|route| without(route, &nameless)));
                continue;
            }
            for (at, route) in host.routes.iter().enumerate() {
                let Some(name) = required_host(route).filter(|name| names.contains(name)) else { continue };
                let known = out.entry(name.into()).or_default();
                if known.is_virtual_host {
                    continue;
                }
                if known.pointer.is_empty() {
                    known.pointer = format!("{pointer}/routes/{at}");
                }
                known.routes.insert(without(route, &Names::from([(name.into(), NAMELESS.into())])));
            }
        }
    }
    out.retain(|_, known| !known.routes.is_empty());
    out
}

fn without(route: &Route, names: &Names) -> Vec<u8> {
    let mut route = route.clone();
    rename_route(&mut route, names);
    route.encode_to_vec()
}

/// Returns a configuration in which hosts have their new names.
pub(super) fn renamed(config: &EnvoyConfig, names: &Names) -> EnvoyConfig {
    let mut out = config.clone();
    for listener in &mut out.listeners {
        listener.message.filter_chains.iter_mut().chain(&mut listener.message.default_filter_chain).for_each(|chain| rename_chain(chain, names));
    }
    out.routes.iter_mut().for_each(|table| rename_table(&mut table.message, names));
    out
}

fn rename_chain(chain: &mut FilterChain, names: &Names) {
    for name in chain.filter_chain_match.iter_mut().flat_map(|of| &mut of.server_names) {
        if let Some((old, new)) = names.get_key_value(name) {
            chain.name = chain.name.replace(old, new);
            name.clone_from(new);
        }
    }
    for filter in &mut chain.filters {
        let Some(ConfigType::TypedConfig(any)) = &mut filter.config_type else { continue };
        let Some(manager) = any.downcast_ref::<HttpConnectionManager>() else { continue };
        let mut manager = manager.clone();
        if let Some(RouteSpecifier::RouteConfig(table)) = &mut manager.route_specifier {
            rename_table(table, names);
            *any = pb::Any::pack(manager);
        }
    }
}

fn rename_table(table: &mut RouteConfiguration, names: &Names) {
    for host in &mut table.virtual_hosts {
        rename_host(host, names, &mut table.name);
    }
}

fn rename_host(host: &mut VirtualHost, names: &Names, table: &mut String) {
    for domain in &mut host.domains {
        if let Some((old, new)) = names.get_key_value(domain) {
            host.name = host.name.replace(old, new);
            *table = table.replace(old, new);
            domain.clone_from(new);
        }
    }
    host.routes.iter_mut().for_each(|route| rename_route(route, names));
}

fn rename_route(route: &mut Route, names: &Names) {
    for header in route.r#match.iter_mut().flat_map(|of| &mut of.headers).filter(|of| is_host(of)) {
        let Some(HeaderMatchSpecifier::StringMatch(of)) = &mut header.header_match_specifier else { continue };
        match &mut of.match_pattern {
            Some(MatchPattern::Exact(name)) => {
                if let Some(new) = names.get(name) {
                    name.clone_from(new);
                }
            }
            // For `*.example.com`, the name without the star.
            Some(MatchPattern::Suffix(name)) => rename_wild(name, names, &|name| name.into()),
            Some(MatchPattern::SafeRegex(regex)) => rename_wild(&mut regex.regex, names, &|name| name.replace('.', "\\.")),
            _ => {}
        }
    }
}

fn rename_wild(text: &mut String, names: &Names, written: &dyn Fn(&str) -> String) {
    for (old, new) in names {
        let Some(old) = old.strip_prefix('*').map(written).filter(|old| text.contains(old)) else { continue };
        *text = text.replace(&old, &written(new.strip_prefix('*').unwrap_or(new)));
        return;
    }
}
