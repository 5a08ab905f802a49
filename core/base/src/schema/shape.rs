//! Defines schemas: constant data, written with the builders at the end of this file.

/// The values allowed at one place of an object.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    pub shape: Shape,
    /// Whether `null` is a value of its type; otherwise the API server drops it.
    pub nullable: bool,
    /// The API server's default.
    pub default: Option<Literal>,
    /// The API server's schema does not describe this place (`x-kubernetes-preserve-unknown-fields` above it): only the controller knows its shape.
    /// The API server keeps nulls. See [`super::Check::server`].
    pub unserved: bool,
    /// Only the API server knows this place; the controller's own validator does not.
    pub server_only: bool,
    /// Additional rules (`x-kubernetes-validations`).
    pub rules: &'static [Rule],
    /// The checks that this value or its parts need. A walk for one check skips values without it.
    pub(super) within: Within,
}

/// The checks that a value or its parts need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Within {
    /// Unique items ([`Once`]).
    pub once: bool,
    /// Rules ([`Schema::rules`]).
    pub rules: bool,
}

impl Within {
    const NOTHING: Self = Self { once: false, rules: false };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    pub expression: &'static str,
    /// The API server's message if the rule is violated.
    pub message: &'static str,
}

pub const fn rule(expression: &'static str, message: &'static str) -> Rule {
    Rule { expression, message }
}

/// A default value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// A boolean.
    Bool(bool),
    Int(i64),
    Str(&'static str),
    List(&'static [Literal]),
    Object(&'static [(&'static str, Literal)]),
}

#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Anything (`x-kubernetes-preserve-unknown-fields` without a type).
    Any,
    Boolean,
    /// Only `true` (`enum: [true]`).
    True,
    /// A whole number.
    Integer(Numbers),
    Number(Numbers),
    String(Strings),
    /// A whole number or a string (`x-kubernetes-int-or-string`). The string may have to match a regular expression.
    IntOrString(Option<&'static str>),
    Array {
        /// The schema of the items.
        items: &'static Schema,
        /// The minimum number of items.
        min: u32,
        /// The maximum number of items.
        max: u32,
        /// Which items must be unique.
        once: Once,
    },
    /// An object with named fields.
    Object(Members),
    /// Exactly one of these, selected by JSON type.
    OneOf(&'static [Schema]),
    /// At least one of these.
    AnyOf(&'static [Schema]),
}

/// Which items of a list must be unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Once {
    /// Items may repeat.
    Free,
    /// Each item (`x-kubernetes-list-type: set`).
    Items,
    /// The combination of these fields (`x-kubernetes-list-type: map`).
    Keys(&'static [&'static str]),
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    /// The minimum.
    pub min: Option<i64>,
    /// The maximum.
    pub max: Option<i64>,
    /// The allowed values; empty for no restriction.
    pub among: &'static [i64],
    /// `format: int32`.
    pub int32: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Strings {
    /// The allowed values; empty for no restriction.
    pub among: &'static [&'static str],
    /// The regular expression that it must match.
    pub pattern: Option<&'static str>,
    /// The minimum number of characters.
    pub min: u32,
    /// The maximum number of characters.
    pub max: u32,
    /// The meaning of the string.
    pub format: Format,
}

/// The meaning of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// No special meaning.
    Plain,
    /// A Go duration, `1m30s`. The API server does not check it; the controller checks it on decoding and encodes it in Go's form.
    GoDuration,
    /// Bytes in base64 (`format: byte`).
    Base64,
}

/// The allowed content of an object.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    /// The named fields, in the order of the Go struct.
    pub fields: &'static [Field],
    /// Maps a name to its index in `fields`; see [`super::index`].
    pub index: &'static [u8],
    /// The required fields, one bit each.
    pub required: u128,
    /// The fields with a default, one bit each.
    pub defaults: u128,
    /// The fields that Go always writes, one bit each.
    pub always: u128,
    /// The fields that contain lists of unique items, one bit each.
    pub(super) once: u128,
    /// The fields that contain rules, one bit each.
    pub(super) rules: u128,
    /// The treatment of other entries.
    pub others: Others,
    /// The minimum number of entries.
    pub min: u32,
    /// The maximum number of entries.
    pub max: u32,
}

