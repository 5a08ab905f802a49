//! Host globs and label selectors, as Emissary compares them.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irutils.py`.

use crate::config::Labels;
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// Whether some host name matches both globs. A `*` is special only as the first or last character; it never matches the empty string.
pub fn globs_overlap(a: &str, b: &str) -> bool {
    if a == b || a == "*" || b == "*" {
        return true;
    }
    if a.is_empty() || b.is_empty() || a.starts_with('.') || b.starts_with('.') {
        return false;
    }
    let (a_start, a_end) = (a.starts_with('*'), a.ends_with('*'));
    let (b_start, b_end) = (b.starts_with('*'), b.ends_with('*'));
    if (a_start && a_end) || (b_start && b_end) {
        // A star on both sides is no glob, and they are not equal.
        return false;
    }
    match (a_start, a_end, b_start, b_end) {
        (false, false, false, false) => false,
        (true, _, _, true) | (_, true, true, _) => true,
        (true, ..) => tails_overlap(a, b, b_start),
        (_, _, true, _) => tails_overlap(b, a, a_start),
        (_, true, ..) => heads_overlap(a, b, b_end),
        (_, _, _, true) => heads_overlap(b, a, a_end),
    }
}

/// `glob` starts with a star; `other` does not end with one, and starts with one if `other_is_glob`.
fn tails_overlap(glob: &str, other: &str, other_is_glob: bool) -> bool {
    let (tail, rest) = (&glob[1..], if other_is_glob { &other[1..] } else { other });
    if glob.chars().count() > rest.chars().count() {
        // The star needs at least one character, unless the other is a glob as well: then the longer tail decides.
        return other_is_glob && tail.ends_with(rest);
    }
    rest.ends_with(tail)
}

/// `glob` ends with a star; `other` does not start with one, and ends with one if `other_is_glob`.
fn heads_overlap(glob: &str, other: &str, other_is_glob: bool) -> bool {
    let (head, rest) = (&glob[..glob.len() - 1], if other_is_glob { &other[..other.len() - 1] } else { other });
    if glob.chars().count() > rest.chars().count() {
        return other_is_glob && head.starts_with(rest);
    }
    rest.starts_with(head)
}

/// Whether labels satisfy a selector's `matchLabels`. An empty selector matches everything. `strict` is the rule since
/// 2.5 and 3.2: all labels must be there; before, one was enough.
pub fn selector_matches(wanted: &[(Str, Sourced<Str>)], labels: &Labels, strict: bool) -> bool {
    if wanted.is_empty() {
        return true;
    }
    let has = |(key, value): &(Str, Sourced<Str>)| labels.get(key) == Some(&value.value);
    if strict { wanted.iter().all(has) } else { wanted.iter().any(has) }
}

#[cfg(test)]
mod tests {
    use super::globs_overlap;

    #[test]
    fn overlap() {
        for (a, b, expected) in [
            ("*", "a.example", true),
            ("a.example", "a.example", true),
            ("a.example", "b.example", false),
            ("*.example", "a.example", true),
            ("*.example", "example", false),
            ("*example.com", "example.com", false),
            ("*example.com", "*.example.com", true),
            ("*.a.example", "*.example", true),
            ("*.example", "*.other", false),
            ("a.*", "*.example", true),
            ("a.*", "a.example", true),
            ("a.*", "b.example", false),
            ("a.b.*", "a.*", true),
            ("*a*", "xax", false),
            (".example", "*", true),
            (".example", "*.example", false),
        ] {
            assert_eq!(globs_overlap(a, b), expected, "{a} ~ {b}");
            assert_eq!(globs_overlap(b, a), expected, "{b} ~ {a}");
        }
    }
}
