//! Reports settings of one listener that a port's other listeners share or decide. Envoy has one listener for each port: Envoy Gateway makes it for
//! the first listener of the Gateway, and adds filter chains for the others (`internal/xds/translator/translator.go`, `listener.go`).

use super::super::codes;
use super::super::model::{ClientSettings, CoreListener, HttpListener, Xds};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, Diagnostic, Findings, Place, codes as base_codes};
use chancery_base::ir::Tree;
use chancery_base::resource::{Objects, Origin};
use chancery_text::{Segment, series};

type Listener<'m> = (&'m CoreListener, &'m ClientSettings);

/// Settings that only the first listener of a port decides: the fields of a ClientTrafficPolicy.
const OF_FIRST: [&[&str]; 3] = [&["connection", "bufferLimit"], &["connection", "maxAcceptPerSocketEvent"], &["tcpKeepalive"]];

/// Reports HTTP/3 on ports with the PROXY protocol. Envoy has no listener filter for QUIC that reads the PROXY protocol, so it rejects the listener
/// (`envoy.filters.listener.proxy_protocol` is registered for TCP only).
pub(crate) fn no_quic(model: &Xds, objects: &Objects, sink: &mut Findings) {
    let mut known: Vec<Origin> = Vec::new();
    for of in model.http.iter().filter(|of| !of.client.http3.is_null()) {
        let is_same = |other: &&HttpListener| other.core.port.value == of.core.port.value && other.core.address == of.core.address;
        let proxy = model.http.iter().filter(is_same).find_map(|other| other.client.proxy_protocol.origin);
        let (Some(proxy), Some(http3)) = (proxy, of.client.http3.origin) else { continue };
        let Some(object) = objects.get(proxy.object()).filter(|_| !known.contains(&proxy)) else { continue };
        known.push(proxy);
        let message = format!(
            "Envoy rejects the HTTP/3 listener of port {}: it cannot read the PROXY protocol over QUIC. HTTPS over TCP is not affected",
            of.core.external_port.value
        );
        let found = Diagnostic::new(&base_codes::REFUSED_BY_ENVOY, message, Place::key(proxy.object(), proxy.node())).about(object.key.clone());
        let found = found.related(Place::key(http3.object(), http3.node()), "this asks for HTTP/3");
        sink.report(found.help("remove `http3`, or let the load balancer keep the client's address in another way"));
    }
}

/// Reports the settings of an Envoy's ports.
pub(crate) fn shared_ports(model: &Xds, objects: &Objects, sink: &mut Findings) {
    let http = model.http.iter().map(|of| (&of.core, &of.client));
    let all: Vec<Listener<'_>> = http.chain(model.tcp.iter().map(|of| (&of.core, &of.client))).collect();
    for (at, first) in all.iter().enumerate() {
        let is_shared = |other: &&Listener<'_>| other.0.port.value == first.0.port.value && other.0.address == first.0.address;
        if all.iter().take(at).any(|earlier| is_shared(&earlier)) {
            continue;
        }
        let others: Vec<&Listener<'_>> = all.iter().skip(at + 1).filter(is_shared).collect();
        if !others.is_empty() {
            proxy_protocol(first, &others, objects, sink);
            decided_by_first(first, &others, objects, sink);
        }
    }
}

/// Reports the PROXY protocol of some listeners of a port, which all of them then need.
fn proxy_protocol(first: &Listener<'_>, others: &[&Listener<'_>], objects: &Objects, sink: &mut Findings) {
    let all = || core::iter::once(first).chain(others.iter().copied());
    let without: Vec<String> = all().filter(|(_, client)| client.proxy_protocol.is_null()).map(|(core, _)| format!("`{}`", name(core))).collect();
    let Some(origin) = all().find_map(|(_, client)| client.proxy_protocol.origin).filter(|_| !without.is_empty()) else { return };
    let port = first.0.external_port.value;
    let noun = if without.len() == 1 { "listener" } else { "listeners" };
    let message = format!("this applies to all listeners on port {port}: clients of {noun} {} must send a PROXY header too", series(&without));
    let help = "set it for all listeners of the port, or give the other listeners another port";
    report(&codes::SETTING_OF_WHOLE_PORT, message, help, origin, objects, sink);
}

/// Reports settings of later listeners that the first listener of the port decides.
fn decided_by_first((first, own): &Listener<'_>, others: &[&Listener<'_>], objects: &Objects, sink: &mut Findings) {
    for path in OF_FIRST {
        for (_, client) in others {
            let (wanted, used) = (setting(client, path), setting(own, path));
            let is_written = |origin: &Origin| is_field(objects, *origin, path.last().copied().unwrap_or_default());
            let Some(origin) = wanted.origin.filter(|_| !wanted.is_null() && wanted.json() != used.json()).filter(is_written) else { continue };
            let message = format!(
                "this has no effect: listener `{}`, the first on port {}, decides `{}` for the whole port",
                name(first),
                first.external_port.value,
                path.join(".")
            );
            report(
                &base_codes::FIELD_WITHOUT_EFFECT,
                message,
                "set it for the first listener, or give this listener another port",
                origin,
                objects,
                sink,
            );
        }
    }
}

fn setting<'m>(client: &'m ClientSettings, path: &[&str]) -> &'m Tree {
    match path {
        ["connection", field] => client.connection.get(field),
        _ => &client.tcp_keepalive,
    }
}

/// Whether an origin is this field. A default that the API server adds has the origin of the object around it.
fn is_field(objects: &Objects, origin: Origin, name: &str) -> bool {
    let path = objects.get(origin.object()).map(|object| object.path(origin.node()));
    path.is_some_and(|path| matches!(path.segments.last(), Some(Segment::Key(key)) if *key == *name))
}

/// The name in the Gateway or ListenerSet.
fn name(core: &CoreListener) -> &str {
    core.name.rsplit('/').next().unwrap_or_default()
}

fn report(code: &'static Code, message: String, help: &str, origin: Origin, objects: &Objects, sink: &mut Findings) {
    let Some(object) = objects.get(origin.object()) else { return };
    sink.report(Diagnostic::new(code, message, Place::key(origin.object(), origin.node())).about(object.key.clone()).help(help));
}
