//! What gateways get, kind by kind.
//!
//! What must not be here: what sidecars share with them (`parts`).

mod address;
pub(crate) mod api;
mod cluster;
pub(crate) mod ingress;
pub(crate) mod mesh;
mod synthesis;
pub(crate) mod terminating;
