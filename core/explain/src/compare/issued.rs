//! Handles certificates that the source only names and Envoy has inline, as Consul issues them to running proxies. Neither side defines what the
//! other should have, so they are not compared.
//!
//! Does not handle certificates that both sides name or both have inline.

use super::settled::in_contexts;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use chancery_envoy::config::{EnvoyConfig, Placed};
use chancery_envoy::emit::pb;
use pb::base::TransportSocket;
use pb::cluster::Cluster;
use pb::listener::Listener;
use pb::tls::{CertificateValidationContext, CommonTlsContext, common_tls_context::CombinedCertificateValidationContext};
use pb::tls::{SdsSecretConfig, common_tls_context::ValidationContextType};

/// Replaces Envoy's inline certificates by the source's names, if the source names a certificate that it does not have. Both configurations must be
/// settled. Returns the names.
pub(super) fn by_name(source: &EnvoyConfig, envoy: &mut EnvoyConfig) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let clusters: BTreeMap<&str, &Cluster> = source.clusters.iter().map(|of| (of.message.name.as_str(), &of.message)).collect();
    for Placed { message: theirs, .. } in envoy.clusters.all_mut() {
        let Some(ours) = clusters.get(theirs.name.as_str()) else { continue };
        let matched = ours.transport_socket_matches.iter().zip(&mut theirs.transport_socket_matches);
        let matched = matched.filter_map(|(ours, theirs)| Some((ours.transport_socket.as_ref()?, theirs.transport_socket.as_mut()?)));
        for (ours, theirs) in ours.transport_socket.iter().zip(&mut theirs.transport_socket).chain(matched) {
            socket(ours, theirs, &mut names);
        }
    }
    let listeners: BTreeMap<&str, &Listener> = source.listeners.iter().map(|of| (of.message.name.as_str(), &of.message)).collect();
    for Placed { message: theirs, .. } in &mut envoy.listeners {
        let Some(ours) = listeners.get(theirs.name.as_str()) else { continue };
        for theirs in theirs.filter_chains.iter_mut().chain(&mut theirs.default_filter_chain) {
            let mut chains = ours.filter_chains.iter().chain(&ours.default_filter_chain);
            let Some(ours) = chains.find(|ours| ours.filter_chain_match == theirs.filter_chain_match) else { continue };
            if let (Some(ours), Some(theirs)) = (&ours.transport_socket, &mut theirs.transport_socket) {
                socket(ours, theirs, &mut names);
            }
        }
    }
    names
}

fn socket(ours: &TransportSocket, theirs: &mut TransportSocket, names: &mut BTreeSet<String>) {
    let mut source = None;
    in_contexts(&mut ours.clone(), &mut |context| source = Some(context.clone()));
    let Some(source) = source else { return };
    in_contexts(theirs, &mut |theirs| context(&source, theirs, names));
}

