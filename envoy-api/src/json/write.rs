//! Writes messages as JSON.

use alloc::string::String;
use alloc::vec::Vec;

use super::text;
use crate::Any;
use crate::any::TYPE_URL_PREFIX;
use crate::describe::{FieldInfo, Reflect, Value, Visitor};
use crate::pointer::key_text;

/// Types an [`Any`] that is bytes, by the full name of its type. `registry::decode` is a resolver.
pub type Resolver = fn(type_name: &str, value: &[u8]) -> Option<Any>;

/// The layout of the JSON.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    indent: Option<u8>,
    level: usize,
    redact: bool,
    without: &'static [(&'static str, &'static str)],
    resolver: Option<Resolver>,
}

impl Style {
    /// No blanks at all.
    pub const COMPACT: Self = Self { indent: None, level: 0, redact: false, without: &[], resolver: None };
    /// Indents by two blanks per level.
    pub const PRETTY: Self = Self { indent: Some(2), ..Self::COMPACT };

    /// Indents by this many blanks per level.
    #[must_use]
    pub const fn indent(mut self, blanks: u8) -> Self {
        self.indent = Some(blanks);
        self
    }

    /// Starts at this depth, for a part of a larger document. Does not indent the first line.
    #[must_use]
    pub const fn level(mut self, level: usize) -> Self {
        self.level = level;
        self
    }

    /// Writes `[redacted]` for values that the API marks as sensitive.
    #[must_use]
    pub const fn redact(mut self) -> Self {
        self.redact = true;
        self
    }

    /// Omits these fields everywhere. Each is named by its message's full name and its own name.
    #[must_use]
    pub const fn without(mut self, fields: &'static [(&'static str, &'static str)]) -> Self {
        self.without = fields;
        self
    }

    /// Types the bytes in an [`Any`]. Without a resolver, its value is written in base64.
    #[must_use]
    pub const fn resolver(mut self, resolver: Resolver) -> Self {
        self.resolver = Some(resolver);
        self
    }
}

/// The JSON of a message, without blanks.
#[must_use]
pub fn to_string(message: &dyn Reflect) -> String {
    to_string_with(message, &Style::COMPACT)
}

/// The JSON of a message, with two blanks a level.
#[must_use]
pub fn to_string_pretty(message: &dyn Reflect) -> String {
    to_string_with(message, &Style::PRETTY)
}

/// The JSON of a message.
#[must_use]
pub fn to_string_with(message: &dyn Reflect, style: &Style) -> String {
    let mut out = Vec::with_capacity(256);
    write(&mut out, message, style);
    into_string(out)
}

/// The JSON of any value, without blanks.
#[must_use]
pub fn value_to_string(value: Value<'_>) -> String {
    let mut out = Vec::new();
    write_value(&mut out, value, &Style::COMPACT);
    into_string(out)
}

/// Adds the JSON of a message to `out`, in UTF-8.
pub fn write(out: &mut Vec<u8>, message: &dyn Reflect, style: &Style) {
    write_value(out, message.as_value(), style);
}

/// Adds the JSON of any value to `out`, in UTF-8.
pub fn write_value(out: &mut Vec<u8>, value: Value<'_>, style: &Style) {
    Writer { out, style, level: style.level, first: true, secret: false }.value(value);
}

fn into_string(out: Vec<u8>) -> String {
    String::from_utf8(out).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// A line break, and more blanks than most documents need.
const BREAK: &[u8; 129] = &{
    let mut blanks = [b' '; 129];
    blanks[0] = b'\n';
    blanks
};

struct Writer<'a> {
    out: &'a mut Vec<u8>,
    style: &'a Style,
    level: usize,
    /// Whether the open object or list is still empty.
    first: bool,
    /// Whether the value is part of a sensitive field.
    secret: bool,
}

