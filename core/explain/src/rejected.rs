//! Checks the output against Envoy's own rules, and reports violations at the lines that caused them.
//!
//! The lowering already leaves out values that Envoy rejects and reports them; the findings here are the remaining cases.

use super::{Viewed, describe};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::GatewayRef;
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::executor::Executor;
use chancery_base::ir::{Tree, holds_keys, placeholder};
use chancery_base::resource::{ObjectId, Origin};
use chancery_envoy::emit::Emitted;
use core::net::IpAddr;

/// Returns the values that Envoy would reject, each once. `root` names places if it is given.
pub fn rejected_by_envoy(gateway: GatewayRef<'_>, viewed: Option<&Viewed>, emitted: &mut Emitted, executor: &dyn Executor) -> Vec<Diagnostic> {
    let broken = chancery_envoy::emit::violations(gateway.ir, &chancery_envoy::Options { executor, ..chancery_envoy::Options::default() }, emitted);
    let mut found: Vec<Diagnostic> = Vec::new();
    for violation in broken {
        let origin = violation.origins.iter().find(|origin| is_written(origin)).copied();
        let place = viewed.map(|viewed| describe(&viewed.root, &violation.pointer).join(" \u{203a} "));
        let place = place.unwrap_or_else(|| format!("`{}`", fields_of(&violation.pointer)));
        let message = format!("Envoy rejects {place}: {}", violation.message);
        add(&mut found, finding(gateway, message, origin).help(REFUSED));
    }
    let passed_on = &gateway.ir.delivery.verbatim;
    let mut misfits: Vec<InvalidCombination> =
        passed_on.clusters.iter().flat_map(|cluster| [invalid_combination(cluster), ring(cluster)]).flatten().collect();
    passed_on.listeners.iter().for_each(|listener| keys(listener, None, &mut misfits));
    for invalid_combination in misfits {
        let finding = finding(gateway, invalid_combination.message, invalid_combination.at).help(invalid_combination.help);
        add(&mut found, finding);
    }
    found
}

const REFUSED: &str = "write a value that Envoy accepts: it rejects the whole update because of this value";

/// Returns the last fields of a JSON pointer, without numbers: `redirect.prefix_rewrite`.
fn fields_of(pointer: &str) -> String {
    let is_field = |step: &&str| !step.is_empty() && !step.bytes().all(|byte| byte.is_ascii_digit()) && *step != "typed_config";
    let steps: Vec<&str> = pointer.split('/').filter(is_field).collect();
    steps.get(steps.len().saturating_sub(2)..).unwrap_or_default().join(".")
}

fn is_written(origin: &Origin) -> bool {
    origin.object() != ObjectId::BUILT_IN
}

fn finding(gateway: GatewayRef<'_>, message: String, origin: Option<Origin>) -> Diagnostic {
    let mut finding = Diagnostic::new(&codes::REFUSED_BY_ENVOY, message, Place::origin(origin));
    finding.resource = origin.and_then(|origin| gateway.compilation.objects.get(origin.object())).map(|object| object.key.clone());
    finding
}

/// Adds a finding. The same value in several places is one mistake.
fn add(found: &mut Vec<Diagnostic>, finding: Diagnostic) {
    if !found.iter().any(|known| known.place == finding.place && known.place != Place::Whole) {
        found.push(finding);
    }
}

/// Fields of a cluster that Envoy accepts one by one, and rejects together.
struct InvalidCombination {
    message: String,
    help: &'static str,
    at: Option<Origin>,
}

/// Finds an invalid combination in a verbatim cluster (envoyproxy/envoy, `source/common/upstream` and `source/extensions/clusters`).
fn invalid_combination(cluster: &Tree) -> Option<InvalidCombination> {
    if cluster.find("cluster_type").is_some() {
        return None;
    }
    let (name, kind) = (cluster.get("name").text(), cluster.get("type"));
    let at = |value: &Tree| value.origin.or(kind.origin).or(cluster.origin).filter(is_written);
    let (message, help, at) = match kind.text() {
        "STATIC" | "" => {
            let groups = cluster.at(&["load_assignment", "endpoints"]).items().iter();
            let hosts = groups.flat_map(|group| group.get("lb_endpoints").items());
            let mut addresses = hosts.map(|host| host.at(&["endpoint", "address", "socket_address", "address"]));
            let address = addresses.find(|address| !address.text().is_empty() && address.text().parse::<IpAddr>().is_err())?;
            let message = format!("Envoy rejects the cluster `{name}`: its type is STATIC, and `{}` is no IP address", address.text());
            (message, "a type that looks names up is STRICT_DNS or LOGICAL_DNS", at(address))
        }
        "EDS" if cluster.find("eds_cluster_config").is_none() => {
            let message = format!("Envoy rejects the cluster `{name}`: its type is EDS, and it does not say where endpoints come from");
            (message, "a type that looks names up is STRICT_DNS or LOGICAL_DNS", at(kind))
        }
        "ORIGINAL_DST" if cluster.get("lb_policy").text() != "CLUSTER_PROVIDED" => {
            let message = format!("Envoy rejects the cluster `{name}`: its type is ORIGINAL_DST, and its load balancing is not CLUSTER_PROVIDED");
            (message, "a cluster with its own address has the type STRICT_DNS, LOGICAL_DNS or STATIC", at(kind))
        }
        _ => return None,
    };
    Some(InvalidCombination { message, help, at })
}

/// Checks the ring sizes of a cluster (envoyproxy/envoy, `source/extensions/load_balancing_policies/ring_hash`).
fn ring(cluster: &Tree) -> Option<InvalidCombination> {
    let sizes = cluster.find("ring_hash_lb_config")?;
    let (least, most) = (sizes.find("minimum_ring_size"), sizes.find("maximum_ring_size"));
    let (low, high) = (least.map_or(1024, Tree::int), most.map_or(8 * 1024 * 1024, Tree::int));
    let written = |tree: Option<&Tree>| tree.and_then(|tree| tree.origin).filter(is_written);
    (low > high).then(|| InvalidCombination {
        message: format!("Envoy rejects the cluster `{}`: its ring has at least {low} entries and at most {high}", cluster.get("name").text()),
        help: "set both sizes: if only a minimum is set, the maximum is 0",
        at: written(least).or_else(|| written(most)).or_else(|| sizes.origin.filter(is_written)).or_else(|| cluster.origin.filter(is_written)),
    })
}

/// Checks inline token keys (google/jwt_verify_lib, `src/jwks.cc`).
fn keys(tree: &Tree, around: Option<Origin>, out: &mut Vec<InvalidCombination>) {
    let origin = tree.origin.filter(is_written).or(around);
    if let Some(text) = tree.find("local_jwks").and_then(|keys| keys.find("inline_string"))
        && placeholder(text.text()).is_none()
        && !holds_keys(text.text())
    {
        out.push(InvalidCombination {
            message: "Envoy rejects the keys: they are not a JSON Web Key Set with at least one key under `keys`".into(),
            help: "write the whole published set, with its `keys`",
            at: text.origin.filter(is_written).or(origin),
        });
    }
    tree.fields().iter().for_each(|(_, value)| keys(value, origin, out));
    tree.items().iter().for_each(|value| keys(value, origin, out));
}
