//! The versions of Envoy Gateway that can be chosen. The other modules describe the newest one; here is what an older one does differently.
//!
//! Each difference follows from the release notes and from the source of both versions. Names and forms of resources are always the newest.

mod admission;
mod output;
#[cfg(test)]
mod tests;

pub(crate) use admission::admit;
pub(crate) use output::revise;

/// A minor version of Envoy Gateway, in its newest patch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    V1_8,
    #[default]
    V1_9,
}

/// The choices of the option, the newest first.
pub(crate) const CHOICES: &[(&str, &str)] =
    &[("1.9", "Envoy Gateway 1.9.0 with Gateway API 1.6.1"), ("1.8", "Envoy Gateway 1.8.3 with Gateway API 1.5.1")];

impl Version {
    /// Reads the option's value.
    pub(crate) fn of(written: Option<&str>) -> Self {
        if written == Some("1.8") { Self::V1_8 } else { Self::V1_9 }
    }

    /// Whether it behaves like version 1.8.
    pub(crate) fn is_1_8(self) -> bool {
        self == Self::V1_8
    }
}
