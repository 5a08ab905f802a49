//! Simulates the Gateway provisioner, Contour's other program: the objects that it creates for Gateways, GatewayClasses and ContourDeployments
//! (Contour `internal/provisioner`). Does not simulate the created Contours; see `processor`.

mod class;
mod manifest;
mod values;

use super::cluster::{Admitted, Cluster};
use super::kinds::Kind;
use super::options::Options;
use super::ownership::{self, CONTROLLER};
use super::settings::Flags;
use super::settings::ProvisionedContour;
use super::status::{Statuses, condition, list, object, text};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Created, Failure, GatewayId, Ledger, State, Why};
use chancery_base::resource::{ObjectId, ResourceKey};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::reason::Reason;
use chancery_text::{Node, Str};
use values::GatewayWithClass;

const ACCESS: &str = include_str!("manifests/access.yaml");
const WATCHED: &str = include_str!("manifests/watched.yaml");
const CONTOUR: &str = include_str!("manifests/contour.yaml");
const ENVOY: &str = include_str!("manifests/envoy.yaml");

/// The results of the provisioner.
#[derive(Default)]
pub struct Provisioned {
    /// Objects by kind, namespace and name, each with its owning Gateway: the provisioner labels them to find them again.
    pub created: Vec<Created>,
    /// Statuses of GatewayClasses and Gateways.
    pub statuses: Statuses,
    /// Why a Gateway is not finished; the first such.
    pub failure: Option<Failure>,
    /// The Gateways of its classes, each with the Contour that serves it.
    pub gateways: Vec<ProvisionedGateway>,
}

/// A Gateway that the provisioner manages.
pub struct ProvisionedGateway {
    /// Its name.
    pub id: GatewayId,
    /// The Gateway.
    pub owner: ObjectId,
    /// The Contour that serves it, or why there is none.
    pub outcome: Result<ProvisionedContour, Failure>,
}

fn field(object: &Node, field: &str) -> Str {
    object.get(field).and_then(Node::as_str).map(Str::new).unwrap_or_default()
}

fn name(object: &Node, part: &str) -> Str {
    object.get("metadata").map(|metadata| field(metadata, part)).unwrap_or_default()
}

fn key(object: &Node) -> ResourceKey {
    let version = field(object, "apiVersion");
    let group = version.rsplit_once('/').map_or("", |(group, _)| group);
    let namespace = Some(name(object, "namespace")).filter(|namespace| !namespace.is_empty());
    ResourceKey { group: group.into(), kind: field(object, "kind"), namespace, name: name(object, "name") }
}

