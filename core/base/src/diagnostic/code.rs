//! Defines the kinds of findings and their severities.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something was refused or dropped, or does not work.
    Error,
    /// It works, but probably not as intended.
    Warning,
    /// Worth knowing.
    Notice,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Notice => "notice",
        }
    }
}

/// A kind of finding, in the registry of [`super::codes`].
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    pub name: &'static str,
    pub severity: Severity,
    /// One full sentence for lists.
    pub summary: &'static str,
    /// The page in Markdown: the meaning, an example that produces the code, and the fix.
    pub page: &'static str,
}
