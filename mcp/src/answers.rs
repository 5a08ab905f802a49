//! Writes the answers of tools as short text with file and line. Long answers end with a hint on how to ask for less.
//!
//! Does not read files; see `folders`.

use crate::folders::Compiled;
use chancery_core::compare::{Change, InputChanges, compare_inputs};
use chancery_core::diagnostic::Severity;
use chancery_core::explain::{
    Finding, Focus, LedgerRow, LineReport, OriginView, Span, View, Viewed, explain_line, explain_pointer, findings, graph, ledger, resolve,
    try_request,
};
use chancery_core::simulate::WrittenRequest;
use chancery_core::text::{Node, to_json};
use std::fmt::Write;

/// At most this many bytes are returned.
const MOST_BYTES: usize = 12_000;
/// At most this many places of a document are explained.
const MOST_PLACES: usize = 20;
/// Longer values are cut.
const LONGEST_VALUE: usize = 200;

/// Ends a long answer after a whole line.
pub fn bounded(text: String, hint: &str) -> String {
    if text.len() <= MOST_BYTES {
        return text;
    }
    let mut end = MOST_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text[..end].rfind('\n').unwrap_or(end);
    let left = text[end..].trim().lines().count();
    format!("{}\n... {left} more lines. {hint}", &text[..end])
}

fn place(span: Option<&Span>) -> String {
    span.map(|span| format!("{}:{}", span.file, span.line)).unwrap_or_else(|| "whole input".into())
}

/// Finishes an answer: notes, limits, and no secrets.
fn finished(of: &Compiled, mut text: String, hint: &str) -> String {
    for note in &of.notes {
        let _ = writeln!(text, "Note: {note}");
    }
    for (side, _, failure) in of.compilation.stopped() {
        let _ = writeln!(text, "Note: {} does not start: {}", side.dialect.controller, failure.error);
    }
    bounded(of.compilation.redactor().scrub(&text).into_owned(), hint)
}

/// The findings: at least as severe as `least`, and of one code if it is given.
pub fn check(of: &Compiled, least: Severity, code: Option<&str>) -> String {
    let rank = |severity: Severity| match severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Notice => 2,
    };
    let mut found: Vec<Finding> = findings(&of.compilation, &of.compilation.positions());
    found.retain(|finding| rank(finding.level()) <= rank(least) && code.is_none_or(|code| finding.code == code));
    found.sort_by_key(|finding| rank(finding.level()));
    let mut text = String::new();
    for finding in &found {
        let _ = writeln!(text, "{}: {}[{}]: {}", place(finding.span.as_ref()), finding.severity, finding.code, finding.message);
        if let Some(object) = finding.object.as_ref().or(finding.resource.as_ref()) {
            let field = finding.path.as_ref().map(|path| format!(", {path}")).unwrap_or_default();
            let _ = writeln!(text, "  in {object}{field}");
        }
        for related in finding.related.iter().filter(|related| related.span.is_some()) {
            let _ = writeln!(text, "  see {}: {}", place(related.span.as_ref()), related.message);
        }
        if let Some(help) = &finding.help {
            let _ = writeln!(text, "  help: {help}");
        }
        if let Some(fix) = &finding.fix {
            let _ = writeln!(text, "  certain fix: {}", fix.message);
        }
    }
    let counted = |severity| found.iter().filter(|finding| finding.level() == severity).count();
    let summary = format!(
        "{}, {}, {} in {} of {}\n",
        count(counted(Severity::Error), "error"),
        count(counted(Severity::Warning), "warning"),
        count(counted(Severity::Notice), "notice"),
        count(of.compilation.objects.len(), "object"),
        count(of.compilation.inputs.inputs.len(), "file")
    );
    finished(of, summary + &text, "Ask for one file, one code, or a higher severity")
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn origin_line(origin: &OriginView) -> String {
    match &origin.span {
        Some(span) => format!("{}:{}: {}", span.file, span.line, origin.why),
        None => origin.why.clone(),
    }
}

