//! Parses label and field selectors: as strings, as `kubectl get -l` accepts them, and as fields of objects (`matchLabels`, `matchExpressions`).

use super::cursor::Cursor;
use crate::reason::Reason;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::schema::{go_quoted, names};
use chancery_text::{Str, to_json};

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
    /// Parses `a=b,c!=d,e in (f,g),h,!i` and skips invalid parts.
    pub fn parse(text: &str) -> Self {
        let requirements = split_outside_brackets(text).into_iter().filter_map(requirement).collect();
        Self { requirements }
    }

    /// Reads a non-empty `LabelSelector`. Errors are Kubernetes' messages (`k8s.io/apimachinery`, `LabelSelectorAsSelector`).
    pub fn of_fields(at: Cursor<'_>) -> Result<Self, Reason> {
        let mut requirements = Vec::new();
        let mut labels: Vec<_> = at.field("matchLabels").entries().collect();
        labels.sort_by(|a, b| a.0.cmp(b.0));
        for (key, value) in labels {
            let values = alloc::vec![Str::new(value.str())];
            requirements.push(checked(key, Operator::Equals, values, value)?);
        }
        for expression in at.field("matchExpressions").items() {
            let operator = match expression.field("operator").str() {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                other => return Err(format!("{} is not a valid label selector operator", go_quoted(other)).into()),
            };
            let values = expression.field("values");
            let read = values.items().map(|value| Str::new(value.str())).collect();
            requirements.push(checked(&Str::new(expression.field("key").str()), operator, read, values)?);
        }
        Ok(Self { requirements })
    }

    /// Whether the values that `value` returns meet all requirements.
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

    /// Whether it has no requirements.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Operator {
    Equals,
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

/// One requirement, or all its errors.
fn checked(key: &Str, operator: Operator, values: Vec<Str>, written: Cursor<'_>) -> Result<Requirement, Reason> {
    let mut faults = Vec::new();
    let wrong = names::qualified_name(key);
    if !wrong.is_empty() {
        faults.push(format!("key: Invalid value: {}: {}", go_quoted(key), wrong.join("; ")));
    }
    let all = || written.node().map_or_else(|| "null".into(), |node| to_json(node, false));
    match operator {
        Operator::In | Operator::NotIn if values.is_empty() => {
            faults.push(format!("values: Invalid value: {}: for 'in', 'notin' operators, values set can't be empty", all()));
        }
        Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
            faults.push(format!("values: Invalid value: {}: values set must be empty for exists and does not exist", all()));
        }
        _ => {}
    }
    for (index, value) in values.iter().enumerate() {
        let wrong = names::label_value(value);
        if !wrong.is_empty() {
            faults.push(format!("values[{index}][{key}]: Invalid value: {}: {}", go_quoted(value), wrong.join("; ")));
        }
    }
    match faults.as_slice() {
        [] => {}
        [only] => return Err(only.clone().into()),
        several => return Err(format!("[{}]", several.join(", ")).into()),
    }
    let test = match operator {
        Operator::Equals | Operator::In => Test::In(values),
        Operator::NotIn => Test::NotIn(values),
        Operator::Exists => Test::Exists,
        Operator::DoesNotExist => Test::Missing,
    };
    Ok(Requirement { key: key.clone(), test })
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
