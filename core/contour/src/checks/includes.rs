//! Finds routes that repeat the prefix of their include. Does not check whether the include is valid; see `processor`.
//!
//! Source of behaviour: Contour `internal/dag/httpproxy_processor.go` and `conditions.go` join the prefixes of an include and of its routes.

use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::resource::Object;
use chancery_kubernetes::known::{all_at, is_read};
use chancery_text::Node;

/// An include that adds a prefix.
struct Include<'o> {
    object: &'o Object,
    /// The prefix without a slash at the end; empty without a prefix.
    prefix: &'o str,
    /// The place of the prefix, or of the include.
    node: &'o Node,
}

/// Finds routes whose prefix begins with the prefix of every include of their HTTPProxy. One route without it shows that the author knows how prefixes
/// are joined.
pub fn repeated_prefixes(side: SideRef<'_>) -> Vec<Diagnostic> {
    let proxies: Vec<&Object> = side.objects().iter().filter(|object| *object.key.kind == *"HTTPProxy" && is_read(side, object)).collect();
    let mut found = Vec::new();
    for child in &proxies {
        let includes: Vec<Include<'_>> = proxies.iter().flat_map(|proxy| includes_of(proxy, child)).collect();
        let Some(first) = includes.first().filter(|first| !first.prefix.is_empty()) else { continue };
        let routes: Vec<Option<&Node>> = all_at(&child.root, &["spec", "routes", "*"]).into_iter().map(prefix_of).collect();
        let repeats = |node: &Option<&Node>| node.and_then(Node::as_str).and_then(|prefix| rest_after(prefix, first.prefix)).is_some();
        if includes.iter().any(|include| include.prefix != first.prefix) || routes.is_empty() || !routes.iter().all(repeats) {
            continue;
        }
        for node in routes.into_iter().flatten() {
            let Some(written) = node.as_str() else { continue };
            let Some(rest) = rest_after(written, first.prefix) else { continue };
            let rest = if rest.is_empty() { "/" } else { rest };
            let message =
                format!("the include already adds `{}`: together with this prefix, the route matches `{}{written}`", first.prefix, first.prefix);
            let finding = Diagnostic::new(&codes::REPEATED_PREFIX, message, Place::value(child.id, node.id)).about(child.key.clone());
            let finding = finding.related(Place::value(first.object.id, first.node.id), "the prefix of the include");
            found.push(finding.help(format!("write the rest of the path alone: `prefix: {rest}`")));
        }
    }
    found
}

/// The includes of an HTTPProxy that name another one.
fn includes_of<'o>(object: &'o Object, child: &Object) -> impl Iterator<Item = Include<'o>> {
    let is_meant = |include: &&Node| {
        let text = |name: &str| include.get(name).and_then(Node::as_str).filter(|text| !text.is_empty());
        text("name") == Some(&*child.key.name) && text("namespace").or(object.key.namespace.as_deref()) == child.key.namespace.as_deref()
    };
    let includes: Vec<&Node> = all_at(&object.root, &["spec", "includes", "*"]).into_iter().filter(is_meant).collect();
    includes.into_iter().map(move |include| {
        let prefix = prefix_of(include);
        let text = prefix.and_then(Node::as_str).unwrap_or_default();
        Include { object, prefix: text.trim_end_matches('/'), node: prefix.unwrap_or(include) }
    })
}

/// The condition `prefix` of a route or an include.
fn prefix_of(of: &Node) -> Option<&Node> {
    all_at(of, &["conditions", "*", "prefix"]).into_iter().next()
}

/// The rest of a path after a prefix, if the path begins with it and a segment ends there.
fn rest_after<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    path.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}