/// The treatment of entries that no field names.
#[derive(Clone, Copy, Debug)]
pub enum Others {
    /// Dropped: a structural schema prunes unknown fields.
    Prune,
    /// Kept verbatim (`x-kubernetes-preserve-unknown-fields`).
    Keep,
    /// Each has this schema (`additionalProperties`).
    Values(&'static Schema),
}

#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: &'static str,
    pub schema: Schema,
    /// One-line description.
    pub doc: &'static str,
    /// Whether the field is required.
    pub required: bool,
    /// How the Go struct writes the field when it is empty.
    pub wire: Wire,
}

/// How a Go struct writes a field as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// A pointer with `omitempty`: written if it was present, even if `false`, `0` or `""`.
    Kept,
    /// A value with `omitempty`: `false`, `0`, `""`, `[]` and `{}` are omitted.
    Dropped,
    /// Always written, as a zero value if it was absent.
    Always,
}

impl Schema {
    const fn around(self, within: Within) -> Self {
        Self { within, ..self }
    }

    const fn of(shape: Shape) -> Self {
        Self { shape, nullable: false, default: None, unserved: false, server_only: false, rules: &[], within: Within::NOTHING }
    }

    /// Makes `null` a valid value.
    #[must_use]
    pub const fn or_null(mut self) -> Self {
        self.nullable = true;
        self
    }

    /// Sets the API server's default.
    #[must_use]
    pub const fn default(mut self, value: Literal) -> Self {
        self.default = Some(value);
        self
    }

    /// Marks a shape that only the controller's own validator knows; see [`Schema::unserved`].
    #[must_use]
    pub const fn unserved(mut self) -> Self {
        self.unserved = true;
        self
    }

    /// Marks a place that only the API server knows; see [`Schema::server_only`].
    #[must_use]
    pub const fn server_only(mut self) -> Self {
        self.server_only = true;
        self
    }

    /// Adds rules.
    #[must_use]
    pub const fn rules(mut self, rules: &'static [Rule]) -> Self {
        self.rules = rules;
        self.within.rules = true;
        self
    }

    /// Requires all items of a list to differ.
    #[must_use]
    pub const fn distinct(mut self) -> Self {
        if let Shape::Array { once, .. } = &mut self.shape {
            *once = Once::Items;
            self.within.once = true;
        }
        self
    }

