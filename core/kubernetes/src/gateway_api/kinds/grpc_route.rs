//! GRPCRoute: routes gRPC calls.
//!
//! Gateway API `apis/v1/grpcroute_types.go`.

use super::common::{
    BACKEND_GROUP, BACKEND_KIND, BACKEND_PORT, BACKEND_RULES, BACKEND_WEIGHT, HOSTNAMES, NAME_FIELD, NAMESPACE_FIELD, PARENTS, RULE_NAME, RULE_NAMES,
    SESSION,
};
use super::filter::{
    EXTENSION, EXTENSION_RULES, HEADER_MATCH, MATCH_TYPE, MIRROR, MIRROR_RULES, ONCE, REQUEST_HEADERS, REQUEST_HEADERS_RULES, RESPONSE_HEADERS,
    RESPONSE_HEADERS_RULES, TOO_MANY_MATCHES,
};
use chancery_base::object;
use chancery_base::schema::{STRING, Schema, array, field, one_of, rule};

/// `spec`.
pub(super) const SPEC: Schema = object![
    HOSTNAMES,
    PARENTS,
    field("rules", array(&RULE).at_most(16).rules(&[rule(MATCHES, TOO_MANY_MATCHES), RULE_NAMES]), "Which calls go where"),
];
const MATCHES: &str = "(self.size() > 0 ? (has(self[0].matches) ? self[0].matches.size() : 0) : 0) + (self.size() > 1 ? (has(self[1].matches) ? self[1].matches.size() : 0) : 0) + (self.size() > 2 ? (has(self[2].matches) ? self[2].matches.size() : 0) : 0) + (self.size() > 3 ? (has(self[3].matches) ? self[3].matches.size() : 0) : 0) + (self.size() > 4 ? (has(self[4].matches) ? self[4].matches.size() : 0) : 0) + (self.size() > 5 ? (has(self[5].matches) ? self[5].matches.size() : 0) : 0) + (self.size() > 6 ? (has(self[6].matches) ? self[6].matches.size() : 0) : 0) + (self.size() > 7 ? (has(self[7].matches) ? self[7].matches.size() : 0) : 0) + (self.size() > 8 ? (has(self[8].matches) ? self[8].matches.size() : 0) : 0) + (self.size() > 9 ? (has(self[9].matches) ? self[9].matches.size() : 0) : 0) + (self.size() > 10 ? (has(self[10].matches) ? self[10].matches.size() : 0) : 0) + (self.size() > 11 ? (has(self[11].matches) ? self[11].matches.size() : 0) : 0) + (self.size() > 12 ? (has(self[12].matches) ? self[12].matches.size() : 0) : 0) + (self.size() > 13 ? (has(self[13].matches) ? self[13].matches.size() : 0) : 0) + (self.size() > 14 ? (has(self[14].matches) ? self[14].matches.size() : 0) : 0) + (self.size() > 15 ? (has(self[15].matches) ? self[15].matches.size() : 0) : 0) <= 128";

const RULE: Schema = object![
    field("backendRefs", array(&BACKEND).at_most(16), "The backends, by weight"),
    field("filters", array(&FILTER).at_most(16).rules(&ONCE), "What happens to calls on the way"),
    field("matches", array(&MATCH).at_most(64), "Which calls; one of these must hold. All calls unless set"),
    RULE_NAME,
    SESSION,
];
const BACKEND: Schema = object![
    field("filters", array(&FILTER).at_most(16).rules(&ONCE), "What happens to calls on the way to this backend"),
    BACKEND_GROUP,
    BACKEND_KIND,
    NAME_FIELD,
    NAMESPACE_FIELD,
    BACKEND_PORT,
    BACKEND_WEIGHT,
]
.rules(BACKEND_RULES);
const FILTER: Schema = object![
    EXTENSION,
    REQUEST_HEADERS,
    MIRROR,
    RESPONSE_HEADERS,
    field("type", one_of(&["ResponseHeaderModifier", "RequestHeaderModifier", "RequestMirror", "ExtensionRef"]), "Which filter").required(),
]
.rules(&[
    REQUEST_HEADERS_RULES[0],
    REQUEST_HEADERS_RULES[1],
    RESPONSE_HEADERS_RULES[0],
    RESPONSE_HEADERS_RULES[1],
    MIRROR_RULES[0],
    MIRROR_RULES[1],
    EXTENSION_RULES[0],
    EXTENSION_RULES[1],
]);

const MATCH: Schema = object![
    field("headers", array(&HEADER_MATCH).at_most(16).keyed_by(&["name"]), "Conditions on headers"),
    field("method", METHOD, "The service and method that are called"),
];
const METHOD: Schema = object![
    field("method", STRING.at_most(1024), "The method; all unless set"),
    field("service", STRING.at_most(1024), "The service; all unless set"),
    MATCH_TYPE,
]
.rules(&[
    rule("has(self.type) ? has(self.service) || has(self.method) : true", "One or both of 'service' or 'method' must be specified"),
    rule(
        r#"(!has(self.type) || self.type == 'Exact') && has(self.service) ? self.service.matches(r"""^(?i)\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*$"""): true"#,
        r"service must only contain valid characters (matching ^(?i)\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*$)",
    ),
    rule(
        r#"(!has(self.type) || self.type == 'Exact') && has(self.method) ? self.method.matches(r"""^[A-Za-z_][A-Za-z_0-9]*$"""): true"#,
        "method must only contain valid characters (matching ^[A-Za-z_][A-Za-z_0-9]*$)",
    ),
]);
