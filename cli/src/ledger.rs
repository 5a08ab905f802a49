//! `chancery ledger`: shows the result of every resource.
//!
//! Does not determine the results; see `chancery_core::explain::ledger`.

use crate::args::{Deployment, Format, LedgerArgs};
use crate::output::{print, print_json};
use crate::style::{Style, count, plain};
use crate::{Outcome, input};
use chancery_core::convert::{AnnotationInventory, Fidelity, Target, annotation_inventory};
use chancery_core::explain::{LedgerRow, ledger};
use std::fmt::Write;

/// Runs it.
pub fn run(args: &LedgerArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let (_, compilation) = input::compile(&args.inputs.inputs, deployment)?;
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
    }
    let mut totals = Vec::new();
    for state in ["emitted", "merged", "read", "shadowed", "ignored", "invalid"] {
        let number = rows.iter().filter(|row| row.state == state).count();
        if number > 0 {
            totals.push(format!("{number} {}", paint(state, style)));
        }
    }
    let _ = writeln!(out, "{}{}: {}", if rows.is_empty() { "" } else { "\n" }, count(rows.len(), "resource"), totals.join(", "));
    out
}

/// The annotations of ingress-nginx, and what a conversion does with them.
fn annotations(of: &AnnotationInventory, style: &Style) -> String {
    let mut out = String::new();
    let share = format!("{} of {} are converted exactly to Envoy Gateway", of.exact, count(of.ingresses, "Ingress"));
    let _ = writeln!(out, "\n{}  {}", style.bold("Annotations"), style.dim(share));
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
    let mut out = paint(row.state, style);
    // A fourth alone is named, which takes no more room than its number.
    let list = |names: &[String], more: usize| match names {
        [first, second, third, rest @ ..] if rest.len() + more > 1 => format!("{first}, {second}, {third} and {} more", rest.len() + more),
        names => names.join(", "),
    };
    let into: Vec<String> = row.into.iter().filter(|thing| !thing.is_empty()).map(ToString::to_string).collect();
    if row.state != "read" && !row.with.is_empty() {
        let with: Vec<String> = row.with.iter().map(ToString::to_string).collect();
        let _ = write!(out, " with {}", plain(&list(&with, row.with_more)));
    }
    if !into.is_empty() {
        let _ = write!(out, ": {}", plain(&list(&into, 0)));
    }
    if let Some(by) = &row.by {
        let by: Vec<String> = std::iter::once(by).chain(row.with.iter().filter(|_| row.state == "read")).map(ToString::to_string).collect();
        let _ = write!(out, " by {}", plain(&list(&by, if row.state == "read" { row.with_more } else { 0 })));
    }
    if let Some(detail) = &row.detail {
        // Errors of a controller may have several lines.
        let detail = detail.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = write!(out, "{} {}", if into.is_empty() { ":" } else { ";" }, plain(&detail));
    } else if let Some(why) = row.why {
        let _ = write!(out, ": {}", why.replace('-', " "));
    }
    out
}
