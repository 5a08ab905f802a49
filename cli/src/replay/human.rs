//! Renders the report of a replay as text, Markdown and HTML. Does not make it; see `chancery_core::explain::replay`.

use crate::html::{Report, Tone};
use crate::style::{Style, plain};
use chancery_core::explain::OriginView;
use chancery_core::explain::coverage::CoveredPart;
use chancery_core::explain::replay::{Disagreement, ReplayReport, ReplayedChange};
use std::fmt::Write;

/// At most this many groups and routes are shown.
const MOST: usize = 20;
/// At most this many differences of one group are shown.
const MOST_DIFFERENCES: usize = 6;

/// Formats a number in groups of three digits.
fn number(of: u64) -> String {
    let digits = of.to_string();
    let first = digits.len() % 3;
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 3 == first {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn requests(of: u64) -> String {
    format!("{} request{}", number(of), if of == 1 { "" } else { "s" })
}

/// Formats a share so that few requests are not 0%, and not all are not 100%.
fn share(part: u64, all: u64) -> String {
    if all == 0 {
        return "0%".into();
    }
    let percent = part as f64 * 100.0 / all as f64;
    match (part, format!("{percent:.1}")) {
        (0, _) => "0%".into(),
        (_, text) if text == "0.0" => "<0.1%".into(),
        (part, text) if text == "100.0" && part < all => ">99.9%".into(),
        (_, text) => format!("{}%", text.trim_end_matches(".0")),
    }
}

/// The first line.
fn head(of: &ReplayReport, compares: bool) -> String {
    let (same, verb) =
        if compares { (of.requests - of.changed, "are answered the same") } else { (of.requests - of.unexplained, "were answered as configured") };
    format!("{} of {} {verb}", share(same, of.requests), requests(of.requests))
}

fn span(first: Option<&String>, last: Option<&String>) -> String {
    match (first, last) {
        (Some(first), Some(last)) if first != last => format!(", from {first} to {last}"),
        (Some(first), _) => format!(", at {first}"),
        _ => String::new(),
    }
}

fn place(of: Option<&OriginView>) -> String {
    let Some(of) = of else { return String::new() };
    let field = of.path.as_ref().map(|path| format!(" {path}")).unwrap_or_default();
    let resource = of.resource.as_ref().map(|resource| format!(" {resource}{field}")).unwrap_or_default();
    of.span.as_ref().map(|span| format!("{}:{}{resource}", span.file, span.line)).unwrap_or_default()
}

/// The lines of a change: before, after and the differences.
fn lines(of: &ReplayedChange) -> Vec<String> {
    let mut out = vec![format!("before  {}", of.before), format!("after   {}", of.after)];
    for difference in of.differences.iter().take(MOST_DIFFERENCES) {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".into());
        let from = place(difference.after_from.as_ref().or(difference.before_from.as_ref()));
        let from = if from.is_empty() { from } else { format!("  ({from})") };
        if difference.what == "outcome" {
            out.push(format!("because {}", from.trim().trim_matches(['(', ')'])));
        } else {
            out.push(format!("{}: {} → {}{from}", difference.what, value(&difference.before), value(&difference.after)));
        }
    }
    out.retain(|line| line != "because ");
    let more = of.differences.len().saturating_sub(MOST_DIFFERENCES);
    if more > 0 {
        out.push(format!("and {more} more"));
    }
    out
}

fn unused(of: &CoveredPart) -> String {
    let place = of.span.as_ref().map(|span| format!("{}:{} ", span.file, span.line)).unwrap_or_default();
    let resource = of.resource.as_ref().map(|resource| format!(" of {resource}")).unwrap_or_default();
    format!("{place}{}{resource}: {}", of.kind.name(), of.what)
}

fn notes(of: &ReplayReport) -> Vec<String> {
    let mut out = Vec::new();
    for (header, count) in &of.undecided {
        out.push(format!("{} may take another route: the log does not have the header {header}", requests(*count)));
    }
    if of.without_host > 0 {
        out.push(format!("{} have no host and were not tried; --host names it", requests(of.without_host)));
    }
    if of.more_changes > 0 {
        out.push(format!("{} have further changes that are not listed", requests(of.more_changes)));
    }
    out
}

/// Returns the report as human-readable text.
pub fn report(of: &ReplayReport, compares: bool, style: &Style) -> String {
    let mut out = String::new();
    let simulated = format!("{} simulated{}", number(of.simulated), span(of.first.as_ref(), of.last.as_ref()));
    let _ = writeln!(out, "{}  {}", style.bold(head(of, compares)), style.dim(plain(&simulated)));
    for change in of.changes.iter().take(MOST) {
        let title = format!("{} ({})", requests(change.requests), share(change.requests, of.requests));
        let since = span(change.first.as_ref(), change.last.as_ref());
        let _ = writeln!(out, "\n{}{}", style.yellow(title), style.dim(plain(&since)));
        let _ = writeln!(out, "  {}", style.bold(plain(&change.example)));
        lines(change).iter().for_each(|line| _ = writeln!(out, "    {}", plain(line)));
    }
    more(&mut out, of.changes.len(), "change", style);
    if !of.disagreements.is_empty() {
        let verb = if compares { "were not answered as the first configuration says" } else { "were not answered as configured" };
        let _ = writeln!(out, "\n{}", style.bold(format!("{} {verb}", requests(of.unexplained))));
        of.disagreements.iter().take(MOST).for_each(|found| disagreement(&mut out, found, style));
        more(&mut out, of.disagreements.len(), "answer", style);
    }
    if !of.unused.is_empty() {
        let _ = writeln!(out, "\n{}", style.bold("No request reached"));
        of.unused.iter().take(MOST).for_each(|part| _ = writeln!(out, "  {}", plain(&unused(part))));
        more(&mut out, of.unused.len(), "route", style);
    }
    let notes = notes(of);
    if !notes.is_empty() {
        out.push('\n');
        notes.iter().for_each(|note| _ = writeln!(out, "{}", style.dim(plain(note))));
    }
    out
}

fn disagreement(out: &mut String, of: &Disagreement, style: &Style) {
    let _ = writeln!(out, "  {} {}", style.yellow(requests(of.requests)), style.bold(plain(&of.example)));
    let _ = writeln!(out, "    {}", plain(&format!("configured: it {}; logged: {}", of.expected, of.logged)));
}

fn more(out: &mut String, all: usize, what: &str, style: &Style) {
    if all > MOST {
        let _ = writeln!(out, "  {}", style.dim(format!("and {} more; --format json has all", crate::style::count(all - MOST, what))));
    }
}

/// The report for a pull request.
pub fn markdown(of: &ReplayReport, compares: bool) -> String {
    let code = |text: &str| format!("`{}`", plain(text).replace('`', "'"));
    let mut out = format!("**{}**\n", head(of, compares));
    if !of.changes.is_empty() {
        out.push_str("\n| requests | example | before | after |\n|---:|---|---|---|\n");
        for change in of.changes.iter().take(MOST) {
            let cell = |text: &str| plain(text).replace('|', "\\|");
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                number(change.requests),
                code(&change.example).replace('|', "\\|"),
                cell(&change.before),
                cell(&change.after)
            );
        }
    }
    for (title, lines) in [
        (
            "Logged answers that the configuration does not explain",
            of.disagreements.iter().take(MOST).map(|of| format!("{}: {}, logged {}", code(&of.example), of.expected, of.logged)).collect::<Vec<_>>(),
        ),
        ("Routes without a request", of.unused.iter().take(MOST).map(|part| plain(&unused(part)).into_owned()).collect()),
        ("Limits", notes(of)),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(out, "\n{title}:\n");
            lines.iter().for_each(|line| _ = writeln!(out, "- {line}"));
        }
    }
    out
}

