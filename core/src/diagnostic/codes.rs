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
    BROKEN_SEPARATOR = "broken-separator", Warning, "a line looks like a separator of documents, but is none";
    SUSPICIOUS_TEXT = "suspicious-text", Warning, "text that Kubernetes reads otherwise than it looks";
    TEMPLATE = "template", Error, "a template was not rendered";
    DUPLICATE_KEY = "duplicate-key", Warning, "a key stands twice in one object; the last one counts";
    BAD_ANCHOR = "bad-anchor", Error, "an alias or merge key leads nowhere";
    ALIAS_BOMB = "alias-bomb", Error, "aliases stand for too much";
    TOO_LARGE = "too-large", Error, "a document is larger or deeper than what is read";
    NOT_JSON = "not-json", Error, "a key or value has no form in JSON";
    INCOMPLETE_OBJECT = "incomplete-object", Error, "an object does not say what it is";
    NAME_NOT_A_STRING = "name-not-a-string", Error, "YAML reads a name as a number or a boolean";
    INVALID_SERVICE = "invalid-service", Error, "Kubernetes does not accept the Service";
    INVALID_INGRESS = "invalid-ingress", Error, "Kubernetes does not accept the Ingress";
    INVALID_SECRET = "invalid-secret", Error, "Kubernetes does not accept the Secret";
    OVERWRITTEN = "overwritten", Warning, "a later document of the same name overwrites an earlier one";
    UNKNOWN_KIND = "unknown-kind", Notice, "the controller does not read this kind";
    EDGE_STACK_KIND = "edge-stack-kind", Warning, "only the Edge Stack reads this kind";
    DUPLICATE_RESOURCE = "duplicate-resource", Error, "two resources of one kind have the same name and namespace";
    OTHER_AMBASSADOR_ID = "other-ambassador-id", Notice, "the resource is for another instance of the controller";
    NOT_WATCHED = "not-watched", Notice, "the controller does not look there";
    CLASS_NOT_OURS = "class-not-ours", Notice, "the Ingress belongs to another class";
    ANNOTATION_LOST = "annotation-lost", Error, "one broken document loses a whole annotation";
    ANNOTATION_NOT_READ = "annotation-not-read", Warning, "configuration in the annotation of a kind where nobody reads it";
    UNSUPPORTED_IN_ANNOTATION = "unsupported-in-annotation", Error, "a kind in an annotation that nobody reads";
    UNREFERENCED_SECRET = "unreferenced-secret", Notice, "nothing in use refers to the Secret";
    UNUSABLE_SECRET = "unusable-secret", Warning, "the Secret has nothing that the controller would use";
    BAD_PEM = "bad-pem", Warning, "a certificate or key is not PEM";
    ASSUMED_SECRET = "assumed-secret", Notice, "a Secret that is not among the input is taken to exist";
    BAD_DURATION = "bad-duration", Error, "a duration cannot be read";
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
