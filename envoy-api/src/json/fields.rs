//! Reads a single field according to its Rust type.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use prost_types::{Duration, FieldMask, ListValue, Struct, Timestamp, Value};

use super::reader::Maybe;
pub use super::reader::{Element, ProblemKind, ReadFields, Reader};
use super::text;
use super::tokens::Start;
pub use super::tokens::Stop;
use crate::describe::{Describe, FieldInfo, Kind};

/// The result of reading a field.
pub type Result = core::result::Result<(), Stop>;

impl<M: ReadFields + Describe + Default> Element for M {
    fn read(reader: &mut Reader<'_>, _: Option<&'static FieldInfo>) -> Maybe<Self> {
        if !reader.is_object()? {
            return Ok(None);
        }
        let mut message = M::default();
        reader.object(&mut message, M::INFO)?;
        Ok(Some(message))
    }
}

/// A field as prost lays it out.
pub trait Slot {
    /// Reads the field.
    fn fill(&mut self, reader: &mut Reader<'_>, field: &'static FieldInfo) -> Result;
}

/// Reads a field.
pub fn slot<S: Slot>(slot: &mut S, reader: &mut Reader<'_>, field: &'static FieldInfo) -> Result {
    slot.fill(reader, field)
}

/// Reads a message that would otherwise contain itself.
pub fn boxed<T: Element>(slot: &mut Option<Box<T>>, reader: &mut Reader<'_>, field: &'static FieldInfo) -> Result {
    member(reader, field, |value| *slot = Some(Box::new(value)))
}

/// Reads a value and passes it to the call, unless it is `null`.
pub fn member<T: Element>(reader: &mut Reader<'_>, field: &'static FieldInfo, set: impl FnOnce(T)) -> Result {
    if !T::NULLABLE && reader.null()? {
        return Ok(());
    }
    if let Some(value) = T::read(reader, Some(field))? {
        set(value);
    }
    Ok(())
}

/// Puts a member of a oneof into its box.
pub fn new_box<T>(value: T) -> Box<T> {
    Box::new(value)
}

impl<T: Element> Slot for Option<T> {
    fn fill(&mut self, reader: &mut Reader<'_>, field: &'static FieldInfo) -> Result {
        member(reader, field, |value| *self = Some(value))
    }
}

impl<T: Element> Slot for Vec<T> {
    fn fill(&mut self, reader: &mut Reader<'_>, field: &'static FieldInfo) -> Result {
        reader.list(&mut |reader| {
            if let Some(value) = T::read(reader, Some(field))? {
                self.push(value);
            }
            Ok(())
        })
    }
}

impl<K: Key, T: Element> Slot for BTreeMap<K, T> {
    fn fill(&mut self, reader: &mut Reader<'_>, field: &'static FieldInfo) -> Result {
        reader.map(&mut |reader, text| {
            match (K::parse(text), T::read(reader, Some(field))?) {
                (Some(key), Some(value)) => {
                    self.insert(key, value);
                }
                (None, _) => reader.problem(ProblemKind::WrongType, alloc::format!("{text:?} is no key of this map")),
                (Some(_), None) => {}
            }
            Ok(())
        })
    }
}

/// A key of a map. JSON always writes it as a string.
pub trait Key: Ord + Sized {
    /// Reads the key.
    fn parse(text: &str) -> Option<Self>;
}

impl Key for String {
    fn parse(text: &str) -> Option<Self> {
        Some(text.to_string())
    }
}

