//! What the controller reads, as it means it: Ingresses of either kind, Services and the addresses behind them, probes of pods, targets that
//! it leaves alone.
//!
//! What must not be here: looking things up; what the gateway gets.

mod ingress;
mod service;
mod workload;

pub use ingress::{Backend, Http, Ingress, Path, PathType, Rule, ServicePortRef, ServiceRef, Tls};
pub use service::{EndpointPort, Service, ServicePort, Subset, Target, subsets, subsets_of_clusters};
pub use workload::{Container, HttpGet, Pod, Probe};
