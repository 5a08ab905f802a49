//! Settles a configuration: moves everything inline, regardless of how Envoy received it. Route tables move into connection managers, endpoints
//! into clusters and certificates into contexts, and the servers that they came from are removed. Two settled configurations are equal, except for
//! names, exactly if they behave the same.
//!
//! Keys are left out on both sides, since an Envoy does not report them. Does not compare.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::config::{EnvoyConfig, Placed, servers_of};
use chancery_envoy::emit::pb::{self, Any};
use pb::base::{ConfigSource, DataSource, TransportSocket, config_source::ConfigSourceSpecifier, data_source::Specifier};
use pb::cluster::{Cluster, cluster::ClusterDiscoveryType, cluster::DiscoveryType, cluster::EdsClusterConfig};
use pb::endpoint::ClusterLoadAssignment;
use pb::hcm::{HttpConnectionManager, http_connection_manager::RouteSpecifier};
use pb::listener::{FilterChain, filter::ConfigType};
use pb::tls::{CertificateValidationContext, CommonTlsContext, TlsCertificate, common_tls_context::ValidationContextType, secret};

/// Settles both sides. Also returns the clusters whose endpoints only one side reports; their endpoints are removed from both.
pub(super) fn both(before: &EnvoyConfig, after: &EnvoyConfig) -> ([EnvoyConfig; 2], Vec<String>) {
    let mut servers = BTreeSet::new();
    let mut both = [before, after].map(|side| settled(side, knows_endpoints(side), &mut servers));
    let uncompared = without_unknown_endpoints(&mut both);
    if both.iter().any(|side| side.settings.is_none()) {
        both.iter_mut().for_each(|side| side.settings = None);
    }
    // A cluster for a configuration server is removed, unless both sides have it.
    let names: [BTreeSet<String>; 2] = [0, 1].map(|side| both[side].clusters.iter().map(|of| of.message.name.clone()).collect());
    for side in &mut both {
        let is_everywhere = |name: &String| names.iter().all(|names| names.contains(name));
        side.clusters.all_mut().retain(|of| !servers.contains(&of.message.name) || is_everywhere(&of.message.name));
    }
    (both, uncompared)
}

/// Removes endpoints that only one side reports. Returns the names of those clusters.
fn without_unknown_endpoints([before, after]: &mut [EnvoyConfig; 2]) -> Vec<String> {
    let mut others: BTreeMap<String, &mut Cluster> =
        after.clusters.all_mut().iter_mut().map(|of| (of.message.name.clone(), &mut of.message)).collect();
    let mut names = Vec::new();
    for Placed { message: one, .. } in before.clusters.all_mut() {
        let Some(other) = others.get_mut(one.name.as_str()) else { continue };
        if one.eds_cluster_config.is_some() == other.eds_cluster_config.is_some() {
            continue;
        }
        if one.load_assignment.is_some() || other.load_assignment.is_some() {
            names.push(one.name.clone());
        }
        for of in [one, &mut **other] {
            (of.eds_cluster_config, of.load_assignment) = (None, None);
            of.cluster_discovery_type = Some(ClusterDiscoveryType::Type(DiscoveryType::Static as i32));
        }
    }
    names
}

/// Whether the configuration contains the endpoints that clusters request by name: `/config_dump` has them only with `include_eds`.
fn knows_endpoints(config: &EnvoyConfig) -> bool {
    !config.endpoints.is_empty() || !config.clusters.iter().any(|of| of.message.eds_cluster_config.is_some())
}

