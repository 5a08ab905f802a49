//! The controller's view of the input: Ingresses of either kind, Services and their addresses, probes of pods, prohibited targets. Does not look up
//! references; see `source`.

mod ingress;
mod service;
mod workload;

pub use ingress::{Backend, Http, Ingress, Path, PathType, Rule, ServicePortRef, ServiceRef, Tls};
pub use service::{EndpointPort, Service, ServicePort, Subset, Target, subsets, subsets_of_clusters};
pub use workload::{Container, HttpGet, Pod, Probe};
