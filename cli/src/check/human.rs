//! Findings as human-readable text: the sentence, the lines, and possible fixes.
//!
//! Does not word findings; all sentences except the summary come from the core.

use crate::style::{SHOWN_PLACES, Style, count, plain};
use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Origin, Patch, Renderer, Snippet};
use chancery_core::compilation::Compilation;
use chancery_core::diagnostic::{Severity, codes};
use chancery_core::explain::{EditView, Finding, Positions, Span, group_findings};
use chancery_core::text::{TextRange, series};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Places that are at most this many lines apart share an excerpt.
const NEAR_LINES: u32 = 8;
/// Edits of one fix that are shown.
const SHOWN_EDITS: usize = 3;

/// How much of a report is written.
#[derive(Clone, Copy)]
pub struct Extent {
    /// Whether the summary is left out.
    pub quiet: bool,
    /// Whether every place of a finding is shown.
    pub all: bool,
}

/// The whole report. `hidden` are the findings that the options hide.
pub fn report(
    findings: &[Finding],
    hidden: &[Finding],
    compilation: &Compilation,
    positions: &Positions<'_>,
    Extent { quiet, all }: Extent,
    style: &Style,
) -> String {
    let excerpts = Excerpts::new(positions, style);
    let mut out = String::new();
    // Values that never have an effect, such as the weight of an only backend, need no attention.
    let is_inert = |finding: &Finding| !all && finding.code == codes::INERT_FIELD.name && finding.level() == Severity::Notice;
    let (inert, shown): (Vec<Finding>, Vec<Finding>) = findings.iter().cloned().partition(is_inert);
    let (assumed, shown) = if all { (Vec::new(), shown) } else { assumed_groups(shown) };
    for group in group_findings(&shown) {
        let findings = &shown;
        let members: Vec<&Finding> =
            [group.first].iter().chain(&group.others).chain(&group.consequences).filter_map(|at| findings.get(*at)).collect();
        let shown = if all || group.others.len() < SHOWN_PLACES { members.len() } else { SHOWN_PLACES };
        for finding in members.iter().take(shown) {
            out.push_str(&excerpts.finding(finding));
            out.push_str("\n\n");
        }
        let rest = (group.others.len() + 1).saturating_sub(shown);
        if rest > 0 {
            let fixes = members.iter().skip(shown).take(rest).filter(|finding| finding.fix.is_some()).count();
            let fix = if fixes == rest { "; `--fix` fixes all of them" } else { "" };
            let _ = writeln!(out, "{}\n", style.dim(format!("the same at {}; `--all` shows them{fix}", count(rest, "more place"))));
            for finding in members.iter().skip(group.others.len() + 1) {
                out.push_str(&excerpts.finding(finding));
                out.push_str("\n\n");
            }
        }
    }
    for group in &assumed {
        out.push_str(&folded(group, style));
    }
    if !inert.is_empty() {
        let about = if inert.len() == 1 { "1 notice is".to_owned() } else { format!("{} notices are", inert.len()) };
        let _ = writeln!(out, "{}\n", style.dim(format!("{about} about fields that never change what the gateway does; `--all` shows them")));
    }
    if !quiet {
        summary(&mut out, findings, hidden, compilation, style);
    }
    out
}

/// Takes the notices of assumed objects out of the findings if one kind has many of them. Returns these notices by kind, and the other findings.
fn assumed_groups(findings: Vec<Finding>) -> (Vec<Vec<Finding>>, Vec<Finding>) {
    let kind = |finding: &Finding| {
        let is_one = [codes::ASSUMED_OBJECT.name, codes::ASSUMED_SECRET.name].contains(&finding.code) && finding.level() == Severity::Notice;
        let (before, behind) = finding.message.split_once('`').filter(|_| is_one)?;
        // The last words say whether the object is assumed, or what creates it.
        let end: Vec<&str> = behind.rsplit(' ').take(2).collect();
        Some((finding.code, format!("{before}{}", end.join(" "))))
    };
    let mut groups: BTreeMap<(&str, String), Vec<Finding>> = BTreeMap::new();
    for finding in &findings {
        if let Some(kind) = kind(finding) {
            groups.entry(kind).or_default().push(finding.clone());
        }
    }
    groups.retain(|_, group| group.len() > SHOWN_PLACES);
    let others = findings.into_iter().filter(|finding| kind(finding).is_none_or(|kind| !groups.contains_key(&kind))).collect();
    (groups.into_values().collect(), others)
}

