//! Reports fields of policies and Gateways that others replace, or that no listener uses. Does not report policies that replace each other; see `mod`.

use super::super::cluster::Admitted;
use super::super::context::Translator;
use super::index::Index;
use super::{finding, key_place, targets, value_place};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Findings, codes};
use chancery_kubernetes::cursor::Cursor;

/// Adds every field below a value.
fn with_fields(found: Diagnostic, of: Cursor<'_>) -> Diagnostic {
    let below: Vec<Cursor<'_>> = of.entries().map(|(_, field)| field).chain(of.items()).collect();
    match below.is_empty() {
        true => found.related(value_place(of), "this field has no effect"),
        false => below.into_iter().fold(found, with_fields),
    }
}

/// Reports the retries of a policy whose rules all have their own. A rule's `retry` replaces all retries of the policy (Envoy Gateway
/// `internal/xds/translator/route.go`).
pub(super) fn retries(index: &Index<'_, '_>, policy: &Admitted<'_>, sink: &mut Findings) {
    let retry = policy.spec().field("retry");
    let sections: Vec<Option<&str>> = targets(policy).into_iter().map(|target| target.field("sectionName").some_str()).collect();
    let is_meant = |rule: &Cursor<'_>| sections.iter().any(|section| section.is_none_or(|section| rule.field("name").str() == section));
    let is_of_gateway = targets(policy).into_iter().any(|target| matches!(target.field("kind").str(), "Gateway" | "ListenerSet"));
    if !retry.exists() || is_of_gateway {
        return;
    }
    let routes = index.routes_of(policy);
    let own: Vec<Cursor<'_>> =
        routes.iter().flat_map(|route| route.object.spec().field("rules").items()).filter(is_meant).map(|rule| rule.field("retry")).collect();
    let Some(first) = own.first().filter(|_| own.iter().all(|own| own.exists())) else { return };
    let message = "each rule of the routes has its own `retry`, which replaces the policy's: the policy retries nothing".into();
    let found = finding(&codes::FIELD_WITHOUT_EFFECT, message, policy, key_place(retry)).related(key_place(*first), "this `retry` applies");
    sink.report(with_fields(found, retry).help("remove `retry` from the rules or from the policy"));
}

/// Reports the validation of client certificates for a port without an HTTPS listener (Envoy Gateway `internal/gatewayapi/tls.go`).
pub(super) fn client_validation(t: &Translator<'_>, sink: &mut Findings) {
    for gateway in &t.gateways {
        for item in gateway.object.spec().at("tls.frontend.perPort").items() {
            let port = item.field("port");
            let is_used = |number: i64| gateway.listeners.iter().any(|listener| *listener.protocol == *"HTTPS" && listener.port == number);
            let Some(number) = port.int().filter(|number| !is_used(*number)) else { continue };
            let message = format!("no HTTPS listener has the port {number}: these settings verify no client certificate");
            let found = finding(&codes::FIELD_WITHOUT_EFFECT, message, gateway.object, value_place(port));
            sink.report(with_fields(found, item.field("tls")).help("write the port of an HTTPS listener, or remove the entry"));
        }
    }
}
