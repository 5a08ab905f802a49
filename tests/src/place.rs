//! Finds places in Envoy's bootstrap by the words that fixtures use.
//!
//! | words | result |
//! |---|---|
//! | `/static_resources/clusters?name=x/lb_policy` | a JSON pointer; `LIST?FIELD.FIELD=VALUE` picks the first item with this value |
//! | `route PATH` | the first route that matches this prefix, path or regex |
//! | `routes PATH` | all routes that match it, in order |
//! | `routes` | all routes of the first virtual host with routes, in order |
//! | `host DOMAIN` | the first virtual host with this domain |
//! | `hosts` | the domains of all virtual hosts, in order |
//! | `cluster NAME`, `clusters` | a cluster; the names of all |
//! | `listener NAME`, `listeners` | a listener; the names of all |
//! | `hcm`, `hcm LISTENER` | the first HTTP connection manager, or the first of a listener |
//! | `filter NAME`, `filters` | an HTTP filter of the first connection manager; the names of all |
//!
//! `WORDS at POINTER` follows a pointer from the found value. Fixtures do not see the controller's own routes, listeners and clusters.

use serde_json::Value;

/// The listeners and clusters that Contour adds to every Envoy.
const OWN: [&str; 3] = ["envoy-admin", "stats-health", "contour"];

/// Removes the controller's own routes (`/ambassador/v0/...`), listeners and clusters.
pub fn without_own(root: &mut Value) {
    without_own_routes(root);
    for list in ["/static_resources/listeners", "/static_resources/clusters"] {
        if let Some(Value::Array(items)) = root.pointer_mut(list) {
            items.retain(|item| !OWN.iter().any(|own| item["name"] == *own));
        }
    }
}

fn without_own_routes(root: &mut Value) {
    match root {
        Value::Array(items) => {
            items.retain(|item| !(item.get("match").is_some() && path_of(item).is_some_and(|path| path.starts_with("/ambassador/v0/"))));
            items.iter_mut().for_each(without_own_routes);
        }
        Value::Object(members) => members.values_mut().for_each(without_own_routes),
        _ => {}
    }
}

/// Returns the value at a place.
pub fn find(root: &Value, words: &str) -> Option<Value> {
    let (words, pointer) = words.split_once(" at /").map_or((words, None), |(words, rest)| (words, Some(format!("/{rest}"))));
    let found = start(root, words.trim())?;
    match pointer {
        Some(pointer) => follow(&found, &pointer).cloned(),
        None => Some(found),
    }
}

/// Whether a line names a place.
pub fn is_place(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    line.starts_with('/')
        || matches!(word, "route" | "routes" | "host" | "hosts" | "cluster" | "clusters" | "listener" | "listeners" | "hcm" | "filter" | "filters")
}

fn start(root: &Value, words: &str) -> Option<Value> {
    let (what, name) = words.split_once(' ').unwrap_or((words, ""));
    let names = |list: &[Value]| Value::Array(list.iter().map(|item| item["name"].clone()).collect());
    match what {
        "route" => routes(root).into_iter().find(|route| path_of(route).is_some_and(|path| path == name)).cloned(),
        "routes" if name.is_empty() => Some(Value::Array(first_routes(root))),
        "routes" => Some(Value::Array(routes(root).into_iter().filter(|route| path_of(route) == Some(name)).cloned().collect())),
        "host" => hosts(root).into_iter().find(|host| list(host, "/domains").iter().any(|domain| domain == name)).cloned(),
        "hosts" => Some(Value::Array(hosts(root).iter().map(|host| host["domains"].clone()).collect())),
        "cluster" => named(list(root, "/static_resources/clusters"), name),
        "clusters" => Some(names(list(root, "/static_resources/clusters"))),
        "listener" => named(list(root, "/static_resources/listeners"), name),
        "listeners" => Some(names(list(root, "/static_resources/listeners"))),
        "hcm" => managers(root, name).first().map(|manager| (*manager).clone()),
        "filter" => named(list(managers(root, "").first()?, "/http_filters"), name),
        "filters" => Some(names(list(managers(root, "").first()?, "/http_filters"))),
        _ => follow(root, words).cloned(),
    }
}

/// Follows a JSON pointer with look-ups in lists.
pub fn follow<'v>(root: &'v Value, pointer: &str) -> Option<&'v Value> {
    let mut at = root;
    for step in pointer.split('/').skip(1) {
        let (key, wanted) = step.split_once('?').map_or((step, None), |(key, wanted)| (key, Some(wanted)));
        let key = key.replace("~1", "/").replace("~0", "~");
        at = match at {
            Value::Array(items) => items.get(key.parse::<usize>().ok()?)?,
            other => other.get(&key)?,
        };
        if let Some((path, value)) = wanted.and_then(|wanted| wanted.split_once('=')) {
            let value = value.replace("~1", "/").replace("~0", "~");
            let has = |item: &&Value| path.split('.').try_fold(*item, |at, key| at.get(key)).is_some_and(|found| found == &value);
            at = at.as_array()?.iter().find(has)?;
        }
    }
    Some(at)
}

fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn named(list: &[Value], name: &str) -> Option<Value> {
    list.iter().find(|item| item["name"] == name).cloned()
}

/// Returns the HTTP connection managers of one listener, or of all.
pub fn managers<'v>(root: &'v Value, listener: &str) -> Vec<&'v Value> {
    let listeners = list(root, "/static_resources/listeners").iter().filter(|it| listener.is_empty() || it["name"] == listener);
    let chains = listeners.flat_map(|listener| list(listener, "/filter_chains").iter().chain(listener.get("default_filter_chain")));
    let filters = chains.flat_map(|chain| list(chain, "/filters")).filter(|filter| filter["name"] == "envoy.filters.network.http_connection_manager");
    filters.map(|filter| &filter["typed_config"]).collect()
}

fn hosts(root: &Value) -> Vec<&Value> {
    managers(root, "").into_iter().flat_map(|manager| list(manager, "/route_config/virtual_hosts")).collect()
}

fn routes(root: &Value) -> Vec<&Value> {
    hosts(root).into_iter().flat_map(|host| list(host, "/routes")).collect()
}

fn first_routes(root: &Value) -> Vec<Value> {
    let hosts = hosts(root);
    hosts.iter().map(|host| list(host, "/routes")).find(|routes| !routes.is_empty()).unwrap_or_default().to_vec()
}

/// Returns the path, prefix or regex that a route matches.
pub fn path_of(route: &Value) -> Option<&str> {
    let matcher = &route["match"];
    ["/prefix", "/path", "/path_separated_prefix", "/safe_regex/regex"].iter().find_map(|pointer| matcher.pointer(pointer)?.as_str())
}
