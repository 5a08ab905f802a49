//! One folder for each configuration language: what its kinds are, what they mean, and how they become the IR.
//!
//! A dialect must not know another one; `kubernetes` is what all of them share.

pub mod kubernetes;
pub mod ambassador;
