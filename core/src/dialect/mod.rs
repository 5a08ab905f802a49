//! One folder for each configuration language: what its kinds are, what they mean, and how they become the IR.
//!
//! A dialect must not know another one; `kubernetes` and `gateway_api` are what several of them share. What shared rooms need to know of a
//! dialect is in its descriptor, a [`Dialect`]; [`ALL`] is the one list of them, and hosts may hand over a shorter one.

pub mod ambassador;
pub mod consul;
pub mod contour;
pub mod gateway_api;
pub mod kubernetes;

use crate::compilation::Dialect;

/// All dialects, in the order in which outputs show them.
pub static ALL: &[&Dialect] = &[&ambassador::DIALECT, &contour::DIALECT, &consul::DIALECT];
