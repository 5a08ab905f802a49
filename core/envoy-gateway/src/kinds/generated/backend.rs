// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{CERTIFICATE_REFS_ITEM, FINGERPRINTS_ITEM, MAX_VERSION, NAME, PARAMETERS_REF_2, WELL_KNOWN_CACERTIFICATES};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, INTEGER, Literal, STRING, Schema, array, field, one_of, rule};

pub const APP_PROTOCOLS_ITEM: Schema = one_of(&["gateway.envoyproxy.io/h2c", "gateway.envoyproxy.io/ws", "gateway.envoyproxy.io/wss"]);
pub const HOSTNAME_2: Schema = STRING.like(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\.?$").at_least(1).at_most(253);
pub const FQDN: Schema = object![field("hostname", HOSTNAME_2, "").required(), field("port", INTEGER.int32().between(0, 65535), "").required(),];
pub const ADDRESS: Schema = STRING.like(r"^((25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$|^(([0-9a-fA-F]{1,4}:){1,7}[0-9a-fA-F]{1,4}|::|(([0-9a-fA-F]{1,4}:){0,5})?(:[0-9a-fA-F]{1,4}){1,2})$").at_least(3).at_most(45);
pub const IP: Schema = object![field("address", ADDRESS, "").required(), field("port", INTEGER.int32().between(0, 65535), "").required(),];
pub const PATH_4: Schema = STRING.rules(&[rule("size(self) <= 108", "unix domain socket path must not exceed 108 characters")]);
pub const UNIX: Schema = object![field("path", PATH_4, "").required(),];
pub const ENDPOINTS_ITEM: Schema = object![
    field("fqdn", FQDN, ""),
    field("hostname", NAME, ""),
    field("ip", IP, ""),
    field("unix", UNIX, ""),
    field("zone", STRING, ""),
].rules(&[
    rule("(has(self.fqdn) || has(self.ip) || has(self.unix))", "one of fqdn, ip or unix must be specified"),
    rule("((has(self.fqdn) && !(has(self.ip) || has(self.unix))) || (has(self.ip) && !(has(self.fqdn) || has(self.unix))) || (has(self.unix) && !(has(self.ip) || has(self.fqdn))))", "only one of fqdn, ip or unix can be specified"),
]);
pub const ENDPOINTS: Schema = array(&ENDPOINTS_ITEM)
    .at_least(1)
    .at_most(256)
    .rules(&[rule("self.all(f, has(f.fqdn)) || !self.exists(f, has(f.fqdn))", "fqdn addresses cannot be mixed with other address types")]);
pub const TLS_3: Schema = object![
    field("alpnProtocols", array(&STRING), ""),
    field("autoSNIFromEndpointHostname", BOOLEAN, ""),
    field("caCertificateRefs", array(&PARAMETERS_REF_2).at_most(8), ""),
    field("ciphers", array(&STRING), ""),
    field("clientCertificateRef", CERTIFICATE_REFS_ITEM, ""),
    field("ecdhCurves", array(&STRING), ""),
    field("fingerprints", array(&FINGERPRINTS_ITEM), ""),
    field("insecureSkipVerify", BOOLEAN.default(Literal::Bool(false)), ""),
    field("maxVersion", MAX_VERSION, ""),
    field("minVersion", MAX_VERSION, ""),
    field("signatureAlgorithms", array(&STRING), ""),
    field("sni", NAME, ""),
    field("wellKnownCACertificates", WELL_KNOWN_CACERTIFICATES, ""),
].rules(&[
    rule(r#"!(has(self.caCertificateRefs) && size(self.caCertificateRefs) > 0 && has(self.wellKnownCACertificates) && self.wellKnownCACertificates != "")"#, "must not contain both CACertificateRefs and WellKnownCACertificates"),
    rule(r#"!((has(self.insecureSkipVerify) && self.insecureSkipVerify) && ((has(self.caCertificateRefs) && size(self.caCertificateRefs) > 0) || (has(self.wellKnownCACertificates) && self.wellKnownCACertificates != "")))"#, "must not contain either CACertificateRefs or WellKnownCACertificates when InsecureSkipVerify is enabled"),
    rule("!(has(self.sni) && has(self.autoSNIFromEndpointHostname) && self.autoSNIFromEndpointHostname)", "sni and autoSNIFromEndpointHostname are mutually exclusive"),
    rule("has(self.minVersion) && self.minVersion == '1.3' ? !has(self.ciphers) : true", "setting ciphers has no effect if the minimum possible TLS version is 1.3"),
    rule(r#"has(self.minVersion) && has(self.maxVersion) ? {"Auto":0,"1.0":1,"1.1":2,"1.2":3,"1.3":4}[self.minVersion] <= {"1.0":1,"1.1":2,"1.2":3,"1.3":4,"Auto":5}[self.maxVersion] : !has(self.minVersion) && has(self.maxVersion) ? 3 <= {"1.0":1,"1.1":2,"1.2":3,"1.3":4,"Auto":5}[self.maxVersion] : true"#, "minVersion must be smaller or equal to maxVersion"),
]);
pub const TYPE_8: Schema = one_of(&["Endpoints", "DynamicResolver"]).default(Literal::Str("Endpoints"));
pub const SPEC_BACKEND: Schema = object![
    field("appProtocols", array(&APP_PROTOCOLS_ITEM), ""),
    field("endpoints", ENDPOINTS, ""),
    field("fallback", BOOLEAN, ""),
    field("tls", TLS_3, ""),
    field("type", TYPE_8, ""),
].rules(&[
    rule("self.type != 'DynamicResolver' || !has(self.endpoints)", "DynamicResolver type cannot have endpoints specified"),
    rule("self.type != 'DynamicResolver' || !has(self.tls) || !(has(self.tls.autoSNIFromEndpointHostname) && self.tls.autoSNIFromEndpointHostname)", "DynamicResolver type cannot use autoSNIFromEndpointHostname"),
    rule("!has(self.tls) || !(has(self.tls.autoSNIFromEndpointHostname) && self.tls.autoSNIFromEndpointHostname) || self.endpoints.all(e, (!has(e.ip) && !has(e.unix)) || has(e.hostname))", "when autoSNIFromEndpointHostname is enabled, IP and Unix endpoints must define a hostname"),
]);
