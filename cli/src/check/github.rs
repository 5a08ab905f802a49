//! Findings as GitHub workflow commands, which GitHub shows at the lines of a pull request.

use crate::input::rendered_from;
use crate::style::plain;
use chancery_core::explain::Finding;
use std::fmt::Write;

/// One line for each finding.
pub fn commands(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let mut properties = Vec::new();
        let source = finding.span.as_ref().and_then(|span| rendered_from(&span.file));
        if let Some(source) = &source {
            // Lines refer to the rendered output; the template has other lines.
            properties.push(format!("file={}", property(source)));
        } else if let Some(span) = &finding.span {
            properties.push(format!("file={}", property(&span.file)));
            properties.push(format!("line={}", span.line));
            properties.push(format!("endLine={}", span.end_line));
            // Columns are valid within one line only.
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
        if let (Some(_), Some(resource)) = (&source, &finding.resource) {
            let _ = write!(message, "\nin {resource}, as rendered");
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
