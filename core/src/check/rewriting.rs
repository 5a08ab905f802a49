//! Prefixes that are put together with one slash too many or too few.
//!
//! What must not be here: whether the upstream minds.

use super::whole::{Whole, written};
use crate::diagnostic::codes;
use crate::ir::{PathMatch, PathRewrite, Route};
use crate::resource::ObjectId;
use crate::text::Str;
use alloc::format;
use alloc::string::String;
use hashbrown::HashSet;

pub(super) fn check(whole: &mut Whole<'_>) {
    // Contour makes a route with the slash and one without of each.
    let prefix = |route: &Route| match &route.matcher.path.value {
        PathMatch::Prefix(prefix) | PathMatch::PathSeparatedPrefix(prefix) => Some(prefix.clone()),
        PathMatch::Exact(_) | PathMatch::Regex(_) => None,
    };
    let prefixes: HashSet<(Option<ObjectId>, Str)> =
        whole.forwards().filter_map(|(route, _)| Some((written(&route.origins).map(|origin| origin.object()), prefix(route)?))).collect();
    for (route, forward) in whole.forwards() {
        let (Some(rewrite), PathMatch::Prefix(prefix) | PathMatch::PathSeparatedPrefix(prefix)) = (&forward.path_rewrite, &route.matcher.path.value)
        else {
            continue;
        };
        let PathRewrite::Prefix(other) = &rewrite.value else { continue };
        let (begins, ends) = (prefix.ends_with('/'), other.ends_with('/'));
        // `impossible` reports what is no plain path.
        if begins == ends || prefix.is_empty() || other.is_empty() || !prefix.starts_with('/') || prefix.contains(['?', '#', '*', '{', ' ']) {
            continue;
        }
        let twin: String = if begins { prefix.trim_end_matches('/').into() } else { format!("{prefix}/") };
        if prefixes.contains(&(written(&route.origins).map(|origin| origin.object()), twin.into())) {
            continue;
        }
        let asked = format!("{prefix}{}a", if begins { "" } else { "/" });
        let sent = format!("{other}{}", asked.get(prefix.len()..).unwrap_or_default());
        let origin = rewrite.origin.filter(|origin| whole.object(Some(*origin)).is_some());
        let origin =
            origin.or_else(|| route.matcher.path.origin.filter(|origin| whole.object(Some(*origin)).is_some())).or_else(|| written(&route.origins));
        let Some(key) = whole.key(origin) else { continue };
        let message = format!("a request for `{asked}` reaches the upstream as `{sent}`");
        let help =
            if begins { format!("end the replacement with a slash: `{other}/`") } else { format!("end the prefix with a slash too: `{prefix}/`") };
        let finding = whole.finding(&codes::REWRITE_SLASHES, origin, message).about(key.clone());
        whole.report(finding.help(help));
    }
}
