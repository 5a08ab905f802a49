//! The controllers, and the code that carries out their actions.
//!
//! | module | what it holds |
//! |---|---|
//! | [`statuses`] | what each object's status is to be, as a build says, and one controller for each kind that has one |
//! | [`provisioner`] | what a build wants to be created for each Gateway, and one controller that sees to it |
//! | [`certificates`] | certificates of a provisioned Contour and its Envoys |
//! | [`delivery`] | which proxy belongs to which gateway, and which snapshot each gateway's proxies are to have |
//! | [`objects`] | inputs from an API server as objects |
//! | [`writer`] | writing to an API server |
//! | [`lease`] | which of several replicas writes |
//! | [`run`] | builds in, writes out |
//!
//! Nothing is written into a cluster without `--write-status` or `--write-objects`.

pub mod certificates;
pub mod delivery;
pub mod lease;
pub mod objects;
pub mod provisioner;
pub mod run;
pub mod statuses;
pub mod writer;
