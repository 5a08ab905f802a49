//! Ports that collide, and resources that nothing leads to.
//!
//! What must not be here: which requests a route takes (`unreachable`).

use super::whole::{Whole, clusters_of, tables, written};
use crate::compilation::State;
use crate::diagnostic::{Diagnostic, Place, codes};
use crate::dialect::kubernetes::at_name;
use crate::ir::SocketProtocol;
use crate::resource::{Object, ObjectId, Origin};
use crate::text::{Node, Str};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use hashbrown::{HashMap, HashSet};

pub(super) fn check(whole: &mut Whole<'_>) {
    ports(whole);
    unserved(whole);
}

/// Something that listens.
struct Socket<'a> {
    told: String,
    address: &'a Str,
    port: u32,
    protocol: SocketProtocol,
    at: Option<Origin>,
}

impl Socket<'_> {
    fn collides(&self, other: &Socket<'_>) -> bool {
        let any = |address: &str| matches!(address, "0.0.0.0" | "::");
        let overlap = self.address == other.address || any(self.address) || any(other.address);
        self.port != 0 && self.port == other.port && self.protocol == other.protocol && overlap
    }
}

fn ports(whole: &mut Whole<'_>) {
    let ir = whole.ir;
    let mut sockets: HashMap<u32, Vec<Socket<'_>>> = HashMap::new();
    if let Some(admin) = ir.bootstrap.admin.as_ref().filter(|admin| !admin.address.contains('/')) {
        let socket = Socket {
            told: "Envoy's admin interface".into(),
            address: &admin.address,
            port: admin.port.value,
            protocol: SocketProtocol::Tcp,
            at: admin.port.origin,
        };
        sockets.entry(socket.port).or_default().push(socket);
    }
    for listener in &ir.listeners {
        let address = &listener.address;
        let at = address.port.origin.filter(|origin| origin.object() != ObjectId::BUILT_IN).or_else(|| written(&listener.origins));
        let told = match whole.key(at) {
            Some(key) => format!("{} {}", key.kind, key.name),
            None => format!("the listener {}", listener.name.value),
        };
        let socket = Socket { told, address: &address.address.value, port: address.port.value, protocol: address.protocol, at };
        let others = sockets.entry(socket.port).or_default();
        if let Some(other) = others.iter().find(|other| other.collides(&socket)) {
            // The one that a person wrote is where it can be mended.
            let (here, there) = if whole.object(socket.at).is_some() { (&socket, other) } else { (other, &socket) };
            if let Some(object) = whole.object(here.at).filter(|object| !whole.wrong.contains(&object.id)) {
                let message = format!("port {} is taken: {} listens there too", socket.port, there.told);
                let finding = whole.finding(&codes::PORT_CONFLICT, here.at, message);
                let finding = if whole.object(there.at).is_some() { finding.related(Place::origin(there.at), "here") } else { finding };
                whole.tell(finding.about(object.key.clone()).help("Envoy cannot open both; give one of them another port"));
            }
        }
        sockets.entry(socket.port).or_default().push(socket);
    }
}

/// Objects from which routes, virtual hosts, filter chains or listeners are made.
fn served(whole: &Whole<'_>) -> HashSet<ObjectId> {
    let mut served = HashSet::new();
    let mut add = |origins: &[Origin]| served.extend(origins.iter().map(|origin| origin.object()));
    for listener in &whole.ir.listeners {
        add(&listener.origins);
        for chain in &listener.chains {
            add(&chain.origins);
            // A Host may do no more than give a TCPMapping its certificate.
            let certificates =
                chain.tls.iter().flat_map(|tls| &tls.value.certificates).filter_map(|certificate| certificate.value.chain.as_ref()?.origin);
            let names = chain.matcher.iter().flat_map(|matcher| &matcher.server_names).filter_map(|name| name.origin);
            chain.tls.iter().filter_map(|tls| tls.origin).chain(certificates).chain(names).for_each(|origin| add(&[origin]));
        }
    }
    tables(whole.ir).flat_map(|table| &table.virtual_hosts).for_each(|host| add(&host.origins));
    whole.routes.iter().for_each(|route| add(&route.origins));
    for (_, forward) in whole.forwards() {
        clusters_of(forward).into_iter().for_each(|(_, origin)| add(origin.as_slice()));
        forward.mirrors.iter().for_each(|mirror| add(mirror.value.cluster.origin.as_slice()));
    }
    served
}

fn hostname(object: &Object) -> Option<&str> {
    let root = &object.root;
    root.at(&["spec", "hostname"]).or_else(|| root.get("hostname")).and_then(Node::as_str)
}

fn unserved(whole: &mut Whole<'_>) {
    let side = whole.side;
    let taker = |object: &Object| (side.dialect().hints.taken_by)(&object.key.kind);
    let in_use = |object: &&Object| !object.broken && matches!(side.side.ledger.get(object.id), State::Loaded | State::Undecided);
    let candidates: Vec<&Object> = side.objects().iter().filter(in_use).filter(|object| taker(object).is_some()).collect();
    if candidates.is_empty() {
        return;
    }
    let listens = whole.ir.listeners.iter().any(|listener| written(&listener.origins).is_some());
    if !listens {
        let kind = "Listener";
        if side.objects().iter().any(|object| *object.key.kind == *kind) {
            return;
        }
        if let Some(first) = candidates.first() {
            let message = format!("there is no {kind} among the input, so Envoy listens to nobody");
            let finding = Diagnostic::new(&codes::NO_LISTENER, message, at_name(first)).about(first.key.clone());
            whole.tell(finding.help("add the Listener to the input, or one to the cluster if there is none"));
        }
        return;
    }
    let served = served(whole);
    let mut by_hostname: HashMap<(&Str, &str), &Object> = HashMap::new();
    for object in candidates.iter().filter(|object| served.contains(&object.id)) {
        if let Some(hostname) = hostname(object) {
            by_hostname.entry((&object.key.kind, hostname)).or_insert(object);
        }
    }
    for object in candidates {
        if served.contains(&object.id) || whole.wrong.contains(&object.id) {
            continue;
        }
        let Some(taker) = taker(object) else { continue };
        let name = hostname(object);
        let twin = name.and_then(|name| by_hostname.get(&(&object.key.kind, name))).filter(|_| *object.key.kind == *"Host");
        let finding = match (twin, name) {
            (Some(twin), Some(name)) => {
                let message = format!("another {} has the hostname `{name}` too, and only that one counts", object.key.kind);
                Diagnostic::new(&codes::SHADOWED_HOST, message, at_name(object))
                    .related(at_name(twin), "this one counts")
                    .help("join them into one, or give them different hostnames")
            }
            (None, Some(name)) => {
                let message = format!("no {taker} takes it (its hostname is `{name}`), so no request gets there");
                Diagnostic::new(&codes::UNSERVED, message, at_name(object))
            }
            (_, None) => {
                let copies = object.root.at(&["spec", "shadow"]).and_then(Node::as_bool) == Some(true);
                let message = match copies {
                    true => "it gets copies only, and there is no other Mapping for the same requests".into(),
                    false => format!("no {taker} takes it, so no request gets there"),
                };
                Diagnostic::new(&codes::UNSERVED, message, at_name(object))
            }
        };
        whole.tell(finding.about(object.key.clone()));
    }
}
