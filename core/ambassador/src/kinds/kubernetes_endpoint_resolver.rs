//! KubernetesEndpointResolver: finds services by their endpoints, so that Envoy balances over pods.
//!
//! Emissary `pkg/api/getambassador.io/{v2,v3alpha1}/crd_resolver.go`.

use super::common::{AMBASSADOR_ID, AMBASSADOR_ID_V2, convert_ids};
use chancery_base::object;
use chancery_base::schema::Schema;
use chancery_text::Object;

/// `spec` in v3alpha1.
pub(super) static V3ALPHA1: Schema = object![AMBASSADOR_ID];

/// `spec` in v1 and v2.
pub(super) static V2: Schema = object![AMBASSADOR_ID_V2];

/// v2 -> v3alpha1.
pub(super) fn convert(spec: &mut Object) {
    convert_ids(spec, "ambassador_id");
}
