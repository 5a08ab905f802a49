//! Emits TLS: `DownstreamTlsContext` and `UpstreamTlsContext`, and their transport sockets.
//!
//! Certificates are requested over SDS; see `secret` for their names. If the host provides the data of all Secrets, they are inline instead.

use super::base::{config_source, data, file, inline, own_stream, strings, text};
use super::secret::{SecretContent, content, placeholders};
use super::{Context, pb};
use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use chancery_base::ir::{
    Certificate, CertificateSource, ConfigSource, Delivery, DownstreamTls, SocketProtocol, TlsParameters, TlsVersion, UpstreamTls, ValidationContext,
};
use chancery_base::output_map::Trace;
use chancery_base::resource::Sourced;
use chancery_text::Str;
use pb::Any;
use pb::tls::common_tls_context::{CombinedCertificateValidationContext, ValidationContextType};

const TLS_SOCKET: &str = "envoy.transport_sockets.tls";
const QUIC_SOCKET: &str = "envoy.transport_sockets.quic";

pub(super) fn downstream_socket(tls: &DownstreamTls, protocol: SocketProtocol, cx: &Context<'_>, t: &mut Trace) -> pb::base::TransportSocket {
    t.at("typed_config", |t| match protocol {
        SocketProtocol::Tcp => socket(TLS_SOCKET, Any::pack(downstream(tls, cx, t))),
        SocketProtocol::Udp => {
            let context = t.at("downstream_tls_context", |t| downstream(tls, cx, t));
            socket(QUIC_SOCKET, Any::pack(pb::quic::QuicDownstreamTransport { downstream_tls_context: Some(context), ..Default::default() }))
        }
    })
}

pub(super) fn upstream_socket(tls: &UpstreamTls, cx: &Context<'_>, t: &mut Trace) -> pb::base::TransportSocket {
    t.at("typed_config", |t| {
        let context = pb::tls::UpstreamTlsContext {
            common_tls_context: Some(
                t.at("common_tls_context", |t| common(&tls.certificates, tls.validation.as_ref(), &tls.parameters, &tls.alpn, cx.server, cx, t)),
            ),
            sni: t.optional("sni", &tls.sni).map(text).unwrap_or_default(),
            ..Default::default()
        };
        socket(TLS_SOCKET, Any::pack(context))
    })
}

fn socket(name: &str, config: Any) -> pb::base::TransportSocket {
    pb::base::TransportSocket { name: name.to_owned(), config_type: Some(pb::base::transport_socket::ConfigType::TypedConfig(config)) }
}

fn downstream(tls: &DownstreamTls, cx: &Context<'_>, t: &mut Trace) -> pb::tls::DownstreamTlsContext {
    pb::tls::DownstreamTlsContext {
        common_tls_context: Some(
            t.at("common_tls_context", |t| common(&tls.certificates, tls.validation.as_ref(), &tls.parameters, &tls.alpn, None, cx, t)),
        ),
        require_client_certificate: t.optional("require_client_certificate", &tls.require_client_certificate).copied(),
        ..Default::default()
    }
}

fn common(
    certificates: &[Sourced<Certificate>],
    validation: Option<&Sourced<ValidationContext>>,
    parameters: &TlsParameters,
    alpn: &[Sourced<Str>],
    server: Option<&Str>,
    cx: &Context<'_>,
    t: &mut Trace,
) -> pb::tls::CommonTlsContext {
    let (by_name, inline): (Vec<_>, Vec<_>) =
        certificates.iter().partition(|certificate| SecretContent::certificate(certificate).is_some_and(|held| !cx.gives(&held)));
    pb::tls::CommonTlsContext {
        tls_params: (!parameters.is_empty()).then(|| t.at("tls_params", |t| tls_parameters(parameters, t))),
        tls_certificates: t.list("tls_certificates", inline, |certificate, t| {
            t.here(certificate.origin);
            tls_certificate(certificate, cx, t)
        }),
        tls_certificate_sds_secret_configs: t.list("tls_certificate_sds_secret_configs", by_name, |certificate, t| {
            t.here(certificate.origin);
            if let Some(chain) = &certificate.chain {
                t.joined("name", chain, &certificate.also);
            }
            SecretContent::certificate(certificate).map(|held| sds(&held, server, cx)).unwrap_or_default()
        }),
        alpn_protocols: strings("alpn_protocols", alpn, t),
        validation_context_type: validation.and_then(|of| validation_context(of, server, cx, t)),
        ..Default::default()
    }
}

fn sds(held: &SecretContent<'_>, server: Option<&Str>, cx: &Context<'_>) -> pb::tls::SdsSecretConfig {
    let config = server.filter(|_| *cx.source == ConfigSource::Aggregated).map(|server| own_stream(server, None));
    pb::tls::SdsSecretConfig { name: held.name(), sds_config: Some(config.unwrap_or_else(|| config_source(cx))) }
}

fn tls_parameters(parameters: &TlsParameters, t: &mut Trace) -> pb::tls::TlsParameters {
    pb::tls::TlsParameters {
        tls_minimum_protocol_version: t.optional("tls_minimum_protocol_version", &parameters.minimum).map(|of| version(*of)).unwrap_or_default(),
        tls_maximum_protocol_version: t.optional("tls_maximum_protocol_version", &parameters.maximum).map(|of| version(*of)).unwrap_or_default(),
        cipher_suites: strings("cipher_suites", &parameters.cipher_suites, t),
        ecdh_curves: strings("ecdh_curves", &parameters.ecdh_curves, t),
        ..Default::default()
    }
}

