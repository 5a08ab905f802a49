//! Reads the current gateway from the file that the host provides, or creates an empty one. The types of its parts are in `ir::appgw`.

use super::codes;
use super::crash::ControllerCrash;
use super::environment::{Environment, of_resource_id};
use super::names::{Names, PartKind};
use super::options::Options;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation;
use chancery_base::diagnostic::{Diagnostic, Findings, Place};
use chancery_base::ir::appgw::wire::Wire as _;
use chancery_base::ir::appgw::{Frontend, Gateway, Part, Properties, Reference, Sku};
use chancery_base::resource::{ObjectId, Origin, Sourced};
use chancery_text::{Limits, Node, Str, parse};

/// The public address in the answers, unless it is set.
pub const PUBLIC_IP: &str = "203.0.113.10";

/// Reads the document of a gateway. Problems become findings about the whole, since the text is not an input.
pub fn load(text: &str, sink: &mut Findings) -> Gateway {
    let limits = Limits { max_nodes: u32::MAX, ..Limits::default() };
    let document = parse(text, &limits);
    let root = document.root.as_ref().filter(|_| !document.is_broken());
    let read = root.and_then(|root| Gateway::read(root, ObjectId::BUILT_IN));
    let problem = match (root, &read) {
        (Some(root), Some(_)) => odd(root),
        _ => Some(match document.problems.iter().find(|problem| !problem.kind.is_warning()) {
            Some(problem) => {
                let line = 1 + text.bytes().take(problem.range.start as usize).filter(|byte| *byte == b'\n').count();
                format!("the gateway's document cannot be read: it is broken at line {line}")
            }
            None => "the gateway's document is not a JSON object".into(),
        }),
    };
    if let Some(message) = problem {
        sink.report(
            Diagnostic::new(&codes::UNREADABLE_GATEWAY, message, Place::Whole).help("write what `az network application-gateway show` prints"),
        );
    }
    read.unwrap_or_default()
}

/// The ARM type of a gateway.
const TYPE: &str = "Microsoft.Network/applicationGateways";

/// Returns why a document is probably not a gateway's.
fn odd(root: &Node) -> Option<String> {
    let of_type = root.get("type").and_then(Node::as_str).filter(|of| !of.eq_ignore_ascii_case(TYPE));
    if let Some(of) = of_type {
        return Some(format!("the gateway's document is that of a `{of}`, not of an Application Gateway"));
    }
    let is_other = |id: &&str| of_resource_id(id).2.is_empty() || !id.to_ascii_lowercase().contains("/microsoft.network/applicationgateways/");
    if let Some(id) = root.get("id").and_then(Node::as_str).filter(is_other) {
        return Some(format!("the gateway's document has the id `{id}`, which is not an Application Gateway's id"));
    }
    let is_template = root.get("resources").is_some() && root.get("properties").is_none();
    is_template.then(|| "the gateway's document is an ARM template, not the gateway itself".into())
}

/// Returns the gateway that a compile with these options starts from.
pub fn of(options: &compilation::Options) -> Gateway {
    let options = Options::of(options);
    match &options.existing_gateway {
        Some(text) => load(text, &mut Findings::default()),
        None => empty(&Names::new(&Environment::read(&options))),
    }
}

/// A gateway with a public and a private address and nothing else.
pub fn empty(names: &Names) -> Gateway {
    let word = |text: &'static str| Some(Sourced::built_in(Str::new_static(text)));
    let part = |name: &'static str, frontend: Frontend| Arc::new(Part::new(name, names.id(PartKind::Frontend, name), frontend, Origin::built_in()));
    let public = Reference::from(Sourced::built_in(names.neighbour_id("publicIPAddresses", "agic-pip")));
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

/// Checks the fields that the controller relies on.
///
/// # Errors
///
/// A field is missing.
pub fn check(gateway: &Gateway) -> Result<(), ControllerCrash> {
    let properties = gateway.properties.as_ref().ok_or_else(|| ControllerCrash::of("the gateway's ARM document has no `properties`", None))?;
    let ports = properties.ports.as_ref().ok_or_else(|| ControllerCrash::without_list("frontendPorts"))?;
    match ports.iter().find(|port| port.properties.port.is_none()) {
        Some(port) => Err(ControllerCrash::without_field(&port.name, "port", port.origin)),
        None => Ok(()),
    }
}
