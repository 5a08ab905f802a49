//! HTTPRoute: routes HTTP requests.
//!
//! Gateway API `apis/v1/httproute_types.go`.

use super::common::{
    ABSOLUTE_URI, BACKEND_GROUP, BACKEND_KIND, BACKEND_PORT, BACKEND_RULES, BACKEND_WEIGHT, DURATION, HEADER_NAME, HOSTNAMES, NAME_FIELD,
    NAMESPACE_FIELD, PARENTS, PORT, PRECISE_HOSTNAME, RULE_NAME, RULE_NAMES, SESSION,
};
use super::filter::{
    EXTENSION, EXTENSION_RULES, HEADER_MATCH, MATCH_TYPE, MIRROR, MIRROR_RULES, ONCE, REQUEST_HEADERS, REQUEST_HEADERS_RULES, RESPONSE_HEADERS,
    RESPONSE_HEADERS_RULES, TOO_MANY_MATCHES,
};
use chancery_base::object;
use chancery_base::schema::{Field, INTEGER, Literal, Rule, STRING, Schema, TRUE, array, field, int_of, one_of, rule};

const ROOT: Literal = Literal::Object(&[("type", Literal::Str("PathPrefix")), ("value", Literal::Str("/"))]);
const EVERYTHING: Literal = Literal::List(&[Literal::Object(&[("path", ROOT)])]);

/// `spec`.
pub(super) const SPEC: Schema = object![
    HOSTNAMES,
    PARENTS,
    field(
        "rules",
        array(&RULE)
            .at_most(16)
            .rules(&[rule(MATCHES, TOO_MANY_MATCHES), RULE_NAMES])
            .default(Literal::List(&[Literal::Object(&[("matches", EVERYTHING)])])),
        "Which requests go where"
    ),
];
const MATCHES: &str = "(self.size() > 0 ? self[0].matches.size() : 0) + (self.size() > 1 ? self[1].matches.size() : 0) + (self.size() > 2 ? self[2].matches.size() : 0) + (self.size() > 3 ? self[3].matches.size() : 0) + (self.size() > 4 ? self[4].matches.size() : 0) + (self.size() > 5 ? self[5].matches.size() : 0) + (self.size() > 6 ? self[6].matches.size() : 0) + (self.size() > 7 ? self[7].matches.size() : 0) + (self.size() > 8 ? self[8].matches.size() : 0) + (self.size() > 9 ? self[9].matches.size() : 0) + (self.size() > 10 ? self[10].matches.size() : 0) + (self.size() > 11 ? self[11].matches.size() : 0) + (self.size() > 12 ? self[12].matches.size() : 0) + (self.size() > 13 ? self[13].matches.size() : 0) + (self.size() > 14 ? self[14].matches.size() : 0) + (self.size() > 15 ? self[15].matches.size() : 0) <= 128";

