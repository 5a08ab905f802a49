//! Defines the schemas that HTTPRoute and GRPCRoute share: filters, and matches of headers.
//!
//! Gateway API `apis/v1/httproute_types.go`.

use super::common::{BACKEND_GROUP, BACKEND_KIND, BACKEND_PORT, BACKEND_RULES, HEADER_NAME, LOCAL_REFERENCE, NAME_FIELD, NAMESPACE_FIELD};
use chancery_base::object;
use chancery_base::schema::{Field, INTEGER, Literal, Rule, STRING, STRINGS, Schema, array, field, one_of, rule};

/// `requestHeaderModifier`.
pub(super) const REQUEST_HEADERS: Field = field("requestHeaderModifier", HEADERS, "Changes of the request's headers");
/// `responseHeaderModifier`.
pub(super) const RESPONSE_HEADERS: Field = field("responseHeaderModifier", HEADERS, "Changes of the answer's headers");
const HEADERS: Schema = object![
    field("add", array(&HEADER).at_most(16).keyed_by(&["name"]), "Headers that are added to the existing headers"),
    field("remove", STRINGS.at_most(16).distinct(), "Headers that go"),
    field("set", array(&HEADER).at_most(16).keyed_by(&["name"]), "Headers that get a value, whether they are there or not"),
];
const HEADER: Schema = object![field("name", HEADER_NAME, "The header").required(), field("value", STRING.sized(1, 4096), "Its value").required()];

/// `extensionRef`.
pub(super) const EXTENSION: Field = field("extensionRef", LOCAL_REFERENCE, "An object with a filter of the controller's own");

/// `requestMirror`.
pub(super) const MIRROR: Field = field(
    "requestMirror",
    object![
        field(
            "backendRef",
            object![BACKEND_GROUP, BACKEND_KIND, NAME_FIELD, NAMESPACE_FIELD, BACKEND_PORT].rules(BACKEND_RULES),
            "The backend for copies; its answers are dropped"
        )
        .required(),
        field(
            "fraction",
            object![
                field("denominator", INTEGER.int32().at_least(1).default(Literal::Int(100)), "Of how many requests"),
                field("numerator", INTEGER.int32().at_least(0), "How many").required(),
            ]
            .rules(&[rule("self.numerator <= self.denominator", "numerator must be less than or equal to denominator")]),
            "How many requests are copied"
        ),
        field("percent", INTEGER.int32().between(0, 100), "How many requests are copied, in percent"),
    ]
    .rules(&[rule("!(has(self.percent) && has(self.fraction))", "Only one of percent or fraction may be specified in HTTPRequestMirrorFilter")]),
    "Sends copies of requests elsewhere",
);

pub(super) const HEADER_MATCH: Schema = object![
    field("name", HEADER_NAME, "The header").required(),
    MATCH_TYPE,
    field("value", STRING.sized(1, 4096), "The value, or the expression").required(),
];
/// `type` of a match.
pub(super) const MATCH_TYPE: Field =
    field("type", one_of(&["Exact", "RegularExpression"]).default(Literal::Str("Exact")), "Whether the value is a regular expression");

/// `requestHeaderModifier` must be set exactly for its type.
pub(super) const REQUEST_HEADERS_RULES: [Rule; 2] = [
    rule(
        "!(has(self.requestHeaderModifier) && self.type != 'RequestHeaderModifier')",
        "filter.requestHeaderModifier must be nil if the filter.type is not RequestHeaderModifier",
    ),
    rule(
        "!(!has(self.requestHeaderModifier) && self.type == 'RequestHeaderModifier')",
        "filter.requestHeaderModifier must be specified for RequestHeaderModifier filter.type",
    ),
];
/// `responseHeaderModifier` must be set exactly for its type.
pub(super) const RESPONSE_HEADERS_RULES: [Rule; 2] = [
    rule(
        "!(has(self.responseHeaderModifier) && self.type != 'ResponseHeaderModifier')",
        "filter.responseHeaderModifier must be nil if the filter.type is not ResponseHeaderModifier",
    ),
    rule(
        "!(!has(self.responseHeaderModifier) && self.type == 'ResponseHeaderModifier')",
        "filter.responseHeaderModifier must be specified for ResponseHeaderModifier filter.type",
    ),
];
/// `requestMirror` must be set exactly for its type.
pub(super) const MIRROR_RULES: [Rule; 2] = [
    rule("!(has(self.requestMirror) && self.type != 'RequestMirror')", "filter.requestMirror must be nil if the filter.type is not RequestMirror"),
    rule("!(!has(self.requestMirror) && self.type == 'RequestMirror')", "filter.requestMirror must be specified for RequestMirror filter.type"),
];
/// `extensionRef` must be set exactly for its type.
pub(super) const EXTENSION_RULES: [Rule; 2] = [
    rule("!(has(self.extensionRef) && self.type != 'ExtensionRef')", "filter.extensionRef must be nil if the filter.type is not ExtensionRef"),
    rule("!(!has(self.extensionRef) && self.type == 'ExtensionRef')", "filter.extensionRef must be specified for ExtensionRef filter.type"),
];
/// Filters of these types may occur once.
pub(super) const ONCE: [Rule; 2] = [
    rule("self.filter(f, f.type == 'RequestHeaderModifier').size() <= 1", "RequestHeaderModifier filter cannot be repeated"),
    rule("self.filter(f, f.type == 'ResponseHeaderModifier').size() <= 1", "ResponseHeaderModifier filter cannot be repeated"),
];

/// Too many matches in all rules together.
pub(super) const TOO_MANY_MATCHES: &str =
    "While 16 rules and 64 matches per rule are allowed, the total number of matches across all rules in a route must be less than 128";
