//! Applies `builtin/property-override`: fields of messages, set or removed.

use super::input::{ExtensionInput, Upstream, is_inbound};
use crate::extension::{apply_patch, argument, argument_list};
use crate::xds::context::Resources;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_kubernetes::reason::Reason;

/// Selects messages.
struct Filter<'a> {
    kind: &'a str,
    inbound: bool,
    services: Vec<&'a str>,
}

impl Filter<'_> {
    /// The selected upstreams.
    fn upstreams<'u>(&self, given: &ExtensionInput<'u>) -> impl Iterator<Item = &'u Upstream> {
        given.upstreams.iter().filter(|upstream| self.services.is_empty() || self.services.contains(&upstream.service.as_str()))
    }

    /// Whether a cluster is selected, by its name.
    fn cluster(&self, given: &ExtensionInput<'_>, name: &str) -> bool {
        if name == "local_app" {
            return self.inbound;
        }
        if self.inbound {
            return false;
        }
        let name = name.strip_prefix("failover-target~").and_then(|rest| rest.split_once('~')).map_or(name, |(_, name)| name);
        self.services.is_empty() || self.upstreams(given).any(|upstream| upstream.clusters.contains(name))
    }

    fn listener(&self, given: &ExtensionInput<'_>, listener: &Tree) -> bool {
        let name = listener.get("name").text().split(':').next().unwrap_or_default();
        let named = || self.services.is_empty() || self.upstreams(given).any(|upstream| upstream.id == name);
        is_inbound(listener) == self.inbound && (self.inbound || named())
    }

    fn route(&self, given: &ExtensionInput<'_>, table: &Tree) -> bool {
        let name = table.get("name").text();
        !self.inbound && (self.services.is_empty() || self.upstreams(given).any(|upstream| upstream.id == name || upstream.clusters.contains(name)))
    }
}

pub(super) fn apply(given: &ExtensionInput<'_>, resources: &mut Resources) -> Result<(), Reason> {
    for patch in argument_list(given.arguments, "Patches") {
        let filter = argument(patch, "ResourceFilter");
        let services = argument_list(filter, "Services");
        let filter = Filter {
            kind: argument(filter, "ResourceType").text(),
            inbound: argument(filter, "TrafficDirection").text() == "inbound",
            services: services.iter().map(|service| argument(service, "Name").text()).collect(),
        };
        let path = argument(patch, "Path").text();
        let remove = argument(patch, "Op").text() == "remove";
        let value = if remove { None } else { Some(argument(patch, "Value")) };
        for message in chosen(&filter, given, resources) {
            apply_patch(filter.kind, message, path, value)?;
        }
    }
    Ok(())
}

/// The selected messages.
fn chosen<'r>(filter: &Filter<'_>, given: &ExtensionInput<'_>, resources: &'r mut Resources) -> Vec<&'r mut Tree> {
    match filter.kind {
        "cluster" => resources.clusters.iter_mut().filter(|cluster| filter.cluster(given, cluster.get("name").text())).collect(),
        "cluster-load-assignment" => {
            let inline = resources.clusters.iter_mut().filter_map(|cluster| cluster.get_mut("load_assignment"));
            let all = inline.chain(resources.endpoints.iter_mut());
            all.filter(|of| filter.cluster(given, of.get("cluster_name").text())).collect()
        }
        "listener" => resources.listeners.iter_mut().filter(|listener| filter.listener(given, listener)).collect(),
        _ => resources.routes.iter_mut().filter(|table| filter.route(given, table)).collect(),
    }
}
