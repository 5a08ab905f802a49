//! The config builder: from Ingresses to the parts of the gateway, from the leaves to the root, as one list of steps ([`STEPS`]).
//!
//! AGIC `pkg/appgw`. Each step changes the gateway as the steps before left it; what others own is asked of the gateway as it stands then.
//! Where the controller goes through a map in no order, this goes through Ingresses in their order, and the later counts.
//!
//! What an Ingress asks for by itself is made once ([`Share`]); the steps put together what several ask for, and what follows from that. What
//! did not change is the same shared value as in the compile before ([`Memory`]).
//!
//! What must not be here: which Ingresses count; when the gateway is changed.

mod backends;
mod builder;
mod certificates;
mod defaults;
mod draft;
mod found;
mod listeners;
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
pub use draft::{ListenerConfig, Paths, Wanted};
pub(super) use listeners::{all_hosts, of_rule as listeners_of_rule};
pub use memory::Memory;
pub use path_maps::Group;
pub(super) use priorities::MOST as MOST_PRIORITY;
pub use share::Share;

use super::death::Died;
use alloc::vec::Vec;
use chancery_base::ir::appgw::Gateway;
use found::Found;
use hashbrown::HashSet;

/// A step of the builder.
pub struct Step {
    /// What it makes.
    pub name: &'static str,
    run: fn(&mut Builder<'_, '_>) -> Result<(), Died>,
}

/// The steps, in order: each needs what those before have made.
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

/// The gateway that Ingresses ask for, made of the gateway as it is.
///
/// # Errors
///
/// The controller dies.
pub fn build(given: BuilderInput<'_, '_>, gateway: Gateway) -> Result<Built, Died> {
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
        found: Found::default(),
        without_hosts: None,
        path_maps: Vec::new(),
    };
    for step in STEPS {
        (step.run)(&mut builder)?;
    }
    Ok(Built { gateway: builder.gateway, path_maps: builder.path_maps })
}

/// What the builder made.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The gateway.
    pub gateway: Gateway,
    /// The paths of each listener.
    pub path_maps: Vec<Group>,
}

#[cfg(test)]
mod tests;
