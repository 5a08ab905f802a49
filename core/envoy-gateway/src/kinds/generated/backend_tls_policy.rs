// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{ANNOTATIONS_ENTRY, HOSTNAME, NAME, PARAMETERS_REF_2, TARGET_REFS_ITEM, WELL_KNOWN_CACERTIFICATES};
use chancery_base::object;
use chancery_base::schema::{STRING, Schema, array, field, map, one_of, rule};

pub const TARGET_REFS: Schema = array(&TARGET_REFS_ITEM).at_least(1).at_most(16).rules(&[
    rule("self.all(p1, self.all(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name ? ((!has(p1.sectionName) || p1.sectionName == '') == (!has(p2.sectionName) || p2.sectionName == '')) : true))", "sectionName must be specified when targetRefs includes 2 or more references to the same target"),
    rule("self.all(p1, self.exists_one(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && (((!has(p1.sectionName) || p1.sectionName == '') && (!has(p2.sectionName) || p2.sectionName == '')) || (has(p1.sectionName) && has(p2.sectionName) && p1.sectionName == p2.sectionName))))", "sectionName must be unique when targetRefs includes 2 or more references to the same target"),
]);
pub const URI: Schema = STRING.like(r"^(([^:/?#]+):)(//([^/?#]*))([^?#]*)(\?([^#]*))?(#(.*))?").at_least(1).at_most(253);
pub const SUBJECT_ALT_NAMES_ITEM: Schema =
    object![field("hostname", HOSTNAME, ""), field("type", one_of(&["Hostname", "URI"]), "").required(), field("uri", URI, ""),].rules(&[
        rule(
            r#"!(self.type == "Hostname" && (!has(self.hostname) || self.hostname == ""))"#,
            "SubjectAltName element must contain Hostname, if Type is set to Hostname",
        ),
        rule(
            r#"!(self.type != "Hostname" && has(self.hostname) && self.hostname != "")"#,
            "SubjectAltName element must not contain Hostname, if Type is not set to Hostname",
        ),
        rule(r#"!(self.type == "URI" && (!has(self.uri) || self.uri == ""))"#, "SubjectAltName element must contain URI, if Type is set to URI"),
        rule(r#"!(self.type != "URI" && has(self.uri) && self.uri != "")"#, "SubjectAltName element must not contain URI, if Type is not set to URI"),
    ]);
pub const SUBJECT_ALT_NAMES: Schema = array(&SUBJECT_ALT_NAMES_ITEM).at_most(5);
pub const VALIDATION_2: Schema = object![
    field("caCertificateRefs", array(&PARAMETERS_REF_2).at_most(8), ""),
    field("hostname", NAME, "").required(),
    field("subjectAltNames", SUBJECT_ALT_NAMES, ""),
    field("wellKnownCACertificates", WELL_KNOWN_CACERTIFICATES, ""),
].rules(&[
    rule(r#"!(has(self.caCertificateRefs) && size(self.caCertificateRefs) > 0 && has(self.wellKnownCACertificates) && self.wellKnownCACertificates != "")"#, "must not contain both CACertificateRefs and WellKnownCACertificates"),
    rule(r#"(has(self.caCertificateRefs) && size(self.caCertificateRefs) > 0 || has(self.wellKnownCACertificates) && self.wellKnownCACertificates != "")"#, "must specify either CACertificateRefs or WellKnownCACertificates"),
]);
pub const SPEC_BACKEND_TLSPOLICY: Schema = object![
    field("options", map(&ANNOTATIONS_ENTRY).at_most(16), ""),
    field("targetRefs", TARGET_REFS, "").required(),
    field("validation", VALIDATION_2, "").required(),
];