fn settled(config: &EnvoyConfig, knows_endpoints: bool, servers: &mut BTreeSet<String>) -> EnvoyConfig {
    let mut out = config.clone();
    servers.extend(out.servers.iter().cloned());
    let tables: BTreeMap<&str, &pb::route::RouteConfiguration> =
        config.routes.iter().rev().map(|of| (of.message.name.as_str(), &of.message)).collect();
    let secrets: BTreeMap<&str, &secret::Type> =
        config.secrets.iter().filter_map(|of| Some((of.message.name.as_str(), of.message.r#type.as_ref()?))).collect();
    let mut taken = Resolved { servers, secrets: BTreeSet::new(), tables: BTreeSet::new() };
    for listener in &mut out.listeners {
        for chain in listener.message.filter_chains.iter_mut().chain(&mut listener.message.default_filter_chain) {
            filter_chain(chain, &tables, &secrets, &mut taken);
        }
    }
    let endpoints: BTreeMap<&str, &ClusterLoadAssignment> =
        config.endpoints.iter().rev().map(|of| (of.message.cluster_name.as_str(), &of.message)).collect();
    for of in out.clusters.all_mut() {
        cluster(&mut of.message, &endpoints, knows_endpoints, &secrets, &mut taken);
    }
    let Resolved { secrets, tables, .. } = taken;
    out.endpoints.clear();
    out.secrets.retain(|of| !secrets.contains(of.message.name.as_str()));
    out.routes.retain(|of| !tables.contains(of.message.name.as_str()));
    for of in &mut out.secrets {
        match &mut of.message.r#type {
            Some(secret::Type::TlsCertificate(of)) => *of = without_key(of),
            Some(secret::Type::ValidationContext(of)) => of.trusted_ca = of.trusted_ca.take().map(as_text),
            Some(secret::Type::SessionTicketKeys(of)) => of.keys.clear(),
            Some(secret::Type::GenericSecret(of)) => of.secret = None,
            None => {}
        }
    }
    out
}

/// The resources that were moved inline, and the servers that were named.
struct Resolved<'t> {
    servers: &'t mut BTreeSet<String>,
    secrets: BTreeSet<String>,
    tables: BTreeSet<String>,
}

impl Resolved<'_> {
    fn source(&mut self, source: Option<&ConfigSource>) {
        if let Some(ConfigSourceSpecifier::ApiConfigSource(api)) = source.and_then(|source| source.config_source_specifier.as_ref()) {
            self.servers.extend(servers_of(api));
        }
    }
}

type Secrets<'s> = BTreeMap<&'s str, &'s secret::Type>;

fn filter_chain(chain: &mut FilterChain, tables: &BTreeMap<&str, &pb::route::RouteConfiguration>, secrets: &Secrets<'_>, taken: &mut Resolved<'_>) {
    chain.transport_socket.iter_mut().for_each(|socket| transport_socket(socket, secrets, taken));
    for filter in &mut chain.filters {
        let Some(ConfigType::TypedConfig(any)) = &mut filter.config_type else { continue };
        let Some(mut manager) = any.downcast_ref::<HttpConnectionManager>().cloned() else { continue };
        if let Some(RouteSpecifier::Rds(rds)) = &manager.route_specifier {
            taken.source(rds.config_source.as_ref());
            if let Some(table) = tables.get(rds.route_config_name.as_str()) {
                taken.tables.insert(rds.route_config_name.clone());
                manager.route_specifier = Some(RouteSpecifier::RouteConfig((*table).clone()));
            }
        }
        if let Some(RouteSpecifier::RouteConfig(table)) = &mut manager.route_specifier {
            // An inline table does not need its name.
            table.name.clear();
        }
        *any = Any::pack(manager);
    }
}

