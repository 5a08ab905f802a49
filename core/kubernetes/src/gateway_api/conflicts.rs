//! Finds route rules that match the same requests of the same hosts and parents, so that one of them wins.
//!
//! A controller reports this only for routes that it serves, and for one rule of each. This check covers all routes, so the conflict is found
//! before a Gateway exists.

use super::GROUP;
use super::order::Precedence;
use crate::cursor::Cursor;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::diagnostic::{Diagnostic, Place, Severity, codes};
use chancery_base::resource::{Object, ObjectId};
use chancery_text::{Node, NodeId, Str};
use hashbrown::{HashMap, HashSet};

/// A rule with one match at one parent.
#[derive(Clone, Copy)]
struct Rule<'o> {
    object: &'o Object,
    number: usize,
    node: NodeId,
    /// The name and port of the parent's listener, if given.
    section: (&'o str, Option<i64>),
}

/// Kind, Gateway, host, match.
type Key<'o> = (&'o Str, String, &'o str, String);

/// Rules whose requests an earlier rule with the same match receives.
pub fn same_matches(side: SideRef<'_>) -> Vec<Diagnostic> {
    let routes = side.objects().iter().filter(|object| !object.broken && *object.key.group == *GROUP);
    let mut routes: Vec<&Object> = routes.filter(|object| matches!(&*object.key.kind, "HTTPRoute" | "GRPCRoute")).collect();
    if routes.is_empty() {
        return Vec::new();
    }
    let precedence =
        |object: &&Object| Precedence::of(Cursor::new(object.id, &object.root), &object.key.namespace.clone().unwrap_or_default(), &object.key.name);
    routes.sort_by_cached_key(precedence);
    let reported: HashSet<(ObjectId, NodeId)> = side
        .diagnostics()
        .filter(|finding| finding.code == &codes::ROUTE_CONFLICT)
        .filter_map(|finding| if let Place::Node { object, node, .. } = &finding.place { Some((*object, *node)) } else { None })
        .collect();
    let mut known: HashMap<Key<'_>, Vec<Rule<'_>>> = HashMap::new();
    let (mut found, mut lost) = (Vec::new(), HashSet::new());
    for object in routes {
        for (key, rule) in rules(object) {
            let same = known.entry(key).or_default();
            let is_other = |other: &&Rule<'_>| (other.object.id, other.number) != (rule.object.id, rule.number);
            match same.iter().filter(is_other).find(|other| meet(other.section, rule.section)) {
                Some(winner) if !reported.contains(&(object.id, rule.node)) => {
                    if lost.insert((object.id, rule.node)) {
                        found.push(finding(&rule, winner));
                    }
                }
                Some(_) => {}
                None => same.push(rule),
            }
        }
    }
    found
}

/// Whether two references to a Gateway share a listener.
fn meet(one: (&str, Option<i64>), other: (&str, Option<i64>)) -> bool {
    (one.0.is_empty() || other.0.is_empty() || one.0 == other.0) && (one.1.is_none() || other.1.is_none() || one.1 == other.1)
}

fn finding(loser: &Rule<'_>, winner: &Rule<'_>) -> Diagnostic {
    let (message, help) = if loser.object.id == winner.object.id {
        let message = format!("rule {} of this route has the same match, and takes all its requests", winner.number + 1);
        (message, "within a route the earlier rule wins: give them different matches, or join their backends")
    } else {
        let message = format!("{} has a rule with the same match for the same hosts, and wins", winner.object.key);
        (message, "the older route wins, then the one whose namespace and name come first")
    };
    let mut finding = Diagnostic::new(&codes::ROUTE_CONFLICT, message, Place::value(loser.object.id, loser.node))
        .about(loser.object.key.clone())
        .related(Place::value(winner.object.id, winner.node), "this one wins")
        .help(help);
    finding.severity = Severity::Warning;
    finding
}

fn items<'n>(node: &'n Node, name: &str) -> &'n [Node] {
    node.get(name).and_then(Node::as_array).map_or(&[], Vec::as_slice)
}

fn text<'n>(node: &'n Node, name: &str) -> Option<&'n str> {
    node.get(name).and_then(Node::as_str).filter(|text| !text.is_empty())
}

/// The rules of a route, once for each parent, host and match.
fn rules(object: &Object) -> Vec<(Key<'_>, Rule<'_>)> {
    let Some(spec) = object.root.get("spec") else { return Vec::new() };
    let here = object.key.namespace.as_deref().unwrap_or_default();
    let hosts: Vec<&str> = items(spec, "hostnames").iter().filter_map(Node::as_str).collect();
    let hosts = if hosts.is_empty() { Vec::from(["*"]) } else { hosts };
    let is_gateway = |parent: &&Node| text(parent, "kind").is_none_or(|kind| kind == "Gateway");
    let mut out = Vec::new();
    for parent in items(spec, "parentRefs").iter().filter(is_gateway) {
        let gateway = format!("{}/{}", text(parent, "namespace").unwrap_or(here), text(parent, "name").unwrap_or_default());
        let section = (text(parent, "sectionName").unwrap_or_default(), parent.get("port").and_then(Node::as_i64));
        for (number, rule) in items(spec, "rules").iter().enumerate() {
            let matches: Vec<String> = match items(rule, "matches") {
                [] => Vec::from([canonical(&object.key.kind, None)]),
                matches => matches.iter().map(|one| canonical(&object.key.kind, Some(one))).collect(),
            };
            for matched in matches {
                let rule = Rule { object, number, node: rule.id, section };
                out.extend(hosts.iter().map(|host| ((&object.key.kind, gateway.clone(), *host, matched.clone()), rule)));
            }
        }
    }
    out
}

/// The canonical form of a match: explicit defaults, sorted lists, header names in lower case.
fn canonical(kind: &str, matched: Option<&Node>) -> String {
    let part = |name: &str| matched.and_then(|matched| matched.get(name));
    let typed = |node: &Node, default: &str| String::from(text(node, "type").unwrap_or(default));
    let list = |name: &str, lower: bool| {
        let all = matched.map_or(&[][..], |matched| items(matched, name));
        let one = |node: &Node| {
            let name = text(node, "name").unwrap_or_default();
            let name = if lower { name.to_ascii_lowercase() } else { name.into() };
            format!("{name:?} {} {:?}", typed(node, "Exact"), text(node, "value").unwrap_or_default())
        };
        let mut all: Vec<String> = all.iter().map(one).collect();
        all.sort();
        all.join(",")
    };
    let headers = list("headers", true);
    if kind == "GRPCRoute" {
        let method = part("method")
            .map(|of| format!("{} {:?} {:?}", typed(of, "Exact"), text(of, "service").unwrap_or_default(), text(of, "method").unwrap_or_default()));
        return format!("{};{headers}", method.unwrap_or_default());
    }
    let path = part("path").map_or_else(
        || String::from("PathPrefix \"/\""),
        |path| {
            let (of, value) = (typed(path, "PathPrefix"), text(path, "value").unwrap_or("/"));
            // A trailing slash does not change a prefix.
            let value = if of == "PathPrefix" && value.len() > 1 { value.trim_end_matches('/') } else { value };
            format!("{of} {value:?}")
        },
    );
    let method = part("method").and_then(Node::as_str).unwrap_or_default();
    format!("{path};{method};{headers};{}", list("queryParams", false))
}
