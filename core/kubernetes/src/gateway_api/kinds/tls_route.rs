//! TLSRoute: routes TLS connections by SNI.
//!
//! Gateway API `apis/v1alpha2/tlsroute_types.go`.

use super::common::{HOSTNAMES, PARENTS, RULE_NAMES};
use super::tcp_route::RULE;
use chancery_base::object;
use chancery_base::schema::{Schema, array, field};

/// `spec`.
pub(super) const SPEC: Schema =
    object![HOSTNAMES, PARENTS, field("rules", array(&RULE).sized(1, 16).rules(&[RULE_NAMES]), "Where connections go").required()];
