//! AzureApplicationGatewayRewrite: changes of headers and URLs.
//!
//! AGIC `crds/AzureApplicationGatewayRewrite.yaml`. The CRD's minimum of one rule and values of `actionType` are left out, since the controller
//! works without them; checks report both.

use chancery_base::object;
use chancery_base::schema::{BOOLEAN, INTEGER, STRING, Schema, array, field};

/// `spec` in v1beta1.
pub(super) const SPEC: Schema = object![field("rewriteRules", array(&RULE), "The changes")];
const RULE: Schema = object![
    field("actions", ACTIONS, "The changes"),
    field("conditions", array(&CONDITION), "When it is changed; all must hold"),
    field("name", STRING, "Its name"),
    field("ruleSequence", INTEGER, "Which change comes first: the smaller number"),
];
const ACTIONS: Schema = object![
    field("requestHeaderConfigurations", array(&HEADER), "Headers of the request"),
    field("responseHeaderConfigurations", array(&HEADER), "Headers of the answer"),
    field("urlConfiguration", URL, "The URL"),
];
const HEADER: Schema = object![
    field("actionType", STRING, "`set` or `delete`; the controller does not read it"),
    field("headerName", STRING, "The header"),
    field("headerValue", STRING, "Its value; without one it is taken away"),
];
const URL: Schema = object![
    field("modifiedPath", STRING, "The path; the same unless set"),
    field("modifiedQueryString", STRING, "The query; the same unless set"),
    field("reroute", BOOLEAN, "Whether routing starts again with the new path"),
];
const CONDITION: Schema = object![
    field("ignoreCase", BOOLEAN, "Whether upper and lower case are the same"),
    field("negate", BOOLEAN, "Whether it must not hold"),
    field("pattern", STRING, "A text or regular expression"),
    field("variable", STRING, "What must match it, such as `http_req_User-Agent`"),
];
