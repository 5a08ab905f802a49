//! Describes the watches of a proxy, their causes and their replies, to explain its data.

use super::mailbox::Mailbox;
use super::watch::{Health, Reply, Watch};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::ObjectId;
use core::fmt;

impl fmt::Display for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Watch::Entry(kind, name) => write!(f, "config entry {}/{name}", kind.name()),
            Watch::Entries(kind) => write!(f, "config entries of kind {}", kind.name()),
            Watch::Intentions(service) => write!(f, "intentions of {service}"),
            Watch::ExportedTo(Some(service)) => write!(f, "peers that may use {service}"),
            Watch::ExportedTo(None) => f.write_str("peers that may use anything"),
            Watch::Chain(id, _) => write!(f, "discovery chain of {}", id.name),
            Watch::Health(health) => write!(f, "instances of {health}"),
            Watch::MeshGateways(datacenter) => write!(f, "mesh gateways of {datacenter}"),
            Watch::Query(name) => write!(f, "prepared query {name}"),
            Watch::IntentionUpstreams(service) => write!(f, "services that {service} may call"),
            Watch::IntentionDestinations(service) => write!(f, "destinations outside that {service} may call"),
            Watch::PeeredUpstreams => f.write_str("services of peers"),
            Watch::GatewaysOf(service) => write!(f, "terminating gateways of {service}"),
            Watch::GatewayServices(kind, name) => write!(f, "services of {} {name}", kind.name()),
            Watch::Services(of) if of.is_empty() => f.write_str("services"),
            Watch::Services(of) => write!(f, "services of {of}"),
            Watch::Datacenters => f.write_str("datacenters"),
            Watch::Exports => f.write_str("services that are exported"),
            Watch::Probes(service) => write!(f, "checks of {service} by HTTP"),
            Watch::Config(service) => write!(f, "central configuration of {service}"),
            Watch::Leaf(service) => write!(f, "certificate of {service}"),
            Watch::Roots => f.write_str("certificates of the CA"),
        }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.service, self.datacenter)?;
        if !self.peer.is_empty() {
            write!(f, " of the peer {}", self.peer)?;
        }
        if !self.filter.is_empty() {
            write!(f, " where {}", self.filter)?;
        }
        Ok(())
    }
}

impl Reply {
    /// Describes the reply, and returns whether it is sufficient to continue.
    fn words(&self) -> (String, bool) {
        let some = |count: usize, what: &str| (if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }, true);
        match self {
            Reply::Entry(Some(_)) => ("the entry".to_string(), true),
            Reply::Entry(None) => ("no such entry".to_string(), true),
            Reply::Entries(all) if all.len() == 1 => ("1 entry".to_string(), true),
            Reply::Entries(all) => (format!("{} entries", all.len()), true),
            Reply::Chain(Some(chain)) => some(chain.targets.len(), "target"),
            Reply::Chain(None) => ("no such chain".to_string(), false),
            Reply::NoDatacenter => ("no path to the datacenter".to_string(), false),
            Reply::Instances(all) => (some(all.len(), "instance").0, !all.is_empty()),
            Reply::Names(names) => some(names.len(), "name"),
            Reply::Upstreams(all) => some(all.len(), "upstream"),
            Reply::Exports(all) => some(all.len(), "service"),
            Reply::Trees(all) => some(all.len(), "value"),
            Reply::Certificate { given: true } => ("given".to_string(), true),
            Reply::Certificate { given: false } => ("a name for what Consul issues".to_string(), true),
        }
    }
}

impl Mailbox {
    /// Each watch with its reply, whether that is sufficient, and the watch that caused it.
    pub(crate) fn answer(&self) -> Tree {
        let row = |(watch, reply): (&Watch, &Reply)| {
            let (brings, complete) = reply.words();
            let because = self.because(watch).map(|because| Tree::from(because.to_string()));
            Tree::object([
                ("watch", Tree::from(watch.to_string())),
                ("because", because.unwrap_or_default()),
                ("brings", brings.into()),
                ("complete", complete.into()),
            ])
        };
        let open = self.open().map(|watch| {
            let because = self.because(watch).map(|because| Tree::from(because.to_string()));
            Tree::object([
                ("watch", Tree::from(watch.to_string())),
                ("because", because.unwrap_or_default()),
                ("brings", "nothing yet".into()),
                ("complete", false.into()),
            ])
        });
        self.replies().map(row).chain(open).collect::<Vec<_>>().into()
    }

    /// The registrations of the instances in its replies.
    pub(crate) fn registrations(&self) -> BTreeSet<ObjectId> {
        let instances = self.replies().filter_map(|(_, reply)| if let Reply::Instances(all) = reply { Some(all) } else { None });
        instances.flatten().filter_map(|instance| instance.object).collect()
    }
}
