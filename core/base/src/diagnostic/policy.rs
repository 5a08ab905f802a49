//! How findings are judged: how bad each kind of them is, and at what time.
//!
//! What must not be here: the judging itself, which is `chancery_explain::check`'s.

use super::Severity;
use alloc::collections::BTreeMap;
use chancery_text::Str;

/// What a user has decided about findings, and what time it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Seconds since 1970 in UTC. `None`: what depends on the time is not looked into.
    pub at: Option<i64>,
    /// Levels by name of the code, in place of the codes' own.
    pub severities: BTreeMap<Str, Level>,
}

impl Policy {
    /// Whether nothing was decided.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How bad a finding is, or that it is not reported at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// [`Severity::Error`]
    Error,
    /// [`Severity::Warning`]
    Warning,
    /// [`Severity::Notice`]
    Notice,
    /// It is not reported.
    Off,
}

impl Level {
    /// All of them, by the words that people write.
    pub const ALL: [(&'static str, Level); 4] =
        [("error", Level::Error), ("warning", Level::Warning), ("notice", Level::Notice), ("off", Level::Off)];

    /// The level of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, level)| level)
    }

    /// How bad it is; `None` where it is not reported.
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
