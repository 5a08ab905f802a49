//! Converts the paths of a server's locations to conditions of Gateway API that choose the same location.
//!
//! nginx takes an exact path first, then the longest prefix; on a host with regular expressions it takes the first expression that matches. A
//! Gateway takes exact paths, then the longest expression, then the longest prefix.

use super::super::gateway::PathMatch;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Location, PathType};

/// The condition for a location.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: PathMatch,
    /// The path without its final slash, which nginx redirects.
    pub(super) slash: Option<String>,
}

/// The conditions for all locations of a server.
pub(super) struct Paths {
    all: Vec<Option<Result<Place, String>>>,
}

impl Paths {
    pub(super) fn of(locations: &[Location], is_regex: bool) -> Self {
        let mut all: Vec<Option<Result<Place, String>>> =
            locations.iter().map(|of| if is_regex { Some(expression(of)) } else { plain(of, locations) }).collect();
        if is_regex {
            order(locations, &mut all);
        }
        Self { all }
    }

    /// Takes the condition of a location; `None` if another location has the same effect.
    pub(super) fn at(&mut self, at: usize) -> Option<Result<Place, String>> {
        self.all.get_mut(at)?.take()
    }
}

/// The condition on a host without regular expressions.
fn plain(of: &Location, locations: &[Location]) -> Option<Result<Place, String>> {
    let path = of.path.value.as_str();
    let is_same = |other: &&Location| alloc::sync::Arc::ptr_eq(&other.settings, &of.settings) && other.upstream.value == of.upstream.value;
    if of.path_type == PathType::Exact {
        // The controller adds an exact location for a prefix without its slash. A prefix of Gateway API includes it.
        let has_prefix = |other: &&Location| {
            other.path_type == PathType::Prefix
                && other.ingress_path == of.path.value
                && other.path.value.trim_end_matches('/') == path.trim_end_matches('/')
        };
        if locations.iter().filter(has_prefix).any(|other| is_same(&other)) {
            return None;
        }
        return Some(encoded(path).map(|path| Place { path: PathMatch::Exact(path), slash: None }));
    }
    let stem = path.strip_suffix('/').unwrap_or(path);
    // Without an exact location for the path without its slash, nginx redirects.
    let has_exact = locations.iter().any(|other| other.path_type == PathType::Exact && other.path.value == stem);
    let slash = (!stem.is_empty() && !has_exact).then(|| stem.to_string());
    let slash = match slash.map(|slash| encoded(&slash)) {
        Some(Err(why)) => return Some(Err(why)),
        Some(Ok(slash)) => Some(slash),
        None => None,
    };
    Some(encoded(if stem.is_empty() { "/" } else { stem }).map(|path| Place { path: PathMatch::Prefix(path), slash }))
}

/// Writes a decoded path as Gateway API accepts it.
fn encoded(path: &str) -> Result<String, String> {
    if !path.starts_with('/') {
        return Err("it does not begin with a slash".into());
    }
    if path.contains("//") || path.contains("/./") || path.contains("/../") || path.ends_with("/.") || path.ends_with("/..") {
        return Err("nginx never receives it, as it joins slashes and resolves dots before".into());
    }
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-/._~!$&'()*+,;=:@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    if out.len() > 1024 { Err("Gateway API accepts at most 1024 characters".into()) } else { Ok(out) }
}

/// The condition on a host with regular expressions: the beginning of the path, in any case.
fn expression(of: &Location) -> Result<Place, String> {
    let path = of.path.value.as_str();
    if path == "/" {
        return Ok(Place { path: PathMatch::Prefix("/".into()), slash: None });
    }
    check(path)?;
    let value = match has_alternatives(path) {
        true => format!("(?i).*(?:^{path}).*"),
        false => format!("(?i){path}.*"),
    };
    if value.len() > 1024 {
        return Err("Gateway API accepts at most 1024 characters".into());
    }
    Ok(Place { path: PathMatch::Regex(value), slash: None })
}

