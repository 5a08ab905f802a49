//! Undoes, in what is generated, changes that an older version does not have.
//!
//! Does not rename resources, and keeps the newest forms where Envoy does the same with both.

use super::Version;
use crate::xds::Resources;
use alloc::sync::Arc;
use chancery_base::ir::{Plain, Tree};

const HTTP_OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const PROXY_PROTOCOL: &str = "envoy.transport_sockets.upstream_proxy_protocol";
const OPTIONS: &str = "typed_extension_protocol_options";

/// Changes the resources of an Envoy to what this version generates.
pub(crate) fn revise(version: Version, resources: &mut Resources) {
    if !version.is_1_8() {
        return;
    }
    for route in &mut resources.routes {
        // Envoy picks the weighted cluster at random, and traces requests if clients ask for it.
        if has_key(route, "use_hash_policy") || has_key(route, "client_sampling") {
            each_object(Arc::make_mut(route), &mut |fields| {
                remove(fields, "use_hash_policy");
                remove(fields, "client_sampling");
            });
        }
    }
    for listener in &mut resources.listeners {
        if has_key(listener, "client_sampling") {
            each_object(Arc::make_mut(listener), &mut |fields| {
                if !fields.get("client_sampling").is_null() {
                    fields.set("client_sampling", Tree::object([("value", Tree::from(100_i64))]));
                }
            });
        }
    }
    for cluster in &mut resources.clusters {
        let sends_addresses = cluster.at(&["transport_socket", "name"]).is(PROXY_PROTOCOL);
        if sends_addresses || !cluster.at(&[OPTIONS, HTTP_OPTIONS, "hash_policy"]).is_null() {
            revise_cluster(Arc::make_mut(cluster));
        }
    }
}

/// Whether an object at or below a value has this key. Values without it stay shared.
fn has_key(of: &Tree, key: &str) -> bool {
    of.fields().iter().any(|(name, value)| name == key || has_key(value, key)) || of.items().iter().any(|item| has_key(item, key))
}

fn revise_cluster(cluster: &mut Tree) {
    let sends_addresses = cluster.at(&["transport_socket", "name"]).is(PROXY_PROTOCOL);
    if sends_addresses {
        // Options of HTTP, such as HTTP/2, are not written next to the PROXY protocol.
        remove(cluster, OPTIONS);
        return;
    }
    let Some(options) = cluster.get_mut(OPTIONS).and_then(|all| all.get_mut(HTTP_OPTIONS)) else { return };
    if !options.get("hash_policy").is_null() {
        remove(options, "hash_policy");
        let is_only = options.fields().iter().all(|(key, value)| key == "@type" || key == "explicit_http_config" && is_plain_http(value));
        if is_only {
            remove(cluster, OPTIONS);
        }
    }
}

/// Whether the options are the default that any other option needs.
fn is_plain_http(of: &Tree) -> bool {
    of.fields().iter().all(|(key, value)| key == "http_protocol_options" && value.fields().is_empty())
}

fn remove(of: &mut Tree, key: &str) {
    if let Plain::Object(fields) = &mut of.value {
        fields.0.retain(|(name, _)| name != key);
    }
}

/// Visits each object in a tree.
fn each_object(of: &mut Tree, visit: &mut impl FnMut(&mut Tree)) {
    if matches!(of.value, Plain::Object(_)) {
        visit(of);
    }
    match &mut of.value {
        Plain::Object(fields) => fields.0.iter_mut().for_each(|(_, value)| each_object(value, visit)),
        Plain::List(items) => items.iter_mut().for_each(|item| each_object(item, visit)),
        _ => {}
    }
}
