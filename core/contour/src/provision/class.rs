//! Decides which GatewayClasses the provisioner accepts (Contour `internal/provisioner/controller/gatewayclass.go`).

use super::super::cluster::{Admitted, Cluster};
use super::super::kinds::Kind;
use super::super::status::{condition, list, object};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::reason::Reason;
use chancery_text::Node;

const WRONG_PARAMETERS: &str = "Invalid ParametersRef, must be a reference to an existing namespaced projectcontour.io/ContourDeployment resource";
const WORKLOADS: &[&str] = &["", "DaemonSet", "Deployment"];
const PUBLISHING: &[&str] = &["", "LoadBalancerService", "NodePortService", "ClusterIPService"];
const FAMILIES: &[&str] = &["", "SingleStack", "PreferDualStack", "RequireDualStack"];
const POLICIES: &[&str] = &["", "Cluster", "Local"];
const LOG_LEVELS: &[&str] = &["", "trace", "debug", "info", "warn", "error", "critical", "off"];

/// The parameters of a GatewayClass, if any, or their errors.
pub fn parameters<'a>(class: &Admitted<'_>, cluster: &'a Cluster<'a>) -> Result<Option<&'a Admitted<'a>>, Reason> {
    let reference = class.spec().field("parametersRef");
    if !reference.exists() {
        return Ok(None);
    }
    let is_deployment = reference.field("group").str() == "projectcontour.io" && reference.field("kind").str() == "ContourDeployment";
    let namespace = reference.field("namespace").some_str().filter(|_| is_deployment);
    let found = namespace.and_then(|namespace| cluster.get(Kind::ContourDeployment, namespace, reference.field("name").str()));
    let Some(deployment) = found else { return Err(WRONG_PARAMETERS.into()) };
    let faults = faults(deployment.spec().field("envoy"));
    if faults.is_empty() { Ok(Some(deployment)) } else { Err(faults.join("; ").into()) }
}

fn faults(envoy: Cursor<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, allowed, must_be) in [
        ("workloadType", WORKLOADS, "DaemonSet or Deployment"),
        ("networkPublishing.type", PUBLISHING, "LoadBalancerService, NoderPortService or ClusterIPService"),
        ("networkPublishing.ipFamilyPolicy", FAMILIES, "SingleStack, PreferDualStack or RequireDualStack"),
        ("networkPublishing.externalTrafficPolicy", POLICIES, "Local or Cluster"),
    ] {
        let value = envoy.at(path).str();
        if !allowed.contains(&value) {
            faults.push(format!("invalid ContourDeployment spec.envoy.{path} {}, must be {must_be}", go_quoted(value)));
        }
    }
    let volumes: Vec<&str> = envoy.field("extraVolumes").items().map(|volume| volume.field("name").str()).collect();
    for mount in envoy.field("extraVolumeMounts").items().map(|mount| mount.field("name").str()) {
        if !volumes.contains(&mount) {
            faults.push(format!("invalid ContourDeployment spec.envoy.extraVolumeMounts, mount to unknown volume: {}", go_quoted(mount)));
        }
    }
    let level = envoy.field("logLevel").str();
    if !LOG_LEVELS.contains(&level) {
        let must_be = "trace, debug, info, warn, error, critical or off";
        faults.push(format!("invalid ContourDeployment spec.envoy.logLevel {}, must be {must_be}", go_quoted(level)));
    }
    faults
}

/// The status of a GatewayClass. Assumes that the cluster has the Gateway API version that Contour supports.
pub fn status(wrong: Option<&str>) -> Node {
    let accepted = match wrong {
        None => condition("Accepted", "True", "Accepted", "GatewayClass has been accepted by the controller"),
        Some(message) => condition("Accepted", "False", "InvalidParameters", message),
    };
    let version = condition("SupportedVersion", "True", "SupportedVersion", "Gateway API CRD bundle version v1.3.0 is supported.");
    object(alloc::vec![("conditions", list(alloc::vec![object(accepted), object(version)]))])
}
