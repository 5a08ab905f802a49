//! Writes the differences between two controllers: for a terminal, Markdown, HTML, JUnit, SARIF, GitHub workflow commands.
//!
//! Does not compare; see `chancery_core::explain::migration`.

use crate::check::github::{data, property};
use crate::check::sarif;
use crate::html::{Report, Tone};
use crate::output::scrub;
use crate::style::{Style, count, plain};
use chancery_core::explain::migration::{CauseGroup, MigrationDiff, MigrationRow, SideAnswer};
use chancery_core::text::markup::escaped;
use serde_json::{Value, json};
use std::fmt::Write;

/// The names of the two controllers.
pub struct Names {
    pub before: &'static str,
    pub after: &'static str,
}

/// At most this many rows of one cause are shown in a terminal.
const MOST_SHORT: usize = 12;
/// At most this many rows of one cause are shown in other formats.
const MOST: usize = 500;

fn lines_of(side: &SideAnswer) -> Vec<String> {
    side.lines.iter().filter_map(|line| line.span.as_ref()).map(|span| format!("{}:{}", span.file, span.line)).collect()
}

fn open_rows(group: &CauseGroup) -> usize {
    group.rows.iter().filter(|row| row.accepted.is_none()).count()
}

fn totals(of: &MigrationDiff) -> (usize, usize) {
    let accepted = of.causes.iter().flat_map(|cause| &cause.rows).filter(|row| row.accepted.is_some()).count();
    (of.open().count(), accepted)
}

fn summary(of: &MigrationDiff, names: &Names) -> String {
    let (open, accepted) = totals(of);
    let accepted = if accepted > 0 { format!(", {accepted} accepted") } else { String::new() };
    format!(
        "{}{accepted}; {} tried on {} and {}, {} treated alike",
        count(open, "difference"),
        count(of.compared, "request"),
        names.before,
        names.after,
        of.same
    )
}

/// The report for a terminal. `elsewhere` names the output with all rows, as the subject of a sentence.
pub fn human(of: &MigrationDiff, names: &Names, elsewhere: &str, style: &Style) -> String {
    let mut out = format!("{}\n", style.bold(plain(&summary(of, names))));
    for group in &of.causes {
        let open: Vec<&MigrationRow> = group.rows.iter().filter(|row| row.accepted.is_none()).collect();
        if open.is_empty() {
            continue;
        }
        let title = style.heading(plain(&format!("{} [{}]", group.title, group.rule)));
        let _ = writeln!(out, "\n{title}  {}", style.dim(size(group)));
        let _ = writeln!(out, "  {}", style.dim(plain(group.why)));
        open.iter().take(MOST_SHORT).for_each(|row| human_row(&mut out, row, names, style));
        if open.len() > MOST_SHORT {
            let _ = writeln!(out, "  {}", style.dim(format!("and {}; {elsewhere} shows them", count(open.len() - MOST_SHORT, "more difference"))));
        }
        let _ = writeln!(out, "  {} {}", style.green("fix:"), plain(group.fix));
    }
    human_accepted(&mut out, of, style);
    let _ = writeln!(out, "\n{}", style.bold("Not compared"));
    for sentence in &of.not_compared {
        let _ = writeln!(out, "  {}", style.dim(plain(sentence)));
    }
    out
}

/// Writes accepted differences, one line for each rule and reason.
fn human_accepted(out: &mut String, of: &MigrationDiff, style: &Style) {
    let mut lines: Vec<(&str, &str, Vec<&MigrationRow>)> = Vec::new();
    for group in &of.causes {
        for row in &group.rows {
            let Some(reason) = row.accepted.as_deref() else { continue };
            match lines.iter_mut().find(|(rule, known, _)| (*rule, *known) == (group.rule, reason)) {
                Some((.., rows)) => rows.push(row),
                None => lines.push((group.rule, reason, Vec::from([row]))),
            }
        }
    }
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", style.bold("Accepted"));
    for (rule, reason, rows) in lines {
        let _ = writeln!(out, "  {} {} {}", style.green("✓"), plain(&format!("[{rule}] {reason}:")), style.dim(count(rows.len(), "difference")));
        if let Some(first) = rows.first() {
            let more = if rows.len() > 1 { format!(" and {} more", rows.len() - 1) } else { String::new() };
            let _ = writeln!(out, "      {}", style.dim(plain(&format!("{}{more}", first.sentence))));
        }
    }
}

