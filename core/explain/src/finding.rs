//! Converts diagnostics to plain data, with names and places instead of numbers. Does not format them.

use super::{Positions, Span};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::Compilation;
use chancery_base::diagnostic::{Diagnostic, Fix, Place, Severity};
use chancery_base::positions::holds_back;
use chancery_base::resource::{Object, ResourceKey};
use chancery_text::{NodeId, Str};
use hashbrown::HashMap;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct ResourceRef {
    pub kind: Str,
    pub name: Str,
    /// `None` for resources without a namespace.
    pub namespace: Option<Str>,
}

impl From<&ResourceKey> for ResourceRef {
    fn from(key: &ResourceKey) -> Self {
        Self { kind: key.kind.clone(), name: key.name.clone(), namespace: key.namespace.clone() }
    }
}

impl core::fmt::Display for ResourceRef {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let kind = if self.kind.is_empty() { "object" } else { &self.kind };
        match &self.namespace {
            _ if self.name.is_empty() => write!(f, "{kind} without a name"),
            Some(namespace) if !namespace.is_empty() => write!(f, "{kind} {}.{namespace}", self.name),
            _ => write!(f, "{kind} {}", self.name),
        }
    }
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Finding {
    pub code: &'static str,
    /// `error`, `warning` or `notice`.
    pub severity: &'static str,
    /// The dialect whose controller reports it, if several dialects are compiled together and they differ in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<&'static str>,
    pub message: String,
    /// Where the problem is; `None` if it concerns the whole input.
    #[serde(flatten)]
    pub span: Option<Span>,
    /// The field, as `spec.cors.origins[2]`.
    pub path: Option<String>,
    /// The resource whose status or events report the problem. Often this is `object`; sometimes it is a resource that the controller
    /// generated. `None` if the controller reports it for the whole input.
    pub resource: Option<ResourceRef>,
    /// The object that contains `span`.
    pub object: Option<ResourceRef>,
    /// Other places that explain the problem.
    pub related: Vec<RelatedView>,
    /// What to do about it.
    pub help: Option<String>,
    /// A change that certainly fixes it.
    pub fix: Option<FixView>,
}

impl Finding {
    pub fn level(&self) -> Severity {
        match self.severity {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => Severity::Notice,
        }
    }
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RelatedView {
    pub message: String,
    #[serde(flatten)]
    pub span: Option<Span>,
}

/// A change of the text.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FixView {
    /// What the change does.
    pub message: String,
    #[serde(flatten)]
    pub first: EditView,
    /// Further edits in the same file, in the file's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<EditView>,
}

impl FixView {
    /// Returns all edits, in the order of the file.
    pub fn edits(&self) -> impl DoubleEndedIterator<Item = &EditView> {
        core::iter::once(&self.first).chain(&self.more)
    }

    /// Applies the change to a text; `None` if the text does not fit it.
    pub fn apply(&self, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for edit in self.edits() {
            out.push_str(text.get(from..edit.span.offset as usize)?);
            out.push_str(&edit.replacement);
            from = edit.span.end_offset as usize;
        }
        out.push_str(text.get(from..)?);
        Some(out)
    }
}

/// Returns the first of several overlapping changes, by file and place.
#[must_use]
pub fn without_overlaps(mut all: Vec<&FixView>) -> Vec<&FixView> {
    all.sort_by_key(|fix| (fix.first.span.source.0, fix.first.span.offset, fix.first.span.end_offset));
    let mut out: Vec<&FixView> = Vec::new();
    for fix in all {
        let last = out.last().and_then(|last| last.edits().next_back());
        let next = &fix.first.span;
        let is_free = last.is_none_or(|EditView { span, .. }| span.source != next.source || span.end_offset <= next.offset && span != next);
        if is_free {
            out.push(fix);
        }
    }
    out
}

/// One replacement of text.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct EditView {
    /// The new text.
    pub replacement: String,
    /// The range to replace.
    #[serde(flatten)]
    pub span: Span,
}

/// The values that identify a finding: two findings with the same values are one.
#[derive(PartialEq, Eq, Hash)]
struct Identity {
    code: &'static str,
    message: String,
    /// Source and offset.
    place: Option<(u32, u32)>,
}

