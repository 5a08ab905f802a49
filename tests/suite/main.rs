//! Runs suites that need several crates. Each module checks one promise of the project.

mod app_gateway;
mod bad_input;
mod differential;
mod drift;
mod elsewhere;
mod envoy;
mod examples;
mod fidelity;
mod fixtures;
mod gateways;
mod honest;
mod incremental;
mod migrate;
mod missing;
mod order;
mod provenance;
mod redaction;
mod replay;
mod replayed_log;
mod reported;
mod side_by_side;
mod silence;
mod snapshot;
mod toys;
mod wasm;
mod wrong_types;
