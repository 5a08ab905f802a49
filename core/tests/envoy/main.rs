//! Tests the Envoy back end.

mod accepted;
mod documents;
mod memory;
mod rich;
mod spelling;
mod upstream;
