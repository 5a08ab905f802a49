//! Normalises paths as Envoy does before routing.
//!
//! Follows Envoy's `source/common/http/path_utility.cc`, which uses Chromium's `url_canon_path.cc` for dot segments and escapes; each rule was
//! compared with Envoy 1.40.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Splits into the path, and the query with its `?`.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.split_at(path.find('?').unwrap_or(path.len()))
}

/// The part that matchers see: without query and fragment.
pub(super) fn without_query(path: &str) -> &str {
    path.split(['?', '#']).next().unwrap_or_default()
}

/// Resolves dot segments and unifies escapes; `None` if Envoy rejects the path.
pub(super) fn normalize(path: &str) -> Option<String> {
    let (path, query) = split(path);
    let mut out: Vec<u8> = Vec::with_capacity(path.len());
    let path = without_parameters(path);
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'/' | b'\\' => {
                if !end_segment(&mut out) {
                    out.push(b'/');
                }
            }
            b'%' => match escaped(rest) {
                Some(0) => return None,
                Some(plain) if plain.is_ascii_alphanumeric() || b"-._~".contains(&plain) => {
                    out.push(plain);
                    rest = rest.get(2..).unwrap_or_default();
                }
                Some(_) => {
                    out.push(b'%');
                    out.extend_from_slice(rest.get(..2).unwrap_or_default());
                    rest = rest.get(2..).unwrap_or_default();
                }
                None => out.push(b'%'),
            },
            b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}' | b' ' | 0x80.. => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
            byte => out.push(byte),
        }
    }
    end_segment(&mut out);
    let mut out = String::from_utf8(out).ok()?;
    out.push_str(query);
    Some(out)
}

/// Removes the parameters after dot segments, as in `/..;a=b/`.
fn without_parameters(path: &str) -> Cow<'_, str> {
    if !path.contains(".;") {
        return Cow::Borrowed(path);
    }
    let plain = |segment: &str| match segment.split_once(';') {
        Some((dots @ ("." | ".."), _)) => String::from(dots),
        _ => String::from(segment),
    };
    let segments: Vec<String> = path.split('/').map(plain).collect();
    Cow::Owned(segments.join("/"))
}

/// If the last segment is `.` or `..`, truncates the output to the slash before it, and returns `true`.
fn end_segment(out: &mut Vec<u8>) -> bool {
    let start = out.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    match out.get(start..) {
        Some(b".") => out.truncate(start),
        Some(b"..") => {
            let parent = out.get(..start.saturating_sub(1)).unwrap_or_default().iter().rposition(|byte| *byte == b'/').unwrap_or(0);
            out.truncate(parent + 1);
        }
        _ => return false,
    }
    true
}

/// The byte that two hexadecimal digits encode.
fn escaped(digits: &[u8]) -> Option<u8> {
    let digits = core::str::from_utf8(digits.get(..2)?).ok()?;
    u8::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Merges adjacent slashes; a path of only slashes keeps the first and the last (Envoy `source/common/http/path_utility.cc`).
pub(super) fn merge_slashes(path: &str) -> String {
    let (path, query) = split(path);
    if path.len() > 1 && path.bytes().all(|b| b == b'/') {
        return ["//", query].concat();
    }
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if c != '/' || !out.ends_with('/') {
            out.push(c);
        }
    }
    out.push_str(query);
    out
}

/// Replaces escaped slashes and backslashes; `None` if the path has none.
pub(super) fn unescape_slashes(path: &str) -> Option<String> {
    let (path, query) = split(path);
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    let mut found = false;
    while let Some(at) = rest.find('%') {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at..).unwrap_or_default();
        let slash = match rest.get(..3) {
            Some("%2F" | "%2f") => '/',
            Some("%5C" | "%5c") => '\\',
            _ => {
                out.push('%');
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
        };
        out.push(slash);
        found = true;
        rest = rest.get(3..).unwrap_or_default();
    }
    out.push_str(rest);
    out.push_str(query);
    found.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::{merge_slashes, normalize, unescape_slashes};

    #[test]
    fn paths_are_normalised_as_envoy_does() {
        for (path, normal) in [
            ("/a/./b", "/a/b"),
            ("/a/../b", "/b"),
            ("/../a", "/a"),
            ("/a/..", "/"),
            ("/a/.", "/a/"),
            ("/a/%2e%2E/b", "/b"),
            ("/a/.%2e", "/"),
            ("/a//b", "/a//b"),
            ("/a//../b", "/a/b"),
            ("/a/%zz", "/a/%zz"),
            ("/a/%2", "/a/%2"),
            ("/a%", "/a%"),
            ("/a/...", "/a/..."),
            ("/a/..;/x", "/x"),
            ("/a/.;/x", "/a/x"),
            ("/a/..;p=1/x", "/x"),
            ("/a/..;a/../x", "/x"),
            ("/a/x/..;", "/a/"),
            ("/a/...;/x", "/a/...;/x"),
            ("/a/%2e%2e;/x", "/a/..;/x"),
            ("/a/b;p/x", "/a/b;p/x"),
            ("/a/..;%2fx/y", "/y"),
            ("/a/..;?q", "/?q"),
            ("/a\\..;/x", "/a/..;/x"),
            ("/a/.b", "/a/.b"),
            ("//a", "//a"),
            ("/\\a\\..\\b", "//b"),
            ("/a?b/../c", "/a?b/../c"),
            ("/a/%2e?x", "/a/?x"),
            ("/%2f/..", "/"),
            ("/a/b/../../..", "/"),
            ("/a;b/../c", "/c"),
            ("/a%2Fb%3c%41", "/a%2Fb%3cA"),
            ("/a/%2e%2e%2fb", "/a/..%2fb"),
            ("/\"<>^`{|}", "/%22%3C%3E%5E%60%7B%7C%7D"),
            ("/.", "/"),
            ("/..", "/"),
            ("/./..//.", "//"),
        ] {
            assert_eq!(normalize(path).as_deref(), Some(normal), "{path}");
        }
        assert_eq!(normalize("/a%00"), None);
    }

    #[test]
    fn slashes_are_merged_and_unescaped() {
        assert_eq!(merge_slashes("//a///b//?c//d"), "/a/b/?c//d");
        assert_eq!(merge_slashes("///?c//d"), "//?c//d");
        assert_eq!(merge_slashes("/"), "/");
        assert_eq!(unescape_slashes("/a%2Fb%5c%41?%2F").as_deref(), Some("/a/b\\%41?%2F"));
        assert_eq!(unescape_slashes("/a%41"), None);
    }
}
