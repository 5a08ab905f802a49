//! Checks items of `tls` without effect.

use super::{Checked, Run, named};
use crate::codes;
use crate::model::Ingress;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::Diagnostic;

pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    checked.each(findings);
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
