//! The nginx back end: from servers, locations and upstreams ([`chancery_base::ir::nginx`]) to directives, to text, and to what happens to a request.
//!
//! Knows the directives that ingress-nginx writes, and what they do. Does not decide what a configuration means; see `chancery-ingress-nginx`.
#![no_std]

extern crate alloc;

pub mod conf;
pub mod directive;
pub mod location;
mod location_template;
pub mod refusal;
pub mod simulate;
pub mod template;
