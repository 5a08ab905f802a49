//! Lists the reference fields of Gateway API.

use super::GROUP;
use crate::relations::{Form, Referring};

const GATEWAY: (&str, &str) = (GROUP, "Gateway");
const SERVICE: (&str, &str) = ("", "Service");

const fn field(kind: &'static str, path: &'static str, relation: &'static str, to: (&'static str, &'static str), form: Form) -> Referring {
    Referring { kind, path, relation, to, form }
}

pub const FIELDS: &[Referring] = &[
    field("Gateway", "spec.gatewayClassName", "class", (GROUP, "GatewayClass"), Form::Cluster),
    field("Gateway", "spec.listeners.*.tls.certificateRefs.*", "secret", ("", "Secret"), Form::AnyKind),
    field("HTTPRoute", "spec.parentRefs.*", "parent", GATEWAY, Form::AnyKind),
    field("HTTPRoute", "spec.rules.*.backendRefs.*", "service", SERVICE, Form::AnyKind),
    field("HTTPRoute", "spec.rules.*.filters.*.requestMirror.backendRef", "mirror", SERVICE, Form::AnyKind),
    field("GRPCRoute", "spec.parentRefs.*", "parent", GATEWAY, Form::AnyKind),
    field("GRPCRoute", "spec.rules.*.backendRefs.*", "service", SERVICE, Form::AnyKind),
    field("GRPCRoute", "spec.rules.*.filters.*.requestMirror.backendRef", "mirror", SERVICE, Form::AnyKind),
    field("TLSRoute", "spec.parentRefs.*", "parent", GATEWAY, Form::AnyKind),
    field("TLSRoute", "spec.rules.*.backendRefs.*", "service", SERVICE, Form::AnyKind),
    field("TCPRoute", "spec.parentRefs.*", "parent", GATEWAY, Form::AnyKind),
    field("TCPRoute", "spec.rules.*.backendRefs.*", "service", SERVICE, Form::AnyKind),
    field("BackendTLSPolicy", "spec.targetRefs.*", "target", SERVICE, Form::AnyKind),
    field("BackendTLSPolicy", "spec.validation.caCertificateRefs.*", "certificate", ("", "ConfigMap"), Form::AnyKind),
];
