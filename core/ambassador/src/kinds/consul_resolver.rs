//! ConsulResolver: finds services in Consul.
//!
//! Emissary `pkg/api/getambassador.io/{v2,v3alpha1}/crd_resolver.go`.

use super::common::{AMBASSADOR_ID, AMBASSADOR_ID_V2, convert_ids};
use chancery_base::object;
use chancery_base::schema::{Field, STRING, Schema, field};
use chancery_text::Object;

const ADDRESS: Field = field("address", STRING, "Consul's address, `host:port`").dropped();
const DATACENTER: Field = field("datacenter", STRING, "Consul's datacenter").dropped();

/// `spec` in v3alpha1.
pub(super) static V3ALPHA1: Schema = object![AMBASSADOR_ID, ADDRESS, DATACENTER];

/// `spec` in v1 and v2.
pub(super) static V2: Schema = object![AMBASSADOR_ID_V2, ADDRESS, DATACENTER];

/// v2 -> v3alpha1.
pub(super) fn convert(spec: &mut Object) {
    convert_ids(spec, "ambassador_id");
}
