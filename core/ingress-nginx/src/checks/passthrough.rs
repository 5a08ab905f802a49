//! Reports `ssl-passthrough` if nginx ends TLS anyway: without the controller's flag, or without a host.
//!
//! ingress-nginx `internal/ingress/controller/nginx.go`, `pkg/tcpproxy`: the flag starts a proxy, which chooses the Service by the server name.

use super::CheckInput;
use crate::ingress::{ANY_HOST, Rule};
use alloc::format;
use chancery_base::diagnostic::{Findings, Place, codes as shared};

pub(super) fn check(input: &CheckInput<'_>, sink: &mut Findings) {
    let has_flag = input.options.ports.has_ssl_passthrough;
    for counted in &input.source.counted {
        let passed = counted.settings.ssl_passthrough;
        if !passed.value || counted.settings.canary.enabled.value {
            continue;
        }
        let rules = &counted.ingress.rules;
        let is_hostless = |rule: &&Rule| rule.host.value == ANY_HOST;
        let hostless = rules.iter().find(is_hostless);
        let finding = if rules.iter().all(|rule| is_hostless(&rule)) {
            let message = "`ssl-passthrough` has no effect, because no rule has a `host`: nginx ends TLS itself";
            input.finding(&shared::FIELD_WITHOUT_EFFECT, message, passed.origin).help("write the `host` of the TLS connections in the rule")
        } else if !has_flag {
            let message = "`ssl-passthrough` has no effect without the controller's flag `--enable-ssl-passthrough`: nginx ends TLS itself";
            let help = "start the controller with `--enable-ssl-passthrough`; if it has the flag, add `--controller-arg=--enable-ssl-passthrough`";
            input.finding(&shared::FIELD_WITHOUT_EFFECT, message, passed.origin).help(help)
        } else if hostless.is_some() {
            let message = "`ssl-passthrough` has no effect on the rule without a `host`: nginx ends TLS of that rule itself";
            input.finding(&shared::FIELD_WITHOUT_EFFECT, message, passed.origin).help("write the `host` of the TLS connections in the rule")
        } else {
            continue;
        };
        sink.report(match hostless.and_then(|rule| rule.host.origin) {
            Some(at) => finding.related(Place::origin(at), format!("{} without a host", if rules.len() == 1 { "the rule" } else { "a rule" })),
            None => finding,
        });
    }
}
