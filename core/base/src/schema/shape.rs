//! What a schema is: plain constant data, written with the small builders at the end.
//!
//! What must not be here: anything that looks at a tree.

/// What may stand at one place of an object.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// What kind of value.
    pub shape: Shape,
    /// Whether `null` is a value of its own here; otherwise the API server drops it.
    pub nullable: bool,
    /// What the API server puts in where nothing is written.
    pub default: Option<Literal>,
    /// The API server's schema says nothing about this place (`x-kubernetes-preserve-unknown-fields` above it): only the
    /// controller knows the shape. Nulls get through to it. See [`super::Check::server`].
    pub unserved: bool,
    /// The controller's own validator does not know this place; only the API server does.
    pub server_only: bool,
    /// What must hold besides (`x-kubernetes-validations`).
    pub rules: &'static [Rule],
    /// What is asked here or further below, so that a walk which only looks for it need not go there.
    pub(super) within: Within,
}

/// What is asked somewhere within a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Within {
    /// That items do not repeat ([`Once`]).
    pub once: bool,
    /// Rules ([`Schema::rules`]).
    pub rules: bool,
}

impl Within {
    const NOTHING: Self = Self { once: false, rules: false };
}

/// An expression that must be true of a value, in the Common Expression Language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The expression.
    pub expression: &'static str,
    /// What the API server says where it is not true.
    pub message: &'static str,
}

/// A rule and its message.
pub const fn rule(expression: &'static str, message: &'static str) -> Rule {
    Rule { expression, message }
}

/// A value that a schema puts in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A string.
    Str(&'static str),
    /// A list.
    List(&'static [Literal]),
    /// An object.
    Object(&'static [(&'static str, Literal)]),
}

/// The kinds of values that a schema tells apart.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Anything (`x-kubernetes-preserve-unknown-fields` without a type).
    Any,
    /// `true` or `false`.
    Boolean,
    /// Only `true` (`enum: [true]`).
    True,
    /// A whole number.
    Integer(Numbers),
    /// Any number.
    Number(Numbers),
    /// A string.
    String(Strings),
    /// A whole number or a string (`x-kubernetes-int-or-string`), which must match a regular expression if there is one.
    IntOrString(Option<&'static str>),
    /// A list.
    Array {
        /// What its items are.
        items: &'static Schema,
        /// The fewest items.
        min: u32,
        /// The most items.
        max: u32,
        /// What may stand there only once.
        once: Once,
    },
    /// Fields by name.
    Object(Members),
    /// Exactly one of these; told apart by their JSON type.
    OneOf(&'static [Schema]),
    /// At least one of these.
    AnyOf(&'static [Schema]),
}

/// What may stand in a list only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Once {
    /// Nothing: items may repeat.
    Free,
    /// Each item (`x-kubernetes-list-type: set`).
    Items,
    /// The values of these fields together (`x-kubernetes-list-type: map`).
    Keys(&'static [&'static str]),
}

/// Limits of numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    /// The smallest.
    pub min: Option<i64>,
    /// The largest.
    pub max: Option<i64>,
    /// The only ones allowed; empty for no such limit.
    pub among: &'static [i64],
    /// `format: int32`.
    pub int32: bool,
}

/// Limits of strings.
#[derive(Clone, Copy, Debug)]
pub struct Strings {
    /// The only ones allowed; empty for no such limit.
    pub among: &'static [&'static str],
    /// The regular expression that it must match.
    pub pattern: Option<&'static str>,
    /// The fewest characters.
    pub min: u32,
    /// The most characters.
    pub max: u32,
    /// What it stands for.
    pub format: Format,
}

/// What a string stands for beyond being one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Nothing special.
    Plain,
    /// A Go duration, `1m30s`; not checked by the API server, but by the controller when it decodes the object, and written
    /// again in Go's own way.
    GoDuration,
    /// Bytes in base64 (`format: byte`).
    Base64,
}

