//! Decides which Gateway API objects belong to this Contour, and records for the others why not. Does not process them; see `processor`.

use super::cluster::{Admitted, Cluster};
use super::kinds::Kind;
use super::source::Source;
use alloc::format;
use alloc::string::String;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_kubernetes::gateway_api::attachment;
use chancery_kubernetes::gateway_api::owners::Owners;

/// The controller whose GatewayClasses are the provisioner's.
pub(super) const CONTROLLER: &str = "projectcontour.io/gateway-controller";

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

/// The kinds that are served at a Gateway.
const ROUTES: [Kind; 4] = [Kind::HttpRoute, Kind::GrpcRoute, Kind::TlsRoute, Kind::TcpRoute];

/// Why a route without a Gateway is not served.
pub const NO_PARENT: &str = "it names no Gateway in `parentRefs`";

/// Records every object that belongs to another controller in the ledger.
pub fn record_foreign_objects(source: &Source<'_>, ledger: &mut Ledger) {
    let owners = owners(source.cluster, CONTROLLER);
    for (kind, feature) in KINDS {
        for object in source.cluster.all(kind) {
            if let Some((why, words)) = not_ours(source, kind, feature, object, &owners) {
                ledger.set(object.object.id, State::Ignored(why, words.into()));
            }
        }
    }
}

/// Which controllers the classes, Gateways and routes of a cluster belong to.
pub fn owners<'a>(cluster: &'a Cluster<'_>, controller: &'a str) -> Owners<'a> {
    Owners::of([Kind::GatewayClass, Kind::Gateway].into_iter().flat_map(|kind| cluster.all(kind)).map(|admitted| admitted.object), controller)
}

/// The ledger entry of another controller's object.
pub fn not_covered(owner: String) -> (Why, String) {
    (Why::NotCovered, format!("it is for {owner}"))
}

fn not_ours(source: &Source<'_>, kind: Kind, feature: &str, object: &Admitted<'_>, owners: &Owners<'_>) -> Option<(Why, String)> {
    let configured = source.settings.at("gateway.gatewayRef");
    if ROUTES.contains(&kind) && !object.spec().field("parentRefs").has_items() {
        return Some((Why::NeverReferenced, NO_PARENT.into()));
    }
    if !configured.exists() {
        if let Some(owner) = owners.other(object.object) {
            return Some(not_covered(owner));
        }
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
            let named = || (Why::OtherController, format!("Contour's configuration names another Gateway, `{gateway}`"));
            Some(owners.other(object.object).map_or_else(named, not_covered))
        }
        _ if ROUTES.contains(&kind) => {
            let spec = object.spec();
            let ours = spec.field("parentRefs").items().any(|parent| attachment::is_to_gateway(parent, namespace, name));
            let named = || (Why::OtherController, format!("none of its `parentRefs` is the Gateway `{gateway}`"));
            (!ours).then(|| owners.other(object.object).map_or_else(named, not_covered))
        }
        _ => None,
    }
}
