//! Resolves scalars like Kubernetes: YAML 1.1 as its API server and kubectl read it with go-yaml v2.

use alloc::{borrow::Cow, format, string::String};

use super::{Str, Value, base64};

/// The value of a plain scalar without a tag. Numbers that JSON does not support become non-finite floats.
pub(super) fn resolve(text: &str) -> Value {
    let Some(&first) = text.as_bytes().first() else { return Value::Null };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => word(text),
        b'0'..=b'9' | b'+' | b'-' => number(text),
        b'.' => point(text),
        _ => None,
    }
    .unwrap_or_else(|| Value::String(Str::new(text)))
}

/// Whether a plain scalar with this text reads as this string, except `<<`.
pub(super) fn is_string(text: &str) -> bool {
    matches!(resolve(text), Value::String(_))
}

fn word(text: &str) -> Option<Value> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(Value::Bool(true)),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(Value::Bool(false)),
        "~" | "null" | "Null" | "NULL" => Some(Value::Null),
        _ => None,
    }
}

fn point(text: &str) -> Option<Value> {
    match text {
        ".nan" | ".NaN" | ".NAN" => Some(Value::Float(f64::NAN)),
        ".inf" | ".Inf" | ".INF" => Some(Value::Float(f64::INFINITY)),
        _ if !text.contains('_') => float(text),
        _ => {
            // Unlike after a digit, underscores must be between digits here.
            let bytes = text.as_bytes();
            let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
            let between = |at: usize| at.checked_sub(1).is_some_and(is_digit) && is_digit(at + 1);
            let sound = bytes.iter().enumerate().all(|(at, b)| *b != b'_' || between(at));
            if sound { float(&text.replace('_', "")) } else { None }
        }
    }
}

