//! Matches requested listeners to listeners of the gateway. Does not make listeners; see `listeners`.

use crate::names::ListenerId;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Listener, Part};

/// A listener of the gateway with its identity.
pub(super) type Entry = (Arc<ListenerId>, Arc<Part<Listener>>);

/// The listeners of the gateway, sorted by identity.
#[derive(Default)]
pub(super) struct ListenersById(Vec<Entry>);

impl ListenersById {
    /// For listeners that are already sorted and have distinct identities.
    pub(super) fn in_order(listeners: Vec<Entry>) -> Self {
        Self(listeners)
    }

    /// For unsorted listeners; the last one of an identity wins.
    pub(super) fn of(mut listeners: Vec<Entry>) -> Self {
        listeners.reverse();
        listeners.sort_by(|(one, _), (other, _)| one.cmp(other));
        listeners.dedup_by(|(one, _), (other, _)| one == other);
        Self(listeners)
    }

    /// Finds listeners for sorted requests.
    pub(super) fn search(&self) -> Search<'_> {
        Search(&self.0)
    }
}

/// A search that visits the listeners once.
pub(super) struct Search<'f>(&'f [Entry]);

impl<'f> Search<'f> {
    /// Returns the listener; requests must be in order.
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
    fn last_listener_of_same_id_wins() {
        let id = |port: i64| Arc::new(ListenerId::new(port, Vec::new(), FrontendType::Public, None));
        let listener = |name: &str| Arc::new(Part::new(Str::new(name), Str::default(), Listener::default(), Origin::built_in()));
        let found =
            ListenersById::of(Vec::from([(id(443), listener("a")), (id(80), listener("b")), (id(443), listener("c")), (id(81), listener("d"))]));
        let mut search = found.search();
        let names = [80, 82, 443, 443, 444].map(|port| search.find(&id(port)).map_or("-".into(), |listener| format!("{}", listener.name)));
        assert_eq!(names, ["b", "-", "c", "c", "-"]);
    }
}
