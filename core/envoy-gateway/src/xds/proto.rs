//! Writes the values in Envoy's messages. Does not know the purpose of a message.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::{Fields, Plain, Tree};
use chancery_base::resource::Origin;
use chancery_base::schema::duration;
use chancery_text::{Str, base64};

/// A message of those fields that are not null.
macro_rules! message {
    ($($name:literal : $value:expr),* $(,)?) => {
        chancery_base::ir::Tree::object([$(($name, chancery_base::ir::Tree::from($value))),*])
    };
}
pub(crate) use message;

pub(crate) const SECOND: i64 = 1_000_000_000;

/// A message without fields.
pub(crate) fn empty() -> Tree {
    Tree { value: Plain::Object(Fields::default()), origin: None }
}

/// A list; null if it is empty.
pub(crate) fn list(items: Vec<Tree>) -> Tree {
    if items.is_empty() { Tree::NULL } else { items.into() }
}

/// A list of one.
pub(crate) fn one(item: Tree) -> Tree {
    Vec::from([item]).into()
}

/// Returns a string, or null if it is empty.
pub(crate) fn non_empty(text: &str) -> Tree {
    if text.is_empty() { Tree::NULL } else { text.into() }
}

/// A text with its origin; null if it is empty.
pub(crate) fn copied(value: &Tree) -> Tree {
    if value.text().is_empty() { Tree::NULL } else { value.clone() }
}

/// True from this origin; null if it is false.
pub(crate) fn flag(value: &Tree) -> Tree {
    if value.bool() { value.clone() } else { Tree::NULL }
}

/// A value that is not in the input, and follows from this one.
pub(crate) fn derived(value: impl Into<Tree>, from: &Tree) -> Tree {
    value.into().or_from(from.origin)
}

/// Nanoseconds of a duration in Go's notation.
pub(crate) fn nanos(text: &Tree) -> Option<i64> {
    duration::parse(text.text())
}

/// A duration in Go's notation, as a message; null if there is none.
pub(crate) fn duration(text: &Tree) -> Tree {
    Tree::from(nanos(text).map(proto_duration)).or_from(text.origin)
}

/// Whole seconds of a duration in Go's notation; null if there is none.
pub(crate) fn seconds(text: &Tree) -> Tree {
    Tree::from(nanos(text).map(|nanos| nanos / SECOND)).or_from(text.origin)
}

/// A duration of nanoseconds as JSON writes it for protobuf: `5s`, `0.250s`.
pub(crate) fn proto_duration(nanos: i64) -> Str {
    let (sign, value) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    let (whole, rest) = (value / SECOND.unsigned_abs(), value % SECOND.unsigned_abs());
    let fraction = if rest == 0 { String::new() } else { format!(".{rest:09}") };
    Str::from(format!("{sign}{whole}{}s", fraction.trim_end_matches('0')))
}

/// A message in an `Any`.
pub(crate) fn any(name: &str, mut message: Tree) -> Tree {
    if let Plain::Object(fields) = &mut message.value {
        fields.0.insert(0, (Str::new_static("@type"), format!("type.googleapis.com/{name}").into()));
    }
    message
}

/// A named filter, or another extension.
pub(crate) fn extension(name: &str, kind: &str, config: Tree) -> Tree {
    message! { "name": name, "typed_config": any(kind, config) }
}

/// An address with a port.
pub(crate) fn address(host: impl Into<Tree>, port: impl Into<Tree>) -> Tree {
    message! { "socket_address": message! { "address": host.into(), "port_value": port.into() } }
}

/// From the stream that gives everything.
pub(crate) fn ads() -> Tree {
    message! { "ads": empty(), "resource_api_version": "V3" }
}

/// From the stream that gives everything, without waiting for it.
pub(crate) fn config_source() -> Tree {
    message! { "ads": empty(), "resource_api_version": "V3", "initial_fetch_timeout": "0s" }
}

/// A number in percent.
pub(crate) fn percent(value: &Tree) -> Tree {
    message! { "value": value.clone() }.or_from(value.origin)
}

/// A share of one hundred.
pub(crate) fn of_hundred(share: i64) -> Tree {
    message! { "numerator": share, "denominator": "HUNDRED" }
}

/// A percentage with decimals, as a share of a million.
pub(crate) fn of_million(percent: &Tree) -> Tree {
    // The reference counts in single precision.
    let share = (percent.float() as f32 * 10_000.0) as i64;
    message! { "numerator": Tree::from(share).or_from(percent.origin), "denominator": "MILLION" }
}

