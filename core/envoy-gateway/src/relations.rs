//! Lists the references from fields to objects, for graphs and ledgers. Does not resolve them.

use super::kinds::GROUP;
use alloc::vec::Vec;
use chancery_base::compilation::Relation;
use chancery_base::resource::Objects;
use chancery_kubernetes::gateway_api;
use chancery_kubernetes::relations::{self, Form, Referring};

type Target = (&'static str, &'static str);

const SECRET: Target = ("", "Secret");
const SERVICE: Target = ("", "Service");
const GATEWAY: Target = (gateway_api::GROUP, "Gateway");
const PROXY: Target = (GROUP, "EnvoyProxy");
const CONFIG_MAP: Target = ("", "ConfigMap");

const fn field(kind: &'static str, path: &'static str, relation: &'static str, to: Target) -> Referring {
    Referring { kind, path, relation, to, form: Form::AnyKind }
}

/// Fields of Envoy Gateway's kinds.
pub(super) const FIELDS: &[Referring] = &[
    field("GatewayClass", "spec.parametersRef", "parameters", PROXY),
    field("Gateway", "spec.infrastructure.parametersRef", "parameters", PROXY),
    field("ListenerSet", "spec.listeners.*.tls.certificateRefs.*", "secret", SECRET),
    field("BackendTrafficPolicy", "spec.targetRef", "target", GATEWAY),
    field("BackendTrafficPolicy", "spec.targetRefs.*", "target", GATEWAY),
    field("BackendTrafficPolicy", "spec.responseOverride.*.response.body.valueRef", "configmap", CONFIG_MAP),
    field("ClientTrafficPolicy", "spec.targetRef", "target", GATEWAY),
    field("ClientTrafficPolicy", "spec.targetRefs.*", "target", GATEWAY),
    field("ClientTrafficPolicy", "spec.tls.clientValidation.caCertificateRefs.*", "secret", SECRET),
    field("ClientTrafficPolicy", "spec.tls.clientValidation.crl.refs.*", "secret", SECRET),
    field("SecurityPolicy", "spec.targetRef", "target", GATEWAY),
    field("SecurityPolicy", "spec.targetRefs.*", "target", GATEWAY),
    field("SecurityPolicy", "spec.apiKeyAuth.credentialRefs.*", "secret", SECRET),
    field("SecurityPolicy", "spec.basicAuth.users", "secret", SECRET),
    field("SecurityPolicy", "spec.oidc.clientSecret", "secret", SECRET),
    field("SecurityPolicy", "spec.oidc.clientIDRef", "secret", SECRET),
    field("SecurityPolicy", "spec.oidc.provider.backendRefs.*", "service", SERVICE),
    field("SecurityPolicy", "spec.extAuth.http.backendRefs.*", "service", SERVICE),
    field("SecurityPolicy", "spec.extAuth.grpc.backendRefs.*", "service", SERVICE),
    field("SecurityPolicy", "spec.extAuth.contextExtensions.*.valueRef", "value", CONFIG_MAP),
    field("SecurityPolicy", "spec.jwt.providers.*.remoteJWKS.backendRefs.*", "service", SERVICE),
    field("SecurityPolicy", "spec.jwt.providers.*.localJWKS.valueRef", "configmap", CONFIG_MAP),
    field("EnvoyExtensionPolicy", "spec.targetRef", "target", GATEWAY),
    field("EnvoyExtensionPolicy", "spec.targetRefs.*", "target", GATEWAY),
    field("EnvoyExtensionPolicy", "spec.extProc.*.backendRefs.*", "service", SERVICE),
    field("EnvoyExtensionPolicy", "spec.lua.*.valueRef", "configmap", CONFIG_MAP),
    field("EnvoyExtensionPolicy", "spec.wasm.*.code.image.pullSecretRef", "secret", SECRET),
    field("EnvoyPatchPolicy", "spec.targetRef", "target", GATEWAY),
    field("Backend", "spec.tls.caCertificateRefs.*", "configmap", CONFIG_MAP),
    field("Backend", "spec.tls.clientCertificateRef", "secret", SECRET),
    field("EnvoyProxy", "spec.backendTLS.clientCertificateRef", "secret", SECRET),
    field("HTTPRouteFilter", "spec.directResponse.body.valueRef", "configmap", CONFIG_MAP),
    field("HTTPRouteFilter", "spec.credentialInjection.credential.valueRef", "secret", SECRET),
];

/// Returns the references from fields to objects.
pub(super) fn relations(objects: &Objects) -> Vec<Relation> {
    relations::relations(objects, &[FIELDS, gateway_api::relations::FIELDS])
}
