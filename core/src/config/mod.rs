//! The configuration as loaded: every resource that the controller takes, by kind and name, before anything is made of it.
//!
//! This is the `Config` of Ambassador's developer's guide, made so that any dialect can use it: [`Resource`]s are put together by a
//! dialect, [`Config::load_all`] files them once, and consumers ask with [`Config::get_config`], [`Config::get_module`] and
//! [`Config::module_lookup`]. Beside it stands the [`Ledger`], which says of every input object what became of it.
//!
//! What must not be here: how resources are found (`dialect/*/fetch`), what they mean, and any kind's name. Which kinds are filed under
//! which key comes from outside, as [`Rules`].

mod answers;
mod ledger;
mod location;
mod relation;
mod resource;
mod store;

pub use answers::{Answer, Answers, Created, SettingChange, StatusOf, Takes};
pub use ledger::{Ledger, LedgerEntry, State, Why};
pub use location::Location;
pub use relation::{Absent, Relation};
pub(crate) use resource::labels_of;
pub use resource::{Labels, Overrides, Payload, Reference, Resource, SecretData, ServiceData, Target};
pub use store::{Bucket, Config, Loaded, Presence, Rules, Store, Support};

#[cfg(test)]
mod tests;
