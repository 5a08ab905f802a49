//! Applies `builtin/lua`: a script before the router.

use super::input::{ExtensionInput, is_inbound};
use crate::extension::argument;
use crate::xds::context::Resources;
use crate::xds::parts::filters::is_http;
use crate::xds::parts::proto::{extension, message};
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_kubernetes::reason::Reason;

pub(super) fn apply(given: &ExtensionInput<'_>, resources: &mut Resources) -> Result<(), Reason> {
    let inbound = argument(given.arguments, "Listener").text() == "inbound";
    let script = argument(given.arguments, "Script");
    let config = message! { "inline_code": script.clone() };
    let filter = extension("envoy.filters.http.lua", "envoy.extensions.filters.http.lua.v3.Lua", config);
    for listener in resources.listeners.iter_mut().filter(|listener| is_inbound(listener) == inbound) {
        for chain in listener.get_mut("filter_chains").into_iter().flat_map(Tree::items_mut) {
            let filters = chain.get_mut("filters").into_iter().flat_map(Tree::items_mut);
            for manager in filters.filter(|filter| is_http(filter)).filter_map(|filter| filter.get_mut("typed_config")) {
                before_routers(manager, &filter);
            }
        }
    }
    Ok(())
}

/// Inserts a filter before each router.
pub(super) fn before_routers(manager: &mut Tree, filter: &Tree) {
    let Some(Tree { value: Plain::List(filters), .. }) = manager.get_mut("http_filters") else { return };
    let mut out = Vec::new();
    for other in filters.drain(..) {
        if other.get("name").is("envoy.filters.http.router") {
            out.push(filter.clone());
        }
        out.push(other);
    }
    *filters = out.into();
}
