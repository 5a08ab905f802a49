//! The config builder: from Ingresses to the parts of the gateway, from the leaves to the root, as one list of steps ([`STEPS`]).
//!
//! AGIC `pkg/appgw`. Each step changes the gateway as the steps before left it; what others own is asked of the gateway as it stands then.
//! Where the controller goes through a map in no order, this goes through Ingresses in their order, and the later counts.
//!
//! What must not be here: which Ingresses count; when the gateway is changed.

mod backends;
mod builder;
mod certificates;
mod defaults;
mod draft;
mod listeners;
mod path_maps;
mod pools;
mod priorities;
mod probes;
mod redirects;
mod rewrites;
mod rules;
mod settings;
mod tags;

pub(super) use backends::service_of;
pub use builder::{Builder, BuilderInput};
pub(super) use draft::ListenerConfig;
pub(super) use listeners::{all_hosts, of_ingress as listeners_of, of_rule as listeners_of_rule};

use super::death::Died;
use crate::ir::appgw::Gateway;
use alloc::collections::BTreeMap;
use draft::Backends;

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
pub fn build(given: BuilderInput<'_, '_>, gateway: Gateway) -> Result<Gateway, Died> {
    let BuilderInput { source, names, ingresses, targets, istio, recorder } = given;
    let mut builder = Builder {
        source,
        names,
        ingresses,
        targets,
        istio,
        recorder,
        gateway,
        backends: Backends::default(),
        probes: BTreeMap::new(),
        settings: BTreeMap::new(),
        pools: BTreeMap::new(),
        redirects: BTreeMap::new(),
        configs: BTreeMap::new(),
        found: BTreeMap::new(),
        path_maps: BTreeMap::new(),
    };
    for step in STEPS {
        (step.run)(&mut builder)?;
    }
    Ok(builder.gateway)
}

#[cfg(test)]
mod tests;
