//! Opens the ports of the servers first, and moves a server if a served listener has its port.
//!
//! An Envoy on this machine cannot bind a port that is in use. So the server moves to a free port before Envoy gets the listener, and logs that.
//! The xDS server stays, because Envoys know its address.

use crate::Failure;
use crate::event::{Event, Events, Server};
use crate::port::{Move, Port};
use crate::servers::Servers;
use crate::worker::build::Build;
use crate::xds::snapshot::Resources;
use chancery_core::backend::envoy::v3::Service;
use chancery_core::ir::SocketProtocol;
use prost::Message;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, mpsc as ack};
use std::time::Duration;
use tokio::sync::mpsc;

/// The ports that servers move to: no controller or Envoy that we follow uses these.
const RANGE: std::ops::RangeInclusive<u16> = 8100..=8442;
/// How long a server may take to free its port.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server that can move.
#[derive(Debug)]
struct Mobile {
    server: Server,
    address: SocketAddr,
    moves: mpsc::Sender<Move>,
}

/// The servers that can move, and the listeners that were checked.
#[derive(Debug, Default)]
pub struct Ports {
    mobile: Vec<Mobile>,
    xds: Option<SocketAddr>,
    events: Events,
    /// The last listeners of each gateway that were checked.
    seen: BTreeMap<Arc<str>, Arc<Resources>>,
}

/// The address of a listener that is served, or that is in a controller's bootstrap.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    port: u16,
    address: IpAddr,
    what: String,
}

/// Opens all ports, and reports their addresses.
///
/// # Errors
///
/// A port is in use, or other machines could reach it without a token.
pub async fn bind(servers: &Servers, events: &Events) -> Result<(BTreeMap<&'static str, Port>, Ports), Failure> {
    let all = [
        (Server::Xds, &servers.xds, "--xds"),
        (Server::Diagnostics, &servers.diagnostics, "--diagnostics"),
        (Server::Snapshots, &servers.snapshots, "--snapshots"),
        (Server::PublicSnapshots, &servers.public_snapshots, "--public-snapshots"),
        (Server::Ready, &servers.ready, "--ready"),
    ];
    let (mut out, mut ports) = (BTreeMap::new(), Ports { events: events.clone(), ..Ports::default() });
    for (server, address, flag) in all {
        let Some((listener, local)) = address.bind(flag).await? else { continue };
        if server != Server::Xds && server != Server::Ready && !local.ip().is_loopback() && servers.token.is_none() {
            return Err(format!("{flag} {address} can be reached from other machines: give --admin-token-file, or an address of this one").into());
        }
        if server == Server::Xds && !local.ip().is_loopback() && servers.tls.is_none() {
            tracing::warn!("{flag} {address} serves other machines without TLS: give --xds-cert, --xds-key and --xds-client-ca");
        }
        events.publish(Event::Listening { server, address: local.to_string() });
        let (sender, moves) = mpsc::channel(1);
        if server == Server::Xds {
            ports.xds = Some(local);
        } else if local.ip().is_loopback() && (server != Server::Ready || servers.replicas.is_empty()) {
            // Other replicas know the port of the readiness server.
            ports.mobile.push(Mobile { server, address: local, moves: sender });
        }
        out.insert(server.name(), Port { listener, moves });
    }
    Ok((out, ports))
}

impl Ports {
    /// Moves servers away from the ports of a build's listeners. Returns when these ports are free.
    pub fn make_room(&mut self, build: &Build) {
        let now: BTreeMap<Arc<str>, Arc<Resources>> = build
            .gateways
            .iter()
            .filter_map(|gateway| Some((gateway.id.clone(), gateway.snapshot.get(&Service::Listeners.type_url())?.clone())))
            .collect();
        let is_same = now.len() == self.seen.len() && now.iter().all(|(id, of)| self.seen.get(id).is_some_and(|known| Arc::ptr_eq(known, of)));
        if is_same {
            return;
        }
        let claims = claims(build, &now);
        self.seen = now;
        if let Some((xds, claim)) = self.xds.and_then(|xds| Some((xds, claims.iter().find(|claim| claim.is_for(xds))?))) {
            tracing::error!(
                "{} needs the port of the xDS server, {xds}: an Envoy on this machine will reject it; give --xds another address",
                claim.what
            );
        }
        for at in 0..self.mobile.len() {
            let Some(claim) = self.mobile.get(at).and_then(|of| claims.iter().find(|claim| claim.is_for(of.address))) else { continue };
            self.leave(at, claim, &claims);
        }
    }

