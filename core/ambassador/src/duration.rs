//! Parses and writes durations in Go's and protobuf JSON's form.

use core::time::Duration;

/// Parses a Go duration: `1h2m3.5s`, `300ms`, `0`. `None` if it is invalid or negative.
pub fn parse_go(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: f64 = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let unit_end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let nanoseconds = match &rest[..unit_end] {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            _ => return None,
        };
        total += number * nanoseconds;
        rest = &rest[unit_end..];
    }
    from_nanoseconds(total)
}

/// A protobuf duration in JSON: seconds with a fraction and an `s`.
pub fn parse_proto(text: &str) -> Option<Duration> {
    let seconds = text.strip_suffix('s')?;
    if seconds.is_empty() || !seconds.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    if fraction.len() > 9 {
        return None;
    }
    let mut nanos: u32 = 0;
    for digit in 0..9 {
        nanos = nanos * 10 + fraction.as_bytes().get(digit).map_or(0, |b| u32::from(b - b'0'));
    }
    // Protobuf's own limit, about ten thousand years.
    let whole: u64 = whole.parse().ok().filter(|seconds| *seconds <= 315_576_000_000)?;
    Some(Duration::new(whole, nanos))
}

/// Milliseconds; `None` when negative.
pub fn milliseconds(value: i64) -> Option<Duration> {
    u64::try_from(value).ok().map(Duration::from_millis)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked, and Go cuts to whole nanoseconds")]
fn from_nanoseconds(value: f64) -> Option<Duration> {
    (0.0..9.2e18).contains(&value).then(|| Duration::from_nanos((value + 0.5) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go() {
        for (text, expected) in [
            ("1m0s", Some(60_000)),
            ("1h2m3.5s", Some(3_723_500)),
            ("300ms", Some(300)),
            ("0", Some(0)),
            ("5", None),
            ("", None),
            ("-1s", None),
            ("s", None),
        ] {
            assert_eq!(parse_go(text), expected.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn proto() {
        assert_eq!(parse_proto("0.250s"), Some(Duration::from_millis(250)));
        assert_eq!(parse_proto("125s"), Some(Duration::from_secs(125)));
        for text in ["5m", "5", "s", "-1s", "1e3s"] {
            assert_eq!(parse_proto(text), None, "{text}");
        }
    }
}
