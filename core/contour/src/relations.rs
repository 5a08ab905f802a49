//! Lists the reference fields of Contour's kinds, for graphs and ledgers.

use alloc::vec::Vec;
use chancery_base::compilation::Relation;
use chancery_base::resource::{Object, Objects};
use chancery_kubernetes::gateway_api;
use chancery_kubernetes::relations::{self, Form, Referring};
use chancery_text::{Node, Str};

const GROUP: &str = "projectcontour.io";
const PROXY: (&str, &str) = (GROUP, "HTTPProxy");
const EXTENSION: (&str, &str) = (GROUP, "ExtensionService");
const SERVICE: (&str, &str) = ("", "Service");
const SECRET: (&str, &str) = ("", "Secret");

const fn field(kind: &'static str, path: &'static str, relation: &'static str, to: (&'static str, &'static str), form: Form) -> Referring {
    Referring { kind, path, relation, to, form }
}

pub(super) const FIELDS: &[Referring] = &[
    field("HTTPProxy", "spec.includes.*", "include", PROXY, Form::Reference),
    field("HTTPProxy", "spec.tcpproxy.include", "include", PROXY, Form::Reference),
    field("HTTPProxy", "spec.tcpproxy.includes", "include", PROXY, Form::Reference),
    field("HTTPProxy", "spec.routes.*.services.*.name", "service", SERVICE, Form::Name),
    field("HTTPProxy", "spec.tcpproxy.services.*.name", "service", SERVICE, Form::Name),
    field("HTTPProxy", "spec.virtualhost.tls.secretName", "secret", SECRET, Form::Path),
    field("HTTPProxy", "spec.virtualhost.tls.clientValidation.caSecret", "secret", SECRET, Form::Path),
    field("HTTPProxy", "spec.virtualhost.tls.clientValidation.crlSecret", "secret", SECRET, Form::Path),
    field("HTTPProxy", "spec.virtualhost.authorization.extensionRef", "authorization", EXTENSION, Form::Reference),
    field("HTTPProxy", "spec.virtualhost.jwtProviders.*.localJWKS.secretName", "secret", SECRET, Form::Name),
    field("HTTPProxy", "spec.virtualhost.jwtProviders.*.remoteJWKS.validation.caSecret", "secret", SECRET, Form::Path),
    field("HTTPProxy", "spec.routes.*.services.*.validation.caSecret", "secret", SECRET, Form::Path),
    field("HTTPProxy", "spec.tcpproxy.services.*.validation.caSecret", "secret", SECRET, Form::Path),
    field("ExtensionService", "spec.services.*.name", "service", SERVICE, Form::Name),
    field("ExtensionService", "spec.validation.caSecret", "secret", SECRET, Form::Path),
    field("TLSCertificateDelegation", "spec.delegations.*.secretName", "secret", SECRET, Form::Name),
    field("Ingress", "spec.rules.*.http.paths.*.backend.service.name", "service", SERVICE, Form::Name),
    field("Ingress", "spec.defaultBackend.service.name", "service", SERVICE, Form::Name),
    field("Ingress", "spec.tls.*.secretName", "secret", SECRET, Form::Path),
    field("ContourConfiguration", "spec.gateway.gatewayRef", "gateway", ("gateway.networking.k8s.io", "Gateway"), Form::Reference),
    field("ContourConfiguration", "spec.rateLimitService.extensionService", "rate limit", EXTENSION, Form::Reference),
    field("ContourConfiguration", "spec.tracing.extensionService", "tracing", EXTENSION, Form::Reference),
    field("ContourConfiguration", "spec.globalExtAuth.extensionRef", "authorization", EXTENSION, Form::Reference),
    field("ContourConfiguration", "spec.envoy.clientCertificate", "secret", SECRET, Form::Reference),
    field("ContourConfiguration", "spec.httpproxy.fallbackCertificate", "secret", SECRET, Form::Reference),
    field("GatewayClass", "spec.parametersRef", "parameters", (GROUP, "ContourDeployment"), Form::AnyKind),
];

/// Where an Ingress looks for the certificates that it names without a namespace.
pub(super) const CERTIFICATE_NAMESPACE: &str = "projectcontour.io/tls-cert-namespace";

/// The namespace of an Ingress's certificate, if an annotation names it; `secretName` may contain its own.
pub(super) fn certificate_namespace(from: &Object, written: &str) -> Option<Str> {
    if from.key.kind != "Ingress" || written.contains('/') {
        return None;
    }
    let elsewhere = from.root.at(&["metadata", "annotations", CERTIFICATE_NAMESPACE]).and_then(Node::as_str);
    elsewhere.filter(|namespace| !namespace.is_empty()).map(Str::new)
}

fn look_elsewhere(objects: &Objects, reference: &mut Relation) {
    if let Some(namespace) = objects.get(reference.from).and_then(|from| certificate_namespace(from, &reference.written)) {
        reference.to.namespace = Some(namespace);
    }
}

/// All references by field.
pub fn relations(objects: &Objects) -> Vec<Relation> {
    let mut all = relations::relations(objects, &[FIELDS, gateway_api::relations::FIELDS]);
    // A Gateway that creates nothing changes nothing.
    all.iter_mut().for_each(|of| of.optional = of.relation == "gateway");
    all.iter_mut().filter(|of| of.relation == "secret").for_each(|of| look_elsewhere(objects, of));
    all.extend(super::permission::relations(objects, &all));
    all
}
