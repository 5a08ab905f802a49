//! AzureIngressProhibitedTarget: a host and paths of a shared gateway that the controller must not change.
//!
//! AGIC `crds/AzureIngressProhibitedTarget-v1-CRD-v1.yaml`. The newer CRD's pattern for paths is left out, since the controller accepts other paths
//! and older CRDs do too; a check reports them.

use chancery_base::object;
use chancery_base::schema::{STRING, STRINGS, Schema, field};

/// `spec` in v1.
pub(super) const SPEC: Schema = object![
    field("hostname", STRING, "The host; every host unless set"),
    field("paths", STRINGS, "The paths, each beginning with `/` and ending with `/*`; all unless set"),
];
