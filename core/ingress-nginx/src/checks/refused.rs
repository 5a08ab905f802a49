//! What makes nginx refuse the whole configuration, and what the admission webhook refuses.

use super::Checked;
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

/// The largest number of Ingresses that are checked as the webhook checks them.
const MOST: usize = 500;

/// Returns the reasons for nginx to refuse the configuration.
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

pub(super) fn check(checked: &Checked<'_>, sink: &mut Findings) {
    webhook(checked, sink);
    for refusal in checked.refusals {
        let message = format!("nginx refuses the whole configuration: {}", refusal.why);
        let mut finding = checked.finding(&codes::NGINX_REFUSES, message, refusal.origin);
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

/// Ingresses that the controller serves, and that the webhook would not let in.
fn webhook(checked: &Checked<'_>, sink: &mut Findings) {
    if checked.source.by_age.len() > MOST {
        return;
    }
    let webhook = Webhook { cluster: checked.cluster, options: checked.options, read: checked.read, source: checked.source };
    for verdict in webhook.verdicts() {
        let Some(why) = verdict.refusal.filter(|_| verdict.handled) else { continue };
        let message = format!("the admission webhook would refuse the Ingress: {why}");
        let origin = checked.source.by_age.iter().find(|ingress| ingress.object == verdict.object).map(|ingress| ingress.origin);
        sink.report(checked.finding(&codes::WEBHOOK_REFUSES, message, origin));
    }
}
