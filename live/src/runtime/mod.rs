//! Controllers: what is declared of one, and what runs them.
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
//! A reconciler gets an id and reads all else from the cache; what it read is bound to the object, so that the object is reconciled again when any
//! of that changes, even where nothing points at it any more. Planning waits for nothing and is the same for the same events; what is
//! planned is carried out elsewhere. What must not be here: kinds.

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
