//! Shared parts of answers: spans in the page's form, findings with plain words, and the options of a compile.

use crate::protocol::{Group, Work};
use chancery_core::compilation::{Compilation, Dialect, Options, for_interactive_use};
use chancery_core::diagnostic::codes;
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

/// All findings, and their groups.
pub fn page_findings(compilation: &Compilation) -> (Vec<PageFinding>, Vec<Group>) {
    let positions = compilation.positions();
    let all = explain::findings(compilation, &positions);
    let group = |of: explain::FindingGroup| Group { first: of.first, others: of.others, consequences: of.consequences };
    let groups = explain::group_findings(&all).into_iter().map(group).collect();
    let findings = all.into_iter().map(|finding| PageFinding { plain: explain::plain_message(&finding, compilation, &positions), finding });
    (findings.collect(), groups)
}

/// The parts of an input that belong to other programs, with the next step, if Chancery reads nothing of the input.
pub fn unsupported(compilation: &Compilation) -> Option<String> {
    let found: Vec<String> = compilation
        .diagnostics
        .iter()
        .filter(|finding| *finding.code == codes::UNSUPPORTED_INPUT)
        .map(|finding| finding.help.iter().fold(format!("{}.", finding.message), |message, help| format!("{message} {}.", sentence_case(help))))
        .collect();
    (compilation.objects.is_empty() && !found.is_empty()).then(|| found.join(" "))
}

/// Starts a text with a capital letter.
fn sentence_case(text: &str) -> String {
    text.chars().take(1).flat_map(char::to_uppercase).chain(text.chars().skip(1)).collect()
}