const RULE: Schema = object![
    field("backendRefs", array(&BACKEND).at_most(16), "The backends, by weight"),
    field("filters", array(&FILTER).at_most(16).rules(FILTERS_RULES), "What happens to requests on the way"),
    field("matches", array(&MATCH).at_most(64).default(EVERYTHING), "Which requests; one of these must hold. All requests unless set"),
    RULE_NAME,
    field(
        "retry",
        object![
            field("attempts", INTEGER, "How often"),
            field("backoff", DURATION, "The least time between tries"),
            field("codes", array(&INTEGER_400_599), "The statuses of answers that are tried again"),
        ],
        "When a request is tried again"
    ),
    SESSION,
    field(
        "timeouts",
        object![
            field("backendRequest", DURATION, "How long one try may take; 0 for any time"),
            field("request", DURATION, "How long the whole answer may take; 0 for any time"),
        ]
        .rules(&[rule(
            "!(has(self.request) && has(self.backendRequest) && duration(self.request) != duration('0s') && duration(self.backendRequest) > duration(self.request))",
            "backendRequest timeout cannot be longer than request timeout",
        )]),
        "How long requests may take"
    ),
]
.rules(RULE_RULES);
const INTEGER_400_599: Schema = INTEGER.between(400, 599);
const RULE_RULES: &[Rule] = &[
    rule(
        "(has(self.backendRefs) && size(self.backendRefs) > 0) ? (!has(self.filters) || self.filters.all(f, !has(f.requestRedirect))): true",
        "RequestRedirect filter must not be used together with backendRefs",
    ),
    rule(
        "(has(self.filters) && self.filters.exists_one(f, has(f.requestRedirect) && has(f.requestRedirect.path) && f.requestRedirect.path.type == 'ReplacePrefixMatch' && has(f.requestRedirect.path.replacePrefixMatch))) ? ((size(self.matches) != 1 || !has(self.matches[0].path) || self.matches[0].path.type != 'PathPrefix') ? false : true) : true",
        "When using RequestRedirect filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified",
    ),
    rule(
        "(has(self.filters) && self.filters.exists_one(f, has(f.urlRewrite) && has(f.urlRewrite.path) && f.urlRewrite.path.type == 'ReplacePrefixMatch' && has(f.urlRewrite.path.replacePrefixMatch))) ? ((size(self.matches) != 1 || !has(self.matches[0].path) || self.matches[0].path.type != 'PathPrefix') ? false : true) : true",
        "When using URLRewrite filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified",
    ),
    rule(
        "(has(self.backendRefs) && self.backendRefs.exists_one(b, (has(b.filters) && b.filters.exists_one(f, has(f.requestRedirect) && has(f.requestRedirect.path) && f.requestRedirect.path.type == 'ReplacePrefixMatch' && has(f.requestRedirect.path.replacePrefixMatch))) )) ? ((size(self.matches) != 1 || !has(self.matches[0].path) || self.matches[0].path.type != 'PathPrefix') ? false : true) : true",
        "Within backendRefs, when using RequestRedirect filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified",
    ),
    rule(
        "(has(self.backendRefs) && self.backendRefs.exists_one(b, (has(b.filters) && b.filters.exists_one(f, has(f.urlRewrite) && has(f.urlRewrite.path) && f.urlRewrite.path.type == 'ReplacePrefixMatch' && has(f.urlRewrite.path.replacePrefixMatch))) )) ? ((size(self.matches) != 1 || !has(self.matches[0].path) || self.matches[0].path.type != 'PathPrefix') ? false : true) : true",
        "Within backendRefs, When using URLRewrite filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified",
    ),
];

const BACKEND: Schema = object![
    field("filters", array(&FILTER).at_most(16).rules(BACKEND_FILTERS_RULES), "What happens to requests on the way to this backend"),
    BACKEND_GROUP,
    BACKEND_KIND,
    NAME_FIELD,
    NAMESPACE_FIELD,
    BACKEND_PORT,
    BACKEND_WEIGHT,
]
.rules(BACKEND_RULES);

const REDIRECT_OR_REWRITE: Rule = rule(
    "!(self.exists(f, f.type == 'RequestRedirect') && self.exists(f, f.type == 'URLRewrite'))",
    "May specify either httpRouteFilterRequestRedirect or httpRouteFilterRequestRewrite, but not both",
);
const REDIRECT_ONCE: Rule = rule("self.filter(f, f.type == 'RequestRedirect').size() <= 1", "RequestRedirect filter cannot be repeated");
const REWRITE_ONCE: Rule = rule("self.filter(f, f.type == 'URLRewrite').size() <= 1", "URLRewrite filter cannot be repeated");
const FILTERS_RULES: &[Rule] = &[REDIRECT_OR_REWRITE, ONCE[0], ONCE[1], REDIRECT_ONCE, REWRITE_ONCE];
// The CRD has the first one twice.
const BACKEND_FILTERS_RULES: &[Rule] = &[REDIRECT_OR_REWRITE, REDIRECT_OR_REWRITE, ONCE[0], ONCE[1], REDIRECT_ONCE, REWRITE_ONCE];

