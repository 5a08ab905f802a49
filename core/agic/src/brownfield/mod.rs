//! Handles shared gateways: which parts others own, and how they are merged with the controller's parts.
//!
//! AGIC `pkg/brownfield`. Does not make parts; see `build`.

mod existing;
mod merge;
mod targets;

pub use existing::Existing;
pub use merge::{by_name, listeners, path_maps, rules};
pub use targets::{Target, Targets};
