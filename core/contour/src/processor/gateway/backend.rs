//! Processes the targets of rules: `backendRefs`, their Services, and BackendTLSPolicies.

use super::context::{Attachment, GatewayListener};
use super::kind::RouteKind;
use crate::cluster::Admitted;
use crate::model::{Cluster, Material, PeerValidation, Service};
use crate::processor::service::{app_protocol, known_protocol};
use crate::source::{PortRef, Source};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::gateway_api::grant::Reference;
use chancery_kubernetes::gateway_api::hostname;
use chancery_kubernetes::gateway_api::status::{self, Conditions, ParentStatus};
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

/// The targets of a rule.
pub(super) struct Backends {
    pub clusters: Vec<Arc<Cluster>>,
    pub total_weight: u32,
}

impl<'a> Attachment<'_, 'a> {
    /// The Service of a reference; a failure becomes a condition. `field` names the reference.
    pub(super) fn backend_service(&mut self, at: Cursor<'_>, field: &str) -> Option<Service> {
        match self.referred_service(at, field) {
            Ok(service) => Some(service),
            Err((reason, message, origin)) => {
                self.unresolved(reason, message, origin);
                None
            }
        }
    }

    fn referred_service(&self, at: Cursor<'_>, field: &str) -> Result<Service, (&'static str, String, Origin)> {
        let wrong = |reason, message: String, what: &str| (reason, message, at.field(what).origin());
        if !at.field("group").str().is_empty() {
            return Err(wrong("InvalidKind", format!("{field}.Group must be \"\""), "group"));
        }
        if at.field("kind").str() != "Service" {
            return Err(wrong("InvalidKind", format!("{field}.Kind must be 'Service'"), "kind"));
        }
        let name = at.field("name").str();
        if name.is_empty() {
            return Err(wrong("Degraded", format!("{field}.Name must be specified"), "name"));
        }
        let port = at.field("port").int().ok_or_else(|| wrong("Degraded", format!("{field}.Port must be specified"), "port"))?;
        let home = self.route.namespace();
        let namespace = at.field("namespace").some_str().unwrap_or(home);
        let crossing = Reference { from_kind: self.kind.name(), from_namespace: home, to_kind: "Service", to_namespace: namespace, to_name: name };
        if namespace != home.as_str() && !self.gateway.grants(&crossing) {
            let why = "must match the route's namespace or be covered by a ReferenceGrant";
            return Err(wrong("RefNotPermitted", format!("{field}.Namespace {why}"), "namespace"));
        }
        let full_name = (Str::new(namespace), Str::new(name));
        let found = self.processing.service(&full_name, PortRef::Number(port), 0);
        let service = found.map_err(|why| wrong("BackendNotFound", format!("service {} is invalid: {why}", go_quoted(name)), "name"))?;
        let service = self.processing.with_default_limits(service);
        if let Ok((object, port)) = self.processing.source.service(&full_name, PortRef::Number(port))
            && let Some(protocol) = app_protocol(object, &port.name, port.port)
            && known_protocol(protocol.str()).is_none()
        {
            return Err(wrong("UnsupportedProtocol", format!("AppProtocol: \"{}\" is unsupported", protocol.str()), "name"));
        }
        Ok(service)
    }

    /// Reports invalid references of a route that attaches nowhere.
    pub(super) fn resolve_references(&mut self) {
        if self.kind == RouteKind::Tcp {
            return;
        }
        let spec = self.route.spec();
        for rule in spec.field("rules").items() {
            if matches!(self.kind, RouteKind::Http | RouteKind::Grpc) {
                for filter in rule.field("filters").items() {
                    if filter.field("type").str() == "RequestMirror" && filter.field("requestMirror").exists() {
                        self.backend_service(filter.at("requestMirror.backendRef"), "Spec.Rules.Filters.RequestMirror.BackendRef");
                    }
                }
            }
            for backend in rule.field("backendRefs").items() {
                self.backend_service(backend, BACKEND);
            }
        }
    }

    /// The targets of a rule; `None` if it has none.
    pub(super) fn backends(&mut self, rule: Cursor<'a>, listener: &GatewayListener<'a>) -> Option<Backends> {
        let written = rule.field("backendRefs");
        if written.is_empty() {
            self.unresolved("Degraded", "At least one Spec.Rules.BackendRef must be specified.", rule.origin());
            return None;
        }
        let mut backends = Backends { clusters: Vec::new(), total_weight: 0 };
        for at in written.items() {
            let Some(mut upstream) = self.backend_service(at, BACKEND) else { continue };
            let mut validation = None;
            match self.kind {
                RouteKind::Http => {
                    validation = self.backend_tls_policy(at, &upstream);
                    if let Some(validation) = &validation {
                        upstream.protocol = Sourced::new(Str::new_static("tls"), validation.origin).by(Rule::Reference);
                    }
                }
                RouteKind::Grpc => upstream.protocol = super::grpc::protocol(upstream.protocol, listener),
                RouteKind::Tls | RouteKind::Tcp => {}
            }
            let is_stream = matches!(self.kind, RouteKind::Tls | RouteKind::Tcp);
            let (request_headers, response_headers) = if is_stream { (None, None) } else { self.backend_filters(at) };
            let weight = at.field("weight").u32().unwrap_or_else(|| Sourced::new(1, at.field("weight").origin()));
            backends.total_weight = backends.total_weight.wrapping_add(weight.value);
            upstream.weight = weight;
            let cluster = Cluster {
                request_headers,
                response_headers,
                protocol: if is_stream { Sourced::default() } else { upstream.protocol.clone() },
                sni: if is_stream { upstream.external_name.clone().by(Rule::Reference) } else { Sourced::default() },
                upstream_tls: validation.as_ref().map(|_| self.processing.common.upstream_tls.clone()),
                validation,
                ..self.processing.cluster(upstream, weight, at.origin())
            };
            backends.clusters.push(Arc::new(cluster));
        }
        Some(backends)
    }

    /// How a Service's certificate is verified, if a valid BackendTLSPolicy exists.
    fn backend_tls_policy(&mut self, backend: Cursor<'_>, service: &Service) -> Option<Sourced<PeerValidation>> {
        let policy = self.policy_of(backend, service)?;
        let mut conditions = Conditions::default();
        let validation = self.policy_validation(policy, &mut conditions);
        if !conditions.is_empty() {
            let ancestors = [ParentStatus { parent: self.parent, conditions }];
            let before = policy.root();
            let node = status::policy(&ancestors, self.gateway.controller, self.gateway.full_name(), before.at("status.ancestors"));
            self.found.policies.insert(policy.full_name(), node);
        }
        validation
    }

    /// The policy of a Service's port, or else of the Service.
    fn policy_of(&self, backend: Cursor<'_>, service: &Service) -> Option<&'a Admitted<'a>> {
        let mut fallback = None;
        let policies = self.gateway.policies.get(&(service.namespace.as_str(), backend.field("name").str()));
        for (policy, target) in policies.into_iter().flatten() {
            if !["group", "kind"].into_iter().all(|field| target.field(field).str() == backend.field(field).str()) {
                continue;
            }
            match target.field("sectionName").some_str() {
                Some(section) if section == service.port.name => return Some(policy),
                Some(_) => {}
                None => fallback = fallback.or(Some(*policy)),
            }
        }
        fallback
    }

    fn policy_validation(&mut self, policy: &'a Admitted<'a>, conditions: &mut Conditions) -> Option<Sourced<PeerValidation>> {
        let spec = policy.spec();
        let at = spec.field("validation");
        let source = self.processing.source;
        let mut invalid = |message: String, at: Cursor<'_>| {
            self.found.faults.add(policy, "Accepted", "Invalid", &message, at.origin());
            conditions.add("Accepted", false, "Invalid", message);
        };
        if !at.field("wellKnownCACertificates").str().is_empty() {
            let message = "BackendTLSPolicy.Spec.Validation.WellKnownCACertificates is unsupported.".into();
            invalid(message, at.field("wellKnownCACertificates"));
            return None;
        }
        let name = at.field("hostname");
        if hostname::check(name.str()).is_err() || name.str().contains('*') {
            let rule = "Hostname must be a valid RFC 1123 fully qualified domain name. Wildcard domains and numeric IP addresses are not allowed";
            invalid(format!("BackendTLSPolicy.Spec.Validation.Hostname {} is invalid. {rule}", go_quoted(name.str())), name);
            return None;
        }
        let references = at.field("caCertificateRefs");
        let mut ca: Vec<Sourced<Arc<Material>>> = Vec::new();
        for reference in references.items() {
            match certificate_authority(source, policy, reference) {
                Ok(material) => ca.push(Sourced::new(material, reference.origin())),
                Err(reason) => invalid(reason.into(), reference),
            }
        }
        if ca.is_empty() || ca.len() != references.len() {
            return None;
        }
        conditions.add("Accepted", true, "Accepted", "Accepted BackendTLSPolicy");
        let subject_names = alloc::vec![Sourced::new(Str::new(name.str()), name.origin())];
        Some(Sourced::new(PeerValidation { ca, subject_names, ..PeerValidation::default() }, at.origin()))
    }
}

/// The field that messages name.
const BACKEND: &str = "Spec.Rules.BackendRef";

/// A cluster for copies of requests.
pub(super) fn mirrored(upstream: Service, at: Cursor<'_>) -> Arc<Cluster> {
    Arc::new(Cluster::new(upstream, Sourced::new(0, at.origin()), at.origin()))
}

/// The certificates that a policy trusts.
fn certificate_authority(source: &Source<'_>, policy: &Admitted<'_>, reference: Cursor<'_>) -> Result<Arc<Material>, Reason> {
    let namespace = policy.namespace();
    let name = (namespace.clone(), Str::new(reference.field("name").str()));
    let found = match reference.field("kind").str() {
        "Secret" => source.ca_secret(&name, namespace),
        "ConfigMap" => source.ca_config_map(&name),
        other => {
            let supported = "Only ConfigMap or Secret Kind is supported.";
            let what = format!("BackendTLSPolicy.Spec.Validation.CACertificateRef.Kind {}", go_quoted(other));
            return Err(format!("{what} is unsupported. {supported}").into());
        }
    };
    found.map_err(|_| format!("Could not find CACertificateRef {}: {namespace}/{}", reference.field("kind").str(), name.1).into())
}
