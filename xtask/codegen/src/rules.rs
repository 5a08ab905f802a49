//! `validate.rules` of a field, as the Rust expressions of `rules::Rule`. A rule that is not known here stops the codegen.

use prost_reflect::{DynamicMessage, Value};

use crate::pattern;

/// The elements of the slice for one field.
pub fn rules(rules: &DynamicMessage) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    for (field, value) in rules.fields() {
        let Value::Message(of) = value else {
            return Err(format!("rule {} is no message", field.name()));
        };
        for (rule, value) in of.fields() {
            out.extend(one(field.name(), rule.name(), value)?);
        }
    }
    // A rule that skips the other rules must come first.
    out.sort_by_key(|rule| !rule.ends_with("IgnoreEmpty"));
    if let Some(strict) = out.iter().position(|r| r == "strict=false") {
        out.remove(strict);
        for rule in &mut out {
            if rule.starts_with("d::Rule::Header") {
                *rule = rule.replace("true", "false");
            }
        }
    }
    Ok(out)
}

fn one(kind: &str, rule: &str, value: &Value) -> Result<Option<String>, String> {
    let number = || number(kind, value);
    let count = || value.as_u64().ok_or_else(|| format!("{kind}.{rule}: no count"));
    let on = value.as_bool() == Some(true);
    Ok(Some(match (kind, rule) {
        ("message" | "any" | "duration", "required") => {
            if !on {
                return Ok(None);
            }
            "d::Rule::Required".to_owned()
        }
        ("message", "skip") => "d::Rule::Skip".to_owned(),
        (_, "ignore_empty") => "d::Rule::IgnoreEmpty".to_owned(),
        ("string", "min_len") if count()? == 0 => return Ok(None),
        ("bytes", "min_len") if count()? == 0 => return Ok(None),
        ("string", "min_len") => format!("d::Rule::MinChars({})", count()?),
        ("string", "max_len") => format!("d::Rule::MaxChars({})", count()?),
        ("string", "min_bytes") | ("bytes", "min_len") => {
            format!("d::Rule::MinBytes({})", count()?)
        }
        ("string", "max_bytes") | ("bytes", "max_len") => {
            format!("d::Rule::MaxBytes({})", count()?)
        }
        ("string", "prefix") => {
            format!("d::Rule::Prefix({:?})", value.as_str().unwrap_or_default())
        }
        ("string", "suffix") => {
            format!("d::Rule::Suffix({:?})", value.as_str().unwrap_or_default())
        }
        ("string", "pattern") => format!("d::Rule::Pattern(&{})", pattern::expression(value.as_str().unwrap_or_default())?),
        ("string", "in") => {
            let list: Vec<&str> = value.as_list().into_iter().flatten().filter_map(Value::as_str).collect();
            format!("d::Rule::In(&{list:?})")
        }
        ("string", "well_known_regex") => match value.as_enum_number() {
            Some(1) => "d::Rule::HeaderName { strict: true }".to_owned(),
            Some(2) => "d::Rule::HeaderValue { strict: true }".to_owned(),
            other => return Err(format!("well-known regex {other:?}")),
        },
        ("string", "strict") => {
            if on {
                return Ok(None);
            }
            "strict=false".to_owned()
        }
        ("bool", "const") => format!("d::Rule::Bool({on})"),
        ("enum", "defined_only") => "d::Rule::DefinedOnly".to_owned(),
        ("enum", "not_in") => {
            let list: Vec<i32> = value.as_list().into_iter().flatten().filter_map(Value::as_i32).collect();
            format!("d::Rule::NotIn(&{list:?})")
        }
        ("repeated", "min_items") => format!("d::Rule::MinItems({})", count()?),
        ("repeated", "max_items") => format!("d::Rule::MaxItems({})", count()?),
        ("repeated", "unique") => "d::Rule::Unique".to_owned(),
        ("map", "min_pairs") => format!("d::Rule::MinItems({})", count()?),
        ("repeated", "items") | ("map", "keys" | "values") => {
            let of = value.as_message().ok_or_else(|| format!("{kind}.{rule}: no message"))?;
            let of = rules(of)?;
            if of.is_empty() {
                return Ok(None);
            }
            let name = if rule == "keys" { "Keys" } else { "Each" };
            format!("d::Rule::{name}(&[{}])", of.join(", "))
        }
        (_, "gt") => format!("d::Rule::Gt({})", number()?),
        (_, "gte") => format!("d::Rule::Gte({})", number()?),
        (_, "lt") => format!("d::Rule::Lt({})", number()?),
        (_, "lte") => format!("d::Rule::Lte({})", number()?),
        _ => {
            return Err(format!("the rule {kind}.{rule} is not known: add it to rules::Rule and to its checker"));
        }
    }))
}

/// The Rust expression of a bound.
fn number(kind: &str, value: &Value) -> Result<String, String> {
    Ok(match value {
        Value::I32(n) => format!("d::Bound::Int({n})"),
        Value::I64(n) => format!("d::Bound::Int({n})"),
        Value::U32(n) => format!("d::Bound::Int({n})"),
        Value::U64(n) => format!("d::Bound::Int({n})"),
        Value::F32(n) => format!("d::Bound::Float({n:?})"),
        Value::F64(n) => format!("d::Bound::Float({n:?})"),
        Value::Message(duration) if kind == "duration" => {
            let part = |name| duration.get_field_by_name(name).map_or(0, |v| v.as_i64().or(v.as_i32().map(i64::from)).unwrap_or(0));
            let nanos = i128::from(part("seconds")) * 1_000_000_000 + i128::from(part("nanos"));
            format!("d::Bound::Duration({nanos})")
        }
        other => return Err(format!("{kind}: a bound of an unexpected kind, {other:?}")),
    })
}
