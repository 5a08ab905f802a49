//! Reports Ingresses that the controller drops, and annotations that it does not use.

use super::{CheckInput, origin_of};
use crate::annotations::{Annotation, DropKind, Dropped, Fault, Risk, table};
use crate::codes;
use crate::ingress::Ingress;
use crate::source::{Counted, Unhandled};
use alloc::format;
use alloc::string::String;
use chancery_base::diagnostic::{Diagnostic, Findings, codes as common};

pub(super) fn check(input: &CheckInput<'_>, sink: &mut Findings) {
    for (ingress, why) in &input.source.unhandled {
        if let Unhandled::Dropped(dropped) = why {
            sink.report(dropped_finding(input, ingress, dropped));
        }
    }
    for counted in &input.source.counted {
        let ingress = &counted.ingress;
        report_group_errors(input, counted, sink);
        report_ignored_values(input, ingress, sink);
        report_usual_prefix(input, ingress, sink);
        report_old_prefix(input, ingress, sink);
    }
}

fn dropped_finding(input: &CheckInput<'_>, ingress: &Ingress, dropped: &Dropped) -> Diagnostic {
    let name = dropped.annotation.unwrap_or_default();
    let origin = dropped.origin.or(Some(ingress.origin));
    match dropped.kind {
        DropKind::Risk => {
            let risk = table::find(name).map_or(Risk::Critical, |annotation| annotation.risk);
            let most = input.read.globals.text("annotations-risk-level");
            let message =
                format!("`{name}` has the risk {}, and the controller allows {} at most: the whole Ingress is dropped", risk.name(), most.value);
            let help = if name.ends_with("-snippet") {
                format!(
                    "remove the annotation, or set `annotations-risk-level: {}` and `allow-snippet-annotations: \"true\"` in the controller's ConfigMap",
                    risk.name()
                )
            } else {
                format!("remove the annotation, or set `annotations-risk-level: {}` in the controller's ConfigMap", risk.name())
            };
            input.finding(&codes::RISKY_ANNOTATION, message, origin).help(help)
        }
        DropKind::Value => {
            let takes = table::find(name).map(|annotation| describe_fault(ingress, annotation));
            let message = format!("the value of `{name}` has the wrong form: the whole Ingress is dropped, and its hosts answer 404");
            let finding = input.finding(&codes::ANNOTATION_DROPS_INGRESS, message, origin);
            match takes {
                Some(takes) => finding.help(takes),
                None => finding,
            }
        }
        DropKind::Word | DropKind::Inspection | DropKind::CatchAll => {
            let message = format!("the controller drops the Ingress: {}", dropped.message);
            input.finding(&codes::INGRESS_DROPPED, message, origin)
        }
    }
}

/// Reports annotations that make paths answer 503 or hosts answer 403, and groups without effect.
fn report_group_errors(input: &CheckInput<'_>, counted: &Counted, sink: &mut Findings) {
    let Counted { ingress, errors, .. } = counted;
    let origin = |group: &str| {
        let mut names = table::ALL.iter().filter(|annotation| annotation.group == group).map(|annotation| annotation.name);
        names.find_map(|name| origin_of(&ingress.annotations, name)).or(Some(ingress.origin))
    };
    for (group, reason) in &errors.denials {
        let short = reason.strip_prefix("location denied, reason: ").unwrap_or(reason);
        if *group == "CertificateAuth" {
            let message = format!("every request to the hosts of this Ingress gets 403: {short}");
            sink.report(input.finding(&codes::CLIENT_CERTIFICATES_DENY_HOST, message, origin(group)));
        } else {
            let message = format!("every path of this Ingress answers 503: {short}");
            sink.report(input.finding(&codes::ANNOTATION_DENIES_PATHS, message, origin(group)));
        }
    }
    for (group, fault) in &errors.faults {
        let (code, message) = match *group {
            "Canary" => (
                &codes::CANARY_NOT_ENABLED,
                String::from("without `canary: \"true\"` this is not a canary, and its `canary-*` annotations have no effect"),
            ),
            group => (&codes::ANNOTATION_WITHOUT_EFFECT, format!("the annotations of {group} have no effect: {}", fault.text())),
        };
        sink.report(input.finding(code, message, origin(group)));
    }
}

