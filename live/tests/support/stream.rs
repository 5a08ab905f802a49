//! Opens an xDS stream with a token.
//!
//! Does not contain tests; see `consul`.

use envoy_types::pb::envoy::service::discovery::v3::DeltaDiscoveryRequest;
use envoy_types::pb::envoy::service::discovery::v3::aggregated_discovery_service_client::AggregatedDiscoveryServiceClient;
use std::time::Duration;

/// Requests the clusters of a proxy with a token. Returns the first response, or why the stream ends.
pub async fn clusters(address: &str, proxy: &str, token: Option<&str>) -> Result<usize, tonic::Status> {
    let channel = tonic::transport::Endpoint::from_shared(format!("http://{address}")).expect("an address").connect().await.expect("a connection");
    let node = envoy_types::pb::envoy::config::core::v3::Node { id: proxy.into(), ..Default::default() };
    let first =
        DeltaDiscoveryRequest { node: Some(node), type_url: "type.googleapis.com/envoy.config.cluster.v3.Cluster".into(), ..Default::default() };
    let (send, requests) = tokio::sync::mpsc::channel(1);
    send.send(first).await.expect("a stream");
    let mut request = tonic::Request::new(tokio_stream::wrappers::ReceiverStream::new(requests));
    if let Some(token) = token {
        request.metadata_mut().insert("x-consul-token", token.parse().expect("a token"));
    }
    let mut stream = AggregatedDiscoveryServiceClient::new(channel).delta_aggregated_resources(request).await?.into_inner();
    let response = tokio::time::timeout(Duration::from_secs(20), stream.message()).await.expect("a response in time")?;
    Ok(response.map_or(0, |response| response.resources.len()))
}
