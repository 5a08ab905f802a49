//! Parses and formats Go durations: `1h2m3.5s`, `300ms`.

use super::quote::go_quoted;
use alloc::string::String;
use core::fmt::{self, Write as _};

/// The duration in nanoseconds; `None` if Go's `time.ParseDuration` fails.
pub fn parse(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let whole = digits(rest);
        let (number, after) = rest.split_at(whole);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => after.split_at(digits(after)),
            None => ("", after),
        };
        if number.is_empty() && fraction.is_empty() {
            return None;
        }
        let unit_length = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_length);
        let unit: u64 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let whole: u64 = if number.is_empty() { 0 } else { number.parse().ok()? };
        let mut value = whole.checked_mul(unit)?;
        let mut scale = unit as f64;
        for digit in fraction.bytes().take(18) {
            scale /= 10.0;
            value = value.checked_add((f64::from(digit - b'0') * scale + 1e-6) as u64)?;
        }
        total = total.checked_add(value)?;
        rest = after;
    }
    let limit = 1_u64 << 63;
    match negative {
        true if total == limit => Some(i64::MIN),
        true => i64::try_from(total).ok().map(|total| -total),
        false => i64::try_from(total).ok(),
    }
}

/// The duration in nanoseconds, or the error of Go's `time.ParseDuration`.
pub fn read(text: &str) -> Result<i64, DurationError> {
    parse(text).ok_or_else(|| DurationError::of(text))
}

/// Why a string is not a duration. Prints Go's error message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DurationError {
    /// Not a sequence of numbers with units, or out of range.
    Invalid(String),
    /// A number has no unit. Holds the whole string.
    MissingUnit(String),
    /// A unit does not exist.
    UnknownUnit {
        unit: String,
        /// The whole string.
        text: String,
    },
}

impl DurationError {
    /// The first problem of an invalid string.
    fn of(text: &str) -> Self {
        let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
        while !rest.is_empty() {
            let number = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
            let (digits, after) = rest.split_at(number);
            if !digits.contains(|c: char| c.is_ascii_digit()) || digits.matches('.').count() > 1 {
                break;
            }
            let length = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
            let (unit, after) = after.split_at(length);
            match unit {
                "" => return Self::MissingUnit(text.into()),
                "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h" => rest = after,
                _ => return Self::UnknownUnit { unit: unit.into(), text: text.into() },
            }
        }
        Self::Invalid(text.into())
    }
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(text) => write!(f, "time: invalid duration {}", go_quoted(text)),
            Self::MissingUnit(text) => write!(f, "time: missing unit in duration {}", go_quoted(text)),
            Self::UnknownUnit { unit, text } => write!(f, "time: unknown unit {} in duration {}", go_quoted(unit), go_quoted(text)),
        }
    }
}

/// Formats a duration like Go's `Duration.String`: `1m30s`, `1.5s`, `300ms`, `0s`.
pub fn format(span: i64) -> String {
    let mut text = String::new();
    if span == 0 {
        return "0s".into();
    }
    if span < 0 {
        text.push('-');
    }
    let nanos = span.unsigned_abs();
    let (unit, suffix) = match nanos {
        0..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    let mut whole = nanos / unit;
    if suffix == "s" {
        let (hours, minutes) = (whole / 3600, whole / 60 % 60);
        if hours > 0 {
            let _ = write!(text, "{hours}h");
        }
        if hours > 0 || minutes > 0 {
            let _ = write!(text, "{minutes}m");
        }
        whole %= 60;
    }
    let _ = write!(text, "{whole}");
    let fraction = nanos % unit;
    if fraction > 0 {
        let width = unit.ilog10() as usize;
        let mut digits = alloc::format!("{fraction:0width$}");
        digits.truncate(digits.trim_end_matches('0').len());
        let _ = write!(text, ".{digits}");
    }
    text.push_str(suffix);
    text
}
