//! Requests that two configurations treat differently.
//!
//! The space of requests is parted by what the matchers of both sides tell apart: where they come in ([`doors`]), hosts and the routes that
//! differ ([`hosts`]), paths ([`paths`]), all else that routes look at ([`conditions`]), and chance ([`chance`]). Of every part one request, its witness, goes through both
//! [`Gateway`]s, and what becomes of it is compared ([`behaviour`]). What is the same on both sides is passed over: a request that is taken
//! by routes that are the same and stand in the same order is treated the same. Settings that apply to a whole listener, filter chain or
//! virtual host are compared by themselves ([`frames`]). What changes in the same way is reported together ([`report`]).
//!
//! What counts as behaviour: how a request ends, status, `Location` and body of Envoy's own answers, the host and path that the upstream gets, headers
//! that are added and removed, what clusters reach and in which shares, timeouts, and every other setting on the way. What does not: names,
//! statistics, logs, tracing and metadata; a cluster under another name that reaches the same in the same way.
//!
//! What must not be here: rendering, and how requests are routed.

mod behaviour;
mod chance;
mod conditions;
mod difference;
mod frames;
mod hosts;
mod listeners;
mod paths;
mod place;
mod reach;
mod report;
mod residue;
mod work;

pub(in crate::compare) use difference::gravity;
pub use listeners::ListenerPairing;
pub(in crate::compare) use place::without;
pub use report::{Answer, Difference, RequestChange, RequestPlace, Requests, Witness};
pub(in crate::compare) use report::{merge, words};

use super::{Side, SideSource, certificates};
use alloc::string::String;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::Gateway;

/// The name of what a cluster reaches, where another than its addresses tells it better.
pub type Reaches<'o> = &'o dyn Fn(&pb::cluster::Cluster) -> Option<String>;

/// How requests are compared.
#[derive(Clone, Copy, Default)]
pub struct RequestOptions<'o> {
    /// Which listeners are compared with each other.
    pub pairing: ListenerPairing,
    /// Compare only what routes say: where requests go, as what, and for how long; not the settings of listeners, connection managers and clusters, which
    /// controllers choose by themselves.
    pub routes_only: bool,
    /// What clusters reach, on the first side and on the second.
    pub reaches: [Option<Reaches<'o>>; 2],
    /// What names of listeners begin with that are passed over in silence, on both sides: those of the controllers themselves.
    pub own_listeners: [&'o [&'o str]; 2],
    /// What paths begin with that are passed over in silence: those of the controllers themselves.
    pub own_paths: &'o [&'o str],
}

/// Compares what becomes of requests.
#[must_use]
pub fn requests(before: &Side<'_>, after: &Side<'_>, options: &RequestOptions<'_>) -> Requests {
    let gateways = [Gateway::new(before.config), Gateway::new(after.config)];
    let mut work = work::Work::new([*before, *after], &gateways, options);
    listeners::compare(&mut work);
    if let (Some(old), Some(new)) = (&before.source, &after.source)
        && !certificates::compare(old, new).is_empty()
    {
        work.cut("Certificates or keys differ: whether Envoy and clients take them was not tried; `chancery check` looks at them.");
    }
    work.finish()
}

#[cfg(test)]
mod tests;
