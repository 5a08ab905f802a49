//! Finds the fields in which two messages differ, except names and statistics. Does not choose the messages.

use super::super::fields::{OmittedFields, differences, tree};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy_api::any::AnyMessage;
use chancery_text::Node;

/// A field that differs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Residue {
    /// Its path, as `retry_policy.num_retries`.
    pub(super) path: String,
    /// Its JSON pointer from the message of each side.
    pub(super) pointers: [String; 2],
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

/// Fields without effect on requests: at the top of a message, and at any depth.
const IGNORED: [&str; 8] = ["name", "alt_stat_name", "access_log_options", "tracing", "metadata", "decorator", "virtual_clusters", "stats_matcher"];
/// A `runtime_key` names a value that an operator may set while Envoy runs: the name alone has no effect.
const IGNORED_ANYWHERE: [&str; 3] = ["stat_prefix", "access_log", "runtime_key"];

fn is_ignored(pointer: &str) -> bool {
    let mut steps = pointer.split('/').skip(1);
    steps.next().is_some_and(|first| IGNORED.contains(&first) || IGNORED_ANYWHERE.contains(&first))
        || steps.any(|step| IGNORED_ANYWHERE.contains(&step))
}

/// Returns the fields in which two messages differ, without the omitted ones. `same` decides whether two cluster names mean the same cluster.
pub(super) fn residue(before: &dyn AnyMessage, after: &dyn AnyMessage, without: OmittedFields, same: &dyn Fn(&str, &str) -> bool) -> Vec<Residue> {
    // If much of a message is left out, comparing the rest is faster than comparing the whole first.
    if without.is_empty() && before.equals(after) {
        return Vec::new();
    }
    let (a, b) = (tree(before, without), tree(after, without));
    let text = |node: Option<&Node>| node.and_then(|node| node.as_str().map(ToString::to_string));
    let found = differences(&a, &b).into_iter().filter(|found| !is_ignored(&found.pointers[0]));
    let found = found.filter(|found| !matches!((text(found.before), text(found.after)), (Some(a), Some(b)) if same(&a, &b)));
    found
        .map(|found| {
            let [before, after] = found.described();
            Residue { before, after, path: found.path, pointers: found.pointers }
        })
        .collect()
}
