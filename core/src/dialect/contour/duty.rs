//! Which objects of Gateway API are this Contour's business; of the others the ledger says why not.
//!
//! What must not be here: what is made of them.

use super::cluster::Admitted;
use super::kinds::Kind;
use super::source::Source;
use crate::compilation::{Ledger, State, Why};
use crate::dialect::gateway_api::attachment;
use alloc::format;
use alloc::string::String;

/// The kinds of Gateway API, each with the word that `--disable-feature` has for it.
const KINDS: [(Kind, &str); 8] = [
    (Kind::GatewayClass, "gatewayclasses"),
    (Kind::Gateway, "gateways"),
    (Kind::HttpRoute, "httproutes"),
    (Kind::GrpcRoute, "grpcroutes"),
    (Kind::TlsRoute, "tlsroutes"),
    (Kind::TcpRoute, "tcproutes"),
    (Kind::BackendTlsPolicy, "backendtlspolicies"),
    (Kind::ReferenceGrant, "referencegrants"),
];

/// Tells the ledger of everything that is somebody else's.
pub fn tell(source: &Source<'_>, ledger: &mut Ledger) {
    for (kind, feature) in KINDS {
        for object in source.cluster.all(kind) {
            if let Some((why, words)) = not_ours(source, kind, feature, object) {
                ledger.set(object.object.id, State::Ignored(why, words.into()));
            }
        }
    }
}

fn not_ours(source: &Source<'_>, kind: Kind, feature: &str, object: &Admitted<'_>) -> Option<(Why, String)> {
    let configured = source.settings.at("gateway.gatewayRef");
    if !configured.exists() {
        return Some((Why::NeverReferenced, "Contour's configuration names no Gateway in `gateway.gatewayRef`".into()));
    }
    if source.is_disabled(feature) {
        return Some((Why::NotWatched, format!("`--disable-feature={feature}` turns its kind off")));
    }
    if !object.namespace().is_empty() && source.get(kind, object.namespace(), object.name()).is_none() {
        return Some((Why::NotWatched, "Contour does not watch its namespace".into()));
    }
    let (namespace, name) = (configured.field("namespace").str(), configured.field("name").str());
    let gateway = format!("{namespace}/{name}");
    match kind {
        Kind::Gateway if format!("{}/{}", object.namespace(), object.name()) != gateway => {
            Some((Why::OtherController, format!("Contour's configuration names another Gateway, `{gateway}`")))
        }
        Kind::HttpRoute | Kind::GrpcRoute | Kind::TlsRoute | Kind::TcpRoute => {
            let spec = object.spec();
            let ours = spec.field("parentRefs").items().any(|parent| attachment::is_to_gateway(parent, namespace, name));
            (!ours).then(|| (Why::OtherController, format!("none of its `parentRefs` is the Gateway `{gateway}`")))
        }
        _ => None,
    }
}
