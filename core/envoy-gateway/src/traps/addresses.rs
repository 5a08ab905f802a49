//! Reports settings of ClientTrafficPolicies that use another client address than they seem to.

use super::{finding, value_place};
use crate::cluster::Admitted;
use crate::codes;
use alloc::format;
use alloc::string::String;
use chancery_base::diagnostic::Findings;

/// Reports `numTrustedHops: 0`. Envoy Gateway gives Envoy the hops before the last one, so 0 and 1 are the same (`internal/xds/translator`,
/// `listener.go`). Envoy then uses the last address of the header (`source/extensions/http/original_ip_detection/xff/xff.cc`).
pub(super) fn no_trusted_hops(policy: &Admitted<'_>, sink: &mut Findings) {
    let hops = policy.spec().at("clientIPDetection.xForwardedFor.numTrustedHops");
    if hops.int() != Some(0) {
        return;
    }
    let message =
        String::from("0 is the same as 1: Envoy uses the last address of `x-forwarded-for`, so a client that connects directly chooses its address");
    let found = finding(&codes::CLIENT_CHOOSES_ADDRESS, message, policy, value_place(hops));
    sink.report(found.help("remove `clientIPDetection` if clients connect to the gateway directly"));
}

/// Reports early headers with the client's address. Envoy changes them before it detects the address
/// (`source/common/http/conn_manager_utility.cc`, `mutateRequestHeaders`).
pub(super) fn early_addresses(policy: &Admitted<'_>, sink: &mut Findings) {
    let spec = policy.spec();
    if !spec.field("clientIPDetection").exists() {
        return;
    }
    let headers = spec.at("headers.earlyRequestHeaders");
    for header in ["set", "add"].into_iter().flat_map(|list| headers.field(list).items()) {
        let value = header.field("value");
        if !value.str().contains("%DOWNSTREAM_REMOTE_ADDRESS") {
            continue;
        }
        let message = format!(
            "Envoy sets early headers before it detects the client's address: `{}` gets the address of the proxy in front of the gateway",
            header.field("name").str()
        );
        let found = finding(&codes::EARLY_HEADER_ADDRESS, message, policy, value_place(value));
        let found = found.help("set the header with a `RequestHeaderModifier` filter of the HTTPRoute instead");
        sink.report(found.related(super::key_place(spec.field("clientIPDetection")), "Envoy applies this later"));
    }
}
