//! Host: a host name, its certificate, and its policy for requests without TLS.
//!
//! Emissary `pkg/api/getambassador.io/{v2,v3alpha1}/crd_host.go`. There is no v1.

use super::common::{AMBASSADOR_ID, AMBASSADOR_ID_V2, LABEL_SELECTOR, STRING_OR_STRINGS, convert_ids, rename};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, Field, INTEGER, Literal, STRING, STRINGS, Schema, field, one_of};
use chancery_text::{Node, Object, Value};

const HOSTNAME: Field = field("hostname", STRING, "The name; `*` at either end matches anything, alone every name").dropped();
const ACME: Field = field("acmeProvider", ACME_PROVIDER, "Where certificates come from (ACME, e.g. Let's Encrypt)");
const TLS_SECRET: Field = field("tlsSecret", SECRET_REFERENCE, "The Secret with its certificate and key");
const REQUEST_POLICY: Field = field("requestPolicy", POLICY, "What happens to requests");
const PREVIEW_URL: Field = field("previewUrl", PREVIEW, "Not used by the open-source edition");
const TLS_CONTEXT: Field = field("tlsContext", LOCAL_REFERENCE, "The TLSContext with its TLS settings");

const LOCAL_REFERENCE: Schema = object![field("name", STRING.default(Literal::Str("")), "Its name").dropped()];
const SECRET_REFERENCE: Schema = object![
    field("name", STRING, "Its name; never split at dots").dropped(),
    field("namespace", STRING, "Its namespace; the Host's unless set").dropped(),
];
const ACME_PROVIDER: Schema = object![
    field("authority", STRING, "The ACME server; `none` for certificates that are made elsewhere").dropped(),
    field("email", STRING, "The address that is informed of certificates that expire").dropped(),
    field("privateKeySecret", LOCAL_REFERENCE, "The Secret with the account's private key"),
    field("registration", STRING, "The account's registration; kept by the controller itself").dropped(),
];
const POLICY: Schema = object![
    field(
        "insecure",
        object![
            field("action", one_of(&["Redirect", "Reject", "Route"]), "Redirect to HTTPS, refuse, or route like any other").dropped(),
            field("additionalPort", INTEGER, "Another port whose requests are redirected; not used any more"),
        ],
        "What happens to requests without TLS"
    )
    .always(),
];
const PREVIEW: Schema =
    object![field("enabled", BOOLEAN, "Whether it is on"), field("type", one_of(&["Path"]), "How previews are distinguished").dropped(),];

const CERT_CHAIN_FILE: Field = field("cert_chain_file", STRING, "A file with the certificate").dropped();
const PRIVATE_KEY_FILE: Field = field("private_key_file", STRING, "A file with its key").dropped();
const CA_SECRET: Field = field("ca_secret", STRING, "The Secret with the CA that verifies clients' certificates").dropped();
const CACERT_CHAIN_FILE: Field = field("cacert_chain_file", STRING, "A file with that CA").dropped();
const CRL: &str = "The Secret with the list of revoked certificates";
const ALPN: Field = field("alpn_protocols", STRING, "Protocols offered by ALPN, e.g. `h2,http/1.1`").dropped();
const CERT_REQUIRED: Field = field("cert_required", BOOLEAN, "Whether clients must show a certificate");
const MIN_VERSION: Field = field("min_tls_version", STRING, "The oldest TLS version: `v1.0` to `v1.3`").dropped();
const MAX_VERSION: Field = field("max_tls_version", STRING, "The newest TLS version: `v1.0` to `v1.3`").dropped();
const CIPHERS: Field = field("cipher_suites", STRINGS, "Cipher suites for TLS up to 1.2").dropped();
const CURVES: Field = field("ecdh_curves", STRINGS, "Curves for the key exchange").dropped();
const REDIRECT_FROM: Field = field("redirect_cleartext_from", INTEGER, "A port whose requests are redirected to HTTPS");
const SNI: Field = field("sni", STRING, "The name sent as SNI").dropped();

const TLS: Schema = object![
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
    REDIRECT_FROM,
    SNI,
];
const TLS_V2: Schema = object![
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
    REDIRECT_FROM,
    SNI,
    field("v3CRLSecret", STRING, CRL).dropped(),
];

/// `spec` in v3alpha1.
pub(super) static V3ALPHA1: Schema = object![
    AMBASSADOR_ID,
    HOSTNAME,
    field("selector", LABEL_SELECTOR, "Older form of `mappingSelector`"),
    field("mappingSelector", LABEL_SELECTOR, "Labels of Mappings that belong to this Host, in addition to Mappings with its hostname"),
    ACME,
    TLS_SECRET,
    REQUEST_POLICY,
    PREVIEW_URL,
    TLS_CONTEXT,
    field("tls", TLS, "TLS settings of this Host"),
];

/// `spec` in v2.
pub(super) static V2: Schema = object![
    AMBASSADOR_ID_V2,
    field("ambassadorId", STRING_OR_STRINGS.unserved(), "Older form of `ambassador_id`").dropped(),
    HOSTNAME,
    field("selector", LABEL_SELECTOR, "Labels of Mappings that belong to this Host, in addition to Mappings with its hostname"),
    ACME,
    TLS_SECRET,
    REQUEST_POLICY,
    PREVIEW_URL,
    TLS_CONTEXT,
    field("tls", TLS_V2, "TLS settings of this Host"),
];

/// v2 -> v3alpha1.
pub(super) fn convert(spec: &mut Object) {
    convert_ids(spec, "ambassador_id");
    convert_ids(spec, "ambassadorId");
    if let Some(Node { id, value: Value::Array(older) }) = spec.remove("ambassadorId") {
        match spec.get_mut("ambassador_id") {
            Some(Node { value: Value::Array(ids), .. }) => ids.extend(older),
            _ => {
                spec.insert("ambassador_id", Node { id, value: Value::Array(older) });
            }
        }
    }
    rename(spec, "selector", "mappingSelector");
    if let Some(Node { value: Value::Object(tls), .. }) = spec.get_mut("tls") {
        rename(tls, "v3CRLSecret", "crl_secret");
    }
}
