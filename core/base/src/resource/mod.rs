//! Identity: what an object is called, where it stands, and where a value came from.
//!
//! What must not be here: how objects are read from text (`read`), dialects, findings.

mod key;
mod object;
mod origin;
mod provided;
mod secret;

pub use key::edit_distance;
pub use key::{ResourceKey, nearest};
pub use object::{Content, Input, Inputs, Object, ObjectId, Objects, Source, SourceId};
pub use origin::{Also, Origin, Rule, Sourced};
pub use provided::{makes_secret, provided_secrets};
pub use secret::{REDACTED, Secret};
