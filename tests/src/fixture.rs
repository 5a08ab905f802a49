//! Runs fixtures: one Markdown file for each feature, which is both a specification and a test.
//!
//! A file has cases. Each case is a run of blocks that begins with ```` ```yaml ````. The info string of `yaml` may contain `gateway` (adds the
//! Listener and Host of `gateway.yaml`) or `cluster` (adds the Services and certificates of `cluster.yaml`), `file=NAME`, and options as
//! [`crate::work::options`] reads them. The blocks after it are the expectations:
//!
//! - ```` ```findings ````: all findings, each `LINE:COLUMN SEVERITY CODE MESSAGE`. `FILE:` comes first for files after
//!   the first one, and `-` replaces the place for findings about the whole. Without this block there must be no findings.
//! - ```` ```check ````: all findings of `chancery check` in the same form, instead of `findings`. A further place follows its finding, indented.
//! - ```` ```envoy ````: places ([`crate::place`]), each followed by the expected JSON ([`crate::show`]), or by `absent`.
//! - ```` ```document POINTER ````: the JSON at this place ([`crate::place::follow`]) of the controller's other outputs, by
//!   the output's name, as in `/status?name=shop/status`.
//! - ```` ```ledger ````: the state of every object of the first file, in order.
//! - ```` ```explain PLACE ````: the origin of the value at the place.
//!
//! Does not contain expectations; see `tests/fixtures`.

use crate::place::{find, follow, is_place, without_own};
use crate::show::{difference, pretty, project};
use crate::work::{Work, inputs, options};
use chancery_core::compilation::Output;
use chancery_core::explain::{Finding, LedgerRow, Span, View, Viewed, explain_pointer, resolve};
use serde_json::Value;
use std::fmt::Write as _;

/// The gateway that `gateway` adds to an input.
pub const GATEWAY: &str = include_str!("../fixtures/ambassador/gateway.yaml");

/// The cluster that `cluster` adds to an input.
pub const CLUSTER: &str = include_str!("../fixtures/contour/cluster.yaml");

/// A piece of a file.
#[derive(Clone, Debug)]
enum Piece {
    Prose(String),
    Block { info: String, body: String },
}

/// The result of running a file.
pub struct Outcome {
    /// The failed expectations, each with the number of its case.
    pub failures: Vec<String>,
    /// The file with all expectations brought up to date.
    pub updated: String,
    /// The number of cases.
    pub cases: usize,
    /// The inputs of the cases that have one file, each with its options, for other suites.
    pub questions: Vec<String>,
}

fn parse(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut prose = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            prose.push_str(line);
            prose.push('\n');
            continue;
        };
        pieces.push(Piece::Prose(std::mem::take(&mut prose)));
        let mut body = String::new();
        for line in lines.by_ref().take_while(|line| *line != "```") {
            body.push_str(line);
            body.push('\n');
        }
        pieces.push(Piece::Block { info: info.to_string(), body });
    }
    pieces.push(Piece::Prose(prose));
    pieces
}

/// The input of a case.
#[derive(Default)]
struct Case {
    files: Vec<(String, String)>,
    options: String,
    /// The added resources and their name.
    beside: Option<(&'static str, &'static str)>,
}

impl Case {
    fn add(&mut self, info: &str, body: &str) {
        let mut name = if self.files.is_empty() { "input.yaml".to_string() } else { format!("input-{}.yaml", self.files.len() + 1) };
        for word in info.split_whitespace().skip(1) {
            match word.split_once('=') {
                Some(("file", file)) => name = file.into(),
                _ if word == "gateway" => self.beside = Some(("gateway.yaml", GATEWAY)),
                _ if word == "cluster" => self.beside = Some(("cluster.yaml", CLUSTER)),
                _ => {
                    self.options.push_str(word);
                    self.options.push(' ');
                }
            }
        }
        self.files.push((name, body.into()));
    }

    fn question(&self) -> Option<String> {
        let [(_, text)] = self.files.as_slice() else { return None };
        let beside = self.beside.map_or("", |(_, text)| text);
        Some(format!("{}\n{text}\n{beside}", self.options))
    }

    fn run(&self) -> Work {
        let options = options(&self.options).unwrap_or_else(|error| panic!("{error}"));
        Work::new(&inputs(self.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).chain(self.beside)), &options)
    }
}

