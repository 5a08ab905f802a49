//! Lowers TLS contexts for both sides.
//!
//! Source of the behaviour: Emissary `python/ambassador/envoy/v3/v3tls.py`.

use super::Lowering;
use crate::model::tls::TlsContext;
use crate::model::{ContextId, Identity};
use crate::spec::TlsConfig;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Reported, codes};
use chancery_base::ir::{Certificate, DownstreamTls, TlsParameters, TlsVersion, UpstreamTls, ValidationContext};
use chancery_base::resource::Sourced;
use chancery_text::Str;

impl Lowering<'_, '_> {
    /// TLS towards clients; none without a certificate.
    pub(super) fn downstream_tls(&mut self, id: ContextId, on: &Identity) -> Result<Sourced<DownstreamTls>, Reported> {
        let context = self.model.context(id);
        let name = &context.identity.name;
        let Some(certificate) = certificate(context) else {
            let message = format!("TLSContext {name} has no certificate, so that TLS cannot be terminated with it; the hosts are left out");
            return Err(self.error(&codes::REFUSED_BY_ENVOY, message, on, context.identity.origin));
        };
        if let Some(sni) = &context.spec.sni {
            self.refuse("sni is not allowed where TLS is terminated", &context.identity, sni.origin);
        }
        let tls = DownstreamTls {
            certificates: vec![certificate],
            validation: validation(context),
            require_client_certificate: context.spec.cert_required,
            parameters: parameters(&context.spec),
            alpn: alpn(&context.spec),
        };
        Ok(Sourced::new(tls, context.identity.origin))
    }

    /// TLS towards an upstream; `None`: the context is empty, and TLS is not originated.
    pub(super) fn upstream_tls(&mut self, id: &Sourced<ContextId>) -> Option<Sourced<Box<UpstreamTls>>> {
        let context = self.model.context(id.value);
        if context.is_null {
            return Some(Sourced::new(Box::default(), id.origin));
        }
        if let Some(required) = &context.spec.cert_required {
            self.refuse("cert_required is not allowed where TLS is originated", &context.identity, required.origin);
        }
        let tls = UpstreamTls {
            certificates: certificate(context).into_iter().collect(),
            validation: validation(context),
            parameters: parameters(&context.spec),
            alpn: alpn(&context.spec),
            sni: context.spec.sni.clone(),
        };
        (tls != UpstreamTls::default()).then(|| Sourced::new(Box::new(tls), id.origin))
    }
}

fn certificate(context: &TlsContext) -> Option<Sourced<Certificate>> {
    let chain = context.certificate.clone()?;
    let origin = chain.origin;
    Some(Sourced::new(Certificate { chain: Some(chain), key: context.private_key.clone(), ..Certificate::default() }, origin))
}

fn validation(context: &TlsContext) -> Option<Sourced<ValidationContext>> {
    let (trusted_ca, crl) = (context.trusted_ca.clone(), context.revoked.clone());
    let origin = trusted_ca.as_ref().or(crl.as_ref())?.origin;
    Some(Sourced::new(ValidationContext { trusted_ca, crl, ..ValidationContext::default() }, origin))
}

fn parameters(spec: &TlsConfig) -> TlsParameters {
    let version = |written: &Option<Sourced<Str>>| {
        let written = written.as_ref()?;
        let version = match written.value.as_str() {
            "v1.0" => TlsVersion::V1_0,
            "v1.1" => TlsVersion::V1_1,
            "v1.2" => TlsVersion::V1_2,
            "v1.3" => TlsVersion::V1_3,
            _ => return None,
        };
        Some(Sourced::new(version, written.origin))
    };
    let list = |written: &Option<Sourced<Vec<Sourced<Str>>>>| written.clone().map(|list| list.value).unwrap_or_default();
    TlsParameters {
        minimum: version(&spec.min_tls_version),
        maximum: version(&spec.max_tls_version),
        cipher_suites: list(&spec.cipher_suites),
        ecdh_curves: list(&spec.ecdh_curves),
    }
}

/// One entry, whatever it holds: the reference does not split it.
fn alpn(spec: &TlsConfig) -> Vec<Sourced<Str>> {
    spec.alpn_protocols.iter().filter(|alpn| !alpn.value.is_empty()).cloned().collect()
}
