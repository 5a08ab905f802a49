//! `chancery ledger`: shows the result of every resource.
//!
//! Does not determine the results; see `chancery_core::explain::ledger`.

use crate::args::{Deployment, Format, LedgerArgs};
use crate::output::{print, print_json};
use crate::style::{Style, count, plain};
use crate::{Outcome, input};
use chancery_core::explain::{LedgerRow, ledger};
use std::fmt::Write;

/// Runs it.
pub fn run(args: &LedgerArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let (_, compilation) = input::compile(&args.inputs.inputs, deployment)?;
    let rows = ledger(&compilation, &compilation.positions());
    match args.format {
        Format::Json => print_json(&serde_json::json!({ "ledger": rows }))?,
        Format::Human => {
            let tables = rows.chunk_by(|a, b| a.dialect == b.dialect).map(|rows| match rows.first().and_then(|row| row.dialect) {
                Some(dialect) => format!("{}\n\n{}", style.heading(dialect), table(rows, style)),
                None => table(rows, style),
            });
            let tables: Vec<String> = tables.collect();
            print(&if tables.is_empty() { table(&rows, style) } else { tables.join("\n") })?;
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