/// Runs a fixture.
pub fn run(text: &str) -> Outcome {
    let mut outcome = Outcome { failures: Vec::new(), updated: String::new(), cases: 0, questions: Vec::new() };
    let pieces = parse(text);
    let is_input = |piece: &Piece| matches!(piece, Piece::Block { info, .. } if info.split_whitespace().next() == Some("yaml"));
    let is_check = |piece: &Piece| matches!(piece, Piece::Block { info, .. } if !info.starts_with("yaml"));
    let mut at = 0;
    while at < pieces.len() {
        if !is_input(&pieces[at]) {
            write_piece(&mut outcome.updated, &pieces[at]);
            at += 1;
            continue;
        }
        // A case has inputs, then checks, up to the next input.
        let mut case = Case::default();
        let mut end = at;
        while end < pieces.len() && !is_check(&pieces[end]) {
            if let (true, Piece::Block { info, body }) = (is_input(&pieces[end]), &pieces[end]) {
                case.add(info, body);
            }
            end += 1;
        }
        let last_input = (at..end).rev().find(|index| is_input(&pieces[*index])).unwrap_or(at);
        while end < pieces.len() && !is_input(&pieces[end]) {
            end += 1;
        }
        outcome.cases += 1;
        outcome.questions.extend(case.question());
        let mut checked = Checked { work: case.run(), envoy: None, failures: Vec::new() };
        let findings = findings_text(&checked.work.findings(), &case);
        let tells = |piece: &Piece| matches!(piece, Piece::Block { info, .. } if ["findings", "check"].contains(&info.as_str()));
        let told = pieces[at..end].iter().any(tells);
        for (index, piece) in pieces.iter().enumerate().take(end).skip(at) {
            match piece {
                Piece::Block { info, body } if !is_input(piece) => {
                    let body = checked.block(info, body, &findings, &case);
                    write_piece(&mut outcome.updated, &Piece::Block { info: info.clone(), body });
                }
                _ => write_piece(&mut outcome.updated, piece),
            }
            if index == last_input && !told && !findings.is_empty() {
                checked.failures.push(format!("missing findings:\n{findings}"));
                outcome.updated.push('\n');
                write_piece(&mut outcome.updated, &Piece::Block { info: "findings".into(), body: findings.clone() });
            }
        }
        let number = outcome.cases;
        outcome.failures.extend(checked.failures.into_iter().map(|failure| format!("case {number}: {failure}")));
        at = end;
    }
    outcome
}

fn write_piece(out: &mut String, piece: &Piece) {
    match piece {
        Piece::Prose(text) => out.push_str(text),
        Piece::Block { info, body } => {
            let _ = write!(out, "```{info}\n{body}```\n");
        }
    }
}

struct Checked {
    work: Work,
    envoy: Option<Value>,
    failures: Vec<String>,
}

impl Checked {
    /// Checks a block. Returns its correct content.
    fn block(&mut self, info: &str, body: &str, findings: &str, case: &Case) -> String {
        let (what, rest) = info.split_once(' ').unwrap_or((info, ""));
        let got = match what {
            "findings" => findings.to_string(),
            "check" => check_text(&case.run().checked_findings(), case),
            "envoy" => return self.envoy_block(body),
            "document" => return self.document_block(rest, body),
            "ledger" => {
                let rows = self.work.ledger();
                rows.iter().filter(|row| row.span.as_ref().is_none_or(|span| span.file == case.files[0].0)).map(ledger_line).collect()
            }
            "explain" => self.explain(rest),
            _ => return body.to_string(),
        };
        if got != body {
            self.failures.push(format!("{info}: expected\n{body}got\n{got}"));
        }
        got
    }

