//! Finds all violations in an object, like the validator of Kubernetes (`kube-openapi`, which the API server and Emissary's entrypoint use). It
//! does not stop at the first violation; a value of the wrong type is still checked against its other rules.
//!
//! Does not phrase messages; see `wording`.

use super::quote::go_quoted;
use super::shape::QUANTITY;
use super::wording::Frame;
use super::{Check, Fault, Field, Format, Members, Numbers, Others, Path, Schema, Shape, Strings, Violation, duration, fits, rules, wording};
use crate::diagnostic::Part;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use chancery_text::{Node, Object, Value, base64};

impl<'m> Check<'m> {
    /// All violations below `node`, in the order of the text.
    pub fn run(self, node: &Node, schema: &Schema, path: &Path<'_>) -> Vec<Violation> {
        let mut violations = Vec::new();
        self.value(node, schema, path, &mut violations);
        if self.framed {
            rules::repeated(node, schema, path, &mut violations);
            if !violations.iter().any(|violation| violation.blocking) {
                rules::broken(self, node, schema, path, &mut violations);
            }
        }
        violations
    }

    /// Whether a value that is neither list nor object has no violation. Null is valid only if the schema allows it.
    pub(super) fn accepts_scalar(self, node: &Node, schema: &Schema) -> bool {
        let plain = matches!(
            (&schema.shape, &node.value),
            (Shape::Boolean, Value::Bool(_))
                | (Shape::Integer(Numbers { min: None, max: None, among: [], int32: false }), Value::Int(_))
                | (Shape::String(Strings { among: [], pattern: None, min: 0, max: u32::MAX, format: Format::Plain }), Value::String(_))
        );
        if plain {
            return true;
        }
        if node.is_null() {
            return schema.nullable;
        }
        let mut violations = Vec::new();
        self.value(node, schema, &Path::root(""), &mut violations);
        violations.is_empty()
    }

    fn value(self, node: &Node, schema: &Schema, path: &Path<'_>, out: &mut Vec<Violation>) {
        // A choice is skipped for null.
        let is_choice = matches!(schema.shape, Shape::OneOf(_) | Shape::AnyOf(_));
        if node.is_null() && (schema.nullable || is_choice || (self.server && schema.unserved)) {
            return;
        }
        if schema.server_only {
            if self.server {
                let before = out.len();
                Self { framed: true, ..self }.shape(node, schema, path, out);
                out.iter_mut().skip(before).for_each(|violation| violation.later = true);
            }
            return;
        }
        let before = out.len();
        self.shape(node, schema, path, out);
        if schema.unserved && self.server {
            out.iter_mut().skip(before).for_each(|violation| violation.later = true);
        }
    }

    fn shape(self, node: &Node, schema: &Schema, path: &Path<'_>, out: &mut Vec<Violation>) {
        match (&schema.shape, &node.value) {
            (Shape::Any, _) | (Shape::Boolean, Value::Bool(_)) | (Shape::True, Value::Bool(true)) => {}
            (Shape::True, Value::Bool(false)) => out.push(self.not_true(node, path)),
            (Shape::IntOrString(pattern), _) if fits(node, schema) => {
                if let (Some(pattern), Value::String(text)) = (pattern, &node.value)
                    && self.memo.matches(pattern, text) == Some(false)
                {
                    let mut violation = self.malformed(node, pattern, path);
                    if *pattern != QUANTITY {
                        // The type's own pattern and this one are two schemas of an `allOf`.
                        let all = format!("\"{path}\" must validate all the schemas (allOf)");
                        violation.reference.push(self.reference(node, path, Frame::Unnamed, all));
                    }
                    out.push(violation);
                }
            }
            (Shape::String(strings), Value::String(text)) => self.string(node, text, strings, path, out),
            (Shape::Integer(numbers) | Shape::Number(numbers), Value::Int(_) | Value::Float(_)) if fits(node, schema) => {
                self.number(node, numbers, path, out);
            }
            (Shape::Array { items: schema, min, max, .. }, Value::Array(items)) => {
                for (at, item) in items.iter().enumerate() {
                    self.value(item, schema, &path.index(at), out);
                }
                self.size(node, items.len(), (*min, *max), "items", path, out);
            }
            (Shape::Object(members), Value::Object(object)) => self.object(node, object, members, path, out),
            (Shape::OneOf(choices) | Shape::AnyOf(choices), _) => self.choice(node, choices, schema, path, out),
            _ => self.wrong_type(node, schema, path, out),
        }
    }

    fn object(self, node: &Node, object: &Object, members: &Members, path: &Path<'_>, out: &mut Vec<Violation>) {
        let mut present = 0_u128;
        for entry in object {
            match members.position(&entry.key) {
                Some(at) => {
                    present |= 1 << at;
                    self.value(&entry.value, &members.fields[at].schema, &path.key(&entry.key), out);
                }
                None => {
                    if let Others::Values(values) = members.others {
                        self.value(&entry.value, values, &path.key(&entry.key), out);
                    }
                }
            }
        }
        for (_, field) in members.fields_of(members.required & !present) {
            out.push(self.missing(node, object, field, path));
        }
        self.size(node, object.len(), (members.min, members.max), "properties", path, out);
    }

