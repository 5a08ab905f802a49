//! The config builder: turns Ingresses into the parts of the gateway, from the leaves to the root, in a list of steps ([`STEPS`]).
//!
//! AGIC `pkg/appgw`. Each step changes the gateway that the previous steps produced; the parts of others are determined from that gateway. Where
//! the controller iterates over a map without an order, this iterates over Ingresses in order, and the later one wins.
//!
//! The parts that a single Ingress requests are made once ([`Share`]); the steps merge the shares and derive further parts. Unchanged parts are the
//! same shared values as in the previous compile ([`Memory`]).
//!
//! Does not decide which Ingresses are effective (see `prune`) or when the gateway is changed (see `controller`).

mod backends;
mod builder;
mod certificates;
mod defaults;
mod draft;
mod listeners;
mod listeners_by_id;
mod make_shares;
mod memory;
mod order;
mod path_maps;
mod pools;
mod priorities;
mod probes;
mod redirects;
mod rewrites;
mod rules;
mod settings;
mod share;
mod tags;

pub(super) use backends::service_of;
pub use builder::{Builder, BuilderInput};
pub(super) use certificates::secret_for;
pub use draft::{Group, ListenerConfig, Paths, RequestedListener};
pub(super) use listeners::{all_hosts, of_rule as listeners_of_rule};
pub use make_shares::make_shares;
pub use memory::Memory;
pub(super) use priorities::MOST as MOST_PRIORITY;
pub use share::Share;

use super::crash::ControllerCrash;
use alloc::vec::Vec;
use chancery_base::ir::appgw::Gateway;
use hashbrown::HashSet;
use listeners_by_id::ListenersById;

/// A step of the builder.
pub struct Step {
    /// The parts that it makes.
    pub name: &'static str,
    run: fn(&mut Builder<'_, '_>) -> Result<(), ControllerCrash>,
}

/// The steps in order: each needs the results of the previous ones.
pub const STEPS: &[Step] = &[
    Step { name: "backends", run: backends::resolve },
    Step { name: "probes", run: probes::make },
    Step { name: "HTTP settings", run: settings::make },
    Step { name: "backend pools", run: pools::make },
    Step { name: "certificates", run: certificates::make },
    Step { name: "listeners and ports", run: listeners::make },
    Step { name: "redirects", run: redirects::make },
    Step { name: "rewrites", run: rewrites::make },
    Step { name: "path maps", run: path_maps::make },
    Step { name: "routing rules", run: rules::make },
    Step { name: "priorities", run: priorities::fill },
    Step { name: "unused defaults", run: defaults::remove },
    Step { name: "tags", run: tags::set },
];

/// Builds the requested gateway from the current one.
///
/// # Errors
///
/// The controller crashes.
pub fn build(given: BuilderInput<'_, '_>, gateway: Gateway) -> Result<Built, ControllerCrash> {
    let BuilderInput { source, names, shares, targets, istio, recorder, memory } = given;
    memory.begin();
    let mut builder = Builder {
        source,
        names,
        shares,
        targets,
        istio,
        recorder,
        memory,
        gateway,
        redirects: HashSet::new(),
        wanted: Vec::new(),
        found: ListenersById::default(),
        without_hosts: None,
        path_maps: Vec::new(),
    };
    for step in STEPS {
        (step.run)(&mut builder)?;
    }
    Ok(Built { gateway: builder.gateway, path_maps: builder.path_maps })
}

/// The result of the builder.
#[derive(Clone, Debug, Default)]
pub struct Built {
    pub gateway: Gateway,
    /// The paths of each listener.
    pub path_maps: Vec<Group>,
}

#[cfg(test)]
mod tests;