/// Writes notices of one kind as one line.
fn folded(group: &[Finding], style: &Style) -> String {
    let Some(first) = group.first() else { return String::new() };
    let names: Vec<&str> = group.iter().skip(1).filter_map(|finding| finding.message.split('`').nth(1)).collect();
    let shown: Vec<String> = names.iter().take(SHOWN_PLACES - 1).map(|name| format!("`{name}`")).collect();
    let more = names.len() - shown.len();
    let title = style.cyan(format!("notice[{}]", first.code));
    let behind = |finding: &Finding| finding.message.split_once('`').and_then(|(_, rest)| rest.split_once('`')).map(|(_, behind)| behind.to_owned());
    let are_equal = group.iter().all(|finding| behind(finding) == behind(first));
    let words = if are_equal { "the same for" } else { "likewise" };
    let rest = style.dim(format!("{words} {} and {more} more; `--all` shows them", plain(&shown.join(", "))));
    format!("{title}: {}; {rest}\n\n", plain(&first.message))
}

/// How many findings there are, by severity.
fn counted(findings: &[Finding], style: &Style) -> String {
    let number = |severity| findings.iter().filter(|finding| finding.level() == severity).count();
    let [errors, warnings, notices] = [Severity::Error, Severity::Warning, Severity::Notice].map(number);
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(style.red(count(errors, "error")));
    }
    if warnings > 0 {
        parts.push(style.yellow(count(warnings, "warning")));
    }
    if notices > 0 {
        parts.push(style.cyan(count(notices, "notice")));
    }
    series(&parts)
}

fn summary(out: &mut String, findings: &[Finding], hidden: &[Finding], compilation: &Compilation, style: &Style) {
    let files: BTreeSet<_> = findings.iter().filter_map(|finding| finding.span.as_ref()).map(|span| span.source).collect();
    let read = format!("{} in {}", count(compilation.objects.len(), "resource"), count(compilation.inputs.inputs.len(), "file"));
    if findings.is_empty() {
        let result = match hidden {
            [] => style.green("Nothing found"),
            _ => format!("All findings are left out by `--at-least` or `--namespace`: {}", counted(hidden, style)),
        };
        let _ = writeln!(out, "{result} ({read})");
        return;
    }
    let found = counted(findings, style);
    let place = if files.len() > 1 { format!(" in {}", count(files.len(), "file")) } else { String::new() };
    let _ = writeln!(out, "{} {found}{place} ({read})", style.bold("Found"));
    let mut codes: Vec<&str> = findings.iter().filter(|finding| finding.level() != Severity::Notice).map(|finding| finding.code).collect();
    codes.dedup();
    if let Some(code) = codes.first() {
        let _ = writeln!(out, "{}", style.dim(format!("`chancery codes {code}` explains the code")));
    }
    if !hidden.is_empty() {
        let _ = writeln!(out, "{} left out by `--at-least` or `--namespace`", counted(hidden, style));
    }
}

/// Draws findings and places with the lines around them.
pub struct Excerpts<'a> {
    positions: &'a Positions<'a>,
    renderer: Renderer,
}

struct Mark<'m> {
    span: &'m Span,
    label: &'m str,
    primary: bool,
}

impl<'a> Excerpts<'a> {
    /// For these inputs.
    pub fn new(positions: &'a Positions<'a>, style: &Style) -> Self {
        let renderer = if style.on { Renderer::styled() } else { Renderer::plain() };
        Self { positions, renderer: renderer.term_width(style.width) }
    }

    /// Draws a finding, without a line end after it.
    pub fn finding(&self, finding: &Finding) -> String {
        let level = match finding.level() {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Notice => Level::NOTE.with_name("notice"),
        };
        let mut marks: Vec<Mark<'_>> = Vec::new();
        if let Some(span) = &finding.span {
            marks.push(Mark { span, label: "", primary: true });
        }
        let mut loose = Vec::new();
        let mut hidden = 0_usize;
        for related in &finding.related {
            let alike = || marks.iter().filter(|mark| mark.label == related.message);
            let is_shown = |span: &Span| alike().any(|mark| (mark.span.source, mark.span.line) == (span.source, span.line));
            let (is_known, count) = (related.span.as_ref().is_some_and(is_shown), alike().count());
            match &related.span {
                Some(_) if is_known => {}
                Some(_) if count >= SHOWN_PLACES => hidden += 1,
                Some(span) => marks.push(Mark { span, label: &related.message, primary: false }),
                None => loose.push(&related.message),
            }
        }
        let mut main = level.primary_title(plain(&finding.message)).id(finding.code).elements(self.elements(&marks));
        if let Some(object) = finding.object.as_ref().or(finding.resource.as_ref()) {
            let field = finding.path.as_ref().filter(|path| !matches!(path.as_str(), "spec" | "metadata.name"));
            let field = field.map(|path| format!(", `{path}`")).unwrap_or_default();
            // The controller's interpretation of the object.
            let made = finding.resource.as_ref().filter(|resource| *resource != object).map(|made| format!(" ({made})")).unwrap_or_default();
            main = main.element(Level::NOTE.with_name("in").message(plain(&format!("{object}{field}{made}")).into_owned()));
        }
        for message in loose {
            main = main.element(Level::NOTE.message(plain(message)));
        }
        if hidden > 0 {
            main = main.element(Level::NOTE.message(format!("the same applies to {}; `--format json` lists them", count(hidden, "more place"))));
        }
        if let Some(help) = &finding.help {
            main = main.element(Level::HELP.message(plain(help)));
        }
        let mut groups = vec![main];
        groups.extend(self.fix(finding));
        self.renderer.render(&groups).trim_end().to_string()
    }

