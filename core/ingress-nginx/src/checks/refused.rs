//! Finds and reports the reasons why nginx refuses the whole configuration, and reports Ingresses that the admission webhook refuses.

use super::CheckInput;
use crate::admission::Webhook;
use crate::annotations::table;
use crate::build::duplicates;
use crate::codes;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Findings, Place};
use chancery_base::ir::nginx::Nginx;
use chancery_base::ir::nginx::globals::KEYS;
use chancery_nginx::refusal::{self, Fault, Refusal};

/// The webhook's checks run for at most this many Ingresses.
const MAX_WEBHOOK_INGRESSES: usize = 500;

/// Returns the reasons why nginx refuses the configuration.
pub(crate) fn refusals(nginx: &Nginx) -> Vec<Refusal> {
    let duplicates = nginx.servers.iter().flat_map(|server| {
        duplicates(server).into_iter().map(|(second, first)| Refusal {
            why: format!(
                "{} has the location {} twice, since a prefix with and without a slash at its end is the same",
                server.host.value, second.path.value
            ),
            origin: second.path.origin,
            related: first.path.origin.map(|at| (at, String::from("the other path"))),
            fault: Fault::SameLocation,
        })
    });
    duplicates.chain(refusal::find(nginx)).collect()
}

pub(super) fn check(input: &CheckInput<'_>, sink: &mut Findings) {
    report_webhook_refusals(input, sink);
    for refusal in input.refusals {
        let message = format!("nginx refuses the whole configuration: {}", refusal.why);
        let mut finding = input.finding(&codes::NGINX_REFUSES, message, refusal.origin);
        if let Some((at, what)) = &refusal.related {
            finding = finding.related(Place::origin(*at), what.clone());
        }
        sink.report(match help(refusal) {
            Some(help) => finding.help(help),
            None => finding,
        });
    }
}

fn help(refusal: &Refusal) -> Option<String> {
    let directive = match &refusal.fault {
        Fault::SameLocation => return Some("write the path once".into()),
        Fault::Unreadable => return None,
        Fault::Repetition(directive) => directive,
    };
    let name = directive.replace('_', "-");
    let name = match directive.as_str() {
        "client_max_body_size" => "proxy-body-size",
        "keepalive_timeout" => "keep-alive",
        "keepalive_requests" => "keep-alive-requests",
        _ => &name,
    };
    let key = KEYS.iter().any(|key| key.name == name).then(|| format!("the ConfigMap's key `{name}`"));
    let annotation = table::find(name).map(|found| format!("the annotation `{}/{}`", table::PREFIX, found.name));
    let settings: Vec<String> = annotation.into_iter().chain(key).collect();
    Some(match settings.is_empty() {
        true => format!("remove `{directive}` from the snippet"),
        false => format!("remove `{directive}` from the snippet, and set {}", settings.join(" or ")),
    })
}

/// Reports Ingresses that the controller serves and that the webhook would refuse.
fn report_webhook_refusals(input: &CheckInput<'_>, sink: &mut Findings) {
    if input.source.by_age.len() > MAX_WEBHOOK_INGRESSES {
        return;
    }
    let webhook = Webhook { cluster: input.cluster, options: input.options, read: input.read, source: input.source };
    for verdict in webhook.verdicts() {
        let Some(why) = verdict.refusal.filter(|_| verdict.handled) else { continue };
        let message = format!("the admission webhook would refuse the Ingress: {why}");
        let origin = input.source.by_age.iter().find(|ingress| ingress.object == verdict.object).map(|ingress| ingress.origin);
        sink.report(input.finding(&codes::WEBHOOK_REFUSES, message, origin));
    }
}