fn human_row(out: &mut String, row: &MigrationRow, names: &Names, style: &Style) {
    let _ = writeln!(out, "  {} {}", style.red("✗"), plain(&row.sentence));
    for (name, side) in [(names.before, &row.before), (names.after, &row.after)] {
        let lines = lines_of(side);
        if !lines.is_empty() {
            let _ = writeln!(out, "      {}", style.dim(plain(&format!("{name}: {}", lines.join(", ")))));
        }
    }
    let others: Vec<&str> = row.requests.iter().skip(1).take(3).map(|request| request.words.as_str()).collect();
    let hidden = row.more + row.requests.len().saturating_sub(1 + others.len());
    if !others.is_empty() {
        let more = if hidden > 0 { format!(", and {hidden} more") } else { String::new() };
        let _ = writeln!(out, "      {}", style.dim(plain(&format!("also {}{more}", others.join(", ")))));
    }
}

/// The differences of a cause, accepted ones last.
fn open_first(group: &CauseGroup) -> Vec<&MigrationRow> {
    let mut rows: Vec<&MigrationRow> = group.rows.iter().collect();
    rows.sort_by_key(|row| row.accepted.is_some());
    rows
}

/// A cell of a Markdown table. Redacts before it escapes.
fn cell(text: &str) -> String {
    plain(&scrub(text)).replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}

/// The report for a pull request.
pub fn markdown(of: &MigrationDiff, names: &Names) -> String {
    let mut out = format!("## {}\n", cell(&summary(of, names)));
    for group in &of.causes {
        let _ = writeln!(out, "\n### {} (`{}`, {})\n\n{} {}.\n", group.title, group.rule, size(group), cell(group.why), cell(group.fix));
        let _ = writeln!(out, "| request | what | {} | {} | accepted |\n|---|---|---|---|---|", cell(names.before), cell(names.after));
        for row in open_first(group).into_iter().take(MOST) {
            let more = row.more + row.requests.len().saturating_sub(1);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let first = cell(subject(row)).replace('`', "'");
            let side = |side: &SideAnswer| {
                let lines = lines_of(side);
                let at = if lines.is_empty() { String::new() } else { format!(" at {}", cell(&lines.join(", "))) };
                format!("`{}`{at}", cell(&side.value).replace('`', "'"))
            };
            let accepted = row.accepted.as_deref().map(cell).unwrap_or_default();
            let _ = writeln!(out, "| `{first}`{more} | {} | {} | {} | {accepted} |", cell(&row.what), side(&row.before), side(&row.after));
        }
        if group.rows.len() > MOST {
            let _ = writeln!(out, "\n... and {} more.", group.rows.len() - MOST);
        }
    }
    out.push_str("\n### Not compared\n\n");
    of.not_compared.iter().for_each(|sentence| _ = writeln!(out, "- {}", cell(sentence)));
    out
}

/// The report as one HTML file.
pub fn html(of: &MigrationDiff, names: &Names) -> String {
    let (open, accepted) = totals(of);
    let title = format!("From {} to {}", names.before, names.after);
    let mut report =
        Report::new(&title, "Which requests are answered differently after the change, and why. Nothing was sent: both sides were simulated.");
    let tone = if open == 0 { Tone::Good } else { Tone::Bad };
    report.numbers(&[
        ("differences", open.to_string(), tone),
        ("accepted differences", accepted.to_string(), Tone::Neutral),
        ("requests treated alike", of.same.to_string(), Tone::Good),
        ("requests tried", of.compared.to_string(), Tone::Neutral),
    ]);
    report.heading("Differences by cause");
    if of.causes.is_empty() {
        report.paragraph("No request that was tried is treated differently.");
    }
    for group in &of.causes {
        let open = open_rows(group);
        let tone = if open == 0 { Tone::Neutral } else { Tone::Bad };
        report.group(group.title, &format!("{} ({})", size(group), group.rule), tone, false, |report| cause(report, group, names));
    }
    report.heading("Same");
    report.group("Hosts, and how many of their requests are treated alike", &of.same.to_string(), Tone::Good, false, |report| {
        let rows =
            of.same_hosts.iter().map(|host| vec![(host.host.clone(), Vec::new()), (format!("{} of {}", host.same, host.compared), Vec::new())]);
        report.table(&["host", "alike"], rows);
    });
    report.heading("Not compared");
    report.list(&of.not_compared);
    report.finish()
}

