//! Provides the tools that the suites share: compiling a text like the command line, fixtures, places in Envoy's configuration, repeatable
//! random numbers, configurations of any size, and ports for servers.
//!
//! Does not contain expectations; see `suite` and `fixtures`.

pub mod chance;
pub mod fixture;
pub mod fuzz;
pub mod generate;
pub mod leaks;
pub mod place;
pub mod port;
pub mod show;
pub mod threads;
pub mod work;
