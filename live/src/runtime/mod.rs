//! Runs controllers: their declarations, and the manager that plans them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`object`] | what is watched, managed and written, and its name |
//! | [`cache`] | the objects as they were seen last, with indexes that are declared up front |
//! | [`mapper`] | from an object that changed to the managed objects that depend on it |
//! | [`queue`] | what is to be reconciled, each once, with a back-off of its own |
//! | [`controller`] | what one controller declares |
//! | [`manager`] | all controllers, planned: which is to reconcile what, and what that asks for |
//! | [`conditions`] | conditions of a status, a map by type |
//! | [`graph`] | the controllers drawn from their declarations, and whether they go in circles |
//! | [`testing`] | one controller without a cluster |
//!
//! A reconciler gets an id and reads everything else from the cache. What it reads is bound to the object, so that a change there reconciles the
//! object again, even if nothing points there any more. Planning does not wait, and gives the same result for the same events. Other modules carry
//! out the plans. Nothing here depends on kinds.

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
