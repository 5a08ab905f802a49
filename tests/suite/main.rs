//! Suites that cross crates. Each module is one promise of the project.

mod fixtures;
mod examples;
mod order;
mod incremental;
mod bad_input;
mod wrong_types;
mod redaction;
mod replay;
mod wasm;
mod envoy;
