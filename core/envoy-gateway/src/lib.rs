//! Envoy Gateway: Gateway API with policies, and what each Envoy gets of them.
//!
//! ```text
//! objects -> translate (Gateways, routes) + policy -> model::Xds -> xds -> Envoy's resources
//! ```
//!
//! Does not hold rules of Gateway API that other controllers share; see `gateway_api`.
#![no_std]

extern crate alloc;

mod model;
mod xds;
