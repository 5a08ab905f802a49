//! AzureIngressProhibitedTarget: a host and paths of a shared gateway that the controller leaves alone.
//!
//! AGIC `crds/AzureIngressProhibitedTarget-v1-CRD-v1.yaml`. The pattern that the newer CRD has for paths is not here, as the controller
//! works with paths that do not have it, and older CRDs let them through; a check tells of them.

use chancery_base::object;
use chancery_base::schema::{STRING, STRINGS, Schema, field};

/// `spec` in v1.
pub(super) const SPEC: Schema = object![
    field("hostname", STRING, "The host; every host unless set"),
    field("paths", STRINGS, "The paths, each beginning with `/` and ending with `/*`; all unless set"),
];
