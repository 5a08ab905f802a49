//! Checks gateways that are shared, or seem to be.

use super::Run;
use crate::codes;
use crate::kinds::Kind;
use alloc::format;
use alloc::vec::Vec;

pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    let source = checked.source;
    let mut findings = Vec::new();
    for held in source.cluster.all(Kind::ProhibitedTarget) {
        if !source.environment.shared {
            let message =
                "without APPGW_ENABLE_SHARED_APPGW=true among the variables of its pod AGIC does not read the target, and replaces the whole gateway";
            let help = "if the pod has it, say so: `--env APPGW_ENABLE_SHARED_APPGW=true`";
            findings.push(checked.finding(&codes::TARGETS_NOT_READ, message, held.root().origin()).help(help));
        }
        let paths = held.root().at("spec.paths").items();
        for path in paths.filter(|path| !(path.str().starts_with('/') && path.str().ends_with("/*"))) {
            let message = format!("the path `{}` does not begin with `/` and end with `/*`; it covers itself alone", path.str());
            let finding = checked.finding(&codes::ODD_TARGET_PATH, message, path.origin());
            findings.push(finding.help("newer versions of the CRD refuse such a path"));
        }
    }
    if source.environment.shared && source.prohibited_targets().is_empty() && checked.processed.gateway.is_some() {
        let message = "the gateway is shared, but there is no AzureIngressProhibitedTarget where AGIC looks: it replaces the whole gateway";
        findings.push(checked.finding(&codes::SHARED_WITHOUT_TARGETS, message, None));
    }
    findings.into_iter().for_each(|finding| checked.report(finding));
}
