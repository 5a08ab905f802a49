use super::{Document, Limits};
pub(super) fn parse(_text: &str, _limits: &Limits) -> Option<Document> { None }