macro_rules! key {
    ($($of:ty)*) => {$(
        impl Key for $of {
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
    )*};
}

key!(bool i32 i64 u32 u64);

macro_rules! scalar_slot {
    ($($of:ty)*) => {$(
        impl Slot for $of {
            fn fill(&mut self, reader: &mut Reader<'_>, field: &'static FieldInfo) -> Result {
                member(reader, field, |value| *self = value)
            }
        }
    )*};
}

scalar_slot!(bool i32 i64 u32 u64 f32 f64 String Vec<u8>);

impl Element for bool {
    fn read(reader: &mut Reader<'_>, _: Option<&'static FieldInfo>) -> Maybe<Self> {
        match reader.tokens.start()? {
            Start::True => reader.tokens.word("true").map(|()| Some(true)),
            Start::False => reader.tokens.word("false").map(|()| Some(false)),
            // Envoy also accepts these strings as booleans.
            Start::String => parsed(reader, "true or false", |text| match text.to_ascii_lowercase().as_str() {
                "true" | "t" | "yes" | "y" | "1" => Some(true),
                "false" | "f" | "no" | "n" | "0" => Some(false),
                _ => None,
            }),
            _ => reader.wrong("true or false").map(|()| None),
        }
    }
}

/// Reads the digits of a number, which may be in quotes.
fn number<'t>(reader: &mut Reader<'t>) -> core::result::Result<Option<Cow<'t, str>>, Stop> {
    match reader.tokens.start()? {
        Start::Number => reader.tokens.number().map(|n| Some(Cow::Borrowed(n))),
        Start::String => reader.tokens.string().map(Some),
        _ => Ok(None),
    }
}

macro_rules! integer {
    ($reader:ident, $of:ty, $wanted:literal) => {{
        let Some(text) = number($reader)? else {
            return $reader.wrong($wanted).map(|()| None);
        };
        let value = text.parse::<$of>().ok().or_else(|| whole(&text).and_then(|v| <$of>::try_from(v).ok()));
        if value.is_none() {
            $reader.problem(ProblemKind::WrongType, alloc::format!("must be {}, but is {text}", $wanted));
        }
        Ok(value)
    }};
}

/// `1e3` and `1.0` are also whole numbers.
#[expect(clippy::cast_possible_truncation, reason = "compared afterwards")]
fn whole(text: &str) -> Option<i128> {
    let float: f64 = text.parse().ok()?;
    let whole = float as i128;
    #[expect(clippy::cast_precision_loss, reason = "that is the question")]
    let same = whole as f64 == float;
    same.then_some(whole)
}

impl Element for i32 {
    fn read(reader: &mut Reader<'_>, field: Option<&'static FieldInfo>) -> Maybe<Self> {
        let start = reader.tokens.start()?;
        if let Some(Kind::Enum(of)) = field.map(|f| f.kind)
            && start == Start::String
        {
            let name = reader.tokens.string()?;
            let value = of.named(&name).map(|v| v.number).or_else(|| name.parse().ok());
            if value.is_none() {
                reader.problem(ProblemKind::UnknownEnumValue, alloc::format!("{name:?} is no value of {}", of.full_name));
            }
            return Ok(value);
        }
        integer!(reader, i32, "a whole number of 32 bits")
    }
}

impl Element for i64 {
    fn read(reader: &mut Reader<'_>, _: Option<&'static FieldInfo>) -> Maybe<Self> {
        integer!(reader, i64, "a whole number of 64 bits")
    }
}

impl Element for u32 {
    fn read(reader: &mut Reader<'_>, _: Option<&'static FieldInfo>) -> Maybe<Self> {
        integer!(reader, u32, "a whole number of 32 bits, without sign")
    }
}

impl Element for u64 {
    fn read(reader: &mut Reader<'_>, _: Option<&'static FieldInfo>) -> Maybe<Self> {
        integer!(reader, u64, "a whole number of 64 bits, without sign")
    }
}

impl Element for f64 {
    fn read(reader: &mut Reader<'_>, _: Option<&'static FieldInfo>) -> Maybe<Self> {
        let Some(text) = number(reader)? else {
            return reader.wrong("a number").map(|()| None);
        };
        let value = match &*text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            text => text.parse().ok().filter(|v: &f64| v.is_finite()),
        };
        if value.is_none() {
            reader.problem(ProblemKind::WrongType, alloc::format!("must be a number, but is {text:?}"));
        }
        Ok(value)
    }
}

impl Element for f32 {
    #[expect(clippy::cast_possible_truncation, reason = "the field holds no more")]
    fn read(reader: &mut Reader<'_>, field: Option<&'static FieldInfo>) -> Maybe<Self> {
        Ok(f64::read(reader, field)?.map(|v| v as f32))
    }
}

