//! Adds the certificates of Secrets to those of the gateway.
//!
//! AGIC `pkg/appgw/certificates.go`. Key material is only referenced.

use super::builder::{Builder, word};
use super::share::{Share, ShareInput};
use crate::brownfield::by_name;
use crate::crash::ControllerCrash;
use crate::events::Reason;
use crate::model::Ingress;
use crate::names::PartKind;
use crate::source::Source;
use alloc::format;
use alloc::sync::Arc;
use chancery_base::ir::appgw::{Certificate, Part};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// The password that the controller gives to every PFX.
const PASSWORD: &str = "msazure";

/// Makes a certificate for each Secret that an Ingress names.
pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    builder.shares.iter().for_each(|share| share.notes[2].record(&share.ingress, builder.recorder));
    let all = builder.shares.iter().flat_map(|share| &share.certificates).map(|certificate| (certificate.clone(), true)).collect();
    let made = builder.memory.orders.certificates.winners(all, Part::name);
    let properties = builder.properties();
    let theirs = properties.certificates.take().unwrap_or_default();
    properties.certificates = Some(by_name(theirs, made));
    Ok(())
}

/// Adds the certificates of an Ingress.
pub(super) fn add(given: &ShareInput<'_, '_>, share: &mut Share) {
    let ingress = &share.ingress;
    for tls in ingress.tls.iter().filter(|tls| !tls.secret.is_empty()) {
        let (namespace, secret) = (&ingress.namespace, &tls.secret);
        if !given.source.has_certificate(namespace, secret) {
            let message = format!("Unable to find the secret associated to secretId: [{namespace}/{}]", secret.value);
            share.notes[2].add(Reason::SecretNotFound, message, secret.origin);
            continue;
        }
        let name = given.names.certificate(namespace, secret);
        let id = given.names.id(PartKind::Certificate, &name);
        let data = Sourced::new(format!("secret:{namespace}/{}", secret.value).into(), secret.origin);
        let certificate = Certificate { data: Some(data), password: word(PASSWORD), ..Certificate::default() };
        share.certificates.push(Arc::new(Part::new(name, id, certificate, tls.origin)));
    }
}

/// Returns the Secret for a host of an Ingress: the one that names the host, else the one without hosts. Hosts are compared as strings.
pub(crate) fn secret_for(source: &Source<'_>, ingress: &Ingress, host: &str) -> Option<(Str, Option<Origin>)> {
    let (mut exact, mut general) = (None, None);
    for tls in ingress.tls.iter().filter(|tls| !tls.secret.is_empty()) {
        let secret = &tls.secret;
        if !source.has_certificate(&ingress.namespace, secret) {
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
