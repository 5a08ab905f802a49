//! `chancery kinds` and `chancery codes`: what the core's tables say.
//!
//! What must not be here: any kind or code.

use crate::Outcome;
use crate::args::{CodesArgs, Format, ListArgs};
use crate::output::{print, print_json};
use crate::style::Style;
use chancery_core::diagnostic::{Severity, codes};
use chancery_core::dialect::ambassador::{fetch::ALSO_READ, kinds};
use chancery_core::resource::nearest;
use serde_json::json;
use std::fmt::Write;

/// Lists kinds.
pub fn kinds(args: &ListArgs, style: &Style) -> Outcome {
    if args.format == Format::Json {
        let rows: Vec<_> = kinds::ALL
            .iter()
            .map(|kind| {
                let versions: Vec<&str> = kind.versions.iter().map(|version| version.api_version()).collect();
                json!({ "kind": kind.name, "plural": kind.plural, "resource": kind.resource(), "versions": versions, "config_key": kind.config_key, "summary": kind.doc })
            })
            .collect();
        let others: Vec<_> = ALSO_READ.iter().map(|(group, kind, doc)| json!({ "kind": kind, "group": group, "summary": doc })).collect();
        print_json(&json!({ "kinds": rows, "also_read": others }))?;
        return Ok(0);
    }
    let width = kinds::ALL.iter().map(|kind| kind.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for kind in kinds::ALL {
        let versions: Vec<&str> = kind.versions.iter().map(|version| version.name()).collect();
        let _ = writeln!(out, "{}  {}", style.bold(format!("{:<width$}", kind.name)), kind.doc);
        let _ = writeln!(out, "{:<width$}  {}", "", style.dim(format!("{}, {}", kind.resource(), versions.join(" "))));
    }
    let _ = writeln!(out, "\nRead beside them:");
    for (group, kind, doc) in ALSO_READ {
        let _ = writeln!(out, "{}  {doc}", style.bold(format!("{kind:<width$}")));
        if !group.is_empty() {
            let _ = writeln!(out, "{:<width$}  {}", "", style.dim(group));
        }
    }
    print(&out)?;
    Ok(0)
}

/// Lists codes, or shows the page of one.
pub fn codes(args: &CodesArgs, style: &Style) -> Outcome {
    let Some(name) = &args.code else { return list(args, style) };
    let Some(code) = codes::find(name) else {
        let near = nearest(name, codes::ALL.iter().map(|code| code.name));
        let hint = near.map_or_else(|| "`chancery codes` lists all".to_string(), |near| format!("did you mean `{near}`?"));
        return Err(format!("there is no code `{name}`; {hint}").into());
    };
    match args.format {
        Format::Json => print_json(&json!({ "code": code.name, "severity": code.severity.name(), "summary": code.summary, "page": code.page }))?,
        Format::Human => {
            let mut out = String::new();
            let _ = writeln!(out, "{} {}: {}\n", severity(code.severity, style), style.bold(code.name), code.summary);
            // Its own heading says no more than the line above.
            let text = code.page.strip_prefix(&format!("# {}\n", code.name)).unwrap_or(code.page);
            out.push_str(&page(text.trim_start_matches('\n'), style));
            print(&out)?;
        }
    }
    Ok(0)
}

fn list(args: &CodesArgs, style: &Style) -> Outcome {
    if args.format == Format::Json {
        let rows: Vec<_> =
            codes::ALL.iter().map(|code| json!({ "code": code.name, "severity": code.severity.name(), "summary": code.summary })).collect();
        print_json(&json!({ "codes": rows }))?;
        return Ok(0);
    }
    let width = codes::ALL.iter().map(|code| code.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for code in codes::ALL {
        let _ = writeln!(out, "{}  {}  {}", style.bold(format!("{:<width$}", code.name)), severity(code.severity, style), code.summary);
    }
    print(&out)?;
    Ok(0)
}

fn severity(of: Severity, style: &Style) -> String {
    let name = format!("{:<7}", of.name());
    match of {
        Severity::Error => style.red(name),
        Severity::Warning => style.yellow(name),
        Severity::Notice => style.cyan(name),
    }
}

/// A page of Markdown for a terminal: headings bold, code as it is and indented.
fn page(markdown: &str, style: &Style) -> String {
    let mut out = String::new();
    let mut in_code = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else if in_code {
            let _ = writeln!(out, "    {}", style.cyan(line));
        } else if let Some(heading) = line.strip_prefix('#') {
            let _ = writeln!(out, "{}", style.bold(heading.trim_start_matches('#').trim()));
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
