//! What kind of finding it is.

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something was refused, dropped or does not work.
    Error,
    /// It works, but hardly as meant.
    Warning,
    /// Worth knowing.
    Notice,
}

impl Severity {
    /// The word that outputs use.
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
    /// Stable name in kebab case, e.g. `unknown-field`.
    pub name: &'static str,
    /// Severity unless configured otherwise.
    pub severity: Severity,
    /// One line for lists.
    pub summary: &'static str,
    /// The page in Markdown: the meaning, an example that produces the code, and the fix.
    pub page: &'static str,
}
