//! Ambassador, also known as Emissary-ingress: what it reads, what that means, and what it makes of it.
//!
//! Follows Emissary-ingress 4.x as a cluster runs it: API server, Go front end, Python compiler.

pub mod options;
pub mod kinds;
pub mod fetch;

pub use options::{MissingSecrets, Options};
