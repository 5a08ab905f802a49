//! Checks items of `tls` without effect.

use super::{Checked, Run, named};
use crate::annotations as a;
use crate::build::{listeners_of_rule, secret_for};
use crate::codes;
use crate::model::{Ingress, Rule};
use crate::source::Source;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::codes::FIELD_WITHOUT_EFFECT;
use chancery_base::diagnostic::{Diagnostic, Place};
use chancery_text::Str;
use hashbrown::HashSet;

pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    checked.each(findings);
    checked.each(|checked, ingress| idle_certificate(checked, ingress).into_iter().collect());
    let ingresses = &checked.processed.ingresses;
    let may_lack = |ingress: &&Arc<Ingress>| ingress.tls.iter().any(|tls| !tls.secret.is_empty());
    if !ingresses.iter().any(|ingress| may_lack(&ingress)) {
        return;
    }
    let is_http = |ingress: &Ingress, rule: &Rule| {
        rule.http.is_some() && listeners_of_rule(checked.source, checked.names, ingress, rule).values().any(|config| !config.is_https)
    };
    let rules = ingresses.iter().flat_map(|ingress| ingress.rules.iter().map(move |rule| (ingress, rule)));
    let over_http: HashSet<Str> = rules.filter(|(ingress, rule)| is_http(ingress, rule)).map(|(_, rule)| rule.host.value.clone()).collect();
    let serves_any = over_http.iter().any(|host| host.is_empty() || host.starts_with('*'));
    let lacking = ingresses.iter().filter(may_lack).filter(|_| !serves_any);
    let found: Vec<Diagnostic> = lacking.filter_map(|ingress| without_http(checked, ingress, &over_http)).collect();
    found.into_iter().for_each(|finding| checked.report(finding));
}

/// Whether the Secrets of `tls` give every host of an Ingress its certificate, so that AGIC does not use the certificate of the annotation
/// (`pkg/appgw/ingress_rules.go`).
pub(super) fn ignores_certificate(source: &Source<'_>, ingress: &Ingress) -> bool {
    let mut rules = ingress.rules.iter().filter(|rule| rule.http.is_some()).peekable();
    rules.peek().is_some() && rules.all(|rule| secret_for(source, ingress, &rule.host).is_some())
}

fn idle_certificate(checked: &Checked<'_, '_>, ingress: &Ingress) -> Option<Diagnostic> {
    let name = ingress.annotations.some_text(&a::SSL_CERTIFICATE)?;
    if !ignores_certificate(checked.source, ingress) {
        return None;
    }
    let message = format!("AGIC does not use the certificate `{}`: the Secrets in `tls` replace it for all hosts of the Ingress", name.value);
    let finding = checked.finding(&FIELD_WITHOUT_EFFECT, message, name.origin);
    let tls = ingress.tls.iter().find(|tls| !tls.secret.is_empty()).and_then(|tls| tls.secret.origin);
    let help = "remove `tls` to use it, or remove the annotation: AGIC drops the Ingress if the gateway does not have this certificate";
    Some(match tls {
        Some(tls) => finding.related(Place::origin(tls), "this Secret is used").help(help),
        None => finding.help(help),
    })
}

/// A host of a certificate that no Ingress serves over HTTP: AGIC makes no HTTP listener without `ssl-redirect`.
fn without_http(checked: &Checked<'_, '_>, ingress: &Ingress, over_http: &HashSet<Str>) -> Option<Diagnostic> {
    if ingress.annotations.is_true(&a::SSL_REDIRECT) || ingress.annotations.text(&a::OVERRIDE_FRONTEND_PORT).is_some() {
        return None;
    }
    let tls = ingress.tls.iter().find(|tls| !tls.secret.is_empty())?;
    let served = |rule: &Rule| listeners_of_rule(checked.source, checked.names, ingress, rule);
    let rule = ingress.rules.iter().find(|rule| {
        let listeners = served(rule);
        rule.http.is_some() && !over_http.contains(&rule.host.value) && !listeners.is_empty() && listeners.values().all(|config| config.is_https)
    })?;
    let host = if rule.host.is_empty() { "the host".into() } else { format!("`{}`", rule.host.value) };
    let message = format!("{host} is served over HTTPS only: no listener answers HTTP requests for it");
    let finding = checked.finding(&codes::HTTP_NOT_SERVED, message, tls.origin);
    Some(finding.help("to redirect HTTP to HTTPS, set the annotation `appgw.ingress.kubernetes.io/ssl-redirect: \"true\"`"))
}

fn findings(checked: &Checked<'_, '_>, ingress: &Ingress) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for tls in &ingress.tls {
        if tls.secret.is_empty() {
            let message = "the item names no Secret, so its hosts get no certificate from it";
            found.push(checked.finding(&codes::TLS_WITHOUT_SECRET, message, tls.origin));
            continue;
        }
        for host in tls.hosts.iter().filter(|host| !host.is_empty() && !ingress.rules.iter().any(|rule| rule.host == **host)) {
            let message = format!("no rule of {} has the host `{}`, so the certificate is not used for it", named(ingress), host.value);
            let finding = checked.finding(&codes::UNUSED_TLS_HOST, message, host.origin);
            let covered = host.strip_prefix('*').and_then(|rest| ingress.rules.iter().find(|rule| rule.host.ends_with(rest)));
            found.push(match covered {
                Some(rule) => finding.help(format!("hosts compare as text: write `{}`, or leave `hosts` out", rule.host.value)),
                None => finding,
            });
        }
    }
    found
}
