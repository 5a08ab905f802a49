//! TLSCertificateDelegation: lets other namespaces use a Secret of this one.
//!
//! Contour `apis/projectcontour/v1/tlscertificatedelegation.go`.

use chancery_base::object;
use chancery_base::schema::{STRING, STRINGS, Schema, array, field};

/// `spec` in v1.
pub(super) const SPEC: Schema = object![field("delegations", array(&DELEGATION), "The Secrets, and who may use them").required()];
const DELEGATION: Schema = object![
    field("secretName", STRING, "The Secret").required(),
    field("targetNamespaces", STRINGS, "The namespaces that may use it; `*` alone for all").required(),
];
