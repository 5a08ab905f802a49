//! Identity and relations: what an object is called, where it stands, where a value came from, and how objects are read from text.
//!
//! Nothing here knows a dialect or renders a message.

mod key;
mod object;
mod origin;
pub mod read;
mod secret;

pub(crate) use key::edit_distance;
pub use key::{ResourceKey, nearest};
pub use object::{Content, Input, Inputs, Object, ObjectId, Objects, Source, SourceId};
pub use origin::{Origin, Rule, Sourced};
pub use read::{DocumentCache, ReadOptions, Shape, read};
pub use secret::{REDACTED, Secret};
