//! The Gateway's listeners: whether they are in order, which routes they take, and their certificates.
//!
//! What must not be here: ports (`ports.rs`), routes.

use super::{Gateway, RouteKind, ports};
use crate::dialect::contour::kinds::Kind;
use crate::dialect::contour::model::Material;
use crate::dialect::contour::processor::Processing;
use crate::dialect::gateway_api::grant::Reference;
use crate::dialect::gateway_api::status::{Conditions, GatewayStatus, ListenerStatus};
use crate::dialect::gateway_api::{GROUP, attachment};
use crate::dialect::kubernetes::cursor::Cursor;
use crate::dialect::kubernetes::selector::Selector;
use crate::resource::{Origin, Sourced};
use crate::schema::go_quoted;
use crate::text::Str;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A listener of the Gateway.
pub(super) struct GatewayListener<'a> {
    at: Cursor<'a>,
    /// Its name.
    pub name: Str,
    /// Its port.
    pub port: i64,
    /// Its protocol.
    pub protocol: &'a str,
    /// The host that it is for; empty for all.
    pub hostname: Sourced<Str>,
    /// The listener of the graph that it is part of; empty where there is none.
    pub graph_name: Str,
    /// The kinds of routes that it takes.
    pub kinds: Vec<RouteKind>,
    /// The namespaces that it takes routes from, if it selects them.
    selector: Option<Selector>,
    /// Its certificate, if it terminates TLS.
    pub secret: Option<Sourced<Arc<Material>>>,
    /// Routes can attach to it.
    pub ready: bool,
}

impl GatewayListener<'_> {
    /// Where it is written.
    pub(super) fn origin(&self) -> Origin {
        self.at.origin()
    }
}

impl<'a> Processing<'a> {
    /// Sorts out the listeners, and writes what is wrong with them into the status.
    pub(super) fn gateway_listeners(&self, gateway: &Gateway<'a>, status: &mut GatewayStatus) -> Vec<GatewayListener<'a>> {
        let items = gateway.object.spec().field("listeners");
        let ports = ports::validate(items);
        for (name, fault) in &ports.faults {
            let listener = status.listeners.entry(name.clone()).or_default();
            listener.conditions.add(fault.kind, fault.holds, fault.reason, fault.message.clone());
        }
        let mut listeners = Vec::new();
        for at in items.items() {
            let name = Str::new(at.field("name").str());
            let its = status.listeners.entry(name.clone()).or_default();
            let hostname = at.field("hostname");
            let mut listener = GatewayListener {
                at,
                port: at.field("port").int().unwrap_or_default(),
                protocol: at.field("protocol").str(),
                hostname: Sourced::new(Str::new(hostname.str()), if hostname.exists() { hostname.origin() } else { at.origin() }),
                graph_name: ports.names.get(&name).cloned().unwrap_or_default(),
                kinds: kinds(at, &mut its.conditions),
                selector: None,
                secret: None,
                ready: false,
                name,
            };
            its.supported_kinds.extend(listener.kinds.iter().map(|kind| kind.name()));
            let is_faulty = ports.faults.contains_key(&listener.name);
            listener.ready = self.check_listener(gateway, &mut listener, is_faulty, &mut its.conditions).is_some();
            complete(its);
            listeners.push(listener);
        }
        listeners
    }

    /// `None` where no route can attach to it.
    fn check_listener(&self, gateway: &Gateway<'a>, listener: &mut GatewayListener<'a>, is_faulty: bool, conditions: &mut Conditions) -> Option<()> {
        let namespaces = listener.at.at("allowedRoutes.namespaces");
        if namespaces.field("from").str() == "Selector" {
            listener.selector = Some(selector(namespaces.field("selector")).map_err(|why| invalid(conditions, why)).ok()?);
        }
        if is_faulty {
            return None;
        }
        let tls = listener.at.field("tls");
        let mode = tls.field("mode").some_str().unwrap_or("Terminate");
        let certificates = tls.field("certificateRefs");
        match listener.protocol {
            "HTTPS" | "TLS" if !tls.exists() => {
                invalid(conditions, format!("Listener.TLS is required when protocol is {}.", go_quoted(listener.protocol)));
                return None;
            }
            "HTTPS" if mode != "Terminate" => {
                invalid(conditions, "Listener.TLS.Mode must be \"Terminate\" when protocol is \"HTTPS\".");
                return None;
            }
            "HTTPS" => listener.secret = Some(self.listener_secret(gateway, certificates, conditions)?),
            "TLS" => match mode {
                "Terminate" => listener.secret = Some(self.listener_secret(gateway, certificates, conditions)?),
                "Passthrough" if certificates.is_empty() => {}
                "Passthrough" => {
                    invalid(conditions, "Listener.TLS.CertificateRefs cannot be defined when Listener.TLS.Mode is \"Passthrough\".");
                    return None;
                }
                _ => {
                    invalid(conditions, "Listener.TLS.Mode must be \"Terminate\" or \"Passthrough\".");
                    return None;
                }
            },
            _ => {}
        }
        Some(())
    }

    /// The one certificate of a listener.
    fn listener_secret(&self, gateway: &Gateway<'a>, references: Cursor<'a>, conditions: &mut Conditions) -> Option<Sourced<Arc<Material>>> {
        let mut items = references.items();
        let (Some(reference), None) = (items.next(), items.next()) else {
            invalid(conditions, "Listener.TLS.CertificateRefs must contain exactly one entry");
            return None;
        };
        let name = reference.field("name");
        let what = format!("Spec.VirtualHost.TLS.CertificateRefs {}", go_quoted(name.str()));
        let mut unresolved = |reason, why: String| conditions.add("ResolvedRefs", false, reason, format!("{what} {why}"));
        if reference.field("group").some_str() != Some("") || reference.field("kind").str() != "Secret" {
            unresolved("InvalidCertificateRef", "must contain a reference to a core.Secret".into());
            return None;
        }
        let home = gateway.object.namespace();
        let namespace = reference.field("namespace").some_str().map_or_else(|| home.clone(), Str::new);
        let crossing = Reference { from_kind: "Gateway", from_namespace: home, to_kind: "Secret", to_namespace: &namespace, to_name: name.str() };
        if namespace != *home && !gateway.grants(&crossing) {
            unresolved("RefNotPermitted", "namespace must match the Gateway's namespace or be covered by a ReferenceGrant".into());
            return None;
        }
        match self.source.tls_secret_of_anywhere(&(namespace, Str::new(name.str()))) {
            Ok(material) => Some(Sourced::new(material, name.origin())),
            Err(error) => {
                unresolved("InvalidCertificateRef", format!("referent is invalid: {}", error.message()));
                None
            }
        }
    }

    /// Whether a listener takes routes from a namespace.
    pub(super) fn lets_in(&self, gateway: &Gateway<'a>, listener: &GatewayListener<'a>, namespace: &Str) -> bool {
        let known = self.source.cluster.get(Kind::Namespace, "", namespace).filter(|_| !self.source.is_disabled("namespaces"));
        let labels = known.map(|known| {
            let labels = known.root().field("metadata").field("labels");
            // The API server gives every namespace its name as a label.
            move |key: &str| if key == "kubernetes.io/metadata.name" { Some(known.name().as_str()) } else { labels.field(key).some_str() }
        });
        let namespaces = listener.at.at("allowedRoutes.namespaces");
        attachment::allows_namespace(namespaces, listener.selector.as_ref(), gateway.object.namespace(), namespace, labels)
    }
}

impl Gateway<'_> {
    /// Whether a ReferenceGrant allows a reference.
    pub(super) fn grants(&self, reference: &Reference<'_>) -> bool {
        self.grants.iter().any(|grant| reference.is_allowed_by(grant.namespace(), grant.spec()))
    }
}

