//! Defines groups of settings with the field names of the controller's model. Each field has its origin.
//!
//! Does not define the groups; see `settings`.

use crate::ir::{Fields, Plain, Tree};
use crate::resource::Sourced;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_text::Str;

/// A value that the model can contain. The model omits zero values.
pub trait Shown {
    /// Returns the value; null for a zero value.
    fn show(&self) -> Plain;
}

impl Shown for bool {
    fn show(&self) -> Plain {
        if *self { Plain::Bool(true) } else { Plain::Null }
    }
}

impl Shown for i64 {
    fn show(&self) -> Plain {
        if *self == 0 { Plain::Null } else { Plain::Int(*self) }
    }
}

impl Shown for Str {
    fn show(&self) -> Plain {
        if self.is_empty() { Plain::Null } else { Plain::String(self.clone()) }
    }
}

impl<T: Shown> Shown for Vec<T> {
    fn show(&self) -> Plain {
        if self.is_empty() {
            return Plain::Null;
        }
        Plain::List(self.iter().map(|item| Tree::from(item.show())).collect())
    }
}

impl Shown for BTreeMap<Str, Str> {
    fn show(&self) -> Plain {
        if self.is_empty() {
            return Plain::Null;
        }
        Plain::Object(Fields(self.iter().map(|(key, value)| (key.clone(), Tree::from(Plain::String(value.clone())))).collect()))
    }
}

/// A group of settings.
pub trait Record {
    /// Returns the fields with a value, by the model's names.
    fn fields(&self) -> Vec<(&'static str, Tree)>;

    /// Returns the group as an object; null if no field has a value.
    fn tree(&self) -> Tree {
        let fields = self.fields();
        if fields.is_empty() { Tree::NULL } else { Tree::object(fields) }
    }
}

/// Returns a value with its origin.
pub(super) fn shown<T: Shown>(value: &Sourced<T>) -> Tree {
    Tree { value: value.value.show(), origin: value.origin }
}

/// Defines groups of settings.
macro_rules! records {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty => $key:literal,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, Default, PartialEq, Eq)]
            pub struct $name {
                $(#[doc = concat!("`", $key, "` of the controller's model.")] pub $field: $crate::resource::Sourced<$kind>,)*
            }

            impl $crate::ir::nginx::Record for $name {
                fn fields(&self) -> alloc::vec::Vec<(&'static str, $crate::ir::Tree)> {
                    let all = [$(($key, $crate::ir::nginx::record::shown(&self.$field)),)*];
                    all.into_iter().filter(|(_, tree)| !tree.is_null()).collect()
                }
            }
        )*
    };
}

pub(super) use records;
