//! Envoy Gateway: Gateway API with policies, and what each Envoy gets of them.
//!
//! ```text
//! objects -> translate (Gateways, routes) + policy -> model::Xds -> xds -> Envoy's resources
//! ```
//!
//! Does not hold rules of Gateway API that other controllers share; see `gateway_api`.
#![no_std]

extern crate alloc;

mod cluster;
mod cluster_settings;
mod codes;
mod compile;
mod context;
mod defaults;
mod documents;
mod facts;
mod findings;
mod inert;
mod jwks;
mod kinds;
mod load;
mod lua_syntax;
mod materials;
mod memory;
mod model;
mod names;
mod options;
mod patch;
mod pipeline;
mod policy;
mod references;
mod relations;
mod settings;
mod stages;
mod status;
#[cfg(test)]
mod tests;
mod translate;
mod traps;
mod value;
mod versions;
mod xds;

use options::Options;

use alloc::boxed::Box;
use chancery_base::compilation::{Claim, Dialect, Hints, Language};
use chancery_base::read::ReadOptions;

/// By what it is recognised.
pub const LANGUAGE: Language = Language {
    name: "envoy-gateway",
    controller: "Envoy Gateway",
    claims: &[
        Claim::Version("gateway.envoyproxy.io/"),
        Claim::Field("controllerName", "gateway.envoyproxy.io/"),
        Claim::Field(settings::FILE, ""),
        Claim::SharedVersion("gateway.networking.k8s.io/"),
    ],
};

/// Envoy Gateway as a dialect.
pub static DIALECT: Dialect = Dialect {
    name: LANGUAGE.name,
    controller: LANGUAGE.controller,
    claims: LANGUAGE.claims,
    read_options: |_| ReadOptions { files: alloc::vec![settings::FILE.into()], ..ReadOptions::default() },
    kinds: kinds::known,
    listing: kinds::listing,
    foreign_kinds: &[],
    reads: |key| kinds::find(&key.group, &key.kind).is_some() || (*key.group == *kinds::GROUP && *key.kind == *"EnvoyGateway"),
    references: |objects, options| references::referenced_objects(objects, &Options::of(options)),
    options: options::SPECS,
    defaults: defaults::DEFAULTS,
    hints: Hints { route_order: defaults::route_order, ..Hints::only(|_| "no Envoy gets anything from it") },
    annotations: &[],
    codes: codes::ALL,
    outputs: stages::OUTPUTS,
    checks: &[chancery_kubernetes::gateway_api::checks::references, findings::same_matches],
    memory: || Box::new(memory::Memory::default()),
    compile: |task| compile::compile(task),
    cluster_label: compile::cluster_label,
    setting_changes: |_, _| alloc::vec::Vec::new(),
};
