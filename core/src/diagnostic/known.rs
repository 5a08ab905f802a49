//! Fields that take any text, of which a controller knows some values and takes none of the others.
//!
//! What must not be here: which fields there are, and values that are refused.

use super::{Diagnostic, Place, codes};
use crate::resource::{REDACTED, nearest};
use crate::text::quoted;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What a controller knows of a field, and what it does with everything else.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The values that it knows.
    pub values: Values,
    /// What it does where it does not know the value: the end of a sentence whose subject it is.
    pub otherwise: &'static str,
}

/// The values that a controller knows of a field.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// These words.
    Words(&'static [&'static str]),
    /// These words, in any case.
    AnyCase(&'static [&'static str]),
    /// These words, with commas between them.
    Several(&'static [&'static str]),
    /// Whatever is of this form, which has a name.
    Form(fn(&str) -> bool, &'static str),
}

impl Values {
    /// What of a text is not known.
    fn unknown(self, text: &str) -> Option<&str> {
        let is_known = match self {
            Self::Words(words) => words.contains(&text),
            Self::AnyCase(words) => words.iter().any(|word| word.eq_ignore_ascii_case(text)),
            Self::Several(words) => return text.split(',').map(str::trim).find(|word| !words.contains(word)),
            Self::Form(is_known, _) => is_known(text),
        };
        (!is_known).then_some(text)
    }

    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Words(words) | Self::AnyCase(words) | Self::Several(words) => words,
            Self::Form(..) => &[],
        }
    }
}

impl Known {
    /// The finding for a value that the controller does not know. An empty one is not written, and what a template leaves is not yet a value.
    pub fn judge(&self, controller: &str, text: &str, place: Place) -> Option<Diagnostic> {
        let is_left = ["${", "$(", "{{"].iter().any(|open| text.contains(open));
        if text.is_empty() || text == REDACTED || is_left {
            return None;
        }
        let unknown = self.values.unknown(text)?;
        let message = format!("{controller} does not know `{unknown}` here, and {}", self.otherwise);
        let finding = Diagnostic::new(&codes::UNKNOWN_VALUE, message, place.clone());
        let words = self.values.words();
        let finding = match self.values {
            Values::Form(_, name) => finding.help(format!("write {name}")),
            Values::Words(_) | Values::AnyCase(_) | Values::Several(_) => finding.help(format!("it knows {}", list(words))),
        };
        Some(match meant(unknown, words) {
            Some(meant) => finding.fix(format!("write `{meant}`"), place, quoted(&text.replacen(unknown, meant, 1))),
            None => finding,
        })
    }
}

/// The word that was certainly meant: one that is spelled nearly so, or the only one that the text holds, as `TLSv1.2` holds `1.2`.
fn meant(text: &str, words: &[&'static str]) -> Option<&'static str> {
    let held: Vec<&'static str> = words.iter().copied().filter(|word| word.len() > 2 && text.contains(word)).collect();
    match held[..] {
        [only] => Some(only),
        _ => nearest(text, words.iter().copied()).and_then(|near| words.iter().copied().find(|word| *word == near)),
    }
}

fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match &quoted[..] {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        all => all.join(""),
    }
}
