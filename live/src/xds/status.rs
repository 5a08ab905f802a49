//! Answers other tools with the resources of each Envoy: the client status discovery service (CSDS). Does not track
//! Envoys; see `clients`.
//!
//! The answer lists resources without key material, for clients on this machine and for clients with a certificate.

use super::clients::{Acceptance, Client, Node};
use super::identity::Grant;
use super::peer::Peer;
use super::server::Xds;
use super::snapshot::Resources;
use chancery_core::backend::envoy::v3::{Encoded, Service};
use envoy_types::pb::envoy::admin::v3::{ClientResourceStatus, UpdateFailureState};
use envoy_types::pb::envoy::config::core::v3 as base;
use envoy_types::pb::envoy::service::status::v3 as status;
use envoy_types::pb::envoy::r#type::matcher::v3::{StringMatcher, string_matcher::MatchPattern};
use envoy_types::pb::google::protobuf::Any;
use futures_util::StreamExt;
use status::client_config::GenericXdsConfig;
use status::client_status_discovery_service_server::ClientStatusDiscoveryService;
use std::pin::Pin;
use tonic::{Request, Response, Status, Streaming};

type Answers = Pin<Box<dyn futures_util::Stream<Item = Result<status::ClientStatusResponse, Status>> + Send>>;

#[tonic::async_trait]
impl ClientStatusDiscoveryService for Xds {
    type StreamClientStatusStream = Answers;

    async fn stream_client_status(&self, request: Request<Streaming<status::ClientStatusRequest>>) -> Result<Response<Answers>, Status> {
        let peer = may_ask(&request)?;
        let shared = self.clone();
        let answers = request.into_inner().map(move |request| request.and_then(|request| shared.client_status(&request, &peer)));
        Ok(Response::new(Box::pin(answers)))
    }

    async fn fetch_client_status(&self, request: Request<status::ClientStatusRequest>) -> Result<Response<status::ClientStatusResponse>, Status> {
        let peer = may_ask(&request)?;
        self.client_status(request.get_ref(), &peer).map(Response::new)
    }
}

fn may_ask<T>(request: &Request<T>) -> Result<Peer, Status> {
    let peer = request.extensions().get::<Peer>().cloned().unwrap_or_default();
    let allowed = peer.may_have_secrets();
    if allowed {
        Ok(peer)
    } else {
        Err(Status::permission_denied("only clients on this machine, or with a client certificate, may read configurations"))
    }
}

impl Xds {
    fn client_status(&self, request: &status::ClientStatusRequest, peer: &Peer) -> Result<status::ClientStatusResponse, Status> {
        let latest = self.proxies.subscribe().borrow().clone();
        let mut config = Vec::new();
        for client in self.clients.all() {
            if !asks_for(request, &client.node.id)? {
                continue;
            }
            let assigned = self.proxies.assign(&client.node, &latest);
            let gateways = latest.iter().flat_map(|all| all.names());
            let gateway = assigned.snapshot().map(|snapshot| snapshot.gateway.clone()).unwrap_or_default();
            if self.identities.grant(peer, &gateway, gateways) == Grant::Nothing {
                // The client may not have that gateway's configuration, so it may not read it here.
                continue;
            }
            let types = assigned.snapshot().into_iter().flat_map(|snapshot| snapshot.types());
            let resources = types.flat_map(|(url, resources)| of_type(&client, url, resources, request.exclude_resource_contents));
            config.push(status::ClientConfig { generic_xds_configs: resources.collect(), node: Some(node(&client.node)), ..Default::default() });
        }
        Ok(status::ClientStatusResponse { config })
    }
}

fn node(of: &Node) -> base::Node {
    base::Node { id: of.id.clone(), cluster: of.cluster.clone(), user_agent_name: of.agent.clone(), ..Default::default() }
}

/// Whether a request includes a node: a matcher matches it, or the request has none.
fn asks_for(request: &status::ClientStatusRequest, id: &str) -> Result<bool, Status> {
    let mut found = request.node_matchers.is_empty();
    for matcher in &request.node_matchers {
        if !matcher.node_metadatas.is_empty() {
            return Err(Status::invalid_argument("nodes are found by their id only, not by metadata"));
        }
        found |= matcher.node_id.as_ref().map_or(Ok(true), |of| takes(of, id))?;
    }
    Ok(found)
}

fn takes(matcher: &StringMatcher, id: &str) -> Result<bool, Status> {
    let fold = |text: &str| if matcher.ignore_case { text.to_ascii_lowercase() } else { text.to_owned() };
    let id = fold(id);
    match &matcher.match_pattern {
        Some(MatchPattern::Exact(text)) => Ok(id == fold(text)),
        Some(MatchPattern::Prefix(text)) => Ok(id.starts_with(&fold(text))),
        Some(MatchPattern::Suffix(text)) => Ok(id.ends_with(&fold(text))),
        Some(MatchPattern::Contains(text)) => Ok(id.contains(&fold(text))),
        _ => Err(Status::invalid_argument("a node's id is matched by exact, prefix, suffix or contains")),
    }
}

/// Returns the state of one type's resources in an Envoy.
fn of_type(client: &Client, url: &str, resources: &Resources, without_content: bool) -> Vec<GenericXdsConfig> {
    let acceptance = client.types.get(url);
    let without_content = without_content || *url == Service::Secrets.type_url();
    let one = |of: &Encoded| {
        let (config_status, client_status) = state(acceptance, &of.name, &resources.version);
        let error_state = acceptance.and_then(|of| of.rejected.as_ref()).filter(|_| config_status == status::ConfigStatus::Error);
        GenericXdsConfig {
            type_url: url.to_owned(),
            name: of.name.to_string(),
            version_info: of.version.to_string(),
            xds_config: (!without_content).then(|| Any { type_url: url.to_owned(), value: of.value.clone() }),
            config_status: config_status.into(),
            client_status: client_status.into(),
            error_state: error_state.map(|rejection| UpdateFailureState {
                details: rejection.message.clone(),
                version_info: rejection.version.clone(),
                ..Default::default()
            }),
            ..Default::default()
        }
    };
    resources.by_name.values().map(|of| one(of)).collect()
}

/// Returns the state of a resource on the server, and in the client.
fn state(acceptance: Option<&Acceptance>, name: &str, version: &str) -> (status::ConfigStatus, ClientResourceStatus) {
    use status::ConfigStatus::{Error, NotSent, Stale, Synced};
    let Some(acceptance) = acceptance else { return (NotSent, ClientResourceStatus::Unknown) };
    if let Some(rejected) = &acceptance.rejected {
        // A rejection without names applies to all resources.
        let names = |of: &super::blame::Blamed| of.resource.is_empty() || of.resource == name;
        let is_meant = rejected.resources.iter().any(names);
        return if is_meant { (Error, ClientResourceStatus::Nacked) } else { (Stale, ClientResourceStatus::Unknown) };
    }
    match &acceptance.accepted {
        Some(accepted) if *accepted == acceptance.sent && accepted == version => (Synced, ClientResourceStatus::Acked),
        _ => (Stale, ClientResourceStatus::Requested),
    }
}
