//! Computes the values of a provisioned Contour and its Envoys from a Gateway and its class parameters (Contour
//! `internal/provisioner/controller/gateway.go`, `internal/provisioner/model`).

use super::super::cluster::Admitted;
use super::super::processor::ports;
use super::super::settings::{Flags, tidied};
use super::super::status::{list, number, object, text};
use super::manifest::{Values, documents, fill};
use crate::settings::ProvisionedContour;
use alloc::format;
use alloc::vec::Vec;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::{Node, Object, Str, Value};

const DEFAULTS: &str = include_str!("manifests/defaults.yaml");
const AFFINITY: &str = include_str!("manifests/affinity.yaml");
const CLUSTER_RULES: &str = include_str!("manifests/cluster-rules.yaml");
const NAMESPACED_RULES: &str = include_str!("manifests/namespaced-rules.yaml");

/// The label of the provisioner's objects.
const OWNER: &str = "projectcontour.io/owning-gateway-name";

/// A Gateway, its class parameters, and the provisioner's flags.
pub struct GatewayWithClass<'a> {
    pub gateway: &'a Admitted<'a>,
    /// Parameters of its class.
    pub parameters: Cursor<'a>,
    /// The provisioner's own flags.
    pub flags: &'a Flags,
}

impl GatewayWithClass<'_> {
    /// The namespaces that Contour watches, including the Gateway's own; empty if it watches all.
    pub fn watched(&self) -> Vec<Str> {
        let mut watched: Vec<Str> = self.parameters.at("contour.watchNamespaces").items().map(|name| Str::new(name.str())).collect();
        let own = self.gateway.namespace();
        if !watched.is_empty() && !watched.contains(own) {
            watched.push(own.clone());
        }
        watched
    }

    /// All values for the manifests.
    pub fn values(&self) -> Values {
        let defaults = documents(DEFAULTS).into_iter().filter_map(|defaults| match defaults.value {
            Value::Object(fields) => Some(fields),
            _ => None,
        });
        let mut values: Values = defaults.flatten().map(|entry| (entry.key, entry.value)).collect();
        values.insert("name".into(), text(self.gateway.name()));
        values.insert("namespace".into(), text(self.gateway.namespace()));
        for (place, flag) in [("contour-image", "contour-image"), ("envoy-image", "envoy-image")] {
            if let Some(image) = self.flags.get(flag) {
                values.insert(place.into(), text(image));
            }
        }
        self.labels(&mut values);
        self.contour(&mut values);
        self.envoy(&mut values);
        self.service(&mut values);
        self.configuration(&mut values);
        values
    }

    /// Labels and annotations: the Gateway's own override its class's.
    fn labels(&self, values: &mut Values) {
        let name = self.gateway.name();
        let infrastructure = self.gateway.spec().field("infrastructure");
        let given = map([self.parameters.field("resourceLabels"), infrastructure.field("labels")]);
        let owned = with(&given, [(OWNER, &**name), ("gateway.networking.k8s.io/gateway-name", name)]);
        let workload = with(
            &owned,
            [
                ("app.kubernetes.io/instance", &**name),
                ("app.kubernetes.io/name", "contour"),
                ("app.kubernetes.io/component", "ingress-controller"),
                ("app.kubernetes.io/managed-by", "contour-gateway-provisioner"),
            ],
        );
        let app = |app: &str, rest: &Object| {
            let labels = core::iter::once((Str::new_static("app"), text(app)));
            labels.chain(rest.iter().map(|entry| (entry.key.clone(), entry.value.clone()))).collect::<Object>()
        };
        let annotations = map([infrastructure.field("annotations")]);
        let image = values.get("contour-image").and_then(Node::as_str).unwrap_or_default();
        let version = image.split(':').nth(1).unwrap_or_default();
        let secret = core::iter::once((Str::new_static("projectcontour.io/generated-by-version"), text(version)));
        let secret = secret.chain(annotations.iter().map(|entry| (entry.key.clone(), entry.value.clone()))).collect();
        let pods = |side: &str| map([self.parameters.field(side).field("podAnnotations"), infrastructure.field("annotations")]);
        let service = map([infrastructure.field("annotations"), self.parameters.at("envoy.networkPublishing.serviceAnnotations")]);
        for (place, labels) in [
            ("secret-labels", app("contour", &owned)),
            ("contour-pod-labels", app(&format!("contour-{name}"), &workload)),
            ("envoy-pod-labels", app(&format!("envoy-{name}"), &workload)),
            ("labels", owned),
            ("workload-labels", workload),
            ("annotations", annotations),
            ("secret-annotations", secret),
            ("contour-pod-annotations", pods("contour")),
            ("envoy-pod-annotations", pods("envoy")),
            ("service-annotations", service),
        ] {
            let value = if labels.is_empty() { Value::Null } else { Value::Object(labels) };
            values.insert(place.into(), Node::synthesised(value));
        }
    }

    fn contour(&self, values: &mut Values) {
        let contour = self.parameters.field("contour");
        take(values, "contour-replicas", positive(contour.field("replicas")));
        take(values, "contour-replicas", positive(contour.at("deployment.replicas")));
        take(values, "contour-strategy", contour.at("deployment.strategy"));
        take(values, "contour-resources", contour.field("resources"));
        take(values, "contour-node-selector", filled(contour.at("nodePlacement.nodeSelector")));
        take(values, "contour-tolerations", filled(contour.at("nodePlacement.tolerations")));
        take(values, "kubernetes-debug", contour.field("kubernetesLogLevel"));
        let watched = self.watched();
        let disabled: Vec<Str> = contour.field("disabledFeatures").items().map(|feature| Str::new(feature.str())).collect();
        let mut more = Vec::new();
        if contour.field("logLevel").str() == "debug" {
            more.push(text("--debug"));
        }
        if !watched.is_empty() {
            more.push(text(&format!("--watch-namespaces={}", watched.join(","))));
        }
        more.extend(disabled.iter().map(|feature| text(&format!("--disable-feature={feature}"))));
        values.insert("more-arguments".into(), list(more));
        let enabled = rules(NAMESPACED_RULES, &disabled);
        let mut everywhere = rules(CLUSTER_RULES, &[]);
        if watched.is_empty() {
            everywhere.extend(enabled.iter().cloned());
        }
        values.insert("cluster-rules".into(), list(everywhere));
        values.insert("namespaced-rules".into(), list(enabled));
    }

    fn envoy(&self, values: &mut Values) {
        let envoy = self.parameters.field("envoy");
        let workload = envoy.field("workloadType").str();
        if workload == "Deployment" {
            take(values, "envoy-replicas", positive(envoy.field("replicas")));
            take(values, "envoy-replicas", positive(envoy.at("deployment.replicas")));
            take(values, "envoy-strategy", envoy.at("deployment.strategy"));
            values.extend(fill(AFFINITY, values).pop().map(|affinity| ("envoy-affinity".into(), affinity)));
            values.remove("envoy-update-strategy");
        } else {
            values.remove("envoy-replicas");
            values.remove("envoy-strategy");
            if workload == "DaemonSet" {
                take(values, "envoy-update-strategy", envoy.at("daemonSet.updateStrategy"));
            }
        }
        take(values, "workload", written(envoy.field("workloadType")));
        take(values, "envoy-resources", envoy.field("resources"));
        take(values, "envoy-node-selector", filled(envoy.at("nodePlacement.nodeSelector")));
        take(values, "envoy-tolerations", filled(envoy.at("nodePlacement.tolerations")));
        take(values, "extra-volumes", envoy.field("extraVolumes"));
        take(values, "extra-volume-mounts", envoy.field("extraVolumeMounts"));
        take(values, "envoy-log-level", written(envoy.field("logLevel")));
        take(values, "base-id", positive(envoy.field("baseID")));
        take(values, "max-heap", positive(envoy.field("overloadMaxHeapSize")));
        take(values, "max-connections", positive(envoy.field("overloadMaxDownstreamConnections")));
        take(values, "metrics-port", positive(self.parameters.at("runtimeSettings.envoy.metrics.port")));
        take(values, "health-port", positive(self.parameters.at("runtimeSettings.envoy.health.port")));
    }

    fn service(&self, values: &mut Values) {
        let publishing = self.parameters.at("envoy.networkPublishing");
        let (service, has_policy) = match publishing.field("type").str() {
            "NodePortService" => ("NodePort", true),
            "ClusterIPService" => ("ClusterIP", false),
            _ => ("LoadBalancer", true),
        };
        values.insert("service-type".into(), text(service));
        take(values, "external-traffic-policy", written(publishing.field("externalTrafficPolicy")));
        take(values, "ip-family-policy", written(publishing.field("ipFamilyPolicy")));
        if !has_policy {
            values.remove("external-traffic-policy");
        }
        let address = self.gateway.spec().field("addresses").items().next();
        let address = address.filter(|address| matches!(address.field("type").some_str(), None | Some("IPAddress" | "Hostname")));
        take(values, "load-balancer-ip", address.map_or(Cursor::nothing(), |address| written(address.field("value"))));
        let ports = ports::validate(self.gateway.spec().field("listeners")).ports.into_iter().map(|port| {
            let mut fields = alloc::vec![
                ("name", text(&port.name)),
                ("port", number(port.number)),
                ("protocol", text("TCP")),
                ("targetPort", number(port.container_port.into())),
            ];
            if service == "NodePort" {
                fields.push(("nodePort", number(port.number)));
            }
            object(fields)
        });
        let ports: Vec<Node> = ports.collect();
        values.insert("ports".into(), if ports.is_empty() { Node::synthesised(Value::Null) } else { list(ports) });
    }

    /// The runtime settings of the class, for this Gateway and the Service of its Envoys.
    fn configuration(&self, values: &mut Values) {
        values.insert("configuration".into(), self.spec());
    }

    /// The Contour that is made for the Gateway.
    pub fn provisioned(&self) -> ProvisionedContour {
        let disabled = self.parameters.at("contour.disabledFeatures").items();
        ProvisionedContour {
            spec: self.spec(),
            object: self.parameters.object(),
            watch_namespaces: self.watched(),
            disabled_features: disabled.map(|feature| Str::new(feature.str())).collect(),
        }
    }

    /// `spec` of its ContourConfiguration.
    fn spec(&self) -> Node {
        let mut spec = tidied(self.parameters.field("runtimeSettings").node());
        let (name, namespace) = (self.gateway.name(), self.gateway.namespace());
        let named = |name: &str| object(alloc::vec![("name", text(name)), ("namespace", text(namespace))]);
        if let Value::Object(fields) = &mut spec.value {
            fields.insert("gateway", object(alloc::vec![("gatewayRef", named(name))]));
            if !fields.contains_key("envoy") {
                fields.insert("envoy", object(Vec::new()));
            }
            if let Some(Node { value: Value::Object(envoy), .. }) = fields.get_mut("envoy") {
                envoy.insert("service", named(&format!("envoy-{name}")));
            }
        }
        spec
    }
}

