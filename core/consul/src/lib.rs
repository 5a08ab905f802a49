//! Consul's service mesh: config entries, registrations, discovery chains, and the resources of each proxy.
//!
//! ```text
//! text -> documents -> State (entries, instances) -> service + chains -> snapshot of a proxy -> Envoy's resources
//! ```
#![no_std]

extern crate alloc;

mod admission;
mod agent;
mod apply;
mod bexpr;
mod bootstrap;
mod calls;
pub mod catalog;
pub mod chain;
mod checks;
mod codes;
mod compile;
mod documents;
pub mod entry;
mod extension;
mod findings;
mod go;
mod graph;
pub mod instance;
mod intention;
mod lenient;
mod material;
mod names;
mod not_in_api;
mod options;
pub mod proxycfg;
mod reading;
mod references;
mod refusal;
mod registration;
mod relations;
mod schema;
mod service;
mod stages;
pub mod state;
#[cfg(test)]
mod tests;
mod validate;
mod views;
pub mod xds;

pub use options::Options;

use alloc::boxed::Box;
use alloc::vec::Vec;
use chancery_base::compilation::{Claim, Dialect, Hints, Language, OrderRule};
use chancery_base::schema::ListedKind;
use entry::Kind;

/// How the dialect is detected.
pub const LANGUAGE: Language = Language { name: "consul", controller: "Consul", claims: CLAIMS };

/// Consul as a dialect.
pub static DIALECT: Dialect = Dialect {
    name: LANGUAGE.name,
    controller: LANGUAGE.controller,
    claims: LANGUAGE.claims,
    read_options: |_| documents::read_options(),
    kinds: Vec::new,
    listing,
    foreign_kinds: documents::OTHER_KINDS,
    reads: |key| {
        key.group == documents::GROUP
            || Kind::named(&key.kind).is_some()
            || matches!(key.kind.as_str(), "service" | "catalog" | "agent" | "leaf" | "roots")
    },
    references: |objects, _| references::referenced_objects(objects),
    options: options::SPECS,
    defaults: &[],
    hints: Hints {
        route_order: |_| &[OrderRule::PlaceIn(&["ServiceRouter", "service-router"])],
        ..Hints::only(|_| "no proxy gets anything from it")
    },
    annotations: &[],
    codes: codes::ALL,
    outputs: views::OUTPUTS,
    checks: checks::ALL,
    memory: || Box::new(compile::Memory::default()),
    compile: |task| compile::compile(task),
    cluster_label: names::cluster_label,
    setting_changes: |_, _| Vec::new(),
};

/// The objects that identify Consul: config entries, registrations of proxies, and Kubernetes resources.
const CLAIMS: &[Claim] = &[
    Claim::Version("consul.hashicorp.com/"),
    Claim::Field("Kind", "service-"),
    Claim::Field("Kind", "proxy-defaults"),
    Claim::Field("Kind", "mesh"),
    Claim::Field("Kind", "ingress-gateway"),
    Claim::Field("Kind", "terminating-gateway"),
    Claim::Field("Kind", "api-gateway"),
    Claim::Field("Kind", "exported-services"),
    Claim::Field("Kind", "jwt-provider"),
    Claim::Field("Kind", "http-route"),
    Claim::Field("Kind", "tcp-route"),
    Claim::Field("Kind", "inline-certificate"),
    Claim::Field("kind", "connect-proxy"),
    Claim::Field("sidecar_service", ""),
    Claim::Field("Kind", "consul-"),
    Claim::Block("service"),
    Claim::Block("services"),
    Claim::Keys("Node", &["Address", "Service"]),
];

fn listing() -> Vec<ListedKind> {
    let kind = |name, group, versions, doc| ListedKind { name, group, plural: None, versions, config_key: None, own: true, doc };
    let entries = Kind::ALL.iter().map(|of| kind(of.name(), "", Vec::new(), of.doc()));
    let registrations = [("service", "A service definition, with its sidecar"), ("catalog", "A registration in the catalog")];
    let registrations = registrations.into_iter().map(|(name, doc)| kind(name, "", Vec::new(), doc));
    let resources = Kind::resources().map(|of| kind(of.resource(), documents::GROUP, Vec::from(["v1alpha1"]), of.doc()));
    entries.chain(registrations).chain(resources).collect()
}