/// What an object may hold.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    /// The fields that it names, in the order of the Go struct that stands behind it.
    pub fields: &'static [Field],
    /// Where a name stands in `fields`; see [`super::index`].
    pub index: &'static [u8],
    /// The fields that must be there, one bit each.
    pub required: u128,
    /// The fields that have a default, one bit each.
    pub defaults: u128,
    /// The fields that are always written, one bit each.
    pub always: u128,
    /// The fields within which items may not repeat, one bit each.
    pub(super) once: u128,
    /// The fields within which there are rules, one bit each.
    pub(super) rules: u128,
    /// What becomes of others.
    pub others: Others,
    /// The fewest entries.
    pub min: u32,
    /// The most entries.
    pub max: u32,
}

/// What becomes of entries that no field names.
#[derive(Clone, Copy, Debug)]
pub enum Others {
    /// Dropped: a structural schema prunes what it does not know.
    Prune,
    /// Kept as they are (`x-kubernetes-preserve-unknown-fields`).
    Keep,
    /// Each is a value of this kind (`additionalProperties`).
    Values(&'static Schema),
}

/// A field of an object.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub schema: Schema,
    /// One line for people.
    pub doc: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// What becomes of it when it is empty and the object goes through its Go struct.
    pub wire: Wire,
}

/// How a Go struct writes a field as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// A pointer with `omitempty`: written when it was there, even if `false`, `0` or `""`.
    Kept,
    /// A value with `omitempty`: `false`, `0`, `""`, `[]` and `{}` vanish.
    Dropped,
    /// Always written, as a zero value where it was absent.
    Always,
}

impl Schema {
    const fn around(self, within: Within) -> Self {
        Self { within, ..self }
    }

    const fn of(shape: Shape) -> Self {
        Self { shape, nullable: false, default: None, unserved: false, server_only: false, rules: &[], within: Within::NOTHING }
    }

    /// `null` is a value of its own.
    #[must_use]
    pub const fn or_null(mut self) -> Self {
        self.nullable = true;
        self
    }

    /// What the API server puts in where nothing is written.
    #[must_use]
    pub const fn default(mut self, value: Literal) -> Self {
        self.default = Some(value);
        self
    }

    /// Only the controller's own validator knows this shape; see [`Schema::unserved`].
    #[must_use]
    pub const fn unserved(mut self) -> Self {
        self.unserved = true;
        self
    }

    /// Only the API server knows this place; see [`Schema::server_only`].
    #[must_use]
    pub const fn server_only(mut self) -> Self {
        self.server_only = true;
        self
    }

    /// What must hold besides.
    #[must_use]
    pub const fn rules(mut self, rules: &'static [Rule]) -> Self {
        self.rules = rules;
        self.within.rules = true;
        self
    }

    /// A list's items are all different.
    #[must_use]
    pub const fn distinct(mut self) -> Self {
        if let Shape::Array { once, .. } = &mut self.shape {
            *once = Once::Items;
            self.within.once = true;
        }
        self
    }

    /// A list's items differ in these fields.
    #[must_use]
    pub const fn keyed_by(mut self, keys: &'static [&'static str]) -> Self {
        if let Shape::Array { once, .. } = &mut self.shape {
            *once = Once::Keys(keys);
            self.within.once = true;
        }
        self
    }

    /// Limits the size of a string, list or object from below and above.
    #[must_use]
    pub const fn sized(self, low: u32, high: u32) -> Self {
        self.at_least(low).at_most(high)
    }

    /// A string must match a regular expression.
    #[must_use]
    pub const fn like(mut self, pattern: &'static str) -> Self {
        if let Shape::String(strings) = &mut self.shape {
            strings.pattern = Some(pattern);
        }
        self
    }

    /// Limits a number from below and above.
    #[must_use]
    pub const fn between(mut self, low: i64, high: i64) -> Self {
        if let Shape::Integer(numbers) | Shape::Number(numbers) = &mut self.shape {
            numbers.min = Some(low);
            numbers.max = Some(high);
        }
        self
    }

    /// Limits a number from below.
    #[must_use]
    pub const fn starting_at(mut self, low: i64) -> Self {
        if let Shape::Integer(numbers) | Shape::Number(numbers) = &mut self.shape {
            numbers.min = Some(low);
        }
        self
    }

    /// Limits a number from below, a string's or list's or object's size from below.
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

    /// Limits a number from above, a string's or list's or object's size from above.
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

    /// `format: int32` on a whole number.
    #[must_use]
    pub const fn int32(mut self) -> Self {
        if let Shape::Integer(numbers) = &mut self.shape {
            numbers.int32 = true;
        }
        self
    }

    /// An object keeps what it does not know.
    #[must_use]
    pub const fn open(mut self) -> Self {
        if let Shape::Object(members) = &mut self.shape {
            members.others = Others::Keep;
        }
        self
    }
}

