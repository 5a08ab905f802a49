//! Reports prefix rewrites with one slash too many or too few, rewrites that name missing groups, and rewrites with a query.

use super::whole::{Whole, written};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::diagnostic::{Severity, codes};
use chancery_base::ir::{PathMatch, PathRewrite, RedirectPath, RouteAction, Tree};
use chancery_base::re2::engine::{Finder, greatest_group};
use chancery_base::resource::{ObjectId, Origin, Sourced};
use hashbrown::HashSet;

/// A replaced prefix.
struct Replaced<'a> {
    prefix: &'a str,
    by: &'a str,
    /// The object that made the route.
    owner: Option<ObjectId>,
    /// The place of the replacement.
    origin: Option<Origin>,
    /// Whether the client is redirected to the new path, instead of the upstream getting it.
    redirects: bool,
}

/// The prefixes of each object, and the replaced ones.
#[derive(Default)]
struct Found<'a> {
    prefixes: HashSet<(Option<ObjectId>, &'a str)>,
    replaced: Vec<Replaced<'a>>,
}

pub(super) fn check(whole: &mut Whole<'_>) {
    groups(whole);
    queries(whole);
    let mut found = Found::default();
    collect_lowered(whole, &mut found);
    let all = &whole.ir.delivery.verbatim;
    for tree in all.listeners.iter().chain(&all.routes) {
        collect_verbatim(tree, None, &mut found);
    }
    let Found { prefixes, replaced } = found;
    for Replaced { prefix, by: other, owner, origin, redirects } in replaced {
        let verb = if redirects { "is redirected to" } else { "reaches the upstream as" };
        if !other.is_empty() && !other.starts_with('/') && prefix.starts_with('/') {
            if whole.object(origin).is_some() {
                let message = format!("a request for `{prefix}` {verb} `{other}`, which is not a path");
                let mut finding = whole.finding(&codes::REWRITE_SLASHES, origin, message);
                finding.severity = Severity::Warning;
                whole.report(finding.help(format!("begin the replacement with a slash: `/{other}`")));
            }
            continue;
        }
        let (begins, ends) = (prefix.ends_with('/'), other.ends_with('/'));
        // `impossible` reports invalid paths.
        if begins == ends || prefix.is_empty() || other.is_empty() || !prefix.starts_with('/') || prefix.contains(['?', '#', '*', '{', ' ']) {
            continue;
        }
        // Contour makes two routes of each, with and without the slash.
        let twin: String = if begins { prefix.trim_end_matches('/').into() } else { format!("{prefix}/") };
        if prefixes.contains(&(owner, twin.as_str())) {
            continue;
        }
        let asked = format!("{prefix}{}a", if begins { "" } else { "/" });
        let sent = format!("{other}{}", asked.get(prefix.len()..).unwrap_or_default());
        let Some(key) = whole.key(origin) else { continue };
        let message = format!("a request for `{asked}` {verb} `{sent}`");
        let help = if begins {
            format!("end the replacement with a slash: `{other}/`")
        } else {
            format!("end the prefix with a slash too: `{prefix}/`. A request for `{prefix}` then needs a separate route")
        };
        let finding = whole.finding(&codes::REWRITE_SLASHES, origin, message).about(key.clone());
        whole.report(finding.help(help));
    }
}

/// Reports rewrites with a query. Envoy replaces a part of the path, and keeps everything after that part (`source/common/router/config_impl.cc`).
fn queries(whole: &mut Whole<'_>) {
    let mut found: Vec<(String, Option<Origin>)> = Vec::new();
    for (_, forward) in whole.forwards() {
        let Some(rewrite) = &forward.path_rewrite else { continue };
        let text = match &rewrite.value {
            PathRewrite::Prefix(by) => by.as_str(),
            PathRewrite::Regex(rewrite) => rewrite.substitution.as_str(),
        };
        found.push((text.into(), rewrite.origin));
    }
    let all = &whole.ir.delivery.verbatim;
    all.listeners.iter().chain(&all.routes).for_each(|tree| collect_rewrites(tree, &mut found));
    for (text, origin) in found {
        if text.contains('?') && whole.object(origin).is_some() {
            let message = format!("`{text}` has a query, but a rewrite only replaces the path: the query of the request follows it as a second `?`");
            let finding = whole.finding(&codes::QUERY_IN_REWRITE, origin, message);
            whole.report(finding.help("remove the query: no rewrite can add one"));
        }
    }
}

/// Collects the rewrites of routes that a dialect writes verbatim.
fn collect_rewrites(tree: &Tree, found: &mut Vec<(String, Option<Origin>)>) {
    let route = tree.get("route");
    for rewrite in [route.get("prefix_rewrite"), route.at(&["regex_rewrite", "substitution"])] {
        if rewrite.text().contains('?') {
            found.push((rewrite.text().into(), rewrite.origin));
        }
    }
    if route.is_null() {
        tree.fields().iter().for_each(|(_, value)| collect_rewrites(value, found));
        tree.items().iter().for_each(|value| collect_rewrites(value, found));
    }
}