    /// Requires the items of a list to differ in these fields.
    #[must_use]
    pub const fn keyed_by(mut self, keys: &'static [&'static str]) -> Self {
        if let Shape::Array { once, .. } = &mut self.shape {
            *once = Once::Keys(keys);
            self.within.once = true;
        }
        self
    }

    /// Limits the size of a string, list or object on both sides.
    #[must_use]
    pub const fn sized(self, low: u32, high: u32) -> Self {
        self.at_least(low).at_most(high)
    }

    /// Requires a string to match a regular expression.
    #[must_use]
    pub const fn like(mut self, pattern: &'static str) -> Self {
        if let Shape::String(strings) = &mut self.shape {
            strings.pattern = Some(pattern);
        }
        self
    }

    /// Limits a number on both sides.
    #[must_use]
    pub const fn between(mut self, low: i64, high: i64) -> Self {
        if let Shape::Integer(numbers) | Shape::Number(numbers) = &mut self.shape {
            numbers.min = Some(low);
            numbers.max = Some(high);
        }
        self
    }

    /// Sets the minimum of a number.
    #[must_use]
    pub const fn starting_at(mut self, low: i64) -> Self {
        if let Shape::Integer(numbers) | Shape::Number(numbers) = &mut self.shape {
            numbers.min = Some(low);
        }
        self
    }

    /// Sets the minimum of a number, or the minimum size of a string, list or object.
    #[must_use]
    pub const fn at_least(mut self, low: u32) -> Self {
        match &mut self.shape {
            Shape::Integer(numbers) | Shape::Number(numbers) => numbers.min = Some(low as i64),
            Shape::String(strings) => strings.min = low,
            Shape::Array { min, .. } => *min = low,
            Shape::Object(members) => members.min = low,
            _ => {}
        }
        self
    }

    /// Sets the maximum of a number, or the maximum size of a string, list or object.
    #[must_use]
    pub const fn at_most(mut self, high: u32) -> Self {
        match &mut self.shape {
            Shape::Integer(numbers) | Shape::Number(numbers) => numbers.max = Some(high as i64),
            Shape::String(strings) => strings.max = high,
            Shape::Array { max, .. } => *max = high,
            Shape::Object(members) => members.max = high,
            _ => {}
        }
        self
    }

    /// Sets `format: int32` on a whole number.
    #[must_use]
    pub const fn int32(mut self) -> Self {
        if let Shape::Integer(numbers) = &mut self.shape {
            numbers.int32 = true;
        }
        self
    }

    /// Keeps unknown entries of an object.
    #[must_use]
    pub const fn open(mut self) -> Self {
        if let Shape::Object(members) = &mut self.shape {
            members.others = Others::Keep;
        }
        self
    }
}

/// Any value.
pub const ANY: Schema = Schema::of(Shape::Any);
pub const BOOLEAN: Schema = Schema::of(Shape::Boolean);
pub const TRUE: Schema = Schema::of(Shape::True);
pub const INTEGER: Schema = Schema::of(Shape::Integer(Numbers { min: None, max: None, among: &[], int32: false }));
pub const NUMBER: Schema = Schema::of(Shape::Number(Numbers { min: None, max: None, among: &[], int32: false }));
pub const STRING: Schema = Schema::of(Shape::String(PLAIN));
pub const INT_OR_STRING: Schema = Schema::of(Shape::IntOrString(None));
/// An object with unknown content.
pub const OPEN_OBJECT: Schema = Schema::of(Shape::Object(Members { others: Others::Keep, ..NO_MEMBERS }));
pub const STRINGS: Schema = array(&STRING);
/// Strings by name.
pub const STRING_MAP: Schema = map(&STRING);
/// A Go duration, `1m30s`.
pub const GO_DURATION: Schema = Schema::of(Shape::String(Strings { format: Format::GoDuration, ..PLAIN }));

/// Bytes in base64.
pub const BASE64: Schema = Schema::of(Shape::String(Strings { format: Format::Base64, ..PLAIN }));
/// An object without fields: everything in it is dropped.
pub const EMPTY_OBJECT: Schema = Schema::of(Shape::Object(NO_MEMBERS));

const NO_MEMBERS: Members =
    Members { fields: &[], index: &[], required: 0, defaults: 0, always: 0, once: 0, rules: 0, others: Others::Prune, min: 0, max: u32::MAX };

const PLAIN: Strings = Strings { among: &[], pattern: None, min: 0, max: u32::MAX, format: Format::Plain };

/// One of these strings.
pub const fn one_of(among: &'static [&'static str]) -> Schema {
    Schema::of(Shape::String(Strings { among, ..PLAIN }))
}

/// One of these whole numbers.
pub const fn int_of(among: &'static [i64]) -> Schema {
    Schema::of(Shape::Integer(Numbers { min: None, max: None, among, int32: false }))
}

/// A string that matches a regular expression.
pub const fn like(pattern: &'static str) -> Schema {
    Schema::of(Shape::String(Strings { pattern: Some(pattern), ..PLAIN }))
}

/// The pattern of every Kubernetes quantity.
pub const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// A whole number, or a string that matches a regular expression.
pub const fn quantity(pattern: &'static str) -> Schema {
    Schema::of(Shape::IntOrString(Some(pattern)))
}

