//! Converts single values to and from JSON.
//!
//! Contains escapes, numbers, base64 and dates. Does not contain structure; see `tokens` and `write`.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{Display, Write as _};

use prost_types::{Duration, FieldMask, Timestamp};

/// Lets `write!` add to bytes.
struct Text<'a>(&'a mut Vec<u8>);

impl core::fmt::Write for Text<'_> {
    fn write_str(&mut self, s: &str) -> core::fmt::Result {
        self.0.extend_from_slice(s.as_bytes());
        Ok(())
    }
}

/// A quoted string.
#[inline]
pub fn string(out: &mut Vec<u8>, s: &str) {
    let bytes = s.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut rest = bytes;
    loop {
        let plain = plain_prefix(rest);
        out.extend_from_slice(&rest[..plain]);
        if plain == rest.len() {
            break;
        }
        escape(out, rest[plain]);
        rest = &rest[plain + 1..];
    }
    out.push(b'"');
}

/// The number of bytes at the start that need no escape. Checks eight bytes at a time.
#[inline]
fn plain_prefix(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut at = 0;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let Ok(chunk) = <[u8; 8]>::try_from(chunk) else {
            break;
        };
        let word = u64::from_le_bytes(chunk);
        let quote = word ^ (ONES * 0x22);
        let backslash = word ^ (ONES * 0x5c);
        // A byte's high bit is set where the byte is below 0x20, or zero after the exclusive or.
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let special = (control | (quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash)) & HIGH;
        if special != 0 {
            // The lowest mark is exact; a borrow can only falsify those above it.
            return at + (special.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let tail = chunks.remainder();
    at + tail.iter().position(|b| matches!(b, 0..0x20 | b'"' | b'\\')).unwrap_or(tail.len())
}

#[cold]
fn escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            write!(Text(out), "\\u{byte:04x}").unwrap_or_default();
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// A whole number.
pub fn integer(out: &mut Vec<u8>, value: i128) {
    let Ok(mut n) = u64::try_from(value.unsigned_abs()) else {
        return;
    };
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// A number with a fraction; `shown` is `value` in its own width, so that the shortest digits are found.
pub fn float(out: &mut Vec<u8>, shown: impl Display + core::fmt::LowerExp, value: f64) {
    let mut out = Text(out);
    let magnitude = value.abs();
    match () {
        () if value.is_nan() => out.write_str("\"NaN\""),
        () if value.is_infinite() => out.write_str(if value > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" }),
        () if magnitude != 0.0 && !(1e-6..1e17).contains(&magnitude) => write!(out, "{shown:e}"),
        () => write!(out, "{shown}"),
    }
    .unwrap_or_default();
}

/// `"1.500s"`
pub fn duration(out: &mut Vec<u8>, v: &Duration) {
    out.push(b'"');
    if v.seconds < 0 || v.nanos < 0 {
        out.push(b'-');
    }
    integer(out, v.seconds.unsigned_abs().into());
    fraction(out, v.nanos.unsigned_abs());
    out.extend_from_slice(b"s\"");
}

/// Nothing, or three, six or nine digits.
fn fraction(out: &mut Vec<u8>, nanos: u32) {
    match nanos {
        0 => Ok(()),
        n if n % 1_000_000 == 0 => write!(Text(out), ".{:03}", n / 1_000_000),
        n if n % 1_000 == 0 => write!(Text(out), ".{:06}", n / 1_000),
        n => write!(Text(out), ".{n:09}"),
    }
    .unwrap_or_default();
}

/// RFC 3339, in UTC.
pub fn timestamp(out: &mut Vec<u8>, v: &Timestamp) {
    let (days, second) = (v.seconds.div_euclid(86_400), v.seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    write!(Text(out), "\"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}").unwrap_or_default();
    fraction(out, v.nanos.unsigned_abs());
    out.extend_from_slice(b"Z\"");
}

/// The Gregorian date of a day counted from 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    // Years that start in March put the leap day last.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// The day counted from 1970-01-01 of a Gregorian date.
#[cfg(feature = "registry")]
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Paths in camelCase, with commas between them.
pub fn field_mask(out: &mut Vec<u8>, v: &FieldMask) {
    let mut text = String::new();
    for (i, path) in v.paths.iter().enumerate() {
        if i > 0 {
            text.push(',');
        }
        let mut upper = false;
        for c in path.chars() {
            match c {
                '_' => upper = true,
                c if upper => {
                    text.extend(c.to_uppercase());
                    upper = false;
                }
                c => text.push(c),
            }
        }
    }
    string(out, &text);
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 with padding, without quotes.
pub fn base64(out: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.chunks(3) {
        let at = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let digit = ALPHABET[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i > chunk.len() { b'=' } else { digit });
        }
    }
}

/// Bytes from base64, of the standard or the URL-safe alphabet, padded or not.
#[cfg(feature = "registry")]
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    for chunk in text.chunks(4) {
        let mut word = 0u32;
        for byte in chunk {
            let digit = match byte {
                b'-' => 62,
                b'_' => 63,
                byte => ALPHABET.iter().position(|known| known == byte)?,
            };
            word = word << 6 | u32::try_from(digit).ok()?;
        }
        let bytes = (word << (6 * (4 - chunk.len()))).to_be_bytes();
        match chunk.len() {
            1 => return None,
            len => out.extend_from_slice(&bytes[1..len]),
        }
    }
    Some(out)
}

/// A duration from `1.5s`.
#[cfg(feature = "registry")]
pub fn from_duration(text: &str) -> Option<Duration> {
    let number = text.strip_suffix('s')?;
    let (negative, number) = number.strip_prefix('-').map_or((false, number), |rest| (true, rest));
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let seconds: i64 = if whole.bytes().all(|b| b.is_ascii_digit()) {
        whole.parse().ok()?
    } else {
        return None;
    };
    let nanos = i32::try_from(from_fraction(part)?).ok()?;
    (seconds <= 315_576_000_000).then_some(())?;
    Some(if negative { Duration { seconds: -seconds, nanos: -nanos } } else { Duration { seconds, nanos } })
}

#[cfg(feature = "registry")]
fn from_fraction(digits: &str) -> Option<u32> {
    if digits.len() > 9 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let value: u32 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    Some(value * 10u32.pow(9 - u32::try_from(digits.len()).ok()?))
}

/// A point in time from RFC 3339.
#[cfg(feature = "registry")]
pub fn from_timestamp(text: &str) -> Option<Timestamp> {
    let number = |range: core::ops::Range<usize>| text.get(range).filter(|t| t.bytes().all(|b| b.is_ascii_digit()))?.parse::<i64>().ok();
    let mark = |at: usize, wanted: &[u8]| text.as_bytes().get(at).is_some_and(|b| wanted.contains(b)).then_some(());
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    for (at, wanted) in [(4, &b"-"[..]), (7, b"-"), (10, b"Tt "), (13, b":"), (16, b":")] {
        mark(at, wanted)?;
    }
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = text.get(19..)?;
    let zone_at = rest.find(['Z', 'z', '+', '-'])?;
    let (part, zone) = rest.split_at(zone_at);
    let nanos = match part.strip_prefix('.') {
        Some(digits) if !digits.is_empty() => from_fraction(digits)?,
        Some(_) => return None,
        None if part.is_empty() => 0,
        None => return None,
    };
    let offset = match zone {
        "Z" | "z" => 0,
        zone => {
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let minutes = hours.parse::<u8>().ok().map(i64::from)? * 60 + i64::from(minutes.parse::<u8>().ok()?);
            if zone.starts_with('-') { -minutes } else { minutes }
        }
    };
    let seconds = day_number(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset * 60;
    Some(Timestamp { seconds, nanos: i32::try_from(nanos).ok()? })
}

/// Paths in snake_case.
#[cfg(feature = "registry")]
pub fn from_field_mask(text: &str) -> FieldMask {
    let path = |camel: &str| {
        let mut out = String::new();
        for c in camel.chars() {
            if c.is_ascii_uppercase() {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        }
        out
    };
    FieldMask { paths: text.split(',').filter(|p| !p.is_empty()).map(path).collect() }
}
