//! Synthesises the chains of an API gateway's routes: a router for each host, with splitters for shares.

use crate::chain::{self, Chain, NodeKind, Request, Set};
use crate::entry::{Entries, Entry, Kind};
use crate::go;
use crate::names::DEFAULT;
use crate::proxycfg::{ApiGateway, Ready, hosts, reference, services_of};
use crate::validate::is_set;
use crate::xds::context::{Context, Failure};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::{Fields, Plain, Tree};
use chancery_base::resource::{ObjectId, Origin};
use chancery_kubernetes::reason::Reason;
use chancery_kubernetes::{der, pem};
use chancery_text::Str;

/// The chain of a host.
pub(crate) struct Synthetic {
    pub(crate) name: Str,
    pub(crate) host: Str,
    pub(crate) chain: Chain,
    pub(crate) origin: Option<Origin>,
}

/// A route's condition for requests to a host, and its rule.
struct Matched<'a> {
    matches: Tree,
    rule: &'a Tree,
}

/// The chains of a listener's hosts.
pub(crate) fn synthetic(cx: &Context<'_>, gateway: &ApiGateway, ready: &Ready) -> Result<Vec<Synthetic>, Failure> {
    let mut by_host: BTreeMap<Str, Vec<Matched<'_>>> = BTreeMap::new();
    let mut chains: Vec<&Chain> = Vec::new();
    for (kind, name) in ready.bound.get("Routes").items().iter().filter_map(reference).filter(|(kind, _)| *kind == Kind::HttpRoute) {
        let route = cx.mail.entry(kind, &name);
        for host in hosts(route, &ready.listener) {
            let all = by_host.entry(host).or_default();
            for rule in route.get("Rules").items() {
                let given = rule.get("Matches").items();
                let everything = [Tree::object([("Path", Tree::object([("Match", Tree::from("prefix")), ("Value", "/".into())]))])];
                let given = if given.is_empty() { &everything[..] } else { given };
                all.extend(given.iter().map(|matches| Matched { matches: matches.clone(), rule }));
            }
        }
        chains.extend(services_of(kind, route).iter().filter_map(|id| cx.mail.chain(id)));
    }
    let listener = ready.listener.get("Name").text();
    let mut out = Vec::new();
    for (host, mut rules) in by_host {
        rules.sort_by_key(|matched| {
            let lengths = [matched.matches.at(&["Path", "Value"]).text().len(), matched.matches.get("Headers").items().len()];
            (core::cmp::Reverse(lengths), core::cmp::Reverse(matched.matches.get("Query").items().len()))
        });
        let name = Str::from(format!("{}-{listener}-{:x}", gateway.service, go::crc32(host.as_bytes())));
        let origin = rules.first().and_then(|matched| matched.rule.origin);
        let chain = of_host(cx, &name, &rules, &chains).map_err(|why| Failure::new(why, origin))?;
        out.push(Synthetic { name, host, chain, origin });
    }
    Ok(out)
}

fn of_host(cx: &Context<'_>, name: &Str, rules: &[Matched<'_>], chains: &[&Chain]) -> Result<Chain, Reason> {
    let nothing = Entries::new();
    let mut set = Set { entries: &nothing, replacements: BTreeMap::new(), ignores_stored: true, lookups: None };
    let mut add = |kind: Kind, name: &Str, fields: Vec<(&'static str, Tree)>| {
        let tree = Tree::object([("Name", Tree::from(name))].into_iter().chain(fields));
        let entry = Entry { kind, name: name.clone(), tree, key: None, object: ObjectId::BUILT_IN };
        set.replacements.insert((kind, name.clone()), Some(Arc::new(entry)));
    };
    let http = || Vec::from([("Protocol", Tree::from("http"))]);
    add(Kind::ServiceDefaults, name, http());
    let mut routes = Vec::new();
    for (at, Matched { matches, rule }) in rules.iter().enumerate() {
        let services = rule.get("Services");
        let destination = match services.items() {
            [service] => destined(rule, service, service.get("Name").str()),
            _ => {
                let splitter = Str::from(format!("{name}-{at}"));
                let splits = splits(services);
                if !splits.is_empty() {
                    add(Kind::ServiceSplitter, &splitter, Vec::from([("Splits", splits.into())]));
                    add(Kind::ServiceDefaults, &splitter, http());
                }
                destined(rule, &Tree::NULL, splitter)
            }
        };
        for service in services.items() {
            add(Kind::ServiceDefaults, &service.get("Name").str(), http());
        }
        let matches = Tree::object([("HTTP", condition(matches))]);
        routes.push(Tree::object([("Match", matches), ("Destination", destination)]).or_from(rule.origin));
    }
    add(Kind::ServiceRouter, name, Vec::from([("Routes", routes.into())]));
    let request = Request { service: name.clone(), datacenter: cx.instance.node.datacenter.clone(), ..Request::default() };
    let mut chain = chain::compile(&set, &request)?;
    join(&mut chain, chains);
    Ok(chain)
}

/// Replaces the resolvers of services by their chains, and removes nodes that lead back to the gateway.
fn join(chain: &mut Chain, chains: &[&Chain]) {
    let own = chain.first().map(|node| format!("resolver:{}", node.name)).unwrap_or_default();
    if let Some(NodeKind::Router(routes)) = chain.nodes.get_mut(&chain.start).map(|node| &mut node.kind) {
        routes.retain(|route| !route.next.starts_with(&own));
        chain.nodes.retain(|key, _| !key.starts_with(&own));
    }
    for node in chain.nodes.values_mut() {
        match &mut node.kind {
            NodeKind::Router(routes) => routes.iter_mut().for_each(|route| route.next = continued(&route.next, chains)),
            NodeKind::Splitter(splits) => splits.iter_mut().for_each(|split| split.next = continued(&split.next, chains)),
            NodeKind::Resolver(_) => {}
        }
    }
    for other in chains {
        chain.targets.extend(other.targets.iter().map(|(id, target)| (id.clone(), target.clone())));
        chain.nodes.extend(other.nodes.iter().map(|(key, node)| (key.clone(), node.clone())));
    }
}

