//! Builds the API server's findings about an object, one function each. Does not decide what is wrong.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, Diagnostic, Findings, Part, Place, Severity, codes};
use chancery_base::resource::{self, nearest};
use chancery_base::schema::{Fault, Members, Path, Violation, go_quoted};
use chancery_text::{Node, NodeId, series};

/// A list of at most this many fields helps; a longer one is not read.
const FEW_FIELDS: usize = 6;

/// Collects the findings of one object.
pub struct Report<'a> {
    pub kind: &'a str,
    pub object: &'a resource::Object,
    pub sink: &'a mut Findings,
    /// The number of further unknown fields that get a suggestion. Each costs a comparison with all fields, and users do not read more.
    guesses: u32,
}

impl<'a> Report<'a> {
    pub fn new(kind: &'a str, object: &'a resource::Object, sink: &'a mut Findings) -> Self {
        Self { kind, object, sink, guesses: 50 }
    }

    /// The place of a node; nodes that the controller created have their object's place.
    pub fn place(&self, node: NodeId, part: Part) -> Place {
        let node = if node.is_some() { node } else { self.object.root.id };
        Place::Node { object: self.object.id, node, part }
    }

    /// A finding at a node.
    pub fn finding(&self, code: &'static Code, message: impl Into<String>, node: NodeId, part: Part) -> Diagnostic {
        Diagnostic::new(code, message, self.place(node, part)).about(self.object.key.clone())
    }

    /// A field without a value.
    pub fn null(&mut self, path: &Path<'_>, node: NodeId) {
        let message = format!("`{path}` has no value and is dropped");
        let finding = self.finding(&codes::NULL_DROPPED, message, node, Part::Key);
        self.sink.report(finding);
    }

    /// A field that the kind does not have. `meant` names the field that was meant, if that is known. `help` knows where
    /// else the kind has a field with this name. If neither gives advice, the field with the most similar name does, or the list of all fields if it is
    /// short.
    pub fn unknown_field(
        &mut self,
        path: &Path<'_>,
        (name, node): (&str, &Node),
        members: &'static Members,
        meant: Option<&'static str>,
        refused: bool,
        help: impl FnOnce() -> Option<String>,
    ) {
        if is_separator(name) {
            return;
        }
        let what = if refused { "the object is refused" } else { "it is dropped" };
        let message = format!("{} {} has no `{path}`; {what}", article(self.kind), self.kind);
        let mut finding = self.finding(&codes::UNKNOWN_FIELD, message, node.id, Part::Key);
        if refused {
            finding.severity = Severity::Error;
        }
        if self.guesses == 0 {
            self.sink.report(finding);
            return;
        }
        self.guesses -= 1;
        let help = if meant.is_none() { help() } else { None };
        let near = meant.or_else(|| nearest(name, members.fields.iter().map(|field| field.name)));
        if let Some(help) = help {
            finding = finding.help(help);
        } else if let Some(near) = near {
            finding = finding.help(format!("did you mean `{near}`?"));
            finding = finding.fix(format!("rename to `{near}`"), self.place(node.id, Part::Key), near);
        } else if let Some(similar) = of_same_words(name, members) {
            finding = finding.help(format!("did you mean `{similar}`?"));
        } else if (1..=FEW_FIELDS).contains(&members.fields.len()) {
            let names: Vec<String> = members.fields.iter().map(|field| format!("`{}`", field.name)).collect();
            let fields = if names.len() == 1 { "the only field here is" } else { "the fields here are" };
            finding = finding.help(format!("{fields} {}", series(&names)));
        }
        self.sink.report(finding);
    }

    /// An invalid or missing value. `help` replaces the general advice.
    pub fn violation(&mut self, violation: &Violation, help: Option<String>) {
        let code = match violation.fault {
            Fault::WrongType => &codes::WRONG_TYPE,
            Fault::Missing => &codes::MISSING_FIELD,
            Fault::NotAllowed | Fault::OutOfRange | Fault::Malformed | Fault::Repeated | Fault::Broken => &codes::INVALID_VALUE,
        };
        let mut finding = self.finding(code, violation.message.clone(), violation.node, violation.part);
        finding.help = help.or_else(|| violation.help.clone());
        if let Some(replacement) = &violation.replacement {
            finding = finding.fix(format!("write {replacement}"), self.place(violation.node, Part::Value), replacement.clone());
        }
        self.sink.report(finding);
    }