fn cluster(
    of: &mut Cluster,
    endpoints: &BTreeMap<&str, &ClusterLoadAssignment>,
    knows_endpoints: bool,
    secrets: &Secrets<'_>,
    taken: &mut Resolved<'_>,
) {
    of.transport_socket.iter_mut().for_each(|socket| transport_socket(socket, secrets, taken));
    of.transport_socket_matches.iter_mut().filter_map(|of| of.transport_socket.as_mut()).for_each(|socket| transport_socket(socket, secrets, taken));
    let is_asked_for = matches!(of.cluster_discovery_type, Some(ClusterDiscoveryType::Type(kind)) if kind == DiscoveryType::Eds as i32);
    if let Some(eds) = of.eds_cluster_config.take_if(|_| is_asked_for) {
        taken.source(eds.eds_config.as_ref());
        let service_name = if eds.service_name.is_empty() { of.name.clone() } else { eds.service_name };
        if knows_endpoints {
            of.load_assignment = endpoints.get(service_name.as_str()).map(|of| (*of).clone()).or(of.load_assignment.take());
            of.cluster_discovery_type = Some(ClusterDiscoveryType::Type(DiscoveryType::Static as i32));
        } else {
            of.eds_cluster_config = Some(EdsClusterConfig { service_name, eds_config: None });
        }
    }
    let by_weight = of.common_lb_config.as_ref().and_then(|of| of.locality_config_specifier.as_ref());
    let by_weight = matches!(by_weight, Some(pb::cluster::cluster::common_lb_config::LocalityConfigSpecifier::LocalityWeightedLbConfig(_)));
    of.load_assignment = of.load_assignment.take().map(|of| assignment(of, by_weight)).filter(|of| !of.endpoints.is_empty());
}

/// Normalises endpoints: removes fields that an Envoy adds or omits in its report, and sorts the rest. Weights of localities are kept only if they
/// are used for load balancing.
fn assignment(mut of: ClusterLoadAssignment, by_weight: bool) -> ClusterLoadAssignment {
    of.cluster_name.clear();
    of.policy = of.policy.take().map(|policy| pb::endpoint::cluster_load_assignment::Policy {
        overprovisioning_factor: policy.overprovisioning_factor.filter(|factor| *factor != 140),
        ..policy
    });
    of.policy = of.policy.take().filter(|policy| *policy != Default::default());
    let mut localities: BTreeMap<(u32, String), pb::endpoint::LocalityLbEndpoints> = BTreeMap::new();
    for mut locality in of.endpoints {
        locality.locality = locality.locality.take().filter(|of| *of != Default::default());
        locality.load_balancing_weight = locality.load_balancing_weight.filter(|weight| by_weight && *weight != 0);
        // Envoy's report omits it.
        locality.metadata = None;
        locality.lb_endpoints.iter_mut().for_each(endpoint);
        let place = locality.locality.as_ref().map(|of| [of.region.as_str(), &of.zone, &of.sub_zone].join("\u{0}")).unwrap_or_default();
        let known = localities.entry((locality.priority, place));
        known.and_modify(|known| known.lb_endpoints.extend(locality.lb_endpoints.iter().cloned())).or_insert(locality);
    }
    let mut all: Vec<_> = localities.into_values().filter(|of| !of.lb_endpoints.is_empty()).collect();
    for locality in &mut all {
        locality.lb_endpoints.sort_by_key(|of| alloc::format!("{:?}", of.host_identifier));
        locality.lb_endpoints.dedup();
    }
    of.endpoints = all;
    of
}

fn endpoint(of: &mut pb::endpoint::LbEndpoint) {
    use pb::endpoint::lb_endpoint::HostIdentifier;
    // Health is the state of an Envoy, not its configuration.
    of.health_status = 0;
    of.load_balancing_weight = of.load_balancing_weight.filter(|weight| *weight != 1);
    of.metadata = of.metadata.take().filter(|of| *of != Default::default());
    if let Some(HostIdentifier::Endpoint(of)) = &mut of.host_identifier {
        of.health_check_config = of.health_check_config.take().filter(|of| *of != Default::default());
        if let Some(pb::base::address::Address::Pipe(pipe)) = of.address.as_mut().and_then(|of| of.address.as_mut()) {
            pipe.mode = 0;
        }
    }
}

fn transport_socket(socket: &mut TransportSocket, secrets: &Secrets<'_>, taken: &mut Resolved<'_>) {
    in_contexts(socket, &mut |of| context(of, secrets, taken));
}