    fn string(self, node: &Node, text: &str, strings: &Strings, path: &Path<'_>, out: &mut Vec<Violation>) {
        if strings.format == Format::GoDuration
            && let Err(reference) = duration::read(text)
        {
            out.push(self.bad_duration(node, reference.to_string(), path));
        }
        if strings.format == Format::Base64 && base64::decode(text).is_none() {
            out.push(self.not_base64(node, path));
        }
        if !strings.among.is_empty() && !strings.among.contains(&text) {
            out.push(self.not_among(node, strings.among, path));
        }
        // The reference reports at most one of these violations.
        let size = if (strings.min, strings.max) == (0, u32::MAX) { 0 } else { text.chars().count() };
        if size > strings.max as usize || size < strings.min as usize {
            self.size(node, size, (strings.min, strings.max), "chars", path, out);
        } else if let Some(pattern) = strings.pattern
            && self.memo.matches(pattern, text) == Some(false)
        {
            out.push(self.malformed(node, pattern, path));
        }
    }

    fn number(self, node: &Node, numbers: &Numbers, path: &Path<'_>, out: &mut Vec<Violation>) {
        let Some(value) = node.as_f64() else { return };
        if !numbers.among.is_empty() && !numbers.among.iter().any(|allowed| *allowed as f64 == value) {
            out.push(self.number_not_among(node, numbers.among, path));
        }
        let limit = match numbers {
            Numbers { max: Some(max), .. } if value > *max as f64 => Some((*max, "less", "at most")),
            Numbers { min: Some(min), .. } if value < *min as f64 => Some((*min, "greater", "at least")),
            _ => None,
        };
        if let Some((limit, word, ours)) = limit {
            out.push(self.beyond(node, limit, word, ours, path));
        } else if numbers.int32 && i32::try_from(node.as_i64().unwrap_or(i64::MAX)).is_err() {
            out.push(self.beyond_int32(node, path));
        }
    }

    fn size(self, node: &Node, size: usize, limits: (u32, u32), of: &'static str, path: &Path<'_>, out: &mut Vec<Violation>) {
        let (min, max) = limits;
        if size < min as usize {
            out.push(self.wrong_size(node, size, min, true, of, path));
        } else if size > max as usize {
            out.push(self.wrong_size(node, size, max, false, of, path));
        }
    }

    fn choice(self, node: &Node, choices: &[Schema], schema: &Schema, path: &Path<'_>, out: &mut Vec<Violation>) {
        // The JSON type selects the alternative; its content is checked as usual.
        if let Some(choice) = choices.iter().find(|choice| fits(node, choice)) {
            return self.value(node, choice, path, out);
        }
        let mut violation = self.mismatch(node, schema, path);
        let first = choices.first().map_or("", Schema::type_name);
        let rule = if matches!(schema.shape, Shape::OneOf(_)) {
            format!("\"{path}\" must validate one and only one schema (oneOf). Found none valid")
        } else {
            format!("\"{path}\" must validate at least one schema (anyOf)")
        };
        violation.reference = vec![self.reference(node, path, Frame::Other("\"\"".into()), rule), self.type_sentence(node, first, path)];
        out.push(violation);
    }

    fn wrong_type(self, node: &Node, schema: &Schema, path: &Path<'_>, out: &mut Vec<Violation>) {
        let mut violation = self.mismatch(node, schema, path);
        if let Shape::IntOrString(_) = schema.shape {
            // The reference reports it for both types, and for the first of both.
            violation.reference.push(self.type_sentence(node, "integer,string", path));
            violation.reference.push(self.type_sentence(node, "integer", path));
        } else {
            violation.reference.push(self.type_sentence(node, schema.type_name(), path));
        }
        // The other rules still apply, each with its own sentence. Our message treats them as one problem.
        let mut more = Vec::new();
        match &schema.shape {
            Shape::String(strings) if !strings.among.is_empty() => more.push(self.not_among(node, strings.among, path)),
            Shape::Integer(numbers) if matches!(node.value, Value::Float(_)) => {
                self.number(node, &Numbers { int32: false, ..*numbers }, path, &mut more);
            }
            Shape::Integer(numbers) if !numbers.among.is_empty() => more.push(self.number_not_among(node, numbers.among, path)),
            _ => {}
        }
        violation.reference.extend(more.into_iter().flat_map(|violation| violation.reference));
        out.push(violation);
    }

    fn type_sentence(self, node: &Node, wanted: &str, path: &Path<'_>) -> String {
        let found = go_quoted(self.type_of(node));
        self.reference(node, path, Frame::Other(found.clone()), format!("{path} in body must be of type {wanted}: {found}"))
    }

    fn mismatch(self, node: &Node, schema: &Schema, path: &Path<'_>) -> Violation {
        Violation {
            node: node.id,
            part: Part::Value,
            path: path.to_string(),
            fault: Fault::WrongType,
            message: wording::wrong_type(node, schema, path),
            help: wording::type_help(node, schema),
            replacement: wording::type_replacement(node, schema),
            reference: Vec::new(),
            later: false,
            blocking: true,
        }
    }

    fn type_of(self, node: &Node) -> &'static str {
        match node.value {
            Value::Int(_) if self.whole_numbers_are_numbers => "number",
            _ => node.kind_name(),
        }
    }

    fn missing(self, node: &Node, object: &Object, field: &'static Field, path: &Path<'_>) -> Violation {
        let path = path.key(field.name);
        let reference = self.reference(node, &path, Frame::Required, format!("{path} in body is required"));
        Violation {
            part: Part::Key,
            help: Some(wording::missing_help(object, field)),
            blocking: true,
            ..wording::violation(node, &path, Fault::Missing, format!("`{path}` is required"), reference)
        }
    }
}
