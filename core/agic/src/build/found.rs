//! Which listener of the gateway does what a listener that Ingresses ask for is to do.
//!
//! What must not be here: making listeners.

use crate::names::ListenerId;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Listener, Part};

/// A listener of the gateway, by what it is known by.
pub(super) type Entry = (Arc<ListenerId>, Arc<Part<Listener>>);

/// The listeners of the gateway, in the order of what they are known by.
#[derive(Default)]
pub(super) struct Found(Vec<Entry>);

impl Found {
    /// Those that are in order, each known by something else.
    pub(super) fn in_order(listeners: Vec<Entry>) -> Self {
        Self(listeners)
    }

    /// Of several that are known by the same the last counts.
    pub(super) fn of(mut listeners: Vec<Entry>) -> Self {
        listeners.reverse();
        listeners.sort_by(|(one, _), (other, _)| one.cmp(other));
        listeners.dedup_by(|(one, _), (other, _)| one == other);
        Self(listeners)
    }

    /// Finds listeners that are asked for in order.
    pub(super) fn search(&self) -> Search<'_> {
        Search(&self.0)
    }
}

/// A search that goes through the listeners once.
pub(super) struct Search<'f>(&'f [Entry]);

impl<'f> Search<'f> {
    /// The listener; what is asked for next must not come before it.
    pub(super) fn find(&mut self, id: &Arc<ListenerId>) -> Option<&'f Arc<Part<Listener>>> {
        while let [(known, listener), rest @ ..] = self.0 {
            if known == id {
                return Some(listener);
            }
            if known > id {
                return None;
            }
            self.0 = rest;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use chancery_base::ir::appgw::FrontendType;
    use chancery_base::resource::Origin;
    use chancery_text::Str;

    #[test]
    fn of_listeners_that_are_known_by_the_same_the_last_is_found() {
        let id = |port: i64| Arc::new(ListenerId::new(port, Vec::new(), FrontendType::Public, None));
        let listener = |name: &str| Arc::new(Part::new(Str::new(name), Str::default(), Listener::default(), Origin::built_in()));
        let found = Found::of(Vec::from([(id(443), listener("a")), (id(80), listener("b")), (id(443), listener("c")), (id(81), listener("d"))]));
        let mut search = found.search();
        let names = [80, 82, 443, 443, 444].map(|port| search.find(&id(port)).map_or("-".into(), |listener| format!("{}", listener.name)));
        assert_eq!(names, ["b", "-", "c", "c", "-"]);
    }
}
