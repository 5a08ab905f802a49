//! Defines identity: an object's name and place, and the origin of a value. Does not read objects from text; see `read`.

mod installers;
mod key;
mod object;
mod origin;
mod provided;
mod secret;

pub use installers::{Installers, installs};
pub use key::edit_distance;
pub use key::{ResourceKey, nearest};
pub use object::{Content, Input, Inputs, Object, ObjectId, Objects, Source, SourceId};
pub use origin::{Also, Origin, Rule, Sourced};
pub use provided::{makes_secret, provided_secrets};
pub use secret::{REDACTED, Secret};