    fn envoy_block(&mut self, body: &str) -> String {
        let envoy = self.envoy.get_or_insert_with(|| {
            let mut envoy = self.work.envoy();
            without_own(&mut envoy);
            envoy
        });
        let mut updated = String::new();
        let mut lines = body.lines().peekable();
        while let Some(words) = lines.next() {
            let _ = writeln!(updated, "{words}");
            if words.trim().is_empty() || words.starts_with('#') {
                continue;
            }
            let mut json = String::new();
            while let Some(line) = lines.next_if(|line| !is_place(line) && !line.starts_with('#')) {
                json.push_str(line);
                json.push('\n');
            }
            let json = json.trim();
            let got = find(envoy, words);
            let expected = match json {
                "absent" => Value::String(crate::show::ABSENT.into()),
                "?" | "" => Value::String("?".into()),
                json => serde_json::from_str(json).unwrap_or_else(|error| panic!("{words}: {error}\n{json}")),
            };
            if let Some(difference) = difference(got.as_ref(), &expected, "") {
                self.failures.push(format!("{words}: at {difference}"));
                let _ = match &got {
                    Some(got) => writeln!(updated, "{}", pretty(&project(Some(got), &expected), 0)),
                    None => writeln!(updated, "absent"),
                };
            } else {
                let _ = writeln!(updated, "{json}");
            }
        }
        updated
    }

    fn document_block(&mut self, pointer: &str, body: &str) -> String {
        let side = self.work.compilation.sides().next().expect("a side");
        let json = |output: &Output| {
            let document = chancery_core::text::to_json(&(output.document)(side)?, false);
            Some((output.name.to_string(), serde_json::from_str(&document).unwrap_or_default()))
        };
        let documents = Value::Object(side.dialect().outputs.iter().filter_map(json).collect());
        let got = follow(&documents, pointer);
        let expected: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{pointer}: {error}\n{body}"));
        let Some(difference) = difference(got, &expected, "") else { return body.to_string() };
        self.failures.push(format!("document {pointer}: at {difference}"));
        format!("{}\n", pretty(&project(got, &expected), 0))
    }

    fn explain(&mut self, asked: &str) -> String {
        let Some(gateway) = self.work.compilation.gateways().next() else { return "no gateway runs\n".into() };
        let positions = self.work.compilation.positions();
        let viewed = Viewed::new(gateway.ir, View::Envoy, self.work.compiler.emitted.of(gateway));
        let Some(pointer) = resolve(&viewed.root, asked).into_iter().next() else { return "no such place\n".into() };
        let explanation = explain_pointer(gateway.named(), &positions, &viewed, &pointer);
        let value = explanation.value.map(|node| chancery_core::text::to_json(&node, false)).unwrap_or_default();
        let mut out = format!("{value}\n");
        for origin in explanation.origins {
            let place = origin.span.map_or_else(|| "-".into(), |span| format!("{}:{}:{}", span.file, span.line, span.column));
            let _ = writeln!(out, "{place} {}", origin.why);
        }
        out
    }
}

fn findings_text(findings: &[Finding], case: &Case) -> String {
    let line = |finding: &Finding| format!("{} {} {} {}\n", place_text(finding.span.as_ref(), case), finding.severity, finding.code, finding.message);
    findings.iter().map(line).collect()
}

/// The findings, each with its further places.
fn check_text(findings: &[Finding], case: &Case) -> String {
    let mut out = String::new();
    for finding in findings {
        out.push_str(&findings_text(std::slice::from_ref(finding), case));
        for related in &finding.related {
            let _ = writeln!(out, "  {} {}", place_text(related.span.as_ref(), case), related.message);
        }
    }
    out
}

fn place_text(span: Option<&Span>, case: &Case) -> String {
    let Some(span) = span else { return "-".into() };
    let file = if span.file == case.files[0].0 { String::new() } else { format!("{}:", span.file) };
    format!("{file}{}:{}", span.line, span.column)
}

fn ledger_line(row: &LedgerRow) -> String {
    let mut line = format!("{}: {}", row.resource, row.state);
    let names = |list: &[chancery_core::explain::ResourceRef]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if !row.with.is_empty() {
        let _ = write!(line, " with {}", names(&row.with));
        if row.with_more > 0 {
            let _ = write!(line, " and {} more", row.with_more);
        }
    }
    if let Some(by) = &row.by {
        let _ = write!(line, " by {by}");
    }
    if !row.into.is_empty() {
        let _ = write!(line, ", {}", row.into.iter().map(|into| into.as_str()).collect::<Vec<_>>().join(", "));
    }
    if let Some(why) = row.why {
        let _ = write!(line, " ({why})");
    }
    if let Some(detail) = &row.detail {
        let _ = write!(line, ": {detail}");
    }
    line.push('\n');
    line
}
