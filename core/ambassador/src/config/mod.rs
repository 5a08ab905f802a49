//! Stores the loaded configuration: every resource that the controller accepts, by kind and name.
//!
//! This is the `Config` of Ambassador's developer's guide: `fetch` builds [`Resource`]s, [`Config::load_all`] files them once, and consumers use
//! [`Config::get_config`], [`Config::get_module`] and [`Config::module_lookup`].
//!
//! Does not find resources (see `fetch`) or interpret them (see `model`). [`Rules`] defines the key of each kind.

mod location;
mod resource;
mod store;

pub use location::Location;
pub(crate) use resource::labels_of;
pub use resource::{Labels, Overrides, Payload, Reference, Resource, ResourceError, SecretData, ServiceData, Target};
pub use store::{Bucket, Config, Presence, Rules, Store, Support};

#[cfg(test)]
mod tests;
