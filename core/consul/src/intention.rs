//! Intentions: who may call whom.
//!
//! What must not be here: Envoy's rules.

use super::entry::Kind;
use super::state::State;
use super::validate::says;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

/// Who may call a service, or may not.
#[derive(Clone, Debug)]
pub(crate) struct Intention {
    /// The source as the entry has it.
    pub(crate) source: Tree,
    /// What tokens its entry wants.
    pub(crate) jwt: Tree,
    /// The service, or `*`.
    pub(crate) destination: Str,
}

impl Intention {
    /// As a value: the source, with what its entry adds.
    pub(crate) fn into_tree(self) -> Tree {
        let mut tree = self.source;
        tree.set("JWT", self.jwt);
        tree
    }

    fn precedence(&self) -> (bool, bool) {
        (self.destination == "*", self.source.get("Name").is("*"))
    }
}

/// The intentions about a service, those that count first first.
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

/// Whether a service may call another, with or without conditions: an instance of it, or what lies outside of the mesh under its name.
/// What is said of one says nothing of the other, but where it is said of all.
pub(crate) fn may_call(state: &State, from: &Str, to: &Str, outside: bool, default: bool) -> bool {
    let all = of(state, to);
    let is_meant = state.is_outside(to) == outside;
    let matching = |of: &&Intention| {
        let by_name = [from.as_str(), "*"].contains(&of.source.get("Name").text());
        !says(of.source.get("Peer")) && by_name && (is_meant || of.destination == "*")
    };
    match all.iter().find(matching) {
        Some(found) => says(found.source.get("Permissions")) || found.source.get("Action").is("allow"),
        None => default,
    }
}
