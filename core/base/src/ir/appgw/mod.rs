//! Defines an Application Gateway: named parts that refer to each other by id.
//!
//! These types are separate from the rest of the IR because the gateway works differently. Envoy's listeners contain their routes, and routes their
//! actions. An Application Gateway is one document of named parts with shared ownership: a listener may refer to a missing part, two rules may
//! share a path map, and an unreferenced part still exists. Users compare names and ids with the portal, and merging with other owners' parts
//! depends on them. Routing differs as well: rules have priorities, paths are matched in written order, the only pattern is a trailing star, and a
//! path map holds a default redirect next to a default pool. The Envoy IR could not express this.
//!
//! The same types hold a gateway's current and its new state, so one table reads and writes documents ([`parts`]).
//!
//! Does not name or choose parts; the controller's dialect does.

mod document;
mod flattened;
mod parts;
pub mod wire;

pub use document::{AnyPart, Document, Split, document, node, split, tree};
pub use parts::*;
pub use wire::Derived;

use crate::resource::{Also, ObjectId, Origin, Sourced};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Node, Str};
use wire::{Branch, Rest, Tree, Wire, origin_of, rest_of, write_rest};

/// A gateway, as its ARM document describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gateway {
    pub id: Option<Sourced<Str>>,
    pub name: Option<Sourced<Str>>,
    /// `None` if the document has no `properties`.
    pub properties: Option<Properties>,
    pub tags: BTreeMap<Str, Sourced<Str>>,
    /// Unknown fields, as read.
    pub rest: Rest,
    /// The object that it was read from.
    pub read_from: Option<ObjectId>,
}

/// The owner of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The controller creates it.
    #[default]
    Controller,
    /// It existed before, and the controller leaves it unchanged.
    Others,
}

/// A named part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part<T> {
    pub name: Str,
    pub id: Str,
    pub properties: T,
    /// The part's owner.
    pub owner: Owner,
    /// The origin of the part.
    pub origin: Option<Origin>,
    /// Further origins of its name and id.
    pub also: Also,
    /// Unknown fields, as read.
    pub rest: Rest,
    /// The object that they were read from.
    pub read_from: Option<ObjectId>,
}

/// The parts of one kind. Compiles share unchanged parts.
pub type Parts<T> = Vec<Arc<Part<T>>>;

impl<T> Part<T> {
    /// A part that the controller creates.
    pub fn new(name: impl Into<Str>, id: impl Into<Str>, properties: T, origin: impl Into<Option<Origin>>) -> Self {
        let (name, id, origin) = (name.into(), id.into(), origin.into());
        Self { name, id, properties, owner: Owner::Controller, origin, also: Also::default(), rest: Rest::new(), read_from: None }
    }

    /// Adds further origins of the name.
    #[must_use]
    pub fn with(self, also: &Also) -> Self {
        Self { also: also.clone(), ..self }
    }

    pub fn name(&self) -> &Str {
        &self.name
    }

    /// A reference to the part.
    pub fn reference(&self, origin: impl Into<Option<Origin>>) -> Reference {
        Reference::from(Sourced::new(self.id.clone(), origin)).with(&self.also)
    }
}

impl<T: Wire + Default> Wire for Part<T> {
    fn read(node: &Node, object: ObjectId) -> Option<Self> {
        node.as_object()?;
        let text = |key: &str| node.get(key).and_then(Node::as_str).map(Str::new);
        let (name, id) = (text("name")?, text("id").unwrap_or_default());
        let properties = node.get("properties").filter(|node| !node.is_null());
        let read = match properties {
            Some(properties) => T::read(properties, object)?,
            None => T::default(),
        };
        let rest = rest_of(node, |key| matches!(key, "name" | "id" | "properties"));
        let origin = origin_of(node, object);
        Some(Self { name, id, properties: read, owner: Owner::Others, origin, also: Also::default(), rest, read_from: Some(object) })
    }

    fn write(&self) -> Tree {
        let text = |text: &Str| Tree::plain(Branch::Text(text.clone()));
        let mut fields = Vec::from([(Str::new_static("name"), text(&self.name))]);
        if !self.id.is_empty() {
            fields.push((Str::new_static("id"), text(&self.id)));
        }
        fields.push((Str::new_static("properties"), self.properties.write()));
        if let Some(object) = self.read_from {
            write_rest(&self.rest, object, &mut fields);
        }
        Tree { value: Branch::Fields(fields), origin: self.origin, also: self.also.clone() }
    }
}

impl Wire for Gateway {
    fn read(node: &Node, object: ObjectId) -> Option<Self> {
        node.as_object()?;
        if flattened::is_flattened(node) {
            return Self::read(&flattened::restored(node), object);
        }
        let text = |key: &str| node.get(key).and_then(|node| Sourced::<Str>::read(node, object));
        let tags = node.get("tags").and_then(Node::as_object).into_iter().flatten();
        let tags = tags.filter_map(|entry| Some((entry.key.clone(), Sourced::read(&entry.value, object)?)));
        Some(Self {
            id: text("id"),
            name: text("name"),
            properties: node.get("properties").and_then(|node| Properties::read(node, object)),
            tags: tags.collect(),
            rest: rest_of(node, |key| matches!(key, "id" | "name" | "properties" | "tags")),
            read_from: Some(object),
        })
    }

    fn write(&self) -> Tree {
        let mut fields = Vec::new();
        for (key, value) in [("id", &self.id), ("name", &self.name)] {
            fields.extend(value.as_ref().map(|value| (Str::new_static(key), value.write())));
        }
        if let Some(object) = self.read_from {
            write_rest(&self.rest, object, &mut fields);
        }
        fields.extend(self.properties.as_ref().map(|properties| (Str::new_static("properties"), properties.write())));
        let tags = self.tags.iter().map(|(key, value)| (key.clone(), value.write()));
        fields.push((Str::new_static("tags"), Tree::plain(Branch::Fields(tags.collect()))));
        Tree::plain(Branch::Fields(fields))
    }
}

/// Where an address is reachable from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrontendType {
    /// Reachable from everywhere.
    Public,
    /// Reachable from the virtual network.
    Private,
}

impl FrontendType {
    pub fn name(self) -> &'static str {
        match self {
            FrontendType::Public => "Public",
            FrontendType::Private => "Private",
        }
    }
}

impl Properties {
    /// The first frontend of a type.
    pub fn frontend(&self, frontend_type: FrontendType) -> Option<&Arc<Part<Frontend>>> {
        self.frontends.iter().flatten().find(|frontend| match frontend_type {
            FrontendType::Public => frontend.properties.public_ip.is_some(),
            FrontendType::Private => frontend.properties.private_ip.is_some(),
        })
    }
}

impl Listener {
    /// The hosts, from whichever field holds them.
    pub fn hosts(&self) -> impl Iterator<Item = &Sourced<Str>> {
        let several = self.host_names.iter().flatten();
        let only = self.host_name.iter().filter(move |_| self.host_names.as_ref().is_none_or(Vec::is_empty));
        only.chain(several)
    }

    /// Whether the listener matches only some hosts.
    pub fn is_multi_site(&self) -> bool {
        self.host_name.as_ref().is_some_and(|host| !host.is_empty()) || self.host_names.as_ref().is_some_and(|hosts| !hosts.is_empty())
    }
}

#[cfg(test)]
mod tests;
