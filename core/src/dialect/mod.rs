//! One folder for each configuration language: what its kinds are, what they mean, and how they become the IR.
//!
//! A dialect must not know another one; `kubernetes` and `gateway_api` are what several of them share. What shared rooms need to know of a
//! dialect is in its descriptor, a [`Dialect`]; [`ALL`] is the one list of them, and hosts may hand over a shorter one.

pub mod ambassador;
pub mod consul;
pub mod contour;
pub mod envoy_gateway;
pub mod gateway_api;
pub mod ingress;
pub mod kubernetes;
#[cfg(test)]
mod tests;

use crate::compilation::{Dialect, Language};
use crate::diagnostic::{Code, codes as common};

/// All dialects, in the order in which outputs show them.
pub static ALL: &[&Dialect] = &[&ambassador::DIALECT, &contour::DIALECT, &ingress::DIALECT, &consul::DIALECT];

/// By what each of them is recognised, in the same order.
pub const LANGUAGES: &[Language] = &[ambassador::LANGUAGE, contour::LANGUAGE, ingress::LANGUAGE, consul::LANGUAGE];

/// All codes of findings: those that dialects share, then those that each has alone.
pub fn codes() -> impl Iterator<Item = &'static Code> + Clone {
    common::ALL.iter().copied().chain(ALL.iter().flat_map(|dialect| dialect.codes.iter().copied()))
}

/// The code of this name.
pub fn code(name: &str) -> Option<&'static Code> {
    codes().find(|code| code.name == name)
}
