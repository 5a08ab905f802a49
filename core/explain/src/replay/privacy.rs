//! Removes personal data from reported requests: query values, and parts of paths that look like identifiers, tokens or addresses.
//!
//! Does not redact configurations; see `chancery_base::redact`.

use super::LoggedRequest;
use crate::compare::Difference;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::simulate::Request;

/// What replaces personal data.
const HIDDEN: &str = "…";

/// Longer parts of a path are hidden unless they are words.
const LONG: usize = 20;

/// Describes a request as `GET https://shop.example.com/cart?id=…`.
pub(super) fn example(request: &Request, shown: bool) -> String {
    let scheme = if request.tls { "https" } else { "http" };
    let path = if shown { request.path.clone() } else { target(&request.path) };
    format!("{} {scheme}://{}{path}", request.method, request.authority)
}

/// Describes a logged request.
pub(super) fn logged(of: &LoggedRequest<'_>, host: Option<&str>, shown: bool) -> String {
    let path = of.path.as_deref().unwrap_or_default();
    let path = if shown { path.to_owned() } else { target(path) };
    let host = of.authority.as_deref().or(host).unwrap_or_default();
    let scheme = of.scheme.as_deref().map(|scheme| format!("{scheme}://")).unwrap_or_default();
    format!("{} {scheme}{host}{path}", of.method.as_deref().unwrap_or("GET"))
}

/// Hides personal data in words that may contain URLs or paths.
pub(super) fn words(text: &str, shown: bool) -> String {
    if shown {
        return text.to_owned();
    }
    let word = |word: &str| if word.contains('/') && (word.starts_with('/') || word.contains("://")) { target(word) } else { word.to_owned() };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Hides personal data in the values of a difference.
pub(super) fn difference(mut of: Difference, shown: bool) -> Difference {
    if matches!(of.what.as_str(), "outcome" | "location" | "upstream path" | "upstream host") {
        of.before = of.before.map(|text| words(&text, shown));
        of.after = of.after.map(|text| words(&text, shown));
    }
    of
}

/// Hides query values and identifiers of a path or URL.
fn target(text: &str) -> String {
    let (path, query) = text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)));
    let path: Vec<&str> = path.split('/').map(|part| if is_identifier(part) { HIDDEN } else { part }).collect();
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() => format!("{}={HIDDEN}", name_of(name)),
        _ => name_of(pair).to_owned(),
    };
    let query = query.map(|query| format!("?{}", query.split('&').map(pair).collect::<Vec<_>>().join("&"))).unwrap_or_default();
    format!("{}{query}", path.join("/"))
}

/// A key of a query; a long one may be a value without a name.
fn name_of(text: &str) -> &str {
    if is_identifier(text) { HIDDEN } else { text }
}

/// Whether a part of a path identifies someone or something: a mail address, a phone number, a hash, a token.
fn is_identifier(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let is_long = part.len() > LONG && (digits > 0 || part.contains('%') || !part.contains(['-', '_', '.']));
    part.contains('@') || part.contains("%40") || digits >= 7 || is_long && !part.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_hides_values_and_identifiers() {
        assert_eq!(target("/cart/7?token=abc&x"), "/cart/7?token=…&x");
        assert_eq!(target("/users/jane@example.com/orders/20261128001"), "/users/…/orders/…");
        assert_eq!(target("/t/eyJhbGciOiJIUzI1NiIsInR5cCI6"), "/t/…");
        assert_eq!(target("/a/frequently-asked-questions"), "/a/frequently-asked-questions");
        assert_eq!(words("is redirected (301) to https://a.example.com/?id=7", false), "is redirected (301) to https://a.example.com/?id=…");
    }
}
