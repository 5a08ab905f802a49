//! Validates routers, splitters and resolvers.

use super::rule::{Verdict, count, is_set, meta, methods, named, path, refuse, upper_all};
use crate::{bexpr, go};
use alloc::format;
use alloc::string::String;
use chancery_base::ir::{Plain, Tree};

pub(super) fn normalise_router(tree: &mut Tree) {
    for route in tree.get_mut("Routes").into_iter().flat_map(|routes| routes.items_mut().iter_mut()) {
        let http = route.get_mut("Match").and_then(|matches| matches.get_mut("HTTP"));
        upper_all(http.and_then(|http| http.get_mut("Methods")));
    }
}

/// A weight in hundredths of a percent, rounded.
pub(crate) fn scaled(weight: f64) -> i64 {
    // Weights are 32 bits wide.
    go::round(f64::from(weight as f32 * 100.0)) as i64
}

/// A weight rounded to hundredths of a percent.
pub(crate) fn rounded(weight: f64) -> f64 {
    let rounded = scaled(weight) as f32 / 100.0;
    // The decimal form of the 32-bit number, not of its nearest 64-bit number.
    alloc::string::ToString::to_string(&rounded).parse().unwrap_or(weight)
}

pub(super) fn normalise_splitter(tree: &mut Tree) {
    for split in tree.get_mut("Splits").into_iter().flat_map(|splits| splits.items_mut().iter_mut()) {
        if let Some(weight) = split.get_mut("Weight") {
            weight.value = Plain::Float(rounded(weight.float()));
        }
    }
}

pub(super) fn router(tree: &Tree) -> Verdict {
    named(tree)?;
    meta(tree)?;
    for (at, route) in tree.get("Routes").items().iter().enumerate() {
        let http = route.at(&["Match", "HTTP"]);
        path(http.get("PathExact"), &format!("Route[{at}] PathExact"))?;
        path(http.get("PathPrefix"), &format!("Route[{at}] PathPrefix"))?;
        refuse(count(http, &["PathExact", "PathPrefix", "PathRegex"]) > 1, || {
            format!("Route[{at}] should only contain at most one of PathExact, PathPrefix, or PathRegex")
        })?;
        for (index, header) in http.get("Header").items().iter().enumerate() {
            let place = format!("Route[{at}] Header[{index}]");
            refuse(header.get("Name").text().is_empty(), || format!("{place} missing required Name field"))?;
            refuse(count(header, &["Present", "Exact", "Regex", "Prefix", "Suffix"]) != 1, || {
                format!("{place} should only contain one of Present, Exact, Prefix, Suffix, or Regex")
            })?;
        }
        for (index, query) in http.get("QueryParam").items().iter().enumerate() {
            let place = format!("Route[{at}] QueryParam[{index}]");
            refuse(query.get("Name").text().is_empty(), || format!("{place} missing required Name field"))?;
            refuse(count(query, &["Present", "Exact", "Regex"]) != 1, || format!("{place} should only contain one of Present, Exact, or Regex"))?;
        }
        methods(http.get("Methods"), &format!("Route[{at}] Methods"))?;
        destination(route, at)?;
    }
    Ok(())
}

/// The retry conditions of Envoy.
const RETRY_ON: [&str; 12] = [
    "5xx",
    "gateway-error",
    "reset",
    "connect-failure",
    "envoy-ratelimited",
    "retriable-4xx",
    "refused-stream",
    "cancelled",
    "deadline-exceeded",
    "internal",
    "resource-exhausted",
    "unavailable",
];

fn destination(route: &Tree, at: usize) -> Verdict {
    let destination = route.get("Destination");
    let rewritable = count(route.at(&["Match", "HTTP"]), &["PathExact", "PathPrefix"]) > 0;
    refuse(is_set(destination.get("PrefixRewrite")) && !rewritable, || {
        format!("Route[{at}] cannot make use of PrefixRewrite without configuring either PathExact or PathPrefix")
    })?;
    for condition in destination.get("RetryOn").items().iter().map(Tree::text) {
        refuse(!RETRY_ON.contains(&condition), || format!("Route[{at}] contains an invalid retry condition: {}", go::quote(condition)))?;
    }
    Ok(())
}

pub(super) fn splitter(tree: &Tree) -> Verdict {
    named(tree)?;
    let splits = tree.get("Splits").items();
    refuse(splits.is_empty(), || "no splits configured".into())?;
    meta(tree)?;
    let name = tree.get("Name").text();
    let key = |split: &Tree| {
        let service = if is_set(split.get("Service")) { split.get("Service").str() } else { tree.get("Name").str() };
        let text = |field: &str| split.get(field).str();
        (
            service,
            text("ServiceSubset"),
            text("Namespace"),
            text("Partition"),
            split.get("RequestHeaders").clone(),
            split.get("ResponseHeaders").clone(),
        )
    };
    for (at, split) in splits.iter().enumerate() {
        let this = key(split);
        // Headers are compared as pointers: only splits without headers are equal.
        let plain = this.4.is_null() && this.5.is_null();
        let before = plain && splits.iter().take(at).any(|other| key(other) == this);
        refuse(before, || {
            let (service, subset) = (if this.0.is_empty() { name } else { &this.0 }, &this.1);
            format!(
                "split destination occurs more than once: service={}, subset={}, namespace={}, partition={}",
                go::quote(service),
                go::quote(subset),
                go::quote(&this.2),
                go::quote(&this.3)
            )
        })?;
    }
    let sum: i64 = splits.iter().map(|split| scaled(split.get("Weight").float())).sum();
    const WHOLE: i64 = 100 * 100;
    refuse(sum != WHOLE, || format!("the sum of all split weights must be 100, not {:.6}", sum as f64 / 100.0))
}

