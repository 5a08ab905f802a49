//! Findings as one HTML file: numbers first, then the findings by severity and code.

use crate::html::{Report, Tone};
use crate::style::count;
use chancery_core::compilation::Compilation;
use chancery_core::diagnostic::Severity;
use chancery_core::explain::Finding;

/// Returns the whole document. `left_out` is the number of findings that the options hide.
pub fn report(findings: &[Finding], left_out: usize, compilation: &Compilation) -> String {
    let of = |severity: Severity| findings.iter().filter(move |finding| finding.level() == severity);
    let (files, objects) = (compilation.inputs.inputs.len(), compilation.objects.iter().count());
    let lead =
        format!("What the controller does not accept, ignores or treats unexpectedly, in {} of {}.", count(objects, "object"), count(files, "file"));
    let mut out = Report::new("Findings", &lead);
    let levels =
        [(Severity::Error, "errors", Tone::Bad), (Severity::Warning, "warnings", Tone::Neutral), (Severity::Notice, "notices", Tone::Neutral)];
    let number = |severity: Severity, tone: Tone| {
        let count = of(severity).count();
        (count.to_string(), if count == 0 { Tone::Good } else { tone })
    };
    let numbers = levels.map(|(severity, label, tone)| {
        let (number, tone) = number(severity, tone);
        (label, number, tone)
    });
    out.numbers(&numbers);
    match (objects, left_out) {
        (0, _) => out.paragraph("The input has no resources, so nothing was checked."),
        (_, 0) if findings.is_empty() => out.paragraph("Nothing was found."),
        (_, 0) => {}
        (_, left_out) => out.paragraph(&format!("{} left out by the options of this run.", count(left_out, "finding"))),
    }
    for (severity, label, tone) in levels {
        let mut codes: Vec<&str> = Vec::new();
        of(severity).for_each(|finding| {
            if !codes.contains(&finding.code) {
                codes.push(finding.code);
            }
        });
        if !codes.is_empty() {
            out.heading(&format!("{}{}", label[..1].to_uppercase(), &label[1..]));
        }
        for code in codes {
            let own: Vec<&Finding> = of(severity).filter(|finding| finding.code == code).collect();
            out.group(code, &own.len().to_string(), tone, severity == Severity::Error, |out| {
                out.table(&["finding", "what to do"], own.into_iter().map(row));
            });
        }
    }
    out.finish()
}

/// One finding: its message with the places, and its help with the fix.
fn row(finding: &Finding) -> Vec<(String, Vec<String>)> {
    let mut places: Vec<String> = finding.span.iter().map(|span| format!("{}:{}:{}", span.file, span.line, span.column)).collect();
    places.extend(finding.object.as_ref().or(finding.resource.as_ref()).map(ToString::to_string));
    for related in &finding.related {
        let place = related.span.as_ref().map(|span| format!(" at {}:{}", span.file, span.line)).unwrap_or_default();
        places.push(format!("{}{place}", related.message));
    }
    let fix = finding.fix.iter().map(|fix| format!("certain fix: {}", fix.message)).collect();
    vec![(finding.message.clone(), places), (finding.help.clone().unwrap_or_default(), fix)]
}
