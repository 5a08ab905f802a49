// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{
    ALLOW_HEADERS_ITEM, GROUP_3, HOSTNAME, KIND_4, NAME, NAMESPACE, PARAMETERS_REF_2, PARENT_REFS, REQUEST_HEADER_MODIFIER, REQUEST_MIRROR,
    SESSION_PERSISTENCE, TYPE_4, WEIGHT,
};
use chancery_base::object;
use chancery_base::schema::{INTEGER, STRING, Schema, array, field, one_of, rule};

pub const TYPE_7: Schema = one_of(&["ResponseHeaderModifier", "RequestHeaderModifier", "RequestMirror", "ExtensionRef"]);
pub const FILTERS_ITEM_2: Schema = object![
    field("extensionRef", PARAMETERS_REF_2, ""),
    field("requestHeaderModifier", REQUEST_HEADER_MODIFIER, ""),
    field("requestMirror", REQUEST_MIRROR, ""),
    field("responseHeaderModifier", REQUEST_HEADER_MODIFIER, ""),
    field("type", TYPE_7, "").required(),
]
.rules(&[
    rule(
        "!(has(self.requestHeaderModifier) && self.type != 'RequestHeaderModifier')",
        "filter.requestHeaderModifier must be nil if the filter.type is not RequestHeaderModifier",
    ),
    rule(
        "!(!has(self.requestHeaderModifier) && self.type == 'RequestHeaderModifier')",
        "filter.requestHeaderModifier must be specified for RequestHeaderModifier filter.type",
    ),
    rule(
        "!(has(self.responseHeaderModifier) && self.type != 'ResponseHeaderModifier')",
        "filter.responseHeaderModifier must be nil if the filter.type is not ResponseHeaderModifier",
    ),
    rule(
        "!(!has(self.responseHeaderModifier) && self.type == 'ResponseHeaderModifier')",
        "filter.responseHeaderModifier must be specified for ResponseHeaderModifier filter.type",
    ),
    rule("!(has(self.requestMirror) && self.type != 'RequestMirror')", "filter.requestMirror must be nil if the filter.type is not RequestMirror"),
    rule("!(!has(self.requestMirror) && self.type == 'RequestMirror')", "filter.requestMirror must be specified for RequestMirror filter.type"),
    rule("!(has(self.extensionRef) && self.type != 'ExtensionRef')", "filter.extensionRef must be nil if the filter.type is not ExtensionRef"),
    rule("!(!has(self.extensionRef) && self.type == 'ExtensionRef')", "filter.extensionRef must be specified for ExtensionRef filter.type"),
]);
pub const FILTERS_2: Schema = array(&FILTERS_ITEM_2).at_most(16).rules(&[
    rule("self.filter(f, f.type == 'RequestHeaderModifier').size() <= 1", "RequestHeaderModifier filter cannot be repeated"),
    rule("self.filter(f, f.type == 'ResponseHeaderModifier').size() <= 1", "ResponseHeaderModifier filter cannot be repeated"),
]);
pub const BACKEND_REFS_ITEM_2: Schema = object![
    field("filters", FILTERS_2, ""),
    field("group", GROUP_3, ""),
    field("kind", KIND_4, ""),
    field("name", STRING.at_least(1).at_most(253), "").required(),
    field("namespace", NAMESPACE, ""),
    field("port", INTEGER.int32().between(1, 65535), ""),
    field("weight", WEIGHT, ""),
]
.rules(&[rule("(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true", "Must have port for Service reference")]);
pub const HEADERS_ITEM_2: Schema = object![
    field("name", ALLOW_HEADERS_ITEM, "").required(),
    field("type", TYPE_4, ""),
    field("value", STRING.at_least(1).at_most(4096), "").required(),
];
pub const HEADERS_2: Schema = array(&HEADERS_ITEM_2).at_most(16).keyed_by(&["name"]);
pub const METHOD_2: Schema = object![
    field("method", STRING.at_most(1024), ""),
    field("service", STRING.at_most(1024), ""),
    field("type", TYPE_4, ""),
].rules(&[
    rule("has(self.type) ? has(self.service) || has(self.method) : true", "One or both of 'service' or 'method' must be specified"),
    rule(r#"(!has(self.type) || self.type == 'Exact') && has(self.service) ? self.service.matches(r"""^(?i)\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*$"""): true"#, r"service must only contain valid characters (matching ^(?i)\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*$)"),
    rule(r#"(!has(self.type) || self.type == 'Exact') && has(self.method) ? self.method.matches(r"""^[A-Za-z_][A-Za-z_0-9]*$"""): true"#, "method must only contain valid characters (matching ^[A-Za-z_][A-Za-z_0-9]*$)"),
]);
pub const MATCHES_ITEM_2: Schema = object![field("headers", HEADERS_2, ""), field("method", METHOD_2, ""),];
pub const RULES_ITEM_2: Schema = object![
    field("backendRefs", array(&BACKEND_REFS_ITEM_2).at_most(16), ""),
    field("filters", FILTERS_2, ""),
    field("matches", array(&MATCHES_ITEM_2).at_most(64), ""),
    field("name", NAME, ""),
    field("sessionPersistence", SESSION_PERSISTENCE, ""),
];
pub const RULES_2: Schema = array(&RULES_ITEM_2).at_most(16).rules(&[
    rule("(self.size() > 0 ? (has(self[0].matches) ? self[0].matches.size() : 0) : 0) + (self.size() > 1 ? (has(self[1].matches) ? self[1].matches.size() : 0) : 0) + (self.size() > 2 ? (has(self[2].matches) ? self[2].matches.size() : 0) : 0) + (self.size() > 3 ? (has(self[3].matches) ? self[3].matches.size() : 0) : 0) + (self.size() > 4 ? (has(self[4].matches) ? self[4].matches.size() : 0) : 0) + (self.size() > 5 ? (has(self[5].matches) ? self[5].matches.size() : 0) : 0) + (self.size() > 6 ? (has(self[6].matches) ? self[6].matches.size() : 0) : 0) + (self.size() > 7 ? (has(self[7].matches) ? self[7].matches.size() : 0) : 0) + (self.size() > 8 ? (has(self[8].matches) ? self[8].matches.size() : 0) : 0) + (self.size() > 9 ? (has(self[9].matches) ? self[9].matches.size() : 0) : 0) + (self.size() > 10 ? (has(self[10].matches) ? self[10].matches.size() : 0) : 0) + (self.size() > 11 ? (has(self[11].matches) ? self[11].matches.size() : 0) : 0) + (self.size() > 12 ? (has(self[12].matches) ? self[12].matches.size() : 0) : 0) + (self.size() > 13 ? (has(self[13].matches) ? self[13].matches.size() : 0) : 0) + (self.size() > 14 ? (has(self[14].matches) ? self[14].matches.size() : 0) : 0) + (self.size() > 15 ? (has(self[15].matches) ? self[15].matches.size() : 0) : 0) <= 128", "While 16 rules and 64 matches per rule are allowed, the total number of matches across all rules in a route must be less than 128"),
    rule("self.all(l1, !has(l1.name) || self.exists_one(l2, has(l2.name) && l1.name == l2.name))", "Rule name must be unique within the route"),
]);
pub const SPEC_GRPCROUTE: Schema = object![
    field("hostnames", array(&HOSTNAME).at_most(16), ""),
    field("parentRefs", PARENT_REFS, ""),
    field("rules", RULES_2, ""),
    field("useDefaultGateways", one_of(&["All", "None"]), ""),
];
