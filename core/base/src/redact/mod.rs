//! What must not leave: of every text, where in it something secret may stand, and texts in which it is hidden.
//!
//! The contract, by allow-list: in and around anything that *may* be a Secret only its shape and the names of its keys leave, and its own kind,
//! name and namespace. Elsewhere single values are hidden that are credentials by their look or by their key. It holds however
//! broken the text is: what can be parsed is judged by its tree ([`nature`], [`value`]), what cannot by its lines ([`lines`]).
//!
//! ```text
//! text --Veil--> excerpts with stars, texts with stand-ins      (whoever shows or hands on what a person wrote)
//! tree --keep_back--> a tree without it, and what was in it     (the reader: what is secret never gets into objects)
//! output --HeldBack--> output without it                        (hosts: the last thing before an answer leaves)
//! ```
//!
//! What must not be here: where texts come from and go to, and what a Secret is for.

mod anchors;
mod around;
mod cover;
mod embedded;
mod held_back;
mod hidden;
mod lines;
mod mark;
mod message;
mod nature;
mod opaque;
mod quotes;
mod seen;
mod stand_in;
mod standing;
mod value;
mod veil;
mod words;

#[cfg(test)]
mod tests;

pub use anchors::Aliases;
use chancery_text::{Document, ProblemKind, TextRange};
pub use held_back::HeldBack;
use lines::is_secret as lines_say_secret;
pub use mark::REDACTED;
pub use nature::{KeptBack, credentials_of, is_name, keep_back, keep_back_within, keeps_back};
pub use opaque::opaque_words;
pub use quotes::Quotes;
pub use stand_in::blank_panic;
pub use veil::Veil;

/// Whether a document says twice what it is. The tree has the last of the two, and the first may have been meant.
pub fn says_kind_twice(document: &Document, text: &str) -> bool {
    let is_kind = |range: TextRange| range.slice(text).trim_matches(['"', '\'']).eq_ignore_ascii_case("kind");
    document.problems.iter().any(|problem| problem.kind == ProblemKind::DuplicateKey && is_kind(problem.range))
}

/// Whether a text that cannot be parsed may be a Secret.
pub fn may_be_secret(text: &str) -> bool {
    lines_say_secret(text)
}
