//! Lowers TLS for both sides, with references to certificates (Contour `internal/envoy/v3/auth.go`). Does not validate certificates; see
//! `material`.

use super::{Lowering, name, setting};
use crate::model::{Material, MaterialKind, PeerValidation, SecureVirtualHost};
use crate::source::Source;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::ir::{
    Certificate, CertificateSource, Delivery, DownstreamTls, Holder, PublicMaterial, SecretPart, SecretReference, TlsParameters, TlsVersion,
    UpstreamTls, ValidationContext,
};
use chancery_base::resource::{Also, Origin, Rule, Sourced};
use chancery_kubernetes::pem;
use chancery_text::Str;

/// The objects that hold certificate data, by content: of several with the same content, the alphabetically first one is used.
pub(super) struct Materials<'a>(BTreeMap<&'a [u8], SecretReference>);

impl<'a> Materials<'a> {
    pub(super) fn new(source: &'a Source<'_>) -> Self {
        let mut all: BTreeMap<&'a [u8], SecretReference> = BTreeMap::new();
        for material in source.config_maps.values().chain(source.secrets.values()).filter(|material| !material.assumed) {
            for (key, value) in &material.data {
                let reference = own_reference(material, key);
                let first = all.entry(value.expose()).or_insert_with(|| reference.clone());
                if order(&reference) < order(first) {
                    *first = reference;
                }
            }
        }
        Self(all)
    }

    /// The reference to a value of a material.
    pub(super) fn reference(&self, material: &Material, key: &str) -> SecretReference {
        self.0.get(material.get(key)).cloned().unwrap_or_else(|| own_reference(material, key))
    }
}

/// ConfigMaps before Secrets, then by name.
fn order(reference: &SecretReference) -> (bool, &Str, &Str, &SecretPart) {
    (reference.holder == Holder::Secret, &reference.namespace, &reference.name, &reference.part)
}

fn own_reference(material: &Material, key: &str) -> SecretReference {
    SecretReference {
        holder: match material.kind {
            MaterialKind::Secret => Holder::Secret,
            MaterialKind::ConfigMap => Holder::ConfigMap,
        },
        namespace: material.namespace.clone(),
        name: material.name.clone(),
        part: match key {
            "tls.crt" => SecretPart::Certificate,
            "tls.key" => SecretPart::PrivateKey,
            key => SecretPart::Key(key.into()),
        },
    }
}

/// A certificate as SDS serves it.
pub(super) fn certificate(material: &Sourced<Arc<Material>>) -> Sourced<Certificate> {
    named_certificate(material, &Also::default())
}

/// The same, with further origins of the name.
fn named_certificate(material: &Sourced<Arc<Material>>, also: &Also) -> Sourced<Certificate> {
    let part = |key: &str| Some(Sourced::new(CertificateSource::Secret(own_reference(material, key)), material.origin));
    let certificate =
        Certificate { delivery: Delivery::Named(name::secret(material)), chain: part("tls.crt"), key: part("tls.key"), also: also.clone() };
    Sourced::new(certificate, material.origin)
}

/// A TLS version by Contour's name for it.
pub(super) fn version(text: &str) -> Option<TlsVersion> {
    match text {
        "1.2" => Some(TlsVersion::V1_2),
        "1.3" => Some(TlsVersion::V1_3),
        _ => None,
    }
}