/// Returns all findings of all sides, by file and place; findings about the whole input come last. Findings that several controllers share appear
/// once.
///
/// ```
/// use chancery_base::compilation::Options;
/// use chancery_compile::compile;
/// use chancery_base::resource::Inputs;
/// use chancery_explain::findings;
///
/// let inputs = Inputs::one("quote.yaml", "\
/// apiVersion: getambassador.io/v3alpha1
/// kind: Mapping
/// metadata: {name: quote}
/// spec: {hostname: \"*\", prefix: /quote/, service: quote, timout_ms: 9000}
/// ");
/// let compilation = compile(&inputs, &Options::default(), &[&chancery_ambassador::DIALECT]);
///
/// let found = findings(&compilation, &compilation.positions());
/// let misspelt = found.iter().find(|finding| finding.code == "unknown-field").expect("a finding");
/// assert_eq!(misspelt.span.as_ref().map(|span| (span.line, span.column)), Some((4, 56)));
/// assert_eq!(misspelt.help.as_deref(), Some("did you mean `timeout_ms`?"));
/// ```
pub fn findings(compilation: &Compilation, positions: &Positions<'_>) -> Vec<Finding> {
    let mut all: Vec<Finding> = compilation.diagnostics.iter().map(|diagnostic| finding(diagnostic, compilation, positions)).collect();
    let mut known: HashMap<Identity, usize> = HashMap::new();
    let several = compilation.sides.len() > 1;
    for side in &compilation.sides {
        for diagnostic in &side.diagnostics {
            let mut finding = finding(diagnostic, compilation, positions);
            if several {
                let place = finding.span.as_ref().map(|span| (span.source.0, span.offset));
                let identity = Identity { code: finding.code, message: finding.message.clone(), place };
                if let Some(same) = known.get(&identity).and_then(|at| all.get_mut(*at)).filter(|same| same.dialect != Some(side.dialect.name)) {
                    same.dialect = None;
                    continue;
                }
                known.insert(identity, all.len());
                finding.dialect = Some(side.dialect.name);
            }
            all.push(finding);
        }
    }
    all.sort_by_key(|finding| finding.span.as_ref().map_or((u32::MAX, 0), |span| (span.source.0, span.offset)));
    all
}

pub(super) fn finding(of: &Diagnostic, compilation: &Compilation, positions: &Positions<'_>) -> Finding {
    let object = match of.place {
        Place::Node { object, node, .. } => compilation.objects.get(object).map(|object| (object, node)),
        _ => None,
    };
    // Without secrets in the object there is nothing to hide.
    let is_plain = object.is_some_and(|(object, _)| !holds_back(object));
    let path_of = |(object, node): (&Object, NodeId)| if is_plain { object.path(node).to_string() } else { positions.path(object, node) };
    let path = object.map(path_of).filter(|path| !path.is_empty());
    let span = positions.place(&of.place);
    // A message may quote a value that is secret at its place.
    let redact_at = |span: &Option<Span>, message: &String| {
        let span = span.as_ref().filter(|_| !is_plain);
        span.map_or_else(|| message.clone(), |span| positions.redact_message(span.source, span.range(), message))
    };
    let said = |message: &String| redact_at(&span, message);
    // The related place may belong to another object.
    let related = of.related.iter().map(|related| {
        let span = positions.place(&related.place);
        RelatedView { message: said(&redact_at(&span, &related.message)), span }
    });
    let related = related.collect();
    Finding {
        code: of.code.name,
        severity: of.severity.name(),
        dialect: None,
        message: said(&of.message),
        path,
        resource: of.resource.as_ref().map(ResourceRef::from),
        object: object.map(|(object, _)| ResourceRef::from(&object.key)).filter(|object| !object.kind.is_empty()),
        related,
        help: of.help.as_ref().map(said),
        span,
        fix: of.fix.as_ref().and_then(|of| fix(of, compilation, positions)),
    }
}

