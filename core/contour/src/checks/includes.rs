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
use hashbrown::HashMap;

/// The namespace and the name of an included HTTPProxy.
type Included<'o> = (Option<&'o str>, &'o str);

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
    let includes = includes(&proxies);
    let mut found = Vec::new();
    for child in &proxies {
        let Some(includes) = includes.get(&(child.key.namespace.as_deref(), &*child.key.name)) else { continue };
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

/// The includes of all HTTPProxies, by the namespace and the name of the included HTTPProxy.
fn includes<'o>(proxies: &[&'o Object]) -> HashMap<Included<'o>, Vec<Include<'o>>> {
    let mut found: HashMap<Included<'o>, Vec<Include<'o>>> = HashMap::new();
    for object in proxies {
        for include in all_at(&object.root, &["spec", "includes", "*"]) {
            let text = |name: &str| include.get(name).and_then(Node::as_str).filter(|text| !text.is_empty());
            let Some(name) = text("name") else { continue };
            let prefix = prefix_of(include);
            let of =
                Include { object, prefix: prefix.and_then(Node::as_str).unwrap_or_default().trim_end_matches('/'), node: prefix.unwrap_or(include) };
            found.entry((text("namespace").or(object.key.namespace.as_deref()), name)).or_default().push(of);
        }
    }
    found
}

/// The condition `prefix` of a route or an include.
fn prefix_of(of: &Node) -> Option<&Node> {
    all_at(of, &["conditions", "*", "prefix"]).into_iter().next()
}

/// The rest of a path after a prefix, if the path begins with it and a segment ends there.
fn rest_after<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    path.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}
