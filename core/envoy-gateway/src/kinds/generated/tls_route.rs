// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{HOSTNAME, PARENT_REFS, RULES_3, RULES_4};
use chancery_base::object;
use chancery_base::schema::{Schema, array, field, one_of, rule};

pub const SPEC_TLSROUTE: Schema = object![
    field("hostnames", array(&HOSTNAME).at_most(1024), ""),
    field("parentRefs", PARENT_REFS, ""),
    field("rules", RULES_3, "").required(),
    field("useDefaultGateways", one_of(&["All", "None"]), ""),
];
pub const HOSTNAMES: Schema = array(&HOSTNAME).at_least(1).at_most(1024).rules(&[
    rule("self.all(h, !isIP(h))", "Hostnames cannot contain an IP"),
    rule(r"self.all(h, !h.contains('*') ? h.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)$') : true)", "Hostnames must be valid based on RFC-1123"),
    rule(r"self.all(h, h.contains('*') ? (h.startsWith('*.') && h.substring(2).matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)$')) : true)", "Wildcards on hostnames must be the first label, and the rest of hostname must be valid based on RFC-1123"),
]);
pub const SPEC_TLSROUTE_2: Schema = object![
    field("hostnames", HOSTNAMES, "").required(),
    field("parentRefs", PARENT_REFS, ""),
    field("rules", RULES_4, "").required(),
    field("useDefaultGateways", one_of(&["All", "None"]), ""),
];
