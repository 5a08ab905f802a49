//! Validates a config entry against others: chains that would break, gateways that conflict. Validation of a single entry is in `validate`.

use super::chain::{self, NodeKind, Request, Set};
use super::entry::{Entries, Entry, Kind};
use super::go::{Errors, quote};
use super::state::State;
use super::validate::{Verdict, is_http, is_set, refuse};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

/// Checks whether an entry is consistent with the stored ones.
pub(crate) fn validate(state: &State, entry: &Arc<Entry>) -> Verdict {
    let entries = &state.entries;
    let clash = |other: Kind| {
        refuse(entries.contains_key(&(other, entry.name.clone())), || {
            let (kind, name) = (quote(entry.kind.name()), quote(&entry.name));
            let other = quote(other.name());
            format!("cannot create a {kind} config entry with name {name}, a {other} config entry with that name already exists")
        })
    };
    match entry.kind {
        Kind::ProxyDefaults | Kind::ServiceDefaults => permissive(entries, entry)?,
        Kind::IngressGateway => clash(Kind::TerminatingGateway)?,
        Kind::TerminatingGateway => clash(Kind::IngressGateway)?,
        Kind::ServiceIntentions => providers(entries, entry)?,
        _ => {}
    }
    services(state, entry)
}

fn permissive(entries: &Entries, entry: &Entry) -> Verdict {
    let key = (entry.kind, entry.name.clone());
    let wants = |entry: &Entry| entry.tree.get("MutualTLSMode").is("permissive");
    let before = entries.get(&key).is_some_and(|before| wants(before));
    let mesh = entries.get(&(Kind::Mesh, Str::new_static("mesh")));
    let allowed = mesh.is_some_and(|mesh| mesh.tree.get("AllowEnablingPermissiveMutualTLS").bool());
    refuse(wants(entry) && !before && !allowed, || {
        "cannot set MutualTLSMode=permissive because AllowEnablingPermissiveMutualTLS=false in the mesh config entry".into()
    })
}

/// The providers that intentions name.
pub(crate) fn named_providers(tree: &Tree) -> BTreeSet<Str> {
    let permissions = tree.get("Sources").items().iter().flat_map(|source| source.get("Permissions").items());
    let jwt = [tree].into_iter().chain(permissions).flat_map(|holder| holder.at(&["JWT", "Providers"]).items());
    jwt.map(|provider| provider.get("Name").str()).collect()
}

fn providers(entries: &Entries, entry: &Entry) -> Verdict {
    let mut errors = Errors::default();
    for name in named_providers(&entry.tree) {
        if !entries.contains_key(&(Kind::JwtProvider, name.clone())) {
            errors.add(format!("Referenced JWT Provider does not exist. Provider Name: {name}"));
        }
    }
    errors.result()
}

/// The services and entries that an entry may break.
#[derive(Default)]
struct Affected {
    chains: BTreeSet<Str>,
    ingress: Vec<Arc<Entry>>,
    intentions: Vec<Arc<Entry>>,
    strict: bool,
}

/// The services whose requests may reach this one through entries, including itself.
fn before(state: &State, service: &Str) -> BTreeSet<Str> {
    let mut found = BTreeSet::from([service.clone()]);
    let mut todo = Vec::from([service.clone()]);
    while let Some(name) = todo.pop() {
        let leading = state.leading.to(&name).filter(|(kind, _)| *kind != Kind::IngressGateway);
        for (_, from) in leading {
            if found.insert(from.clone()) {
                todo.push(from.clone());
            }
        }
    }
    found
}

