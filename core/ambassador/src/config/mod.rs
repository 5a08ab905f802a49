//! The configuration as loaded: every resource that the controller takes, by kind and name, before anything is made of it.
//!
//! This is the `Config` of Ambassador's developer's guide: `fetch` puts [`Resource`]s together, [`Config::load_all`] files them once, and
//! consumers ask with [`Config::get_config`], [`Config::get_module`] and [`Config::module_lookup`].
//!
//! What must not be here: how resources are found (`fetch`), what they mean (`model`), and any kind's name. Which kinds are filed under which
//! key comes in as [`Rules`].

mod location;
mod resource;
mod store;

pub use location::Location;
pub(crate) use resource::labels_of;
pub use resource::{Labels, Overrides, Payload, Reference, Resource, ResourceError, SecretData, ServiceData, Target};
pub use store::{Bucket, Config, Presence, Rules, Store, Support};

#[cfg(test)]
mod tests;