fn cause(report: &mut Report, group: &CauseGroup, names: &Names) {
    report.paragraph(group.why);
    report.paragraph(&format!("To remove the difference: {}.", group.fix));
    let rows = open_first(group).into_iter().take(MOST).map(|row| {
        let mut requests: Vec<String> = row.requests.iter().skip(1).map(|request| request.words.clone()).collect();
        if row.more > 0 {
            requests.push(format!("and {} more", row.more));
        }
        let side = |side: &SideAnswer| {
            let value = if row.what == "answer" { side.answer.clone() } else { side.value.clone() };
            let mut places = lines_of(side);
            if let Some(rule) = &side.rule {
                places.insert(0, rule.clone());
            }
            (format!("`{}`", value.replace('`', "'")), places)
        };
        let first = subject(row);
        let because = match &row.accepted {
            Some(reason) => format!("accepted: {reason}"),
            None => row.because.clone(),
        };
        vec![
            (format!("`{}`", first.replace('`', "'")), requests),
            (row.what.clone(), Vec::new()),
            side(&row.before),
            side(&row.after),
            (because, Vec::new()),
        ]
    });
    report.table(&["request", "what", names.before, names.after, "why"], rows);
    if group.rows.len() > MOST {
        report.paragraph(&format!("{} more are in the JSON output.", group.rows.len() - MOST));
    }
}

/// The report as JUnit's XML: one suite for each cause, one case for each difference.
pub fn junit(of: &MigrationDiff) -> String {
    let (open, accepted) = totals(of);
    let text = |text: &str| escaped(&plain(&scrub(text)));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"chancery\" tests=\"{}\" failures=\"{open}\" errors=\"0\">", open + accepted + 1);
    let _ = writeln!(out, "  <testsuite name=\"same\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\">");
    let _ = writeln!(out, "    <testcase classname=\"same\" name=\"{} treated alike\"/>\n  </testsuite>", count(of.same, "request"));
    for group in &of.causes {
        let (failures, all) = (open_rows(group), group.rows.len());
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{all}\" failures=\"{failures}\" errors=\"0\" skipped=\"{}\">",
            group.rule,
            all - failures
        );
        for row in &group.rows {
            let name = format!("{}: {}", subject(row), row.what);
            let _ = writeln!(out, "    <testcase classname=\"{}\" name=\"{}\">", group.rule, text(&name));
            match &row.accepted {
                Some(reason) => _ = writeln!(out, "      <skipped message=\"accepted: {}\"/>", text(reason)),
                None => {
                    let message = text(&row.sentence);
                    let _ = writeln!(
                        out,
                        "      <failure type=\"{}\" message=\"{message}\">{}</failure>",
                        group.rule,
                        text(&format!("{}\nfix: {}", row.sentence, row.fix))
                    );
                }
            }
            out.push_str("    </testcase>\n");
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

/// The differences that are not accepted as SARIF.
pub fn sarif(of: &MigrationDiff) -> Value {
    let rules: Vec<Value> = of.causes.iter().map(|group| json!({ "id": group.rule, "shortDescription": { "text": group.title } })).collect();
    let mut results = Vec::new();
    for group in &of.causes {
        for row in group.rows.iter().filter(|row| row.accepted.is_none()) {
            let span = row.after.lines.iter().chain(&row.before.lines).find_map(|line| line.span.as_ref());
            let locations: Vec<Value> = span.map(sarif::physical).into_iter().collect();
            results.push(json!({ "ruleId": group.rule, "level": "warning", "message": { "text": row.sentence }, "locations": locations }));
        }
    }
    sarif::log(&rules, &results)
}

/// The same as commands of GitHub's workflows.
pub fn github(of: &MigrationDiff) -> String {
    let mut out = String::new();
    for row in of.open() {
        let span = row.after.lines.iter().chain(&row.before.lines).find_map(|line| line.span.as_ref());
        let place = span.map(|span| format!(" file={},line={},endLine={}", property(&span.file), span.line, span.end_line));
        let _ = writeln!(out, "::warning{}::{}", place.unwrap_or_default(), data(&row.sentence));
    }
    out
}

/// How many requests differ for a cause, or how many parts no request reaches.
fn size(group: &CauseGroup) -> String {
    if group.requests == 0 { count(group.rows.len(), "part") } else { count(group.requests, "request") }
}

/// The first request of a row, or the part that no request reaches.
fn subject(row: &MigrationRow) -> &str {
    row.requests.first().map_or(&row.before.value, |request| &request.words)
}