fn short(value: &Node) -> String {
    cut(&to_json(value, false))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

/// The documents of all gateways.
fn documents(of: &mut Compiled) -> Vec<(chancery_core::compilation::NamedGateway<'_>, Viewed)> {
    let Compiled { compiler, compilation, .. } = of;
    let compilation = &*compilation;
    let mut out = Vec::new();
    for gateway in compilation.gateways() {
        out.push((gateway.named(), Viewed::new(gateway.ir, View::Envoy, compiler.emitted.of(gateway))));
    }
    out.extend(compilation.app_gateways().map(|gateway| (gateway.named, Viewed::app_gateway(gateway.parts))));
    for side in compilation.sides().filter(|side| side.nginxes().next().is_some()) {
        for output in side.dialect().outputs {
            let named = side.nginxes().next().map(|gateway| gateway.named);
            out.extend(named.zip(Viewed::answer(output, side)));
        }
    }
    out
}

/// What a line makes, or what makes a place in the configuration.
///
/// # Errors
///
/// The target does not exist.
pub fn explain(of: &mut Compiled, target: &str) -> Result<String, String> {
    let (mut text, hint) = (String::new(), "Ask for a single line or a longer pointer");
    if let Some((file, line)) = target.rsplit_once(':').and_then(|(file, line)| Some((file.to_string(), line.parse::<u32>().ok()?))) {
        let documents = documents(of);
        let Some((gateway, _)) = documents.first() else { return Err("no gateway runs".into()) };
        let compilation = gateway.of.compilation;
        let positions = compilation.positions();
        let source = positions.source(&file).ok_or_else(|| format!("`{file}` is not part of the input"))?;
        let report = explain_line(compilation, &positions, &documents, source, line, None).ok_or_else(|| format!("`{file}` has no line {line}"))?;
        write_line(&mut text, &report);
        drop(documents);
        return Ok(finished(of, text, hint));
    }
    let documents = documents(of);
    let mut found = 0;
    for (gateway, viewed) in &documents {
        let positions = gateway.of.compilation.positions();
        for pointer in resolve(&viewed.root, target) {
            found += 1;
            if found > MOST_PLACES {
                continue;
            }
            let explanation = explain_pointer(*gateway, &positions, viewed, &pointer);
            let value = explanation.value.as_ref().map(short).unwrap_or_else(|| "not set".into());
            let label = gateway.label().map(|label| format!(" ({label})")).unwrap_or_default();
            let _ = writeln!(text, "{}{label}\n  {pointer} = {value}", explanation.place.join(" > "));
            explanation.origins.iter().for_each(|origin| _ = writeln!(text, "  from {}", origin_line(origin)));
        }
    }
    drop(documents);
    if found == 0 {
        return Err(format!("nothing in the configuration is called `{target}`; use FILE:LINE, a JSON pointer, or words such as `route/timeout`"));
    }
    if found > MOST_PLACES {
        let _ = writeln!(text, "... {} more places", found - MOST_PLACES);
    }
    Ok(finished(of, text, hint))
}

fn write_line(text: &mut String, report: &LineReport) {
    let _ = writeln!(text, "{}:{}: {}", report.file, report.line, report.text.trim());
    if let Some(resource) = &report.resource {
        let _ = writeln!(text, "{resource}{}", if report.fields.is_empty() { String::new() } else { format!(": {}", report.fields.join(", ")) });
    }
    if let Some(row) = &report.ledger {
        let _ = writeln!(text, "{}{}", row.state, row.outcome());
    }
    let what = if report.whole { "The line alone makes nothing. The object makes:" } else { "The line makes:" };
    if !report.made.is_empty() {
        let _ = writeln!(text, "{what}");
    }
    for made in &report.made {
        let value = made.value.as_ref().map(|value| format!(" = {}", short(value))).unwrap_or_default();
        let gateway = made.gateway.as_ref().map(|gateway| format!(" ({gateway})")).unwrap_or_default();
        let _ = writeln!(text, "  {}{value}{gateway}", made.place.join(" > "));
        for origin in made.origins.iter().filter(|origin| origin.span.as_ref().is_some_and(|span| span.line != report.line)).take(3) {
            let _ = writeln!(text, "    from {}", origin_line(origin));
        }
    }
    for finding in &report.findings {
        let _ = writeln!(text, "{}[{}]: {}", finding.severity, finding.code, finding.message);
    }
}

/// What happens to a request.
///
/// # Errors
///
/// The request is invalid, or no gateway runs.
pub fn route(of: &mut Compiled, request: &WrittenRequest) -> Result<String, String> {
    let Compiled { compiler, compilation, .. } = of;
    let trials = try_request(compilation, &compilation.positions(), request, &mut compiler.emitted)?;
    if trials.is_empty() {
        return Err("no gateway runs, so that no request is answered; `check` says why".into());
    }
    let mut text = String::new();
    let method = if request.method.is_empty() { "GET" } else { &request.method };
    for trial in &trials {
        let gateway = trial.gateway.as_ref().map(|gateway| format!("{gateway}: ")).unwrap_or_default();
        let _ = writeln!(text, "{gateway}{method} {} {}", request.url, trial.result);
        trial.lines.iter().for_each(|line| _ = writeln!(text, "  {}: {}:{}", line.of, line.span.file, line.span.line));
        trial.notes.iter().for_each(|note| _ = writeln!(text, "  note: {note}"));
    }
    Ok(finished(of, text, "Ask for a part of the folder"))
}

/// What happened to each object, of one kind or name if it is given.
pub fn ledger_of(of: &Compiled, kind: Option<&str>, name: Option<&str>) -> String {
    let rows: Vec<LedgerRow> = ledger(&of.compilation, &of.compilation.positions());
    let mut text = String::new();
    let is_asked =
        |row: &&LedgerRow| kind.is_none_or(|kind| row.resource.kind.eq_ignore_ascii_case(kind)) && name.is_none_or(|name| row.resource.name == name);
    for row in rows.iter().filter(is_asked) {
        let dialect = row.dialect.map(|dialect| format!(" ({dialect})")).unwrap_or_default();
        let _ = writeln!(text, "{}: {}{dialect}: {}{}", place(row.span.as_ref()), row.resource, row.state, row.outcome());
    }
    if text.is_empty() {
        text.push_str("No such object\n");
    }
    finished(of, text, "Ask for one kind or one name")
}

/// What refers to what, around a node if it is given.
///
/// # Errors
///
/// The node does not exist.
pub fn graph_of(of: &Compiled, from: Option<&str>, depth: Option<u32>) -> Result<String, String> {
    let mut graph = graph(&of.compilation, &of.compilation.positions());
    let ids: Vec<String> = from.iter().flat_map(|name| graph.named(name).into_iter().map(|node| node.id.to_string())).collect();
    if let (Some(name), true) = (from, ids.is_empty()) {
        return Err(format!("there is no `{name}` in the graph"));
    }
    Focus { from: ids, depth, written_only: true, ..Focus::default() }.apply(&mut graph);
    let label = |id: &str| {
        let node = graph.nodes.iter().find(|node| node.id == id);
        let name = node.and_then(|node| node.resource.as_ref().map(ToString::to_string).or_else(|| Some(node.label.lines().next()?.to_string())));
        let kind = node.filter(|node| node.resource.is_none()).map(|node| format!("{} ", node.kind.name().replace('_', " "))).unwrap_or_default();
        let missing = node.and_then(|node| node.reason.as_ref()).map(|reason| format!(" [{reason}]")).unwrap_or_default();
        format!("{kind}{}{missing}", name.unwrap_or_default())
    };
    let mut text = format!("{} nodes, {} edges\n", graph.nodes.len(), graph.edges.len());
    for edge in &graph.edges {
        let field = edge.at.as_ref().map(|at| format!(" ({}, {})", at.path.clone().unwrap_or_default(), place(at.span.as_ref()))).unwrap_or_default();
        let _ = writeln!(text, "{} {} {}{field}", label(&edge.from), edge.relation.verb(), label(&edge.to));
    }
    Ok(finished(of, text, "Ask with `from` for a part around one object"))
}

/// Lists the differences from an earlier state.
pub fn diff(before: &mut Compiled, after: &mut Compiled, revision: &str) -> String {
    let changes = compare_inputs((&before.compilation, &mut before.compiler.emitted), (&after.compilation, &mut after.compiler.emitted));
    let mut text = String::new();
    if changes.is_empty() {
        let _ = writeln!(text, "Nothing differs from {revision}");
    } else {
        write_changes(&mut text, &changes);
    }
    let text = before.compilation.redactor().scrub(&text).into_owned();
    finished(after, text, "Ask for a part of the folder")
}

fn write_changes(text: &mut String, changes: &InputChanges) {
    if !changes.resources.is_empty() {
        let _ = writeln!(text, "Resources:");
        changes.resources.iter().for_each(|change| write_change(text, change));
    }
    for gateway in &changes.gateways {
        let _ = writeln!(text, "Gateway {}: {}", gateway.gateway, if gateway.state == "compared" { "changed" } else { gateway.state });
        for change in &gateway.requests {
            let _ = writeln!(text, "  requests {}: {} before, {} now", change.requests, change.before.summary, change.after.summary);
        }
        gateway.parts.iter().for_each(|change| write_change(text, change));
        gateway.limits.iter().for_each(|limit| _ = writeln!(text, "  limit: {limit}"));
    }
}

fn write_change(text: &mut String, change: &Change) {
    let origin = change.after.iter().chain(&change.before).find_map(|origin| origin.span.as_ref());
    let origin = origin.map(|span| format!(" ({}:{})", span.file, span.line)).unwrap_or_default();
    let _ = writeln!(text, "  {} {} {}{origin}", change.change.name(), change.kind, change.name);
    for field in change.fields.iter().take(12) {
        let value = |value: Option<&String>| value.map_or_else(|| "not set".into(), |value| cut(value));
        let _ = writeln!(text, "    {}: {} -> {}", field.path, value(field.before.as_ref()), value(field.after.as_ref()));
    }
    if change.fields.len() > 12 {
        let _ = writeln!(text, "    ... {} more fields", change.fields.len() - 12);
    }
}
