//! Validates match conditions of HTTPProxies and rate limits, and merges them along delegation (Contour `internal/dag/conditions.go`).

use crate::model::{Conditions, HeaderCondition, MatchType, PathCondition, QueryCondition};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::{Also, Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::go;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

/// The conditions that delegation and a route add up to.
pub fn merge(conditions: &[Cursor<'_>], fallback: Origin) -> Conditions {
    Conditions {
        path: path(conditions, fallback),
        path_also: Also(joined_paths(conditions)),
        headers: conditions.iter().filter_map(|condition| header(condition.field("header"))).collect(),
        queries: conditions.iter().filter_map(|condition| query(condition.field("queryParameter"))).collect(),
    }
}

fn path(conditions: &[Cursor<'_>], fallback: Origin) -> Sourced<PathCondition> {
    let (mut merged, mut is_regex, mut origin) = (String::new(), false, None);
    for condition in conditions {
        for field in ["prefix", "exact", "regex"] {
            let written = condition.field(field);
            if !written.str().is_empty() {
                merged.push_str(written.str());
                is_regex |= field == "regex";
                origin = Some(written.origin());
                break;
            }
        }
    }
    let merged = without_double_slashes(&merged);
    let last = conditions.last();
    let exact = last.is_some_and(|last| last.field("prefix").str().is_empty() && !last.field("exact").str().is_empty());
    let condition = if merged.is_empty() {
        PathCondition::Prefix(Str::new_static("/"))
    } else if is_regex {
        PathCondition::Regex(merged.into())
    } else if exact {
        PathCondition::Exact(merged.into())
    } else {
        PathCondition::Prefix(merged.into())
    };
    Sourced::new(condition, origin.unwrap_or(fallback))
}

/// The fields of a path that was joined from several conditions.
fn joined_paths(conditions: &[Cursor<'_>]) -> Vec<Origin> {
    let first = |condition: &Cursor<'_>| {
        let written = ["prefix", "exact", "regex"].iter().find(|field| !condition.field(field).str().is_empty())?;
        Some(condition.field(written).origin())
    };
    let origins: Vec<Origin> = conditions.iter().filter_map(first).collect();
    if origins.len() > 1 { origins } else { Vec::new() }
}

fn without_double_slashes(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if c != '/' || !out.ends_with('/') {
            out.push(c);
        }
    }
    out
}

/// A header condition; `None` if it is empty.
pub fn header(at: Cursor<'_>) -> Option<HeaderCondition> {
    at.some()?;
    let make = |field: Cursor<'_>, match_type, invert, cased: bool, missing: bool| HeaderCondition {
        name: at.field("name").str().into(),
        value: field.str().into(),
        match_type,
        invert,
        ignore_case: cased && at.field("ignoreCase").is_true(),
        missing_as_empty: missing && at.field("treatMissingAsEmpty").is_true(),
        origin: Sourced::new((), at.origin()).whole(),
    };
    for (field, match_type, invert) in HEADER_FIELDS {
        let written = at.field(field);
        match match_type {
            MatchType::Present if written.is_true() => return Some(make(Cursor::nothing(), match_type, invert, false, false)),
            MatchType::Present => {}
            MatchType::Regex if !written.str().is_empty() => return Some(make(written, match_type, invert, false, false)),
            _ if !written.str().is_empty() => return Some(make(written, match_type, invert, true, invert)),
            _ => {}
        }
    }
    None
}

/// The fields of a header condition; the first one that is set wins.
const HEADER_FIELDS: [(&str, MatchType, bool); 7] = [
    ("present", MatchType::Present, false),
    ("notpresent", MatchType::Present, true),
    ("contains", MatchType::Contains, false),
    ("notcontains", MatchType::Contains, true),
    ("exact", MatchType::Exact, false),
    ("notexact", MatchType::Exact, true),
    ("regex", MatchType::Regex, false),
];

fn query(at: Cursor<'_>) -> Option<QueryCondition> {
    at.some()?;
    let fields = [
        ("exact", MatchType::Exact),
        ("prefix", MatchType::Prefix),
        ("suffix", MatchType::Suffix),
        ("regex", MatchType::Regex),
        ("contains", MatchType::Contains),
        ("present", MatchType::Present),
    ];
    let (field, match_type) = fields.into_iter().find(|(field, match_type)| match match_type {
        MatchType::Present => at.field(field).is_true(),
        _ => !at.field(field).str().is_empty(),
    })?;
    Some(QueryCondition {
        name: at.field("name").str().into(),
        value: at.field(field).str().into(),
        match_type,
        ignore_case: !matches!(match_type, MatchType::Regex | MatchType::Present) && at.field("ignoreCase").is_true(),
        origin: Sourced::new((), at.origin()).whole(),
    })
}

/// Validates the paths of one block of conditions.
pub fn check_paths(conditions: Cursor<'_>) -> Result<(), Reason> {
    let mut count = 0;
    for condition in conditions.items() {
        for field in ["prefix", "exact", "regex"] {
            let written = condition.field(field).str();
            if written.is_empty() {
                continue;
            }
            count += 1;
            if !written.starts_with('/') {
                return Err(format!("{field} conditions must start with /, {written} was supplied").into());
            }
            if field == "regex"
                && let Err(why) = go::check_regex(written)
            {
                return Err(format!("supplied regex: {written} invalid. error: {why}").into());
            }
        }
    }
    if count > 1 {
        return Err("more than one prefix, exact or regex is not allowed in a condition block".into());
    }
    Ok(())
}

/// Validates the kinds of conditions of an include.
pub fn check_include(conditions: Cursor<'_>) -> Result<(), Reason> {
    for condition in conditions.items() {
        for field in ["exact", "regex"] {
            if !condition.field(field).str().is_empty() {
                return Err(format!("{field} conditions are not allowed in includes block").into());
            }
        }
    }
    Ok(())
}

/// Everything that distinguishes two header conditions.
#[derive(PartialEq)]
struct SeenHeader<'a> {
    name: String,
    field: &'static str,
    value: &'a str,
    plain: bool,
}

