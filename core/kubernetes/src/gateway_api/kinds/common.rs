//! Defines the schemas that several kinds share: names, references, parents, backends.
//!
//! Gateway API `apis/v1/{shared_types,object_reference_types}.go`.

use chancery_base::object;
use chancery_base::schema::{Field, INTEGER, Literal, Rule, STRING, Schema, array, field, like, one_of, rule};

const SUBDOMAIN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/// The group of a reference; empty for Kubernetes' own.
pub(super) const GROUP: Schema = like(r"^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$").at_most(253);
/// The kind of a reference.
pub(super) const KIND: Schema = like("^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$").sized(1, 63);
/// The name of an object.
pub(super) const NAME: Schema = STRING.sized(1, 253);
pub(super) const NAMESPACE: Schema = like("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$").sized(1, 63);
/// A host, or all hosts below one.
pub(super) const HOSTNAME: Schema = like(r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$").sized(1, 253);
/// One host.
pub(super) const PRECISE_HOSTNAME: Schema = like(SUBDOMAIN).sized(1, 253);
/// The name of a listener, a rule or a port.
pub(super) const SECTION: Schema = like(SUBDOMAIN).sized(1, 253);
pub(super) const PORT: Schema = INTEGER.int32().between(1, 65535);
/// The name of a header or a query parameter.
pub(super) const HEADER_NAME: Schema = like(r"^[A-Za-z0-9!#$%&'*+\-.^_\x60|~]+$").sized(1, 256);
/// A URI with a scheme.
pub(super) const ABSOLUTE_URI: Schema = like(r"^(([^:/?#]+):)(//([^/?#]*))([^?#]*)(\?([^#]*))?(#(.*))?").sized(1, 253);
/// A duration, `1h30m`.
pub(super) const DURATION: Schema = like("^([0-9]{1,5}(h|m|s|ms)){1,4}$");
/// A value of an annotation or of an option.
pub(super) const ANNOTATION: Schema = STRING.at_most(4096);

/// A required `group`.
pub(super) const GROUP_FIELD: Field = field("group", GROUP, "The group of its kind; empty for Kubernetes' own").required();
/// A required `kind`.
pub(super) const KIND_FIELD: Field = field("kind", KIND, "Its kind").required();
/// A required `name`.
pub(super) const NAME_FIELD: Field = field("name", NAME, "Its name").required();
/// A namespace; defaults to the object's own.
pub(super) const NAMESPACE_FIELD: Field = field("namespace", NAMESPACE, "Its namespace; that of this object unless set");

/// An object in the same namespace.
pub(super) const LOCAL_REFERENCE: Schema = object![GROUP_FIELD, KIND_FIELD, NAME_FIELD];
/// An object in any namespace.
pub(super) const REFERENCE: Schema = object![GROUP_FIELD, KIND_FIELD, NAME_FIELD, NAMESPACE_FIELD];
/// A Secret by default.
pub(super) const SECRET_REFERENCE: Schema = object![
    field("group", GROUP.default(Literal::Str("")), "The group of its kind; empty for Kubernetes' own"),
    field("kind", KIND.default(Literal::Str("Secret")), "Its kind"),
    NAME_FIELD,
    NAMESPACE_FIELD,
];

/// `hostnames` of a route.
pub(super) const HOSTNAMES: Field = field("hostnames", array(&HOSTNAME).at_most(16), "The hosts of the requests; all of the listener unless set");

/// `parentRefs` of a route.
pub(super) const PARENTS: Field =
    field("parentRefs", array(&PARENT).at_most(32).rules(PARENT_RULES), "The Gateways, or single listeners of them, that it belongs to");
const PARENT: Schema = object![
    field("group", GROUP.default(Literal::Str(super::GROUP)), "The group of its kind"),
    field("kind", KIND.default(Literal::Str("Gateway")), "Its kind"),
    NAME_FIELD,
    NAMESPACE_FIELD,
    field("port", PORT, "Only its listeners with this port"),
    field("sectionName", SECTION, "Only its listener of this name"),
];
const PARENT_RULES: &[Rule] = &[
    rule(
        "self.all(p1, self.all(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && (((!has(p1.__namespace__) || p1.__namespace__ == '') && (!has(p2.__namespace__) || p2.__namespace__ == '')) || (has(p1.__namespace__) && has(p2.__namespace__) && p1.__namespace__ == p2.__namespace__)) ? ((!has(p1.sectionName) || p1.sectionName == '') == (!has(p2.sectionName) || p2.sectionName == '') && (!has(p1.port) || p1.port == 0) == (!has(p2.port) || p2.port == 0)): true))",
        "sectionName or port must be specified when parentRefs includes 2 or more references to the same parent",
    ),
    rule(
        "self.all(p1, self.exists_one(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && (((!has(p1.__namespace__) || p1.__namespace__ == '') && (!has(p2.__namespace__) || p2.__namespace__ == '')) || (has(p1.__namespace__) && has(p2.__namespace__) && p1.__namespace__ == p2.__namespace__ )) && (((!has(p1.sectionName) || p1.sectionName == '') && (!has(p2.sectionName) || p2.sectionName == '')) || ( has(p1.sectionName) && has(p2.sectionName) && p1.sectionName == p2.sectionName)) && (((!has(p1.port) || p1.port == 0) && (!has(p2.port) || p2.port == 0)) || (has(p1.port) && has(p2.port) && p1.port == p2.port))))",
        "sectionName or port must be unique when parentRefs includes 2 or more references to the same parent",
    ),
];

/// `group` of a backend.
pub(super) const BACKEND_GROUP: Field = field("group", GROUP.default(Literal::Str("")), "The group of its kind; empty for Kubernetes' own");
/// `kind` of a backend.
pub(super) const BACKEND_KIND: Field = field("kind", KIND.default(Literal::Str("Service")), "Its kind");
/// `port` of a backend.
pub(super) const BACKEND_PORT: Field = field("port", PORT, "Its port; a Service needs one");
/// `weight` of a backend.
pub(super) const BACKEND_WEIGHT: Field =
    field("weight", INTEGER.int32().between(0, 1_000_000).default(Literal::Int(1)), "Its share, compared with the others; 0 for none");
pub(super) const BACKEND_RULES: &[Rule] =
    &[rule("(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true", "Must have port for Service reference")];
/// The target of connections.
pub(super) const BACKEND: Schema =
    object![BACKEND_GROUP, BACKEND_KIND, NAME_FIELD, NAMESPACE_FIELD, BACKEND_PORT, BACKEND_WEIGHT].rules(BACKEND_RULES);

/// `name` of a rule.
pub(super) const RULE_NAME: Field = field("name", SECTION, "Its name");
/// Rules have different names.
pub(super) const RULE_NAMES: Rule =
    rule("self.all(l1, !has(l1.name) || self.exists_one(l2, has(l2.name) && l1.name == l2.name))", "Rule name must be unique within the route");

/// `sessionPersistence` of a rule.
pub(super) const SESSION: Field = field(
    "sessionPersistence",
    object![
        field("absoluteTimeout", DURATION, "After which time a session ends"),
        field(
            "cookieConfig",
            object![field(
                "lifetimeType",
                one_of(&["Permanent", "Session"]).default(Literal::Str("Session")),
                "Whether the cookie outlives the browser's session"
            )],
            "How the cookie is set"
        ),
        field("idleTimeout", DURATION, "After which time without requests a session ends"),
        field("sessionName", STRING.at_most(128), "The name of the cookie or header"),
        field("type", one_of(&["Cookie", "Header"]).default(Literal::Str("Cookie")), "Whether a cookie or a header carries it"),
    ]
    .rules(&[rule(
        "!has(self.cookieConfig) || !has(self.cookieConfig.lifetimeType) || self.cookieConfig.lifetimeType != 'Permanent' || has(self.absoluteTimeout)",
        "AbsoluteTimeout must be specified when cookie lifetimeType is Permanent",
    )]),
    "Keeps a client at one endpoint",
);
