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
    UNKNOWN_FIELD = "unknown-field", Warning, "a field that the kind does not have";
    WRONG_TYPE = "wrong-type", Error, "a value of the wrong type";
    MISSING_FIELD = "missing-field", Error, "a field that must be there is not";
    INVALID_VALUE = "invalid-value", Error, "a value that is not allowed";
    NULL_DROPPED = "null-dropped", Notice, "a field without a value";
    UNSUPPORTED_VERSION = "unsupported-version", Error, "an API version that does not exist";
    DEPRECATED_VERSION = "deprecated-version", Notice, "an API version that is converted";
    INVALID_NAME = "invalid-name", Error, "a name that Kubernetes does not allow";
    INVALID_LABEL = "invalid-label", Error, "a label that Kubernetes does not allow";
    MISSING_HOSTNAME = "missing-hostname", Warning, "a Mapping that no Host finds by its hostname";
}

/// The code of this name.
pub fn find(name: &str) -> Option<&'static Code> {
    ALL.iter().copied().find(|code| code.name == name)
}
