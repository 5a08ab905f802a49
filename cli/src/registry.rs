//! `chancery kinds` and `chancery codes`: list the core's tables.
//!
//! Does not define kinds or codes; see the core and the dialects.

use crate::Outcome;
use crate::args::{CodesArgs, Deployment, Format, ListArgs};
use crate::output::{print, print_json};
use crate::style::Style;
use chancery_core::compilation::AnnotationDoc;
use chancery_core::diagnostic::Severity;
use chancery_core::dialect;
use chancery_core::explain::migration::{CAUSES, Cause, cause};
use chancery_core::resource::nearest;
use serde_json::{Value, json};
use std::fmt::Write;

/// Lists kinds: of all dialects, or of the one that is chosen.
pub fn kinds(args: &ListArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let options = deployment.options()?;
    let chosen = options.dialect.as_deref();
    let dialects = || dialect::ALL.iter().filter(|dialect| chosen.is_none_or(|chosen| chosen == dialect.name));
    if args.format == Format::Json {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for dialect in dialects() {
            for kind in (dialect.listing)() {
                let versions: Vec<String> = kind.versions.iter().map(|version| joined(&[kind.group, version], "/")).collect();
                let resource = kind.plural.map(|plural| joined(&[plural, kind.group], "."));
                let rows = if kind.own { &mut own } else { &mut others };
                rows.push(json!({
                    "dialect": dialect.name, "kind": kind.name, "group": kind.group, "plural": kind.plural, "resource": resource,
                    "versions": versions, "config_key": kind.config_key, "summary": kind.doc,
                }));
            }
        }
        let annotations = dialects().flat_map(|dialect| dialect.annotations.iter().map(move |(kind, known)| (dialect.name, kind, known.docs)));
        let annotations = annotations.flat_map(|(dialect, kind, docs)| docs.iter().map(move |of| annotation(dialect, kind, of)));
        print_json(&json!({ "kinds": own, "also_read": others, "annotations": annotations.collect::<Vec<_>>() }))?;
        return Ok(0);
    }
    let mut out = String::new();
    for dialect in dialects() {
        let kinds = (dialect.listing)();
        // A dialect may read no Kubernetes kinds.
        if kinds.is_empty() {
            continue;
        }
        let width = kinds.iter().map(|kind| kind.name.len()).max().unwrap_or(0);
        let break_before = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(out, "{break_before}{}", style.bold(format!("{}:", dialect.name)));
        for kind in kinds.iter().filter(|kind| kind.own) {
            let _ = writeln!(out, "{}  {}", style.bold(format!("{:<width$}", kind.name)), kind.doc);
            let resource = joined(&[kind.plural.unwrap_or_default(), kind.group], ".");
            let details = joined(&[&resource, &kind.versions.join(" ")], ", ");
            // Consul's entries only have a kind.
            if !details.is_empty() {
                let _ = writeln!(out, "{:<width$}  {}", "", style.dim(details));
            }
        }
        let _ = writeln!(out, "\nRead beside them:");
        for kind in kinds.iter().filter(|kind| !kind.own) {
            let _ = writeln!(out, "{}  {}", style.bold(format!("{:<width$}", kind.name)), kind.doc);
            let details = joined(&[kind.group, &kind.versions.join(" ")], ", ");
            if !kind.group.is_empty() {
                let _ = writeln!(out, "{:<width$}  {}", "", style.dim(details));
            }
        }
        let mut described: Vec<(&[AnnotationDoc], Vec<&str>)> = Vec::new();
        for (kind, known) in dialect.annotations.iter().filter(|(_, known)| !known.docs.is_empty()) {
            match described.iter_mut().find(|(docs, _)| std::ptr::eq(*docs, known.docs)) {
                Some((_, kinds)) => kinds.push(kind),
                None => described.push((known.docs, vec![kind])),
            }
        }
        for (docs, kinds) in described {
            let _ = writeln!(out, "\nAnnotations of {}:", kinds.join(" and "));
            for of in docs {
                let _ = writeln!(out, "{}  {}", style.bold(of.name), of.doc);
                let _ = writeln!(out, "  {}", style.dim(format!("{}; default: {}", of.takes, of.default)));
            }
        }
    }
    print(&out)?;
    Ok(0)
}

fn annotation(dialect: &str, kind: &str, of: &AnnotationDoc) -> Value {
    json!({ "dialect": dialect, "kind": kind, "name": of.name, "takes": of.takes, "values": of.values, "default": of.default, "summary": of.doc })
}

/// Joins the non-empty strings with a separator.
fn joined(parts: &[&str], separator: &str) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(separator)
}

/// Lists codes, or shows the page of one, or a rule of comparisons of controllers.
pub fn codes(args: &CodesArgs, style: &Style) -> Outcome {
    let Some(name) = &args.code else { return list(args, style) };
    if let Some(cause) = cause(name) {
        return rule(cause, args, style);
    }
    let Some(code) = dialect::code(name) else {
        let near = nearest(name, dialect::codes().map(|code| code.name).chain(CAUSES.iter().map(|cause| cause.name)));
        let hint = near.map_or_else(|| "`chancery codes` lists all".to_string(), |near| format!("did you mean `{near}`?"));
        return Err(format!("there is no code `{name}`; {hint}").into());
    };
    match args.format {
        Format::Json => print_json(&json!({ "code": code.name, "severity": code.severity.name(), "summary": code.summary, "page": code.page }))?,
        Format::Human => {
            let mut out = String::new();
            let _ = writeln!(out, "{} {}: {}\n", severity(code.severity, style), style.bold(code.name), code.summary);
            // Its own heading repeats the line above.
            let text = code.page.strip_prefix(&format!("# {}\n", code.name)).unwrap_or(code.page);
            out.push_str(&page(text.trim_start_matches('\n'), style));
            print(&out)?;
        }
    }
    Ok(0)
}

/// Shows a rule of comparisons of controllers.
fn rule(of: &Cause, args: &CodesArgs, style: &Style) -> Outcome {
    match args.format {
        Format::Json => {
            print_json(&json!({ "rule": of.name, "summary": of.title, "why": of.why, "fix": of.fix, "decision": of.decision }))?;
        }
        Format::Human => {
            let mut out = format!("{} {}: {}\n\n", style.cyan("rule"), style.bold(of.name), of.title);
            let sections =
                [("What it means", of.why.to_owned()), ("How to fix it", format!("{}.", of.fix)), ("Usual decision", format!("{}.", of.decision))];
            for (heading, text) in sections {
                let _ = writeln!(out, "{}\n\n{text}\n", style.bold(heading));
            }
            let _ = writeln!(out, "{}", style.dim("`chancery diff --from A --to B --accept FILE` reads accepted rules, each with its reason"));
            print(&out)?;
        }
    }
    Ok(0)
}

fn list(args: &CodesArgs, style: &Style) -> Outcome {
    if args.format == Format::Json {
        let rows: Vec<_> =
            dialect::codes().map(|code| json!({ "code": code.name, "severity": code.severity.name(), "summary": code.summary })).collect();
        print_json(&json!({ "codes": rows }))?;
        return Ok(0);
    }
    let width = dialect::codes().map(|code| code.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for code in dialect::codes() {
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

/// Formats a Markdown page for a terminal: headings bold, code verbatim and indented.
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
