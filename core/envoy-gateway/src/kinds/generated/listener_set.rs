// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{GROUP_2, KIND_3, LISTENERS_ITEM, NAMESPACE};
use chancery_base::object;
use chancery_base::schema::{STRING, Schema, array, field, rule};

pub const LISTENERS_2: Schema = array(&LISTENERS_ITEM).at_least(1).at_most(64).keyed_by(&["name"]).rules(&[
    rule("self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)", "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']"),
    rule("self.all(l, (l.protocol == 'HTTPS' && has(l.tls)) ? (l.tls.mode == '' || l.tls.mode == 'Terminate') : true)", "tls mode must be Terminate for protocol HTTPS"),
    rule("self.all(l, (l.protocol == 'TLS' ? has(l.tls) && has(l.tls.mode) && l.tls.mode != '' : true))", "tls mode must be set for protocol TLS"),
    rule("self.all(l, l.protocol in ['TCP', 'UDP']  ? (!has(l.hostname) || l.hostname == '') : true)", "hostname must not be specified for protocols ['TCP', 'UDP']"),
    rule("self.all(l1, self.exists_one(l2, l1.name == l2.name))", "Listener name must be unique within the Gateway"),
    rule("self.all(l1, !has(l1.port) || self.exists_one(l2, has(l2.port) && l1.port == l2.port && l1.protocol == l2.protocol && (has(l1.hostname) && has(l2.hostname) ? l1.hostname == l2.hostname : !has(l1.hostname) && !has(l2.hostname))))", "Combination of port, protocol and hostname must be unique for each listener"),
]);
pub const PARENT_REF: Schema = object![
    field("group", GROUP_2, ""),
    field("kind", KIND_3, ""),
    field("name", STRING.at_least(1).at_most(253), "").required(),
    field("namespace", NAMESPACE, ""),
];
pub const SPEC_LISTENER_SET: Schema = object![field("listeners", LISTENERS_2, "").required(), field("parentRef", PARENT_REF, "").required(),];
