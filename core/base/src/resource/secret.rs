//! Key material that never shows.
//!
//! Whatever is printed, dumped, logged or shared goes through `Debug`, `Display` or a tree of [`chancery_text::Node`]s. The first two print
//! `<redacted>` here; and a `Secret` has no way to become a node but [`Secret::expose`], which its callers must justify.

use core::fmt;

pub use crate::redact::REDACTED;

/// A value that prints as `<redacted>`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Hides a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself: for handing it to Envoy, or for checking its form.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Something made of the value, hidden as well.
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