    /// Moves a server to a free port.
    fn leave(&mut self, at: usize, claim: &Claim, claims: &BTreeSet<Claim>) {
        let Some(mobile) = self.mobile.get_mut(at) else { return };
        let (name, old) = (mobile.server.name(), mobile.address);
        let moved = free(old.ip(), claims).and_then(|listener| {
            listener.set_nonblocking(true).ok()?;
            let address = listener.local_addr().ok()?;
            let (sender, left) = ack::channel();
            mobile.moves.blocking_send((listener, sender)).ok()?;
            left.recv_timeout(PATIENCE).ok()?;
            Some(address)
        });
        match moved {
            Some(address) => {
                mobile.address = address;
                tracing::warn!("the {name} server moves from {old} to {address}, because {} has its port; Envoy cannot share it", claim.what);
                self.events.publish(Event::Listening { server: mobile.server, address: address.to_string() });
            }
            None => tracing::error!("the {name} server stays at {old}, which {} needs: no other port is free", claim.what),
        }
    }
}

/// Opens a free port that no listener claims: one of [`RANGE`], or any.
fn free(ip: IpAddr, claims: &BTreeSet<Claim>) -> Option<std::net::TcpListener> {
    let mut unclaimed = RANGE.chain([0]).filter(|port| !claims.iter().any(|claim| claim.port == *port));
    unclaimed.find_map(|port| std::net::TcpListener::bind((ip, port)).ok())
}

impl Claim {
    fn is_for(&self, address: SocketAddr) -> bool {
        self.port == address.port() && (self.address.is_unspecified() || self.address == address.ip())
    }
}

/// Returns the addresses of a build's listeners: the served listeners, and the listeners of a controller's bootstrap.
fn claims(build: &Build, served: &BTreeMap<Arc<str>, Arc<Resources>>) -> BTreeSet<Claim> {
    let mut out = BTreeSet::new();
    for (gateway, listeners) in served {
        for (name, resource) in &listeners.by_name {
            let Some(socket) = Listens::decode(&*resource.value).ok().and_then(|of| of.address?.socket) else { continue };
            let what = format!("the listener {name} of the gateway {gateway}");
            // Envoy resolves names, so they are not known here.
            if let (Ok(address), Ok(port), false) = (socket.address.parse(), u16::try_from(socket.port), socket.protocol == UDP) {
                out.insert(Claim { port, address, what });
            }
        }
    }
    for (gateway, of) in build.running() {
        for listener in of.ir.listeners.iter().filter(|listener| listener.in_bootstrap) {
            if let (Ok(address), SocketProtocol::Tcp) = (listener.address.address.parse(), listener.address.protocol) {
                let what = format!("the listener {} in the bootstrap of the gateway {gateway}", &**listener.name);
                out.insert(Claim { port: *listener.address.port, address, what });
            }
        }
    }
    out
}

const UDP: i32 = 1;

/// The address of Envoy's `Listener`.
#[derive(Clone, PartialEq, Message)]
struct Listens {
    #[prost(message, optional, tag = "2")]
    address: Option<ListenAddress>,
}

#[derive(Clone, PartialEq, Message)]
struct ListenAddress {
    #[prost(message, optional, tag = "1")]
    socket: Option<Socket>,
}

#[derive(Clone, PartialEq, Message)]
struct Socket {
    #[prost(int32, tag = "1")]
    protocol: i32,
    #[prost(string, tag = "2")]
    address: String,
    #[prost(uint32, tag = "3")]
    port: u32,
}
