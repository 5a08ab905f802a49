//! The controllers, and the code that carries out their actions.
//!
//! | module | what it holds |
//! |---|---|
//! | [`statuses`] | the wanted status of each object, and one controller for each kind that has a status |
//! | [`provisioner`] | the objects that each Gateway needs, and one controller that writes them |
//! | [`certificates`] | certificates of a provisioned Contour and its Envoys |
//! | [`delivery`] | the gateway of each proxy, and the snapshot of each gateway |
//! | [`objects`] | inputs from an API server as objects |
//! | [`writer`] | writing to an API server |
//! | [`lease`] | the election of the replica that writes |
//! | [`run`] | applies the results of builds to the cluster |
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
