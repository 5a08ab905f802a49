//! Lists the connected Envoys with the resources that each of them lacks. Does not follow their streams; see `xds::clients`.

use crate::worker::build::{Build, Gateway};
use crate::xds::clients::{Client, Clients};

/// Returns the connected Envoys, by node id. Each type names the resources that are withheld and held.
#[must_use]
pub fn connected(build: Option<&Build>, clients: &Clients) -> Vec<Client> {
    let mut all = clients.all();
    for client in &mut all {
        let its_gateway = client.gateway.as_deref().unwrap_or_default();
        let gateways = build.iter().flat_map(|build| &build.gateways).filter(|gateway| *gateway.id == *its_gateway);
        for (url, names) in gateways.flat_map(Gateway::withheld_names) {
            if let Some(of) = client.types.get_mut(&url) {
                of.withheld = names.into_iter().map(str::to_owned).collect();
            }
        }
        for (url, names) in clients.rejected_names(its_gateway) {
            if let Some(of) = client.types.get_mut(&*url) {
                of.held = names.iter().map(|name| name.to_string()).collect();
            }
        }
    }
    all
}