fn version(version: TlsVersion) -> i32 {
    use pb::tls::tls_parameters::TlsProtocol;
    (match version {
        TlsVersion::V1_0 => TlsProtocol::TlSv10,
        TlsVersion::V1_1 => TlsProtocol::TlSv11,
        TlsVersion::V1_2 => TlsProtocol::TlSv12,
        TlsVersion::V1_3 => TlsProtocol::TlSv13,
    }) as i32
}

/// Returns the content if the host provides it, a file that the proxy can read, or a placeholder string.
fn source(source: &CertificateSource, delivery: &Delivery, cx: &Context<'_>) -> pb::base::DataSource {
    match source {
        CertificateSource::File(path) => file(path),
        CertificateSource::Secret(_) | CertificateSource::Several(_) => match content(source.references(), cx.secrets) {
            Some(content) => data(content),
            None if *delivery == Delivery::Inline => inline(&placeholders(source.references())),
            None => file(&placeholders(source.references())),
        },
    }
}

/// Public content is inline in a bootstrap, since Envoy would reject a placeholder. Resources contain placeholders.
fn public(known: Option<&Str>, from: &CertificateSource, delivery: &Delivery, cx: &Context<'_>) -> pb::base::DataSource {
    match known.filter(|_| cx.in_bootstrap && cx.secrets.is_none() && *delivery == Delivery::Inline) {
        Some(known) => inline(known),
        None => source(from, delivery, cx),
    }
}

fn tls_certificate(certificate: &Certificate, cx: &Context<'_>, t: &mut Trace) -> pb::tls::TlsCertificate {
    pb::tls::TlsCertificate {
        certificate_chain: t.optional("certificate_chain", &certificate.chain).map(|of| source(of, &certificate.delivery, cx)),
        private_key: t.optional("private_key", &certificate.key).map(|of| source(of, &certificate.delivery, cx)),
        ..Default::default()
    }
}

/// Revocation lists are served together with their CA. For Secrets, the SDS resource contains both and overrides the defaults here, which only
/// document them: Envoy reads them when the resource arrives.
fn validation_context(of: &Sourced<ValidationContext>, server: Option<&Str>, cx: &Context<'_>, t: &mut Trace) -> Option<ValidationContextType> {
    let held = SecretContent::validation(of).filter(|held| !cx.gives(held));
    match held {
        None if of.delivery != Delivery::Inline && of.trusted_ca.is_none() => None,
        None => Some(ValidationContextType::ValidationContext(t.at("validation_context", |t| {
            t.here(of.origin);
            plain_context(of, cx, t)
        }))),
        Some(held) if of.crl.is_none() && of.subject_names.is_empty() && of.accept_untrusted.is_none() => {
            t.at("validation_context_sds_secret_config", |t| {
                t.here(of.origin);
                t.optional("name", &of.trusted_ca);
            });
            Some(ValidationContextType::ValidationContextSdsSecretConfig(sds(&held, server, cx)))
        }
        Some(held) => Some(ValidationContextType::CombinedValidationContext(t.at("combined_validation_context", |t| {
            t.here(of.origin);
            t.at("validation_context_sds_secret_config", |t| t.optional("name", &of.trusted_ca));
            CombinedCertificateValidationContext {
                // The CA is named for readers; the served secret overrides it.
                default_validation_context: Some(t.at("default_validation_context", |t| plain_context(of, cx, t))),
                validation_context_sds_secret_config: Some(sds(&held, server, cx)),
                ..Default::default()
            }
        }))),
    }
}

fn plain_context(of: &ValidationContext, cx: &Context<'_>, t: &mut Trace) -> pb::tls::CertificateValidationContext {
    use pb::tls::certificate_validation_context::TrustChainVerification;
    let untrusted = of.accept_untrusted.as_ref().is_some_and(|accept| *t.implicit("trust_chain_verification", accept));
    pb::tls::CertificateValidationContext {
        trusted_ca: t.optional("trusted_ca", &of.trusted_ca).map(|ca| public(of.public.authorities.as_ref(), ca, &of.delivery, cx)),
        crl: t.optional("crl", &of.crl).map(|crl| public(of.public.revoked.as_ref(), crl, &of.delivery, cx)),
        only_verify_leaf_cert_crl: of.only_leaf_crl.as_ref().is_some_and(|only| *t.implicit("only_verify_leaf_cert_crl", only)),
        match_typed_subject_alt_names: t.sourced_list("match_typed_subject_alt_names", &of.subject_names, |name, _| subject_name(name)),
        trust_chain_verification: if untrusted { TrustChainVerification::AcceptUntrusted } else { TrustChainVerification::VerifyTrustChain } as i32,
        ..Default::default()
    }
}

fn subject_name(name: &Str) -> pb::tls::SubjectAltNameMatcher {
    use pb::matcher::{StringMatcher, string_matcher::MatchPattern};
    pb::tls::SubjectAltNameMatcher {
        san_type: pb::tls::subject_alt_name_matcher::SanType::Dns as i32,
        matcher: Some(StringMatcher { match_pattern: Some(MatchPattern::Exact(text(name))), ..Default::default() }),
        ..Default::default()
    }
}
