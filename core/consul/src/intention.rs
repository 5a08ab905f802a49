//! Intentions: which services may call which. Does not emit Envoy's rules; see `xds::parts::rbac`.

use super::entry::Kind;
use super::state::State;
use super::validate::is_set;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

/// An intention about one source.
#[derive(Clone, Debug)]
pub(crate) struct Intention {
    /// The source as in the entry.
    pub(crate) source: Tree,
    /// The tokens that its entry requires.
    pub(crate) jwt: Tree,
    /// The service, or `*`.
    pub(crate) destination: Str,
}

impl Intention {
    /// As a value: the source, with fields of its entry.
    pub(crate) fn into_tree(self) -> Tree {
        let mut tree = self.source;
        tree.set("JWT", self.jwt);
        tree
    }

    fn precedence(&self) -> (bool, bool) {
        (self.destination == "*", self.source.get("Name").is("*"))
    }
}

/// The intentions about a service, sorted by precedence.
pub(crate) fn of(state: &State, service: &Str) -> Vec<Intention> {
    let mut found: Vec<Intention> = Vec::new();
    for name in [service.clone(), Str::new_static("*")] {
        let tree = state.tree(Kind::ServiceIntentions, &name);
        let sources = tree.get("Sources").items().iter();
        found.extend(sources.map(|source| Intention { source: source.clone(), jwt: tree.get("JWT").clone(), destination: name.clone() }));
    }
    let text = |intention: &Intention, field: &str| intention.source.get(field).str();
    found.sort_by_key(|of| (of.precedence(), text(of, "Peer"), text(of, "Name"), of.destination.clone()));
    found
}

/// Whether a service may call another, possibly under conditions: an instance of it, or a destination outside of the mesh with its name. Intentions
/// for one do not apply to the other, except those for all services.
pub(crate) fn may_call(state: &State, from: &Str, to: &Str, outside: bool, default: bool) -> bool {
    let all = of(state, to);
    let is_meant = state.is_outside(to) == outside;
    let matching = |of: &&Intention| {
        let by_name = [from.as_str(), "*"].contains(&of.source.get("Name").text());
        !is_set(of.source.get("Peer")) && by_name && (is_meant || of.destination == "*")
    };
    match all.iter().find(matching) {
        Some(found) => is_set(found.source.get("Permissions")) || found.source.get("Action").is("allow"),
        None => default,
    }
}