    /// An object without a name.
    pub(crate) fn missing_name(&mut self, node: NodeId) -> String {
        let message = format!("this {} has no `metadata.name`", self.kind);
        let finding = self.finding(&codes::INVALID_NAME, message, node, Part::Key);
        self.sink.report(finding);
        "metadata.name: Required value: name or generateName is required".into()
    }

    /// A name that Kubernetes does not allow.
    pub(crate) fn name(&mut self, node: &Node, what: &str, name: &str, allowed: &str) {
        let message = format!("Kubernetes does not allow {} as a {what}", go_quoted(name));
        let mut finding = self.finding(&codes::INVALID_NAME, message, node.id, Part::Value);
        finding = finding.help(format!("names consist of {allowed}"));
        let valid_name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' }).collect();
        let valid_name = valid_name.trim_matches(['-', '.']);
        // An unexpanded template is not yet a name.
        let is_left = name.contains(|c: char| c.is_ascii_punctuation() && !matches!(c, '-' | '_' | '.')) || name.starts_with("__");
        if !is_left && chancery_base::schema::names::subdomain(valid_name).is_empty() {
            finding = finding.fix(format!("call it `{valid_name}`"), self.place(node.id, Part::Value), valid_name);
        }
        self.sink.report(finding);
    }

    /// An invalid `key` or `value` of a label or annotation.
    pub(crate) fn label(&mut self, node: &Node, part: &str, of: &str, text: &str, faults: &[String]) {
        if faults.is_empty() {
            return;
        }
        let message = format!("Kubernetes does not allow {} as the {part} of {of}", go_quoted(text));
        let finding = self.finding(&codes::INVALID_LABEL, message, node.id, if part == "key" { Part::Key } else { Part::Value });
        self.sink.report(finding.help("letters, digits, and `-`, `_`, `.` inside; at most 63 characters"));
    }

    /// A value in `metadata` that must be a string.
    pub(crate) fn not_a_string(&mut self, node: &Node, path: &str, wanted: &str) {
        let code = if path.starts_with("metadata.labels") { &codes::INVALID_LABEL } else { &codes::INVALID_NAME };
        let wanted = match wanted {
            "string" => "a string",
            _ => "an object",
        };
        let message = format!("`{path}` must be {wanted}, and is {}", described(node));
        let mut finding = self.finding(code, message, node.id, Part::Value);
        if let (chancery_text::Value::Int(value), "a string") = (&node.value, wanted) {
            finding = finding.fix("put it in quotes", self.place(node.id, Part::Value), format!("\"{value}\""));
        }
        self.sink.report(finding.help("put it in quotes: YAML reads y, n, yes, no, on, off and digits as booleans and numbers"));
    }
}

fn described(node: &Node) -> String {
    match &node.value {
        chancery_text::Value::Bool(value) => format!("the boolean `{value}`"),
        chancery_text::Value::Int(value) => format!("the number {value}"),
        chancery_text::Value::Float(value) => format!("the number {value}"),
        _ => match node.kind_name() {
            kind @ ("array" | "object" | "integer") => format!("an {kind}"),
            kind => kind.to_string(),
        },
    }
}

/// Returns the only field that begins with the same two words: `loadBalancerStrategy` and `loadBalancerPolicy`.
fn of_same_words(name: &str, members: &'static Members) -> Option<&'static str> {
    let mut words = name.char_indices().filter(|(_, letter)| letter.is_ascii_uppercase()).map(|(at, _)| at);
    let end = words.nth(1)?;
    let begin = name.get(..end).filter(|begin| begin.starts_with(|letter: char| letter.is_ascii_lowercase()))?;
    let mut similar = members.fields.iter().map(|field| field.name).filter(|field| {
        let rest = field.strip_prefix(begin);
        rest.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_uppercase()))
    });
    similar.next().filter(|_| similar.next().is_none())
}

/// Whether a key was meant as a document separator, which has its own finding.
pub fn is_separator(name: &str) -> bool {
    name.starts_with("---")
}

/// "an" or "a" before a kind: an Ingress, an HTTPProxy.
fn article(kind: &str) -> &'static str {
    let spelled = kind.starts_with("HTTP") || kind.starts_with(['A', 'E', 'I', 'O', 'U']);
    if spelled { "an" } else { "a" }
}
