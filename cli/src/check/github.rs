//! Findings as commands of GitHub's workflows, which show them at the lines of a pull request.

use crate::style::plain;
use chancery_core::explain::Finding;
use std::fmt::Write;

/// One line for each finding.
pub fn commands(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let mut properties = Vec::new();
        if let Some(span) = &finding.span {
            properties.push(format!("file={}", property(&span.file)));
            properties.push(format!("line={}", span.line));
            properties.push(format!("endLine={}", span.end_line));
            // Columns count on one line only.
            if span.line == span.end_line {
                properties.push(format!("col={}", span.column));
                properties.push(format!("endColumn={}", span.end_column));
            }
        }
        properties.push(format!("title={}", property(&format!("chancery: {}", finding.code))));
        let mut message = finding.message.clone();
        if let Some(help) = &finding.help {
            let _ = write!(message, "\nhelp: {help}");
        }
        let _ = writeln!(out, "::{} {}::{}", finding.severity, properties.join(","), data(&message));
    }
    out
}

/// Text of a command.
pub fn data(text: &str) -> String {
    plain(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property.
pub fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
