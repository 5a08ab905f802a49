//! Implements Gateway API: its kinds as the API server accepts them, and the behaviour that all controllers share.
//!
//! Follows kubernetes-sigs/gateway-api, the experimental channel. Does not contain the behaviour of single controllers; see the dialects.

pub mod kinds;

pub mod attachment;
pub mod checks;
pub mod conflicts;
pub mod grant;
pub mod hostname;
pub mod order;
pub mod owners;
pub mod references;
pub mod relations;
pub mod status;

/// The group of all its kinds.
pub const GROUP: &str = "gateway.networking.k8s.io";