fn affected(state: &State, entry: &Arc<Entry>) -> Affected {
    let entries = &state.entries;
    let of = |kind: Kind| entries.iter().filter(move |((of, _), _)| *of == kind).map(|(_, entry)| entry.clone());
    let mut affected = Affected::default();
    match entry.kind {
        Kind::ProxyDefaults => {
            for kind in [Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver] {
                affected.chains.extend(of(kind).map(|entry| entry.name.clone()));
            }
            affected.ingress.extend(of(Kind::IngressGateway));
            affected.intentions.extend(of(Kind::ServiceIntentions));
        }
        Kind::ServiceIntentions => affected.intentions.push(entry.clone()),
        Kind::IngressGateway => {
            affected.ingress.push(entry.clone());
            affected.strict = true;
        }
        _ => {
            // The reference checks all intentions. Chains of other services did not change since their own entries were stored.
            let intentions = before(state, &entry.name).into_iter().map(|name| (Kind::ServiceIntentions, name));
            affected.intentions.extend(intentions.filter_map(|key| entries.get(&key)).cloned());
            affected.chains.insert(entry.name.clone());
            for other in state.leading.to(&entry.name).filter_map(|key| entries.get(key)) {
                if other.kind == Kind::IngressGateway {
                    affected.ingress.push(other.clone());
                } else {
                    affected.chains.insert(other.name.clone());
                }
            }
        }
    }
    for ingress in &affected.ingress {
        affected.chains.extend(ingress.related_services());
    }
    affected.chains.extend(affected.intentions.iter().map(|entry| entry.name.clone()));
    affected
}

fn services(state: &State, entry: &Arc<Entry>) -> Verdict {
    let mut set = Set::of(&state.entries);
    match entry.kind {
        Kind::ExportedServices => {
            let exported = state.exported_by(&entry.tree);
            return exported.iter().try_for_each(|service| export_is_safe(&set, service));
        }
        Kind::Mesh => return Ok(()),
        _ => {}
    }
    set.replacements.insert((entry.kind, entry.name.clone()), Some(entry.clone()));
    let affected = affected(state, entry);
    let request = |service: &Str| Request { service: service.clone(), datacenter: Str::new_static("dc1"), ..Request::default() };
    let mut found = BTreeMap::new();
    for service in &affected.chains {
        let chain = chain::compile(&set, &request(service))?;
        if state.is_exported(service) {
            export_is_safe(&set, service)?;
        }
        let is_resolver = matches!(chain.first().map(|node| &node.kind), Some(NodeKind::Resolver(_)));
        found.insert(service.clone(), (chain.protocol, is_resolver));
    }
    for listener in affected.ingress.iter().flat_map(|ingress| ingress.tree.get("Listeners").items()) {
        let expected = listener.get("Protocol").text();
        for service in listener.get("Services").items().iter().map(|service| service.get("Name").str()) {
            let Some((protocol, is_resolver)) = found.get(&service).filter(|(protocol, _)| protocol != expected) else { continue };
            refuse(affected.strict || expected != "tcp" || !is_resolver, || {
                let (service, protocol, expected) = (quote(&service), quote(protocol), quote(expected));
                format!("service {service} has protocol {protocol}, which does not match defined listener protocol {expected}")
            })?;
        }
    }
    for intentions in affected.intentions.iter().filter(|entry| entry.name != "*") {
        let permissions = intentions.tree.get("Sources").items().iter().any(|source| is_set(source.get("Permissions")));
        let protocol = found.get(&intentions.name).map(|(protocol, _)| protocol.to_string()).unwrap_or_default();
        refuse(permissions && !is_http(&protocol), || {
            let service = quote(&intentions.name);
            format!("service {service} has protocol {}, which is incompatible with L7 intentions permissions", quote(&protocol))
        })?;
    }
    Ok(())
}

/// Checks that a peer may use the service: its chain must not leave the datacenter.
fn export_is_safe(set: &Set<'_>, service: &Str) -> Verdict {
    let mut todo = Vec::from([service.clone()]);
    let mut seen = BTreeSet::new();
    let refused = |what: &str| Err(format!("peer exported service {} contains {what}", quote(service)).into());
    while let Some(name) = todo.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let kinds = [Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver];
        let kinds = kinds.into_iter().filter(|kind| *kind != Kind::ServiceRouter || name == *service);
        for entry in kinds.filter_map(|kind| set.get(kind, &name)) {
            todo.extend(entry.related_services());
            let redirect = entry.tree.get("Redirect");
            if is_set(redirect.get("Datacenter")) {
                return refused("cross-datacenter resolver redirect");
            }
            if is_set(redirect.get("Peer")) {
                return refused("cross-peer resolver redirect");
            }
            for (_, failover) in entry.tree.get("Failover").fields() {
                let elsewhere = failover.get("Targets").items().iter().any(|target| is_set(target.get("Datacenter")));
                if elsewhere || is_set(failover.get("Datacenters")) {
                    return refused("cross-datacenter failover");
                }
            }
        }
    }
    Ok(())
}
