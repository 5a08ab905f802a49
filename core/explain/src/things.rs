//! What of the IR people know by name, and whose it is: listeners, filter chains, virtual hosts, routes, filters, clusters.
//!
//! [`Things`] listens while the IR is dumped. What must not be here: what became of an object (`ledger`).

use super::pointer::{item_name, path_of};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::{ObjectId, Origin};
use chancery_text::{Node, Str};
use hashbrown::HashSet;

/// What was heard.
#[derive(Default)]
pub(super) struct Things {
    /// Where the dump is; items of lists have no number.
    path: String,
    /// The things that it is in: how long the path is there, and the place of the name.
    open: Vec<(usize, usize)>,
    names: Vec<Option<Str>>,
    /// Origins, with the place of the name of what they are in, and whether they made it as a whole.
    told: Vec<(Origin, usize, bool)>,
}

impl Things {
    /// Goes into a field. Returns what `leave` needs.
    pub fn enter(&mut self, name: &str) -> usize {
        let before = self.path.len();
        self.path.push('/');
        self.path.push_str(name);
        before
    }

    /// Goes into an item of a list.
    pub fn enter_item(&mut self) -> usize {
        let list = self.path.rsplit('/').next().unwrap_or_default();
        // Clusters of a route are no clusters, but their names.
        let is_thing = match list {
            "listeners" | "virtual_hosts" | "routes" | "filters" | "chains" | "filter_chains" | "http_filters" => true,
            _ => matches!(self.path.as_str(), "/clusters" | "/bootstrap/clusters" | "/verbatim/clusters" | "/verbatim/endpoints"),
        };
        let before = self.enter("");
        if is_thing {
            self.open.push((self.path.len(), self.names.len()));
            self.names.push(None);
        }
        before
    }

    /// The item is this.
    pub fn item(&mut self, node: &Node) {
        let Some((_, name)) = self.open.last().copied().filter(|(length, _)| *length == self.path.len()) else { return };
        let list = self.path.rsplit('/').nth(1).unwrap_or_default();
        if let Some(name) = self.names.get_mut(name) {
            *name = name_of(list, node);
        }
    }

    /// Goes back to where it was before.
    pub fn leave(&mut self, before: usize) {
        self.path.truncate(before);
        while self.open.last().is_some_and(|(length, _)| *length > before) {
            self.open.pop();
        }
    }

    /// What is here comes from these.
    pub fn here(&mut self, origins: &[Origin]) {
        let written = origins.iter().filter(|origin| origin.object() != ObjectId::BUILT_IN);
        let (name, whole) = match self.open.last() {
            Some((length, name)) => (*name, *length == self.path.len()),
            None => {
                let mut steps = self.path.split('/').filter(|step| !step.is_empty());
                let (first, second) = (steps.next(), steps.next());
                self.names.push(first.map(|first| second.map_or_else(|| Str::new(first), |second| format!("{first} {second}").into())));
                (self.names.len() - 1, false)
            }
        };
        self.told.extend(written.map(|origin| (*origin, name, whole)));
    }

    /// How much was noted: what `forget` needs.
    pub fn mark(&self) -> usize {
        self.told.len()
    }

    /// Forgets what was noted since, unless it is a part of a thing: what says nothing is left out.
    pub fn forget(&mut self, mark: usize) {
        if self.open.is_empty() {
            self.told.truncate(mark);
        }
    }

    /// Objects with the names of what they are in, and whether it is theirs as a whole, in the order of the IR.
    ///
    /// The field that made a thing as a whole (a Mapping's `service`) does not count again for what is derived from it, such as a name:
    /// who else makes the same thing derives the same.
    pub fn iter(&self) -> impl Iterator<Item = (ObjectId, &Str, bool)> {
        let place = |origin: &Origin, name: &usize| (origin.object(), origin.node(), *name);
        let makers: HashSet<_> = self.told.iter().filter(|(.., whole)| *whole).map(|(origin, name, _)| place(origin, name)).collect();
        let counts = move |(origin, name, whole): &&(Origin, usize, bool)| *whole || !makers.contains(&place(origin, name));
        self.told.iter().filter(counts).filter_map(|(origin, name, whole)| Some((origin.object(), self.names.get(*name)?.as_ref()?, *whole)))
    }
}

/// What to call an item of a list.
fn name_of(list: &str, node: &Node) -> Option<Str> {
    Some(match list {
        "listeners" => format!("listener {}", item_name(node)?).into(),
        "clusters" => format!("cluster {}", item_name(node)?).into(),
        "virtual_hosts" => format!("virtual host {}", item_name(node)?).into(),
        "endpoints" => format!("endpoints of {}", item_name(node)?).into(),
        "routes" if node.get("virtual_hosts").is_some() => format!("route table {}", item_name(node)?).into(),
        "routes" => format!("route {}", path_of(node).unwrap_or("without a path")).into(),
        "chains" | "filter_chains" => format!("filter chain {}", item_name(node).unwrap_or_default()).trim_end().into(),
        _ => match item_name(node) {
            Some(name) => format!("HTTP filter {name}").into(),
            None if node.get("http").is_some() => Str::new_static("HTTP connection manager"),
            None if node.get("tcp").is_some() => Str::new_static("TCP proxy"),
            None => format!("listener filter {}", node.as_object().and_then(|of| of.iter().next()).map_or("", |entry| entry.key.as_str())).into(),
        },
    })
}