fn number(text: &str) -> Option<Value> {
    match text {
        "+.inf" | "+.Inf" | "+.INF" => return Some(Value::Float(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => return Some(Value::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    let digits = if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) };
    integer(&digits).or_else(|| float(&digits))
}

/// A whole number with an optional sign; `0x`, `0o`, `0b`, or a leading `0` for octal, sets the base.
fn integer(text: &str) -> Option<Value> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let bytes = digits.as_bytes();
    let (radix, digits) = match bytes {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let size = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        return 0_i64.checked_sub_unsigned(size).map(Value::Int);
    }
    Some(i64::try_from(size).map_or(Value::Float(size as f64), Value::Int))
}

/// A decimal number with a point or an exponent. `None` if it exceeds 64 bits.
fn float(text: &str) -> Option<Value> {
    let mut bytes = text.as_bytes();
    if let [b'+' | b'-', rest @ ..] = bytes {
        bytes = rest;
    }
    let digits = |bytes: &[u8]| bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(bytes);
    bytes = &bytes[whole..];
    if let [b'.', rest @ ..] = bytes {
        let fraction = digits(rest);
        if whole + fraction == 0 {
            return None;
        }
        bytes = &rest[fraction..];
    } else if whole == 0 {
        return None;
    }
    if let [b'e' | b'E', rest @ ..] = bytes {
        let rest = if let [b'+' | b'-', rest @ ..] = rest { rest } else { rest };
        let exponent = digits(rest);
        if exponent == 0 {
            return None;
        }
        bytes = &rest[exponent..];
    }
    if !bytes.is_empty() {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite()).map(Value::Float)
}

/// The value of a scalar with a tag, or the error. `tag` is the resolved tag.
pub(super) fn resolve_tagged(tag: &str, text: &str) -> Result<Value, TagError> {
    let string = || Value::String(Str::new(text));
    let Some(name) = tag.strip_prefix("tag:yaml.org,2002:") else {
        return Ok(string());
    };
    let value = match name {
        "bool" | "int" | "float" | "null" => resolve(text),
        "timestamp" if !is_timestamp(text) => return Err(TagError::NotATime(text.into())),
        "binary" => {
            let bytes = base64::decode(text).ok_or(TagError::NotBase64)?;
            return Ok(Value::String(Str::new(String::from_utf8_lossy(&bytes))));
        }
        _ => return Ok(string()),
    };
    match (name, value) {
        ("bool", value @ Value::Bool(_)) | ("int", value @ Value::Int(_)) | ("float", value @ Value::Float(_)) => Ok(value),
        ("null", Value::Null) => Ok(Value::Null),
        ("int", value @ Value::Float(_)) if integer(text).is_some() => Ok(value),
        ("float", Value::Int(value)) => Ok(Value::Float(value as f64)),
        (name, value) => Err(TagError::OtherKind { text: text.into(), tag: name.into(), kind: value.kind_name() }),
    }
}

/// Whether a string is a date, with or without a time, in a form that go-yaml knows.
fn is_timestamp(text: &str) -> bool {
    let number = |text: &str, len: core::ops::RangeInclusive<usize>, range: core::ops::RangeInclusive<u32>| {
        len.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()) && text.parse().is_ok_and(|n| range.contains(&n))
    };
    let (date, time) = text.split_once(['T', 't', ' ']).map_or((text, None), |(date, time)| (date, Some(time)));
    let mut parts = date.splitn(3, '-');
    let mut part = || parts.next().unwrap_or("");
    if !(number(part(), 4..=4, 0..=9999) && number(part(), 1..=2, 1..=12) && number(part(), 1..=2, 1..=31)) {
        return false;
    }
    let Some(time) = time else { return true };
    let time = match (time.find(['Z', '+', '-']), text.contains(' ')) {
        (None, true) => time,
        (Some(at), false) => {
            let zone = time[at..].split_at(1).1;
            let offset = || zone.split_once(':').is_some_and(|(h, m)| number(h, 2..=2, 0..=24) && number(m, 2..=2, 0..=60));
            if !(time[at..] == *"Z" || (!time[at..].starts_with('Z') && offset())) {
                return false;
            }
            &time[..at]
        }
        _ => return false,
    };
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut parts = clock.splitn(3, ':');
    let mut part = || parts.next().unwrap_or("");
    number(part(), 1..=2, 0..=23)
        && number(part(), 1..=2, 0..=59)
        && number(part(), 1..=2, 0..=59)
        && number(&fraction[..fraction.len().min(9)], 1..=9, 0..=u32::MAX)
}

/// The string of a plain key; `None` if Kubernetes refuses the key.
pub(super) fn key(value: Value) -> Option<Str> {
    match value {
        Value::String(text) => Some(text),
        Value::Bool(value) => Some(Str::new(if value { "true" } else { "false" })),
        Value::Int(value) => Some(Str::from(format!("{value}"))),
        Value::Float(value) => Some(float_key(value)),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A float as a key: the shortest text of its nearest 32-bit float, with an exponent from a million on and below a ten-thousandth.
fn float_key(value: f64) -> Str {
    let value = value as f32;
    if value.is_nan() {
        return Str::new(".nan");
    }
    if value.is_infinite() {
        return Str::new(if value > 0.0 { ".inf" } else { "-.inf" });
    }
    let size = if value < 0.0 { -value } else { value };
    if size == 0.0 || (1e-4..1e6).contains(&size) {
        return Str::from(format!("{value}"));
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    Str::from(format!("{digits}e{sign}{exponent:0>2}"))
}

/// Why a scalar does not fit its tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TagError {
    NotATime(String),
    NotBase64,
    OtherKind { text: String, tag: String, kind: &'static str },
}

impl core::fmt::Display for TagError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotATime(text) => write!(f, "`{text}` is not a date or time, so it cannot be read as `!!timestamp`"),
            Self::NotBase64 => f.write_str("this is not valid base64, as `!!binary` asks for"),
            Self::OtherKind { text, tag, kind } => write!(f, "`{text}` cannot be read as `!!{tag}`: its kind is {kind}"),
        }
    }
}
