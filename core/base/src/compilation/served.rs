//! Finds the objects that requests can reach, by the origins in a side's IRs, and the objects with problems. Does not judge them; dialects do.

use super::SideRef;
use crate::diagnostic::{Severity, codes};
use crate::ir::{Ir, NetworkFilter, RouteAction, RouteConfiguration, UpstreamClusters};
use crate::resource::{ObjectId, Origin};
use hashbrown::HashSet;

impl SideRef<'_> {
    /// The objects that produced routes, virtual hosts, filter chains or listeners.
    pub fn served(self) -> HashSet<ObjectId> {
        let mut served = HashSet::new();
        for ir in self.irs() {
            connections(ir, &mut served);
            routes(ir, &mut served);
        }
        served
    }

    /// Objects with a bad finding, or replaced by another object: they need no further finding.
    pub fn with_problems(self) -> HashSet<ObjectId> {
        let bad = self.diagnostics().filter(|finding| finding.severity != Severity::Notice);
        let mut found: HashSet<ObjectId> = bad.filter_map(|finding| finding.place.object()).collect();
        // The related place is the one of two objects of one name that has no effect.
        let replaced = self.diagnostics().filter(|finding| [&codes::DUPLICATE_RESOURCE, &codes::OVERWRITTEN].contains(&finding.code));
        found.extend(replaced.flat_map(|finding| &finding.related).filter_map(|related| related.place.object()));
        found
    }
}

fn connections(ir: &Ir, served: &mut HashSet<ObjectId>) {
    let mut add = |origins: &[Origin]| served.extend(origins.iter().map(|origin| origin.object()));
    for listener in &ir.listeners {
        add(&listener.origins);
        for chain in &listener.chains {
            add(&chain.origins);
            // A certificate alone can be the reason for a chain.
            let certificates =
                chain.tls.iter().flat_map(|tls| &tls.value.certificates).filter_map(|certificate| certificate.value.chain.as_ref()?.origin);
            let names = chain.matcher.iter().flat_map(|matcher| &matcher.server_names).filter_map(|name| name.origin);
            chain.tls.iter().filter_map(|tls| tls.origin).chain(certificates).chain(names).for_each(|origin| add(&[origin]));
        }
    }
}

fn routes(ir: &Ir, served: &mut HashSet<ObjectId>) {
    let mut add = |origins: &[Origin]| served.extend(origins.iter().map(|origin| origin.object()));
    for host in tables(ir).flat_map(|table| &table.virtual_hosts) {
        add(&host.origins);
        for route in host.routes.iter() {
            add(&route.origins);
            let RouteAction::Forward(forward) = &route.action else { continue };
            match &forward.clusters {
                UpstreamClusters::One(name) => add(name.origin.as_slice()),
                UpstreamClusters::Weighted(all) => all.iter().for_each(|cluster| add(cluster.name.origin.as_slice())),
            }
            forward.mirrors.iter().for_each(|mirror| add(mirror.value.cluster.origin.as_slice()));
        }
    }
}

/// All route tables.
fn tables(ir: &Ir) -> impl Iterator<Item = &RouteConfiguration> {
    let filters = ir.listeners.iter().flat_map(|listener| &listener.chains).flat_map(|chain| &chain.filters);
    let inline = filters.filter_map(|filter| match filter {
        NetworkFilter::Http(manager) => Some(&manager.routes),
        NetworkFilter::Tcp(_) => None,
    });
    inline.chain(ir.tables.iter().map(|table| &**table))
}