    /// Draws a place with its lines, without a message.
    pub fn place(&self, span: &Span) -> String {
        let group = Group::with_level(Level::NOTE).elements(self.elements(&[Mark { span, label: "", primary: true }]));
        self.renderer.render(&[group]).trim_end().to_string()
    }

    fn fix(&self, finding: &Finding) -> Option<Group<'a>> {
        let fix = finding.fix.as_ref()?;
        let title = Level::HELP.secondary_title(plain(&fix.message).into_owned());
        // `--fix --diff` shows many edits.
        let snippets: Option<Vec<_>> = fix.edits().take(SHOWN_EDITS).map(|edit| self.edit(edit)).collect();
        Some(title.elements(snippets?))
    }

    fn edit(&self, edit: &EditView) -> Option<Element<'a>> {
        let excerpt = self.positions.excerpt(edit.span.source, edit.span.range(), 0)?;
        let range = within(edit.span.range(), excerpt.offset, excerpt.text.len());
        let snippet = Snippet::source(excerpt.text).line_start(excerpt.line as usize).path(plain(&edit.span.file).into_owned());
        Some(snippet.patch(Patch::new(range, plain(&edit.replacement).into_owned())).into())
    }

    fn elements(&self, marks: &[Mark<'_>]) -> Vec<Element<'a>> {
        let mut left: Vec<&Mark<'_>> = marks.iter().collect();
        let mut elements = Vec::new();
        while !left.is_empty() {
            let first = left.remove(0);
            let mut together = vec![first];
            let near = |a: &Span, b: &Span| a.source == b.source && a.line.abs_diff(b.line) <= NEAR_LINES;
            left.retain(|mark| {
                let joins = near(mark.span, first.span);
                if joins {
                    together.push(mark);
                }
                !joins
            });
            elements.push(self.element(&together));
        }
        elements
    }

    /// Marks that are near each other.
    fn element(&self, marks: &[&Mark<'_>]) -> Element<'a> {
        let first = marks[0].span;
        let whole = marks.iter().map(|mark| first_lines(mark.span, self.positions)).reduce(TextRange::join).unwrap_or_default();
        let Some(mut excerpt) = self.positions.excerpt(first.source, whole, 1) else {
            let origin = Origin::path(plain(&first.file).into_owned()).line(first.line as usize).char_column(first.column as usize);
            return origin.into();
        };
        // Surrounding lines without a mark.
        while excerpt.text.starts_with(['\n', '\r']) || excerpt.text.starts_with("---") {
            let end = excerpt.text.find('\n').map_or(excerpt.text.len(), |at| at + 1);
            if excerpt.offset + end as u32 > whole.start {
                break;
            }
            excerpt.text.drain(..end);
            excerpt.offset += end as u32;
            excerpt.line += 1;
        }
        let last_needed = (whole.end.saturating_sub(excerpt.offset)) as usize;
        let tail = excerpt.text.trim_end().len();
        let tail = excerpt.text[..tail].strip_suffix("\n---").map_or(tail, str::len).max(last_needed.min(excerpt.text.len()));
        excerpt.text.truncate(excerpt.text.ceil_char_boundary(tail));
        let annotations: Vec<Annotation<'a>> = marks
            .iter()
            .map(|mark| {
                let range = within(first_lines(mark.span, self.positions), excerpt.offset, excerpt.text.len());
                let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
                let label = (!mark.label.is_empty()).then(|| plain(mark.label).into_owned());
                kind.span(range).label(label)
            })
            .collect();
        let snippet = Snippet::source(excerpt.text).line_start(excerpt.line as usize).path(plain(&first.file).into_owned()).fold(marks.len() > 1);
        snippet.annotations(annotations).into()
    }
}

/// Returns the underlined part of a span: all of it up to a few lines, else its first line.
fn first_lines(span: &Span, positions: &Positions<'_>) -> TextRange {
    let range = span.range();
    if span.end_line - span.line <= 3 {
        return range;
    }
    positions.first_line(span.source, range)
}

fn within(range: TextRange, offset: u32, len: usize) -> std::ops::Range<usize> {
    let at = |point: u32| (point.saturating_sub(offset) as usize).min(len);
    at(range.start)..at(range.end)
}
