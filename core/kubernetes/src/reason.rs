//! Wraps a controller's message about a refused value. It is only for display; errors that code inspects are enums.

use super::pem::PemError;
use alloc::borrow::Cow;
use alloc::string::{String, ToString as _};
use chancery_base::schema::duration::DurationError;
use core::fmt;

/// Why a controller refuses a value, in the controller's own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(Cow<'static, str>);

impl Reason {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&'static str> for Reason {
    fn from(words: &'static str) -> Self {
        Self(Cow::Borrowed(words))
    }
}

impl From<String> for Reason {
    fn from(words: String) -> Self {
        Self(Cow::Owned(words))
    }
}

impl From<DurationError> for Reason {
    fn from(error: DurationError) -> Self {
        Self(Cow::Owned(error.to_string()))
    }
}

impl From<PemError> for Reason {
    fn from(error: PemError) -> Self {
        Self(Cow::Owned(error.to_string()))
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        reason.0.into_owned()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
