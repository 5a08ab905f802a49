//! Processes the Gateway's listeners: their validity, the routes that they accept, and their certificates. Does not assign ports; see `ports`.

use super::context::{Gateway, GatewayListener};
use super::fault::Faults;
use super::kind::RouteKind;
use super::ports;
use crate::kinds::Kind;
use crate::model::Material;
use crate::processor::Processing;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::gateway_api::grant::Reference;
use chancery_kubernetes::gateway_api::status::{GatewayStatus, ListenerStatus};
use chancery_kubernetes::gateway_api::{GROUP, attachment};
use chancery_kubernetes::reason::Reason;
use chancery_kubernetes::selector::Selector;
use chancery_text::Str;

/// An error of a listener: its condition and place.
struct Wrong<'a> {
    kind: &'static str,
    reason: &'static str,
    message: String,
    at: Cursor<'a>,
}

impl<'a> Wrong<'a> {
    fn invalid(message: impl Into<String>, at: Cursor<'a>) -> Self {
        Self { kind: "Programmed", reason: "Invalid", message: message.into(), at }
    }

    fn unresolved(reason: &'static str, message: String, at: Cursor<'a>) -> Self {
        Self { kind: "ResolvedRefs", reason, message, at }
    }
}

impl<'a> Processing<'a> {
    /// Validates the listeners, and writes errors into the status.
    pub(super) fn gateway_listeners(&self, gateway: &Gateway<'a>, status: &mut GatewayStatus, faults: &mut Faults) -> Vec<GatewayListener<'a>> {
        let items = gateway.object.spec().field("listeners");
        let ports = ports::validate(items);
        let mut listeners = Vec::new();
        for at in items.items() {
            let name = Str::new(at.field("name").str());
            let its = status.listeners.entry(name.clone()).or_default();
            let fault = ports.faults.get(&name);
            if let Some(fault) = fault {
                its.conditions.add(fault.kind, fault.holds, fault.reason, fault.message.clone());
                faults.add(gateway.object, fault.kind, fault.reason, &fault.message, at.origin());
            }
            let hostname = at.field("hostname");
            let (kinds, mut wrong) = kinds(at);
            its.supported_kinds.extend(kinds.iter().map(|kind| kind.name()));
            let mut listener = GatewayListener {
                at,
                port: at.field("port").int().unwrap_or_default(),
                protocol: at.field("protocol").str(),
                hostname: Sourced::new(Str::new(hostname.str()), if hostname.exists() { hostname.origin() } else { at.origin() }),
                graph_name: ports.names.get(&name).cloned().unwrap_or_default(),
                kinds,
                selector: None,
                secret: None,
                ready: false,
                name,
            };
            match self.check_listener(gateway, &mut listener, fault.is_some()) {
                Ok(()) => listener.ready = fault.is_none(),
                Err(why) => wrong.push(why),
            }
            for Wrong { kind, reason, message, at } in wrong {
                faults.add(gateway.object, kind, reason, &message, at.origin());
                its.conditions.add(kind, false, reason, message);
            }
            complete(its);
            listeners.push(listener);
        }
        listeners
    }

    /// The errors that exclude all routes. For a listener that is already invalid, only the namespaces are read.
    fn check_listener(&self, gateway: &Gateway<'a>, listener: &mut GatewayListener<'a>, is_faulty: bool) -> Result<(), Wrong<'a>> {
        let namespaces = listener.at.at("allowedRoutes.namespaces");
        if namespaces.field("from").str() == "Selector" {
            let at = namespaces.field("selector");
            listener.selector = Some(selector(at).map_err(|why| Wrong::invalid(why, at))?);
        }
        if is_faulty || !matches!(listener.protocol, "HTTPS" | "TLS") {
            return Ok(());
        }
        let tls = listener.at.field("tls");
        if !tls.exists() {
            let message = format!("Listener.TLS is required when protocol is {}.", go_quoted(listener.protocol));
            return Err(Wrong::invalid(message, listener.at));
        }
        let (mode, certificates) = (tls.field("mode"), tls.field("certificateRefs"));
        match mode.some_str().unwrap_or("Terminate") {
            "Terminate" => listener.secret = Some(self.listener_secret(gateway, certificates)?),
            _ if listener.protocol == "HTTPS" => {
                return Err(Wrong::invalid("Listener.TLS.Mode must be \"Terminate\" when protocol is \"HTTPS\".", mode));
            }
            "Passthrough" if certificates.is_empty() => {}
            "Passthrough" => {
                let message = "Listener.TLS.CertificateRefs cannot be defined when Listener.TLS.Mode is \"Passthrough\".";
                return Err(Wrong::invalid(message, certificates));
            }
            _ => return Err(Wrong::invalid("Listener.TLS.Mode must be \"Terminate\" or \"Passthrough\".", mode)),
        }
        Ok(())
    }

