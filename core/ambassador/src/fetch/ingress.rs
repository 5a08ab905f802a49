//! Generates Hosts and Mappings from Ingresses.
//!
//! Source of behaviour: Emissary `fetch/ingress.py`, with all versions converted by `pkg/kates/k8s_resource_types/ingress.go`.

use super::annotations::Annotations;
use super::emit::{Emitter, Synthesised, made, made_text};
use super::findings;
use super::role::Role;
use super::verdict::Applied;
use super::visible::{VisibleObjects, ignore};
use crate::config::{Labels, Payload};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::Why;
use chancery_base::resource::{self, Object, Origin};
use chancery_kubernetes::ingress::{Backend, Ingress, Path, PortValue, Rule, class_controller, wildcard_regex};
use chancery_kubernetes::service;
use chancery_text::{self, Node, NodeId, Str, Value};
use hashbrown::HashMap;

/// The controller that an IngressClass must name to be ours.
const CONTROLLER: &str = "getambassador.io/ingress-controller";
pub(super) const ID_ANNOTATION: &str = "getambassador.io/ambassador-id";
const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";
/// The label of an Ingress's Mappings, which the Host selects.
const INGRESS_LABEL: &str = "a10r-k8s-ingress";

pub(super) fn annotation<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    object.root.at(&["metadata", "annotations", name])?.as_str()
}

/// The id of the instance that an Ingress, or its class, is meant for.
pub(super) fn id_of(object: &Object) -> &str {
    annotation(object, ID_ANNOTATION).unwrap_or("default")
}

pub(super) fn emit(seen: &VisibleObjects<'_>, annotations: &Annotations<'_>, emitter: &mut Emitter<'_>) {
    let mut ours: Vec<&str> = Vec::new();
    let mut others: Vec<&str> = Vec::new();
    for applied in seen.of(Role::IngressClass) {
        let object = applied.object;
        let controller = class_controller(&object.root).unwrap_or_default();
        if !controller.eq_ignore_ascii_case(CONTROLLER) {
            others.push(&object.key.name);
            ignore(emitter.ledger, object.id, Why::OtherController, "another controller's class");
        } else if id_of(object) != emitter.options.ambassador_id {
            others.push(&object.key.name);
            ignore(emitter.ledger, object.id, Why::OtherController, "another ambassador_id");
        } else {
            ours.push(&object.key.name);
            emitter.used(object.id);
        }
    }
    let ingresses = seen.of(Role::Ingress);
    if ingresses.is_empty() {
        return;
    }
    let mut services = HashMap::new();
    for applied in seen.of(Role::Service) {
        services.insert((applied.object.key.namespace.as_deref().unwrap_or_default(), &*applied.object.key.name), applied.object);
    }
    for applied in ingresses {
        let count = one(applied, &ours, &others, &services, emitter);
        annotations.emit(applied, count, emitter);
    }
}

type Services<'a> = HashMap<(&'a str, &'a str), &'a Object>;

/// Generates the resources of one Ingress; returns the next number.
fn one(applied: &Applied<'_>, ours: &[&str], others: &[&str], services: &Services<'_>, emitter: &mut Emitter<'_>) -> u32 {
    let object = applied.object;
    let ingress = Ingress::read(&object.root);
    let class = ingress.class.map(|class| class.text);
    let annotated = annotation(object, CLASS_ANNOTATION);
    let by_class = class.is_some_and(|class| ours.contains(&class));
    if !by_class && !annotated.is_some_and(|class| class.eq_ignore_ascii_case("ambassador")) {
        let class = class.or(annotated);
        let known = class.is_some_and(|class| others.contains(&class));
        emitter.sink.report(findings::class_not_ours(object, class, known));
        ignore(emitter.ledger, object.id, Why::OtherController, "not a class of this controller");
        return 1;
    }
    if id_of(object) != emitter.options.ambassador_id {
        let node = object.root.at(&["metadata", "annotations", ID_ANNOTATION]).map_or(object.root.id, |node| node.id);
        emitter.sink.report(findings::other_id(object.id, object.key.clone(), node, emitter.options));
        ignore(emitter.ledger, object.id, Why::OtherController, "another ambassador_id");
        return 1;
    }
    emitter.used(object.id);
    let labels = crate::config::labels_of(object.root.at(&["metadata", "labels"]));
    let maker = Maker { object, services, labels, has_tls: !ingress.tls.is_empty() };
    let mut count = 1;
    let mut add = |made: Synthesised| {
        emitter.synthesised(object, made, count);
        count += 1;
    };
    for (tls_at, tls) in ingress.tls.iter().enumerate() {
        let Some(secret) = tls.secret else { continue };
        let every = [chancery_kubernetes::ingress::Text { text: "*", node: tls.node }];
        let hosts = if tls.hosts.is_empty() { &every[..] } else { &tls.hosts };
        for (host_at, host) in hosts.iter().enumerate() {
            let name = format!("{}-{tls_at}-{host_at}", object.key.name);
            add(maker.host(name, host.text, host.node, secret.text, secret.node, tls.node));
        }
    }
    if let Some(made) = ingress.default_backend.as_ref().and_then(|backend| maker.default_backend(backend)) {
        add(made);
    }
    for (rule_at, rule) in ingress.rules.iter().enumerate() {
        for (path_at, path) in rule.paths.iter().enumerate() {
            let name = format!("{}-{rule_at}-{path_at}", object.key.name);
            if let Some(made) = maker.path(name, rule, path) {
                add(made);
            }
        }
    }
    count
}

