//! Back ends: from the intermediate representation to what a proxy reads.
//!
//! A back end is a set of functions from `ir` to its own wire types, and the writing of those as text. It decides no name
//! and no policy: what a gateway does stands in the IR. A back end sees nothing but the IR (and origins, which it hands on): no
//! dialect, no configuration, no input text.
//!
//! | module | what it holds |
//! |---|---|
//! | [`output_map`] | where in an output each origin went, and back |
//! | [`rope`] | long outputs in shared pieces |
//! | [`appgw`] | Azure's Application Gateway |
//! | [`envoy`] | Envoy; one folder for each version of its API |

pub mod appgw;
pub mod envoy;
pub mod output_map;
pub mod rope;

pub use output_map::{MappedPlace, OutputMap};
pub use rope::Rope;
