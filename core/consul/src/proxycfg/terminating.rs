//! The data of a terminating gateway.

use super::mailbox::{Machine, Mailbox};
use super::watch::{Health, Watch};
use super::watch_set::WatchSet;
use crate::entry::Kind;
use crate::go;
use crate::instance::Instance;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

#[derive(Clone, Debug)]
pub struct TerminatingGateway {
    /// Its service, which is the name of its entry.
    pub service: Str,
    pub datacenter: Str,
}

impl TerminatingGateway {
    pub(super) fn of(instance: &Instance) -> Self {
        Self { service: instance.service.clone(), datacenter: instance.node.datacenter.clone() }
    }

    fn linked(&self) -> Watch {
        Watch::GatewayServices(Kind::TerminatingGateway, self.service.clone())
    }

    fn health(&self, service: &Str) -> Watch {
        Watch::Health(Health { service: service.clone(), datacenter: self.datacenter.clone(), ..Health::default() })
    }

    /// The services behind it that have instances, with their links in the entry.
    pub fn services<'a>(&self, mail: &'a Mailbox) -> Vec<(Str, &'a Tree)> {
        let linked = mail.trees(&self.linked()).iter().filter(|service| !service.get("Destination").bool());
        let named = linked.map(|service| (service.get("Name").str(), service));
        named.filter(|(name, _)| !self.instances(mail, name).is_empty()).collect()
    }

    /// The destinations behind it, with their links in the entry.
    pub fn destinations<'a>(&self, mail: &'a Mailbox) -> Vec<(Str, &'a Tree)> {
        let linked = mail.trees(&self.linked()).iter().filter(|service| service.get("Destination").bool());
        linked.map(|service| (service.get("Name").str(), service)).collect()
    }

    pub fn instances<'a>(&self, mail: &'a Mailbox, service: &Str) -> &'a [Arc<Instance>] {
        mail.instances(&self.health(service))
    }

    /// The instances of a service that are reached by host name.
    pub fn by_name(&self, mail: &Mailbox, service: &Str) -> Vec<Arc<Instance>> {
        by_name(self.instances(mail, service), &self.datacenter)
    }
}

/// The instances that are reached by host name.
pub(crate) fn by_name(instances: &[Arc<Instance>], datacenter: &str) -> Vec<Arc<Instance>> {
    let named = instances.iter().filter(|instance| {
        let (address, _) = instance.best_address(instance.node.datacenter != datacenter);
        go::ip(&address).is_none()
    });
    named.cloned().collect()
}

impl Machine for TerminatingGateway {
    fn watch_set(&self, mail: &Mailbox) -> WatchSet {
        let linked = self.linked();
        let mut watch_set = WatchSet::initial([Watch::Entry(Kind::Mesh, Str::new_static("mesh")), linked.clone(), Watch::Roots]);
        for service in mail.trees(&linked) {
            let name = service.get("Name").str();
            watch_set.chained(&linked, Watch::Leaf(name.clone()));
            watch_set.chained(&linked, Watch::Intentions(name.clone()));
            watch_set.chained(&linked, Watch::Config(name.clone()));
            watch_set.chained(&linked, Watch::Entry(Kind::ServiceDefaults, name.clone()));
            if !service.get("Destination").bool() {
                watch_set.chained(&linked, self.health(&name));
                watch_set.chained(&linked, Watch::Entry(Kind::ServiceResolver, name));
            }
        }
        watch_set
    }
}
