//! What Envoy refuses of listeners and routes, beyond the rules of single fields (`crate::refused_by_envoy`).
//!
//! Source of behaviour: Envoy `source/common/listener_manager/filter_chain_manager_impl.cc`, `source/common/router/config_utility.cc`. What must not
//! be here: headers (`header`).

use super::header::REFUSED;
use super::whole::{Whole, written};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::codes;
use chancery_base::ir::{FilterChain, RouteAction};
use chancery_base::resource::Origin;
use chancery_text::Str;

/// The largest body of a direct response: bytes.
const LARGEST_BODY: usize = 4096;

pub(super) fn check(whole: &mut Whole<'_>) {
    chains(whole);
    bodies(whole);
}

/// Filter chains of a listener that take the same connections.
fn chains(whole: &mut Whole<'_>) {
    for listener in &whole.ir.listeners {
        let mut seen: Vec<(Vec<&Str>, Option<&Str>)> = Vec::new();
        for chain in &listener.chains {
            let taken = connections(chain);
            if seen.contains(&taken) {
                let (address, port) = (&listener.address.address.value, listener.address.port.value);
                let message = format!("Envoy refuses the listener on {address}:{port}: another filter chain of it takes the same connections");
                report(whole, written(&chain.origins), message, "give it a host of its own that clients name over TLS, or another port");
            }
            seen.push(taken);
        }
    }
}

fn connections(chain: &FilterChain) -> (Vec<&Str>, Option<&Str>) {
    let matcher = chain.matcher.as_ref();
    let mut names: Vec<&Str> = matcher.iter().flat_map(|matcher| &matcher.server_names).map(|name| &name.value).collect();
    names.sort();
    (names, matcher.and_then(|matcher| matcher.transport_protocol.as_ref()))
}

fn bodies(whole: &mut Whole<'_>) {
    for route in whole.routes.clone().iter() {
        let RouteAction::Respond(response) = &route.action else { continue };
        let Some(body) = response.body.as_ref().filter(|body| body.value.len() > LARGEST_BODY) else { continue };
        let message = format!("Envoy refuses this body: it has {} bytes, and {LARGEST_BODY} are allowed", body.value.len());
        report(whole, body.origin, message, "write a shorter one, or let a service answer");
    }
}

fn report(whole: &mut Whole<'_>, at: Option<Origin>, message: String, help: &str) {
    if whole.object(at).is_some() {
        let finding = whole.finding(&codes::REFUSED_BY_ENVOY, at, message);
        whole.report(finding.help(format!("{help}: {REFUSED}")));
    }
}
