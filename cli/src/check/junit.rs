//! Findings as JUnit's XML: one suite for each file, one case for each finding; a file without findings is a case that passed.

use chancery_core::compilation::Compilation;
use chancery_core::diagnostic::Severity;
use chancery_core::explain::Finding;
use chancery_core::resource::SourceId;
use chancery_core::text::markup::escaped;
use std::fmt::Write;

/// The whole document.
pub fn suites(findings: &[Finding], compilation: &Compilation, strict: bool) -> String {
    let fails = |finding: &Finding| finding.level() == Severity::Error || (strict && finding.level() == Severity::Warning);
    let mut suites: Vec<(String, Vec<&Finding>)> = compilation
        .inputs
        .inputs
        .iter()
        .enumerate()
        .map(|(at, input)| {
            let here = |finding: &&Finding| finding.span.as_ref().is_some_and(|span| span.source == SourceId(at as u32));
            (input.name.to_string(), findings.iter().filter(here).collect())
        })
        .collect();
    let whole: Vec<&Finding> = findings.iter().filter(|finding| finding.span.is_none()).collect();
    if !whole.is_empty() {
        suites.push(("the whole".into(), whole));
    }
    let failures = findings.iter().filter(|finding| fails(finding)).count();
    let tests: usize = suites.iter().map(|(_, findings)| findings.len().max(1)).sum();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"chancery\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">");
    for (name, findings) in &suites {
        let failures = findings.iter().filter(|finding| fails(finding)).count();
        let (name, tests) = (escaped(name), findings.len().max(1));
        let skipped = findings.len() - failures;
        let _ = writeln!(out, "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">");
        if findings.is_empty() {
            let _ = writeln!(out, "    <testcase classname=\"{name}\" name=\"no findings\"/>");
        }
        for finding in findings {
            case(&mut out, &name, finding, fails(finding));
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn case(out: &mut String, suite: &str, finding: &Finding, fails: bool) {
    let place = finding.span.as_ref().map_or_else(String::new, |span| format!("{}:{}:{}", span.file, span.line, span.column));
    let (file, line) = finding.span.as_ref().map_or((String::new(), 0), |span| (escaped(&span.file), span.line));
    let at = if line > 0 { format!(" file=\"{file}\" line=\"{line}\"") } else { String::new() };
    let about = finding.resource.as_ref().map_or_else(String::new, |resource| format!(" ({resource})"));
    let title = escaped(&format!("{}{about}{}", finding.code, if place.is_empty() { String::new() } else { format!(" at {place}") }));
    let message = escaped(&finding.message);
    let _ = writeln!(out, "    <testcase classname=\"{suite}\" name=\"{title}\"{at}>");
    if fails {
        let help = finding.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
        let text = escaped(&format!("{}: {}\n  at {place}{help}", finding.severity, finding.message));
        let _ = writeln!(out, "      <failure type=\"{}\" message=\"{message}\">{text}</failure>", finding.code);
    } else {
        let _ = writeln!(out, "      <skipped message=\"{}: {message}\"/>", finding.severity);
    }
    out.push_str("    </testcase>\n");
}
