//! Implements Go's parsers of durations, expressions and addresses, with Go's error messages.

use super::regexp;
use crate::reason::Reason;
use alloc::format;
use alloc::string::String;
use chancery_base::schema::go_quoted;
use core::time::Duration;

/// A duration for Envoy: negative ones become zero.
pub fn as_duration(nanoseconds: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or_default())
}

/// Parses a boolean (`strconv.ParseBool`).
pub fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// Parses a whole number (`strconv.Atoi`) or returns Go's error.
pub fn atoi(text: &str) -> Result<i64, Reason> {
    text.parse::<i64>().map_err(|_| {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let why = if is_number { "value out of range" } else { "invalid syntax" };
        format!("strconv.Atoi: parsing {}: {why}", go_quoted(text)).into()
    })
}

/// Checks whether Go's `regexp` accepts an expression.
pub fn check_regex(regex: &str) -> Result<(), Reason> {
    regexp::check(regex).map_err(|why| format!("error parsing regexp: {why}").into())
}

/// The expression that matches exactly this string (`regexp.QuoteMeta`).
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

/// Parses a CIDR (`net.ParseCIDR`): the address without host bits, and the prefix length.
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
