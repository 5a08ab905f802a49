//! Findings as SARIF 2.1.0.

use crate::input::rendered_from;
use chancery_core::diagnostic::Severity;
use chancery_core::dialect;
use chancery_core::explain::{EditView, Finding, Span};
use serde_json::{Value, json};
use std::fmt::Write;

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Notice => "note",
    }
}

/// Returns a page without its examples. Some examples contain keys, which secret scanners would report.
fn explanation(page: &str) -> &str {
    page.split("\n## ").next().unwrap_or(page).trim_end()
}

/// The log of findings.
pub fn findings(findings: &[Finding]) -> Value {
    let rules: Vec<Value> = dialect::codes()
        .map(|code| {
            json!({
                "id": code.name,
                "shortDescription": { "text": code.summary },
                "help": { "text": explanation(code.page), "markdown": explanation(code.page) },
                "defaultConfiguration": { "level": level(code.severity) },
            })
        })
        .collect();
    let results: Vec<Value> = findings.iter().map(result).collect();
    log(&rules, &results)
}

/// A whole log.
pub fn log(rules: &[Value], results: &[Value]) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "chancery",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(finding: &Finding) -> Value {
    let text = match &finding.help {
        Some(help) => format!("{}. Help: {help}", finding.message),
        None => finding.message.clone(),
    };
    let mut result = json!({
        "ruleId": finding.code,
        "level": level(finding.level()),
        "message": { "text": text },
    });
    if let Some(index) = dialect::codes().position(|code| code.name == finding.code) {
        result["ruleIndex"] = json!(index);
    }
    if let Some(span) = &finding.span {
        let mut location = physical(span);
        if let Some(resource) = &finding.resource {
            let field = finding.path.as_ref().map(|path| format!(" {path}")).unwrap_or_default();
            location["logicalLocations"] = json!([{
                "name": resource.name, "fullyQualifiedName": format!("{resource}{field}"), "kind": "resource",
            }]);
        }
        result["locations"] = json!([location]);
    }
    let related: Vec<Value> = finding
        .related
        .iter()
        .filter_map(|related| {
            let mut location = physical(related.span.as_ref()?);
            location["message"] = json!({ "text": related.message });
            Some(location)
        })
        .collect();
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    if let Some(fix) = finding.fix.as_ref().filter(|fix| rendered_from(&fix.first.span.file).is_none()) {
        result["fixes"] = json!([{
            "description": { "text": fix.message },
            "artifactChanges": [{
                "artifactLocation": { "uri": uri(&fix.first.span.file) },
                "replacements": fix.edits().map(replacement).collect::<Vec<_>>(),
            }],
        }]);
    }
    result
}

fn replacement(edit: &EditView) -> Value {
    json!({ "deletedRegion": region(&edit.span), "insertedContent": { "text": edit.replacement } })
}

/// Returns a place. For rendered output, this is the template without lines.
pub fn physical(span: &Span) -> Value {
    if let Some(source) = rendered_from(&span.file) {
        return json!({ "physicalLocation": { "artifactLocation": { "uri": uri(&source) } } });
    }
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(&span.file) }, "region": region(span) } })
}

fn region(span: &Span) -> Value {
    json!({ "startLine": span.line, "startColumn": span.column, "endLine": span.end_line, "endColumn": span.end_column })
}

/// Returns a path as a relative reference, or as an absolute one if the path is absolute.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    let path = path.strip_prefix("./").unwrap_or(&path);
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
