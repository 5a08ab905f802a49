//! Checks free-form fields if a controller knows only certain values of them. Does not list the fields; each dialect does.

use super::{Diagnostic, Place, codes};
use crate::resource::{REDACTED, nearest};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::{quoted, series};

/// The values that a controller knows of a field, and its reaction to others.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub values: Values,
    /// What the controller does with an unknown value: the end of a sentence whose subject is the controller.
    pub otherwise: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// Exactly these words.
    Words(&'static [&'static str]),
    /// These words, ignoring case.
    AnyCase(&'static [&'static str]),
    /// These words, separated by commas.
    Several(&'static [&'static str]),
    /// Any value that the function accepts; the string names the form.
    Form(fn(&str) -> bool, &'static str),
}

impl Values {
    /// The first part of the value that is unknown.
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
    /// The finding for an unknown value. Empty values and values of unexpanded templates are skipped.
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
            Values::Words(_) | Values::AnyCase(_) | Values::Several(_) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                finding.help(format!("it knows {}", series(&words)))
            }
        };
        Some(match intended_word(unknown, words) {
            Some(meant) if unknown == text => finding.fix(format!("write `{meant}`"), place, quoted(meant)),
            Some(meant) => {
                let words: Vec<&str> = text.split(',').map(|word| if word.trim() == unknown { meant } else { word }).collect();
                finding.fix(format!("write `{meant}`"), place, quoted(&words.join(",")))
            }
            None => finding,
        })
    }
}

/// The word that the user certainly meant: the only version in the value (`TLSv1.2` contains `1.2`), or a similarly spelled word. A longer word may
/// be a different word: `https` is not `http`.
fn intended_word(text: &str, words: &[&'static str]) -> Option<&'static str> {
    let is_version = |word: &str| word.starts_with(|first: char| first.is_ascii_digit());
    let held: Vec<&'static str> = words.iter().copied().filter(|word| is_version(word) && text.contains(word)).collect();
    match held[..] {
        [only] => Some(only),
        _ => {
            let near = nearest(text, words.iter().copied())?;
            let goes_on = text.starts_with(near) || near.starts_with(text);
            words.iter().copied().find(|word| *word == near && !goes_on)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::intended_word;

    #[test]
    fn only_certain_words_become_fixes() {
        let protocols = ["tcp", "http", "http2", "grpc"];
        assert_eq!(intended_word("htpp", &protocols), Some("http"));
        assert_eq!(intended_word("HTTP", &protocols), Some("http"));
        for other in ["https", "http3", "grpcs", "grp", "tls"] {
            assert_eq!(intended_word(other, &protocols), None, "{other}");
        }
        assert_eq!(intended_word("'not-true'", &["true", "false"]), None);
        assert_eq!(intended_word("strictest", &["strict", "permissive"]), None);
    }

    #[test]
    fn versions_are_recognized_inside_values() {
        let versions = ["auto", "1.2", "1.3"];
        assert_eq!(intended_word("TLSv1.2", &versions), Some("1.2"));
        assert_eq!(intended_word("TLS_1.3", &versions), Some("1.3"));
        assert_eq!(intended_word("1.2,1.3", &versions), None);
    }
}