/// Anything at all.
pub const ANY: Schema = Schema::of(Shape::Any);
/// `true` or `false`.
pub const BOOLEAN: Schema = Schema::of(Shape::Boolean);
/// Only `true`.
pub const TRUE: Schema = Schema::of(Shape::True);
/// A whole number.
pub const INTEGER: Schema = Schema::of(Shape::Integer(Numbers { min: None, max: None, among: &[], int32: false }));
/// Any number.
pub const NUMBER: Schema = Schema::of(Shape::Number(Numbers { min: None, max: None, among: &[], int32: false }));
/// A string.
pub const STRING: Schema = Schema::of(Shape::String(PLAIN));
/// A whole number or a string.
pub const INT_OR_STRING: Schema = Schema::of(Shape::IntOrString(None));
/// An object about whose content nothing is known.
pub const OPEN_OBJECT: Schema = Schema::of(Shape::Object(Members { others: Others::Keep, ..NO_MEMBERS }));
/// A list of strings.
pub const STRINGS: Schema = array(&STRING);
/// Strings by name.
pub const STRING_MAP: Schema = map(&STRING);
/// A Go duration, `1m30s`.
pub const GO_DURATION: Schema = Schema::of(Shape::String(Strings { format: Format::GoDuration, ..PLAIN }));

/// Bytes in base64.
pub const BASE64: Schema = Schema::of(Shape::String(Strings { format: Format::Base64, ..PLAIN }));
/// An object without fields: whatever stands in it is dropped.
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

/// A whole number, or a string that matches a regular expression.
pub const fn quantity(pattern: &'static str) -> Schema {
    Schema::of(Shape::IntOrString(Some(pattern)))
}

/// A list.
pub const fn array(items: &'static Schema) -> Schema {
    Schema::of(Shape::Array { items, min: 0, max: u32::MAX, once: Once::Free }).around(items.within)
}

/// Values of one kind by name.
pub const fn map(values: &'static Schema) -> Schema {
    Schema::of(Shape::Object(Members { others: Others::Values(values), ..NO_MEMBERS })).around(values.within)
}

/// Exactly one of these.
pub const fn either(schemas: &'static [Schema]) -> Schema {
    Schema::of(Shape::OneOf(schemas))
}

/// At least one of these.
pub const fn any_of(schemas: &'static [Schema]) -> Schema {
    Schema::of(Shape::AnyOf(schemas))
}

/// An object with these fields, at most 128; `index` is made by [`super::index::build`], normally through the `object!`
/// macro.
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
    /// It must be there.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// It vanishes when it is empty ([`Wire::Dropped`]).
    #[must_use]
    pub const fn dropped(mut self) -> Self {
        self.wire = Wire::Dropped;
        self
    }

    /// It is always written ([`Wire::Always`]).
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

    /// The place of `name` among the fields.
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

    /// The schema of the entry `name`: a field's, or that of all other entries.
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
    /// The object's members, if it is one.
    pub const fn members(&self) -> Option<&Members> {
        if let Shape::Object(members) = &self.shape { Some(members) } else { None }
    }

    /// Its JSON type, as schemas spell it; empty for "any" and choices.
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
