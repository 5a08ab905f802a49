//! Routes of discovery chains.

use super::name::cluster_name;
use super::proto::{copied, duration, flag, list, message, non_empty, regex};
use crate::chain::{Chain, Node, NodeKind, Split};
use crate::go;
use crate::names::UpstreamId;
use crate::validate::{is_hash_based, is_set};
use crate::xds::context::Failure;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Origin;
use chancery_text::Str;

/// A route table.
pub(crate) fn table(name: &str, hosts: Vec<Tree>) -> Tree {
    message! { "name": name, "virtual_hosts": list(hosts), "validate_clusters": true }
}

/// A matcher for every path.
pub(crate) fn everything() -> Tree {
    message! { "prefix": "/" }
}

/// The domains of a service: its own hosts, or the default ones; also with the port.
pub(crate) fn domains(name: &Str, hosts: &[Tree], port: &Tree) -> Tree {
    let mut all: Vec<Tree> = if hosts.is_empty() { Vec::from([Tree::from(format!("{name}.ingress.*"))]) } else { hosts.to_vec() };
    let without: Vec<Tree> = all.iter().filter(|host| go::split_host_port(host.text()).is_none() && !host.text().contains(':')).cloned().collect();
    for host in without {
        let with = format!("{}:{}", host.text(), port.int());
        if !all.iter().any(|other| other.text() == with) {
            all.push(Tree::from(with).or_from(host.origin).or_from(port.origin));
        }
    }
    list(all)
}

/// The virtual host of a chain.
pub(crate) fn host(id: &UpstreamId, chain: &Chain, domains: Tree, for_mesh_gateway: bool) -> Result<Tree, Failure> {
    let missing = || Failure::new(format!("missing first node in compiled discovery chain for: {}", chain.service), None);
    let first = chain.first().ok_or_else(missing)?;
    let mut routes = Vec::new();
    match &first.kind {
        NodeKind::Router(all) => {
            for route in all {
                let next = chain.nodes.get(&route.next).ok_or_else(missing)?;
                let Some(mut action) = action(chain, next, for_mesh_gateway)? else { continue };
                hash(&mut action, next.load_balancer.as_ref())?;
                let destination = route.definition.get("Destination");
                let mut out = message! { "match": matches(route.definition.at(&["Match", "HTTP"])) };
                if let Some(cluster) = action.get_mut("cluster") {
                    cluster.origin = cluster.origin.or(chosen_by(destination));
                }
                destined(&mut out, &mut action, destination);
                out.set("route", action);
                routes.push(out.or_from(route.definition.origin));
            }
        }
        NodeKind::Splitter(_) | NodeKind::Resolver(_) => {
            if let Some(mut action) = action(chain, first, for_mesh_gateway)? {
                hash(&mut action, first.load_balancer.as_ref())?;
                if let NodeKind::Resolver(resolver) = &first.kind
                    && *resolver.request_timeout > 0
                {
                    action.set("timeout", duration(resolver.request_timeout));
                }
                routes.push(message! { "match": everything(), "route": action });
            }
        }
    }
    Ok(message! { "name": id.to_string(), "domains": domains, "routes": list(routes) })
}

/// The action of a node.
fn action(chain: &Chain, node: &Node, for_mesh_gateway: bool) -> Result<Option<Tree>, Failure> {
    let to = |target: &str| chain.targets.get(target).map(|target| cluster_name(chain, target, for_mesh_gateway));
    match &node.kind {
        NodeKind::Resolver(resolver) => Ok(to(&resolver.target).map(|name| message! { "cluster": name })),
        NodeKind::Splitter(splits) => weighted(chain, splits, for_mesh_gateway).map(Some),
        NodeKind::Router(_) => Err(Failure::new("unexpected graph node after route", None)),
    }
}

/// The origin of a route's or share's target.
fn chosen_by(destination: &Tree) -> Option<Origin> {
    ["ServiceSubset", "Service"].into_iter().map(|field| destination.get(field)).find(|field| is_set(field)).and_then(|field| field.origin)
}

/// Per ten thousand.
const WHOLE: i64 = 10_000;

fn weighted(chain: &Chain, splits: &[Split], for_mesh_gateway: bool) -> Result<Tree, Failure> {
    let mut clusters = Vec::new();
    let mut total = 0;
    for split in splits {
        let Some(NodeKind::Resolver(resolver)) = chain.nodes.get(&split.next).map(|node| &node.kind) else { continue };
        let Some(target) = chain.targets.get(&resolver.target) else { continue };
        // Weights are 32 bits wide.
        let weight = (split.weight as f32 * 100.0) as i64;
        total += weight;
        let weight_of = Tree::from(weight & 0xffff_ffff).or_from(split.definition.get("Weight").origin);
        let name = Tree::from(cluster_name(chain, target, for_mesh_gateway));
        let mut cluster = message! { "name": name.or_from(chosen_by(&split.definition)), "weight": weight_of };
        headers(&mut cluster, &split.definition);
        clusters.push(cluster.or_from(split.definition.origin));
    }
    if clusters.is_empty() {
        return Err(Failure::new("number of clusters in splitter must be > 0; got 0", None));
    }
    let whole = Some(total).filter(|total| *total == WHOLE);
    Ok(message! { "weighted_clusters": message! { "clusters": list(clusters), "total_weight": whole } })
}

