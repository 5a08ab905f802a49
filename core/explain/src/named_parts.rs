//! Collects the named parts of the IR and their owners: listeners, filter chains, virtual hosts, routes, filters, clusters.
//!
//! [`NamedParts`] receives events while the IR is dumped. Does not decide what happened to an object; see `ledger`.

use super::pointer::{item_name, path_of};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree, Verbatim};
use chancery_base::resource::{ObjectId, Origin};
use chancery_text::{Node, Str, Value};
use hashbrown::HashSet;

#[derive(Default)]
pub(super) struct NamedParts {
    /// The current place in the dump; items of lists have no number.
    path: String,
    /// The enclosing parts: the length of `path` at each, and the index of its name.
    open: Vec<(usize, usize)>,
    names: Vec<Option<Str>>,
    /// Origins, with the index of the enclosing part's name, and whether the origin made the part as a whole.
    records: Vec<(Origin, usize, bool)>,
}

impl NamedParts {
    /// Enters a field. Returns the argument for `leave`.
    pub fn enter(&mut self, name: &str) -> usize {
        let before = self.path.len();
        self.path.push('/');
        self.path.push_str(name);
        before
    }

    /// Enters an item of a list.
    pub fn enter_item(&mut self) -> usize {
        let list = self.path.rsplit('/').next().unwrap_or_default();
        // The clusters of a route are only names.
        let is_named_part = match list {
            "listeners" | "virtual_hosts" | "routes" | "filters" | "chains" | "filter_chains" | "http_filters" => true,
            _ => matches!(self.path.as_str(), "/clusters" | "/bootstrap/clusters" | "/verbatim/clusters" | "/verbatim/endpoints"),
        };
        let before = self.enter("");
        if is_named_part {
            self.open.push((self.path.len(), self.names.len()));
            self.names.push(None);
        }
        before
    }

    /// Names the current item.
    pub fn item(&mut self, node: &Node) {
        let Some((_, name)) = self.open.last().copied().filter(|(length, _)| *length == self.path.len()) else { return };
        let list = self.path.rsplit('/').nth(1).unwrap_or_default();
        if let Some(name) = self.names.get_mut(name) {
            *name = name_of(list, node);
        }
    }

    /// Returns to the enclosing place.
    pub fn leave(&mut self, before: usize) {
        self.path.truncate(before);
        while self.open.last().is_some_and(|(length, _)| *length > before) {
            self.open.pop();
        }
    }

    /// Records origins of the current place.
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
        for origin in written {
            let record = (*origin, name, whole);
            if self.records.last() != Some(&record) {
                self.records.push(record);
            }
        }
    }

    /// Adds resources that are passed on verbatim, without dumping them.
    pub fn add_verbatim(&mut self, all: &Verbatim) {
        let Verbatim { listeners, routes, clusters, endpoints, secrets } = all;
        let outer = self.enter("verbatim");
        let lists = [("listeners", listeners), ("routes", routes), ("clusters", clusters), ("endpoints", endpoints), ("secrets", secrets)];
        for (field, list) in lists {
            let before = self.enter(field);
            list.iter().for_each(|of| self.add_item(of));
            self.leave(before);
        }
        self.leave(outer);
    }

    fn add_item(&mut self, of: &Tree) {
        let before = self.enter_item();
        self.add_tree(of);
        if self.open.last().is_some_and(|(length, _)| *length == self.path.len()) {
            self.item(&naming(of));
        }
        self.leave(before);
    }

    fn add_tree(&mut self, of: &Tree) {
        match &of.value {
            Plain::List(items) => items.iter().for_each(|item| self.add_item(item)),
            Plain::Object(fields) => {
                for (key, value) in &fields.0 {
                    let (mark, before) = (self.mark(), self.enter(key));
                    self.add_tree(value);
                    self.leave(before);
                    if value.is_null()
                        || matches!(value.value, Plain::List(_) | Plain::Object(_)) && value.items().is_empty() && value.fields().is_empty()
                    {
                        self.forget(mark);
                    }
                }
            }
            Plain::Selected(by) => self.here(by.origin.as_slice()),
            _ => {}
        }
        self.here(of.origin.as_slice());
    }

    /// Returns a mark for `forget`.
    pub fn mark(&self) -> usize {
        self.records.len()
    }

    /// Forgets the records since a mark unless they belong to a named part: unset values are left out.
    pub fn forget(&mut self, mark: usize) {
        if self.open.is_empty() {
            self.records.truncate(mark);
        }
    }

    /// Returns objects with the names of the parts that they are in, and whether they made the part as a whole, in the order of the IR.
    ///
    /// The field that made a part as a whole (a Mapping's `service`) is not reported again for values derived from it, such as a name: another
    /// maker of the same part derives the same.
    pub fn iter(&self) -> impl Iterator<Item = (ObjectId, &Str, bool)> {
        let place = |origin: &Origin, name: &usize| (origin.object(), origin.node(), *name);
        let makers: HashSet<_> = self.records.iter().filter(|(.., whole)| *whole).map(|(origin, name, _)| place(origin, name)).collect();
        let counts = move |(origin, name, whole): &&(Origin, usize, bool)| *whole || !makers.contains(&place(origin, name));
        self.records.iter().filter(counts).filter_map(|(origin, name, whole)| Some((origin.object(), self.names.get(*name)?.as_ref()?, *whole)))
    }
}

/// Returns the fields of a resource, or of a part of it, that its name is made from.
fn naming(of: &Tree) -> Node {
    let named = of.fields().iter().map(|(key, value)| match key.as_str() {
        "name" | "cluster_name" | "path" | "match" => (key.clone(), value.node()),
        _ => (key.clone(), Node::synthesised(Value::Bool(true))),
    });
    Node::synthesised(Value::Object(named.collect()))
}

/// Returns the readable name of a list item.
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
