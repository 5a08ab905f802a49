//! Ingresses that the controller does not serve, and annotations that it does not use.

use super::{Checked, origin_of};
use crate::annotations::{Annotation, DropKind, Dropped, Fault, Risk, table};
use crate::codes;
use crate::ingress::Ingress;
use crate::source::{Counted, Unhandled};
use alloc::format;
use alloc::string::String;
use chancery_base::diagnostic::{Diagnostic, Findings, codes as common};

pub(super) fn check(checked: &Checked<'_>, sink: &mut Findings) {
    for (ingress, why) in &checked.source.unhandled {
        if let Unhandled::Dropped(dropped) = why {
            sink.report(of_dropped(checked, ingress, dropped));
        }
    }
    for counted in &checked.source.counted {
        let ingress = &counted.ingress;
        group_errors(checked, counted, sink);
        ignored(checked, ingress, sink);
        other_prefix(checked, ingress, sink);
        old_prefix(checked, ingress, sink);
    }
}

fn of_dropped(checked: &Checked<'_>, ingress: &Ingress, dropped: &Dropped) -> Diagnostic {
    let name = dropped.annotation.unwrap_or_default();
    let origin = dropped.origin.or(Some(ingress.origin));
    match dropped.kind {
        DropKind::Risk => {
            let risk = table::find(name).map_or(Risk::Critical, |annotation| annotation.risk);
            let most = checked.read.globals.text("annotations-risk-level");
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
            checked.finding(&codes::RISKY_ANNOTATION, message, origin).help(help)
        }
        DropKind::Value => {
            let takes = table::find(name).map(|annotation| describe_fault(ingress, annotation));
            let message = format!("the value of `{name}` has the wrong form: the whole Ingress is dropped, and its hosts answer 404");
            let finding = checked.finding(&codes::ANNOTATION_DROPS_INGRESS, message, origin);
            match takes {
                Some(takes) => finding.help(takes),
                None => finding,
            }
        }
        DropKind::Word | DropKind::Inspection | DropKind::CatchAll => {
            let message = format!("the controller drops the Ingress: {}", dropped.message);
            checked.finding(&codes::INGRESS_DROPPED, message, origin)
        }
    }
}

/// Annotations that make paths answer 503, and groups without effect.
fn group_errors(checked: &Checked<'_>, counted: &Counted, sink: &mut Findings) {
    let Counted { ingress, errors, .. } = counted;
    let origin = |group: &str| {
        let mut names = table::ALL.iter().filter(|annotation| annotation.group == group).map(|annotation| annotation.name);
        names.find_map(|name| origin_of(&ingress.annotations, name)).or(Some(ingress.origin))
    };
    for (group, reason) in &errors.denials {
        let short = reason.strip_prefix("location denied, reason: ").unwrap_or(reason);
        if *group == "CertificateAuth" {
            let message = format!("every request to the hosts of this Ingress gets 403: {short}");
            sink.report(checked.finding(&codes::CLIENT_CERTIFICATES_DENY_HOST, message, origin(group)));
        } else {
            let message = format!("every path of this Ingress answers 503: {short}");
            sink.report(checked.finding(&codes::ANNOTATION_DENIES_PATHS, message, origin(group)));
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
        sink.report(checked.finding(code, message, origin(group)));
    }
}

/// Values with the wrong form whose default applies.
fn ignored(checked: &Checked<'_>, ingress: &Ingress, sink: &mut Findings) {
    for rejected in ingress.annotations.rejected() {
        let Some(annotation) = table::find(rejected.name) else { continue };
        if !matches!(rejected.fault, Fault::Validation(_)) || denies(annotation.name) {
            continue;
        }
        let effect = match annotation.name {
            "auth-signin" => ": clients without access get 401 instead of the login page".into(),
            _ => format!("; instead applies: {}", annotation.default),
        };
        let message = format!("the value of `{}` has the wrong form and is ignored{effect}", annotation.name);
        let finding = checked.finding(&codes::ANNOTATION_IGNORED, message, rejected.origin);
        sink.report(finding.help(describe_fault(ingress, annotation)));
    }
}

/// Describes what is wrong with the value of an annotation.
fn describe_fault(ingress: &Ingress, annotation: &Annotation) -> String {
    let is_it = |name: &str| name == annotation.name || annotation.aliases.contains(&name);
    let wrong = ingress.annotations.own().find(|(name, value)| is_it(name) && !annotation.form.accepts(&value.value));
    wrong.map_or_else(|| format!("it takes: {}", annotation.form.takes()), |(_, value)| annotation.form.describe_fault(&value.value))
}

/// Annotations whose wrong value has another effect, which is reported for itself.
fn denies(name: &str) -> bool {
    matches!(name, "allowlist-source-range" | "denylist-source-range" | "auth-method" | "auth-response-headers" | "auth-secret")
}

/// Annotations with the usual prefix, where a flag sets another one.
fn other_prefix(checked: &Checked<'_>, ingress: &Ingress, sink: &mut Findings) {
    let usual = crate::annotations::PREFIX;
    if checked.options.annotations_prefix == usual {
        return;
    }
    for (name, value) in ingress.annotations.all().filter(|(name, _)| name.strip_prefix(usual).is_some_and(|rest| rest.starts_with('/'))) {
        let message = format!("`{name}` is ignored: the controller's prefix is `{}`", checked.options.annotations_prefix);
        sink.report(checked.finding(&common::UNKNOWN_ANNOTATION, message, value.origin));
    }
}

/// The prefix of the controller's first releases.
const OLD_PREFIX: &str = "ingress.kubernetes.io";

/// Annotations that the controller would read with its present prefix. Other controllers own other names with the old prefix.
fn old_prefix(checked: &Checked<'_>, ingress: &Ingress, sink: &mut Findings) {
    let prefix = &checked.options.annotations_prefix;
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
        // The same annotation for an old and for a present release.
        if ingress.annotations.full(&format!("{prefix}/{name}")).is_some() {
            continue;
        }
        let message = format!("ingress-nginx does not read `{key}`: its annotations have the prefix `{prefix}/`");
        let finding = checked.finding(&common::UNKNOWN_ANNOTATION, message, value.origin);
        sink.report(finding.help(format!("write `{prefix}/{name}{new_value}`")));
    }
}
