//! Resolves places in a document: JSON pointers, the tolerant forms in which users write them, and readable names for them. Does not know origins;
//! see `trace`.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::output_map::{push_index, push_name};
use chancery_text::{Node, Value};

pub fn get<'n>(root: &'n Node, pointer: &str) -> Option<&'n Node> {
    steps(pointer).try_fold(root, |node, step| child(node, &step))
}

/// Returns the steps of a JSON pointer, unescaped.
fn steps(pointer: &str) -> impl Iterator<Item = String> {
    pointer.strip_prefix('/').into_iter().flat_map(|rest| rest.split('/')).map(|step| step.replace("~1", "/").replace("~0", "~"))
}

fn child<'n>(node: &'n Node, step: &str) -> Option<&'n Node> {
    match &node.value {
        Value::Object(object) => object.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}

/// Returns the places that `asked` may mean, in the order of the document. It may be
///
/// - a JSON pointer, with names of elements in place of their numbers: `/static_resources/clusters/cluster_quote_default/connect_timeout`;
/// - a path with dots and brackets: `static_resources.clusters[0]`;
/// - the end of either: `route/timeout`;
/// - a kind and a name: `cluster:cluster_quote_default`, `listener:`, `host:` (virtual host), `route:` (its path), `secret:`.
///
/// If the place does not exist but its object does, a whole pointer is returned unchanged.
pub fn resolve(root: &Node, asked: &str) -> Vec<String> {
    let asked = asked.trim();
    let asked = asked.strip_prefix('#').unwrap_or(asked);
    if asked.is_empty() || asked == "/" {
        return Vec::from([String::new()]);
    }
    if get(root, asked).is_some() && asked.starts_with('/') {
        return Vec::from([asked.to_owned()]);
    }
    if let Some((kind, rest)) = asked.split_once(':').filter(|(kind, _)| list_of(kind).is_some()) {
        return by_name(root, kind, rest);
    }
    let parts = parts_of(asked);
    if let Some(found) = along(root, &parts) {
        return Vec::from([found]);
    }
    let mut found = Vec::new();
    let last = parts.last().map_or("", String::as_str);
    walk(root, &mut String::new(), &mut |pointer, node| {
        // The last step rules out most places.
        let step = pointer.rsplit('/').next().unwrap_or_default();
        if step != last && !step.contains('~') && item_name(node) != Some(last) {
            return;
        }
        let steps: Vec<String> = steps(pointer).collect();
        if ends_with(&steps, &parts, root) && !node.is_null() {
            found.push(pointer.to_owned());
        }
    });
    if found.is_empty() && asked.starts_with('/') {
        // For an unset field: the place that it would have.
        let known = (1..parts.len()).rev().find_map(|len| along(root, &parts[..len]).map(|known| (known, len)));
        // A list has no unset elements.
        let known = known.filter(|(known, _)| get(root, known).is_some_and(|node| node.as_object().is_some()));
        if let Some((mut known, len)) = known {
            parts[len..].iter().for_each(|part| push_name(&mut known, part));
            found.push(known);
        }
    }
    found
}

/// Splits a pointer, or a path with dots and brackets, into steps.
fn parts_of(asked: &str) -> Vec<String> {
    if asked.contains('/') {
        let asked = if asked.starts_with('/') { asked.to_owned() } else { format!("/{asked}") };
        return steps(&asked).collect();
    }
    let spread = asked.replace('[', ".").replace(']', "");
    spread.split('.').filter(|part| !part.is_empty()).map(|part| part.trim_matches('"').to_owned()).collect()
}

/// Follows steps from the root, through elements of lists by number or name.
fn along(root: &Node, parts: &[String]) -> Option<String> {
    let (mut node, mut pointer) = (root, String::new());
    for part in parts {
        match &node.value {
            Value::Array(items) => {
                let numbered = part.parse::<usize>().ok().filter(|at| *at < items.len());
                let at = numbered.or_else(|| items.iter().position(|item| item_name(item) == Some(part)))?;
                push_index(&mut pointer, at);
                node = items.get(at)?;
            }
            Value::Object(object) => {
                push_name(&mut pointer, part);
                node = object.get(part)?;
            }
            _ => return None,
        }
    }
    Some(pointer)
}

fn ends_with(steps: &[String], parts: &[String], root: &Node) -> bool {
    let Some(from) = steps.len().checked_sub(parts.len()) else { return false };
    let same = |(step, part): (&String, &String)| step == part;
    if steps[from..].iter().zip(parts).all(same) {
        return true;
    }
    // Users may write names of elements in place of numbers.
    let mut node = root;
    for (at, step) in steps.iter().enumerate() {
        let Some(next) = child(node, step) else { return false };
        if at >= from {
            let part = &parts[at - from];
            let named = matches!(node.value, Value::Array(_)) && item_name(next) == Some(part);
            if step != part && !named {
                return false;
            }
        }
        node = next;
    }
    true
}

/// Returns the key of the lists that contain parts of a kind.
fn list_of(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "cluster" => "clusters",
        "listener" => "listeners",
        "host" | "vhost" | "virtual_host" => "virtual_hosts",
        "route" => "routes",
        "secret" => "secrets",
        "endpoint" => "endpoints",
        "pool" => "backendAddressPools",
        "settings" => "backendHttpSettingsCollection",
        "rule" => "requestRoutingRules",
        "path-map" => "urlPathMaps",
        "probe" => "probes",
        _ => return None,
    })
}

