//! Wraps key material so that it is never shown.
//!
//! Everything that is printed, dumped, logged or shared uses `Debug`, `Display` or a tree of [`chancery_text::Node`]s. The first two print
//! `<redacted>` here. Only [`Secret::expose`] converts a `Secret` to a node, and its callers must justify it.

use core::fmt;

pub use crate::redact::REDACTED;

/// A value that prints as `<redacted>`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself: for passing it to Envoy, or for checking its form.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Computes another hidden value.
    pub fn map<U>(&self, f: impl FnOnce(&T) -> U) -> Secret<U> {
        Secret(f(&self.0))
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl<T> fmt::Display for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}
