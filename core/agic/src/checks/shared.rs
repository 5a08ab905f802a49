//! Checks gateways that are shared, or seem to be.

use super::Run;
use crate::codes;
use crate::kinds::Kind;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::Diagnostic;
use chancery_base::ir::appgw::Gateway;
use chancery_text::Str;
use hashbrown::HashMap;

pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    let source = checked.source;
    let mut findings = Vec::new();
    for held in source.cluster.all(Kind::ProhibitedTarget) {
        if !source.environment.shared {
            let message =
                "without APPGW_ENABLE_SHARED_APPGW=true among the variables of its pod AGIC does not read the target, and replaces the whole gateway";
            let help = "if the pod has it, set `--env APPGW_ENABLE_SHARED_APPGW=true`";
            findings.push(checked.finding(&codes::TARGETS_NOT_READ, message, held.root().origin()).help(help));
        }
        let paths = held.root().at("spec.paths").items();
        for path in paths.filter(|path| !(path.str().starts_with('/') && path.str().ends_with("/*"))) {
            let message = format!("the path `{}` does not begin with `/` and end with `/*`; it covers itself alone", path.str());
            let finding = checked.finding(&codes::ODD_TARGET_PATH, message, path.origin());
            findings.push(finding.help("newer versions of the CRD refuse such a path"));
        }
    }
    if source.environment.shared {
        lost_path_rules(checked, &mut findings);
    }
    if source.environment.shared && source.prohibited_targets().is_empty() && checked.processed.gateway.is_some() {
        let message = "the gateway is shared, but there is no AzureIngressProhibitedTarget where AGIC looks: it replaces the whole gateway";
        findings.push(checked.finding(&codes::SHARED_WITHOUT_TARGETS, message, None));
    }
    findings.into_iter().for_each(|finding| checked.report(finding));
}

/// The prefix of names that AGIC gives to path rules. AGIC removes all path rules with such names before it looks at prohibited targets
/// (pkg/brownfield/path_maps.go).
const OWN_PATH_RULE: &str = "pr-";

/// Prohibited targets whose path rules another AGIC wrote: this AGIC removes them although the target names their paths.
fn lost_path_rules(checked: &Run<'_, '_, '_>, findings: &mut Vec<Diagnostic>) {
    let paths_of = |gateway: Option<&Gateway>| -> HashMap<String, Str> {
        let maps = gateway.and_then(|gateway| gateway.properties.as_ref()).and_then(|properties| properties.path_maps.as_ref());
        let rules = maps.into_iter().flatten().flat_map(|map| map.properties.rules.iter().flatten());
        rules.flat_map(|rule| rule.properties.paths.iter().flatten().map(|path| (path.value.to_ascii_lowercase(), rule.name.clone()))).collect()
    };
    let before = paths_of(Some(checked.before));
    let after = paths_of(checked.processed.gateway.as_deref());
    for held in checked.source.cluster.all(Kind::ProhibitedTarget) {
        for path in held.root().at("spec.paths").items() {
            let text = path.str().to_ascii_lowercase();
            let Some(rule) = before.get(&text).filter(|rule| rule.starts_with(OWN_PATH_RULE)) else { continue };
            if after.contains_key(&text) {
                continue;
            }
            let message = format!(
                "the target does not keep `{}`: its path rule `{rule}` has a name of AGIC's form, so this AGIC removes it as its own",
                path.str()
            );
            let finding = checked.finding(&codes::PROHIBITED_PATH_LOST, message, path.origin());
            findings.push(finding.help("give each AGIC its own host: name the other controller's host in `spec.hostname` and in its Ingresses"));
        }
    }
}