/// Reads a string, or reports a problem.
fn string<'t>(reader: &mut Reader<'t>, wanted: &str) -> core::result::Result<Option<Cow<'t, str>>, Stop> {
    match reader.tokens.start()? {
        Start::String => reader.tokens.string().map(Some),
        _ => reader.wrong(wanted).map(|()| None),
    }
}

/// Reads a string that encodes another value.
fn parsed<T>(reader: &mut Reader<'_>, wanted: &str, parse: impl FnOnce(&str) -> Option<T>) -> Maybe<T> {
    let Some(text) = string(reader, wanted)? else {
        return Ok(None);
    };
    let value = parse(&text);
    if value.is_none() {
        reader.problem(ProblemKind::WrongType, alloc::format!("must be {wanted}, but is {text:?}"));
    }
    Ok(value)
}

impl Element for String {
    fn read(reader: &mut Reader<'_>, _: Option<&'static FieldInfo>) -> Maybe<Self> {
        Ok(string(reader, "a string")?.map(Cow::into_owned))
    }
}

impl Element for Vec<u8> {
    fn read(reader: &mut Reader<'_>, _: Option<&'static FieldInfo>) -> Maybe<Self> {
        parsed(reader, "bytes in base64", text::from_base64)
    }
}

impl Element for Duration {
    fn read(reader: &mut Reader<'_>, _: Option<&'static FieldInfo>) -> Maybe<Self> {
        parsed(reader, "a duration such as \"1.5s\"", text::from_duration)
    }
}

impl Element for Timestamp {
    fn read(reader: &mut Reader<'_>, _: Option<&'static FieldInfo>) -> Maybe<Self> {
        parsed(reader, "a point in time such as \"2026-01-31T23:59:59Z\"", text::from_timestamp)
    }
}

impl Element for FieldMask {
    fn read(reader: &mut Reader<'_>, _: Option<&'static FieldInfo>) -> Maybe<Self> {
        parsed(reader, "a list of paths in one string", |text| Some(text::from_field_mask(text)))
    }
}

impl Element for () {
    fn read(reader: &mut Reader<'_>, _: Option<&'static FieldInfo>) -> Maybe<Self> {
        match reader.tokens.start()? {
            Start::Object => reader.tokens.skip().map(Some),
            _ => reader.wrong("an object").map(|()| None),
        }
    }
}

impl Element for Struct {
    fn read(reader: &mut Reader<'_>, field: Option<&'static FieldInfo>) -> Maybe<Self> {
        if reader.tokens.start()? != Start::Object {
            return reader.wrong("an object").map(|()| None);
        }
        reader.tokens.open()?;
        let (mut out, mut first) = (Self::default(), true);
        while reader.tokens.more(&mut first, b'}')? {
            let key = reader.tokens.key()?.into_owned();
            if let Some(value) = Value::read(reader, field)? {
                out.fields.insert(key, value);
            }
        }
        Ok(Some(out))
    }
}

impl Element for ListValue {
    fn read(reader: &mut Reader<'_>, field: Option<&'static FieldInfo>) -> Maybe<Self> {
        if reader.tokens.start()? != Start::List {
            return reader.wrong("a list").map(|()| None);
        }
        reader.tokens.open()?;
        let (mut out, mut first) = (Self::default(), true);
        while reader.tokens.more(&mut first, b']')? {
            out.values.extend(Value::read(reader, field)?);
        }
        Ok(Some(out))
    }
}

impl Element for Value {
    const NULLABLE: bool = true;

    fn read(reader: &mut Reader<'_>, field: Option<&'static FieldInfo>) -> Maybe<Self> {
        use prost_types::value::Kind;
        let kind = match reader.tokens.start()? {
            Start::Null => reader.tokens.word("null").map(|()| Some(Kind::NullValue(0)))?,
            Start::True | Start::False => bool::read(reader, field)?.map(Kind::BoolValue),
            Start::Number => f64::read(reader, field)?.map(Kind::NumberValue),
            Start::String => String::read(reader, field)?.map(Kind::StringValue),
            Start::Object => Struct::read(reader, field)?.map(Kind::StructValue),
            Start::List => ListValue::read(reader, field)?.map(Kind::ListValue),
        };
        Ok(Some(Self { kind }))
    }
}
