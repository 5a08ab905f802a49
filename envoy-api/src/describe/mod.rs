//! What a message says of itself.
//!
//! Here: the tables that the codegen fills ([`MessageInfo`], [`FieldInfo`], [`EnumInfo`]), the view of a value
//! ([`Value`]) and the walk over what is set ([`Reflect`], [`Visitor`]). Not here: anything that is done with them.

mod info;
mod value;
mod well_known;

pub use info::{Cardinality, Deprecation, Describe, DescribeEnum, EnumInfo, EnumValue, FieldInfo, Kind, MessageInfo, OneofInfo};
pub use value::{Items, List, Map, Pairs, Reflect, Value, Visitor};

// What generated code calls.
pub(crate) use crate::rules::{Bound, Pattern, Rule};
pub(crate) use value::{Field, debug, put_boxed, put_member};