/// The kinds of routes that a listener takes: those that it names, or those of its protocol.
fn kinds(at: Cursor<'_>, conditions: &mut Conditions) -> Vec<RouteKind> {
    let protocol = at.field("protocol").str();
    let named = at.at("allowedRoutes.kinds");
    if named.is_empty() {
        return match protocol {
            "HTTP" | "HTTPS" => alloc::vec![RouteKind::Http, RouteKind::Grpc],
            "TLS" => alloc::vec![RouteKind::Tls, RouteKind::Tcp],
            "TCP" => alloc::vec![RouteKind::Tcp],
            _ => Vec::new(),
        };
    }
    let mut kinds = Vec::new();
    for item in named.items() {
        let group = item.field("group").some_str().filter(|group| *group != GROUP);
        let name = item.field("kind").str();
        let fault = match (group, RouteKind::named(name)) {
            (Some(group), _) => format!("Group {} is not supported, group must be {}", go_quoted(group), go_quoted(GROUP)),
            (None, None) => {
                let known = "kind must be \"HTTPRoute\", \"TLSRoute\", \"GRPCRoute\" or \"TCPRoute\"";
                format!("Kind {} is not supported, {known}", go_quoted(name))
            }
            (None, Some(kind)) => {
                let fits = match kind {
                    RouteKind::Http | RouteKind::Grpc => true,
                    RouteKind::Tls => protocol == "TLS",
                    RouteKind::Tcp => matches!(protocol, "TCP" | "TLS"),
                };
                if fits {
                    kinds.push(kind);
                    continue;
                }
                format!("{}s are incompatible with listener protocol {}", kind.name(), go_quoted(protocol))
            }
        };
        conditions.add("ResolvedRefs", false, "InvalidRouteKinds", fault);
    }
    kinds
}

fn selector(at: Cursor<'_>) -> Result<Selector, String> {
    if !at.exists() {
        let (field, when) = ("Listener.AllowedRoutes.Namespaces.Selector", "Listener.AllowedRoutes.Namespaces.From is set to \"Selector\"");
        return Err(format!("{field} is required when {when}."));
    }
    if at.field("matchLabels").is_empty() && at.field("matchExpressions").is_empty() {
        return Err("Listener.AllowedRoutes.Namespaces.Selector must specify at least one MatchLabel or MatchExpression.".into());
    }
    Selector::of_fields(at).map_err(|why| format!("Error parsing Listener.AllowedRoutes.Namespaces.Selector: {why}."))
}

fn invalid(conditions: &mut Conditions, message: impl Into<String>) {
    conditions.add("Programmed", false, "Invalid", message);
}

/// Adds the conditions that every listener has, where nothing more exact was found.
fn complete(status: &mut ListenerStatus) {
    let conditions = &mut status.conditions;
    if conditions.is_empty() {
        conditions.add("Programmed", true, "Programmed", "Valid listener");
    } else if !conditions.has("Programmed") {
        invalid(conditions, "Invalid listener, see other listener conditions for details");
    }
    conditions.add_missing("Accepted", true, "Accepted", "Listener accepted");
    conditions.add_missing("ResolvedRefs", true, "ResolvedRefs", "Listener references resolved");
}