/// Checks rewrites by regular expressions.
fn groups(whole: &mut Whole<'_>) {
    for route in whole.routes.clone().iter() {
        let (rewrite, origin) = match &route.action {
            RouteAction::Forward(forward) => match &forward.path_rewrite {
                Some(Sourced { value: PathRewrite::Regex(rewrite), origin, .. }) => (&**rewrite, *origin),
                _ => continue,
            },
            RouteAction::Redirect(redirect) => match &redirect.path {
                Some(Sourced { value: RedirectPath::Regex(rewrite), origin, .. }) => (rewrite, *origin),
                _ => continue,
            },
            _ => continue,
        };
        let Ok(pattern) = Finder::new(&rewrite.pattern.regex) else { continue };
        let (named, there) = (greatest_group(&rewrite.substitution), pattern.group_count());
        let groups = match there {
            0 => "no group".to_string(),
            1 => "one group".to_string(),
            more => format!("{more} groups"),
        };
        let dollar = rewrite.substitution.split('$').skip(1).find_map(|after| after.chars().next().filter(char::is_ascii_digit));
        let message = match dollar {
            _ if named > there => format!("the substitution names the group `\\{named}`, and the expression has {groups}: Envoy rewrites nothing"),
            Some(digit) => format!("`${digit}` is plain text in the substitution: Envoy writes the group as `\\{digit}`"),
            None => continue,
        };
        if whole.object(origin).is_some() {
            let finding = whole.finding(&codes::UNKNOWN_REWRITE_GROUP, origin, message);
            whole.report(finding.help("groups are the parts of the expression in parentheses, counted from `\\1`; `\\0` is the whole match"));
        }
    }
}

/// Collects prefixes of routes that a dialect lowers.
fn collect_lowered<'a>(whole: &Whole<'a>, found: &mut Found<'a>) {
    let is_there = |origin: &Origin| whole.object(Some(*origin)).is_some();
    for (route, forward) in whole.forwards() {
        let (PathMatch::Prefix(prefix) | PathMatch::PathSeparatedPrefix(prefix)) = &route.matcher.path.value else { continue };
        let owner = written(&route.origins).map(|origin| origin.object());
        found.prefixes.insert((owner, prefix.as_str()));
        let Some(rewrite) = &forward.path_rewrite else { continue };
        let PathRewrite::Prefix(by) = &rewrite.value else { continue };
        let origin = rewrite.origin.filter(is_there).or_else(|| route.matcher.path.origin.filter(is_there)).or_else(|| written(&route.origins));
        found.replaced.push(Replaced { prefix, by, owner, origin, redirects: false });
    }
    for &route in whole.routes.iter() {
        let (PathMatch::Prefix(prefix) | PathMatch::PathSeparatedPrefix(prefix)) = &route.matcher.path.value else { continue };
        let RouteAction::Redirect(redirect) = &route.action else { continue };
        let owner = written(&route.origins).map(|origin| origin.object());
        found.prefixes.insert((owner, prefix.as_str()));
        let Some(Sourced { value: RedirectPath::Prefix(by), origin }) = &redirect.path else { continue };
        let origin = origin.filter(is_there).or_else(|| route.matcher.path.origin.filter(is_there)).or_else(|| written(&route.origins));
        found.replaced.push(Replaced { prefix, by, owner, origin, redirects: true });
    }
}

/// Collects prefixes of routes that a dialect writes verbatim. `above` is the origin of the nearest enclosing value that has one.
fn collect_verbatim<'a>(tree: &'a Tree, above: Option<Origin>, found: &mut Found<'a>) {
    let own = tree.origin.or(above);
    let (matcher, by) = (tree.get("match"), tree.at(&["route", "prefix_rewrite"]));
    let prefix = ["prefix", "path_separated_prefix"].map(|name| matcher.get(name)).into_iter().find(|prefix| !prefix.text().is_empty());
    if let Some(prefix) = prefix.filter(|_| !tree.get("route").is_null()) {
        let owner = own.map(|origin| origin.object());
        found.prefixes.insert((owner, prefix.text()));
        if !by.text().is_empty() {
            found.replaced.push(Replaced {
                prefix: prefix.text(),
                by: by.text(),
                owner,
                origin: by.origin.or(prefix.origin).or(own),
                redirects: false,
            });
        }
        return;
    }
    tree.fields().iter().for_each(|(_, value)| collect_verbatim(value, own, found));
    tree.items().iter().for_each(|value| collect_verbatim(value, own, found));
}
