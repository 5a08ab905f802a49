//! Finds the pods of a cluster that run Envoy, and the addresses of their admin interfaces. Does not connect to them;
//! see `reach`.

use crate::Failure;
use crate::sources::kube::unreachable;
use k8s_openapi::api::core::v1::{Container, Pod};
use kube::Client;
use kube::api::{Api, ListParams};
use serde::Serialize;

/// The number of pods per request.
const PAGE: u32 = 500;
/// The most pods that are checked.
const MOST: usize = 10_000;

/// Selects the pods that are treated as Envoys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The only namespace to search.
    pub namespace: Option<String>,
    /// The labels of Envoy pods, whatever runs in them.
    pub selector: Option<String>,
    /// The port of the admin interface. Without a selector, pods with a container port of this number match.
    pub port: Option<u16>,
}

/// A pod with an Envoy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FoundEnvoy {
    pub namespace: String,
    pub pod: String,
    pub container: String,
    /// The port of the admin interface, if the pod names it.
    pub port: u16,
    /// Whether all containers of the pod are ready.
    pub ready: bool,
}

/// The port of the admin interface in programs that run Envoy, by the last word of their image.
const IMAGES: [(&str, u16); 8] = [
    ("envoy", 9901),
    ("envoy-distroless", 9901),
    ("envoy-contrib", 9901),
    ("emissary", 8001),
    ("ambassador", 8001),
    ("aes", 8001),
    ("consul-dataplane", 19000),
    ("consul-envoy", 19000),
];

/// The port of the admin interface in Envoys that Contour started.
const CONTOUR: u16 = 9001;

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// The running Envoys, by namespace and name.
    pub envoys: Vec<FoundEnvoy>,
    /// Whether the cluster has more pods than were checked.
    pub is_cut: bool,
}

/// Finds running Envoys.
///
/// # Errors
///
/// One sentence: the cluster does not answer, or refuses to list pods. The message contains the missing rule.
pub async fn find(client: &Client, search: &Search) -> Result<SearchResult, Failure> {
    let pods: Api<Pod> = match &search.namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    };
    let mut params = ListParams::default().fields("status.phase=Running").limit(PAGE);
    if let Some(selector) = &search.selector {
        params = params.labels(selector);
    }
    let (mut envoys, mut looked) = (Vec::new(), 0);
    let is_cut = loop {
        let listed = pods.list(&params).await.map_err(|error| refused(&error, search))?;
        looked += listed.items.len();
        envoys.extend(listed.items.iter().filter_map(|pod| envoy_in(pod, search)));
        match listed.metadata.continue_.filter(|next| !next.is_empty()) {
            None => break false,
            Some(_) if looked >= MOST => break true,
            Some(next) => params = params.continue_token(&next),
        }
    };
    envoys.sort();
    Ok(SearchResult { envoys, is_cut })
}

fn refused(error: &kube::Error, search: &Search) -> Failure {
    if matches!(error, kube::Error::Api(status) if status.code == 403) {
        let place = search.namespace.as_ref().map(|name| format!(" in the namespace {name}")).unwrap_or_default();
        return format!("pods may not be listed{place}; the rule that is missing: apiGroups: [\"\"], resources: [\"pods\"], verbs: [list]").into();
    }
    unreachable(error).into()
}

/// Returns the Envoy of a pod, if it has one.
fn envoy_in(pod: &Pod, search: &Search) -> Option<FoundEnvoy> {
    let spec = pod.spec.as_ref()?;
    let is_asked = |container: &&Container| search.port.is_some_and(|port| has_port(container, port));
    let known = || spec.containers.iter().find(|container| admin_port(container, pod).is_some());
    let container = spec.containers.iter().find(is_asked).or_else(known);
    // A user who gives labels knows the pods. A user who gives only a port means the pods that have it, and known
    // Envoys.
    let container = container.or_else(|| spec.containers.first().filter(|_| search.selector.is_some()))?;
    let port = search.port.or_else(|| admin_port(container, pod)).unwrap_or(IMAGES[0].1);
    let states = pod.status.as_ref().and_then(|status| status.container_statuses.as_deref()).unwrap_or_default();
    Some(FoundEnvoy {
        namespace: pod.metadata.namespace.clone().unwrap_or_default(),
        pod: pod.metadata.name.clone()?,
        container: container.name.clone(),
        port,
        ready: !states.is_empty() && states.iter().all(|state| state.ready),
    })
}

fn has_port(container: &Container, port: u16) -> bool {
    container.ports.iter().flatten().any(|of| of.container_port == i32::from(port))
}

