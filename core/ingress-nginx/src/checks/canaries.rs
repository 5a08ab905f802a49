//! Checks canaries: without a main Ingress, second canaries, and canaries on more paths than they name.

use super::Checked;
use crate::build::NoticeKind;
use crate::codes;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::Findings;
use chancery_base::ir::nginx::PathType;
use chancery_text::Str;

pub(super) fn check(checked: &Checked<'_>, sink: &mut Findings) {
    for notice in &checked.built.notices {
        let finding = match notice.kind {
            NoticeKind::CanaryAlone => {
                let message = "no other Ingress has this host, path and type: the canary takes no requests";
                checked.of_notice(&codes::CANARY_ALONE, message, notice, "the other Ingress")
            }
            NoticeKind::CanarySecond => {
                let message = "the Service has another canary already, and nginx only checks the first: this canary gets no requests";
                checked.of_notice(&codes::SECOND_CANARY, message, notice, "the canary that is checked")
            }
            _ => continue,
        };
        sink.report(finding);
    }
    spreads(checked, sink);
}

/// A canary belongs to the Service: every path of the Service leads to the canary too.
fn spreads(checked: &Checked<'_>, sink: &mut Findings) {
    let nginx = &checked.built.nginx;
    for upstream in nginx.upstreams.iter().filter(|upstream| !upstream.alternatives.is_empty()) {
        let Some(canary) = upstream.alternatives.first() else { continue };
        let object = canary.origin.map(chancery_base::resource::Origin::object);
        let Some(counted) = checked.source.counted.iter().find(|counted| Some(counted.ingress.object) == object) else { continue };
        let own: BTreeSet<(&str, &str, bool)> =
            counted.ingress.paths().map(|(host, path)| (host.value.as_str(), path.path.value.as_str(), path.path_type == PathType::Exact)).collect();
        let mut others: Vec<Str> = Vec::new();
        for server in &nginx.servers {
            for location in server.locations.iter().filter(|location| location.upstream.value == upstream.name.value) {
                let path = if location.ingress_path.is_empty() { location.path.value.as_str() } else { location.ingress_path.as_str() };
                let is_own = [true, false].into_iter().any(|exact| own.contains(&(server.host.value.as_str(), path, exact)));
                let name = Str::from(format!("{}{path}", server.host.value));
                if !is_own && !others.contains(&name) {
                    others.push(name);
                }
            }
        }
        if others.is_empty() {
            continue;
        }
        others.truncate(3);
        let names: Vec<&str> = others.iter().map(Str::as_str).collect();
        let message = format!("the canary belongs to the Service, so it takes requests of {} too", names.join(", "));
        sink.report(checked.finding(&codes::CANARY_SPREADS, message, canary.origin));
    }
}
