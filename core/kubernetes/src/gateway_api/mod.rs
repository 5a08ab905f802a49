//! Gateway API: its kinds as the API server takes them, and what is the same for every controller that reads them.
//!
//! Follows kubernetes-sigs/gateway-api, the experimental channel.
//!
//! What must not be here: what one controller alone makes of them, supports of them, or says of them; other dialects.

pub mod kinds;

pub mod attachment;
pub mod checks;
pub mod conflicts;
pub mod grant;
pub mod hostname;
pub mod order;
pub mod owners;
pub mod relations;
pub mod status;
pub mod wanted;

/// The group of all its kinds.
pub const GROUP: &str = "gateway.networking.k8s.io";
