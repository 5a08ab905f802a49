//! Reports canaries without a main Ingress, second canaries, canaries that get requests of other paths, and annotations without effect on canaries.

use super::CheckInput;
use crate::annotations::table;
use crate::build::NoticeKind;
use crate::codes;
use crate::source::Counted;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Findings, Place, codes as shared};
use chancery_base::ir::nginx::PathType;
use chancery_base::resource::{ObjectId, Origin, Sourced};
use chancery_text::Str;

pub(super) fn check(input: &CheckInput<'_>, sink: &mut Findings) {
    for notice in &input.built.notices {
        let finding = match notice.kind {
            NoticeKind::CanaryAlone => {
                let message = "no other Ingress has this host, path and type: the canary takes no requests";
                input.notice_finding(&codes::CANARY_ALONE, message, notice, "the other Ingress")
            }
            NoticeKind::CanarySecond => {
                let message = "the Service has another canary already, and nginx only checks the first: this canary gets no requests";
                input.notice_finding(&codes::SECOND_CANARY, message, notice, "the canary that is checked")
            }
            _ => continue,
        };
        sink.report(finding);
    }
    report_spreading(input, sink);
    report_ignored_annotations(input, sink);
}

/// Reports canaries that get requests of other paths. A canary belongs to the Service, so every path of the Service leads to the canary.
fn report_spreading(input: &CheckInput<'_>, sink: &mut Findings) {
    let nginx = &input.built.nginx;
    for upstream in nginx.upstreams.iter().filter(|upstream| !upstream.alternatives.is_empty()) {
        let Some(canary) = upstream.alternatives.first() else { continue };
        let object = canary.origin.map(Origin::object);
        let Some(counted) = input.source.counted.iter().find(|counted| Some(counted.ingress.object) == object) else { continue };
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
        sink.report(input.finding(&codes::CANARY_SPREADS, message, canary.origin));
    }
}

/// Reports annotations without effect on a canary. Requests of a canary have the settings of the main Ingress, because the controller builds no
/// location and no server for a canary (`createServers` and `getBackendServers` in `internal/ingress/controller/controller.go`). Does not report
/// values that both Ingresses have.
fn report_ignored_annotations(input: &CheckInput<'_>, sink: &mut Findings) {
    let by_location = input.read.globals.flag("proxy-ssl-location-only").value;
    for counted in input.source.counted.iter().filter(|counted| counted.settings.canary.enabled.value) {
        let Some(main) = main_ingress(input, counted) else { continue };
        for (name, value) in counted.ingress.annotations.own() {
            let Some(annotation) = table::find(name) else { continue };
            let of_main = main.ingress.annotations.own().find(|(other, _)| table::find(other).is_some_and(|other| other.name == annotation.name));
            let applies = of_main.map_or(annotation.default, |(_, value)| value.value.as_str());
            if annotation.applies_to_canary(by_location) || value.value.as_str() == applies {
                continue;
            }
            let message = format!("`{name}` has no effect: a canary takes it from its main Ingress, `{}`", main.ingress.name);
            let finding = input.finding(&shared::FIELD_WITHOUT_EFFECT, message, value.origin);
            sink.report(match of_main {
                Some((_, value)) => finding.related(Place::origin(value.origin), "this value applies").help("change the main Ingress instead"),
                None => finding.related(Place::origin(main.ingress.origin), "the main Ingress").help("move it to the main Ingress, or remove it"),
            });
        }
    }
}

/// Returns the Ingress whose location leads to a canary: the Ingress with the canary's host and path, otherwise another Ingress of the Service.
fn main_ingress<'a>(input: &CheckInput<'a>, canary: &Counted) -> Option<&'a Counted> {
    let nginx = &input.built.nginx;
    let leads = |upstream: &str| {
        let is_own = |alternative: &Sourced<Str>| alternative.origin.is_some_and(|origin| origin.object() == canary.ingress.object);
        nginx.upstreams.iter().any(|of| of.name.value == *upstream && of.alternatives.iter().any(is_own))
    };
    let locations = nginx.servers.iter().flat_map(|server| server.locations.iter().map(move |location| (server, location)));
    let leading = locations.filter(|(_, location)| leads(&location.upstream.value));
    let is_meant = |host: &str, path: &str| canary.ingress.paths().any(|(of, own)| of.value == *host && own.path.value == *path);
    let mut best: Option<(bool, ObjectId)> = None;
    for (server, location) in leading {
        let Some(object) = location.ingress.as_ref().and_then(|ingress| ingress.origin).map(Origin::object) else { continue };
        let path = if location.ingress_path.is_empty() { &location.path.value } else { &location.ingress_path };
        let meant = is_meant(&server.host.value, path);
        if best.is_none_or(|(is_best, _)| meant && !is_best) {
            best = Some((meant, object));
        }
    }
    let (_, object) = best?;
    input.source.counted.iter().find(|counted| counted.ingress.object == object)
}
