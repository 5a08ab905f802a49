//! Shared parts of answers: spans in the page's form, findings with plain words, and the options of a compile.

use crate::protocol::Work;
use chancery_core::compilation::{Compilation, Dialect, Options, for_interactive_use};
use chancery_core::explain;
use serde::Serialize;

/// Converts the core's span to the protocol's span.
pub fn span(of: &explain::Span) -> crate::protocol::Span {
    crate::protocol::Span {
        file: of.file.to_string(),
        line: of.line,
        end_line: of.end_line,
        column: of.column_utf16,
        end_column: of.end_column_utf16,
    }
}

/// The options to compile work with.
pub fn options(work: &Work, wanted: Option<&str>, dialects: &[&'static Dialect]) -> Result<Options, String> {
    let mut options = match &work.options {
        None => for_interactive_use(Options::default()),
        Some(serde_json::Value::String(words)) => for_interactive_use(Options::from_words(words, dialects).map_err(|error| error.to_string())?),
        Some(data) => serde_json::from_value(data.clone()).map_err(|error| error.to_string())?,
    };
    if let Some(dialect) = wanted {
        options.choose(dialect, dialects).map_err(|error| error.to_string())?;
    }
    Ok(options)
}

/// Whether a character changes the display order of its neighbours.
pub fn changes_direction(of: char) -> bool {
    matches!(of, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Replaces characters that change the display order by their names.
pub fn in_its_order(text: String) -> String {
    if !text.contains(changes_direction) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for of in text.chars() {
        match changes_direction(of) {
            true => out.push_str(&format!("‹U+{:04X}›", u32::from(of))),
            false => out.push(of),
        }
    }
    out
}

/// A finding, with plain words if its message quotes the controller.
#[derive(Serialize)]
pub struct PageFinding {
    #[serde(flatten)]
    finding: explain::Finding,
    plain: Option<String>,
}

pub fn page_findings(compilation: &Compilation) -> Vec<PageFinding> {
    let positions = compilation.positions();
    let all = explain::findings(compilation, &positions).into_iter();
    all.map(|finding| PageFinding { plain: explain::plain_message(&finding, compilation, &positions), finding }).collect()
}
