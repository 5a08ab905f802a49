//! GatewayClass: which controller is responsible for a Gateway.
//!
//! Gateway API `apis/v1/gatewayclass_types.go`.

use super::common::REFERENCE;
use chancery_base::object;
use chancery_base::schema::{STRING, Schema, field, like};

/// `spec`.
pub(super) const SPEC: Schema = object![
    field("controllerName", CONTROLLER, "The controller, `example.com/name`").required(),
    field("description", STRING.at_most(64), "What it is for"),
    field("parametersRef", REFERENCE, "An object with the controller's own settings"),
];
const CONTROLLER: Schema = like(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9\/\-._~%!$&'()*+,;=:]+$").sized(1, 253);