/// Sets the timeouts, retries and headers of a route's destination.
fn destined(route: &mut Tree, action: &mut Tree, destination: &Tree) {
    if is_set(destination.get("PrefixRewrite")) {
        action.set("prefix_rewrite", destination.get("PrefixRewrite").clone());
    }
    for (field, name) in [("RequestTimeout", "timeout"), ("IdleTimeout", "idle_timeout")] {
        let value = destination.get(field).number();
        if *value > 0 {
            action.set(name, duration(value));
        }
    }
    let on = destination.get("RetryOn").items();
    let codes = destination.get("RetryOnStatusCodes").items();
    let failure = destination.get("RetryOnConnectFailure").bool();
    let retries = destination.get("NumRetries");
    if is_set(retries) || failure || !on.is_empty() || !codes.is_empty() {
        let mut words: Vec<&str> = on.iter().map(Tree::text).collect();
        if failure && !words.contains(&"connect-failure") {
            words.push("connect-failure");
        }
        if !codes.is_empty() {
            words.push("retriable-status-codes");
        }
        let policy = message! {
            "num_retries": if retries.int() > 0 { retries.clone() } else { Tree::NULL },
            "retry_on": non_empty(&words.join(",")),
            "retriable_status_codes": list(codes.to_vec()),
        };
        action.set("retry_policy", policy.or_from(destination.origin));
    }
    headers(route, destination);
}

/// Headers that are added, set and removed, in both directions.
pub(crate) fn headers(out: &mut Tree, of: &Tree) {
    for (field, add, remove) in [
        ("RequestHeaders", "request_headers_to_add", "request_headers_to_remove"),
        ("ResponseHeaders", "response_headers_to_add", "response_headers_to_remove"),
    ] {
        let modifiers = of.get(field);
        let option = |name: &str, value: &Tree, append: bool| {
            message! { "header": message! { "key": name, "value": value.clone() }, "append": append }
        };
        let mut options = Vec::new();
        for (field, append) in [("Add", true), ("Set", false)] {
            let mut all: Vec<_> = modifiers.get(field).fields().iter().collect();
            all.sort_by(|a, b| a.0.cmp(&b.0));
            options.extend(all.into_iter().map(|(name, value)| option(name, value, append)));
        }
        out.set(add, list(options));
        out.set(remove, list(modifiers.get("Remove").items().to_vec()));
    }
}

/// The condition of a header.
pub(crate) fn header(header: &Tree) -> Option<Tree> {
    let kinds = [
        ("Exact", "exact_match"),
        ("Regex", "safe_regex_match"),
        ("Prefix", "prefix_match"),
        ("Suffix", "suffix_match"),
        ("Present", "present_match"),
    ];
    let (field, name) = kinds.iter().find(|(field, _)| is_set(header.get(field)))?;
    let value = header.get(field).clone();
    let value = if *field == "Regex" { regex(value) } else { value };
    let mut out = message! { "name": header.get("Name").clone() };
    out.set(name, value);
    out.set("invert_match", flag(header.get("Invert").flag()));
    Some(out.or_from(header.origin))
}

fn query(query: &Tree) -> Option<Tree> {
    let exact = |value: &Tree| message! { "string_match": message! { "exact": value.clone() } };
    let mut out = if is_set(query.get("Exact")) {
        exact(query.get("Exact"))
    } else if is_set(query.get("Regex")) {
        message! { "string_match": message! { "safe_regex": regex(query.get("Regex").clone()) } }
    } else if query.get("Present").bool() {
        message! { "present_match": query.get("Present").flag() }
    } else {
        return None;
    };
    out.set("name", query.get("Name").clone());
    Some(out.or_from(query.origin))
}

/// The condition of a request.
fn matches(http: &Tree) -> Tree {
    let mut out = if is_set(http.get("PathExact")) {
        message! { "path": http.get("PathExact").clone() }
    } else if is_set(http.get("PathPrefix")) {
        message! { "prefix": http.get("PathPrefix").clone() }
    } else if is_set(http.get("PathRegex")) {
        message! { "safe_regex": regex(http.get("PathRegex").clone()) }
    } else {
        everything()
    };
    let mut all: Vec<Tree> = http.get("Header").items().iter().filter_map(header).collect();
    let methods = http.get("Methods");
    let words: Vec<&str> = methods.items().iter().map(Tree::text).collect();
    if !words.is_empty() {
        let matcher = message! { "name": ":method", "safe_regex_match": regex(words.join("|")) };
        all.push(matcher.or_from(methods.origin));
    }
    out.set("headers", list(all));
    out.set("query_parameters", list(http.get("QueryParam").items().iter().filter_map(query).collect()));
    out.or_from(http.origin)
}

/// Sets the hash policy of a load balancer.
pub(crate) fn hash(action: &mut Tree, balancer: Option<&Tree>) -> Result<(), Failure> {
    let Some(balancer) = balancer.filter(|balancer| is_hash_based(balancer)) else { return Ok(()) };
    let mut policies = Vec::new();
    for policy in balancer.get("HashPolicies").items() {
        let value = policy.get("FieldValue").clone();
        let mut out = if policy.get("SourceIP").bool() {
            message! { "connection_properties": message! { "source_ip": policy.get("SourceIP").flag() } }
        } else {
            match policy.get("Field").text() {
                "header" => message! { "header": message! { "header_name": value } },
                "query_parameter" => message! { "query_parameter": message! { "name": value } },
                "cookie" => message! { "cookie": cookie(value, policy.get("CookieConfig")) },
                other => return Err(Failure::new(format!("unsupported load balancer hash policy field: {other}"), policy.origin)),
            }
        };
        out.set("terminal", flag(policy.get("Terminal").flag()));
        policies.push(out.or_from(policy.origin));
    }
    action.set("hash_policy", list(policies));
    Ok(())
}

fn cookie(name: Tree, config: &Tree) -> Tree {
    let (session, life) = (config.get("Session").flag(), config.get("TTL").number());
    let life = match (*session, *life) {
        (true, _) => duration(session.map(|_| 0)),
        (false, 0) => Tree::NULL,
        (false, _) => duration(life),
    };
    message! { "name": name, "ttl": life, "path": copied(config.get("Path")) }
}
