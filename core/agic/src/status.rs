//! Statuses of Ingresses: the address of the gateway.
//!
//! AGIC `pkg/controller/mutate_aks.go`. Only what changes is written.

use super::annotations::USE_PRIVATE_IP;
use super::death::Died;
use super::environment::Environment;
use super::existing::PUBLIC_IP;
use super::model::Ingress;
use super::options::Options;
use super::source::Source;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::StatusOf;
use chancery_base::ir::appgw::{FrontendType, Properties};
use chancery_kubernetes::status::{list, object, text};
use chancery_text::{Node, Str};

/// A status that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The Ingress's namespace.
    pub namespace: Str,
    /// The Ingress's name.
    pub name: Str,
    /// Its address from now on; none where it was taken away.
    pub address: Option<Str>,
}

/// The addresses of the gateway, by the ids of its own; an unknown public address is left out.
///
/// # Errors
///
/// The gateway's document lacks what the controller takes for granted.
pub fn addresses(gateway: &Properties, options: &Options) -> Result<BTreeMap<Str, Str>, Died> {
    let mut addresses = BTreeMap::new();
    for frontend in gateway.frontends.as_ref().ok_or_else(|| Died::without_list("frontendIPConfigurations"))? {
        let address = match (&frontend.properties.private_ip, &frontend.properties.public_ip) {
            (Some(private), _) => Some(private.value.clone()),
            (None, Some(public)) => match &options.public_ips {
                Some(known) => known.get(&public.id.value).cloned(),
                None => Some(Str::new_static(PUBLIC_IP)),
            },
            (None, None) => return Err(Died::without_field(&frontend.name, "publicIPAddress", frontend.origin)),
        };
        if let Some(address) = address {
            addresses.entry(frontend.id.clone()).or_insert(address);
        }
    }
    Ok(addresses)
}

/// The addresses that Ingresses get.
pub fn given(source: &Source<'_>, gateway: &Properties, addresses: &BTreeMap<Str, Str>, ingresses: &[Arc<Ingress>]) -> Vec<Change> {
    let change = |ingress: &Arc<Ingress>| {
        let private = source.environment.private_ip || ingress.annotations.is_true(&USE_PRIVATE_IP);
        let frontend = gateway.frontend(if private { FrontendType::Private } else { FrontendType::Public })?;
        let address = addresses.get(&frontend.id)?;
        changed(ingress, address)
    };
    ingresses.iter().filter_map(change).collect()
}

/// The addresses that are taken away, as the gateway does not run.
pub fn reset(ingresses: &[Arc<Ingress>]) -> Vec<Change> {
    ingresses.iter().filter(|ingress| !ingress.addresses.is_empty()).filter_map(|ingress| changed(ingress, "")).collect()
}

/// An address that an Ingress has already changes nothing, even beside others.
fn changed(ingress: &Ingress, address: &str) -> Option<Change> {
    let is_there = ingress.addresses.iter().any(|there| there == address);
    let address = Some(Str::new(address)).filter(|address| !address.is_empty());
    (!is_there).then(|| Change { namespace: ingress.namespace.clone(), name: ingress.name.clone(), address })
}

/// The statuses of Ingresses that may be written into a cluster: none unless it is known which addresses the gateway has.
pub fn written(changes: &[Change], options: &Options, environment: &Environment) -> Option<Vec<StatusOf>> {
    let is_known = options.existing_gateway.is_some() && options.public_ips.is_some();
    if !is_known || environment.multi_cluster || options.old_ingress_api {
        return None;
    }
    let status = |change: &Change| StatusOf {
        kind: Str::new_static("Ingress"),
        namespace: change.namespace.clone(),
        name: change.name.clone(),
        status: Arc::new(object(Vec::from([("loadBalancer", balancer(change))]))),
    };
    Some(changes.iter().map(status).collect())
}

fn balancer(change: &Change) -> Node {
    let addresses = change.address.iter().map(|address| object(Vec::from([("ip", text(address))])));
    object(match change.address {
        Some(_) => Vec::from([("ingress", list(addresses.collect()))]),
        None => Vec::new(),
    })
}

/// As a document.
pub fn document(changes: &[Change]) -> Node {
    let change = |change: &Change| {
        object(Vec::from([("loadBalancer", balancer(change)), ("name", text(&change.name)), ("namespace", text(&change.namespace))]))
    };
    list(changes.iter().map(change).collect())
}
