//! TCPRoute: routes TCP connections.
//!
//! Gateway API `apis/v1alpha2/tcproute_types.go`.

use super::common::{BACKEND, PARENTS, RULE_NAME, RULE_NAMES};
use chancery_base::object;
use chancery_base::schema::{Schema, array, field};

/// `spec`.
pub(super) const SPEC: Schema = object![PARENTS, field("rules", array(&RULE).sized(1, 16).rules(&[RULE_NAMES]), "Where connections go").required()];

/// A rule without conditions.
pub(super) const RULE: Schema = object![field("backendRefs", array(&BACKEND).sized(1, 16), "The backends, by weight"), RULE_NAME];
