//! `chancery config`: shows the settings in effect and their source.
//!
//! Does not interpret settings; see `chancery_workspace::settings`.

use crate::Outcome;
use crate::args::{Deployment, Format, ListArgs};
use crate::output::{print, print_json};
use crate::style::{Style, plain};
use chancery_workspace::settings::FILE;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Runs it.
pub fn run(args: &ListArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let settings = deployment.settings.clone()?;
    let options = deployment.options()?;
    let mut data = json!({
        "file": settings.file,
        "dialect": options.dialect,
        "gateway": deployment.gateway,
        "exclude": deployment.patterns(),
        "render": deployment.render,
        "max_input": deployment.max_input,
        "tests": settings.tests,
        "baseline": settings.baseline,
    });
    // A file's content may be anything, so only the names of such options are shown.
    data["options"] = options.given().map(|name| (name.to_string(), shown(&options, name))).collect::<Map<_, _>>().into();
    data["severities"] = json!(options.findings.severities);
    match args.format {
        Format::Json => print_json(&data)?,
        Format::Human => {
            let mut out = match &settings.file {
                Some(file) => format!("{}\n", style.bold(plain(&file.display().to_string()))),
                None => format!("{}\n", style.dim(format!("there is no {FILE} in this folder or above it"))),
            };
            table(&mut out, &data);
            print(&out)?;
        }
    }
    Ok(0)
}

fn shown(options: &chancery_core::compilation::Options, name: &str) -> Value {
    if let Some(map) = options.map(name) {
        return map.keys().map(|key| Value::from(key.as_str())).collect::<Vec<_>>().into();
    }
    match options.text(name) {
        Some(text) if text.contains('\n') => "(the text of a file)".into(),
        Some(text) => text.as_str().into(),
        None if options.flag(name) => true.into(),
        None => options.list(name).iter().map(|word| Value::from(word.as_str())).collect::<Vec<_>>().into(),
    }
}

fn table(out: &mut String, data: &Value) {
    let is_set = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(all) => !all.is_empty(),
        Value::Object(all) => !all.is_empty(),
        _ => true,
    };
    for (name, value) in data.as_object().into_iter().flatten().filter(|(name, value)| *name != "file" && is_set(value)) {
        match value {
            Value::Object(all) => {
                let _ = writeln!(out, "  {name}");
                all.iter().for_each(|(name, value)| _ = writeln!(out, "    {name} = {}", plain(&value.to_string())));
            }
            value => _ = writeln!(out, "  {name} = {}", plain(&value.to_string())),
        }
    }
}
