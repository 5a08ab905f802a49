//! TLSContext: certificates and TLS settings, for clients or towards services.
//!
//! Emissary `pkg/api/getambassador.io/{v2,v3alpha1}/crd_tlscontext.go`.

use super::common::{AMBASSADOR_ID, AMBASSADOR_ID_V2, convert_ids, rename};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, Field, INTEGER, STRING, STRINGS, Schema, field, one_of};
use chancery_text::Object;

const VERSION: Schema = one_of(&["v1.0", "v1.1", "v1.2", "v1.3"]);
const HOSTS: Field = field("hosts", STRINGS, "The names that clients ask for; without any, it only serves connections to services").dropped();
const SECRET: Field = field("secret", STRING, "The Secret with certificate and key; `name.namespace` unless secret_namespacing is off").dropped();
const CERT_CHAIN_FILE: Field = field("cert_chain_file", STRING, "A file with the certificate").dropped();
const PRIVATE_KEY_FILE: Field = field("private_key_file", STRING, "A file with its key").dropped();
const CA_SECRET: Field = field("ca_secret", STRING, "The Secret with the CA that verifies the other side").dropped();
const CACERT_CHAIN_FILE: Field = field("cacert_chain_file", STRING, "A file with that CA").dropped();
const CRL: &str = "The Secret with the list of revoked certificates";
const ALPN: Field = field("alpn_protocols", STRING, "Protocols offered by ALPN, e.g. `h2,http/1.1`").dropped();
const CERT_REQUIRED: Field = field("cert_required", BOOLEAN, "Whether clients must show a certificate");
const MIN_VERSION: Field = field("min_tls_version", VERSION, "The oldest TLS version").dropped();
const MAX_VERSION: Field = field("max_tls_version", VERSION, "The newest TLS version").dropped();
const CIPHERS: Field = field("cipher_suites", STRINGS, "Cipher suites for TLS up to 1.2").dropped();
const CURVES: Field = field("ecdh_curves", STRINGS, "Curves for the key exchange").dropped();
const NAMESPACING: Field = field("secret_namespacing", BOOLEAN, "Whether a dot in a Secret's name parts name and namespace");
const REDIRECT_FROM: Field = field("redirect_cleartext_from", INTEGER, "A port whose requests are redirected to HTTPS");
const SNI: Field = field("sni", STRING, "The name sent as SNI to services").dropped();

/// `spec` in v3alpha1.
pub(super) static V3ALPHA1: Schema = object![
    AMBASSADOR_ID,
    HOSTS,
    SECRET,
    CERT_CHAIN_FILE,
    PRIVATE_KEY_FILE,
    CA_SECRET,
    CACERT_CHAIN_FILE,
    field("crl_secret", STRING, CRL).dropped(),
    ALPN,
    CERT_REQUIRED,
    MIN_VERSION,
    MAX_VERSION,
    CIPHERS,
    CURVES,
    NAMESPACING,
    REDIRECT_FROM,
    SNI,
];

/// `spec` in v1 and v2.
pub(super) static V2: Schema = object![
    AMBASSADOR_ID_V2,
    HOSTS,
    SECRET,
    CERT_CHAIN_FILE,
    PRIVATE_KEY_FILE,
    CA_SECRET,
    CACERT_CHAIN_FILE,
    ALPN,
    CERT_REQUIRED,
    MIN_VERSION,
    MAX_VERSION,
    CIPHERS,
    CURVES,
    NAMESPACING,
    REDIRECT_FROM,
    SNI,
    field("v3CRLSecret", STRING, CRL).dropped(),
];

/// v2 -> v3alpha1.
pub(super) fn convert(spec: &mut Object) {
    convert_ids(spec, "ambassador_id");
    rename(spec, "v3CRLSecret", "crl_secret");
}
