//! Reports faults of the controller's flags and ConfigMap.

use super::CheckInput;
use crate::codes;
use crate::kinds::Kind;
use alloc::format;
use chancery_base::diagnostic::{Diagnostic, Findings, Place};
use chancery_base::ir::nginx::globals::KEYS;
use chancery_base::resource::nearest;

pub(super) fn check(input: &CheckInput<'_>, sink: &mut Findings) {
    for flag in &input.options.unknown {
        let message = format!("the controller does not have the flag `{flag}`");
        sink.report(Diagnostic::new(&codes::UNKNOWN_CONTROLLER_FLAG, message, Place::Whole));
    }
    for (flag, value) in &input.options.invalid {
        let message = format!("the controller does not accept `{value}` as the value of `{flag}`");
        sink.report(Diagnostic::new(&codes::UNKNOWN_CONTROLLER_FLAG, message, Place::Whole));
    }
    for unused in &input.read.unused {
        let finding = match &unused.fault {
            Some(fault) => {
                let message = format!("the value of `{}` is not used: {fault}", unused.key);
                input.finding(&codes::CONFIG_VALUE_IGNORED, message, unused.origin)
            }
            None => {
                let message = format!("the controller does not know the key `{}`, and ignores it", unused.key);
                let finding = input.finding(&codes::UNKNOWN_CONFIG_KEY, message, unused.origin);
                match nearest(&unused.key, KEYS.iter().map(|key| key.name)) {
                    Some(near) => finding.help(format!("did you mean `{near}`?")),
                    None => finding,
                }
            }
        };
        sink.report(finding);
    }
    for (key, name) in &input.read.missing {
        let message = format!("the ConfigMap `{}` of `{key}` does not exist, and no header is set", name.value);
        sink.report(input.finding(&codes::CONFIG_VALUE_IGNORED, message, name.origin));
    }
    if input.cluster.by_key(Kind::ConfigMap, &input.options.config_map).is_none() {
        return;
    }
    for (flag, key, kind) in [
        ("--default-backend-service", &input.options.default_backend, Kind::Service),
        ("--default-ssl-certificate", &input.options.default_certificate, Kind::Secret),
    ] {
        if !key.is_empty() && input.cluster.by_key(kind, key).is_none() {
            let message = format!("`{key}` of `{flag}` does not exist; the controller uses its own");
            sink.report(Diagnostic::new(&codes::UNKNOWN_CONTROLLER_FLAG, message, Place::Whole));
        }
    }
}