pub const fn array(items: &'static Schema) -> Schema {
    Schema::of(Shape::Array { items, min: 0, max: u32::MAX, once: Once::Free }).around(items.within)
}

/// Values of one schema by name.
pub const fn map(values: &'static Schema) -> Schema {
    Schema::of(Shape::Object(Members { others: Others::Values(values), ..NO_MEMBERS })).around(values.within)
}

/// Exactly one of these schemas.
pub const fn either(schemas: &'static [Schema]) -> Schema {
    Schema::of(Shape::OneOf(schemas))
}

/// At least one of these schemas.
pub const fn any_of(schemas: &'static [Schema]) -> Schema {
    Schema::of(Shape::AnyOf(schemas))
}

/// An object with these fields, at most 128; [`super::index::build`] builds `index`, normally through the `object!` macro.
pub const fn object_of(fields: &'static [Field], index: &'static [u8]) -> Schema {
    let mut members = Members { fields, index, ..NO_MEMBERS };
    let mut at = 0;
    while at < fields.len() {
        let bit = 1 << at;
        if fields[at].required {
            members.required |= bit;
        }
        if fields[at].schema.default.is_some() {
            members.defaults |= bit;
        }
        if matches!(fields[at].wire, Wire::Always) {
            members.always |= bit;
        }
        if fields[at].schema.within.once {
            members.once |= bit;
        }
        if fields[at].schema.within.rules {
            members.rules |= bit;
        }
        at += 1;
    }
    Schema::of(Shape::Object(members)).around(Within { once: members.once != 0, rules: members.rules != 0 })
}

/// A field that is kept when it is empty ([`Wire::Kept`]).
pub const fn field(name: &'static str, schema: Schema, doc: &'static str) -> Field {
    Field { name, schema, doc, required: false, wire: Wire::Kept }
}

impl Field {
    /// Makes the field required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Omits the field when it is empty ([`Wire::Dropped`]).
    #[must_use]
    pub const fn dropped(mut self) -> Self {
        self.wire = Wire::Dropped;
        self
    }

    /// Always writes the field ([`Wire::Always`]).
    #[must_use]
    pub const fn always(mut self) -> Self {
        self.wire = Wire::Always;
        self
    }
}

impl Members {
    /// The fields of a bit set, in order.
    pub fn fields_of(&self, mut bits: u128) -> impl Iterator<Item = (usize, &'static Field)> + use<> {
        let fields = self.fields;
        core::iter::from_fn(move || {
            let at = bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
            Some((at, fields.get(at)?))
        })
    }

    /// The index of the field `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        if self.index.is_empty() {
            return None;
        }
        let mask = self.index.len() - 1;
        let mut slot = super::hash::of(name.as_bytes()) & mask;
        loop {
            let at = usize::from(*self.index.get(slot)?).checked_sub(1)?;
            if self.fields.get(at)?.name == name {
                return Some(at);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The schema of the entry `name`: the field's, or the schema of all other entries.
    pub fn schema_of(&self, name: &str) -> Option<&'static Schema> {
        match self.position(name) {
            Some(at) => Some(&self.fields[at].schema),
            None => match self.others {
                Others::Values(values) => Some(values),
                _ => None,
            },
        }
    }
}

impl Schema {
    pub const fn members(&self) -> Option<&Members> {
        if let Shape::Object(members) = &self.shape { Some(members) } else { None }
    }

    /// The JSON type, as schemas spell it; empty for "any" and choices.
    pub const fn type_name(&self) -> &'static str {
        match self.shape {
            Shape::Boolean | Shape::True => "boolean",
            Shape::Integer(_) => "integer",
            Shape::Number(_) => "number",
            Shape::String(_) => "string",
            Shape::Array { .. } => "array",
            Shape::Object(_) => "object",
            Shape::Any | Shape::IntOrString(_) | Shape::OneOf(_) | Shape::AnyOf(_) => "",
        }
    }
}
