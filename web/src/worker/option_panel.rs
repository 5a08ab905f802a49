//! Shows the options of a dialect as fields of a form, and reads the form. Does not define options; see `chancery_core::compilation`.

use crate::protocol::{OptionField, OptionPanel, OptionSort};
use chancery_core::compilation::{Dialect, OptionKind, OptionSpec, Options};
use serde_json::Value;

/// Shows the options of these dialects.
pub fn panel(options: &Options, dialects: &[&'static Dialect]) -> OptionPanel {
    let values = serde_json::to_value(options).unwrap_or_default();
    let mut known: Vec<&'static str> = Vec::new();
    let specs = dialects.iter().flat_map(|dialect| dialect.options).filter(|spec| {
        let is_new = !known.contains(&spec.name);
        known.push(spec.name);
        is_new
    });
    let mut fields: Vec<OptionField> = specs.map(|spec| field(spec, &values)).collect();
    fields.sort_by_key(|field| !field.common);
    let flags = fields.iter().filter(|field| !field.value.is_empty()).flat_map(flags_of).collect::<Vec<_>>().join(" ");
    OptionPanel { fields, flags }
}

fn field(spec: &OptionSpec, values: &Value) -> OptionField {
    let value = match values.get(spec.name) {
        Some(Value::Bool(true)) => "true".into(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
        Some(Value::Object(all)) => {
            all.iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    };
    let (sort, placeholder, choices) = match spec.kind {
        OptionKind::Flag => (OptionSort::Flag, String::new(), Vec::new()),
        OptionKind::Text { placeholder, default } => (OptionSort::Text, if default.is_empty() { placeholder } else { default }.into(), Vec::new()),
        OptionKind::Choice(words) => (OptionSort::Choice, String::new(), words.iter().map(|(word, _)| (*word).into()).collect()),
        OptionKind::List { placeholder } => (OptionSort::Lines, format!("{placeholder}, one per line"), Vec::new()),
        OptionKind::Map | OptionKind::Files => (OptionSort::Lines, "KEY=VALUE, one per line".into(), Vec::new()),
        OptionKind::File { placeholder } => (OptionSort::File, format!("the content of {placeholder}"), Vec::new()),
    };
    OptionField { name: spec.name.into(), doc: spec.doc.into(), sort, placeholder, choices, value, common: spec.common }
}

/// The flags that set an option on the command line.
fn flags_of(field: &OptionField) -> Vec<String> {
    let quoted = |value: &str| match value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | ',')) {
        true => value.to_string(),
        false => format!("'{}'", value.replace('\'', "'\\''")),
    };
    match field.sort {
        OptionSort::Flag => vec![format!("--{}", field.name)],
        OptionSort::Text | OptionSort::Choice => vec![format!("--{} {}", field.name, quoted(&field.value))],
        OptionSort::Lines => field.value.lines().map(|line| format!("--{} {}", field.name, quoted(line))).collect(),
        OptionSort::File => vec![format!("--{} FILE", field.name)],
    }
}

/// Applies a form to the options, as JSON.
///
/// # Errors
///
/// Why a value is invalid.
pub fn changed(options: &Options, fields: &[OptionField], dialects: &[&'static Dialect]) -> Result<Value, String> {
    let failed = |error: serde_json::Error| error.to_string();
    let mut values = serde_json::to_value(options.clone().of_any_dialect()).map_err(failed)?;
    if let Some(values) = values.as_object_mut() {
        fields.iter().for_each(|field| drop(values.remove(&field.name)));
    }
    let mut options: Options = serde_json::from_value(values).map_err(failed)?;
    for field in fields.iter().filter(|field| !field.value.trim().is_empty()) {
        let values: Vec<&str> = match field.sort {
            OptionSort::Lines => field.value.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
            OptionSort::File => vec![field.value.as_str()],
            OptionSort::Flag | OptionSort::Text | OptionSort::Choice => vec![field.value.trim()],
        };
        for value in values {
            options.set(&field.name, value, dialects).map_err(|error| error.to_string())?;
        }
    }
    serde_json::to_value(options).map_err(failed)
}
