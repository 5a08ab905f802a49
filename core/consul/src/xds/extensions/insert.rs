//! Inserts filters into lists of filters.

use super::input::is_inbound;
use crate::extension::argument;
use crate::go;
use crate::xds::parts::filters::is_http;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_kubernetes::reason::Reason;

/// The position of a filter.
pub(super) struct Place<'a> {
    location: &'a str,
    filter: &'a str,
}

impl<'a> Place<'a> {
    /// Before the last filter of a chain.
    pub(super) fn last(http: bool) -> Self {
        let filter = if http { "envoy.filters.http.router" } else { "envoy.filters.network.tcp_proxy" };
        Self { location: "BeforeFirstMatch", filter }
    }

    /// As the arguments define.
    pub(super) fn of(options: &'a Tree, http: bool) -> Self {
        match argument(options, "Location").text() {
            "" => Self::last(http),
            location => Self { location, filter: argument(options, "FilterName").text() },
        }
    }

    fn index(&self, filters: &[Tree]) -> Option<usize> {
        let mut places = filters.iter().enumerate().filter(|(_, filter)| filter.get("name").is(self.filter)).map(|(at, _)| at);
        match self.location {
            "First" => Some(0),
            "Last" => Some(filters.len()),
            "BeforeFirstMatch" => places.next(),
            "AfterFirstMatch" => places.next().map(|at| at.saturating_add(1)),
            "BeforeLastMatch" => places.next_back(),
            "AfterLastMatch" => places.next_back().map(|at| at.saturating_add(1)),
            _ => places.next().map(|_| 0),
        }
    }

    /// Inserts a filter into a list of filters.
    fn insert(&self, list: &mut Tree, filter: &Tree) -> Result<(), Reason> {
        let missing = || {
            let (location, at) = (go::quote(self.location), go::quote(self.filter));
            format!("failed to insert {} filter: failed to find insert location {location} for {at}", go::quote(filter.get("name").text()))
        };
        let at = self.index(list.items()).ok_or_else(missing)?;
        if list.is_null() {
            *list = Vec::from([filter.clone()]).into();
        } else if let Plain::List(filters) = &mut list.value {
            filters.insert(at, filter.clone());
        }
        Ok(())
    }
}

/// Visits the filter chains of the listeners with this direction.
pub(super) fn each(listeners: &mut [Tree], inbound: bool, mut act: impl FnMut(&mut Tree) -> Result<(), Reason>, errors: &mut go::Errors) {
    for listener in listeners.iter_mut().filter(|listener| is_inbound(listener) == inbound) {
        let name = go::quote(listener.get("name").text());
        let mut mine = go::Errors::default();
        for chain in listener.get_mut("filter_chains").into_iter().flat_map(Tree::items_mut) {
            if let Err(why) = act(chain) {
                mine.add(format!("error patching listener filter chain {name}: error patching filters: {why}"));
            }
        }
        errors.append(mine);
    }
}

/// Inserts a filter into the HTTP filters of a chain.
pub(super) fn http(chain: &mut Tree, filter: &Tree, place: &Place<'_>) -> Result<(), Reason> {
    let filters = chain.get_mut("filters").into_iter().flat_map(Tree::items_mut);
    let manager = filters.filter(|filter| is_http(filter)).find_map(|filter| filter.get_mut("typed_config"));
    let manager = manager.ok_or("failed to get HTTP connection manager")?;
    let mut all = manager.take("http_filters").unwrap_or_default();
    let outcome = place.insert(&mut all, filter);
    manager.set("http_filters", all);
    outcome
}

/// Inserts a filter into the network filters of a chain.
pub(super) fn network(chain: &mut Tree, filter: &Tree, place: &Place<'_>) -> Result<(), Reason> {
    let mut all = chain.take("filters").unwrap_or_default();
    let outcome = place.insert(&mut all, filter);
    chain.set("filters", all);
    outcome
}
