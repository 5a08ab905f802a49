//! Reads one document: by the fast reader if it is sure, or else by the full YAML parser, whose events become a tree here. Does not resolve scalars
//! (see `scalar`), build trees (see `build`), or phrase syntax problems (see `problem_words`).

use alloc::{borrow::Cow, format, string::String};

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, Tag};

use super::{
    Document, Limits, Problem, ProblemKind, Str, TextRange, Value,
    build::{Builder, Expects, Stop},
    fast, hcl,
    json_comments::Uncommented,
    place, problem_words,
    repair::{self, MAX_PATCHES, Patch, Patched},
    scalar,
};

/// Reads one document, such as a chunk that [`split`](super::split()) found. Never fails: what could be read is there, what could not is a
/// problem.
///
/// ```
/// use chancery_text::{Limits, Node, parse};
///
/// let text = "service: quote # the one in the cluster\nweight: [10, 90]\n";
/// let document = parse(text, &Limits::default());
/// let root = document.root.as_ref().expect("a value");
/// let service = root.get("service").expect("the field");
/// assert_eq!(service.as_str(), Some("quote"));
/// assert_eq!(document.spans.get(service.id).expect("a place").value.slice(text), "quote");
/// assert!(!document.is_broken());
/// ```
pub fn parse(text: &str, limits: &Limits) -> Document {
    if text.len() > limits.max_bytes as usize {
        let mut builder = Builder::new(limits, "");
        let message = format!("the document has {} bytes; more than {} are not read", text.len(), limits.max_bytes);
        builder.problem(ProblemKind::TooLarge, TextRange::empty(0), message);
        return builder.finish();
    }
    if hcl::is_hcl(text) {
        return hcl::parse(text, limits);
    }
    let read = |text: &str| fast::parse(text, limits).unwrap_or_else(|| parse_yaml(text, limits));
    match Uncommented::of(text) {
        Some(json) => {
            let document = read(&json.text);
            json.document(document)
        }
        None => read(text),
    }
}

/// Reads one document by the full parser alone, as [`parse`] does if its fast reader gives up. Tests compare the fast reader with it.
#[doc(hidden)]
pub fn parse_fully(text: &str, limits: &Limits) -> Document {
    if hcl::is_hcl(text) {
        return hcl::parse(text, limits);
    }
    match Uncommented::of(text) {
        Some(json) => {
            let document = parse_yaml(&json.text, limits);
            json.document(document)
        }
        None => parse_yaml(text, limits),
    }
}

fn parse_yaml(text: &str, limits: &Limits) -> Document {
    let (document, patch) = read(text, limits);
    let Some(mut patch) = patch else { return document };
    let mut patched = Patched::new(text);
    for _ in 0..MAX_PATCHES {
        patched.apply(&patch);
        match read(&patched.text, limits) {
            (document, None) if !document.is_broken() => return patched.translate(document),
            (_, Some(next)) => patch = next,
            _ => break,
        }
    }
    document
}

/// Reads as far as the parser gets, and returns the patch that would let it continue.
fn read(text: &str, limits: &Limits) -> (Document, Option<Patch>) {
    let depth = limits.max_depth as usize + 2;
    let options = granit_parser::options! {
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        max_buffered_comment_events: usize::MAX,
        flow_nesting_limit: depth,
        block_nesting_limit: depth,
    };
    let mut reader = Reader { text, builder: Builder::new(limits, text), documents: 0 };
    let control = problem_words::control_character(text);
    let mut patch = None;
    let mut complete = true;
    for next in Parser::new_from_str_with_options(text, options) {
        match next {
            Ok((event, span)) => {
                if let Ok(true) = reader.event(event, span) {
                    continue;
                }
            }
            Err(error) if control.is_none() => {
                let offset = error.marker().byte_offset().unwrap_or(text.len()).min(text.len()) as u32;
                let problem = problem_words::explain(text, &error, offset, &reader.builder);
                patch = repair::patch(text, &error, offset, &reader.builder);
                reader.builder.push_problem(problem);
            }
            Err(_) => {}
        }
        complete = false;
        break;
    }
    if let Some(problem) = control {
        reader.builder.push_problem(problem);
    }
    let mut document = reader.builder.finish();
    if complete && let Some(problem) = problem_words::misplaced_tab(text, &document) {
        document.problems.push(problem);
    }
    (document, patch)
}

/// libyaml's error for a text that is not YAML, and its line, starting at 1; 0 if it names none.
pub fn syntax_error(text: &str) -> Option<(u32, String)> {
    let error = Parser::new_from_str(text).find_map(Result::err)?;
    let offset = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    let above = text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() as u32;
    let message = format!("{}", error.kind());
    let message = message.split_once(", ").filter(|(context, _)| context.starts_with("while ")).map_or(&*message, |(_, problem)| problem);
    let by_parser = message.starts_with("did not find expected");
    Some((if above == 0 || by_parser { above } else { above + 1 }, message.into()))
}

struct Reader<'a> {
    text: &'a str,
    builder: Builder<'a>,
    documents: u32,
}

