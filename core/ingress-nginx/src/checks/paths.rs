//! Reports duplicate paths, unusable backends, and settings of paths with a surprising effect: redirects, error pages and CORS.

use super::{CheckInput, origin_of};
use crate::annotations::table;
use crate::build::NoticeKind;
use crate::codes;
use crate::source::Counted;
use alloc::format;
use chancery_base::diagnostic::{Findings, Place, codes as shared};
use chancery_base::ir::nginx::{DEFAULT_UPSTREAM, Settings};
use chancery_base::re2::engine::Finder;

pub(super) fn check(input: &CheckInput<'_>, sink: &mut Findings) {
    for notice in &input.built.notices {
        let finding = match notice.kind {
            NoticeKind::PathTaken => {
                let by = notice.message.rsplit_once("by Ingress ").map(|(_, by)| by.trim_matches('"')).unwrap_or_default();
                let message = format!("the older Ingress {by} has this host and path already: this path and its annotations are ignored");
                input.notice_finding(&codes::HOST_PATH_TAKEN, message, notice, "the path that is used")
            }
            NoticeKind::CanaryServiceTaken => {
                let message = "this canary gets no requests: an older Ingress names its Service, so the controller does not serve it as a canary";
                let finding = input.notice_finding(&codes::HOST_PATH_TAKEN, message, notice, "the path that is used");
                finding.help("give the canary another Service")
            }
            NoticeKind::ServiceIsCanary => {
                let message = "an older canary names this Service and port, so the controller serves it only as a canary: this path is ignored";
                let finding = input.notice_finding(&codes::SERVICE_IS_CANARY, message, notice, "the canary");
                finding.help("give the canary and this path different Services")
            }
            NoticeKind::ServiceMissing => {
                let message = "the Service does not exist, so requests get 503";
                input.notice_finding(&codes::MISSING_SERVICE, message, notice, "the Service")
            }
            NoticeKind::PortMissing => {
                let message = format!("{}, so requests get 503", notice.message.replace('"', "`"));
                input.notice_finding(&codes::MISSING_SERVICE_PORT, message, notice, "the Service")
            }
            NoticeKind::NoEndpoints => {
                let message = "no endpoint of the Service is ready, so requests get 503";
                input.notice_finding(&codes::SERVICE_WITHOUT_ENDPOINTS, message, notice, "the Service")
            }
            NoticeKind::ResourceBackend => {
                let message = "the backend is not a Service, so the controller ignores the path";
                input.notice_finding(&codes::BACKEND_IS_NO_SERVICE, message, notice, "the backend")
            }
            _ => continue,
        };
        sink.report(finding);
    }
    for counted in input.source.counted.iter().filter(|counted| !counted.settings.canary.enabled.value) {
        let settings = &counted.settings;
        let annotations = &counted.ingress.annotations;
        report_redirect(input, settings, !counted.ingress.tls.is_empty(), sink);
        report_error_pages(input, settings, sink);
        report_catch_all(input, counted, sink);
        report_rewrite_groups(input, counted, sink);
        let is_any = settings.cors.origins.value.iter().any(|origin| *origin == "*");
        if settings.cors.enabled.value && settings.cors.credentials.value && is_any {
            let origin = origin_of(annotations, "cors-allow-origin").or(settings.cors.enabled.origin);
            let message =
                "CORS answers `Access-Control-Allow-Origin: *` with `Access-Control-Allow-Credentials: true`, also to requests without an Origin";
            let finding = input.finding(&codes::CORS_ANY_ORIGIN, message, origin);
            sink.report(finding.help("list the origins in `cors-allow-origin`, or set `cors-allow-credentials: \"false\"`"));
        }
    }
}

/// Reports a redirect of all requests that applies before the redirect to https.
fn report_redirect(input: &CheckInput<'_>, settings: &Settings, has_tls: bool, sink: &mut Findings) {
    let redirect = &settings.redirect;
    let rewrite = &settings.rewrite;
    let to_https = rewrite.force_ssl_redirect.value || has_tls && rewrite.ssl_redirect.value;
    if !redirect.url.is_empty() && to_https {
        let message = format!("requests over http are redirected to {} at once: the redirect to https does not apply before", redirect.url.value);
        sink.report(input.finding(&codes::REDIRECT_BEFORE_TLS, message, redirect.url.origin));
    }
}

/// Reports redirects and rewrites of an Ingress that only has a default backend: the controller does not apply them
/// (`internal/ingress/controller/controller.go`, `createServers`).
fn report_catch_all(input: &CheckInput<'_>, counted: &Counted, sink: &mut Findings) {
    let ingress = &counted.ingress;
    if !ingress.rules.is_empty() || ingress.default_service().is_none() {
        return;
    }
    for (name, value) in ingress.annotations.own() {
        if table::find(name).is_some_and(|annotation| matches!(annotation.group, "Redirect" | "Rewrite")) {
            let message = format!("`{name}` has no effect: the controller applies it to paths of rules, and not to a `defaultBackend`");
            let finding = input.finding(&shared::FIELD_WITHOUT_EFFECT, message, value.origin);
            sink.report(finding.help("write a rule with the path `/` and without a host instead of `defaultBackend`"));
        }
    }
}

/// Reports a rewrite that names a group which a path lacks: nginx replaces the group with nothing.
fn report_rewrite_groups(input: &CheckInput<'_>, counted: &Counted, sink: &mut Findings) {
    let target = &counted.settings.rewrite.target;
    let digits = target.value.split('$').skip(1).filter_map(|after| after.chars().next()?.to_digit(10));
    let Some(named) = digits.max().filter(|named| *named > 0) else { return };
    for (_, path) in counted.ingress.paths() {
        let Ok(pattern) = Finder::new(&path.path.value) else { continue };
        let groups = match pattern.group_count() {
            there if there >= named as usize => continue,
            0 => "no group".into(),
            1 => "one group".into(),
            there => format!("{there} groups"),
        };
        let message = format!("the target names the group `${named}`, and the path `{}` has {groups}: nginx writes nothing for it", path.path.value);
        let finding = input.finding(&shared::UNKNOWN_REWRITE_GROUP, message, target.origin);
        let finding = finding.help("groups are the parts of the path in parentheses, such as `/app(/|$)(.*)` with `$2`");
        sink.report(match path.path.origin {
            Some(at) => finding.related(Place::origin(at), "the path"),
            None => finding,
        });
        return;
    }
}

/// Reports error statuses that the default backend replaces. The default backend answers errors with its own status.
fn report_error_pages(input: &CheckInput<'_>, settings: &Settings, sink: &mut Findings) {
    let statuses = &settings.custom_http_errors;
    let has_backend = settings.default_backend.as_ref().is_some_and(|backend| backend.endpoints.as_ref().is_some_and(|all| !all.is_empty()));
    let has_default = input.built.nginx.upstream(DEFAULT_UPSTREAM).is_some_and(|upstream| upstream.service.is_some());
    if statuses.is_empty() || has_backend || has_default || settings.disable_proxy_intercept_errors.value {
        return;
    }
    let message = "these statuses all become 404: there is no error backend, and the status of the built-in default backend replaces them";
    let finding = input.finding(&codes::ERROR_PAGE_STATUS, message, statuses.origin);
    sink.report(finding.help("name a Service in `default-backend`, or start the controller with `--default-backend-service`"));
}
