//! Findings as a Code Climate report, which GitLab shows in merge requests.

use crate::input::rendered_from;
use chancery_core::diagnostic::Severity;
use chancery_core::explain::Finding;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The whole report.
pub fn issues(findings: &[Finding]) -> Value {
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    findings.iter().map(|finding| issue(finding, &mut seen)).collect()
}

fn issue(finding: &Finding, seen: &mut BTreeMap<u64, u64>) -> Value {
    let severity = match finding.level() {
        Severity::Error => "critical",
        Severity::Warning => "major",
        Severity::Notice => "info",
    };
    let span = finding.span.as_ref();
    let path = span.map(|span| rendered_from(&span.file).unwrap_or_else(|| span.file.to_string()));
    let path = path.map(|path| path.trim_start_matches("./").to_string());
    let object = finding.object.as_ref().or(finding.resource.as_ref()).map(ToString::to_string);
    let parts = [Some(finding.code.to_string()), path.clone(), object, finding.path.clone(), Some(finding.message.clone())];
    let text: Vec<String> = parts.into_iter().map(Option::unwrap_or_default).collect();
    // Equal findings get different fingerprints, so that none is lost.
    let print = fingerprint(&text.join("\n"));
    let count = seen.entry(print).or_default();
    let fingerprint = format!("{print:016x}{count:04x}");
    *count += 1;
    let help = finding.help.as_ref().map(|help| format!("; help: {help}")).unwrap_or_default();
    json!({
        "type": "issue",
        "check_name": finding.code,
        "description": format!("{}{help}", finding.message),
        "categories": ["Bug Risk"],
        "severity": severity,
        "fingerprint": fingerprint,
        "location": { "path": path.unwrap_or_else(|| ".".into()), "lines": { "begin": span.map_or(1, |span| span.line) } },
    })
}

/// FNV-1a: the same on every machine and in every version.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
