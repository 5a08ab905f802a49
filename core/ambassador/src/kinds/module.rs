//! Module: settings for the whole gateway. Its `config` has no schema; `model` reads it.
//!
//! Emissary `pkg/api/getambassador.io/{v2,v3alpha1}/crd_module.go`.

use super::common::{AMBASSADOR_ID, AMBASSADOR_ID_V2, convert_ids};
use chancery_base::object;
use chancery_base::schema::{OPEN_OBJECT, Schema, field};
use chancery_text::Object;

const CONFIG_DOC: &str = "The settings; the Module `ambassador` sets the gateway's defaults";

/// `spec` in v3alpha1.
pub(super) static V3ALPHA1: Schema = object![AMBASSADOR_ID, field("config", OPEN_OBJECT, CONFIG_DOC).required().always()];

/// `spec` in v1 and v2.
pub(super) static V2: Schema = object![AMBASSADOR_ID_V2, field("config", OPEN_OBJECT, CONFIG_DOC).always()];

/// v2 -> v3alpha1.
pub(super) fn convert(spec: &mut Object) {
    convert_ids(spec, "ambassador_id");
}
