//! The list of dialects: configuration languages that Chancery reads, one crate each.

#[cfg(test)]
mod tests;

pub use chancery_agic as ingress;
pub use chancery_ambassador as ambassador;
pub use chancery_consul as consul;
pub use chancery_contour as contour;
pub use chancery_envoy_gateway as envoy_gateway;
pub use chancery_ingress_nginx as ingress_nginx;
pub use chancery_kubernetes as kubernetes;
pub use chancery_kubernetes::gateway_api;

use chancery_base::compilation::{Dialect, Language};
use chancery_base::diagnostic::{Code, codes as common};

/// All dialects, in the order in which outputs show them.
pub static ALL: &[&Dialect] =
    &[&ambassador::DIALECT, &contour::DIALECT, &envoy_gateway::DIALECT, &ingress::DIALECT, &ingress_nginx::DIALECT, &consul::DIALECT];

/// The marks that identify the dialect of an input, in the same order.
pub const LANGUAGES: &[Language] =
    &[ambassador::LANGUAGE, contour::LANGUAGE, envoy_gateway::LANGUAGE, ingress::LANGUAGE, ingress_nginx::LANGUAGE, consul::LANGUAGE];

/// All codes of findings: the shared codes, then each dialect's own.
pub fn codes() -> impl Iterator<Item = &'static Code> + Clone {
    common::ALL.iter().copied().chain(ALL.iter().flat_map(|dialect| dialect.codes.iter().copied()))
}

/// The code with this name.
pub fn code(name: &str) -> Option<&'static Code> {
    codes().find(|code| code.name == name)
}
