//! Configures the severity of findings and the time at which they are checked. Does not judge findings; see `chancery_explain::check`.

use super::Severity;
use alloc::collections::BTreeMap;
use chancery_text::Str;

/// The user's settings for findings, and the current time.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Seconds since 1970 in UTC. `None` skips the checks that depend on time.
    pub at: Option<i64>,
    /// Severity levels by code name; they override the codes' own severities.
    pub severities: BTreeMap<Str, Level>,
}

impl Policy {
    /// Whether the policy changes nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The severity of a finding, or `Off` if it is not reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Error,
    Warning,
    Notice,
    Off,
}

impl Level {
    /// All levels with the words that users type.
    pub const ALL: [(&'static str, Level); 4] =
        [("error", Level::Error), ("warning", Level::Warning), ("notice", Level::Notice), ("off", Level::Off)];

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, level)| level)
    }

    /// `None` if the finding is not reported.
    #[must_use]
    pub fn severity(self) -> Option<Severity> {
        match self {
            Level::Error => Some(Severity::Error),
            Level::Warning => Some(Severity::Warning),
            Level::Notice => Some(Severity::Notice),
            Level::Off => None,
        }
    }
}