/// Returns the next node after a resolved one, from the chain of its service, whose router is ignored.
fn continued(node: &str, chains: &[&Chain]) -> String {
    let Some(rest) = node.strip_prefix("resolver:") else { return node.to_string() };
    let splitter = format!("splitter:{rest}");
    for chain in chains {
        if rest.starts_with(&format!("{}.", chain.service)) && chain.nodes.len() == 1 {
            return chain.start.clone();
        }
        let found = chain.nodes.iter().find(|(key, node)| matches!(node.kind, NodeKind::Splitter(_)) && splitter.starts_with(key.as_str()));
        if let Some((key, _)) = found {
            return key.clone();
        }
    }
    node.to_string()
}

/// The shares of a rule's services: each is computed from the weights of all.
fn splits(services: &Tree) -> Vec<Tree> {
    let (origin, services) = (services.origin.map(Origin::whole), services.items());
    let total: i64 = services.iter().map(|service| service.get("Weight").int()).sum();
    let shared = services.iter().filter(|service| service.get("Weight").int() != 0);
    let split = |service: &Tree| {
        let weight = service.get("Weight");
        // Weights are 32 bits wide.
        let share = weight.int() as f32 / total as f32 * 100.0;
        Tree::object([
            ("Weight", Tree::from(f64::from(share)).or_from(origin)),
            ("Service", service.get("Name").clone()),
            ("RequestHeaders", modifiers(&[service.at(&["Filters", "Headers"])])),
        ])
        .or_from(service.origin)
    };
    shared.map(split).collect()
}

/// Merges the headers of several filters.
fn modifiers(lists: &[&Tree]) -> Tree {
    let mut out = Tree { value: Plain::Object(Fields::default()), origin: None };
    for filter in lists.iter().flat_map(|list| list.items()) {
        for field in ["Add", "Set"] {
            for (name, value) in filter.get(field).fields() {
                match out.get_mut(field) {
                    Some(map) => map.set(name, value.clone()),
                    None => out.set(field, Tree::object([(name.clone(), value.clone())])),
                }
            }
        }
        for name in filter.get("Remove").items() {
            match out.get_mut("Remove") {
                Some(list) => list.push(name.clone()),
                None => out.set("Remove", Vec::from([name.clone()]).into()),
            }
        }
    }
    out
}

/// The target of a rule's requests, and their changes.
fn destined(rule: &Tree, service: &Tree, to: Str) -> Tree {
    let filters = rule.get("Filters");
    let own = service.get("Filters");
    let rewrite = own.find("URLRewrite").unwrap_or_else(|| filters.get("URLRewrite")).get("Path");
    let (timeout, retry) = (filters.get("TimeoutFilter"), filters.get("RetryFilter"));
    let some = |value: &Tree| if is_set(value) { value.clone() } else { Tree::NULL };
    Tree::object([
        ("Service", Tree::from(to).or_from(service.get("Name").origin)),
        ("Namespace", DEFAULT.into()),
        ("Partition", DEFAULT.into()),
        ("PrefixRewrite", some(rewrite)),
        ("RequestHeaders", modifiers(&[filters.get("Headers"), own.get("Headers")])),
        ("RequestTimeout", some(timeout.get("RequestTimeout"))),
        ("IdleTimeout", some(timeout.get("IdleTimeout"))),
        ("NumRetries", some(retry.get("NumRetries"))),
        ("RetryOn", some(retry.get("RetryOn"))),
        ("RetryOnStatusCodes", some(retry.get("RetryOnStatusCodes"))),
        ("RetryOnConnectFailure", some(retry.get("RetryOnConnectFailure"))),
    ])
    .or_from(rule.origin)
}

/// The condition of a request, in the form of routers.
fn condition(matches: &Tree) -> Tree {
    let path = matches.get("Path");
    let field = match path.get("Match").text() {
        "exact" => "PathExact",
        "regex" => "PathRegex",
        _ => "PathPrefix",
    };
    let each = |list: &str| {
        let one = |value: &Tree| {
            let (field, what) = match value.get("Match").text() {
                "prefix" => ("Prefix", value.get("Value").clone()),
                "suffix" => ("Suffix", value.get("Value").clone()),
                "present" => ("Present", true.into()),
                "regex" => ("Regex", value.get("Value").clone()),
                _ => ("Exact", value.get("Value").clone()),
            };
            Tree::object([("Name", value.get("Name").clone()), (field, what)]).or_from(value.origin)
        };
        let all: Vec<Tree> = matches.get(list).items().iter().map(one).collect();
        if all.is_empty() { Tree::NULL } else { all.into() }
    };
    let method = matches.get("Method");
    let methods = if method.text().is_empty() { Tree::NULL } else { Vec::from([method.clone()]).into() };
    Tree::object([(field, path.get("Value").clone()), ("Header", each("Headers")), ("QueryParam", each("Query")), ("Methods", methods)])
        .or_from(matches.origin)
}

/// The hosts of a certificate; empty if it cannot be parsed.
pub(crate) fn certificate_hosts(pem: &str) -> Vec<Str> {
    let Ok(Some(block)) = pem::next(&mut pem.as_bytes()) else { return Vec::new() };
    let Some(certificate) = der::certificate(&block.bytes) else { return Vec::new() };
    let common = certificate.common_name.filter(|name| !name.is_empty());
    common.into_iter().chain(certificate.dns_names).map(Str::from).collect()
}
