//! The descriptions of messages.
//!
//! Contains the tables that the codegen fills ([`MessageInfo`], [`FieldInfo`], [`EnumInfo`]), the view of a value
//! ([`Value`]) and the walk over the set fields ([`Reflect`], [`Visitor`]). Does not use them; see `json`, `rules` and `deprecated`.

mod info;
mod value;
mod well_known;

pub use info::{Cardinality, Deprecation, Describe, DescribeEnum, EnumInfo, EnumValue, FieldInfo, Kind, MessageInfo, OneofInfo};
pub use value::{Items, List, Map, Pairs, Reflect, Value, Visitor};

// What generated code calls.
pub(crate) use crate::rules::{Bound, Pattern, Rule};
pub(crate) use value::{Field, debug, put_boxed, put_member};