/// Checks that RE2 reads an expression in the same way as PCRE.
pub(super) fn check(expression: &str) -> Result<(), String> {
    chancery_kubernetes::regexp::check(expression).map_err(|words| format!("Envoy's regular expressions (RE2) do not support it: {words}"))
}

/// Whether an expression has `|` outside groups.
pub(super) fn has_alternatives(expression: &str) -> bool {
    let (mut depth, mut in_class, mut is_escaped) = (0_usize, false, false);
    for c in expression.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            ']' if in_class => in_class = false,
            _ if in_class => {}
            '[' => in_class = true,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// The number of groups that an expression keeps.
pub(super) fn groups(expression: &str) -> usize {
    let (mut count, mut in_class) = (0, false);
    let mut chars = expression.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            ']' => in_class = false,
            '[' => in_class = true,
            '(' if !in_class => {
                let rest = expression.get(at + 1..).unwrap_or_default();
                let is_named = rest.starts_with("?P<") || rest.starts_with("?<") && !rest.starts_with("?<=") && !rest.starts_with("?<!");
                count += usize::from(!rest.starts_with('?') || is_named);
            }
            _ => {}
        }
    }
    count
}

/// Whether a path has no meaning as a regular expression except for its characters and dots.
fn is_literal(path: &str) -> bool {
    !path.contains(['\\', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$', '.'])
}

/// Makes expressions longer, so that the Gateway tries them in nginx's order.
fn order(locations: &[Location], all: &mut [Option<Result<Place, String>>]) {
    let mut next: Option<(usize, bool)> = None;
    for (at, of) in locations.iter().enumerate().rev() {
        let Some(Some(Ok(place))) = all.get_mut(at) else { continue };
        let PathMatch::Regex(value) = &mut place.path else { continue };
        let is_plain = is_literal(&of.path.value);
        if let Some((length, next_is_plain)) = next {
            // Different literals of the same length never match the same path.
            let least = if is_plain && next_is_plain { length } else { length + 1 };
            while value.len() < least && value.len() < 1020 {
                let inner = value.strip_prefix("(?i)").unwrap_or(value).to_string();
                *value = format!("(?i)(?:{inner})");
            }
        }
        next = Some((value.len(), is_plain));
    }
}

/// An expression for decimal numbers above a limit.
pub(super) fn greater_than(limit: u64) -> String {
    let digits = limit.to_string();
    let count = digits.len();
    let mut parts = Vec::from([format!("[1-9][0-9]{{{count},}}")]);
    for (at, digit) in digits.bytes().enumerate() {
        let prefix = digits.get(..at).unwrap_or_default();
        let above = match digit {
            b'9' => continue,
            b'8' => "9".to_string(),
            digit => format!("[{}-9]", char::from(digit + 1)),
        };
        let rest = match count - at - 1 {
            0 => String::new(),
            1 => "[0-9]".to_string(),
            rest => format!("[0-9]{{{rest}}}"),
        };
        parts.push(format!("{prefix}{above}{rest}"));
    }
    format!("0*(?:{})", parts.join("|"))
}

#[cfg(test)]
mod tests {
    use super::{greater_than, groups, has_alternatives};

    #[test]
    fn greater_than_matches_larger_numbers_only() {
        assert_eq!(greater_than(8), "0*(?:[1-9][0-9]{1,}|9)");
        assert_eq!(greater_than(105), "0*(?:[1-9][0-9]{3,}|[2-9][0-9]{2}|1[1-9][0-9]|10[6-9])");
    }

    #[test]
    fn alternatives_in_groups_and_classes_are_inside() {
        assert!(has_alternatives("/a|/b"));
        assert!(!has_alternatives("/a(/|$)(.*)") && !has_alternatives("/[|]") && !has_alternatives(r"/\|"));
    }

    #[test]
    fn groups_without_captures_are_not_counted() {
        assert_eq!(groups("/a(/|$)(.*)"), 2);
        assert_eq!(groups(r"/(?:a)(?<b>c)\([(]"), 1);
    }
}