/// Applies a change to the TLS context of a socket, if it has one.
pub(super) fn in_contexts(socket: &mut TransportSocket, change: &mut dyn FnMut(&mut CommonTlsContext)) {
    use pb::base::transport_socket::ConfigType;
    let Some(ConfigType::TypedConfig(any)) = &mut socket.config_type else { return };
    if let Some(mut of) = any.downcast_ref::<pb::tls::DownstreamTlsContext>().cloned() {
        of.common_tls_context.iter_mut().for_each(change);
        *any = Any::pack(of);
    } else if let Some(mut of) = any.downcast_ref::<pb::tls::UpstreamTlsContext>().cloned() {
        of.common_tls_context.iter_mut().for_each(change);
        *any = Any::pack(of);
    } else if let Some(mut of) = any.downcast_ref::<pb::quic::QuicDownstreamTransport>().cloned() {
        let common = of.downstream_tls_context.as_mut().and_then(|of| of.common_tls_context.as_mut());
        common.into_iter().for_each(change);
        *any = Any::pack(of);
    }
}

/// Replaces the names of known certificates by the certificates.
fn context(of: &mut CommonTlsContext, secrets: &Secrets<'_>, taken: &mut Resolved<'_>) {
    let named = |name: &str, source: Option<&ConfigSource>, taken: &mut Resolved<'_>| {
        taken.source(source);
        let found = secrets.get(name).copied();
        taken.secrets.extend(found.map(|_| name.to_owned()));
        found
    };
    of.tls_certificate_sds_secret_configs.retain_mut(|sds| match named(&sds.name, sds.sds_config.as_ref(), taken) {
        Some(secret::Type::TlsCertificate(certificate)) => {
            of.tls_certificates.push(certificate.clone());
            false
        }
        _ => {
            sds.sds_config = None;
            true
        }
    });
    of.tls_certificates = of.tls_certificates.iter().map(without_key).collect();
    let validation = |sds: &mut pb::tls::SdsSecretConfig, taken: &mut Resolved<'_>| {
        let found = named(&sds.name, sds.sds_config.as_ref(), taken);
        sds.sds_config = None;
        match found {
            Some(secret::Type::ValidationContext(context)) => Some(context.clone()),
            _ => None,
        }
    };
    match &mut of.validation_context_type {
        Some(ValidationContextType::ValidationContextSdsSecretConfig(sds)) => {
            if let Some(found) = validation(sds, taken) {
                of.validation_context_type = Some(ValidationContextType::ValidationContext(found));
            }
        }
        Some(ValidationContextType::CombinedValidationContext(combined)) => {
            let found = combined.validation_context_sds_secret_config.as_mut().and_then(|sds| validation(sds, taken));
            if let Some(found) = found {
                let whole = merged(combined.default_validation_context.take().unwrap_or_default(), found);
                of.validation_context_type = Some(ValidationContextType::ValidationContext(whole));
            }
        }
        _ => {}
    }
    if let Some(ValidationContextType::ValidationContext(of)) = &mut of.validation_context_type {
        of.trusted_ca = of.trusted_ca.take().map(as_text);
        of.crl = of.crl.take().map(as_text);
    }
}

/// Merges a default context with one that came by name, as Envoy does.
fn merged(default: CertificateValidationContext, found: CertificateValidationContext) -> CertificateValidationContext {
    CertificateValidationContext { trusted_ca: found.trusted_ca.or(default.trusted_ca), crl: found.crl.or(default.crl), ..default }
}

fn without_key(of: &TlsCertificate) -> TlsCertificate {
    let certificate_chain = of.certificate_chain.clone().map(as_text);
    TlsCertificate { certificate_chain, private_key: None, pkcs12: None, password: None, ..of.clone() }
}

/// Converts bytes to a string if they are valid text.
fn as_text(of: DataSource) -> DataSource {
    let specifier = match of.specifier {
        Some(Specifier::InlineBytes(bytes)) => match String::from_utf8(bytes.to_vec()) {
            Ok(text) => Some(Specifier::InlineString(text)),
            Err(_) => Some(Specifier::InlineBytes(bytes)),
        },
        other => other,
    };
    DataSource { specifier, ..of }
}
