//! The static tables: one [`MessageInfo`] per message, one [`EnumInfo`] per enum.

use alloc::string::String;

use crate::rules::Rule;

/// A message type.
#[derive(Debug)]
pub struct MessageInfo {
    /// The full name, such as `envoy.config.route.v3.Route`.
    pub full_name: &'static str,
    /// The fields in the order of declaration, which is also the order of [`Reflect::visit`](super::Reflect::visit).
    pub fields: &'static [FieldInfo],
    /// Groups of fields. At most one field of a group is set.
    pub oneofs: &'static [OneofInfo],
}

impl MessageInfo {
    /// Returns the field with a name, in snake_case or in camelCase.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static FieldInfo> {
        self.fields.iter().find(|f| f.name() == name || is_camel_case(f.name(), name))
    }

    /// Returns the field with a number.
    #[must_use]
    pub fn field_by_number(&self, number: u32) -> Option<&'static FieldInfo> {
        self.fields.iter().find(|f| f.number == number)
    }

    /// The name without its package.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.full_name.rsplit('.').next().unwrap_or(self.full_name)
    }
}

/// Statics compare by identity: each message type has one table.
impl PartialEq for MessageInfo {
    fn eq(&self, other: &Self) -> bool {
        self.full_name == other.full_name
    }
}

/// A oneof.
#[derive(Debug)]
pub struct OneofInfo {
    /// Its name.
    pub name: &'static str,
    /// Whether one of its members must be set.
    pub required: bool,
}

/// A field.
#[derive(Debug)]
pub struct FieldInfo {
    /// `"name": `, ready to be copied into JSON.
    key: &'static str,
    /// The number on the wire.
    pub number: u32,
    /// The place in [`MessageInfo::fields`].
    pub index: u16,
    oneof: Option<u16>,
    /// The kind of one element.
    pub kind: Kind,
    /// The number of elements, and the meaning of absence.
    pub cardinality: Cardinality,
    /// Envoy's rules for the value.
    pub rules: &'static [Rule],
    /// Set if Envoy warns of the field.
    pub deprecated: Option<&'static Deprecation>,
    /// Whether the value is or contains a secret.
    pub sensitive: bool,
}

impl FieldInfo {
    pub(crate) const fn new(key: &'static str, number: u32, index: u16, kind: Kind, cardinality: Cardinality) -> Self {
        Self { key, number, index, oneof: None, kind, cardinality, rules: &[], deprecated: None, sensitive: false }
    }

    pub(crate) const fn oneof(mut self, index: u16) -> Self {
        self.oneof = Some(index);
        self
    }

    pub(crate) const fn rules(mut self, rules: &'static [Rule]) -> Self {
        self.rules = rules;
        self
    }

    pub(crate) const fn deprecated(mut self, deprecation: &'static Deprecation) -> Self {
        self.deprecated = Some(deprecation);
        self
    }

    pub(crate) const fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// The name in the proto file, in snake_case.
    #[must_use]
    pub fn name(&self) -> &'static str {
        &self.key[1..self.key.len() - 3]
    }

    /// The name in JSON, in camelCase.
    #[must_use]
    pub fn json_name(&self) -> String {
        camel_case(self.name()).collect()
    }

    /// The name quoted, with a colon and a space.
    pub(crate) fn key(&self) -> &'static str {
        self.key
    }

    /// The place in [`MessageInfo::oneofs`] of the oneof that the field belongs to.
    #[must_use]
    pub fn oneof_index(&self) -> Option<usize> {
        self.oneof.map(usize::from)
    }
}

/// Converts a name of the proto file to JSON as protoc does. The codegen checks that no field sets another name.
fn camel_case(name: &str) -> impl Iterator<Item = char> + '_ {
    let mut capital = false;
    name.chars().filter_map(move |c| {
        let capital = core::mem::replace(&mut capital, c == '_');
        (c != '_').then(|| if capital { c.to_ascii_uppercase() } else { c })
    })
}

fn is_camel_case(name: &str, of: &str) -> bool {
    of.len() <= name.len() && camel_case(name).eq(of.chars())
}

/// The kind of one element of a field.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `bool`
    Bool,
    /// 32 bits, signed, however encoded
    I32,
    /// 64 bits, signed, however encoded
    I64,
    /// 32 bits, unsigned, however encoded
    U32,
    /// 64 bits, unsigned, however encoded
    U64,
    /// `float`
    F32,
    /// `double`
    F64,
    /// `string`
    String,
    /// `bytes`
    Bytes,
    /// An enum.
    Enum(&'static EnumInfo),
    /// A message.
    Message(&'static MessageInfo),
}

/// The number of elements of a field.
#[derive(Clone, Copy, Debug)]
pub enum Cardinality {
    /// A scalar whose zero is the same as absence.
    Implicit,
    /// A message, a member of a oneof, or a scalar that can be absent.
    Optional,
    /// A scalar in a wrapper such as `google.protobuf.UInt32Value`, which can be absent.
    Wrapper,
    /// A list.
    Repeated,
    /// A map; its keys are of this kind.
    Map(Kind),
}

/// Envoy warns of a field or of an enum's value.
#[derive(Debug)]
pub struct Deprecation {
    /// Envoy's version, or an empty string if the API does not state it.
    pub since: &'static str,
    /// Whether Envoy rejects it unless a runtime flag allows it.
    pub disallowed: bool,
}

/// An enum type.
#[derive(Debug)]
pub struct EnumInfo {
    /// The full name, such as `envoy.config.cluster.v3.Cluster.LbPolicy`.
    pub full_name: &'static str,
    /// The values, sorted by number.
    pub values: &'static [EnumValue],
}

impl EnumInfo {
    /// Returns the value with a number.
    #[must_use]
    pub fn value(&self, number: i32) -> Option<&'static EnumValue> {
        // Most enums count from zero without holes.
        match usize::try_from(number).ok().and_then(|n| self.values.get(n)) {
            Some(value) if value.number == number => Some(value),
            _ => self.values.iter().find(|v| v.number == number),
        }
    }

    /// Returns the value with a name. Like Envoy, accepts `high` and `per-route` as `HIGH` and `PER_ROUTE`.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&'static EnumValue> {
        let byte = |b: u8| {
            if b == b'-' { b'_' } else { b.to_ascii_uppercase() }
        };
        let alike = |known: &str| known.len() == name.len() && known.bytes().zip(name.bytes()).all(|(a, b)| byte(a) == byte(b));
        self.values.iter().find(|v| v.name == name).or_else(|| self.values.iter().find(|v| alike(v.name)))
    }
}

/// A value of an enum.
#[derive(Debug)]
pub struct EnumValue {
    /// The number on the wire.
    pub number: i32,
    /// Its name.
    pub name: &'static str,
    /// Set if Envoy warns of the value.
    pub deprecated: Option<&'static Deprecation>,
}

impl EnumValue {
    pub(crate) const fn new(number: i32, name: &'static str) -> Self {
        Self { number, name, deprecated: None }
    }

    pub(crate) const fn deprecated(mut self, deprecation: &'static Deprecation) -> Self {
        self.deprecated = Some(deprecation);
        self
    }
}

/// A message type known at compile time.
pub trait Describe {
    /// Its table.
    const INFO: &'static MessageInfo;
}

/// An enum type known at compile time.
pub trait DescribeEnum {
    /// Its table.
    const INFO: &'static EnumInfo;
}
