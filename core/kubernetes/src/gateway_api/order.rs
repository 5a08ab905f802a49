//! Orders conflicting objects: the older one first, then by name.

use crate::cursor::Cursor;
use alloc::format;
use alloc::string::String;
use chancery_text::Str;

/// The precedence of an object; the smaller one wins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence {
    /// Seconds since 1970; an object without a time is the oldest.
    created: i64,
    /// `NAMESPACE/NAME`.
    name: String,
}

impl Precedence {
    pub fn of(root: Cursor<'_>, namespace: &Str, name: &Str) -> Self {
        let created = timestamp(root.field("metadata").field("creationTimestamp").str()).unwrap_or(i64::MIN);
        Self { created, name: format!("{namespace}/{name}") }
    }
}

/// Parses an RFC 3339 time to seconds since 1970; ignores fractions of a second.
fn timestamp(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| text.get(from..to).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let rest = text.get(19..)?;
    let rest = rest.strip_prefix('.').map_or(rest, |fraction| fraction.trim_start_matches(|c: char| c.is_ascii_digit()));
    let offset = match rest.as_bytes() {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let east = rest.get(1..3)?.parse::<i64>().ok()? * 3600 + rest.get(4..6)?.parse::<i64>().ok()? * 60;
            if *sign == b'+' { east } else { -east }
        }
        _ => return None,
    };
    // Years start in March, so that the leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (month * 153 + 2) / 5 + day - 719_469;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second - offset)
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn timestamps_respect_time_zones() {
        assert_eq!(timestamp("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(timestamp("2024-02-29T12:00:00Z"), Some(1_709_208_000));
        assert_eq!(timestamp("2024-02-29T14:00:00.5+02:00"), Some(1_709_208_000));
        assert_eq!(timestamp("yesterday"), None);
    }
}
