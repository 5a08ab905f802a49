//! Reports ports that collide.

use super::whole::{Whole, written};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Place, codes};
use chancery_base::ir::{EndpointAddress, SocketProtocol};
use chancery_base::resource::{ObjectId, Origin};
use chancery_text::Str;
use hashbrown::HashMap;

pub(super) fn check(whole: &mut Whole<'_>) {
    ports(whole);
}

/// A listening socket.
struct Socket<'a> {
    description: String,
    address: &'a Str,
    port: u16,
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
    let mut sockets: HashMap<u16, Vec<Socket<'_>>> = HashMap::new();
    if let Some(admin) = &ir.delivery.bootstrap.admin
        && let EndpointAddress::Socket { address, port } = &admin.address.value
    {
        let socket =
            Socket { description: "Envoy's admin interface".into(), address, port: *port, protocol: SocketProtocol::Tcp, at: admin.address.origin };
        sockets.entry(socket.port).or_default().push(socket);
    }
    for listener in &ir.listeners {
        let address = &listener.address;
        let at = address.port.origin.filter(|origin| origin.object() != ObjectId::BUILT_IN).or_else(|| written(&listener.origins));
        let description = match whole.key(at) {
            Some(key) => format!("{} {}", key.kind, key.name),
            None => format!("the listener {}", listener.name.value),
        };
        let socket = Socket { description, address: &address.address.value, port: address.port.value, protocol: address.protocol, at };
        let others = sockets.entry(socket.port).or_default();
        if let Some(other) = others.iter().find(|other| other.collides(&socket)) {
            // The finding is placed at the listener that a user wrote, since only that can be fixed.
            let (here, there) = if whole.object(socket.at).is_some() { (&socket, other) } else { (other, &socket) };
            if let Some(object) = whole.object(here.at).filter(|object| !whole.wrong.contains(&object.id)) {
                let message = format!("port {} is already in use: {} listens on it too", socket.port, there.description);
                let finding = whole.finding(&codes::PORT_CONFLICT, here.at, message);
                let finding = if whole.object(there.at).is_some() { finding.related(Place::origin(there.at), "here") } else { finding };
                whole.report(finding.about(object.key.clone()).help("Envoy cannot open both; give one of them another port"));
            }
        }
        sockets.entry(socket.port).or_default().push(socket);
    }
}