impl Reader<'_> {
    /// Handles one event; returns whether to continue.
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<bool, Stop> {
        let range = range_of(&span);
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::Anchor(_, name) => self.anchor_name(range, &name),
            Event::DocumentStart(_, version) => {
                self.documents += 1;
                if let Some(version) = version.filter(|version| (version.major, version.minor) != (1, 1)) {
                    let place = self.text.find("%YAML").unwrap_or(0) as u32;
                    let message = format!("Kubernetes reads YAML 1.1 and refuses `%YAML {}.{}`; delete this line", version.major, version.minor);
                    self.builder.problem(ProblemKind::Syntax, problem_words::rest_of_line(self.text, place), message);
                }
                if self.documents > 1 {
                    let message = "a second document begins here without a `---` line before it";
                    self.builder.problem(ProblemKind::Syntax, range, message);
                    return Ok(false);
                }
            }
            Event::Comment(..) => {
                let line = place::line_start(self.text, range.start);
                let own_line = self.text[line as usize..range.start as usize].trim_start_matches([' ', '\t', '\u{feff}']).is_empty();
                self.builder.comment(range, own_line);
            }
            Event::Scalar(text, style, anchor, tag) => self.scalar(text, style, anchor, tag.as_deref(), &span)?,
            Event::SequenceStart(style, anchor, _) => {
                let start =
                    if style == StructureStyle::Block { place::first_dash(self.text, range.start, self.builder.expects()) } else { range.start };
                self.builder.begin(start, false, anchor)?;
            }
            Event::MappingStart(style, anchor, _) => {
                self.template(style, range);
                self.builder.begin(range.start, true, anchor)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.builder.end((!range.is_empty()).then_some(range.end))?,
            Event::Alias(anchor) => {
                self.anchor_name(range, &range.slice(self.text)[1..]);
                self.builder.alias(range, anchor, range.slice(self.text))?;
            }
            Event::UnresolvedAlias(name) => self.builder.unknown_alias(range, &name)?,
            _ => {}
        }
        Ok(true)
    }

    fn scalar(&mut self, text: Cow<'_, str>, style: ScalarStyle, anchor: usize, tag: Option<&Tag>, span: &Span) -> Result<(), Stop> {
        let mut range = range_of(span);
        let mut text = text;
        if range.is_empty() && style == ScalarStyle::Plain {
            // The parser reports a missing value as a `~` somewhere before the next token.
            text = Cow::Borrowed("");
            if self.builder.expects() == Expects::Root && tag.is_none() && anchor == 0 {
                return Ok(());
            }
            range = place::missing_value(self.text, range, self.builder.expects(), self.builder.last_end());
        }
        if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
            if range.end as usize == self.text.len() && text.ends_with('\n') && !self.text.trim_end_matches([' ', '\t']).ends_with(['\n', '\r']) {
                // A final line without a line break must not get one.
                text.to_mut().pop();
            }
            range = place::block_scalar(self.text, range, self.builder.last_end());
        } else if style == ScalarStyle::Plain && range.len() as usize != text.len() {
            self.swallowed_separator(range);
        }
        if self.builder.expects() == Expects::Key && style == ScalarStyle::Plain && text.starts_with("--") {
            let message = "this is read as a key; the `---` that begins a document must be alone on its line";
            self.builder.problem(ProblemKind::Separator, range, message);
        }
        if style == ScalarStyle::Plain && (text.starts_with('\u{a0}') || text.ends_with('\u{a0}')) {
            let message = "a no-break space is no space to YAML but part of this text; replace it by an ordinary space";
            self.builder.problem(ProblemKind::NoBreakSpace, range, message);
        }
        match tag {
            None if style == ScalarStyle::Plain => self.builder.plain(range, &text, anchor),
            None => self.builder.value(range, Value::String(Str::new(&text)), anchor),
            Some(tag) => {
                let tag = format!("{}{}", tag.handle(), tag.suffix());
                let value = scalar::resolve_tagged(&tag, &text).unwrap_or_else(|error| {
                    self.builder.problem(ProblemKind::BadTag, range, format!("{error}"));
                    Value::String(Str::new(&text))
                });
                if tag == "tag:yaml.org,2002:merge" && text == "<<" {
                    return self.builder.plain(range, &text, anchor);
                }
                self.builder.value(range, value, anchor)
            }
        }
    }

    /// A multi-line plain scalar may contain a malformed separator.
    fn swallowed_separator(&mut self, range: TextRange) {
        let mut at = range.start;
        for line in range.slice(self.text).split_inclusive('\n') {
            let dashes = line.trim();
            if at != range.start && dashes.len() >= 2 && dashes.bytes().all(|b| b == b'-') {
                let start = at + (line.len() - line.trim_start().len()) as u32;
                let message = "this is read as part of the value above; a `---` that begins a document must be at the start of its line";
                let range = TextRange::new(start, start + dashes.len() as u32);
                self.builder.push_problem(Problem { kind: ProblemKind::Separator, range, message: message.into(), related: None });
                return;
            }
            at += line.len() as u32;
        }
    }

    /// YAML 1.1, unlike 1.2, allows few characters in anchor names.
    fn anchor_name(&mut self, range: TextRange, name: &str) {
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
            let message = "an anchor's name may only have letters, digits, `-` and `_`; a value that begins with `&` or `*` must be quoted";
            self.builder.problem(ProblemKind::Syntax, range, message);
        }
    }

    /// `{{` opens two objects, the inner one as a key: a template's placeholder.
    fn template(&mut self, style: StructureStyle, range: TextRange) {
        if style == StructureStyle::Flow && self.builder.expects() == Expects::Key && self.text[..range.start as usize].ends_with('{') {
            let message = "`{{` looks like a template's placeholder; render the template first, or quote the value";
            self.builder.problem(ProblemKind::Template, TextRange::new(range.start - 1, range.end), message);
        }
    }
}

fn range_of(span: &Span) -> TextRange {
    let offset = |marker: granit_parser::Marker| marker.byte_offset().unwrap_or(0) as u32;
    TextRange::new(offset(span.start), offset(span.end))
}
