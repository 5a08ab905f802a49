//! Finds the parts of an Application Gateway by their ids. Does not interpret parts.

use alloc::string::String;
use chancery_base::ir::appgw::{Listener, Part, Parts, PathMap, Pool, Port, Properties, Redirect, Reference, Settings};
use hashbrown::HashMap;

/// The parts of one kind by id. Ids are compared without case; the first of equal ids counts.
pub struct ById<'p, T>(HashMap<String, (usize, &'p Part<T>)>);

impl<'p, T> ById<'p, T> {
    fn of(parts: &'p Option<Parts<T>>) -> Self {
        let mut found = HashMap::new();
        for (at, part) in parts.iter().flatten().enumerate() {
            found.entry(part.id.to_ascii_lowercase()).or_insert((at, &**part));
        }
        Self(found)
    }

    /// The part that a reference names.
    pub fn get(&self, reference: &Option<Reference>) -> Option<&'p Part<T>> {
        self.place(reference).map(|(_, part)| part)
    }

    /// The part that a reference names, with its position.
    pub fn place(&self, reference: &Option<Reference>) -> Option<(usize, &'p Part<T>)> {
        self.0.get(&reference.as_ref()?.id.value.to_ascii_lowercase()).copied()
    }
}

/// The parts of a gateway that rules refer to.
pub struct PartIndex<'p> {
    pub ports: ById<'p, Port>,
    pub listeners: ById<'p, Listener>,
    pub pools: ById<'p, Pool>,
    pub settings: ById<'p, Settings>,
    pub redirects: ById<'p, Redirect>,
    pub path_maps: ById<'p, PathMap>,
}

impl<'p> PartIndex<'p> {
    pub fn of(properties: &'p Properties) -> Self {
        Self {
            ports: ById::of(&properties.ports),
            listeners: ById::of(&properties.listeners),
            pools: ById::of(&properties.pools),
            settings: ById::of(&properties.settings),
            redirects: ById::of(&properties.redirects),
            path_maps: ById::of(&properties.path_maps),
        }
    }
}