struct Maker<'a> {
    object: &'a Object,
    services: &'a Services<'a>,
    labels: Labels,
    has_tls: bool,
}

impl Maker<'_> {
    fn namespace(&self) -> &str {
        self.object.key.namespace.as_deref().unwrap_or_default()
    }

    /// Ties an Ingress's Host to its Mappings.
    fn ingress_id(&self) -> Str {
        Str::from(format!("a10r-ingress-{}-{}", self.object.key.name, self.namespace()))
    }

    fn mapping_labels(&self) -> Labels {
        let mut labels = self.labels.clone();
        if self.has_tls {
            labels.insert(Str::new_static(INGRESS_LABEL), self.ingress_id());
        }
        labels
    }

    fn ambassador_id(&self, node: NodeId) -> Node {
        made(node, Value::Array(alloc::vec![made_text(node, id_of(self.object))]))
    }

    fn host(&self, name: String, host: &str, host_node: NodeId, secret: &str, secret_node: NodeId, tls: NodeId) -> Synthesised {
        let nested = |node: NodeId, path: &[&'static str], leaf: Node| {
            path.iter().rev().fold(leaf, |inner, key| made(node, Value::Object([(*key, inner)].into_iter().collect())))
        };
        let spec: chancery_text::Object = [
            ("ambassador_id", self.ambassador_id(tls)),
            ("hostname", made_text(host_node, host)),
            ("acmeProvider", nested(tls, &["authority"], made_text(tls, "none"))),
            ("tlsSecret", nested(secret_node, &["name"], made_text(secret_node, secret))),
            ("selector", nested(tls, &["matchLabels", INGRESS_LABEL], made_text(tls, self.ingress_id()))),
            ("requestPolicy", nested(tls, &["insecure", "action"], made_text(tls, "Route"))),
        ]
        .into_iter()
        .collect();
        Synthesised::new("Host", name.into(), self.labels.clone(), made(tls, Value::Object(spec)))
    }

    fn default_backend(&self, backend: &Backend<'_>) -> Option<Synthesised> {
        let service = backend.service?;
        let port = match backend.port.map(|port| port.value) {
            Some(PortValue::Number(number)) => format!("{number}"),
            Some(PortValue::Name(name)) => name.into(),
            None => "0".into(),
        };
        let spec: chancery_text::Object = [
            ("ambassador_id", self.ambassador_id(backend.node)),
            ("hostname", made_text(backend.node, "*")),
            ("prefix", made_text(backend.node, "/")),
            ("service", made_text(backend.node, format!("{}.{}:{port}", service.text, self.namespace()))),
        ]
        .into_iter()
        .collect();
        let name = format!("{}-default-backend", self.object.key.name).into();
        Some(Synthesised::new("Mapping", name, self.mapping_labels(), made(backend.node, Value::Object(spec))))
    }

    fn path(&self, name: String, rule: &Rule<'_>, path: &Path<'_>) -> Option<Synthesised> {
        let backend = path.backend.as_ref()?;
        let service = backend.service?;
        let (port, port_from) = self.port(service.text, backend.port?.value)?;
        let is_exact = path.path_type.is_some_and(|path_type| path_type.text == "Exact");
        let type_node = path.path_type.map_or(path.node, |path_type| path_type.node);
        let (prefix, prefix_node) = path.path.map_or(("/", path.node), |path| (path.text, path.node));
        let mut spec: chancery_text::Object = [
            ("ambassador_id", self.ambassador_id(path.node)),
            ("prefix", made_text(prefix_node, prefix)),
            ("prefix_exact", made(type_node, Value::Bool(is_exact))),
            ("precedence", made(type_node, Value::Int(is_exact.into()))),
            ("service", made_text(backend.node, format!("{}.{}:{port}", service.text, self.namespace()))),
        ]
        .into_iter()
        .collect();
        match rule.host {
            Some(host) => match wildcard_regex(host.text) {
                Some(regex) => {
                    spec.insert("host", made_text(host.node, regex));
                    spec.insert("host_regex", made(host.node, Value::Bool(true)));
                }
                None => {
                    spec.insert("hostname", made_text(host.node, host.text));
                }
            },
            // With TLS, the Host selects its Mappings by label; without TLS, they must match any host.
            None if !self.has_tls => {
                spec.insert("hostname", made_text(rule.node, "*"));
            }
            None => {}
        }
        let spec = made(path.node, Value::Object(spec));
        let payload = port_from.map_or(Payload::None, Payload::Port);
        Some(Synthesised { payload, ..Synthesised::new("Mapping", name.into(), self.mapping_labels(), spec) })
    }

    /// A port in the service's address: a name is looked up in the Service, whose port becomes the origin; an unknown name is unchanged.
    fn port(&self, service: &str, port: PortValue<'_>) -> Option<(String, Option<Origin>)> {
        let number = match port {
            PortValue::Number(number) => Some(number),
            PortValue::Name(name) => name.trim().parse().ok(),
        };
        match (number, port) {
            (Some(0), _) => None,
            (Some(number), _) => Some((format!("{number}"), None)),
            (None, PortValue::Name(name)) => {
                let known = self.services.get(&(self.namespace(), service)).map(|service| (service.id, service::ports(&service.root)));
                let found = known.and_then(|(id, ports)| Some((id, ports.into_iter().find(|port| port.name.as_deref() == Some(name))?)));
                Some(found.map_or_else(
                    || (name.into(), None),
                    |(id, port)| (format!("{}", port.port), Some(Origin::new(id, port.number_node, resource::Rule::Reference))),
                ))
            }
            (None, PortValue::Number(_)) => None,
        }
    }
}
