// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{
    ALLOW_HEADERS_ITEM, BACKEND_REF, BACKOFF, GROUP_3, HOSTNAME, KIND_4, METHOD, NAME, NAMESPACE, PARAMETERS_REF_2, PARENT_REFS,
    REQUEST_HEADER_MODIFIER, REQUEST_MIRROR, SESSION_PERSISTENCE, TYPE_2, TYPE_4, TYPE_5, VALUE, VALUE_2, WEIGHT,
};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, INTEGER, Literal, STRING, Schema, array, field, int_of, one_of, rule};

pub const ALLOW_HEADERS: Schema = array(&ALLOW_HEADERS_ITEM)
    .at_most(64)
    .distinct()
    .rules(&[rule("!('*' in self && self.size() > 1)", "AllowHeaders cannot contain '*' alongside other methods")]);
pub const ALLOW_METHODS_ITEM: Schema = one_of(&["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "*"]);
pub const ALLOW_METHODS: Schema = array(&ALLOW_METHODS_ITEM)
    .at_most(9)
    .distinct()
    .rules(&[rule("!('*' in self && self.size() > 1)", "AllowMethods cannot contain '*' alongside other methods")]);
pub const ALLOW_ORIGINS_ITEM: Schema =
    STRING.like(r"(^\*$)|(^(http(s)?):\/\/(((\*\.)?([a-zA-Z0-9\-]+\.)*[a-zA-Z0-9-]+|\*)(:([0-9]{1,5}))?)$)").at_least(1).at_most(253);
pub const ALLOW_ORIGINS: Schema = array(&ALLOW_ORIGINS_ITEM)
    .at_most(64)
    .distinct()
    .rules(&[rule("!('*' in self && self.size() > 1)", "AllowOrigins cannot contain '*' alongside other origins")]);
pub const EXPOSE_HEADERS: Schema = array(&ALLOW_HEADERS_ITEM).at_most(64).distinct();
pub const MAX_AGE: Schema = INTEGER.int32().starting_at(1).default(Literal::Int(5));
pub const CORS: Schema = object![
    field("allowCredentials", BOOLEAN, ""),
    field("allowHeaders", ALLOW_HEADERS, ""),
    field("allowMethods", ALLOW_METHODS, ""),
    field("allowOrigins", ALLOW_ORIGINS, ""),
    field("exposeHeaders", EXPOSE_HEADERS, ""),
    field("maxAge", MAX_AGE, ""),
];
pub const FORWARD_BODY: Schema = object![field("maxSize", INTEGER, ""),];
pub const GRPC: Schema = object![field("allowedHeaders", array(&STRING).at_most(64).distinct(), ""),];
pub const PATH: Schema = STRING.like("^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$").at_most(1024);
pub const HTTP: Schema = object![
    field("allowedHeaders", array(&STRING).at_most(64).distinct(), ""),
    field("allowedResponseHeaders", array(&STRING).at_most(64).distinct(), ""),
    field("path", PATH, ""),
];
pub const EXTERNAL_AUTH: Schema = object![
    field("backendRef", BACKEND_REF, "").required(),
    field("forwardBody", FORWARD_BODY, ""),
    field("grpc", GRPC, ""),
    field("http", HTTP, ""),
    field("protocol", one_of(&["HTTP", "GRPC"]), "").required(),
]
.rules(&[
    rule("self.protocol == 'GRPC' ? has(self.grpc) : true", "grpc must be specified when protocol is set to 'GRPC'"),
    rule("has(self.grpc) ? self.protocol == 'GRPC' : true", "protocol must be 'GRPC' when grpc is set"),
    rule("self.protocol == 'HTTP' ? has(self.http) : true", "http must be specified when protocol is set to 'HTTP'"),
    rule("has(self.http) ? self.protocol == 'HTTP' : true", "protocol must be 'HTTP' when http is set"),
]);
pub const PATH_2: Schema = object![
    field("replaceFullPath", STRING.at_most(1024), ""),
    field("replacePrefixMatch", STRING.at_most(1024), ""),
    field("type", TYPE_2, "").required(),
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
]);
pub const STATUS_CODE: Schema = int_of(&[301, 302, 303, 307, 308]).default(Literal::Int(302));
pub const REQUEST_REDIRECT: Schema = object![
    field("hostname", NAME, ""),
    field("path", PATH_2, ""),
    field("port", INTEGER.int32().between(1, 65535), ""),
    field("scheme", one_of(&["http", "https"]), ""),
    field("statusCode", STATUS_CODE, ""),
];
pub const TYPE_3: Schema = one_of(&[
    "RequestHeaderModifier",
    "ResponseHeaderModifier",
    "RequestMirror",
    "RequestRedirect",
    "URLRewrite",
    "ExtensionRef",
    "CORS",
    "ExternalAuth",
]);
pub const URL_REWRITE: Schema = object![field("hostname", NAME, ""), field("path", PATH_2, ""),];
pub const FILTERS_ITEM: Schema = object![
    field("cors", CORS, ""),
    field("extensionRef", PARAMETERS_REF_2, ""),
    field("externalAuth", EXTERNAL_AUTH, ""),
    field("requestHeaderModifier", REQUEST_HEADER_MODIFIER, ""),
    field("requestMirror", REQUEST_MIRROR, ""),
    field("requestRedirect", REQUEST_REDIRECT, ""),
    field("responseHeaderModifier", REQUEST_HEADER_MODIFIER, ""),
    field("type", TYPE_3, "").required(),
    field("urlRewrite", URL_REWRITE, ""),
]
.rules(&[
    rule("!(has(self.cors) && self.type != 'CORS')", "filter.cors must be nil if the filter.type is not CORS"),
    rule("!(!has(self.cors) && self.type == 'CORS')", "filter.cors must be specified for CORS filter.type"),
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
    rule("!(has(self.extensionRef) && self.type != 'ExtensionRef')", "filter.extensionRef must be nil if the filter.type is not ExtensionRef"),
    rule("!(!has(self.extensionRef) && self.type == 'ExtensionRef')", "filter.extensionRef must be specified for ExtensionRef filter.type"),
    rule("!(has(self.externalAuth) && self.type != 'ExternalAuth')", "filter.externalAuth must be nil if the filter.type is not ExternalAuth"),
    rule("!(!has(self.externalAuth) && self.type == 'ExternalAuth')", "filter.externalAuth must be specified for ExternalAuth filter.type"),
]);
pub const FILTERS: Schema = array(&FILTERS_ITEM).at_most(16).rules(&[
    rule(
        "!(self.exists(f, f.type == 'RequestRedirect') && self.exists(f, f.type == 'URLRewrite'))",
        "May specify either httpRouteFilterRequestRedirect or httpRouteFilterRequestRewrite, but not both",
    ),
    rule("self.filter(f, f.type == 'CORS').size() <= 1", "CORS filter cannot be repeated"),
    rule("self.filter(f, f.type == 'RequestHeaderModifier').size() <= 1", "RequestHeaderModifier filter cannot be repeated"),
    rule("self.filter(f, f.type == 'ResponseHeaderModifier').size() <= 1", "ResponseHeaderModifier filter cannot be repeated"),
    rule("self.filter(f, f.type == 'RequestRedirect').size() <= 1", "RequestRedirect filter cannot be repeated"),
    rule("self.filter(f, f.type == 'URLRewrite').size() <= 1", "URLRewrite filter cannot be repeated"),
]);
pub const BACKEND_REFS_ITEM: Schema = object![
    field("filters", FILTERS, ""),
    field("group", GROUP_3, ""),
    field("kind", KIND_4, ""),
    field("name", STRING.at_least(1).at_most(253), "").required(),
    field("namespace", NAMESPACE, ""),
    field("port", INTEGER.int32().between(1, 65535), ""),
    field("weight", WEIGHT, ""),
]
.rules(&[rule("(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true", "Must have port for Service reference")]);
pub const HEADERS_ITEM: Schema =
    object![field("name", ALLOW_HEADERS_ITEM, "").required(), field("type", TYPE_4, ""), field("value", VALUE, "").required(),];
pub const HEADERS: Schema = array(&HEADERS_ITEM).at_most(16).keyed_by(&["name"]);
pub const PATH_3: Schema = object![field("type", TYPE_5, ""), field("value", VALUE_2, ""),]
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
        rule(
            "(self.type in ['Exact','PathPrefix']) ? !self.value.contains('#') : true",
            "must not contain '#' when type one of ['Exact', 'PathPrefix']",
        ),
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
    ])
    .default(Literal::Object(&[("type", Literal::Str("PathPrefix")), ("value", Literal::Str("/"))]));
