//! Lists the deprecated fields and enum values of a message, which Envoy warns of or rejects.

use alloc::string::String;
use alloc::vec::Vec;

use crate::describe::{Deprecation, FieldInfo, MessageInfo, Reflect, Value, Visitor};
use crate::pointer::Path;

/// A deprecated field that is set, or a field with a deprecated value.
#[derive(Clone, Debug)]
pub struct Deprecated {
    /// A JSON pointer of proto field names.
    pub pointer: String,
    /// The full name of the message that has the field.
    pub message_type: &'static str,
    /// The field.
    pub field: &'static str,
    /// The name of the enum's value, if the value is deprecated.
    pub value: Option<&'static str>,
    /// The version since which it is deprecated, and how strictly.
    pub deprecation: &'static Deprecation,
}

/// Returns all deprecated fields that are set, in the order of the walk. The walk enters an [`Any`](crate::Any) if it is typed.
#[must_use]
pub fn deprecated_fields(message: &dyn Reflect) -> Vec<Deprecated> {
    let mut walk = Walk { path: Path::default(), info: message.info(), out: Vec::new() };
    walk.value(None, message.as_value());
    walk.out
}

struct Walk {
    path: Path,
    info: &'static MessageInfo,
    out: Vec<Deprecated>,
}

impl Visitor for Walk {
    fn field(&mut self, field: &'static FieldInfo, value: Value<'_>) {
        self.path.field(field);
        if let Some(deprecation) = field.deprecated {
            self.found(field, None, deprecation);
        }
        self.value(Some(field), value);
        self.path.leave();
    }
}

impl Walk {
    fn found(&mut self, field: &'static FieldInfo, value: Option<&'static str>, deprecation: &'static Deprecation) {
        let (pointer, message_type) = (self.path.pointer(), self.info.full_name);
        self.out.push(Deprecated { pointer, message_type, field: field.name(), value, deprecation });
    }

    fn value(&mut self, field: Option<&'static FieldInfo>, value: Value<'_>) {
        match value {
            Value::Message(message) => {
                let outer = core::mem::replace(&mut self.info, message.info());
                message.visit(self);
                self.info = outer;
            }
            Value::Any(any) => {
                if let Some(message) = any.message() {
                    self.value(None, message.as_value());
                }
            }
            Value::List(list) => {
                for (index, item) in list.iter().enumerate() {
                    self.path.index(index);
                    self.value(field, item);
                    self.path.leave();
                }
            }
            Value::Map(map) => map.each(&mut |key, value| {
                self.path.key(key);
                self.value(field, value);
                self.path.leave();
            }),
            Value::Enum(number, of) => {
                if let (Some(field), Some(known)) = (field, of.value(number))
                    && let Some(deprecation) = known.deprecated
                {
                    self.found(field, Some(known.name), deprecation);
                }
            }
            _ => {}
        }
    }
}
