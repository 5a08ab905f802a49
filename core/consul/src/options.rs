//! How Consul runs: options that affect the result and are not in the documents.

use alloc::collections::BTreeMap;
use chancery_base::compilation::{self, MISSING_OPTION, MISSING_SECRETS_OPTION, OptionKind, OptionSpec};
use chancery_text::Str;

/// How Consul runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Whether everything is denied without an intention.
    pub default_deny: bool,
    /// The documents of peered clusters, by the names that this cluster uses.
    pub peers: BTreeMap<Str, Str>,
}

const POLICY: &str = "default-policy";
const DENY: &str = "deny";
const PEER: &str = "peer";

/// The options that users can set.
pub const SPECS: &[OptionSpec] = &[
    MISSING_OPTION,
    MISSING_SECRETS_OPTION,
    OptionSpec {
        name: POLICY,
        kind: OptionKind::Choice(&[("allow", "they are allowed"), (DENY, "they are denied")]),
        doc: "Treatment of connections that no intention matches",
        common: false,
    },
    OptionSpec { name: PEER, kind: OptionKind::Files, doc: "The documents of a peered cluster, by its name; repeatable", common: false },
];

impl Options {
    /// Reads the options.
    pub fn of(options: &compilation::Options) -> Self {
        Self { default_deny: options.text(POLICY).is_some_and(|policy| policy == DENY), peers: options.map(PEER).cloned().unwrap_or_default() }
    }
}
