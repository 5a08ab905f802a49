//! What the suites share: compiling a text as the command line would, fixtures, places in Envoy's configuration, repeatable chance,
//! configurations of any size, and ports for servers.
//!
//! What must not be here: expectations.

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
