//! What controllers written in Go say of durations, expressions and addresses: the words of Go's own library.
//!
//! What must not be here: controllers.

use super::regexp;
use crate::reason::Reason;
use alloc::format;
use alloc::string::String;
use chancery_base::schema::go_quoted;
use core::time::Duration;

/// A span of time as Envoy takes it: a negative one becomes zero.
pub fn as_duration(nanoseconds: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or_default())
}

/// A truth value (`strconv.ParseBool`).
pub fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// A whole number (`strconv.Atoi`), or what Go says of a text that is none.
pub fn atoi(text: &str) -> Result<i64, Reason> {
    text.parse::<i64>().map_err(|_| {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let why = if is_number { "value out of range" } else { "invalid syntax" };
        format!("strconv.Atoi: parsing {}: {why}", go_quoted(text)).into()
    })
}

/// Whether Go's `regexp` takes an expression; else what it says.
pub fn check_regex(regex: &str) -> Result<(), Reason> {
    regexp::check(regex).map_err(|why| format!("error parsing regexp: {why}").into())
}

/// An expression that matches this text alone (`regexp.QuoteMeta`).
pub fn quote_meta(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}

/// An address with its range (`net.ParseCIDR`): the address with its host bits off, and the length of its prefix.
pub fn parse_cidr(text: &str) -> Result<(core::net::IpAddr, u32), Reason> {
    let invalid = || format!("invalid CIDR address: {text}");
    let (address, length) = text.split_once('/').ok_or_else(invalid)?;
    let address: core::net::IpAddr = address.parse().map_err(|_| invalid())?;
    let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    let length: u32 = length.parse().ok().filter(|_| is_number).ok_or_else(invalid)?;
    let masked = match address {
        core::net::IpAddr::V4(address) if length <= 32 => {
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or_default();
            core::net::IpAddr::V4((u32::from(address) & mask).into())
        }
        core::net::IpAddr::V6(address) if length <= 128 => {
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or_default();
            core::net::IpAddr::V6((u128::from(address) & mask).into())
        }
        _ => return Err(invalid().into()),
    };
    Ok((masked, length))
}
