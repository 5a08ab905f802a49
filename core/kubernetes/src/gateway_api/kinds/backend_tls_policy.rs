//! BackendTLSPolicy: TLS on the way to Services.
//!
//! Gateway API `apis/v1alpha3/backendtlspolicy_types.go`.

use super::common::{ABSOLUTE_URI, ANNOTATION, GROUP_FIELD, HOSTNAME, KIND_FIELD, LOCAL_REFERENCE, NAME_FIELD, PRECISE_HOSTNAME, SECTION};
use chancery_base::object;
use chancery_base::schema::{Rule, Schema, array, field, map, one_of, rule};

/// `spec`.
pub(super) const SPEC: Schema = object![
    field("options", map(&ANNOTATION).at_most(16), "The controller's own settings"),
    field("targetRefs", array(&TARGET).sized(1, 16).rules(TARGET_RULES), "The Services").required(),
    field("validation", VALIDATION, "How their certificates are checked").required(),
];
const TARGET: Schema = object![GROUP_FIELD, KIND_FIELD, NAME_FIELD, field("sectionName", SECTION, "Only its port of this name")];
const TARGET_RULES: &[Rule] = &[
    rule(
        "self.all(p1, self.all(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name ? ((!has(p1.sectionName) || p1.sectionName == '') == (!has(p2.sectionName) || p2.sectionName == '')) : true))",
        "sectionName must be specified when targetRefs includes 2 or more references to the same target",
    ),
    rule(
        "self.all(p1, self.exists_one(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && (((!has(p1.sectionName) || p1.sectionName == '') && (!has(p2.sectionName) || p2.sectionName == '')) || (has(p1.sectionName) && has(p2.sectionName) && p1.sectionName == p2.sectionName))))",
        "sectionName must be unique when targetRefs includes 2 or more references to the same target",
    ),
];
const VALIDATION: Schema = object![
    field("caCertificateRefs", array(&LOCAL_REFERENCE).at_most(8), "Where the CAs are"),
    field("hostname", PRECISE_HOSTNAME, "The server name, which the certificate must contain").required(),
    field("subjectAltNames", array(&SUBJECT).at_most(5), "Names instead of `hostname`; a certificate must have one of them"),
    field("wellKnownCACertificates", one_of(&["System"]), "The system's CAs instead of `caCertificateRefs`"),
]
.rules(VALIDATION_RULES);
const VALIDATION_RULES: &[Rule] = &[
    rule(
        "!(has(self.caCertificateRefs) && size(self.caCertificateRefs) > 0 && has(self.wellKnownCACertificates) && self.wellKnownCACertificates != \"\")",
        "must not contain both CACertificateRefs and WellKnownCACertificates",
    ),
    rule(
        "(has(self.caCertificateRefs) && size(self.caCertificateRefs) > 0 || has(self.wellKnownCACertificates) && self.wellKnownCACertificates != \"\")",
        "must specify either CACertificateRefs or WellKnownCACertificates",
    ),
];
const SUBJECT: Schema = object![
    field("hostname", HOSTNAME, "The name, for `Hostname`"),
    field("type", one_of(&["Hostname", "URI"]), "What it is").required(),
    field("uri", ABSOLUTE_URI, "The name, for `URI`"),
]
.rules(&[
    rule(
        "!(self.type == \"Hostname\" && (!has(self.hostname) || self.hostname == \"\"))",
        "SubjectAltName element must contain Hostname, if Type is set to Hostname",
    ),
    rule(
        "!(self.type != \"Hostname\" && has(self.hostname) && self.hostname != \"\")",
        "SubjectAltName element must not contain Hostname, if Type is not set to Hostname",
    ),
    rule("!(self.type == \"URI\" && (!has(self.uri) || self.uri == \"\"))", "SubjectAltName element must contain URI, if Type is set to URI"),
    rule("!(self.type != \"URI\" && has(self.uri) && self.uri != \"\")", "SubjectAltName element must not contain URI, if Type is not set to URI"),
]);
