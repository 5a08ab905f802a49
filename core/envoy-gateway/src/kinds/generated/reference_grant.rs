// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{GROUP, KIND, NAMESPACE};
use chancery_base::object;
use chancery_base::schema::{STRING, Schema, array, field};

pub const FROM_ITEM: Schema =
    object![field("group", GROUP, "").required(), field("kind", KIND, "").required(), field("namespace", NAMESPACE, "").required(),];
pub const FROM_3: Schema = array(&FROM_ITEM).at_least(1).at_most(16);
pub const TO_ITEM: Schema =
    object![field("group", GROUP, "").required(), field("kind", KIND, "").required(), field("name", STRING.at_least(1).at_most(253), ""),];
pub const SPEC_REFERENCE_GRANT: Schema =
    object![field("from", FROM_3, "").required(), field("to", array(&TO_ITEM).at_least(1).at_most(16), "").required(),];
