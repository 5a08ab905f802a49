//! Values that the page may change in place, as `chancery_core::explain::EditableValue` writes them.

use super::{Edit, Fix, Span};
use serde::{Deserialize, Serialize};

/// What may replace a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditableSort {
    Number,
    Duration,
    Switch,
}

/// A value that the page may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EditableValue {
    /// The path of the field.
    pub path: String,
    pub sort: EditableSort,
    /// The value without quotes.
    pub value: String,
    /// The quote around the value, if any.
    pub quote: String,
    pub span: Span,
}

impl EditableValue {
    /// The change to another value, or nothing if the text cannot be such a value.
    pub fn change_to(&self, text: &str) -> Option<Fix> {
        let text = text.trim();
        let starts_with_digit = text.starts_with(|of: char| of.is_ascii_digit());
        let fits = match self.sort {
            EditableSort::Number => !text.is_empty() && text.chars().all(|of| of.is_ascii_digit() || of == '.'),
            EditableSort::Duration => starts_with_digit && text.chars().all(|of| of.is_ascii_alphanumeric() || of == '.'),
            EditableSort::Switch => matches!(text, "true" | "false"),
        };
        let replacement = format!("{}{text}{}", self.quote, self.quote);
        fits.then(|| Fix { message: String::new(), replacement, span: self.span.clone(), more: Vec::<Edit>::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_keeps_quote_and_refuses_other_text() {
        let value =
            |sort, quote: &str| EditableValue { path: "spec.timeout".into(), sort, value: "5s".into(), quote: quote.into(), span: Span::default() };
        assert_eq!(value(EditableSort::Duration, "'").change_to(" 7s ").map(|fix| fix.replacement), Some("'7s'".into()));
        assert_eq!(value(EditableSort::Duration, "").change_to("7s, a: b"), None);
        assert_eq!(value(EditableSort::Number, "").change_to("x"), None);
        assert_eq!(value(EditableSort::Switch, "").change_to("false").map(|fix| fix.replacement), Some("false".into()));
    }
}
