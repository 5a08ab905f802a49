//! Checks rewrites that are missing or have another effect.

use super::{Checked, Run};
use crate::annotations as a;
use crate::codes;
use crate::kinds::Kind;
use crate::model::Ingress;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Severity};
use chancery_kubernetes::cursor::Cursor;

pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    let processed = checked.processed;
    let mut findings: Vec<Diagnostic> = processed.ingresses.iter().filter_map(|ingress| missing(checked, ingress)).collect();
    findings.extend(deleted(checked));
    findings.into_iter().for_each(|finding| checked.report(finding));
}

fn missing(checked: &Checked<'_, '_>, ingress: &Ingress) -> Option<Diagnostic> {
    let (named, custom) = (ingress.annotations.some_text(&a::REWRITE_RULE_SET), ingress.annotations.some_text(&a::REWRITE_CUSTOM_RESOURCE));
    match (named, custom) {
        (Some(named), Some(_)) => {
            let message = format!("with `{}` and `{}` nothing is rewritten", a::REWRITE_RULE_SET.name, a::REWRITE_CUSTOM_RESOURCE.name);
            Some(checked.finding(&codes::REWRITE_TWICE, message, named.origin))
        }
        (Some(named), None) => {
            let sets = checked.before.properties.as_ref().and_then(|properties| properties.rewrites.as_deref()).unwrap_or_default();
            let is_there = sets.iter().any(|set| set.name == named.value && !set.name.starts_with("crd-"));
            let message = || format!("the gateway has no rewrite set `{}`, and Azure refuses a reference to one", named.value);
            (!is_there && checked.options.existing_gateway.is_some()).then(|| checked.finding(&codes::MISSING_REWRITE, message(), named.origin))
        }
        (None, Some(custom)) => {
            let is_there = checked.source.cluster.get(Kind::Rewrite, &ingress.namespace, &custom).is_some();
            let message = || {
                let namespace = &ingress.namespace;
                format!("there is no AzureApplicationGatewayRewrite `{}` in `{namespace}`, and Azure refuses a reference to its set", custom.value)
            };
            let mut finding = checked.finding(&codes::MISSING_REWRITE, message(), custom.origin);
            // If the input has no rewrites, they may be elsewhere.
            if checked.options.assumes_start && checked.source.cluster.all(Kind::Rewrite).next().is_none() {
                finding.severity = Severity::Notice;
            }
            (!is_there).then_some(finding)
        }
        (None, None) => None,
    }
}

/// Reports headers that should be deleted and have a value: AGIC does not read the type of an action.
fn deleted(checked: &Checked<'_, '_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for held in checked.source.cluster.all(Kind::Rewrite) {
        for rule in held.root().at("spec.rewriteRules").items() {
            let actions = rule.field("actions");
            let headers = ["requestHeaderConfigurations", "responseHeaderConfigurations"].map(|list| actions.field(list).items());
            let is_set = |header: &Cursor<'_>| header.field("actionType").str() == "delete" && !header.field("headerValue").str().is_empty();
            for header in headers.into_iter().flatten().filter(is_set) {
                let (name, value) = (header.field("headerName").str(), header.field("headerValue"));
                let message = format!("`{name}` is set to `{}` instead of deleted: AGIC does not read `actionType`", value.str());
                let finding = checked.finding(&codes::DELETED_HEADER_SET, message, value.origin());
                found.push(finding.help("leave `headerValue` out: a header without a value is deleted"));
            }
        }
    }
    found
}