impl Visitor for Writer<'_> {
    fn field(&mut self, field: &'static FieldInfo, value: Value<'_>) {
        self.next();
        let key = field.key().as_bytes();
        match self.style.indent {
            Some(_) => self.out.extend_from_slice(key),
            None => self.out.extend_from_slice(&key[..key.len() - 1]),
        }
        if field.sensitive && self.style.redact && !self.secret {
            self.secret = true;
            self.value(value);
            self.secret = false;
        } else {
            self.value(value);
        }
    }
}

/// Writes the fields of a message, except the omitted fields.
struct Without<'a, 'w> {
    message: &'static str,
    writer: &'a mut Writer<'w>,
}

impl Visitor for Without<'_, '_> {
    fn field(&mut self, field: &'static FieldInfo, value: Value<'_>) {
        if !self.writer.style.without.contains(&(self.message, field.name())) {
            self.writer.field(field, value);
        }
    }
}

impl Writer<'_> {
    /// Starts a member of an object or an element of a list.
    #[inline]
    fn next(&mut self) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        self.line();
    }

    #[inline]
    fn line(&mut self) {
        let Some(indent) = self.style.indent else {
            return;
        };
        let blanks = self.level * usize::from(indent);
        match BREAK.get(..=blanks) {
            Some(text) => self.out.extend_from_slice(text),
            None => {
                self.out.push(b'\n');
                self.out.resize(self.out.len() + blanks, b' ');
            }
        }
    }

    /// An object or a list.
    #[inline]
    fn nested(&mut self, open: u8, close: u8, inside: impl FnOnce(&mut Self)) {
        self.out.push(open);
        let outer = core::mem::replace(&mut self.first, true);
        self.level += 1;
        inside(self);
        self.level -= 1;
        if !self.first {
            self.line();
        }
        self.first = outer;
        self.out.push(close);
    }

    /// Writes a key that is not a field.
    fn key(&mut self, key: &str) {
        self.next();
        text::string(self.out, key);
        self.out.extend_from_slice(if self.style.indent.is_some() { b": " } else { b":" });
    }

    fn value(&mut self, value: Value<'_>) {
        match value {
            Value::String(v) => self.string(v),
            Value::Message(v) => self.nested(b'{', b'}', |w| w.fields(v)),
            Value::List(v) => self.nested(b'[', b']', |w| {
                for item in v.iter() {
                    w.next();
                    w.value(item);
                }
            }),
            Value::Bool(v) => self.out.extend_from_slice(if v { b"true" } else { b"false" }),
            Value::I32(v) => text::integer(self.out, v.into()),
            Value::U32(v) => text::integer(self.out, v.into()),
            Value::Enum(number, of) => match of.value(number) {
                Some(value) => {
                    self.out.push(b'"');
                    self.out.extend_from_slice(value.name.as_bytes());
                    self.out.push(b'"');
                }
                None => text::integer(self.out, number.into()),
            },
            Value::Any(v) => self.any(v),
            Value::Duration(v) => text::duration(self.out, v),
            Value::I64(v) => self.quoted_integer(v.into()),
            Value::U64(v) => self.quoted_integer(v.into()),
            Value::F32(v) => text::float(self.out, v, f64::from(v)),
            Value::F64(v) => text::float(self.out, v, v),
            Value::Bytes(_) if self.secret => self.string(""),
            Value::Bytes(v) => {
                self.out.push(b'"');
                text::base64(self.out, v);
                self.out.push(b'"');
            }
            Value::Map(v) => self.nested(b'{', b'}', |w| {
                v.each(&mut |key, value| {
                    match key {
                        Value::String(key) => w.key(key),
                        key => w.key(&key_text(key)),
                    }
                    w.value(value);
                });
            }),
            Value::Timestamp(v) => text::timestamp(self.out, v),
            Value::FieldMask(v) => text::field_mask(self.out, v),
            Value::Struct(v) => self.structure(v),
            Value::Dynamic(v) => self.dynamic(v),
            Value::DynamicList(v) => self.dynamic_list(v),
            Value::Empty => self.out.extend_from_slice(b"{}"),
        }
    }

    #[inline]
    fn fields(&mut self, message: &dyn Reflect) {
        if self.style.without.is_empty() {
            message.visit(self);
        } else {
            message.visit(&mut Without { message: message.info().full_name, writer: self });
        }
    }

    fn string(&mut self, v: &str) {
        text::string(self.out, if self.secret { "[redacted]" } else { v });
    }

    fn quoted_integer(&mut self, v: i128) {
        self.out.push(b'"');
        text::integer(self.out, v);
        self.out.push(b'"');
    }

    fn any(&mut self, any: &Any) {
        if let Some(message) = any.message() {
            let value = message.as_value();
            return self.nested(b'{', b'}', |w| {
                w.next();
                w.out.extend_from_slice(if w.style.indent.is_some() { b"\"@type\": \"" } else { b"\"@type\":\"" });
                w.out.extend_from_slice(TYPE_URL_PREFIX.as_bytes());
                w.out.extend_from_slice(message.info().full_name.as_bytes());
                w.out.push(b'"');
                match value {
                    Value::Message(message) => w.fields(message),
                    Value::Empty => {}
                    value => {
                        w.key("value");
                        w.value(value);
                    }
                }
            });
        }
        if let Some(json) = any.as_json() {
            return self.foreign(json);
        }
        let bytes = any.as_raw().unwrap_or_default();
        if let Some(typed) = self.style.resolver.and_then(|resolve| resolve(any.type_name(), bytes)) {
            return self.any(&typed);
        }
        self.nested(b'{', b'}', |w| {
            let url = any.type_url();
            if url.is_empty() && bytes.is_empty() {
                return;
            }
            w.key("@type");
            text::string(w.out, &url);
            if !bytes.is_empty() {
                w.key("value");
                w.value(Value::Bytes(bytes));
            }
        });
    }

    fn structure(&mut self, v: &prost_types::Struct) {
        self.nested(b'{', b'}', |w| {
            for (key, value) in &v.fields {
                w.key(key);
                w.dynamic(value);
            }
        });
    }

    fn dynamic_list(&mut self, v: &prost_types::ListValue) {
        self.nested(b'[', b']', |w| {
            for value in &v.values {
                w.next();
                w.dynamic(value);
            }
        });
    }

    fn dynamic(&mut self, v: &prost_types::Value) {
        use prost_types::value::Kind;
        match &v.kind {
            None | Some(Kind::NullValue(_)) => self.out.extend_from_slice(b"null"),
            Some(Kind::BoolValue(v)) => self.value(Value::Bool(*v)),
            Some(Kind::NumberValue(v)) => self.value(Value::F64(*v)),
            Some(Kind::StringValue(v)) => self.string(v),
            Some(Kind::StructValue(v)) => self.structure(v),
            Some(Kind::ListValue(v)) => self.dynamic_list(v),
        }
    }

    /// Writes JSON without blanks that was kept verbatim.
    fn foreign(&mut self, json: &str) {
        if self.style.indent.is_none() {
            self.out.extend_from_slice(json.as_bytes());
            return;
        }
        let (mut quoted, mut escaped, mut empty) = (false, false, false);
        let base = self.level;
        for byte in json.bytes() {
            if quoted {
                self.out.push(byte);
                quoted = escaped || byte != b'"';
                escaped = byte == b'\\' && !escaped;
                continue;
            }
            if empty && !matches!(byte, b'}' | b']') {
                self.line();
            }
            match byte {
                b'{' | b'[' => self.level += 1,
                b'}' | b']' => {
                    self.level = self.level.saturating_sub(1).max(base);
                    if !empty {
                        self.line();
                    }
                }
                b'"' => quoted = true,
                _ => {}
            }
            self.out.push(byte);
            match byte {
                b',' => self.line(),
                b':' => self.out.push(b' '),
                _ => {}
            }
            empty = matches!(byte, b'{' | b'[');
        }
        self.level = base;
    }
}
