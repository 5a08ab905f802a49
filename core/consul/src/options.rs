//! How Consul runs: what changes the answer and is not in the documents.
//!
//! What must not be here: what it changes.

use alloc::collections::BTreeMap;
use chancery_base::compilation::{self, MISSING_OPTION, MISSING_SECRETS_OPTION, OptionKind, OptionSpec};
use chancery_text::Str;

/// How Consul runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Without an intention, everything is denied.
    pub default_deny: bool,
    /// The documents of peered clusters, by the names that this one has for them.
    pub peers: BTreeMap<Str, Str>,
}

const POLICY: &str = "default-policy";
const DENY: &str = "deny";
const PEER: &str = "peer";

/// The options by which people say so.
pub const SPECS: &[OptionSpec] = &[
    MISSING_OPTION,
    MISSING_SECRETS_OPTION,
    OptionSpec {
        name: POLICY,
        kind: OptionKind::Choice(&[("allow", "Everybody may"), (DENY, "Nobody may")]),
        doc: "What applies where no intention matches",
        common: false,
    },
    OptionSpec {
        name: PEER,
        kind: OptionKind::Files,
        doc: "The documents of a peered cluster by its name; may be given several times",
        common: false,
    },
];

impl Options {
    /// How Consul runs, by the options that are given.
    pub fn of(options: &compilation::Options) -> Self {
        Self { default_deny: options.text(POLICY).is_some_and(|policy| policy == DENY), peers: options.map(PEER).cloned().unwrap_or_default() }
    }
}
