//! Runs controllers: their declarations, and the manager that plans them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`object`] | an object that is watched, managed or written, and its name |
//! | [`cache`] | the last known state of all objects, with declared indexes |
//! | [`mapper`] | maps a changed object to the managed objects that depend on it |
//! | [`queue`] | the objects that wait for reconciliation, each once, with its own back-off |
//! | [`controller`] | the declaration of one controller |
//! | [`manager`] | plans all controllers: the next object, and the actions for it |
//! | [`conditions`] | conditions of a status, a map by type |
//! | [`graph`] | draws the controllers from their declarations, and finds cycles |
//! | [`testing`] | runs one controller without a cluster |
//!
//! A reconciler gets an id and reads everything else from the cache. Everything that it reads is bound to the object. So
//! a change there reconciles the object again, even if the object no longer refers to it. Planning does not wait, and
//! gives the same result for the same events. Other modules carry out the plans. Nothing here depends on kinds.

pub mod cache;
pub mod conditions;
pub mod controller;
pub mod graph;
pub mod manager;
pub mod mapper;
pub mod object;
pub mod queue;
pub mod testing;

pub use cache::{Cache, Index};
pub use controller::{Action, Controller, Reading, Reconcile};
pub use manager::{Change, Manager, Planned};
pub use object::{Id, Object};

#[cfg(test)]
mod tests;
