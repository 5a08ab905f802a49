//! Applies Envoy extensions to the resources of a proxy. Does not validate their arguments; see `extension`.

mod authorization;
mod input;
mod insert;
mod lambda;
mod lua;
mod property;
mod wasm;

use crate::entry::Kind;
use crate::go;
use crate::lenient::Reader;
use crate::names::{self, TRUST_DOMAIN, UpstreamId};
use crate::proxycfg::Proxy;
use crate::xds::context::{Context, Failure, Resources};
use crate::xds::parts::name::{cluster_name, peer_cluster};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_kubernetes::reason::Reason;
use input::{ExtensionInput, Upstream, leads_to, ranges};

/// The services that a sidecar calls.
fn of_sidecar(cx: &Context<'_>, resources: &Resources) -> Vec<Upstream> {
    let Proxy::Connect(proxy) = cx.proxy else { return Vec::new() };
    let mut out: Vec<Upstream> = Vec::new();
    for (id, chain) in cx.mail.chains() {
        let names = chain.targets.values().map(|target| cluster_name(chain, target, false));
        out.push(Upstream {
            service: id.name.clone(),
            id: id.to_string(),
            clusters: names.collect(),
            virtual_addresses: BTreeSet::new(),
            extensions: chain.extensions.clone(),
        });
    }
    for id in proxy.peered(cx.mail) {
        let clusters = BTreeSet::from([peer_cluster(&id)]);
        let (service, id) = (id.name.clone(), id.to_string());
        out.push(Upstream { service, id, clusters, virtual_addresses: BTreeSet::new(), extensions: Vec::new() });
    }
    // A chain of the transparent listener is identified by its cluster or routes.
    let transparent = resources.listeners.iter().find(|listener| listener.get("name").text().starts_with("outbound_listener:"));
    for chain in transparent.map(|listener| listener.get("filter_chains").items()).unwrap_or_default() {
        let leads = leads_to(chain);
        let Some(upstream) = out.iter_mut().find(|upstream| upstream.clusters.contains(leads) || upstream.id == leads) else { continue };
        upstream.virtual_addresses.extend(ranges(chain).map(String::from));
    }
    out
}

/// The services behind a terminating gateway.
fn of_gateway(cx: &Context<'_>) -> Vec<Upstream> {
    let Proxy::Terminating(gateway) = cx.proxy else { return Vec::new() };
    let all = gateway.services(cx.mail).into_iter().map(|(service, _)| {
        let subsets = cx.mail.entry(Kind::ServiceResolver, &service).get("Subsets").fields();
        let subsets = [""].into_iter().chain(subsets.iter().map(|(name, _)| name.as_str()));
        let clusters = subsets.map(|subset| names::service_sni(&service, subset, &gateway.datacenter, TRUST_DOMAIN)).collect();
        let config = cx.mail.trees(&crate::proxycfg::Watch::Config(service.clone()));
        let extensions = config.get(1).map(|list| list.items().to_vec()).unwrap_or_default();
        let id = UpstreamId::service(&service).to_string();
        Upstream { service, id, clusters, virtual_addresses: BTreeSet::new(), extensions }
    });
    all.collect()
}

type Step = fn(&ExtensionInput<'_>, &mut Resources) -> Result<(), Reason>;

/// Applies the proxy's own extensions, in order, then those of its upstreams.
pub(super) fn apply(cx: &Context<'_>, mut resources: Resources) -> Result<Resources, Failure> {
    let sidecar = matches!(cx.proxy, Proxy::Connect(_));
    let upstreams = match cx.proxy {
        Proxy::Connect(_) => of_sidecar(cx, &resources),
        Proxy::Terminating(_) => of_gateway(cx),
        _ => return Ok(resources),
    };
    let protocol = Reader::of(cx.instance.proxy.get("Config")).text("protocol", "");
    for extension in cx.instance.proxy.get("EnvoyExtensions").items() {
        let step: Step = match extension.get("Name").text() {
            "builtin/lua" if sidecar => lua::apply,
            "builtin/property-override" if sidecar => property::apply,
            "builtin/wasm" if sidecar => wasm::apply,
            "builtin/ext-authz" if sidecar => authorization::apply,
            _ => continue,
        };
        let required = extension.get("Required").flag();
        let given = ExtensionInput { arguments: extension.get("Arguments"), required, protocol: protocol.clone(), upstreams: &upstreams };
        resources = run(step, &given, resources, extension)?;
    }
    for upstream in &upstreams {
        for extension in upstream.extensions.iter().filter(|extension| extension.get("Name").is("builtin/aws/lambda")) {
            let alone = core::slice::from_ref(upstream);
            let required = extension.get("Required").flag();
            let given = ExtensionInput { arguments: extension.get("Arguments"), required, protocol: protocol.clone(), upstreams: alone };
            let step: Step = if sidecar { lambda::sidecar } else { lambda::gateway };
            resources = run(step, &given, resources, extension)?;
        }
    }
    Ok(resources)
}

/// Applies one extension completely, or not at all.
fn run(step: Step, given: &ExtensionInput<'_>, resources: Resources, extension: &Tree) -> Result<Resources, Failure> {
    let mut patched = resources.clone();
    match step(given, &mut patched) {
        Ok(()) => Ok(patched),
        Err(_) if !*given.required => Ok(resources),
        Err(why) => {
            let name = go::quote(extension.get("Name").text());
            let why = format!("rpc error: code = InvalidArgument desc = failed to patch xDS resources in the {name} extension: {why}");
            Err(Failure::new(why, extension.origin))
        }
    }
}
