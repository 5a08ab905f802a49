// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::PARAMETERS_REF;
use chancery_base::object;
use chancery_base::schema::{STRING, Schema, field};

pub const CONTROLLER_NAME: Schema =
    STRING.like(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9\/\-._~%!$&'()*+,;=:]+$").at_least(1).at_most(253);
pub const SPEC_GATEWAY_CLASS: Schema = object![
    field("controllerName", CONTROLLER_NAME, "").required(),
    field("description", STRING.at_most(64), ""),
    field("parametersRef", PARAMETERS_REF, ""),
];