/// A fraction of the Gateway API ({numerator, denominator}); null if there is none.
pub(crate) fn fraction(of: &Tree) -> Tree {
    if of.is_null() {
        return Tree::NULL;
    }
    let (numerator, denominator) = (of.get("numerator"), of.get("denominator"));
    let (share, whole) = share(numerator.int(), denominator.find_int());
    // The denominator decides the scale of the numerator.
    let both = if denominator.is_null() { numerator.origin } else { of.origin.map(Origin::whole) };
    message! { "numerator": Tree::from(share).or_from(both), "denominator": Tree::from(whole).or_from(denominator.origin) }.or_from(of.origin)
}

fn share(numerator: i64, denominator: Option<i64>) -> (i64, &'static str) {
    match denominator {
        None | Some(100) => (numerator, "HUNDRED"),
        Some(1_000) => (numerator.saturating_mul(10), "TEN_THOUSAND"),
        Some(10_000) => (numerator, "TEN_THOUSAND"),
        Some(100_000) => (numerator.saturating_mul(10), "MILLION"),
        Some(1_000_000) => (numerator, "MILLION"),
        Some(0) => (0, "MILLION"),
        Some(other) => (numerator.saturating_mul(1_000_000) / other, "MILLION"),
    }
}

/// A fraction in percent.
pub(crate) fn fraction_percent(of: &Tree) -> Tree {
    let denominator = of.get("denominator").find_int().filter(|denominator| *denominator != 0).unwrap_or(100);
    let value = of.get("numerator").int() as f64 / denominator as f64 * 100.0;
    message! { "value": Tree::from(value).or_from(of.origin.map(Origin::whole)) }.or_from(of.origin)
}

/// What trees lack for reading settings.
pub(crate) trait Setting {
    /// The whole number, if it is one.
    fn find_int(&self) -> Option<i64>;
    /// The value, unless it is null.
    fn some(&self) -> Option<&Tree>;
    /// The value as Kubernetes counts bytes: `32Ki`, `1M`, 5.
    fn quantity(&self) -> Option<i64>;
}

impl Setting for Tree {
    fn find_int(&self) -> Option<i64> {
        (!self.is_null()).then(|| self.int())
    }

    fn some(&self) -> Option<&Tree> {
        (!self.is_null()).then_some(self)
    }

    fn quantity(&self) -> Option<i64> {
        match &self.value {
            Plain::Int(value) => Some(*value),
            Plain::Float(value) => (*value == (*value as i64) as f64).then_some(*value as i64),
            Plain::String(text) => parse_quantity(text),
            _ => None,
        }
    }
}

/// Reads a whole number of Kubernetes' notation; `None` if it is none.
pub(crate) fn parse_quantity(text: &str) -> Option<i64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (factor, divisor): (i128, i128) = match suffix {
        "" => (1, 1),
        "n" => (1, 1_000_000_000),
        "u" => (1, 1_000_000),
        "m" => (1, 1_000),
        "k" => (1_000, 1),
        "M" => (1_000_000, 1),
        "G" => (1_000_000_000, 1),
        "T" => (1_000_000_000_000, 1),
        "P" => (1_000_000_000_000_000, 1),
        "E" => (1_000_000_000_000_000_000, 1),
        "Ki" => (1 << 10, 1),
        "Mi" => (1 << 20, 1),
        "Gi" => (1 << 30, 1),
        "Ti" => (1 << 40, 1),
        "Pi" => (1 << 50, 1),
        "Ei" => (1 << 60, 1),
        exponent => {
            let power: i32 = exponent.strip_prefix(['e', 'E'])?.parse().ok()?;
            let scale = 10_i128.checked_pow(power.unsigned_abs().min(30))?;
            if power < 0 { (1, scale) } else { (scale, 1) }
        }
    };
    let (sign, number) = number.strip_prefix('-').map_or((1, number.strip_prefix('+').unwrap_or(number)), |number| (-1, number));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.len() > 18 {
        return None;
    }
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let value = digits.checked_mul(factor)?;
    let divisor = divisor.checked_mul(scale)?;
    // A number with a rest is no whole number.
    if value % divisor != 0 {
        return None;
    }
    i64::try_from(sign * (value / divisor)).ok()
}

/// A number of bytes, as a value.
pub(crate) fn bytes(of: &Tree) -> Tree {
    Tree::from(of.quantity()).or_from(of.origin)
}

/// A regular expression.
pub(crate) fn regex(regex: impl Into<Tree>) -> Tree {
    message! { "regex": regex.into() }
}

/// A regular expression that names its engine.
pub(crate) fn re2(regex: impl Into<Tree>) -> Tree {
    message! { "google_re2": empty(), "regex": regex.into() }
}

/// Text as bytes in JSON.
pub(crate) fn inline_bytes(text: &[u8], origin: Option<Origin>) -> Tree {
    message! { "inline_bytes": Tree::from(base64::encode(text)).or_from(origin) }
}

/// A number as text.
pub(crate) fn number_text(of: &Tree) -> Tree {
    Tree::from(of.int().to_string()).or_from(of.origin)
}