const FILTER: Schema = object![
    field("cors", CORS, "What pages of other origins may do"),
    EXTENSION,
    REQUEST_HEADERS,
    MIRROR,
    field("requestRedirect", REDIRECT, "A redirect instead of a backend"),
    RESPONSE_HEADERS,
    field("type", FILTER_TYPE, "Which filter").required(),
    field("urlRewrite", REWRITE, "Changes of host and path"),
]
.rules(&[
    REQUEST_HEADERS_RULES[0],
    REQUEST_HEADERS_RULES[1],
    RESPONSE_HEADERS_RULES[0],
    RESPONSE_HEADERS_RULES[1],
    MIRROR_RULES[0],
    MIRROR_RULES[1],
    rule(
        "!(has(self.requestRedirect) && self.type != 'RequestRedirect')",
        "filter.requestRedirect must be nil if the filter.type is not RequestRedirect",
    ),
    rule(
        "!(!has(self.requestRedirect) && self.type == 'RequestRedirect')",
        "filter.requestRedirect must be specified for RequestRedirect filter.type",
    ),
    rule("!(has(self.urlRewrite) && self.type != 'URLRewrite')", "filter.urlRewrite must be nil if the filter.type is not URLRewrite"),
    rule("!(!has(self.urlRewrite) && self.type == 'URLRewrite')", "filter.urlRewrite must be specified for URLRewrite filter.type"),
    EXTENSION_RULES[0],
    EXTENSION_RULES[1],
    rule("!(has(self.cors) && self.type != 'CORS')", "filter.cors must be nil if the filter.type is not CORS"),
    rule("!(!has(self.cors) && self.type == 'CORS')", "filter.cors must be specified for CORS filter.type"),
]);
const FILTER_TYPE: Schema =
    one_of(&["RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "RequestRedirect", "URLRewrite", "ExtensionRef", "CORS"]);

const CORS: Schema = object![
    field("allowCredentials", TRUE, "Cookies and other credentials are sent"),
    field("allowHeaders", array(&HEADER_NAME).at_most(64).distinct(), "Headers that they may send"),
    field(
        "allowMethods",
        array(&CORS_METHOD)
            .at_most(9)
            .distinct()
            .rules(&[rule("!('*' in self && self.size() > 1)", "AllowMethods cannot contain '*' alongside other methods")]),
        "Methods that they may use"
    ),
    field("allowOrigins", array(&ABSOLUTE_URI).at_most(64).distinct(), "The origins"),
    field("exposeHeaders", array(&HEADER_NAME).at_most(64).distinct(), "Headers of answers that they may read"),
    field("maxAge", INTEGER.int32().at_least(1).default(Literal::Int(5)), "How many seconds browsers may remember this"),
];
const CORS_METHOD: Schema = one_of(&["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "*"]);

const REDIRECT: Schema = object![
    field("hostname", PRECISE_HOSTNAME, "The host it leads to; the same unless set"),
    PATH_MODIFIER,
    field("port", PORT, "The port it leads to"),
    field("scheme", one_of(&["http", "https"]), "The scheme it leads to; the same unless set"),
    field("statusCode", int_of(&[301, 302]).default(Literal::Int(302)), "Its status"),
];
const REWRITE: Schema = object![field("hostname", PRECISE_HOSTNAME, "The host that the backend sees"), PATH_MODIFIER];
const PATH_MODIFIER: Field = field(
    "path",
    object![
        field("replaceFullPath", STRING.at_most(1024), "The whole path, for `ReplaceFullPath`"),
        field("replacePrefixMatch", STRING.at_most(1024), "What the matched prefix becomes, for `ReplacePrefixMatch`"),
        field("type", one_of(&["ReplaceFullPath", "ReplacePrefixMatch"]), "Whether the whole path changes, or its prefix").required(),
    ]
    .rules(&[
        rule(
            "self.type == 'ReplaceFullPath' ? has(self.replaceFullPath) : true",
            "replaceFullPath must be specified when type is set to 'ReplaceFullPath'",
        ),
        rule("has(self.replaceFullPath) ? self.type == 'ReplaceFullPath' : true", "type must be 'ReplaceFullPath' when replaceFullPath is set"),
        rule(
            "self.type == 'ReplacePrefixMatch' ? has(self.replacePrefixMatch) : true",
            "replacePrefixMatch must be specified when type is set to 'ReplacePrefixMatch'",
        ),
        rule(
            "has(self.replacePrefixMatch) ? self.type == 'ReplacePrefixMatch' : true",
            "type must be 'ReplacePrefixMatch' when replacePrefixMatch is set",
        ),
    ]),
    "What the path becomes",
);

const MATCH: Schema = object![
    field("headers", array(&HEADER_MATCH).at_most(16).keyed_by(&["name"]), "Conditions on headers"),
    field("method", one_of(&["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]), "The method"),
    field("path", PATH.default(ROOT), "The path"),
    field("queryParams", array(&QUERY_MATCH).at_most(16).keyed_by(&["name"]), "Conditions on query parameters"),
];
const QUERY_MATCH: Schema = object![
    field("name", HEADER_NAME, "The query parameter").required(),
    MATCH_TYPE,
    field("value", STRING.sized(1, 1024), "The value, or the expression").required(),
];

const PATH: Schema = object![
    field(
        "type",
        one_of(&["Exact", "PathPrefix", "RegularExpression"]).default(Literal::Str("PathPrefix")),
        "Whether the value is the path, its beginning, or a regular expression"
    ),
    field("value", STRING.at_most(1024).default(Literal::Str("/")), "The value"),
]
.rules(&[
    rule(
        "(self.type in ['Exact','PathPrefix']) ? self.value.startsWith('/') : true",
        "value must be an absolute path and start with '/' when type one of ['Exact', 'PathPrefix']",
    ),
    rule(
        "(self.type in ['Exact','PathPrefix']) ? !self.value.contains('//') : true",
        "must not contain '//' when type one of ['Exact', 'PathPrefix']",
    ),
    rule(
        "(self.type in ['Exact','PathPrefix']) ? !self.value.contains('/./') : true",
        "must not contain '/./' when type one of ['Exact', 'PathPrefix']",
    ),
    rule(
        "(self.type in ['Exact','PathPrefix']) ? !self.value.contains('/../') : true",
        "must not contain '/../' when type one of ['Exact', 'PathPrefix']",
    ),
    rule(
        "(self.type in ['Exact','PathPrefix']) ? !self.value.contains('%2f') : true",
        "must not contain '%2f' when type one of ['Exact', 'PathPrefix']",
    ),
    rule(
        "(self.type in ['Exact','PathPrefix']) ? !self.value.contains('%2F') : true",
        "must not contain '%2F' when type one of ['Exact', 'PathPrefix']",
    ),
    rule("(self.type in ['Exact','PathPrefix']) ? !self.value.contains('#') : true", "must not contain '#' when type one of ['Exact', 'PathPrefix']"),
    rule(
        "(self.type in ['Exact','PathPrefix']) ? !self.value.endsWith('/..') : true",
        "must not end with '/..' when type one of ['Exact', 'PathPrefix']",
    ),
    rule(
        "(self.type in ['Exact','PathPrefix']) ? !self.value.endsWith('/.') : true",
        "must not end with '/.' when type one of ['Exact', 'PathPrefix']",
    ),
    rule(
        "self.type in ['Exact','PathPrefix'] || self.type == 'RegularExpression'",
        "type must be one of ['Exact', 'PathPrefix', 'RegularExpression']",
    ),
    rule(
        r#"(self.type in ['Exact','PathPrefix']) ? self.value.matches(r"""^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$""") : true"#,
        "must only contain valid characters (matching ^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$) for types ['Exact', 'PathPrefix']",
    ),
]);
