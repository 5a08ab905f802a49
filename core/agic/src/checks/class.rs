//! Checks the classes of Ingresses: undefined classes, and classes that are given twice.

use super::{Run, named};
use crate::annotations::INGRESS_CLASS;
use crate::codes;
use alloc::format;

pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    let source = checked.source;
    for ingress in &source.all_ingresses {
        let Some(class) = &ingress.class else { continue };
        if let Some(annotated) = ingress.annotations.some_text(&INGRESS_CLASS).filter(|annotated| *annotated.value != *class.value) {
            let message = format!("the annotation says `{}` and `ingressClassName` says `{}`; the annotation is used", annotated.value, class.value);
            let finding = checked.finding(&codes::CLASS_TWICE, message, annotated.origin);
            checked.report(finding.help("leave the annotation out, or give it the same class"));
            continue;
        }
        let environment = checked.source.environment;
        if checked.source.class_controller(class).is_none() {
            let message = format!("there is no IngressClass `{}`, so no controller uses {}", class.value, named(ingress));
            let finding = checked.finding(&codes::UNKNOWN_INGRESS_CLASS, message, class.origin);
            checked
                .report(finding.help(format!("AGIC uses the class `{}`, if there is an IngressClass of this name for it", environment.class_name)));
        }
    }
}