pub(super) fn resolver(tree: &Tree) -> Verdict {
    named(tree)?;
    meta(tree)?;
    for (name, subset) in tree.get("Subsets").fields() {
        refuse(name.is_empty(), || "Subset defined with empty name".into())?;
        subset_name(name).map_err(|why| format!("Subset {} is invalid: {why}", go::quote(name)))?;
        let filter = subset.get("Filter").text();
        bexpr::Expression::parse(filter).map_err(|why| format!("Filter for subset {} is not a valid expression: {why}", go::quote(name)))?;
    }
    let default = tree.get("DefaultSubset").text();
    refuse(!default.is_empty() && !has_subset(tree, default), || format!("DefaultSubset {} is not a valid subset", go::quote(default)))?;
    locality(tree)?;
    if let Some(redirect) = tree.find("Redirect") {
        self::redirect(tree, redirect)?;
    }
    for (subset, failover) in tree.get("Failover").fields() {
        self::failover(tree, subset, failover)?;
    }
    for field in ["ConnectTimeout", "RequestTimeout"] {
        let value = tree.get(field).int();
        refuse(value < 0, || format!("Bad {field} '{}', must be >= 0", go::duration(value)))?;
    }
    tree.find("LoadBalancer").map_or(Ok(()), load_balancer)
}

fn subset_name(name: &str) -> Verdict {
    refuse(name.len() > 63, || "must be non-empty and 63 characters or fewer".into())?;
    let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    let bytes = name.as_bytes();
    let ends = bytes.first().is_some_and(|c| inner(*c)) && bytes.last().is_some_and(|c| inner(*c));
    refuse(!ends || !bytes.iter().all(|c| inner(*c) || *c == b'-'), || {
        "must be 63 characters or fewer, begin or end with lower case alphanumeric characters, and contain lower case alphanumeric \
         characters or '-' in between"
            .into()
    })
}

pub(crate) fn has_subset(tree: &Tree, name: &str) -> bool {
    tree.get("Subsets").find(name).is_some()
}

/// Locality is only evaluated in Enterprise.
pub(super) fn locality(tree: &Tree) -> Verdict {
    let mode = tree.at(&["PrioritizeByLocality", "Mode"]).text();
    refuse(!tree.get("PrioritizeByLocality").is_null() && !mode.is_empty(), || "Prioritize-by-locality requires Consul Enterprise".into())
}

fn redirect(tree: &Tree, redirect: &Tree) -> Verdict {
    let has = |field: &str| is_set(redirect.get(field));
    refuse(has("Partition") || has("Namespace") || has("SamenessGroup"), || {
        let field = ["Partition", "Namespace", "SamenessGroup"].into_iter().find(|field| has(field)).unwrap_or_default();
        format!("Redirect: Setting {field} requires Consul Enterprise")
    })?;
    refuse(is_set(tree.get("Failover")), || "Redirect and Failover cannot both be set".into())?;
    let all = ["Service", "ServiceSubset", "Namespace", "Partition", "Datacenter", "Peer", "SamenessGroup"];
    refuse(count(redirect, &all) == 0, || "Redirect is empty".into())?;
    let peer = |field: &str| has("Peer") && has(field);
    refuse(peer("ServiceSubset"), || "Redirect.Peer cannot be set with Redirect.ServiceSubset".into())?;
    refuse(peer("Datacenter"), || "Redirect.Peer cannot be set with Redirect.Datacenter".into())?;
    let service = redirect.get("Service").text();
    if service.is_empty() {
        for field in ["ServiceSubset", "Peer"] {
            refuse(has(field), || format!("Redirect.{field} defined without Redirect.Service"))?;
        }
        return Ok(());
    }
    let subset = redirect.get("ServiceSubset").text();
    let name = tree.get("Name").text();
    refuse(!subset.is_empty() && service == name && !has_subset(tree, subset), || {
        format!("Redirect.ServiceSubset {} is not a valid subset of {}", go::quote(subset), go::quote(name))
    })
}

/// Policies are only evaluated in Enterprise.
fn failover_policy(policy: &Tree) -> Verdict {
    refuse(is_set(policy.get("Mode")), || "Setting failover policies requires Consul Enterprise".into())?;
    failover_mode(policy)
}

/// The valid modes of a policy.
pub(super) fn failover_mode(policy: &Tree) -> Verdict {
    refuse(!matches!(policy.get("Mode").text(), "" | "sequential" | "order-by-locality"), || {
        "Failover-policy mode must be one of '', 'sequential', or 'order-by-locality'".into()
    })
}

