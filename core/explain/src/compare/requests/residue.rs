//! The fields in which two messages differ, names and statistics aside.
//!
//! What must not be here: which messages are compared.

use super::super::fields::{Without, differences, shown, tree};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy_api::any::AnyMessage;
use chancery_text::Node;

/// A field that differs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Residue {
    /// Its path, as `retry_policy.num_retries`.
    pub(super) path: String,
    /// JSON pointer from the message.
    pub(super) pointer: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

/// What changes nothing for a request: of a message itself, and wherever it stands.
const ASIDE: [&str; 8] = ["name", "alt_stat_name", "access_log_options", "tracing", "metadata", "decorator", "virtual_clusters", "stats_matcher"];
/// A `runtime_key` names what an operator may set while Envoy runs: the name alone changes nothing.
const ASIDE_ANYWHERE: [&str; 3] = ["stat_prefix", "access_log", "runtime_key"];

fn is_aside(pointer: &str) -> bool {
    let mut steps = pointer.split('/').skip(1);
    steps.next().is_some_and(|first| ASIDE.contains(&first) || ASIDE_ANYWHERE.contains(&first)) || steps.any(|step| ASIDE_ANYWHERE.contains(&step))
}

/// The fields in which two messages differ, some left out. Of two names of clusters `same` says whether they are of the same cluster.
pub(super) fn residue(before: &dyn AnyMessage, after: &dyn AnyMessage, without: Without, same: &dyn Fn(&str, &str) -> bool) -> Vec<Residue> {
    // With much of a message left out, the rest is sooner compared than the whole.
    if without.is_empty() && before.equals(after) {
        return Vec::new();
    }
    let (a, b) = (tree(before, without), tree(after, without));
    let text = |node: Option<&Node>| node.and_then(|node| node.as_str().map(ToString::to_string));
    let found = differences(&a, &b).into_iter().filter(|found| !is_aside(&found.pointer));
    let found = found.filter(|found| !matches!((text(found.before), text(found.after)), (Some(a), Some(b)) if same(&a, &b)));
    found.map(|found| Residue { before: found.before.map(shown), after: found.after.map(shown), path: found.path, pointer: found.pointer }).collect()
}
