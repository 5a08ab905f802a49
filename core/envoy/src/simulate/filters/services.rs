//! Verdicts that depend on the answer of a service.

use super::Verdict;
use crate::emit::pb;
use crate::simulate::Condition;
use alloc::format;
use alloc::string::String;
use pb::hcm::HttpFilter;

/// Returns the cluster of a gRPC service.
pub(super) fn cluster_of(service: &pb::base::GrpcService) -> Option<String> {
    match &service.target_specifier {
        Some(pb::base::grpc_service::TargetSpecifier::EnvoyGrpc(of)) => Some(of.cluster_name.clone()),
        _ => None,
    }
}

/// Returns the cluster of a URI.
pub(super) fn cluster_of_uri(uri: &pb::base::HttpUri) -> Option<String> {
    uri.http_upstream_type.as_ref().map(|pb::base::http_uri::HttpUpstreamType::Cluster(cluster)| cluster.clone())
}

/// Returns a verdict that depends on a service's answer. `sent` says what the service learns of the request, if that is less than everything.
pub(super) fn query_service(filter: &HttpFilter, cluster: Option<String>, finds: &str, otherwise: Option<u32>, sent: Option<String>) -> Verdict {
    let wants = format!("{} {finds}", cluster.as_ref().map_or("the authorization service", |cluster| cluster.as_str()));
    Verdict::Asks(Condition { filter: filter.name.clone(), wants, cluster, otherwise, sent, ..Condition::default() })
}
