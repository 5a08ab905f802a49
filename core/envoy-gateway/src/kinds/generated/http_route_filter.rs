// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{ADD_2, BODY, CERTIFICATE_REFS_ITEM, TYPE_4};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, INTEGER, STRING, Schema, array, field, one_of, rule};

pub const CREDENTIAL: Schema = object![field("valueRef", CERTIFICATE_REFS_ITEM, "").required(),];
pub const CREDENTIAL_INJECTION: Schema =
    object![field("credential", CREDENTIAL, "").required(), field("header", STRING, ""), field("overwrite", BOOLEAN, ""),];
pub const HEADER_4: Schema = object![field("add", ADD_2, ""), field("remove", array(&STRING).at_most(16).distinct(), ""), field("set", ADD_2, ""),]
    .rules(&[rule("!has(self.remove) || size(self.remove) == 0", "header.remove is not supported for DirectResponse")]);
pub const DIRECT_RESPONSE: Schema =
    object![field("body", BODY, ""), field("contentType", STRING, ""), field("header", HEADER_4, ""), field("statusCode", INTEGER, ""),];
pub const COOKIES_ITEM_2: Schema = object![
    field("name", STRING.at_least(1).at_most(256), "").required(),
    field("type", TYPE_4, ""),
    field("value", STRING.at_least(1).at_most(4096), "").required(),
];
pub const COOKIES: Schema = array(&COOKIES_ITEM_2).at_least(1).at_most(16);
pub const MATCHES_ITEM_4: Schema = object![field("cookies", COOKIES, ""),].at_least(1);
pub const SUBSTITUTION: Schema = STRING.like(r"^[^\r\n\x00]*$").at_least(1);
pub const PATH_REGEX: Schema = object![field("pattern", STRING.at_least(1), "").required(), field("substitution", SUBSTITUTION, "").required(),];
pub const TYPE_27: Schema = one_of(&["Header", "Backend", "PathRegex"]);
pub const HOSTNAME_3: Schema = object![field("header", STRING, ""), field("pathRegex", PATH_REGEX, ""), field("type", TYPE_27, "").required(),]
    .rules(&[
        rule("!(has(self.header) && self.type != 'Header')", "header must be nil if the type is not Header"),
        rule("!(!has(self.header) && self.type == 'Header')", "header must be specified for Header type"),
        rule("!(has(self.pathRegex) && self.type != 'PathRegex')", "pathRegex must be nil if the type is not PathRegex"),
        rule("!(!has(self.pathRegex) && self.type == 'PathRegex')", "pathRegex must be specified for PathRegex type"),
    ]);
pub const REPLACE_REGEX_MATCH: Schema = object![field("pattern", STRING.at_least(1), "").required(), field("substitution", STRING, "").required(),];
pub const PATH_8: Schema =
    object![field("replaceRegexMatch", REPLACE_REGEX_MATCH, ""), field("type", one_of(&["ReplaceRegexMatch"]), "").required(),].rules(&[rule(
        "self.type == 'ReplaceRegexMatch' ? has(self.replaceRegexMatch) : !has(self.replaceRegexMatch)",
        "If HTTPPathModifier type is ReplaceRegexMatch, replaceRegexMatch field needs to be set.",
    )]);
pub const URL_REWRITE_2: Schema = object![field("appendXForwardedHost", BOOLEAN, ""), field("hostname", HOSTNAME_3, ""), field("path", PATH_8, ""),];
pub const SPEC_HTTPROUTE_FILTER: Schema = object![
    field("credentialInjection", CREDENTIAL_INJECTION, ""),
    field("directResponse", DIRECT_RESPONSE, ""),
    field("matches", array(&MATCHES_ITEM_4).at_most(8), ""),
    field("urlRewrite", URL_REWRITE_2, ""),
];
