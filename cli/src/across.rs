//! `chancery across`: compares how several controllers handle the same Ingresses.
//!
//! Does not compare; see `chancery_core::convert`.

use crate::args::{AcrossArgs, Deployment, Format};
use crate::output::{hold_back, message, print, print_json};
use crate::style::{Style, count, plain, some};
use crate::{Outcome, input};
use chancery_core::compile::compile;
use chancery_core::convert::{Across, AcrossRow, OneSidedAnnotation, across};
use chancery_core::dialect::ingress;
use std::fmt::Write;

/// Runs it.
pub fn run(args: &AcrossArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let given = input::given(&args.inputs.inputs, deployment)?;
    // Only the objects are needed; each controller reads them separately.
    let compilation = compile(&given.inputs, &given.options.clone().in_dialect(ingress::DIALECT.name), &[&ingress::DIALECT]);
    hold_back(&compilation);
    input::warn_of_unread(&compilation);
    let found = across(&compilation, &given.options);
    if found.ingresses == 0 {
        return Err("there is no Ingress in this input".into());
    }
    if !found.assumed.is_empty() {
        message(&format!("these Services are not in the input, and are assumed to exist: {}", found.assumed.join(", ")));
    }
    match args.format {
        Format::Json => print_json(&found)?,
        Format::Human => print(&human(&found, style))?,
    }
    Ok(u8::from(args.exit_code && !found.differences.is_empty()))
}

fn human(found: &Across, style: &Style) -> String {
    let mut out = String::new();
    let tried =
        format!("{} of {}, each tried with {}", count(found.compared, "request"), count(found.ingresses, "Ingress"), found.controllers.join(", "));
    if found.differences.is_empty() {
        let _ = writeln!(out, "{}  {}", style.bold("No request that was tried differs."), style.dim(tried));
    } else {
        let _ = writeln!(out, "{}  {}", style.bold("Requests that differ"), style.dim(tried));
        out.push_str(&rows(&found.differences, &found.controllers, style));
    }
    if !found.one_sided.is_empty() {
        let _ = writeln!(out, "{}", style.bold("Annotations that not all of them read"));
        for of in &found.one_sided {
            let _ =
                writeln!(out, "  {}  {}", style.cyan(plain(&of.name)), plain(&format!("{} only, in {}", of.read_by.join(" and "), some(&names(of)))));
        }
        out.push('\n');
    }
    for limit in &found.limits {
        let _ = writeln!(out, "{}", style.dim(plain(limit)));
    }
    out
}

fn names(of: &OneSidedAnnotation) -> Vec<&str> {
    of.ingresses.iter().map(String::as_str).collect()
}

/// Requests that differ, and how each controller handles them.
pub fn rows(all: &[AcrossRow], controllers: &[&str], style: &Style) -> String {
    let mut out = String::new();
    let widest = controllers.iter().map(|name| name.len()).max().unwrap_or_default();
    for row in all {
        out.push('\n');
        for url in &row.requests {
            let _ = writeln!(out, "  {}", style.bold(plain(url)));
        }
        if row.more > 0 {
            let _ = writeln!(out, "  {}", style.dim(format!("and {}", count(row.more, "more request"))));
        }
        for (controller, answer) in controllers.iter().zip(&row.answers) {
            let _ = writeln!(out, "      {:widest$}  {}", controller, style.cyan(plain(answer)));
        }
    }
    out.push('\n');
    out
}
