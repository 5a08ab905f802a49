//! Which scopes of policies lie in which, and how messages name them. Does not attach policies; see `attach`.

use super::super::cluster::Name;
use super::super::context::{Level, Scope};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The scopes that have their own policies, by their parent scopes.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    children: BTreeMap<Scope, BTreeSet<Scope>>,
    contained: BTreeMap<Scope, BTreeSet<Scope>>,
}

impl Graph {
    /// Says that a policy is for `child`, which lies in `parent`.
    pub(super) fn add(&mut self, parent: Scope, child: Scope) {
        if matches!(parent.level, Level::GatewayListener | Level::ListenerSetListener | Level::RouteRule(_)) {
            self.contained.entry(parent.object()).or_default().insert(parent.clone());
        }
        self.children.entry(parent).or_default().insert(child);
    }

    /// Says that a ListenerSet belongs to a Gateway.
    pub(super) fn register(&mut self, set: &Name, gateway: &Name) {
        self.contained.entry(Scope::gateway(gateway, None)).or_default().insert(Scope::listener_set(set, None));
    }

    /// Returns the scopes with policies right below `parent`.
    pub(super) fn children(&self, parent: &Scope) -> BTreeSet<Scope> {
        self.children.get(parent).cloned().unwrap_or_default()
    }

    fn contained(&self, scope: &Scope) -> impl Iterator<Item = &Scope> {
        self.contained.get(scope).into_iter().flatten()
    }

    /// Returns the scopes with policies anywhere below `parent`.
    pub(super) fn descendants(&self, parent: &Scope) -> BTreeSet<Scope> {
        let mut found = self.children(parent);
        match parent.level {
            Level::Gateway | Level::ListenerSet | Level::Route(_) => {
                for inner in self.contained(parent) {
                    found.extend(self.children(inner));
                    if inner.level == Level::ListenerSet {
                        self.contained(inner).for_each(|listener| found.extend(self.children(listener)));
                    }
                }
            }
            Level::GatewayListener | Level::ListenerSetListener => {
                found.extend(self.children(&parent.object()).into_iter().filter(|child| matches!(child.level, Level::Route(_))));
            }
            Level::RouteRule(_) => {}
        }
        found
    }
}

/// Names scopes for a message, by their kinds; empty without scopes.
pub(super) fn format(scopes: &BTreeSet<Scope>) -> String {
    const LABELS: [&str; 5] = ["these gateway listeners", "these listenersets", "these listenerset listeners", "these routes", "these route rules"];
    let mut by_label: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for scope in scopes {
        let label = match scope.level {
            Level::Gateway => continue,
            Level::GatewayListener => 0,
            Level::ListenerSet => 1,
            Level::ListenerSetListener => 2,
            Level::Route(_) => 3,
            Level::RouteRule(_) => 4,
        };
        let (namespace, name) = &scope.name;
        let section = if scope.section.is_empty() { String::new() } else { format!("/{}", scope.section) };
        by_label.entry(label).or_default().push(format!("{namespace}/{name}{section}"));
    }
    let parts: Vec<String> = by_label
        .into_iter()
        .map(|(label, mut names)| {
            names.sort();
            format!("{}: [{}]", LABELS[label], names.join(" "))
        })
        .collect();
    parts.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::super::super::context::RouteKind;
    use super::*;
    use chancery_text::Str;

    #[test]
    fn gateway_lists_all_policies_below_it() {
        let name = |name: &str| (Str::new_static("n"), Str::new(name));
        let mut graph = Graph::default();
        graph.add(Scope::gateway(&name("g"), Some("http")), Scope::route(RouteKind::Http, &name("b"), None));
        graph.add(Scope::gateway(&name("g"), None), Scope::route(RouteKind::Http, &name("a"), None));
        graph.register(&name("set"), &name("g"));
        graph.add(Scope::listener_set(&name("set"), Some("x")), Scope::route(RouteKind::Grpc, &name("c"), None));
        let found = format(&graph.descendants(&Scope::gateway(&name("g"), None)));
        assert_eq!(found, "these routes: [n/a n/b n/c]");
        let of_listener = format(&graph.descendants(&Scope::gateway(&name("g"), Some("http"))));
        assert_eq!(of_listener, "these routes: [n/a n/b]", "routes of the whole Gateway override a listener's policy, too");
    }
}
