//! The registry of codes. Each has a page in `core/src/diagnostic/pages/NAME.md`, whose first `yaml` block is run as a
//! test and must produce the code.

use super::{Code, Severity};

macro_rules! codes {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, $severity:ident, $summary:literal;)*) => {
        $($(#[$doc])* #[doc = concat!("`", $name, "`: ", $summary, ".")] pub static $constant: Code = Code {
            name: $name,
            severity: Severity::$severity,
            summary: $summary,
            page: include_str!(concat!("pages/", $name, ".md")),
        };)*

        /// All codes, in the order in which they are documented.
        pub static ALL: &[&Code] = &[$(&$constant),*];
    };
}

codes! {
    SYNTAX = "syntax", Error, "the text is not YAML or JSON";
}

/// The code of this name.
pub fn find(name: &str) -> Option<&'static Code> {
    ALL.iter().copied().find(|code| code.name == name)
}
