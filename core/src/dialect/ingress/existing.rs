//! The gateway as it is: read from the file that the host gives, or an empty one.
//!
//! What must not be here: the form of its parts (`ir::appgw`).

use super::death::Died;
use super::names::{Names, PartKind};
use super::options::GatewayFile;
use crate::diagnostic::Diagnostic;
use crate::ir::appgw::wire::Wire as _;
use crate::ir::appgw::{Frontend, Gateway, Part, Properties, Reference, Sku};
use crate::resource::{DocumentCache, Input, Inputs, Object, Objects, ReadOptions, ResourceKey, Shape, Source, SourceId, Sourced, read};
use crate::text::{Limits, Str};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What the answers say of a public address unless they are told.
pub const PUBLIC_IP: &str = "203.0.113.10";

/// Reads the file as one more input, so that its values have places like any others. Gives the object's place among the objects.
pub fn load(file: &GatewayFile, inputs: &mut Inputs, objects: &mut Objects, sink: &mut Vec<Diagnostic>) -> Option<Gateway> {
    let input = Input { name: file.name.clone(), text: file.text.clone() };
    let alone = Inputs { inputs: Vec::from([input.clone()]) };
    let limits = Limits { max_nodes: u32::MAX, ..Limits::default() };
    let options = ReadOptions { shape: Shape::Plain, limits, ..ReadOptions::default() };
    let (read_objects, findings) = read(&alone, &options, &mut DocumentCache::default());
    let source = SourceId(inputs.inputs.len() as u32);
    inputs.inputs.push(input);
    sink.extend(findings.into_iter().map(|finding| moved(finding, source, objects)));
    let first = read_objects.iter().next()?;
    let mut content = (*first.content).clone();
    content.key = ResourceKey {
        group: Str::new_static("Microsoft.Network"),
        kind: Str::new_static("applicationGateways"),
        namespace: None,
        name: first.root.get("name").and_then(|name| name.as_str()).map(Str::new).unwrap_or_default(),
    };
    let id = objects.next_id();
    let object = Object { id, source: Source { source, ..first.source }, parent: None, content: Arc::new(content) };
    let gateway = Gateway::read(&object.root, id);
    objects.push(object);
    gateway
}

/// A finding of the file, which was read alone, where it stands among the inputs.
fn moved(mut finding: Diagnostic, source: SourceId, objects: &Objects) -> Diagnostic {
    use crate::diagnostic::Place;
    let place = |place: &mut Place| match place {
        Place::Text(of, _) => *of = source,
        Place::Node { object, .. } => *object = objects.next_id(),
        Place::Whole => {}
    };
    place(&mut finding.place);
    finding.related.iter_mut().for_each(|related| place(&mut related.place));
    finding
}

/// A gateway with a public and a private address and nothing else.
pub fn empty(names: &Names) -> Gateway {
    let word = |text: &'static str| Some(Sourced::built_in(Str::new_static(text)));
    let part =
        |name: &'static str, frontend: Frontend| Part::new(name, names.id(PartKind::Frontend, name), frontend, crate::resource::Origin::built_in());
    let public = Reference { id: Sourced::built_in(names.neighbour_id("publicIPAddresses", "agic-pip")) };
    let frontends = Vec::from([
        part("public-ip", Frontend { public_ip: Some(public), ..Frontend::default() }),
        part("private-ip", Frontend { private_ip: word("10.0.0.100"), ..Frontend::default() }),
    ]);
    let properties = Properties {
        authentication_certificates: Some(Vec::new()),
        pools: Some(Vec::new()),
        settings: Some(Vec::new()),
        frontends: Some(frontends),
        ports: Some(Vec::new()),
        listeners: Some(Vec::new()),
        probes: Some(Vec::new()),
        redirects: Some(Vec::new()),
        rules: Some(Vec::new()),
        rewrites: Some(Vec::new()),
        certificates: Some(Vec::new()),
        trusted_roots: Some(Vec::new()),
        path_maps: Some(Vec::new()),
        ssl_profiles: Some(Vec::new()),
        sku: Some(Sku { name: word("Standard_v2"), tier: word("Standard_v2"), ..Sku::default() }),
        operational_state: word("Running"),
        ..Properties::default()
    };
    let name = names.gateway_id().rsplit('/').next().map(Str::new).unwrap_or_default();
    Gateway {
        id: Some(Sourced::built_in(Str::new(names.gateway_id()))),
        name: Some(Sourced::built_in(name)),
        properties: Some(properties),
        ..Gateway::default()
    }
}

/// Whether the gateway can be changed.
pub fn is_running(properties: &Properties) -> bool {
    properties.operational_state.as_ref().is_some_and(|state| matches!(state.as_str(), "Running" | "Starting"))
}

/// What the controller takes for granted when it has read the gateway.
///
/// # Errors
///
/// It is not there.
pub fn check(gateway: &Gateway) -> Result<(), Died> {
    let properties = gateway.properties.as_ref().ok_or_else(|| Died::of("the gateway's ARM document has no `properties`", None))?;
    let ports = properties.ports.as_ref().ok_or_else(|| Died::without_list("frontendPorts"))?;
    match ports.iter().find(|port| port.properties.port.is_none()) {
        Some(port) => Err(Died::without_field(&port.name, "port", port.origin)),
        None => Ok(()),
    }
}