/// Runs the provisioner until nothing is left to do.
pub fn provision(cluster: &Cluster<'_>, options: &Options, ledger: &mut Ledger) -> Provisioned {
    let mut made = Provisioned::default();
    let flags = match Flags::of_provisioner(&options.arguments) {
        Ok(flags) => flags,
        Err(error) => return Provisioned { failure: Some(Failure::new("flags", error)), ..made },
    };
    let controller = flags.get("gateway-controller-name").map_or(CONTROLLER, Str::as_str);
    let ours = |class: &Admitted<'_>| class.spec().field("controllerName").str() == controller;
    let owners = ownership::owners(cluster, controller);
    for class in cluster.all(Kind::GatewayClass) {
        if !ours(class) {
            let (why, words) = ownership::not_covered(format!("`{}`", class.spec().field("controllerName").str()));
            ledger.set(class.object.id, State::Ignored(why, words.into()));
            continue;
        }
        let parameters = class::parameters(class, cluster);
        made.statuses.set("GatewayClass", "", class.name(), class::status(parameters.as_ref().err().map(Reason::as_str)));
        match parameters {
            Ok(Some(parameters)) => ledger.emitted(parameters.object.id, format!("parameters of GatewayClass {}", class.name())),
            Ok(None) => {}
            Err(fault) => ledger.set(class.object.id, State::Invalid(fault.as_str().into())),
        }
    }
    for gateway in cluster.all(Kind::Gateway) {
        let class = cluster.get(Kind::GatewayClass, "", gateway.spec().field("gatewayClassName").str()).filter(|class| ours(class));
        let parameters = class.map(|class| class::parameters(class, cluster));
        let Some(Ok(parameters)) = parameters else {
            let detail = if class.is_some() { "its GatewayClass is not accepted" } else { "it has no GatewayClass of the provisioner" };
            let (why, words) = owners.other(gateway.object).map_or_else(|| (Why::OtherController, detail.into()), ownership::not_covered);
            ledger.set(gateway.object.id, State::Ignored(why, words.into()));
            continue;
        };
        let wanted = GatewayWithClass { gateway, parameters: parameters.map_or(Cursor::nothing(), Admitted::spec), flags: &flags };
        let owner = gateway.object.id;
        let mut objects = Vec::new();
        let outcome = match ensure(&wanted, cluster, &mut objects) {
            Ok(()) => {
                made.statuses.set("Gateway", gateway.namespace(), gateway.name(), accepted());
                Ok(wanted.provisioned())
            }
            Err(error) => {
                let failure = Failure::new(format!("reconcile Gateway {}", gateway.name()), error);
                made.failure.get_or_insert(failure.clone());
                Err(failure)
            }
        };
        if let Some(class) = class {
            ledger.emitted(class.object.id, format!("class of Gateway {}", gateway.name()));
        }
        made.gateways.push(ProvisionedGateway { id: GatewayId::named(gateway.namespace(), gateway.name()), owner, outcome });
        for object in objects {
            ledger.emitted(owner, format!("{} {}", field(&object, "kind"), name(&object, "name")));
            made.created.push(Created { key: key(&object), owner, object });
        }
    }
    // A list of a kind is called `KIND List`, and lists are in the order of their names.
    let listed =
        |created: &Created| (format!("{}List", created.key.kind), created.key.namespace.clone().unwrap_or_default(), created.key.name.clone());
    made.created.sort_by_cached_key(listed);
    made
}

/// Creates everything for a Gateway in the provisioner's order, or returns why it stops.
fn ensure(wanted: &GatewayWithClass<'_>, cluster: &Cluster<'_>, made: &mut Vec<Node>) -> Result<(), Reason> {
    let values = wanted.values();
    let mut access = manifest::fill(ACCESS, &values).into_iter();
    made.extend(access.next());
    let missing: Vec<String> = wanted
        .parameters
        .at("contour.watchNamespaces")
        .items()
        .filter(|namespace| cluster.get(Kind::Namespace, "", namespace.str()).is_none())
        .map(|namespace| format!("failed to find namespace {} in watchNamespace. Please make sure it exist", namespace.str()))
        .collect();
    if !missing.is_empty() {
        let missing = if let [one] = &missing[..] { one.clone() } else { format!("[{}]", missing.join(", ")) };
        let gateway = format!("{}/{}", wanted.gateway.namespace(), wanted.gateway.name());
        let why = format!("failed to ensure Contour RBAC: failed when validating watchNamespaces:{missing}");
        return Err(format!("failed to ensure resources for gateway: failed to ensure rbac for gateway {gateway}: {why}").into());
    }
    made.extend(access);
    for watched in wanted.watched() {
        let mut values = values.clone();
        values.insert("watched".into(), text(&watched));
        made.extend(manifest::fill(WATCHED, &values));
    }
    made.extend(manifest::fill(CONTOUR, &values));
    made.extend(manifest::fill(ENVOY, &values));
    Ok(())
}

/// The status of a fully provisioned Gateway; its Contour writes the rest.
fn accepted() -> Node {
    let accepted = object(condition("Accepted", "True", "Accepted", "Gateway is accepted"));
    let fields = [("message", "Waiting for controller"), ("reason", "Pending"), ("status", "Unknown"), ("type", "Programmed")];
    let programmed = object(fields.into_iter().map(|(field, value)| (field, text(value))).collect());
    object(alloc::vec![("conditions", list(alloc::vec![accepted, programmed]))])
}
