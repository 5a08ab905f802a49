//! ReferenceGrant: lets other namespaces refer to objects of this one.
//!
//! Gateway API `apis/v1beta1/referencegrant_types.go`.

use super::common::{GROUP_FIELD, KIND_FIELD, NAME, NAMESPACE};
use chancery_base::object;
use chancery_base::schema::{Schema, array, field};

/// `spec`.
pub(super) const SPEC: Schema =
    object![field("from", array(&FROM).sized(1, 16), "Who may").required(), field("to", array(&TO).sized(1, 16), "What to").required(),];
const FROM: Schema = object![GROUP_FIELD, KIND_FIELD, field("namespace", NAMESPACE, "The namespace").required()];
const TO: Schema = object![GROUP_FIELD, KIND_FIELD, field("name", NAME, "Only the object of this name")];
