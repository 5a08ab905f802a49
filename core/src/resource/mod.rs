//! Identity and relations: what an object is called, where it stands, where a value came from.
//!
//! Nothing here knows a dialect, parses text or renders a message.

mod key;
mod object;
mod origin;

pub use key::{ResourceKey, nearest};
pub use object::{Object, ObjectId, Objects, SourceId, Source, Inputs, Input};
pub use origin::{Origin, Rule, Sourced};
