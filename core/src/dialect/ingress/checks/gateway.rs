//! The gateway's document, and the gateway that the controller's variables name.
//!
//! What must not be here: what is in the document.

use super::Run;
use crate::dialect::ingress::codes;
use alloc::format;

/// The parts that AGIC adds refer to the gateway that the variables name.
pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    let (Some(id), wanted) = (&checked.before.id, checked.names.gateway_id()) else { return };
    // Those are reported already.
    if checked.source.environment.failure.is_some() || checked.sink.iter().any(|finding| *finding.code == codes::UNREADABLE_GATEWAY) {
        return;
    }
    if !id.as_str().eq_ignore_ascii_case(wanted) {
        let message = format!("the gateway's document is that of `{id}`, and the controller's variables name `{wanted}`", id = id.as_str());
        let finding = checked.finding(&codes::OTHER_GATEWAY, message, None);
        checked.tell(finding.help("parts that AGIC adds refer to the gateway that the variables name: set APPGW_RESOURCE_ID to the document's id"));
    }
}