/// Reports values with the wrong form, if the default applies instead.
fn report_ignored_values(input: &CheckInput<'_>, ingress: &Ingress, sink: &mut Findings) {
    for rejected in ingress.annotations.rejected() {
        let Some(annotation) = table::find(rejected.name) else { continue };
        if !matches!(rejected.fault, Fault::Validation(_)) || has_own_finding(annotation.name) {
            continue;
        }
        let effect = match annotation.name {
            "auth-signin" => ": clients without access get 401 instead of the login page".into(),
            _ => format!("; instead applies: {}", annotation.default),
        };
        let message = format!("the value of `{}` has the wrong form and is ignored{effect}", annotation.name);
        let finding = input.finding(&codes::ANNOTATION_IGNORED, message, rejected.origin);
        sink.report(finding.help(describe_fault(ingress, annotation)));
    }
}

/// Describes the fault of an annotation's value.
fn describe_fault(ingress: &Ingress, annotation: &Annotation) -> String {
    let is_it = |name: &str| name == annotation.name || annotation.aliases.contains(&name);
    let wrong = ingress.annotations.own().find(|(name, value)| is_it(name) && !annotation.form.accepts(&value.value));
    wrong.map_or_else(|| format!("it takes: {}", annotation.form.accepted_values()), |(_, value)| annotation.form.describe_fault(&value.value))
}

/// Whether a wrong value of an annotation has another effect, which has its own finding.
fn has_own_finding(name: &str) -> bool {
    matches!(name, "allowlist-source-range" | "denylist-source-range" | "auth-method" | "auth-response-headers" | "auth-secret")
}

/// Reports annotations with the usual prefix, if a flag sets another prefix.
fn report_usual_prefix(input: &CheckInput<'_>, ingress: &Ingress, sink: &mut Findings) {
    let usual = crate::annotations::PREFIX;
    if input.options.annotations_prefix == usual {
        return;
    }
    for (name, value) in ingress.annotations.all().filter(|(name, _)| name.strip_prefix(usual).is_some_and(|rest| rest.starts_with('/'))) {
        let message = format!("`{name}` is ignored: the controller's prefix is `{}`", input.options.annotations_prefix);
        sink.report(input.finding(&common::UNKNOWN_ANNOTATION, message, value.origin));
    }
}

/// The prefix of the controller's first releases.
const OLD_PREFIX: &str = "ingress.kubernetes.io";

/// Reports annotations with the old prefix that the controller would read with its current prefix. Ignores other names, because other controllers
/// also use the old prefix.
fn report_old_prefix(input: &CheckInput<'_>, ingress: &Ingress, sink: &mut Findings) {
    let prefix = &input.options.annotations_prefix;
    if prefix == OLD_PREFIX {
        return;
    }
    for (key, value) in ingress.annotations.all() {
        let Some(name) = key.strip_prefix(OLD_PREFIX).and_then(|rest| rest.strip_prefix('/')) else { continue };
        let (name, new_value) = match name {
            "secure-backends" if value.value == "true" => ("backend-protocol", ": HTTPS"),
            name if table::find(name).is_some() => (name, ""),
            _ => continue,
        };
        // The Ingress has the annotation for old releases and for current releases.
        if ingress.annotations.full(&format!("{prefix}/{name}")).is_some() {
            continue;
        }
        let message = format!("ingress-nginx does not read `{key}`: its annotations have the prefix `{prefix}/`");
        let finding = input.finding(&common::UNKNOWN_ANNOTATION, message, value.origin);
        sink.report(finding.help(format!("write `{prefix}/{name}{new_value}`")));
    }
}
