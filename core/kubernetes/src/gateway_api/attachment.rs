//! Decides the listeners that each route attaches to: `parentRefs` on one side, `allowedRoutes` on the other. Does not know which kinds of routes
//! a controller supports.

use super::GROUP;
use crate::cursor::Cursor;
use crate::selector::Selector;

/// Whether an entry of `parentRefs` matches this Gateway or one of its listeners. An omitted field matches every Gateway.
pub fn is_to_gateway(parent: Cursor<'_>, namespace: &str, name: &str) -> bool {
    let fits = |field: &str, wanted: &str| parent.field(field).some_str().is_none_or(|written| written == wanted);
    fits("group", GROUP) && fits("kind", "Gateway") && fits("namespace", namespace) && parent.field("name").str() == name
}

/// Whether an entry of `parentRefs` that matches a Gateway matches this listener.
pub fn is_to_listener(parent: Cursor<'_>, name: &str, port: i64) -> bool {
    parent.field("sectionName").some_str().is_none_or(|section| section == name) && parent.field("port").int().is_none_or(|wanted| wanted == port)
}

/// Whether `allowedRoutes.namespaces` allows routes of a namespace with these labels. Unknown labels (`None`) match every selector.
pub fn allows_namespace<'l, L: Fn(&str) -> Option<&'l str>>(
    namespaces: Cursor<'_>,
    selector: Option<&Selector>,
    gateway_namespace: &str,
    route_namespace: &str,
    labels: Option<L>,
) -> bool {
    match namespaces.field("from").str() {
        "Same" => gateway_namespace == route_namespace,
        "Selector" => match (selector, labels) {
            (Some(selector), Some(labels)) => selector.matches(labels),
            _ => true,
        },
        _ => true,
    }
}
