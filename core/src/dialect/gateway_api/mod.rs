//! Gateway API: its kinds as the API server takes them, and what is the same for every controller that reads them.
//!
//! Follows kubernetes-sigs/gateway-api, the experimental channel.
//!
//! What must not be here: what one controller makes of them.

pub mod kinds;
pub mod relations;
