//! What makes nginx refuse the whole configuration.

use super::Checked;
use crate::build::duplicates;
use crate::codes;
use alloc::format;
use chancery_base::diagnostic::{Findings, Place};
use chancery_nginx::refusal;

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
    for refusal in refusal::find(nginx) {
        let message = format!("nginx refuses the whole configuration: {}", refusal.why);
        sink.report(checked.finding(&codes::NGINX_REFUSES, message, refusal.origin));
    }
}
