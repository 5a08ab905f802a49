//! What makes nginx refuse the whole configuration, and what the admission webhook refuses.

use super::Checked;
use crate::admission::Webhook;
use crate::build::duplicates;
use crate::codes;
use alloc::format;
use chancery_base::diagnostic::{Findings, Place};
use chancery_nginx::refusal;

/// The largest number of Ingresses that are checked as the webhook checks them.
const MOST: usize = 500;

pub(super) fn check(checked: &Checked<'_>, sink: &mut Findings) {
    let nginx = &checked.built.nginx;
    for server in &nginx.servers {
        for (second, first) in duplicates(server) {
            let message = format!(
                "nginx refuses the whole configuration: {} has the location {} twice, since a prefix with and without a slash at its end is the same",
                server.host.value, second.path.value
            );
            let finding = checked.finding(&codes::NGINX_REFUSES, message, second.path.origin);
            let finding = match first.path.origin {
                Some(at) => finding.related(Place::origin(at), "the other path"),
                None => finding,
            };
            sink.report(finding.help("write the path once"));
        }
    }
    webhook(checked, sink);
    for refusal in refusal::find(nginx) {
        let message = format!("nginx refuses the whole configuration: {}", refusal.why);
        sink.report(checked.finding(&codes::NGINX_REFUSES, message, refusal.origin));
    }
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
