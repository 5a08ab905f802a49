//! Certificates: those of the gateway stay, and those of Secrets come to them.
//!
//! AGIC `pkg/appgw/certificates.go`. Key material is only named.

use super::builder::{Builder, word};
use crate::dialect::ingress::brownfield::by_name;
use crate::dialect::ingress::death::Died;
use crate::dialect::ingress::events::Reason;
use crate::dialect::ingress::model::Ingress;
use crate::dialect::ingress::names::PartKind;
use crate::dialect::ingress::source::Source;
use crate::ir::appgw::{Certificate, Part};
use crate::resource::{Origin, Sourced};
use crate::text::Str;
use alloc::collections::BTreeMap;
use alloc::format;

/// The password that the controller gives to every PFX.
const PASSWORD: &str = "msazure";

/// Makes a certificate of each Secret that an Ingress names.
pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), Died> {
    let mut made: BTreeMap<Str, Part<Certificate>> = BTreeMap::new();
    for ingress in builder.ingresses {
        for tls in ingress.tls.iter().filter(|tls| !tls.secret.is_empty()) {
            let secret = (ingress.namespace.clone(), tls.secret.value.clone());
            if builder.source.has_certificate(&secret) {
                let name = builder.names.certificate(&secret.0, &secret.1);
                let id = builder.names.id(PartKind::Certificate, &name);
                let data = Sourced::new(format!("secret:{}/{}", secret.0, secret.1).into(), tls.secret.origin);
                let certificate = Certificate { data: Some(data), password: word(PASSWORD), ..Certificate::default() };
                made.insert(name.clone(), Part::new(name, id, certificate, tls.origin));
            } else {
                let message = format!("Unable to find the secret associated to secretId: [{}/{}]", secret.0, secret.1);
                builder.recorder.ingress(ingress, Reason::SecretNotFound, message, tls.secret.origin);
            }
        }
    }
    let properties = builder.properties();
    let theirs = properties.certificates.take().unwrap_or_default();
    properties.certificates = Some(by_name(theirs, made.into_values().collect()));
    Ok(())
}

/// The Secret for a host of an Ingress: the one that names the host, else the one that names none. Hosts compare as text.
pub(super) fn secret_for(source: &Source<'_>, ingress: &Ingress<'_>, host: &str) -> Option<(Str, Option<Origin>)> {
    let (mut exact, mut general) = (None, None);
    for tls in ingress.tls.iter().filter(|tls| !tls.secret.is_empty()) {
        let secret = &tls.secret;
        if !source.has_certificate(&(ingress.namespace.clone(), secret.value.clone())) {
            continue;
        }
        let found = (secret.value.clone(), secret.origin);
        if tls.hosts.is_empty() || tls.hosts.iter().any(|host| host.is_empty()) {
            general = Some(found.clone());
        }
        if tls.hosts.iter().any(|named| !named.is_empty() && *named.value == *host) {
            exact = Some(found);
        }
    }
    exact.or(general)
}