/// The report as one HTML file.
pub fn html(of: &ReplayReport, compares: bool) -> String {
    let simulated = format!("{} simulated{}", number(of.simulated), span(of.first.as_ref(), of.last.as_ref()));
    let mut report = Report::new(&head(of, compares), &simulated);
    let tone = |count: u64| if count == 0 { Tone::Good } else { Tone::Bad };
    let mut numbers = vec![("requests", number(of.requests), Tone::Neutral)];
    if compares {
        numbers.push(("requests that change", number(of.changed), tone(of.changed)));
    }
    numbers.push(("logged answers that the configuration does not explain", number(of.unexplained), tone(of.unexplained)));
    numbers.push(("routes without a request", of.unused.len().to_string(), Tone::Neutral));
    report.numbers(&numbers);
    let text = |text: &str| (text.to_owned(), Vec::new());
    let code = |text: &str| format!("`{}`", text.replace('`', "'"));
    if !of.changes.is_empty() {
        report.heading("Requests that change");
    }
    for (at, change) in of.changes.iter().enumerate() {
        let title = format!("{} ({}), such as {}", requests(change.requests), share(change.requests, of.requests), code(&change.example));
        let since = span(change.first.as_ref(), change.last.as_ref());
        report.group(&title, since.trim_start_matches(", "), Tone::Bad, at == 0, |report| {
            report.paragraph(&format!("Before: {}. After: {}.", change.before, change.after));
            let rows = change.differences.iter().map(|difference| {
                let value = |value: &Option<String>| text(value.as_deref().unwrap_or("nothing"));
                let places = [&difference.before_from, &difference.after_from];
                let places: Vec<String> = places.into_iter().map(|from| place(from.as_ref())).filter(|place| !place.is_empty()).collect();
                vec![(difference.what.to_string(), places), value(&difference.before), value(&difference.after)]
            });
            report.table(&["what", "before", "after"], rows);
        });
    }
    if !of.disagreements.is_empty() {
        report.heading("Logged answers that the configuration does not explain");
        let rows = of
            .disagreements
            .iter()
            .map(|found| vec![text(&number(found.requests)), text(&code(&found.example)), text(&found.expected), text(&found.logged)]);
        report.table(&["requests", "example", "configured: it", "logged"], rows);
    }
    if !of.unused.is_empty() {
        report.heading("Routes without a request");
        report.list(of.unused.iter().map(unused));
    }
    let notes = notes(of);
    if !notes.is_empty() {
        report.heading("Limits");
        report.list(&notes);
    }
    report.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_shares_are_readable() {
        assert_eq!((number(7), number(1234), number(12_413_220)), ("7".into(), "1,234".into(), "12,413,220".into()));
        assert_eq!((share(1, 1_000_000), share(999_999, 1_000_000)), ("<0.1%".into(), ">99.9%".into()));
        assert_eq!((share(987, 1000), share(0, 5), share(5, 5)), ("98.7%".into(), "0%".into(), "100%".into()));
    }
}
