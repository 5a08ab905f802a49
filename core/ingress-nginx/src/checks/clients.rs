//! Reports settings of session cookies that another Ingress replaces, because they belong to the Service.
//!
//! ingress-nginx `internal/ingress/controller/controller.go` (`getBackendServers`): each path of an Ingress with `affinity: cookie` writes its cookie
//! into the upstream, so the last path wins.

use super::CheckInput;
use crate::source::Counted;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Findings, Place, codes as shared};
use chancery_base::ir::nginx::{Cookie, Upstream};
use chancery_base::resource::{ObjectId, Origin, Sourced};
use chancery_text::Str;
use hashbrown::HashSet;

/// A setting of a cookie.
struct Setting {
    name: &'static str,
    value: String,
    /// The origin of the value; `None` for a default.
    written: Option<Origin>,
}

pub(super) fn check(input: &CheckInput<'_>, sink: &mut Findings) {
    let mut by_upstream: BTreeMap<Str, Vec<&Counted>> = BTreeMap::new();
    for counted in input.source.counted.iter().filter(|counted| counted.settings.affinity.kind.value == "cookie") {
        for (_, path) in counted.ingress.paths() {
            let Some(service) = &path.backend.service else { continue };
            let all = by_upstream.entry(service.upstream(&counted.ingress.namespace)).or_default();
            if all.last().is_none_or(|last| last.ingress.object != counted.ingress.object) {
                all.push(counted);
            }
        }
    }
    let mut reported: HashSet<(&str, Option<Origin>)> = HashSet::new();
    for upstream in &input.built.nginx.upstreams {
        let Some([earlier @ .., last]) = by_upstream.get(&upstream.name.value).map(Vec::as_slice) else { continue };
        for counted in earlier {
            for (own, applied) in cookie_settings(&counted.settings.affinity.cookie).into_iter().zip(cookie_settings(&upstream.affinity.cookie)) {
                if own.written.is_some() && own.value != applied.value && reported.insert((own.name, own.written)) {
                    sink.report(replaced_finding(input, upstream, &own, &applied, last));
                }
            }
        }
    }
}

fn replaced_finding(input: &CheckInput<'_>, upstream: &Upstream, own: &Setting, applied: &Setting, by: &Counted) -> Diagnostic {
    let service = upstream.service.as_ref().map_or(upstream.name.value.as_str(), |service| service.name.as_str());
    let by_name = by.ingress.key();
    let what = match applied.written {
        Some(_) => format!("the Ingress {by_name} sets `{}`", applied.value),
        None => format!("the Ingress {by_name} leaves it out"),
    };
    let message = format!("`{}` has no effect: the cookie belongs to the Service {service}, and {what}", own.name);
    let finding = input.finding(&shared::FIELD_WITHOUT_EFFECT, message, own.written);
    let finding = match applied.written {
        Some(at) => finding.related(Place::origin(at), "this value applies"),
        None => finding.related(Place::origin(by.ingress.origin), "the settings of this Ingress apply"),
    };
    finding.help("write the same value in both Ingresses, or give each its own Service")
}

fn cookie_settings(cookie: &Cookie) -> [Setting; 9] {
    let written = |origin: Option<Origin>| origin.filter(|origin| origin.object() != ObjectId::BUILT_IN);
    let text = |name, of: &Sourced<Str>| Setting { name, value: of.value.as_str().into(), written: written(of.origin) };
    let flag = |name, of: &Sourced<bool>| Setting { name, value: format!("{}", of.value), written: written(of.origin) };
    [
        text("session-cookie-name", &cookie.name),
        text("session-cookie-path", &cookie.path),
        text("session-cookie-domain", &cookie.domain),
        text("session-cookie-expires", &cookie.expires),
        text("session-cookie-max-age", &cookie.max_age),
        text("session-cookie-samesite", &cookie.same_site),
        flag("session-cookie-secure", &cookie.secure),
        flag("session-cookie-conditional-samesite-none", &cookie.conditional_same_site_none),
        flag("session-cookie-change-on-failure", &cookie.change_on_failure),
    ]
}