impl Lowering<'_> {
    /// The lowest and the highest version that Contour's configuration allows.
    fn versions(&self) -> (Sourced<TlsVersion>, Sourced<TlsVersion>) {
        let of = |path: &str, default: TlsVersion| {
            let at = self.at(path);
            setting(version(at.str()).unwrap_or(default), at)
        };
        (of("envoy.listener.tls.minimumProtocolVersion", TlsVersion::V1_2), of("envoy.listener.tls.maximumProtocolVersion", TlsVersion::V1_3))
    }

    /// TLS towards clients of a host: the stricter of the host's and Contour's versions.
    pub(super) fn host_tls(&self, host: &SecureVirtualHost, alpn: &[Sourced<Str>]) -> Option<Sourced<DownstreamTls>> {
        let (least, most) = self.versions();
        let own = |text: &Option<Sourced<Str>>| text.as_ref().and_then(|text| Some(Sourced::new(version(&text.value)?, text.origin)));
        let minimum = own(&host.min_tls).filter(|own| own.value > least.value).unwrap_or(least);
        let maximum = own(&host.max_tls).filter(|own| own.value < most.value).unwrap_or(most);
        let secret = host.secret.as_ref()?;
        let mut made = self.downstream(secret, minimum, maximum, host.client_validation.as_ref(), alpn);
        made.certificates = vec![named_certificate(secret, &host.secret_also)];
        Some(Sourced::new(made, secret.origin))
    }

    /// TLS towards clients that send no server name.
    pub(super) fn fallback_tls(&self, host: &SecureVirtualHost, alpn: &[Sourced<Str>]) -> Option<Sourced<DownstreamTls>> {
        let (minimum, maximum) = self.versions();
        let secret = host.fallback.as_ref()?;
        Some(Sourced::new(self.downstream(secret, minimum, maximum, host.client_validation.as_ref(), alpn), secret.origin))
    }

    fn downstream(
        &self,
        secret: &Sourced<Arc<Material>>,
        minimum: Sourced<TlsVersion>,
        maximum: Sourced<TlsVersion>,
        validation: Option<&Sourced<PeerValidation>>,
        alpn: &[Sourced<Str>],
    ) -> DownstreamTls {
        let unique = |path: &str| {
            let mut values: Vec<Sourced<Str>> = Vec::new();
            for item in self.at(path).items() {
                let value = setting(Str::new(item.str()), item);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            values
        };
        DownstreamTls {
            certificates: vec![certificate(secret)],
            validation: validation.map(|of| Sourced::new(self.validation(of, Peer::Client), of.origin)),
            require_client_certificate: validation.map(|of| Sourced::new(!of.optional.value, of.optional.origin)),
            parameters: TlsParameters {
                minimum: Some(minimum),
                maximum: Some(maximum),
                cipher_suites: unique("envoy.listener.tls.cipherSuites"),
                ecdh_curves: unique("envoy.listener.tls.ecdhCurves"),
            },
            alpn: alpn.to_vec(),
        }
    }

    /// TLS towards an upstream. Its certificate is only verified if both a CA and a name are given.
    pub(super) fn upstream_tls(
        &self,
        validation: Option<&Sourced<PeerValidation>>,
        sni: &Sourced<Str>,
        client_certificate: Option<&Sourced<Arc<Material>>>,
        parameters: Option<&crate::model::UpstreamTls>,
        alpn: Option<Sourced<Str>>,
    ) -> UpstreamTls {
        let checked = validation.filter(|of| has_authority(of) && !of.subject_names.is_empty());
        let own = |text: &Sourced<Str>| Some(Sourced::new(version(&text.value)?, text.origin));
        UpstreamTls {
            certificates: client_certificate.map(certificate).into_iter().collect(),
            validation: checked.map(|of| Sourced::new(self.validation(of, Peer::Upstream), of.origin)),
            parameters: parameters
                .map(|of| TlsParameters {
                    minimum: own(&of.min),
                    maximum: own(&of.max),
                    cipher_suites: of.ciphers.clone(),
                    ecdh_curves: of.curves.clone(),
                })
                .unwrap_or_default(),
            alpn: alpn.into_iter().collect(),
            sni: Some(sni.clone()).filter(|sni| !sni.value.is_empty()),
        }
    }

    fn validation(&self, of: &PeerValidation, peer: Peer) -> ValidationContext {
        let references: Vec<SecretReference> =
            of.ca.iter().filter(|ca| !ca.get("ca.crt").is_empty()).map(|ca| self.materials.reference(ca, "ca.crt")).collect();
        let origin: Option<Origin> = of.ca.first().and_then(|ca| ca.origin);
        let trusted_ca = match <[SecretReference; 1]>::try_from(references) {
            Ok([one]) => Some(CertificateSource::Secret(one)),
            Err(none) if none.is_empty() => None,
            Err(several) => Some(CertificateSource::Several(several)),
        };
        let trusted_ca = trusted_ca.map(|source| Sourced::new(source, origin));
        let known = |all: &mut dyn Iterator<Item = &[u8]>| all.map(pem::public).collect::<Option<Vec<String>>>().map(|all| Str::from(all.concat()));
        let authorities = known(&mut of.ca.iter().map(|ca| ca.get("ca.crt")).filter(|ca| !ca.is_empty()));
        let public = PublicMaterial { authorities, revoked: None };
        let plain = ValidationContext { delivery: Delivery::Inline, trusted_ca, public, ..ValidationContext::default() };
        match peer {
            Peer::Upstream => ValidationContext { subject_names: of.subject_names.clone(), ..plain },
            Peer::Client => {
                let crl = of.crl.as_ref().filter(|crl| !crl.get("crl.pem").is_empty());
                let revoked = crl.and_then(|crl| pem::public(crl.get("crl.pem"))).map(Str::from);
                ValidationContext {
                    public: PublicMaterial { revoked, ..plain.public.clone() },
                    crl: crl.map(|crl| Sourced::new(CertificateSource::Secret(self.materials.reference(crl, "crl.pem")), crl.origin)),
                    only_leaf_crl: crl.map(|_| of.only_leaf_crl).filter(|only| only.value),
                    accept_untrusted: Some(of.skip).filter(|skip| skip.value),
                    ..plain
                }
            }
        }
    }

    /// The protocols that TLS hosts offer.
    pub(super) fn alpn(&self) -> Vec<Sourced<Str>> {
        let at = self.at("envoy.defaultHTTPVersions");
        let wants = |version: &str| at.items().any(|item| item.str() == version);
        let all = !wants("HTTP/1.1") && !wants("HTTP/2");
        let origin = super::setting_origin(at);
        let offered = [("h2", wants("HTTP/2") || all), ("http/1.1", wants("HTTP/1.1") || all)];
        let offered = offered.into_iter().filter(|(_, offered)| *offered);
        offered.map(|(name, _)| Sourced::new(Str::new_static(name), origin)).collect()
    }
}

/// Who shows the certificate.
#[derive(Clone, Copy)]
enum Peer {
    Client,
    Upstream,
}

fn has_authority(of: &PeerValidation) -> bool {
    of.ca.iter().any(|ca| !ca.get("ca.crt").is_empty())
}

/// The protocol that accompanies `h2`.
pub(super) fn h2(protocol: &Sourced<Str>) -> Sourced<Str> {
    Sourced::new(Str::new_static("h2"), protocol.origin.map(|origin| origin.by(Rule::Derived)))
}
