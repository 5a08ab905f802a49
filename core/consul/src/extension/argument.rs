//! Reads arguments of extensions, by name in any case.

use chancery_base::ir::Tree;

pub(crate) fn argument<'a>(of: &'a Tree, name: &str) -> &'a Tree {
    const NOTHING: &Tree = &Tree::NULL;
    let exact = of.find(name);
    exact.or_else(|| of.fields().iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)).unwrap_or(NOTHING)
}

/// The items of an argument; a single value is a list of one.
pub(crate) fn argument_list<'a>(of: &'a Tree, name: &str) -> &'a [Tree] {
    let found = argument(of, name);
    if found.items().is_empty() && !found.fields().is_empty() { core::slice::from_ref(found) } else { found.items() }
}

/// An argument some levels down.
pub(crate) fn argument_at<'a>(of: &'a Tree, path: &[&str]) -> &'a Tree {
    path.iter().fold(of, |tree, name| argument(tree, name))
}

/// The kind of proxy that an extension is for.
pub(super) fn proxy_type(arguments: &Tree) -> &str {
    match argument(arguments, "ProxyType").text() {
        "" => "connect-proxy",
        kind => kind,
    }
}
