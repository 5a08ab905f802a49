//! Shared parts of all listeners.

use super::access_log;
use super::config::UpstreamConfig;
use super::name::cluster_name;
use super::proto::{address, message};
use crate::chain::Chain;
use crate::xds::context::{Context, Failure};
use alloc::format;
use alloc::string::String;
use chancery_base::ir::Tree;
use chancery_text::Str;

/// A listener at an address.
pub(crate) fn listener(cx: &Context<'_>, name: &str, host: impl Into<Tree>, port: &Tree, direction: &str) -> Tree {
    let host: Tree = host.into();
    let host = if host.text().is_empty() { Tree::from("127.0.0.1") } else { host };
    message! {
        "name": format!("{name}:{}:{}", host.text(), port.int()),
        "address": address(host, port.clone()),
        "traffic_direction": if direction.is_empty() { Tree::NULL } else { direction.into() },
        "access_log": access_log::logs(cx.logs(), true),
    }
}

/// Returns the cluster of a chain with a single target; `None` if its routes come from the stream.
pub(crate) fn only_cluster(chain: &Chain) -> Result<Option<String>, Failure> {
    if chain.protocol != "tcp" && !chain.default {
        return Ok(None);
    }
    match chain.only_target() {
        Some(target) => Ok(Some(cluster_name(chain, target, false))),
        None => Err(Failure::new("expected discovery chain with single node", None)),
    }
}

/// The configuration of an upstream: its own listener is used only if nothing else is configured.
pub(crate) fn upstream_config(upstream: Option<&Tree>, chain: &Chain) -> UpstreamConfig {
    let mut config = upstream.map(|upstream| UpstreamConfig::of(upstream.get("Config"))).unwrap_or_default();
    if !chain.default {
        config.listener = Tree::NULL;
    }
    if config.protocol.is_empty() {
        config.protocol = if chain.protocol.is_empty() { Str::new_static("tcp") } else { chain.protocol.clone() };
    }
    config
}
