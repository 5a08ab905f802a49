//! A gateway that is shared: which of its parts others own, and how theirs and the controller's go together.
//!
//! AGIC `pkg/brownfield`. What must not be here: what the controller makes.

mod existing;
mod merge;
mod targets;

pub use existing::Existing;
pub use merge::{by_name, listeners, path_maps, rules};
pub use targets::{Target, Targets};