fn context(ours: &CommonTlsContext, theirs: &mut CommonTlsContext, names: &mut BTreeSet<String>) {
    let mut note = |sds: &SdsSecretConfig| _ = names.insert(sds.name.clone());
    let named = &ours.tls_certificate_sds_secret_configs;
    let is_other = ours.tls_certificates.is_empty() && theirs.tls_certificate_sds_secret_configs.is_empty();
    if is_other && !named.is_empty() && named.len() == theirs.tls_certificates.len() {
        named.iter().for_each(&mut note);
        theirs.tls_certificates.clear();
        theirs.tls_certificate_sds_secret_configs.clone_from(named);
    }
    let Some(ValidationContextType::ValidationContext(has)) = &theirs.validation_context_type else { return };
    if has.trusted_ca.is_none() && has.custom_validator_config.is_none() {
        return;
    }
    let rest = CertificateValidationContext { trusted_ca: None, custom_validator_config: None, ..has.clone() };
    let sds = match &ours.validation_context_type {
        Some(ValidationContextType::ValidationContextSdsSecretConfig(sds)) => Some(sds),
        Some(ValidationContextType::CombinedValidationContext(of)) => of.validation_context_sds_secret_config.as_ref(),
        _ => None,
    };
    let Some(sds) = sds else { return };
    note(sds);
    let is_bare = matches!(ours.validation_context_type, Some(ValidationContextType::ValidationContextSdsSecretConfig(_)));
    theirs.validation_context_type = Some(if is_bare && rest == CertificateValidationContext::default() {
        ValidationContextType::ValidationContextSdsSecretConfig(sds.clone())
    } else {
        ValidationContextType::CombinedValidationContext(CombinedCertificateValidationContext {
            default_validation_context: Some(rest),
            validation_context_sds_secret_config: Some(sds.clone()),
            ..CombinedCertificateValidationContext::default()
        })
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use pb::Any;
    use pb::base::{DataSource, data_source::Specifier, transport_socket::ConfigType};
    use pb::tls::{TlsCertificate, UpstreamTlsContext};

    fn side(context: CommonTlsContext) -> EnvoyConfig {
        let tls = UpstreamTlsContext { common_tls_context: Some(context), ..Default::default() };
        let socket = TransportSocket { name: "tls".into(), config_type: Some(ConfigType::TypedConfig(Any::pack(tls))) };
        let cluster = Cluster { name: "api".into(), transport_socket: Some(socket), ..Default::default() };
        EnvoyConfig { clusters: vec![Placed::new(cluster, "/clusters/0")].into(), ..Default::default() }
    }

    fn text(text: &str) -> Option<DataSource> {
        Some(DataSource { specifier: Some(Specifier::InlineString(text.into())), ..Default::default() })
    }

    fn named(name: &str) -> SdsSecretConfig {
        SdsSecretConfig { name: name.into(), ..Default::default() }
    }

    /// Returns a source's context: certificates by name, and the name that the server must have.
    fn of_source(server: &str) -> CommonTlsContext {
        let combined = CombinedCertificateValidationContext {
            default_validation_context: Some(CertificateValidationContext { trust_chain_verification: server.len() as i32, ..Default::default() }),
            validation_context_sds_secret_config: Some(named("roots")),
            ..Default::default()
        };
        CommonTlsContext {
            tls_certificate_sds_secret_configs: vec![named("leaf:web")],
            validation_context_type: Some(ValidationContextType::CombinedValidationContext(combined)),
            ..Default::default()
        }
    }

    /// Returns the same context with inline certificates, as an Envoy reports it.
    fn of_envoy(server: &str) -> CommonTlsContext {
        let context = CertificateValidationContext { trusted_ca: text("CA"), trust_chain_verification: server.len() as i32, ..Default::default() };
        CommonTlsContext {
            tls_certificates: vec![TlsCertificate { certificate_chain: text("CERT"), ..Default::default() }],
            validation_context_type: Some(ValidationContextType::ValidationContext(context)),
            ..Default::default()
        }
    }

    #[test]
    fn only_issued_certificates_are_left_out() {
        let (source, mut same, mut other) = (side(of_source("a")), side(of_envoy("a")), side(of_envoy("bb")));
        let names: Vec<String> = by_name(&source, &mut same).into_iter().collect();
        assert_eq!(names, ["leaf:web", "roots"]);
        assert_eq!(source, same);
        by_name(&source, &mut other);
        assert_ne!(source, other, "other requirements on the server are compared");
    }

    #[test]
    fn inline_certificates_of_both_sides_are_compared() {
        let (source, mut envoy) = (side(of_envoy("a")), side(of_envoy("a")));
        let before = envoy.clone();
        assert!(by_name(&source, &mut envoy).is_empty());
        assert_eq!(envoy, before);
        let (source, mut none) = (side(of_source("a")), side(CommonTlsContext::default()));
        assert!(by_name(&source, &mut none).is_empty(), "an Envoy without certificates differs");
        assert_ne!(source, none);
    }
}
