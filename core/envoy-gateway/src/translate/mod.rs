//! Translates Gateways, listeners, Backends and routes into the model of each Envoy, and writes their statuses.
//!
//! Does not decide the order; see `pipeline`. Does not apply policies; see `policy`. Does not write Envoy's messages; see `xds`.

pub(crate) mod backend;
pub(crate) mod backend_tls;
pub(crate) mod certificates;
mod conflicts;
mod destination;
pub(crate) mod envoy_proxy;
mod error;
mod filter_types;
mod filters;
pub(crate) mod frontend;
pub(crate) mod gateways;
pub(crate) mod global;
mod header_filter;
pub(crate) mod hosts;
mod http_route;
pub(crate) mod listener;
pub(crate) mod listener_set;
mod matches;
mod merge_backends;
mod metadata;
mod mirror;
pub(crate) mod overlap;
mod overlapping_tls;
pub(crate) mod route;
mod route_backend;
mod rule;
mod rule_filters;
pub(crate) mod sort;
mod stream_route;
mod telemetry;

pub(crate) use backend_tls::apply_backend_tls;
pub(crate) use destination::{SettingOf, setting_of_backend, setting_of_import, setting_of_service};
pub(crate) use filters::wildcard_expression;
pub(crate) use metadata::of as metadata_of;
