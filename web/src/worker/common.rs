//! What several answers are made with: places as the page has them, and the options of a compile.

use crate::protocol::Work;
use chancery_core::compilation::{Dialect, Options, for_people};
use chancery_core::explain;

/// A core's span as the page has it.
pub fn span(of: &explain::Span) -> crate::protocol::Span {
    crate::protocol::Span {
        file: of.file.to_string(),
        line: of.line,
        end_line: of.end_line,
        column: of.column_utf16,
        end_column: of.end_column_utf16,
    }
}

/// How work is to be compiled.
pub fn options(work: &Work, wanted: Option<&str>, dialects: &[&'static Dialect]) -> Result<Options, String> {
    let mut options = match &work.options {
        None => for_people(),
        Some(serde_json::Value::String(words)) => Options::from_words(words, dialects).map_err(|error| error.to_string())?.or(for_people()),
        Some(data) => serde_json::from_value(data.clone()).map_err(|error| error.to_string())?,
    };
    if let Some(dialect) = wanted {
        options.choose(dialect, dialects).map_err(|error| error.to_string())?;
    }
    Ok(options)
}
