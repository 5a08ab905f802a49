//! Checks annotations whose values the controller silently ignores, and priorities.

use super::{Checked, Run};
use crate::annotations::{self as a, Annotation, Form, Read};
use crate::codes;
use crate::model::Ingress;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Diagnostic;
use chancery_base::schema::duration;

/// The annotations whose faults the controller itself reports.
const REPORTED_BY_CONTROLLER: [&str; 5] =
    [a::CONNECTION_DRAINING.name, a::COOKIE_AFFINITY.name, a::COOKIE_AFFINITY_DISTINCT.name, a::REQUEST_TIMEOUT.name, a::BACKEND_PROTOCOL.name];

/// Numbers with an accepted range: the minimum, the maximum, and the behaviour otherwise.
const LIMITS: [(&Annotation, i64, i64); 6] = [
    (&a::PROBE_INTERVAL, 1, i64::MAX),
    (&a::PROBE_TIMEOUT, 1, i64::MAX),
    (&a::PROBE_UNHEALTHY_THRESHOLD, 1, i64::MAX),
    (&a::PROBE_PORT, 1, 65_535),
    (&a::OVERRIDE_FRONTEND_PORT, 1, 64_999),
    (&a::RULE_PRIORITY, 1, 20_000),
];

pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    checked.each(|checked, ingress| {
        let finding = |annotation: &&Annotation| unreadable(checked, ingress, annotation).or_else(|| outside(checked, ingress, annotation));
        a::ALL.iter().filter_map(finding).collect()
    });
    priorities(checked);
}

fn unreadable(checked: &Checked<'_, '_>, ingress: &Ingress, annotation: &Annotation) -> Option<Diagnostic> {
    let text = ingress.annotations.text(annotation)?;
    let (is_wrong, wanted) = match annotation.form {
        Form::Flag => (matches!(ingress.annotations.flag(annotation), Read::Invalid(_)), "`true` or `false`"),
        Form::Number => (matches!(ingress.annotations.number(annotation), Read::Invalid(_)), "a whole number"),
        _ => return None,
    };
    if !is_wrong || REPORTED_BY_CONTROLLER.contains(&annotation.name) {
        return None;
    }
    let message = format!("`{}` is not {wanted}, so the annotation is ignored", text.value);
    Some(checked.finding(&codes::ANNOTATION_VALUE, message, text.origin).help(advice(annotation, &text)))
}

/// Returns what to write instead of a value that AGIC cannot read, and the value that applies until then.
pub(super) fn advice(annotation: &Annotation, value: &str) -> String {
    let default = format!("the default is used: {}", annotation.default);
    let lower = value.trim().to_ascii_lowercase();
    match annotation.form {
        Form::Flag if matches!(lower.as_str(), "enabled" | "enable" | "yes" | "on" | "y") => format!("write `\"true\"`; {default}"),
        Form::Flag if matches!(lower.as_str(), "disabled" | "disable" | "no" | "off" | "n") => format!("write `\"false\"`; {default}"),
        Form::Flag => format!("write `\"true\"` or `\"false\"`; {default}"),
        Form::Number => match duration::read(&lower) {
            Ok(nanoseconds) if nanoseconds > 0 && nanoseconds % SECOND == 0 => {
                format!("write the seconds as a number: `\"{}\"`; {default}", nanoseconds / SECOND)
            }
            _ => default,
        },
        Form::Protocol => format!("write `http` or `https`; {default}"),
        Form::Text | Form::List => default,
    }
}

/// A second in nanoseconds.
const SECOND: i64 = 1_000_000_000;

fn outside(checked: &Checked<'_, '_>, ingress: &Ingress, annotation: &Annotation) -> Option<Diagnostic> {
    let (_, least, most) = LIMITS.iter().find(|(limited, ..)| limited.name == annotation.name)?;
    let number = ingress.annotations.number(annotation).value()?;
    if (*least..=*most).contains(&number.value) {
        return None;
    }
    let limits = if *most == i64::MAX { format!("{least} or more") } else { format!("{least} to {most}") };
    let message = format!("{} is ignored: it must be {limits}", number.value);
    Some(checked.finding(&codes::ANNOTATION_VALUE, message, number.origin).help(format!("the default is used: {}", annotation.default)))
}

/// Either all Ingresses should have a priority, or none.
fn priorities(checked: &mut Run<'_, '_, '_>) {
    let ingresses = &checked.processed.ingresses;
    let asks = |ingress: &&Arc<Ingress>| ingress.annotations.text(&a::RULE_PRIORITY).is_some();
    let without: Vec<&Arc<Ingress>> = ingresses.iter().filter(|ingress| !ingress.rules.is_empty() && !asks(ingress)).collect();
    let (Some(first), Some(missing)) = (ingresses.iter().find(asks), without.first()) else { return };
    let at = first.annotations.text(&a::RULE_PRIORITY).and_then(|text| text.origin);
    let message = format!("`{}` has a priority and `{}` has none: AGIC asks for all or none", first.key(), missing.key());
    let finding = checked.finding(&codes::PARTIAL_PRIORITIES, message, at);
    checked.report(finding.help("rules without one get free numbers from 19000 on, with hosts, and from 19500 on, without"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_is_written_in_seconds() {
        assert_eq!(advice(&a::REQUEST_TIMEOUT, "2m"), "write the seconds as a number: `\"120\"`; the default is used: 30");
        assert_eq!(advice(&a::REQUEST_TIMEOUT, "1.5"), "the default is used: 30");
    }

    #[test]
    fn word_for_a_flag_becomes_true_or_false() {
        assert_eq!(advice(&a::COOKIE_AFFINITY, "Enabled"), "write `\"true\"`; the default is used: false");
        assert_eq!(advice(&a::COOKIE_AFFINITY, "maybe"), "write `\"true\"` or `\"false\"`; the default is used: false");
    }
}
