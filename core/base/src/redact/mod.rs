//! Finds secrets in texts, and produces texts without them.
//!
//! The contract is an allow-list: of anything that *may* be a Secret, only its shape, its keys, and its kind, name and namespace are visible.
//! Elsewhere, single values are hidden that are credentials by form or by key. This holds however broken the text is: parsable text is judged by
//! its tree ([`secret_objects`], [`value`]), other text by its lines ([`lines`]).
//!
//! ```text
//! text --RedactionMap--> excerpts with stars, copies with stand-ins  (hosts that show or pass on user input)
//! tree --take_secrets--> a tree without secrets, and the secrets     (the reader: secrets never reach objects)
//! output --Redactor--> output without credentials                    (hosts: the last step before output leaves)
//! ```

mod anchors;
mod character_set;
mod context;
mod cover;
mod embedded;
mod lines;
mod message;
mod opaque;
mod placement;
mod redaction_map;
mod redactor;
mod secret_objects;
mod stand_in;
mod value;
mod words;

#[cfg(test)]
mod tests;

pub use anchors::Aliases;
use chancery_text::{Document, ProblemKind, TextRange};
pub use lines::is_secret as may_be_secret;
pub use message::REDACTED;
pub use opaque::{is_opaque as may_be_value, opaque_words};
pub use redaction_map::{Quotes, RedactionMap};
pub use redactor::Redactor;
pub use secret_objects::{TakenSecrets, credentials_of, is_name, may_hold_secret, take_secrets, take_secrets_within};
pub use stand_in::blank_panic;
pub use words::refers_to_store;

/// Whether a document declares its kind twice. The tree contains the last one, but the first may have been meant.
pub fn has_duplicate_kind(document: &Document, text: &str) -> bool {
    let is_kind = |range: TextRange| range.slice(text).trim_matches(['"', '\'']).eq_ignore_ascii_case("kind");
    document.problems.iter().any(|problem| problem.kind == ProblemKind::DuplicateKey && is_kind(problem.range))
}
