//! `chancery ledger`: shows the result of every resource.
//!
//! Does not determine the results; see `chancery_core::explain::ledger`.

use crate::args::{Deployment, Format, LedgerArgs};
use crate::output::{print, print_json};
use crate::style::{Style, count, plain};
use crate::{Outcome, input};
use chancery_core::convert::{AnnotationInventory, Fidelity, Target, annotation_inventory};
use chancery_core::explain::{LedgerFinding, LedgerRow, ledger};
use std::fmt::Write;

/// Runs it.
pub fn run(args: &LedgerArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let given = input::given(&args.inputs.inputs, deployment)?;
    let (mut compiler, mut compilation) = given.compile_with_statuses()?;
    given.add_findings(&mut compilation, &mut compiler);
    let rows = ledger(&compilation, &compilation.positions());
    let inventory = annotation_inventory(&compilation, Target::EnvoyGateway);
    match args.format {
        Format::Json => match &inventory {
            Some(inventory) => print_json(&serde_json::json!({ "ledger": rows, "annotations": inventory }))?,
            None => print_json(&serde_json::json!({ "ledger": rows }))?,
        },
        Format::Human => {
            let tables = rows.chunk_by(|a, b| a.dialect == b.dialect).map(|rows| match rows.first().and_then(|row| row.dialect) {
                Some(dialect) => format!("{}\n\n{}", style.heading(dialect), table(rows, style)),
                None => table(rows, style),
            });
            let tables: Vec<String> = tables.collect();
            let mut out = if tables.is_empty() { table(&rows, style) } else { tables.join("\n") };
            out.push_str(&inventory.map(|inventory| annotations(&inventory, style)).unwrap_or_default());
            print(&out)?;
            if rows.iter().any(|row| !row.status.is_empty()) {
                input::warn_of_statuses(&compilation);
            }
        }
    }
    Ok(0)
}

fn table(rows: &[LedgerRow], style: &Style) -> String {
    let mut out = String::new();
    let name = |row: &LedgerRow| plain(&row.resource.to_string()).into_owned();
    let width = rows.iter().map(|row| name(row).chars().count()).max().unwrap_or(0).min(48);
    let mut file = None;
    for row in rows {
        let here = row.span.as_ref().map(|span| span.file.as_str());
        if here != file {
            let _ = writeln!(out, "{}{}", if file.is_some() { "\n" } else { "" }, style.bold(plain(here.unwrap_or("nowhere"))));
            file = here;
        }
        let line = row.span.as_ref().map_or_else(String::new, |span| span.line.to_string());
        let indent = if row.holder.is_some() { "  " } else { "" };
        let name = format!("{indent}{}", name(row));
        let _ = writeln!(out, "{} {name:<width$}  {}", style.dim(format!("{line:>6}")), sentence(row, style));
        let is_in_use = ["emitted", "merged", "read"].contains(&row.state);
        let has_error = row.findings.iter().any(|finding| finding.severity == "error");
        if let Some(status) = row.status_line().filter(|_| !is_in_use || has_error || row.status.iter().any(|of| &*of.status != "True")) {
            let _ = writeln!(out, "         {}", style.dim(format!("status: {}", plain(&status))));
        }
        findings(&mut out, row, style);
    }
    let mut totals = Vec::new();
    for state in ["emitted", "merged", "read", LedgerRow::UNREACHED, "shadowed", "ignored", "invalid"] {
        let number = rows.iter().filter(|row| row.state == state).count();
        if number > 0 {
            totals.push(format!("{number} {}", paint(state, style)));
        }
    }
    let _ = writeln!(out, "{}{}: {}", if rows.is_empty() { "" } else { "\n" }, count(rows.len(), "resource"), totals.join(", "));
    out
}

/// At most this many findings are shown below a row.
const MOST_FINDINGS: usize = 3;

/// Shows the errors and warnings about a resource, except the one that its sentence already gives.
fn findings(out: &mut String, row: &LedgerRow, style: &Style) {
    let is_new = |finding: &&LedgerFinding| row.detail.as_deref() != Some(finding.message.as_str());
    let shown: Vec<&LedgerFinding> = row.findings.iter().filter(is_new).take(MOST_FINDINGS).collect();
    for finding in &shown {
        let line = finding.span.as_ref().map(|span| format!("line {}: ", span.line)).unwrap_or_default();
        let severity = if finding.severity == "error" { style.red(finding.severity) } else { style.yellow(finding.severity) };
        let message = finding.message.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(out, "         {severity}: {line}{} {}", plain(&message), style.dim(format!("[{}]", finding.code)));
    }
    let more = row.findings.iter().filter(is_new).count() - shown.len() + row.findings_more;
    if more > 0 {
        let _ = writeln!(out, "         {}", style.dim(format!("and {}; `chancery check` shows them", count(more, "more finding"))));
    }
}

/// The annotations of ingress-nginx, and what a conversion does with them.
fn annotations(of: &AnnotationInventory, style: &Style) -> String {
    let mut out = String::new();
    let share = format!("`chancery convert` translates {} of {} to Envoy Gateway exactly", of.exact, count(of.ingresses, "Ingress"));
    let _ = writeln!(out, "\n{}  {}", style.bold("Conversion of annotations"), style.dim(share));
    let width = of.annotations.iter().map(|used| used.name.len()).max().unwrap_or_default();
    for used in &of.annotations {
        let (name, word) = (used.fidelity.name(), used.fidelity);
        let shown = match word {
            Fidelity::Exact | Fidelity::Unneeded => style.green(format!("{name:<11}")),
            Fidelity::Approximate => style.yellow(format!("{name:<11}")),
            Fidelity::Impossible => style.red(format!("{name:<11}")),
        };
        let words = if matches!(word, Fidelity::Exact | Fidelity::Unneeded) { "" } else { used.words };
        let line = format!("{:>6} {:<width$}  {shown}  {words}", used.ingresses, used.name);
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

fn paint(state: &str, style: &Style) -> String {
    match state {
        "emitted" | "merged" | "read" => style.green(state),
        "invalid" => style.red(state),
        _ => style.yellow(state),
    }
}

/// Returns the result of a resource as one sentence.
pub fn sentence(row: &LedgerRow, style: &Style) -> String {
    format!("{}{}", paint(row.state, style), plain(&row.outcome()))
}
