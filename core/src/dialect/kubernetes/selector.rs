//! Label and field selectors in their text form, as `kubectl get -l` takes them.

use crate::text::Str;
use alloc::vec::Vec;

/// A parsed selector: all of its requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: Str,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    Missing,
    In(Vec<Str>),
    NotIn(Vec<Str>),
}

impl Selector {
    /// Reads `a=b,c!=d,e in (f,g),h,!i`. What cannot be read is left out.
    pub fn parse(text: &str) -> Self {
        let requirements = split_outside_brackets(text).into_iter().filter_map(requirement).collect();
        Self { requirements }
    }

    /// Whether values looked up by `value` meet all requirements.
    pub fn matches<'a>(&self, value: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = value(&requirement.key);
            match &requirement.test {
                Test::Exists => value.is_some(),
                Test::Missing => value.is_none(),
                Test::In(values) => value.is_some_and(|value| values.iter().any(|wanted| wanted == value)),
                Test::NotIn(values) => value.is_none_or(|value| values.iter().all(|unwanted| unwanted != value)),
            }
        })
    }

    /// Whether it requires nothing.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }
}

fn split_outside_brackets(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn requirement(text: &str) -> Option<Requirement> {
    let text = text.trim();
    let one = |value: &str| alloc::vec![Str::new(value.trim())];
    let set = |values: &str| values.trim().trim_matches(['(', ')']).split(',').map(|value| Str::new(value.trim())).collect();
    let (key, test) = if let Some((key, value)) = text.split_once("!=") {
        (key, Test::NotIn(one(value)))
    } else if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        (key, Test::In(one(value)))
    } else if let Some((key, values)) = text.split_once(" notin ") {
        (key, Test::NotIn(set(values)))
    } else if let Some((key, values)) = text.split_once(" in ") {
        (key, Test::In(set(values)))
    } else if let Some(key) = text.strip_prefix('!') {
        (key, Test::Missing)
    } else {
        (text, Test::Exists)
    };
    let key = key.trim();
    (!key.is_empty()).then(|| Requirement { key: Str::new(key), test })
}