pub const QUERY_PARAMS_ITEM: Schema = object![
    field("name", ALLOW_HEADERS_ITEM, "").required(),
    field("type", TYPE_4, ""),
    field("value", STRING.at_least(1).at_most(1024), "").required(),
];
pub const QUERY_PARAMS: Schema = array(&QUERY_PARAMS_ITEM).at_most(16).keyed_by(&["name"]);
pub const MATCHES_ITEM: Schema =
    object![field("headers", HEADERS, ""), field("method", METHOD, ""), field("path", PATH_3, ""), field("queryParams", QUERY_PARAMS, ""),];
pub const MATCHES: Schema = array(&MATCHES_ITEM)
    .at_most(64)
    .default(Literal::List(&[Literal::Object(&[("path", Literal::Object(&[("type", Literal::Str("PathPrefix")), ("value", Literal::Str("/"))]))])]));
pub const CODES_ITEM: Schema = INTEGER.between(400, 599);
pub const RETRY: Schema =
    object![field("attempts", INTEGER.starting_at(1), ""), field("backoff", BACKOFF, ""), field("codes", array(&CODES_ITEM).distinct(), ""),];
pub const TIMEOUTS: Schema = object![
    field("backendRequest", BACKOFF, ""),
    field("request", BACKOFF, ""),
].rules(&[
    rule("!(has(self.request) && has(self.backendRequest) && duration(self.request) != duration('0s') && duration(self.backendRequest) > duration(self.request))", "backendRequest timeout cannot be longer than request timeout"),
]);
pub const RULES_ITEM: Schema = object![
    field("backendRefs", array(&BACKEND_REFS_ITEM).at_most(16), ""),
    field("filters", FILTERS, ""),
    field("matches", MATCHES, ""),
    field("name", NAME, ""),
    field("retry", RETRY, ""),
    field("sessionPersistence", SESSION_PERSISTENCE, ""),
    field("timeouts", TIMEOUTS, ""),
].rules(&[
    rule("(has(self.backendRefs) && size(self.backendRefs) > 0) ? (!has(self.filters) || self.filters.all(f, !has(f.requestRedirect))): true", "RequestRedirect filter must not be used together with backendRefs"),
    rule("(has(self.filters) && self.filters.exists_one(f, has(f.requestRedirect) && has(f.requestRedirect.path) && f.requestRedirect.path.type == 'ReplacePrefixMatch' && has(f.requestRedirect.path.replacePrefixMatch))) ? ((size(self.matches) != 1 || !has(self.matches[0].path) || self.matches[0].path.type != 'PathPrefix') ? false : true) : true", "When using RequestRedirect filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified"),
    rule("(has(self.filters) && self.filters.exists_one(f, has(f.urlRewrite) && has(f.urlRewrite.path) && f.urlRewrite.path.type == 'ReplacePrefixMatch' && has(f.urlRewrite.path.replacePrefixMatch))) ? ((size(self.matches) != 1 || !has(self.matches[0].path) || self.matches[0].path.type != 'PathPrefix') ? false : true) : true", "When using URLRewrite filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified"),
    rule("(has(self.backendRefs) && self.backendRefs.exists_one(b, (has(b.filters) && b.filters.exists_one(f, has(f.requestRedirect) && has(f.requestRedirect.path) && f.requestRedirect.path.type == 'ReplacePrefixMatch' && has(f.requestRedirect.path.replacePrefixMatch))) )) ? ((size(self.matches) != 1 || !has(self.matches[0].path) || self.matches[0].path.type != 'PathPrefix') ? false : true) : true", "Within backendRefs, when using RequestRedirect filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified"),
    rule("(has(self.backendRefs) && self.backendRefs.exists_one(b, (has(b.filters) && b.filters.exists_one(f, has(f.urlRewrite) && has(f.urlRewrite.path) && f.urlRewrite.path.type == 'ReplacePrefixMatch' && has(f.urlRewrite.path.replacePrefixMatch))) )) ? ((size(self.matches) != 1 || !has(self.matches[0].path) || self.matches[0].path.type != 'PathPrefix') ? false : true) : true", "Within backendRefs, When using URLRewrite filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified"),
]);
pub const RULES: Schema = array(&RULES_ITEM).at_least(1).at_most(16).rules(&[
    rule("(self.size() > 0 ? self[0].matches.size() : 0) + (self.size() > 1 ? self[1].matches.size() : 0) + (self.size() > 2 ? self[2].matches.size() : 0) + (self.size() > 3 ? self[3].matches.size() : 0) + (self.size() > 4 ? self[4].matches.size() : 0) + (self.size() > 5 ? self[5].matches.size() : 0) + (self.size() > 6 ? self[6].matches.size() : 0) + (self.size() > 7 ? self[7].matches.size() : 0) + (self.size() > 8 ? self[8].matches.size() : 0) + (self.size() > 9 ? self[9].matches.size() : 0) + (self.size() > 10 ? self[10].matches.size() : 0) + (self.size() > 11 ? self[11].matches.size() : 0) + (self.size() > 12 ? self[12].matches.size() : 0) + (self.size() > 13 ? self[13].matches.size() : 0) + (self.size() > 14 ? self[14].matches.size() : 0) + (self.size() > 15 ? self[15].matches.size() : 0) <= 128", "While 16 rules and 64 matches per rule are allowed, the total number of matches across all rules in a route must be less than 128"),
    rule("self.all(l1, !has(l1.name) || self.exists_one(l2, has(l2.name) && l1.name == l2.name))", "Rule name must be unique within the route"),
]).default(Literal::List(&[Literal::Object(&[("matches", Literal::List(&[Literal::Object(&[("path", Literal::Object(&[("type", Literal::Str("PathPrefix")), ("value", Literal::Str("/"))]))])]))])]));
pub const SPEC_HTTPROUTE: Schema = object![
    field("hostnames", array(&HOSTNAME).at_most(16), ""),
    field("parentRefs", PARENT_REFS, ""),
    field("rules", RULES, ""),
    field("useDefaultGateways", one_of(&["All", "None"]), ""),
];
