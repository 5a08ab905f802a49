//! Builds trees of Kubernetes objects. Knows no kind's fields.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_text::{Node, Object, Str, Value, to_yaml};

pub fn text(value: &str) -> Node {
    Node::synthesised(Value::String(Str::new(value)))
}

pub fn number(value: i64) -> Node {
    Node::synthesised(Value::Int(value))
}

pub fn truth(value: bool) -> Node {
    Node::synthesised(Value::Bool(value))
}

pub fn list(items: Vec<Node>) -> Node {
    Node::synthesised(Value::Array(items))
}

/// An object under construction; empty parts are left out.
#[derive(Clone, Debug, Default)]
pub struct Fields(Object);

impl Fields {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field, unless its value is an empty list or object.
    pub fn set(&mut self, name: &str, value: Node) -> &mut Self {
        let empty = match &value.value {
            Value::Array(items) => items.is_empty(),
            Value::Object(object) => object.is_empty(),
            _ => false,
        };
        if !empty {
            self.0.insert(name, value);
        }
        self
    }

    /// Adds a field if it has a value.
    pub fn set_some(&mut self, name: &str, value: Option<Node>) -> &mut Self {
        if let Some(value) = value {
            self.set(name, value);
        }
        self
    }

    /// Adds a comment above the next field. [`with_comments`] and [`without_comments`] know its form.
    pub fn comment(&mut self, words: &str) -> &mut Self {
        let plain: String = words.chars().map(|c| if c.is_control() || matches!(c, '"' | '\\') { ' ' } else { c }).collect();
        self.0.insert(&*alloc::format!("{COMMENT}{plain}"), Node::synthesised(Value::Null));
        self
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn node(&self) -> Node {
        Node::synthesised(Value::Object(self.0.clone()))
    }
}

/// The beginning of a key that is a comment. No Kubernetes object has such a key.
const COMMENT: &str = "# ";

/// Writes YAML in which comments are above their fields.
pub fn with_comments(node: &Node) -> String {
    let mut out = String::new();
    let mut dash: Option<String> = None;
    for line in to_yaml(node).lines() {
        let is_item = line.trim_start().starts_with("- ");
        let body = line.trim_start().trim_start_matches("- ");
        let indent = line.len() - body.len();
        let comment = body.strip_prefix("\"# ").and_then(|rest| rest.strip_suffix("\": null"));
        if let Some(comment) = comment {
            if is_item && dash.is_none() {
                dash = Some(line.get(..indent).unwrap_or_default().to_string());
            }
            // A comment of an item is above its dash.
            out.extend(core::iter::repeat_n(' ', if dash.is_some() { indent.saturating_sub(2) } else { indent }));
            out.push_str("# ");
            out.push_str(comment);
        } else if let Some(held) = dash.take() {
            out.push_str(&held);
            out.push_str(line.get(indent..).unwrap_or_default());
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// Returns the tree without its comments.
pub fn without_comments(node: &Node) -> Node {
    match &node.value {
        Value::Array(items) => list(items.iter().map(without_comments).collect()),
        Value::Object(object) => {
            let mut out = Object::default();
            for entry in object.iter().filter(|entry| !entry.key.starts_with(COMMENT)) {
                out.insert(&*entry.key, without_comments(&entry.value));
            }
            Node::synthesised(Value::Object(out))
        }
        _ => node.clone(),
    }
}

/// Builds a Kubernetes object.
pub fn manifest(api_version: &str, kind: &str, namespace: &str, name: &str, spec: &Fields) -> Node {
    let mut metadata = Fields::new();
    metadata.set("name", text(name));
    if !namespace.is_empty() {
        metadata.set("namespace", text(namespace));
    }
    let mut object = Fields::new();
    object.set("apiVersion", text(api_version)).set("kind", text(kind)).set("metadata", metadata.node()).set("spec", spec.node());
    object.node()
}

/// Objects with `name` and `value`.
pub fn named_values<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> Node {
    let entry = |(name, value): (&str, &str)| {
        let mut fields = Fields::new();
        fields.set("name", text(name)).set("value", text(value));
        fields.node()
    };
    list(entries.into_iter().map(entry).collect())
}

/// Milliseconds in Go's notation; 0 means no timeout.
pub fn timeout(milliseconds: i64) -> Node {
    match milliseconds {
        0 => text("infinity"),
        whole if whole % 1000 == 0 => text(&alloc::format!("{}s", whole / 1000)),
        rest => text(&alloc::format!("{rest}ms")),
    }
}

/// Derives a valid Kubernetes name from a string.
pub fn name_of(written: &str) -> Str {
    let mut name: String = written.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    let name = name.trim_matches('-');
    let short: String = name.chars().take(63).collect();
    Str::new(if short.is_empty() { "all" } else { short.trim_end_matches('-') })
}
