//! Collects policies, with what they refer to. Does not apply them; see `policy`.

use super::super::kinds::Kind;
use super::Loader;
use alloc::vec::Vec;
use chancery_kubernetes::cursor::Cursor;

impl<'a> Loader<'a, '_> {
    pub(super) fn client_traffic_policies(&mut self) {
        self.out.client_traffic_policies = self.all(Kind::ClientTrafficPolicy);
        for policy in self.out.client_traffic_policies.clone() {
            let validation = policy.spec().at("tls.clientValidation");
            for reference in validation.field("caCertificateRefs").items().chain(validation.at("crl.refs").items()) {
                self.ca_ref("ClientTrafficPolicy", policy.namespace(), reference, "Secret");
            }
        }
    }

    pub(super) fn backend_traffic_policies(&mut self) {
        self.out.backend_traffic_policies = self.all(Kind::BackendTrafficPolicy);
        for policy in self.out.backend_traffic_policies.clone() {
            for rule in policy.spec().field("responseOverride").items() {
                let body = rule.at("response.body.valueRef");
                if body.field("kind").str() == "ConfigMap" {
                    self.local_config_map(policy.namespace(), body.field("name").str());
                }
            }
        }
    }

    pub(super) fn security_policies(&mut self) {
        const KIND: &str = "SecurityPolicy";
        self.out.security_policies = self.all(Kind::SecurityPolicy);
        for policy in self.out.security_policies.clone() {
            let (spec, namespace) = (policy.spec(), policy.namespace());
            let oidc = spec.field("oidc");
            let secrets = [oidc.field("clientSecret"), oidc.field("clientIDRef"), spec.at("basicAuth.users")];
            for reference in secrets.into_iter().chain(spec.at("apiKeyAuth.credentialRefs").items()).filter(|reference| reference.exists()) {
                let _ = self.secret_ref(KIND, namespace, reference);
            }
            let ext_auth = spec.field("extAuth");
            let service = if ext_auth.field("grpc").exists() { ext_auth.field("grpc") } else { ext_auth.field("http") };
            let remote = spec.at("jwt.providers").items().map(|provider| provider.field("remoteJWKS"));
            let clusters: Vec<Cursor<'a>> = [oidc.field("provider"), service].into_iter().chain(remote).collect();
            for cluster in clusters {
                let own = cluster.field("backendRef").some();
                for reference in own.into_iter().chain(cluster.field("backendRefs").items()) {
                    self.backend_ref(KIND, namespace, reference);
                }
            }
            for extension in ext_auth.field("contextExtensions").items().filter(|of| of.field("type").str() == "ValueRef") {
                let value = extension.field("valueRef");
                match value.field("kind").str() {
                    "ConfigMap" => self.local_config_map(namespace, value.field("name").str()),
                    "Secret" => self.local_secret(namespace, value.field("name").str()),
                    _ => {}
                }
            }
            for provider in spec.at("jwt.providers").items().filter(|provider| provider.at("localJWKS.type").str() == "ValueRef") {
                self.config_map_ref("ClientTrafficPolicy", namespace, provider.at("localJWKS.valueRef"));
            }
        }
    }

    pub(super) fn backend_tls_policies(&mut self) {
        self.out.backend_tls_policies = self.all(Kind::BackendTlsPolicy);
        for policy in self.out.backend_tls_policies.clone() {
            for reference in policy.spec().at("validation.caCertificateRefs").items() {
                self.ca_ref("BackendTLSPolicy", policy.namespace(), reference, "");
            }
        }
    }

    pub(super) fn envoy_extension_policies(&mut self) {
        const KIND: &str = "EnvoyExtensionPolicy";
        self.out.envoy_extension_policies = self.all(Kind::EnvoyExtensionPolicy);
        for policy in self.out.envoy_extension_policies.clone() {
            let (spec, namespace) = (policy.spec(), policy.namespace());
            for reference in spec.field("extProc").items().flat_map(|service| service.field("backendRefs").items()) {
                self.backend_ref(KIND, namespace, reference);
            }
            for wasm in spec.field("wasm").items() {
                let pull = wasm.at("code.image.pullSecretRef");
                if pull.exists() {
                    let _ = self.secret_ref(KIND, namespace, pull);
                }
                let http = wasm.at("code.http.tls.caCertificateRef");
                let ca = if http.exists() { http } else { wasm.at("code.image.tls.caCertificateRef") };
                if ca.exists() {
                    self.ca_ref(KIND, namespace, ca, "Secret");
                }
            }
            for lua in spec.field("lua").items().filter(|lua| lua.field("type").str() == "ValueRef") {
                if lua.at("valueRef.kind").str() == "ConfigMap" {
                    self.local_config_map(namespace, lua.at("valueRef.name").str());
                }
            }
        }
    }
}