/// Validates header conditions.
pub fn check_headers(conditions: &[Cursor<'_>]) -> Result<(), Reason> {
    let mut seen: Vec<SeenHeader<'_>> = Vec::new();
    for condition in conditions {
        let Some(at) = condition.field("header").some() else { continue };
        let name = at.field("name").str().to_ascii_lowercase();
        let chosen = HEADER_FIELDS.iter().find(|(field, match_type, _)| match match_type {
            MatchType::Present => at.field(field).is_true(),
            _ => !at.field(field).str().is_empty(),
        });
        let Some((field, match_type, _)) = chosen else { continue };
        let value = at.field(field).str();
        let opposite = |other: &str| seen.iter().any(|seen| seen.plain && seen.name == name && seen.field == other && seen.value == value);
        let contradiction = match *field {
            "present" => opposite("notpresent").then_some("'present' and 'notpresent'"),
            "notpresent" => opposite("present").then_some("'present' and 'notpresent'"),
            "exact" => {
                if seen.iter().any(|seen| seen.name == name && seen.field == "exact") {
                    return Err("cannot specify duplicate header 'exact match' conditions in the same route".into());
                }
                opposite("notexact").then_some("'exact' and 'notexact'")
            }
            "notexact" => opposite("exact").then_some("'exact' and 'notexact'"),
            "contains" => opposite("notcontains").then_some("'contains' and 'notcontains'"),
            "notcontains" => opposite("contains").then_some("'contains' and 'notcontains'"),
            _ => None,
        };
        if let Some(which) = contradiction {
            return Err(format!("cannot specify contradictory {which} conditions for the same route and header").into());
        }
        if *match_type == MatchType::Regex && go::check_regex(value).is_err() {
            return Err("invalid regular expression specified for 'regex' condition".into());
        }
        let plain = !at.field("ignoreCase").is_true() && !at.field("treatMissingAsEmpty").is_true();
        seen.push(SeenHeader { name, field, value, plain });
    }
    Ok(())
}

/// Validates query parameter conditions.
pub fn check_queries(conditions: &[Cursor<'_>]) -> Result<(), Reason> {
    let mut exact: Vec<String> = Vec::new();
    for condition in conditions {
        let Some(at) = condition.field("queryParameter").some() else { continue };
        let written = ["exact", "prefix", "suffix", "regex", "contains"].iter().filter(|field| !at.field(field).str().is_empty()).count();
        match written + usize::from(at.field("present").is_true()) {
            0 => return Err("must specify at least one query parameter condition".into()),
            1 => {}
            _ => return Err("cannot specify more than one condition in the same match condition branch".into()),
        }
        let name = at.field("name").str().to_ascii_lowercase();
        if !at.field("exact").str().is_empty() {
            if exact.contains(&name) {
                return Err("cannot specify duplicate query parameter 'exact match' conditions in the same route".into());
            }
            exact.push(name);
        }
        if !at.field("regex").str().is_empty() && go::check_regex(at.field("regex").str()).is_err() {
            return Err("invalid regular expression specified for 'regex' condition".into());
        }
    }
    Ok(())
}
