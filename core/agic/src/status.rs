//! The statuses of Ingresses: the address of the gateway.
//!
//! AGIC `pkg/controller/mutate_aks.go`. Only changes are written.

use super::annotations::USE_PRIVATE_IP;
use super::crash::ControllerCrash;
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
    pub namespace: Str,
    pub name: Str,
    /// Its new address; `None` if it was removed.
    pub address: Option<Str>,
}

/// Returns the addresses of the gateway by their ids; unknown public addresses are left out.
///
/// # Errors
///
/// The gateway's document lacks a field that the controller relies on.
pub fn addresses(gateway: &Properties, options: &Options) -> Result<BTreeMap<Str, Str>, ControllerCrash> {
    let mut addresses = BTreeMap::new();
    for frontend in gateway.frontends.as_ref().ok_or_else(|| ControllerCrash::without_list("frontendIPConfigurations"))? {
        let address = match (&frontend.properties.private_ip, &frontend.properties.public_ip) {
            (Some(private), _) => Some(private.value.clone()),
            (None, Some(public)) => match &options.public_ips {
                Some(known) => known.get(&public.id.value).cloned(),
                None => Some(Str::new_static(PUBLIC_IP)),
            },
            (None, None) => return Err(ControllerCrash::without_field(&frontend.name, "publicIPAddress", frontend.origin)),
        };
        if let Some(address) = address {
            addresses.entry(frontend.id.clone()).or_insert(address);
        }
    }
    Ok(addresses)
}

/// Returns the addresses that Ingresses get.
pub fn given(source: &Source<'_>, gateway: &Properties, addresses: &BTreeMap<Str, Str>, ingresses: &[Arc<Ingress>]) -> Vec<Change> {
    let change = |ingress: &Arc<Ingress>| {
        let private = source.environment.private_ip || ingress.annotations.is_true(&USE_PRIVATE_IP);
        let frontend = gateway.frontend(if private { FrontendType::Private } else { FrontendType::Public })?;
        let address = addresses.get(&frontend.id)?;
        changed(ingress, address)
    };
    ingresses.iter().filter_map(change).collect()
}

/// Returns the removed addresses of a stopped gateway.
pub fn reset(ingresses: &[Arc<Ingress>]) -> Vec<Change> {
    ingresses.iter().filter(|ingress| !ingress.addresses.is_empty()).filter_map(|ingress| changed(ingress, "")).collect()
}

/// An address that an Ingress already has changes nothing, even next to others.
fn changed(ingress: &Ingress, address: &str) -> Option<Change> {
    let is_there = ingress.addresses.iter().any(|there| there == address);
    let address = Some(Str::new(address)).filter(|address| !address.is_empty());
    (!is_there).then(|| Change { namespace: ingress.namespace.clone(), name: ingress.name.clone(), address })
}

/// Returns the statuses that may be written to a cluster: none unless the gateway's addresses are known.
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

/// The statuses as a document.
pub fn document(changes: &[Change]) -> Node {
    let change = |change: &Change| {
        object(Vec::from([("loadBalancer", balancer(change)), ("name", text(&change.name)), ("namespace", text(&change.namespace))]))
    };
    list(changes.iter().map(change).collect())
}
