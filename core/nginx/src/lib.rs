//! The nginx back end: converts servers, locations and upstreams ([`chancery_base::ir::nginx`]) to directives and to text, and simulates
//! requests.
//!
//! Knows the directives that ingress-nginx writes, and their effect. Does not interpret the configuration; see `chancery-ingress-nginx`.
#![no_std]

extern crate alloc;

pub mod conf;
pub mod directive;
pub mod location;
mod location_template;
pub mod refusal;
mod repetition;
mod shared_directives;
pub mod simulate;
pub mod template;
