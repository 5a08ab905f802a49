//! The dialects' names, and which of them a compile uses. Does not name any dialect; see `chancery_core::dialect`.

use crate::protocol::{SourceFile, Work};
use chancery_core::compile::recognise;
use chancery_core::dialect::LANGUAGES;
use chancery_core::resource::{Input, Inputs};

/// The names of all dialects, in the order of `LANGUAGES`.
pub fn names() -> impl Iterator<Item = &'static str> {
    LANGUAGES.iter().map(|language| language.name)
}

/// The names of all dialects with the names of their controllers, in the same order.
pub fn with_controllers() -> impl Iterator<Item = (&'static str, &'static str)> {
    LANGUAGES.iter().map(|language| (language.name, language.controller))
}

/// The page's files as compiler inputs.
pub fn inputs(files: &[SourceFile]) -> Inputs {
    files.iter().map(|file| Input { name: file.name.as_str().into(), text: file.text.clone() }).collect::<Vec<_>>().into()
}

/// The dialects detected in the inputs.
fn detected(inputs: &Inputs) -> Vec<&'static str> {
    let found = recognise(inputs, LANGUAGES.iter().map(|language| language.claims)).into_iter();
    found.filter_map(|(at, _)| LANGUAGES.get(at)).map(|language| language.name).collect()
}

/// Whether a text identifies any dialect.
pub fn is_recognised(text: &str) -> bool {
    !detected(&Inputs::one("pasted", text)).is_empty()
}

/// Whether detection finds this dialect in the inputs. `None` is always found.
pub fn is_detected(inputs: &Inputs, name: Option<&str>) -> bool {
    name.is_none_or(|name| detected(inputs).contains(&name))
}

/// The dialect that the work asks for. If the user did not choose it, it applies only if the inputs use it or use no dialect at all.
pub fn requested(inputs: &Inputs, work: &Work) -> Option<&'static str> {
    let named = work.dialect.as_deref().and_then(|named| names().find(|name| *name == named));
    named.filter(|named| {
        let detected = if work.chosen { Vec::new() } else { detected(inputs) };
        detected.is_empty() || detected.contains(named)
    })
}
