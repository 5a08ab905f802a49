//! Suggests the intended fields and values for unknown ones. Does not detect errors.

use super::{AmbassadorKind, Version};
use alloc::string::String;
use chancery_base::schema::{Fault, Violation};

/// The field that was certainly meant by an unknown one, if spelling does not tell.
pub(super) fn intended_field(kind: &AmbassadorKind, version: Version, name: &str) -> Option<&'static str> {
    match (kind.name, version, name) {
        ("Mapping", Version::V1 | Version::V2, "hostname") => Some("host"),
        ("Mapping", Version::V3Alpha1, "v3StatsName") => Some("stats_name"),
        ("Mapping", Version::V3Alpha1, "v3health_checks") => Some("health_checks"),
        ("TLSContext", Version::V3Alpha1, "v3CRLSecret") => Some("crl_secret"),
        ("Host", Version::V3Alpha1, "ambassadorId") => Some("ambassador_id"),
        _ => None,
    }
}

/// Specific advice for violations with a usual cause.
pub(super) fn help(kind: &AmbassadorKind, violation: &Violation) -> Option<String> {
    let help = match (kind.name, violation.path.as_str(), violation.fault) {
        ("Mapping", "spec.cors.origins", Fault::WrongType) => "v3alpha1 wants a list of origins; only v1 and v2 took one string with commas",
        (_, "spec.ambassador_id", Fault::WrongType) => "v3alpha1 wants a list of ids; only v1 and v2 took a single one",
        ("Mapping", "spec.tls", Fault::WrongType) => {
            "v3alpha1 wants the name of a TLSContext; to speak TLS without one, write `https://` before the service"
        }
        ("TCPMapping", "spec.idle_timeout_ms", Fault::WrongType) => {
            "a TCPMapping's idle_timeout_ms is a string, unlike a Mapping's: put it in quotes"
        }
        ("Mapping", path, Fault::WrongType) if path.starts_with("spec.add_re") => {
            "v3alpha1 wants an object for each header, `{value: ...}`; only v1 and v2 took a string"
        }
        ("Mapping", path, Fault::WrongType) if path.starts_with("spec.headers.") || path.starts_with("spec.query_parameters.") => {
            "v3alpha1 wants a string; to ask only whether it is there, use `regex_headers` or `regex_query_parameters` with `.*`"
        }
        ("Mapping", "spec.retry_policy.retry_on", Fault::NotAllowed) => "one condition only: lists with commas, which Envoy accepts, are refused",
        _ => return None,
    };
    Some(help.into())
}
