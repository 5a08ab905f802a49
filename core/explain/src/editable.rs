//! Lists the values of an object that a view may change in place: weights, timeouts and switches. Does not change them; see the editor.

use super::Positions;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::positions::Span;
use chancery_base::resource::Object;

/// At most this many values of an object are listed.
const MOST_VALUES: usize = 8;

/// What may replace a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EditableSort {
    Number,
    Duration,
    Switch,
}

/// A value that a view may change.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct EditableValue {
    /// The path of the field, for example `spec.weight`.
    pub path: String,
    pub sort: EditableSort,
    /// The value without quotes.
    pub value: String,
    /// The quote around the value, if any. A replacement keeps it.
    pub quote: String,
    pub span: Span,
}

/// Returns the weights, timeouts and switches of an object, in the order of the text.
#[must_use]
pub fn editable_values(object: &Object, positions: &Positions<'_>) -> Vec<EditableValue> {
    let source = object.source.source;
    let text = positions.text(source);
    let value = |node| {
        let range = object.value_range(node)?;
        let written = range.slice(text);
        let quote = written.get(..1).filter(|of| matches!(*of, "\"" | "'")).unwrap_or_default();
        let value = written.strip_prefix(quote)?.strip_suffix(quote)?;
        let path = object.path(node).to_string();
        let sort = sort_of(&path, value, quote)?;
        let span = positions.span(source, range).filter(|_| !positions.hides(source, range))?;
        Some(EditableValue { path, sort, value: value.into(), quote: quote.into(), span })
    };
    object.leaves(object.root.id).into_iter().filter_map(value).take(MOST_VALUES).collect()
}

/// Returns what may replace a value, if a view may change it. Labels and annotations are not settings.
fn sort_of(path: &str, value: &str, quote: &str) -> Option<EditableSort> {
    if path.starts_with("metadata") || path.starts_with("status") {
        return None;
    }
    let key = path.rsplit('.').next()?.split('[').next()?.to_ascii_lowercase();
    let is_number = !value.is_empty() && value.chars().all(|of| of.is_ascii_digit() || of == '.');
    let is_duration = value.starts_with(|of: char| of.is_ascii_digit()) && value.chars().all(|of| of.is_ascii_alphanumeric() || of == '.');
    if key.contains("weight") || key.contains("percent") {
        return is_number.then_some(EditableSort::Number);
    }
    if path.to_ascii_lowercase().contains("timeout") {
        return is_duration.then_some(if is_number { EditableSort::Number } else { EditableSort::Duration });
    }
    (quote.is_empty() && matches!(value, "true" | "false")).then_some(EditableSort::Switch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use chancery_base::compilation::Options;
    use chancery_base::resource::Inputs;
    use chancery_compile::Compiler;

    #[test]
    fn weights_timeouts_and_switches_are_editable() {
        let text = "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: a, labels: {weight: \"5\"}}\n\
            spec: {hostname: h, prefix: /a/, service: a, weight: 10, timeout_ms: 3000, use_websocket: true, case_sensitive: \"true\"}\n";
        let compilation = Compiler::new(crate::testing::ALL).compile(&Inputs::one("a.yaml", text), &Options::default());
        let (object, positions) = (compilation.objects.iter().next().expect("a Mapping"), compilation.positions());
        let all = editable_values(object, &positions);
        let shown: Vec<_> = all.iter().map(|of| (of.path.as_str(), of.sort, of.value.as_str())).collect();
        assert_eq!(
            shown,
            vec![
                ("spec.weight", EditableSort::Number, "10"),
                ("spec.timeout_ms", EditableSort::Number, "3000"),
                ("spec.use_websocket", EditableSort::Switch, "true"),
            ]
        );
        let weight = &all.first().expect("a weight").span;
        assert_eq!(&text[weight.offset as usize..weight.end_offset as usize], "10");
    }

    #[test]
    fn quoted_duration_keeps_its_quote() {
        assert_eq!(sort_of("spec.routes[0].timeoutPolicy.response", "5s", ""), Some(EditableSort::Duration));
        assert_eq!(sort_of("spec.routes[0].timeoutPolicy.idleTimeout", "5s", "\""), Some(EditableSort::Duration));
        assert_eq!(sort_of("spec.rules[0].timeouts.request", "1h5m", ""), Some(EditableSort::Duration));
        assert_eq!(sort_of("spec.rules[0].timeouts.request", "soon", ""), None);
    }
}