/// RBAC rules for the features that are not disabled.
fn rules(manifest: &str, disabled: &[Str]) -> Vec<Node> {
    let mut rules: Vec<Node> = documents(manifest).into_iter().filter_map(|rules| rules.as_array().cloned()).flatten().collect();
    for rule in &mut rules {
        if let Value::Object(fields) = &mut rule.value
            && let Some(Node { value: Value::Array(resources), .. }) = fields.get_mut("resources")
        {
            let is_disabled = |resource: &str| disabled.iter().any(|feature| Some(feature.as_str()) == resource.split('/').next());
            resources.retain(|resource| !is_disabled(resource.as_str().unwrap_or_default()));
        }
    }
    rules
}

/// Replaces the default by the value, if it is set.
fn take(values: &mut Values, place: &'static str, value: Cursor<'_>) {
    if let Some(node) = value.node() {
        values.insert(place.into(), node.clone());
    }
}

fn positive(value: Cursor<'_>) -> Cursor<'_> {
    if value.int().is_some_and(|number| number > 0) { value } else { Cursor::nothing() }
}

fn written(value: Cursor<'_>) -> Cursor<'_> {
    if value.str().is_empty() { Cursor::nothing() } else { value }
}

fn filled(value: Cursor<'_>) -> Cursor<'_> {
    if value.is_empty() { Cursor::nothing() } else { value }
}

/// Maps of strings, later ones over earlier ones.
fn map<const N: usize>(maps: [Cursor<'_>; N]) -> Object {
    maps.into_iter().flat_map(Cursor::entries).map(|(key, value)| (key.clone(), text(value.str()))).collect()
}

fn with<const N: usize>(map: &Object, more: [(&str, &str); N]) -> Object {
    let mut map = map.clone();
    for (key, value) in more {
        map.insert(key, text(value));
    }
    map
}
