//! Generates Envoy's messages from the model. Does not read Kubernetes objects; see `translate`.

mod access_log;
mod cel;
mod client_address;
mod cluster;
mod credential;
mod endpoint;
mod filters;
mod header_changes;
mod health;
mod listener;
mod load_balancer;
mod matcher;
mod memory;
mod metadata;
pub(crate) mod proto;
mod resources;
mod retries;
mod route;
mod tables;
mod tls;
mod tracing;
mod url;

pub(crate) use cel::is_valid;
pub(crate) use filters::RateLimitService;
pub(crate) use memory::Memory;
pub(crate) use resources::Resources;
pub(crate) use tables::{Generated, Settings, generate};
pub(crate) use tls::CONTROLLER_CA;
pub(crate) use url::split_url;
