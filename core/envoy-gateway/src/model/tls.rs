//! Holds TLS towards clients and towards backends.
//!
//! Key material is named, not held: `secret:NS/NAME/KEY`, `configmap:NS/NAME/KEY`, and several joined by `+`.

use super::StringMatch;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// A server that hands out certificates.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sds {
    pub(crate) secret_name: Sourced<Str>,
    /// Empty if the address has none.
    pub(crate) scheme: Str,
    /// Host and port, or the path of a Unix domain socket.
    pub(crate) address: Sourced<Str>,
}

/// A certificate with its key.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Certificate {
    /// `NS/NAME`
    pub(crate) name: Str,
    pub(crate) sds: Option<Sds>,
    pub(crate) certificate: Tree,
    pub(crate) private_key: Tree,
    /// `Tree::NULL` if there is none.
    pub(crate) ocsp_staple: Tree,
    /// The reference to the Secret.
    pub(crate) origin: Option<Origin>,
    /// The Secret is not in the input.
    pub(crate) is_assumed: bool,
}

/// Certificates that vouch for others.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CaCertificate {
    pub(crate) name: Str,
    pub(crate) certificate: Tree,
    pub(crate) sds: Option<Sds>,
    pub(crate) origin: Option<Origin>,
}

/// Certificates that are revoked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Crl {
    pub(crate) name: Str,
    pub(crate) data: Tree,
    pub(crate) only_verify_leaf: bool,
}

/// Settings of TLS. For a listener, those that a ClientTrafficPolicy may change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TlsSettings {
    pub(crate) certificates: Vec<Certificate>,
    /// What Envoy shows to backends.
    pub(crate) client_certificates: Vec<Certificate>,
    pub(crate) ca: Option<CaCertificate>,
    pub(crate) require_client_certificate: Tree,
    pub(crate) client_validation: bool,
    pub(crate) accept_untrusted: Tree,
    pub(crate) allow_expired_certificate: Tree,
    pub(crate) spki_hashes: Vec<Tree>,
    pub(crate) certificate_hashes: Vec<Tree>,
    pub(crate) crl: Option<Crl>,
    /// `name` is the type of the name: `URI`, `DNS_NAME`, `IP_ADDRESS`, `EMAIL`, or the object id of another name.
    pub(crate) subject_alt_names: Vec<StringMatch>,
    /// `Auto`, `1.0` ... `1.3`; `Tree::NULL` if unset.
    pub(crate) min_version: Tree,
    pub(crate) max_version: Tree,
    pub(crate) ciphers: Vec<Tree>,
    pub(crate) ecdh_curves: Vec<Tree>,
    pub(crate) signature_algorithms: Vec<Tree>,
    /// `None` if unset; an empty list turns ALPN off.
    pub(crate) alpn: Option<Vec<Tree>>,
    pub(crate) stateless_resumption: bool,
    pub(crate) stateful_resumption: bool,
    /// `JA3`, `JA4`
    pub(crate) fingerprints: Vec<Tree>,
    pub(crate) origin: Option<Origin>,
}

/// A name that a backend's certificate must have. One of the fields is set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SubjectAltName {
    pub(crate) hostname: Tree,
    pub(crate) uri: Tree,
}

/// TLS towards a backend.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UpstreamTls {
    pub(crate) sni: Tree,
    pub(crate) auto_sni_from_endpoint_hostname: bool,
    pub(crate) use_system_trust_store: bool,
    /// Where it says so of the system's trust store or of `insecureSkipVerify`.
    pub(crate) insecure_skip_verify: Tree,
    pub(crate) ca: Option<CaCertificate>,
    pub(crate) settings: TlsSettings,
    pub(crate) subject_alt_names: Vec<SubjectAltName>,
    /// The BackendTLSPolicy or Backend.
    pub(crate) origin: Option<Origin>,
}