    /// The one certificate of a listener.
    fn listener_secret(&self, gateway: &Gateway<'a>, references: Cursor<'a>) -> Result<Sourced<Arc<Material>>, Wrong<'a>> {
        let mut items = references.items();
        let (Some(reference), None) = (items.next(), items.next()) else {
            return Err(Wrong::invalid("Listener.TLS.CertificateRefs must contain exactly one entry", references));
        };
        let name = reference.field("name");
        let unresolved = |reason, why: &str| {
            let message = format!("Spec.VirtualHost.TLS.CertificateRefs {} {why}", go_quoted(name.str()));
            Wrong::unresolved(reason, message, reference)
        };
        if reference.field("group").some_str() != Some("") || reference.field("kind").str() != "Secret" {
            return Err(unresolved("InvalidCertificateRef", "must contain a reference to a core.Secret"));
        }
        let home = gateway.object.namespace();
        let namespace = reference.field("namespace").some_str().map_or_else(|| home.clone(), Str::new);
        let crossing = Reference { from_kind: "Gateway", from_namespace: home, to_kind: "Secret", to_namespace: &namespace, to_name: name.str() };
        if namespace != *home && !gateway.grants(&crossing) {
            return Err(unresolved("RefNotPermitted", "namespace must match the Gateway's namespace or be covered by a ReferenceGrant"));
        }
        let found = self.source.tls_secret_of_anywhere(&(namespace, Str::new(name.str())));
        let material = found.map_err(|error| unresolved("InvalidCertificateRef", &format!("referent is invalid: {}", error.message())))?;
        Ok(Sourced::new(material, name.origin()))
    }

    /// Whether a listener accepts routes from a namespace.
    pub(super) fn lets_in(&self, gateway: &Gateway<'a>, listener: &GatewayListener<'a>, namespace: &Str) -> bool {
        let known = self.source.cluster.get(Kind::Namespace, "", namespace).filter(|_| !self.source.is_disabled("namespaces"));
        let labels = known.map(|known| {
            let labels = known.metadata().field("labels");
            // The API server labels every namespace with its name.
            move |key: &str| if key == "kubernetes.io/metadata.name" { Some(known.name().as_str()) } else { labels.field(key).some_str() }
        });
        let namespaces = listener.at.at("allowedRoutes.namespaces");
        attachment::allows_namespace(namespaces, listener.selector.as_ref(), gateway.object.namespace(), namespace, labels)
    }
}

impl Gateway<'_> {
    /// Whether a ReferenceGrant allows a reference.
    pub(super) fn grants(&self, reference: &Reference<'_>) -> bool {
        let here = self.grants.get(&Str::new(reference.to_namespace));
        here.into_iter().flatten().any(|grant| reference.is_allowed_by(grant.namespace(), grant.spec()))
    }
}

/// The kinds of routes that a listener accepts: the named ones, or those of its protocol.
fn kinds(at: Cursor<'_>) -> (Vec<RouteKind>, Vec<Wrong<'_>>) {
    let protocol = at.field("protocol").str();
    let named = at.at("allowedRoutes.kinds");
    if named.is_empty() {
        let kinds: &[RouteKind] = match protocol {
            "HTTP" | "HTTPS" => &[RouteKind::Http, RouteKind::Grpc],
            "TLS" => &[RouteKind::Tls, RouteKind::Tcp],
            "TCP" => &[RouteKind::Tcp],
            _ => &[],
        };
        return (kinds.to_vec(), Vec::new());
    }
    let (mut kinds, mut wrong) = (Vec::new(), Vec::new());
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
        wrong.push(Wrong::unresolved("InvalidRouteKinds", fault, item));
    }
    (kinds, wrong)
}

fn selector(at: Cursor<'_>) -> Result<Selector, Reason> {
    if !at.exists() {
        let (field, when) = ("Listener.AllowedRoutes.Namespaces.Selector", "Listener.AllowedRoutes.Namespaces.From is set to \"Selector\"");
        return Err(format!("{field} is required when {when}.").into());
    }
    if at.field("matchLabels").is_empty() && at.field("matchExpressions").is_empty() {
        return Err("Listener.AllowedRoutes.Namespaces.Selector must specify at least one MatchLabel or MatchExpression.".into());
    }
    Selector::of_fields(at).map_err(|why| format!("Error parsing Listener.AllowedRoutes.Namespaces.Selector: {why}.").into())
}

/// Adds the conditions that every listener has, unless more exact ones exist.
fn complete(status: &mut ListenerStatus) {
    let conditions = &mut status.conditions;
    if conditions.is_empty() {
        conditions.add("Programmed", true, "Programmed", "Valid listener");
    } else if !conditions.has("Programmed") {
        conditions.add("Programmed", false, "Invalid", "Invalid listener, see other listener conditions for details");
    }
    conditions.add_missing("Accepted", true, "Accepted", "Listener accepted");
    conditions.add_missing("ResolvedRefs", true, "ResolvedRefs", "Listener references resolved");
}
