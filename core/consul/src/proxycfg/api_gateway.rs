//! The data of an API gateway.

use super::mailbox::{Machine, Mailbox, for_chains};
use super::watch::Watch;
use super::watch_set::WatchSet;
use crate::chain::Request;
use crate::entry::Kind;
use crate::instance::Instance;
use crate::names::UpstreamId;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

#[derive(Clone, Debug)]
pub struct ApiGateway {
    /// Its service, which is the name of its entry.
    pub service: Str,
    pub datacenter: Str,
}

/// A ready listener: a route of it has services.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The listener in the gateway's entry.
    pub listener: Tree,
    /// The bound listener.
    pub bound: Tree,
    /// The first of its routes: kind and name.
    pub route: (Kind, Str),
    /// The services of all its routes.
    pub services: Vec<UpstreamId>,
}

/// Returns kind and name of a reference to a route.
pub(crate) fn reference(tree: &Tree) -> Option<(Kind, Str)> {
    let kind = Kind::named(tree.get("Kind").text()).filter(|kind| matches!(kind, Kind::HttpRoute | Kind::TcpRoute))?;
    Some((kind, tree.get("Name").str()))
}

/// Returns the services of a route, in order.
pub(crate) fn services_of(kind: Kind, route: &Tree) -> Vec<UpstreamId> {
    let services: Vec<&Tree> = match kind {
        Kind::HttpRoute => route.get("Rules").items().iter().flat_map(|rule| rule.get("Services").items()).collect(),
        _ => route.get("Services").items().iter().collect(),
    };
    services.into_iter().map(|service| UpstreamId::service(&service.get("Name").str())).collect()
}

impl ApiGateway {
    pub(super) fn of(instance: &Instance) -> Self {
        Self { service: instance.service.clone(), datacenter: instance.node.datacenter.clone() }
    }

    fn bound(&self) -> Watch {
        Watch::Entry(Kind::BoundApiGateway, self.service.clone())
    }

    fn routes(&self, mail: &Mailbox) -> Vec<(Kind, Str)> {
        let bound = mail.entry(Kind::BoundApiGateway, &self.service).get("Listeners").items();
        bound.iter().flat_map(|listener| listener.get("Routes").items()).filter_map(reference).collect()
    }

    /// Returns the ready listeners.
    pub fn ready(&self, mail: &Mailbox) -> Vec<Ready> {
        let gateway = mail.entry(Kind::ApiGateway, &self.service);
        let mut all = Vec::new();
        for listener in gateway.get("Listeners").items() {
            let name = listener.get("Name").text();
            // A listener with a conflict is not ready.
            let conflicted = gateway.at(&["Status", "Conditions"]).items().iter().any(|condition| {
                condition.get("Type").is("Conflicted") && condition.get("Status").is("True") && condition.at(&["Resource", "SectionName"]).is(name)
            });
            let bound = mail.entry(Kind::BoundApiGateway, &self.service).get("Listeners").items();
            let Some(bound) = bound.iter().find(|bound| bound.get("Name").is(name)).filter(|_| !conflicted) else { continue };
            let mut ready: Option<Ready> = None;
            for (kind, route) in bound.get("Routes").items().iter().filter_map(reference) {
                for id in services_of(kind, mail.entry(kind, &route)) {
                    let ready = ready.get_or_insert_with(|| Ready {
                        listener: listener.clone(),
                        bound: bound.clone(),
                        route: (kind, route.clone()),
                        services: Vec::new(),
                    });
                    ready.services.push(id);
                }
            }
            all.extend(ready);
        }
        all
    }
}

impl Machine for ApiGateway {
    fn watch_set(&self, mail: &Mailbox) -> WatchSet {
        let bound = self.bound();
        let mut watch_set = WatchSet::initial([
            Watch::Entry(Kind::Mesh, Str::new_static("mesh")),
            Watch::Entry(Kind::ApiGateway, self.service.clone()),
            bound.clone(),
            Watch::Leaf(self.service.clone()),
            Watch::Roots,
        ]);
        for listener in mail.entry(Kind::BoundApiGateway, &self.service).get("Listeners").items() {
            for certificate in listener.get("Certificates").items() {
                watch_set.chained(&bound, Watch::Entry(Kind::InlineCertificate, certificate.get("Name").str()));
            }
        }
        for (kind, name) in self.routes(mail) {
            let route = Watch::Entry(kind, name.clone());
            for id in services_of(kind, mail.entry(kind, &name)) {
                let request = Request { service: id.name.clone(), datacenter: self.datacenter.clone(), ..Request::default() };
                watch_set.chained(&route, Watch::Chain(id, request));
            }
            watch_set.chained(&bound, route);
        }
        for_chains(mail, &self.datacenter, false, &mut watch_set);
        watch_set
    }
}
