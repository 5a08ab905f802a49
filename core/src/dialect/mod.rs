//! One folder for each configuration language: what its kinds are, what they mean, and how they become the IR.
//!
//! A dialect never names another one.

pub mod ambassador;