fn fix(of: &Fix, compilation: &Compilation, positions: &Positions<'_>) -> Option<FixView> {
    let mut edits = of.edits.iter().map(|edit| {
        let span = exact(&edit.place, compilation, positions)?;
        // The fix would repeat the hidden value.
        let is_hidden = !edit.replacement.trim().is_empty() && positions.hides(span.source, span.range());
        (!is_hidden).then(|| EditView { replacement: edit.replacement.clone(), span })
    });
    Some(FixView { message: of.message.clone(), first: edits.next()??, more: edits.collect::<Option<_>>()? })
}

/// Codes whose messages quote the controller verbatim.
const QUOTED: &[&str] = &[
    "backend-without-endpoints",
    "backend-without-service",
    "delegation-not-permitted",
    "duplicate-host",
    "duplicate-listener",
    "include-cycle",
    "invalid-authorization",
    "invalid-backend",
    "invalid-gateway",
    "invalid-include",
    "invalid-jwt",
    "invalid-listener",
    "invalid-retry-policy",
    "invalid-route",
    "invalid-tls",
    "invalid-virtual-host",
    "invalid-weight",
    "listener-without-hosts",
    "malformed-service",
    "missing-gateway-part",
    "mutually-exclusive",
    "no-hosts",
    "only-one-allowed",
    "port-outside-of-endpoints",
    "redirect-without-tls",
    "secret-not-found",
    "unclear-backend-port",
    "unknown-resolver",
    "unknown-tls-context",
    "unresolved-service",
    "unsupported-feature",
    "unsupported-protocol-version",
];

/// Longer values are not repeated in the message.
const MOST_BYTES: u32 = 60;

/// Returns a plain message for a finding that quotes its controller: what is wrong, and the invalid value. Returns `None` for other findings.
#[must_use]
pub fn plain_message(of: &Finding, compilation: &Compilation, positions: &Positions<'_>) -> Option<String> {
    if !QUOTED.contains(&of.code) {
        return None;
    }
    let reported = compilation.diagnostics.iter().chain(compilation.sides.iter().flat_map(|side| &side.diagnostics));
    let summary = reported.map(|diagnostic| diagnostic.code).find(|code| code.name == of.code)?.summary;
    let text = of.span.as_ref().filter(|span| span.range().len() <= MOST_BYTES).map(|span| positions.masked(span.source, span.range()));
    // A key is not a value, and a masked value adds nothing.
    let text = text
        .filter(|text| !text.is_empty() && !text.contains(['\n', '`', '*']) && !of.path.as_ref().is_some_and(|path| path.ends_with(text.as_str())));
    Some(text.map_or_else(|| summary.to_string(), |text| alloc::format!("{summary}: `{}`", text.trim_matches(['"', '\'']))))
}

/// Returns the exact place, for changes.
fn exact(place: &Place, compilation: &Compilation, positions: &Positions<'_>) -> Option<Span> {
    match place {
        Place::Whole => None,
        Place::Text(source, range) => positions.span(*source, *range),
        Place::Node { object, node, part } => {
            let object = compilation.objects.get(*object)?;
            let range = match part {
                chancery_base::diagnostic::Part::Key => object.key_range(*node)?,
                chancery_base::diagnostic::Part::Value => object.value_range(*node)?,
            };
            positions.span(object.source.source, range)
        }
    }
}

/// Reports the bytes of an input that are not UTF-8. Each pair is a place in the text, and in the bytes.
pub fn not_utf8(source: chancery_base::resource::SourceId, wrong: &[(u32, usize)]) -> Option<Diagnostic> {
    let (first, offset) = wrong.first()?;
    let others = match wrong.len() {
        1 => String::new(),
        2 => ", and so is another byte".into(),
        count => alloc::format!(", and so are {} more", count - 1),
    };
    let message = alloc::format!("the text is not UTF-8: byte {offset} is invalid{others}");
    let len = char::REPLACEMENT_CHARACTER.len_utf8() as u32;
    let place = Place::Text(source, chancery_text::TextRange::new(*first, first + len));
    Some(
        Diagnostic::new(&chancery_base::diagnostic::codes::SYNTAX, message, place)
            .help("save the file as UTF-8; each such byte was read as `\u{fffd}`"),
    )
}
