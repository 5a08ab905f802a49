//! Checks the gateway's document against the gateway that the controller's variables name.

use super::{Run, tls};
use crate::annotations::{Annotation, SSL_CERTIFICATE, SSL_PROFILE, TRUSTED_ROOTS};
use crate::codes;
use alloc::format;
use chancery_base::diagnostic::{Diagnostic, codes as shared};

/// Annotations that name parts of the gateway, each with the word for the part.
const PARTS: [(&Annotation, &str); 3] =
    [(&SSL_CERTIFICATE, "certificate"), (&SSL_PROFILE, "TLS profile"), (&TRUSTED_ROOTS, "trusted root certificates")];

/// Reports the parts that are assumed for a gateway without a document.
fn assumed(checked: &mut Run<'_, '_, '_>) {
    let processed = checked.processed;
    if !checked.options.assumes_parts {
        return;
    }
    for ingress in &processed.ingresses {
        for (annotation, what) in PARTS {
            let Some(name) = ingress.annotations.text(annotation) else { continue };
            if annotation.name == SSL_CERTIFICATE.name && tls::ignores_certificate(checked.source, ingress) {
                continue;
            }
            let message = format!("the gateway's document is not given; it is assumed to have the {what} `{}`", name.value);
            let finding = checked.finding(&shared::ASSUMED_OBJECT, message, name.origin);
            checked.report(finding);
        }
    }
}

/// The parts that AGIC adds refer to the gateway that the variables name.
pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    assumed(checked);
    // These problems are reported already.
    if checked.source.environment.failure.is_some() || checked.sink.iter().any(|finding| *finding.code == codes::UNREADABLE_GATEWAY) {
        return;
    }
    if let Some(nameless) = nameless(checked) {
        return checked.report(nameless);
    }
    let (Some(id), wanted) = (&checked.before.id, checked.names.gateway_id()) else { return };
    if !id.as_str().eq_ignore_ascii_case(wanted) {
        let message = format!("the gateway's document is that of `{id}`, and the controller's variables name `{wanted}`", id = id.as_str());
        let finding = checked.finding(&codes::OTHER_GATEWAY, message, None);
        checked.report(finding.help("parts that AGIC adds refer to the gateway that the variables name: set APPGW_RESOURCE_ID to the document's id"));
    }
}

/// Reports an id that is not a gateway's: the controller starts with it, and requests a gateway without a name from Azure.
fn nameless(checked: &Run<'_, '_, '_>) -> Option<Diagnostic> {
    let id = checked.options.env.get("APPGW_RESOURCE_ID").filter(|id| !id.is_empty())?;
    if !checked.source.environment.gateway.is_empty() {
        return None;
    }
    let message =
        format!("`APPGW_RESOURCE_ID` is `{id}`, which is not the id of an Application Gateway: AGIC asks Azure for a gateway without a name");
    let help = "write `/subscriptions/ID/resourceGroups/GROUP/providers/Microsoft.Network/applicationGateways/NAME`";
    Some(checked.finding(&codes::OTHER_GATEWAY, message, None).help(help))
}