fn failover(tree: &Tree, subset: &str, failover: &Tree) -> Verdict {
    let prefix = format!("Bad Failover[{}]", go::quote(subset));
    let has = |field: &str| is_set(failover.get(field));
    refuse(has("Namespace"), || format!("{prefix}: Setting Namespace requires Consul Enterprise"))?;
    refuse(has("SamenessGroup"), || format!("{prefix}: Setting SamenessGroup requires Consul Enterprise"))?;
    refuse(subset != "*" && !has_subset(tree, subset), || format!("{prefix}: not a valid subset subset"))?;
    let all = ["Service", "ServiceSubset", "Namespace", "Datacenters", "Targets", "SamenessGroup"];
    refuse(count(failover, &all) == 0, || {
        format!("{prefix}: one of Service, ServiceSubset, Namespace, Targets, SamenessGroup, or Datacenters is required")
    })?;
    failover_policy(failover.get("Policy")).map_err(|why| format!("{prefix}: {why}"))?;
    let (service, to) = (failover.get("Service").text(), failover.get("ServiceSubset").text());
    let name = tree.get("Name").text();
    let own = |service: &str| service.is_empty() || service == name;
    refuse(!to.is_empty() && own(service) && !has_subset(tree, to), || {
        format!("{prefix}: ServiceSubset {} is not a valid subset of {}", go::quote(to), go::quote(service))
    })?;
    for field in ["Datacenters", "ServiceSubset", "Service"] {
        refuse(has(field) && has("Targets"), || format!("{prefix}: Targets cannot be set with {field}"))?;
    }
    for (at, target) in failover.get("Targets").items().iter().enumerate() {
        let prefix = format!("{prefix}.Targets[{at}]");
        let has = |field: &str| is_set(target.get(field));
        for field in ["Namespace", "Partition"] {
            refuse(has(field), || format!("{prefix}: Setting {field} requires Consul Enterprise"))?;
        }
        for field in ["ServiceSubset", "Datacenter"] {
            refuse(has("Peer") && has(field), || format!("{prefix}: Peer cannot be set with {field}"))?;
        }
        let (service, to) = (target.get("Service").text(), target.get("ServiceSubset").text());
        refuse(!to.is_empty() && own(service) && !has_subset(tree, to), || {
            format!("{prefix}: ServiceSubset {} is not a valid subset of {}", go::quote(to), go::quote(name))
        })?;
    }
    let empty = failover.get("Datacenters").items().iter().any(|name| name.text().is_empty());
    refuse(empty, || format!("{prefix}.Datacenters: found empty datacenter"))
}

/// Whether a load balancer distributes requests by a hash.
pub(crate) fn is_hash_based(balancer: &Tree) -> bool {
    matches!(balancer.get("Policy").text(), "maglev" | "ring_hash")
}

fn load_balancer(tree: &Tree) -> Verdict {
    let policy = tree.get("Policy").text();
    let known = ["", "random", "round_robin", "least_request", "ring_hash", "maglev"].contains(&policy);
    refuse(!known, || format!("Bad LoadBalancer policy: {} is not supported", go::quote(policy)))?;
    for (of, field) in [("ring_hash", "RingHashConfig"), ("least_request", "LeastRequestConfig")] {
        refuse(policy != of && !tree.get(field).is_null(), || {
            format!("Bad LoadBalancer configuration. {field} specified for incompatible load balancing policy {}", go::quote(policy))
        })?;
    }
    refuse(!is_hash_based(tree) && is_set(tree.get("HashPolicies")), || {
        format!("Bad LoadBalancer configuration: HashPolicies specified for non-hash-based Policy: {}", go::quote(policy))
    })?;
    for (at, hash) in tree.get("HashPolicies").items().iter().enumerate() {
        hash_policy(hash).map_err(|why| format!("Bad LoadBalancer HashPolicy[{at}]: {why}"))?;
    }
    Ok(())
}

fn hash_policy(hash: &Tree) -> Verdict {
    let (field, value) = (hash.get("Field").text(), hash.get("FieldValue").text());
    let known = ["", "header", "cookie", "query_parameter"].contains(&field);
    let quoted = || go::quote(field);
    refuse(!known, || format!("{} is not a supported field", quoted()))?;
    let source = hash.get("SourceIP").bool();
    refuse(source && !field.is_empty(), || format!("A single hash policy cannot hash both a source address and a {}", quoted()))?;
    refuse(source && !value.is_empty(), || "A FieldValue cannot be specified when hashing SourceIP".into())?;
    refuse(!field.is_empty() && value.is_empty(), || format!("Field {} was specified without a FieldValue", quoted()))?;
    refuse(!value.is_empty() && field.is_empty(), || "FieldValue requires a Field to apply to".into())?;
    let Some(cookie) = hash.find("CookieConfig") else { return Ok(()) };
    refuse(field != "cookie", || format!("cookie_config provided for {}", quoted()))?;
    refuse(cookie.get("Session").bool() && cookie.get("TTL").int() != 0, || String::from("a session cookie cannot have an associated TTL"))
}
