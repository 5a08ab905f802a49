//! Checks values that Consul stores but does not know: it silently does something else.
//!
//! Source of behaviour: Consul `agent/structs/config_entry.go` (fields that `Validate` does not check), `agent/xds`.

use super::Mesh;
use crate::entry::Kind;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Known, Place, Values};
use chancery_base::ir::Tree;
use chancery_base::resource::ObjectId;

const PROTOCOL: Known = Known { values: Values::AnyCase(&["tcp", "http", "http2", "grpc"]), otherwise: "takes it for `tcp`" };
const MODE: Known = Known { values: Values::Words(&["direct", "transparent"]), otherwise: "takes it for `direct`" };
const GATEWAY: Known = Known { values: Values::Words(&["none", "local", "remote"]), otherwise: "goes through no mesh gateway, as with `none`" };
const DISCOVERY: Known = Known { values: Values::AnyCase(&["strict_dns", "logical_dns"]), otherwise: "takes `logical_dns`" };

/// Fields of settings for a service, or for all proxies; `*` matches every member of a list.
const DEFAULTS: &[(&[&str], Known)] = &[
    (&["Protocol"], PROTOCOL),
    (&["Mode"], MODE),
    (&["MeshGateway", "Mode"], GATEWAY),
    (&["Expose", "Paths", "*", "Protocol"], PROTOCOL),
    (&["UpstreamConfig", "Defaults", "Protocol"], PROTOCOL),
    (&["UpstreamConfig", "Defaults", "MeshGateway", "Mode"], GATEWAY),
    (&["UpstreamConfig", "Overrides", "*", "Protocol"], PROTOCOL),
    (&["UpstreamConfig", "Overrides", "*", "MeshGateway", "Mode"], GATEWAY),
    (&["Config", "protocol"], PROTOCOL),
    (&["Config", "envoy_dns_discovery_type"], DISCOVERY),
];

/// Fields of a proxy.
const PROXY: &[(&[&str], Known)] = &[
    (&["Config", "protocol"], PROTOCOL),
    (&["Config", "envoy_dns_discovery_type"], DISCOVERY),
    (&["Upstreams", "*", "Config", "protocol"], PROTOCOL),
];

pub(super) fn check(mesh: &mut Mesh<'_>) {
    for kind in [Kind::ServiceDefaults, Kind::ProxyDefaults] {
        for entry in mesh.entries(kind) {
            judge(mesh, &entry.tree, DEFAULTS, entry.object);
        }
    }
    for instance in mesh.state.instances.iter() {
        if let Some(object) = instance.object {
            judge(mesh, &instance.proxy, PROXY, object);
        }
    }
}

/// Checks the values that were written in an object; inherited values are checked at their own object.
fn judge(mesh: &mut Mesh<'_>, tree: &Tree, fields: &[(&[&str], Known)], object: ObjectId) {
    for (path, known) in fields {
        for value in all_at(tree, path) {
            let Some(origin) = value.origin.filter(|origin| origin.object() == object) else { continue };
            let Some(finding) = known.judge("Consul", value.text(), Place::origin(origin)) else { continue };
            let key = mesh.objects.get(object).map(|object| object.key.clone());
            mesh.found.extend(key.map(|key| finding.about(key)));
        }
    }
}

fn all_at<'t>(root: &'t Tree, path: &[&str]) -> Vec<&'t Tree> {
    let mut at = Vec::from([root]);
    for step in path {
        at = at.into_iter().flat_map(|tree| if *step == "*" { tree.items().iter().collect() } else { Vec::from([tree.get(step)]) }).collect();
    }
    at
}
