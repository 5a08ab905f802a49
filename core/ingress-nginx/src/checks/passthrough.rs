//! Reports `ssl-passthrough` if nginx ends TLS anyway: without the controller's flag, or without a host.
//!
//! ingress-nginx `internal/ingress/controller/nginx.go`, `pkg/tcpproxy`: the flag starts a proxy, which chooses the Service by the server name.

use super::CheckInput;
use crate::codes;
use crate::ingress::{ANY_HOST, Rule};
use crate::source::Counted;
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
        if has_flag {
            report_missing_root(input, counted, sink);
        }
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

/// Reports hosts without the path `/`. The proxy uses the Service of this path, and closes the connection if there is none
/// (`pkg/tcpproxy/tcp.go`).
fn report_missing_root(input: &CheckInput<'_>, counted: &Counted, sink: &mut Findings) {
    for rule in counted.ingress.rules.iter().filter(|rule| rule.host.value != ANY_HOST) {
        let Some(server) = input.built.nginx.server(&rule.host.value) else { continue };
        if server.locations.iter().any(|location| location.path.value == "/" && location.is_default) {
            let host = &rule.host.value;
            let message = format!("every TLS connection to `{host}` is closed: passthrough uses the Service of the path `/`, and the host has none");
            let place = rule.paths.iter().flatten().next().and_then(|path| path.path.origin).or(rule.host.origin);
            let finding = input.finding(&codes::PASSTHROUGH_WITHOUT_ROOT, message, place).help("write `path: /`: passthrough does not read paths");
            sink.report(match counted.settings.ssl_passthrough.origin {
                Some(at) => finding.related(Place::origin(at), "TLS connections are forwarded without termination"),
                None => finding,
            });
        }
    }
}
