//! Finds requests that two configurations treat differently.
//!
//! It divides all requests by everything that the matchers of either side distinguish: listeners and connections ([`listeners`]), hosts and
//! differing routes ([`hosts`]), paths ([`paths`]), other properties that routes match ([`conditions`]), and chance ([`chance`]). One request of
//! each class, the witness, is simulated in both [`Gateway`]s, and the results are compared ([`behaviour`]). Equal parts are skipped: a request
//! that equal routes in the same order match is treated the same. Settings of a whole listener, filter chain or virtual host are compared
//! separately ([`frames`]). Requests with the same change are reported together ([`report`]).
//!
//! Behaviour includes: how a request ends, status, `Location` and body of Envoy's own answers, the host and path that the upstream receives, added
//! and removed headers, the addresses that clusters reach and their shares, timeouts, and every other setting on the way. It excludes names,
//! statistics, logs, tracing and metadata; a renamed cluster with the same addresses and settings is equal.
//!
//! Does not render, or route requests; see `chancery_envoy::simulate`.

mod behaviour;
mod both;
mod budget;
mod chains;
mod chance;
mod conditions;
mod difference;
mod frames;
mod hosts;
mod idle_filters;
mod listeners;
mod paths;
mod place;
mod protection;
mod reach;
mod report;
mod residue;
mod single;
mod work;

pub(in crate::compare) use difference::gravity;
pub use listeners::ListenerPairing;
pub(in crate::compare) use place::without;
pub(in crate::compare) use protection::CHECKS;
pub use report::{Answer, Difference, RequestChange, RequestPlace, Requests, Witness};
pub(in crate::compare) use report::{merge, words};
pub use single::{ChangedRequest, RequestComparer};

use super::{Side, SideSource, certificates};
use alloc::string::String;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::Gateway;

/// Names the target of a cluster, if another name is better than its addresses.
pub type Reaches<'o> = &'o dyn Fn(&pb::cluster::Cluster) -> Option<String>;

#[derive(Clone, Copy, Default)]
pub struct RequestOptions<'o> {
    /// Which listeners are compared with each other.
    pub pairing: ListenerPairing,
    /// Compare only the routes: targets, rewrites and timeouts. Leaves out settings of listeners, connection managers and clusters, which
    /// controllers choose by themselves.
    pub routes_only: bool,
    /// Names the targets of clusters, on the first and on the second side.
    pub reaches: [Option<Reaches<'o>>; 2],
    /// Prefixes of listener names to skip on each side: the controllers' own listeners.
    pub own_listeners: [&'o [&'o str]; 2],
    /// Prefixes of paths to skip: the controllers' own paths.
    pub own_paths: &'o [&'o str],
}

/// Compares what happens to requests.
#[must_use]
pub fn requests(before: &Side<'_>, after: &Side<'_>, options: &RequestOptions<'_>) -> Requests {
    let gateways = [Gateway::new(before.config), Gateway::new(after.config)];
    let mut work = work::Work::new([*before, *after], &gateways, options);
    listeners::compare(&mut work);
    if let (Some(old), Some(new)) = (&before.source, &after.source)
        && !certificates::compare(old, new).is_empty()
    {
        work.budget.cut("Certificates or keys differ: whether Envoy and clients accept them was not tried; `chancery check` looks at them.");
    }
    work.finish()
}

#[cfg(test)]
mod tests;