/// Returns the admin port of a container's Envoy, or `None` if the container does not look like an Envoy.
fn admin_port(container: &Container, pod: &Pod) -> Option<u16> {
    let image = container.image.as_deref().unwrap_or_default();
    let name = image.split('@').next().unwrap_or_default().rsplit('/').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let usual = IMAGES.iter().find(|(known, _)| *known == name).map(|(_, port)| *port);
    let words: Vec<&str> = container.command.iter().chain(&container.args).flatten().map(String::as_str).collect();
    let runs_envoy = words.iter().any(|word| *word == "envoy" || word.ends_with("/envoy"));
    let usual = usual.or_else(|| runs_envoy.then_some(IMAGES[0].1))?;
    let named = container.ports.iter().flatten().find(|port| port.name.as_deref().is_some_and(|name| name.contains("admin")));
    let named = named.and_then(|port| u16::try_from(port.container_port).ok());
    Some(named.or_else(|| after_flag(&words)).unwrap_or(if usual == IMAGES[0].1 && is_contours(pod) { CONTOUR } else { usual }))
}

/// Returns the port after a flag, such as `--admin-port 9901` or `-envoy-admin-bind-port=19000`.
fn after_flag(words: &[&str]) -> Option<u16> {
    let is_flag = |word: &str| word.trim_start_matches('-').ends_with("admin-port") || word.trim_start_matches('-').ends_with("admin-bind-port");
    words.iter().enumerate().find_map(|(at, word)| match word.split_once('=') {
        Some((flag, port)) if is_flag(flag) => port.parse().ok(),
        None if is_flag(word) => words.get(at + 1)?.parse().ok(),
        _ => None,
    })
}

/// Whether Contour writes the bootstrap of the pod's Envoy.
fn is_contours(pod: &Pod) -> bool {
    let starters = pod.spec.iter().flat_map(|spec| spec.init_containers.iter().flatten());
    let mut words = starters.flat_map(|starter| starter.command.iter().chain(&starter.args).flatten());
    words.any(|word| word == "contour" || word.ends_with("/contour"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn pod(container: &Value, starter: &str) -> Pod {
        serde_json::from_value(json!({
            "metadata": {"name": "p", "namespace": "n"},
            "spec": {"containers": [container], "initContainers": [{"name": "i", "command": [starter]}]},
            "status": {"containerStatuses": [{"name": "c", "ready": true, "image": "", "imageID": "", "restartCount": 0}]},
        }))
        .expect("a pod")
    }

    fn port_of(container: &Value, starter: &str, search: &Search) -> Option<u16> {
        envoy_in(&pod(container, starter), search).map(|found| found.port)
    }

    #[test]
    fn find_detects_image_command_ports_and_flags() {
        let any = Search::default();
        for (container, starter, port) in [
            (json!({"name": "c", "image": "docker.io/envoyproxy/envoy:v1.36.2"}), "", Some(9901)),
            (json!({"name": "c", "image": "docker.io/envoyproxy/envoy:v1.36.2"}), "contour", Some(9001)),
            (json!({"name": "c", "image": "docker.io/emissaryingress/emissary:3.10@sha256:0"}), "", Some(8001)),
            (json!({"name": "c", "image": "hashicorp/consul-dataplane:1.9", "args": ["-envoy-admin-bind-port=19500"]}), "", Some(19500)),
            (json!({"name": "c", "image": "ours", "command": ["/usr/local/bin/envoy", "-c", "x"]}), "", Some(9901)),
            (json!({"name": "c", "image": "ours", "args": ["envoy", "--admin-port", "7000"]}), "", Some(7000)),
            (json!({"name": "c", "image": "envoy", "ports": [{"name": "http-admin", "containerPort": 8888}]}), "", Some(8888)),
            (json!({"name": "c", "image": "nginx", "ports": [{"name": "admin", "containerPort": 8888}]}), "", None),
        ] {
            assert_eq!(port_of(&container, starter, &any), port, "{container}");
        }
    }

    #[test]
    fn find_with_port_or_labels_detects_others() {
        let other = json!({"name": "c", "image": "ours", "ports": [{"containerPort": 9000}]});
        let by_port = |port| Search { port: Some(port), ..Search::default() };
        assert_eq!(port_of(&other, "", &by_port(9000)), Some(9000));
        assert_eq!(port_of(&other, "", &by_port(9001)), None);
        assert_eq!(port_of(&other, "", &Search { selector: Some("app=ours".into()), ..Search::default() }), Some(9901));
        assert_eq!(port_of(&other, "", &Search { selector: Some("app=ours".into()), port: Some(5), namespace: None }), Some(5));
    }
}