/// Returns elements of a kind by their name, and by the text after it.
fn by_name(root: &Node, kind: &str, rest: &str) -> Vec<String> {
    let list = list_of(kind).unwrap_or_default();
    let mut found = Vec::new();
    let mut longest = 0;
    walk(root, &mut String::new(), &mut |pointer, node| {
        let (holder, _) = pointer.rsplit_once('/').unwrap_or_default();
        if !holder.ends_with(list) || holder.strip_suffix(list).is_none_or(|before| !before.ends_with('/')) {
            return;
        }
        let names = [item_name(node), path_of(node)];
        for name in names.into_iter().flatten() {
            let Some(after) = rest.strip_prefix(name).filter(|after| after.is_empty() || after.starts_with(['/', ' '])) else { continue };
            let mut pointer = pointer.to_owned();
            let after = after.trim_matches(['/', ' ']);
            if !after.is_empty() {
                parts_of(after).iter().for_each(|part| push_name(&mut pointer, part));
            }
            if name.len() > longest {
                longest = name.len();
                found.clear();
            }
            if name.len() == longest && !found.contains(&pointer) {
                found.push(pointer);
            }
        }
    });
    found
}

fn walk(node: &Node, pointer: &mut String, visit: &mut impl FnMut(&str, &Node)) {
    visit(pointer, node);
    let before = pointer.len();
    match &node.value {
        Value::Object(object) => {
            for entry in object {
                push_name(pointer, &entry.key);
                walk(&entry.value, pointer, visit);
                pointer.truncate(before);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                push_index(pointer, at);
                walk(item, pointer, visit);
                pointer.truncate(before);
            }
        }
        _ => {}
    }
}

/// Returns the readable name of a list element: its name, or the path that it matches.
pub fn name_of(node: &Node) -> Option<&str> {
    item_name(node).or_else(|| path_of(node))
}

/// Returns the name of a list element.
pub(super) fn item_name(node: &Node) -> Option<&str> {
    ["name", "cluster_name"].iter().find_map(|key| node.get(key)?.as_str()).filter(|name| !name.is_empty())
}

/// Returns the path that a route matches, in Envoy's form or the IR's.
pub(super) fn path_of(node: &Node) -> Option<&str> {
    if let Some(path) = node.at(&["matcher", "path"]).and_then(Node::as_object) {
        let value = &path.entries().first()?.value;
        return value.as_str().or_else(|| value.get("regex")?.as_str());
    }
    let of = node.get("match")?;
    let simple = ["prefix", "path", "path_separated_prefix"].iter().find_map(|key| of.get(key)?.as_str());
    simple.or_else(|| of.at(&["safe_regex", "regex"])?.as_str())
}

/// Describes a place: "listener `ambassador-listener-8080` › virtual host `*` › route 3 (/quote/) › timeout".
pub fn describe(root: &Node, pointer: &str) -> Vec<String> {
    let mut crumbs = Vec::new();
    let mut fields: Vec<String> = Vec::new();
    let (mut node, mut last) = (Some(root), String::new());
    for step in steps(pointer) {
        let next = node.and_then(|node| child(node, &step));
        let in_list = node.is_some_and(|node| matches!(node.value, Value::Array(_)));
        let crumb = next.filter(|_| in_list).and_then(|item| crumb(&last, &step, item));
        match crumb {
            Some(crumb) => {
                fields.clear();
                crumbs.push(crumb);
            }
            None if in_list => {
                let name = next.and_then(item_name).map_or_else(|| step.clone(), ToString::to_string);
                match fields.last_mut() {
                    Some(field) => *field = format!("{field}[{name}]"),
                    None => fields.push(format!("[{name}]")),
                }
            }
            // Wrappers that mean nothing to a user.
            None if matches!(&*step, "typed_config" | "static_resources" | "route_config" | "properties")
                && next.is_some_and(|next| next.as_object().is_some()) =>
            {
                fields.clear();
            }
            None => fields.push(step.clone()),
        }
        (node, last) = (next, step);
    }
    if !fields.is_empty() {
        crumbs.push(fields.join("."));
    }
    crumbs
}

fn crumb(list: &str, step: &str, item: &Node) -> Option<String> {
    let named = |what: &str| item_name(item).map_or_else(|| format!("{what} {step}"), |name| format!("{what} `{name}`"));
    Some(match list {
        "listeners" | "httpListeners" => named("listener"),
        "backendAddressPools" => named("backend pool"),
        "backendHttpSettingsCollection" => named("backend settings"),
        "requestRoutingRules" => named("routing rule"),
        "urlPathMaps" => named("path map"),
        "pathRules" => named("path rule"),
        "probes" => named("probe"),
        "frontendPorts" => named("frontend port"),
        "redirectConfigurations" => named("redirect"),
        "rewriteRuleSets" => named("rewrite rule set"),
        "sslCertificates" => named("certificate"),
        "trustedRootCertificates" => named("trusted root certificate"),
        "clusters" if item.get("weight").is_some() => named("weighted cluster"),
        "clusters" => named("cluster"),
        "virtual_hosts" => named("virtual host"),
        "filter_chains" | "chains" => named("filter chain"),
        "http_filters" => named("HTTP filter"),
        "secrets" => named("secret"),
        "endpoints" if item.get("cluster_name").is_some() => named("endpoints of"),
        "routes" if item.get("virtual_hosts").is_some() => named("route table"),
        "routes" => match path_of(item) {
            Some(path) => format!("route {step} ({path})"),
            None => format!("route {step}"),
        },
        _ => return None,
    })
}
