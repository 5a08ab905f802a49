//! Applies `builtin/aws/lambda`: a service that is a Lambda function.

use super::input::{ExtensionInput, Upstream, leads_to, ranges};
use super::lua::before_routers;
use crate::extension::argument;
use crate::go::{self, Errors};
use crate::xds::context::Resources;
use crate::xds::parts::filters::is_http;
use crate::xds::parts::proto::{any, empty, endpoint, extension, flag, message, one};
use alloc::format;
use alloc::string::ToString;
use chancery_base::ir::Tree;
use chancery_kubernetes::reason::Reason;

/// The region in the name of a function.
fn region(arn: &str) -> Result<&str, Reason> {
    let mut parts = arn.splitn(6, ':');
    let head = parts.next();
    let (region, rest) = (parts.nth(2), parts.nth(1));
    match (head, region, rest) {
        (Some("arn"), Some(region), Some(_)) => Ok(region),
        (Some("arn"), ..) => Err("arn: not enough sections".into()),
        _ => Err("arn: invalid prefix".into()),
    }
}

/// The cluster of AWS, which replaces the service's cluster.
fn cluster(of: &Tree, region: &str) -> Tree {
    let name = of.get("name").text();
    let to = endpoint(format!("lambda.{region}.amazonaws.com").as_str(), 443i64);
    let tls = message! { "sni": "*.amazonaws.com" };
    let tls = any("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", tls);
    let lambda = Tree::object([("com.amazonaws.lambda", message! { "egress_gateway": true })]);
    let assignment = message! { "cluster_name": name, "endpoints": one(message! { "lb_endpoints": one(to) }) };
    message! {
        "name": name,
        "connect_timeout": of.get("connect_timeout").clone(),
        "type": "LOGICAL_DNS",
        "dns_lookup_family": "V4_ONLY",
        "metadata": message! { "filter_metadata": lambda },
        "load_assignment": assignment,
        "transport_socket": message! { "name": "tls", "typed_config": tls },
    }
}

/// The filter that calls the function.
fn filter(arguments: &Tree) -> Tree {
    let asynchronous = argument(arguments, "InvocationMode").text() == "asynchronous";
    let config = message! {
        "arn": argument(arguments, "ARN").clone(),
        "payload_passthrough": flag(argument(arguments, "PayloadPassthrough").flag()),
        "invocation_mode": if asynchronous { Tree::from("ASYNCHRONOUS") } else { Tree::NULL },
    };
    let config = if config.fields().is_empty() { empty() } else { config };
    extension("envoy.filters.http.aws_lambda", "envoy.extensions.filters.http.aws_lambda.v3.Config", config)
}

fn clusters(given: &ExtensionInput<'_>, upstream: &Upstream, resources: &mut Resources) -> Result<(), Reason> {
    let mut errors = Errors::default();
    for of in resources.clusters.iter_mut().filter(|cluster| upstream.clusters.contains(cluster.get("name").text())) {
        match region(argument(given.arguments, "ARN").text()) {
            Ok(region) => *of = cluster(of, region).or_from(given.arguments.origin),
            Err(why) => errors.add(format!("error patching cluster {}: {why}", go::quote(of.get("name").text()))),
        }
    }
    errors.result()
}

fn chain(chain: &mut Tree, filter: &Tree) {
    let filters = chain.get_mut("filters").into_iter().flat_map(Tree::items_mut);
    for manager in filters.filter(|filter| is_http(filter)).filter_map(|filter| filter.get_mut("typed_config")) {
        manager.set("strip_any_host_port", true.into());
        before_routers(manager, filter);
    }
}

pub(super) fn sidecar(given: &ExtensionInput<'_>, resources: &mut Resources) -> Result<(), Reason> {
    let Some(upstream) = given.upstreams.first() else { return Ok(()) };
    clusters(given, upstream, resources)?;
    let filter = filter(given.arguments);
    for listener in &mut resources.listeners {
        let name = listener.get("name").text().split(':').next().unwrap_or_default().to_string();
        let transparent = name == "outbound_listener";
        if !transparent && name != upstream.id {
            continue;
        }
        for of in listener.get_mut("filter_chains").into_iter().flat_map(Tree::items_mut) {
            if !transparent || ranges(of).any(|address| upstream.virtual_addresses.contains(address)) {
                chain(of, &filter);
            }
        }
    }
    Ok(())
}

pub(super) fn gateway(given: &ExtensionInput<'_>, resources: &mut Resources) -> Result<(), Reason> {
    let Some(upstream) = given.upstreams.first() else { return Ok(()) };
    clusters(given, upstream, resources)?;
    let filter = filter(given.arguments);
    for of in resources.listeners.iter_mut().filter_map(|listener| listener.get_mut("filter_chains")).flat_map(Tree::items_mut) {
        let server = of.at(&["filter_chain_match", "server_names"]).items().first().map(Tree::str).unwrap_or_default();
        if upstream.clusters.contains(server.as_str()) || upstream.clusters.contains(leads_to(of)) {
            chain(of, &filter);
        }
    }
    for table in resources.routes.iter_mut().filter(|table| upstream.clusters.contains(table.get("name").text())) {
        for host in table.get_mut("virtual_hosts").into_iter().flat_map(Tree::items_mut) {
            for route in host.get_mut("routes").into_iter().flat_map(Tree::items_mut) {
                if let Some(action) = route.get_mut("route") {
                    action.take("auto_host_rewrite");
                }
            }
        }
    }
    Ok(())
}
