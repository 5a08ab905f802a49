//! Validates a config entry by itself, and normalises it before it is stored.
//!
//! Messages are the reference's, and as there only the first fault is reported. Validation against other entries is in `graph`.

mod defaults;
mod discovery;
mod gateway;
mod intentions;
mod jwt;
mod route;
pub(crate) mod rule;

pub(crate) use discovery::{has_subset, is_hash_based, rounded};
pub(crate) use gateway::is_http;
pub(crate) use rule::{CIPHERS, Verdict, change_case, is_set, refuse};

use super::entry::Kind;
use chancery_base::ir::Tree;

/// Normalises an entry, as the reference does before validation.
pub(crate) fn normalise(kind: Kind, tree: &mut Tree) -> Verdict {
    tree.set("Kind", Tree::from(kind.name()).or_from(tree.get("Kind").origin));
    match kind {
        Kind::ServiceDefaults => defaults::normalise_service(tree),
        Kind::ProxyDefaults => return defaults::normalise_proxy(tree),
        Kind::ExportedServices => defaults::normalise_exported(tree),
        Kind::ServiceRouter => discovery::normalise_router(tree),
        Kind::ServiceSplitter => discovery::normalise_splitter(tree),
        Kind::IngressGateway => gateway::normalise_ingress(tree),
        Kind::ServiceIntentions => intentions::normalise(tree),
        Kind::ApiGateway => gateway::normalise_api(tree),
        Kind::HttpRoute => route::normalise_http(tree),
        Kind::TcpRoute => route::normalise_parents(tree),
        Kind::JwtProvider => jwt::normalise(tree),
        Kind::Mesh => tree.set("Name", "mesh".into()),
        _ => {}
    }
    Ok(())
}

/// Checks an entry by itself.
pub(crate) fn validate(kind: Kind, tree: &Tree, key: &str) -> Verdict {
    match kind {
        Kind::ServiceDefaults => defaults::service(tree),
        Kind::ProxyDefaults => defaults::proxy(tree),
        Kind::ServiceRouter => discovery::router(tree),
        Kind::ServiceSplitter => discovery::splitter(tree),
        Kind::ServiceResolver => discovery::resolver(tree),
        Kind::IngressGateway => gateway::ingress(tree),
        Kind::TerminatingGateway => gateway::terminating(tree),
        Kind::ServiceIntentions => intentions::validate(tree),
        Kind::Mesh => defaults::mesh(tree),
        Kind::ExportedServices => defaults::exported(tree),
        Kind::SamenessGroup => Err("sameness-groups are an enterprise-only feature".into()),
        Kind::ApiGateway => gateway::api(tree),
        Kind::BoundApiGateway => Err("Permission denied: only writeable by controller".into()),
        Kind::InlineCertificate => gateway::certificate(tree, key),
        Kind::HttpRoute => route::http(tree),
        Kind::TcpRoute => route::tcp(tree),
        Kind::JwtProvider => jwt::validate(tree),
    }
}
