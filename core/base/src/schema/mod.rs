//! Defines structural schemas: what an object of a kind may contain, and how the API server, the controller's validator and its Go structs treat
//! it.
//!
//! A schema is constant data ([`Schema`], [`Field`]), written with the builders of this module and the `object!` macro. The operations walk a tree
//! together with its schema and keep node numbers, so that every result can be traced to its line:
//!
//! * [`tidy`]: the API server's preprocessing: prunes unknown fields, drops nulls, sets defaults.
//! * [`Check`]: all violations, each at its place, with our message and the reference's.
//! * [`round_trip`]: the object after a Go struct decoded and encoded it.
//! * [`describe`]: the description of a field.
//! * [`names`]: the rules for names and labels that all kinds share.
//!
//! Does not know the fields of any kind.

mod cel;
mod check;
mod describe;
pub mod duration;
mod hash;
pub mod index;
mod memo;
mod misplaced;
pub mod names;
mod path;
mod patterns;
mod quote;
mod rules;
mod shape;
mod tidy;
mod violation;
mod wire;
mod wording;

pub use describe::{KnownKind, ListedKind, allowed_values, describe};
pub use memo::{Memo, is_pattern, is_rule};
pub use misplaced::advise_move;
pub use path::Path;
pub use quote::go_quoted;
pub use shape::{
    ANY, BASE64, BOOLEAN, EMPTY_OBJECT, Field, Format, GO_DURATION, INT_OR_STRING, INTEGER, Literal, Members, NUMBER, Numbers, OPEN_OBJECT, Once,
    Others, Rule, STRING, STRING_MAP, STRINGS, Schema, Shape, Strings, TRUE, Wire, any_of, array, either, field, int_of, like, map, object_of,
    one_of, quantity, rule,
};
pub use tidy::{Change, Tidy, default, drop_nulls, prune, tidy};
pub use violation::{Check, Fault, Violation};
pub use wire::{round_trip, round_trip_if_valid};
pub use wording::fits;

#[cfg(test)]
mod tests;
