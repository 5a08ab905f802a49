//! Finds Gateways and routes that belong to another controller according to the input.

use super::GROUP;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::Object;
use chancery_text::Node;

/// GatewayClasses that other controllers' installations create under these names.
const CLASSES: &[&str] = &["cilium", "consul", "consul-api-gateway", "eg", "istio", "istio-waypoint", "kong", "linkerd", "nginx", "traefik"];

/// Controllers that Chancery does not read, by the start of their `controllerName` or by the name of their class.
const UNREAD: &[(&str, &str)] = &[
    ("istio.io/", "Istio"),
    ("istio", "Istio"),
    ("istio-waypoint", "Istio"),
    ("io.cilium/", "Cilium"),
    ("cilium", "Cilium"),
    ("gateway.nginx.org/", "NGINX Gateway Fabric"),
    ("nginx", "NGINX Gateway Fabric"),
    ("konghq.com/", "Kong"),
    ("kong", "Kong"),
    ("traefik.io/", "Traefik"),
    ("traefik", "Traefik"),
    ("networking.gke.io/", "Google Kubernetes Engine"),
    ("application-networking.k8s.aws/", "the AWS Gateway API controller"),
    ("gateway.k8s.aws/", "the AWS Load Balancer Controller"),
    ("alb.networking.azure.io/", "Application Gateway for Containers"),
    ("kgateway.dev/", "kgateway"),
    ("linkerd", "Linkerd"),
    ("haproxy.org/", "HAProxy"),
    ("apisix.apache.org/", "APISIX"),
    ("higress.io/", "Higress"),
];

/// The classes and the Gateways of an input.
pub struct Owners<'o> {
    controller: &'o str,
    /// The controller of each class.
    classes: BTreeMap<&'o str, &'o str>,
    /// The class of each Gateway, by namespace and name.
    gateways: BTreeMap<(&'o str, &'o str), &'o str>,
    /// Whether all classes belong to this controller.
    reads_all: bool,
}

impl<'o> Owners<'o> {
    /// Collects them from these objects, as seen by this controller.
    pub fn of(objects: impl Iterator<Item = &'o Object>, controller: &'o str) -> Self {
        let objects: Vec<&Object> = objects.filter(|object| !object.broken && *object.key.group == *GROUP).collect();
        let of_kind = |kind: &'static str| objects.iter().copied().filter(move |object| *object.key.kind == *kind);
        let classes = of_kind("GatewayClass").filter_map(|class| Some((&*class.key.name, text(&class.root, &["spec", "controllerName"])?))).collect();
        let place = |gateway: &'o Object| (gateway.key.namespace.as_deref().unwrap_or_default(), &*gateway.key.name);
        let gateways =
            of_kind("Gateway").map(|gateway| (place(gateway), text(&gateway.root, &["spec", "gatewayClassName"]).unwrap_or_default())).collect();
        Self { controller, classes, gateways, reads_all: false }
    }

    /// Treats every class as this controller's, unless the input has a class of this controller.
    #[must_use]
    pub fn reading_all(mut self) -> Self {
        self.reads_all = !self.classes.values().any(|controller| *controller == self.controller);
        self
    }

    /// Whether classes of other controllers are treated as this controller's.
    pub fn reads_all(&self) -> bool {
        self.reads_all
    }

    /// The other controller that owns the object: its name or a hint.
    pub fn other(&self, object: &Object) -> Option<String> {
        match &*object.key.kind {
            _ if *object.key.group != *GROUP => None,
            "GatewayClass" => self.of_class(&object.key.name).map(quoted),
            "Gateway" => self.of_class(text(&object.root, &["spec", "gatewayClassName"])?).map(quoted),
            "HTTPRoute" | "GRPCRoute" | "TLSRoute" | "TCPRoute" | "UDPRoute" => self.of_route(object),
            _ => None,
        }
    }

    fn of_class<'a>(&'a self, class: &'a str) -> Option<&'a str> {
        match self.classes.get(class) {
            _ if self.reads_all => None,
            Some(controller) => Some(*controller).filter(|controller| *controller != self.controller),
            // The class `eg` is what the guides of Envoy Gateway make.
            None if class == "eg" && self.controller.starts_with("gateway.envoyproxy.io/") => None,
            None => Some(class).filter(|class| CLASSES.contains(class)),
        }
    }

    /// A route belongs to another controller if all its Gateways do. If none of them is in the input, the kinds of its backends and filters decide.
    /// Routes of Services belong to a mesh.
    fn of_route<'r>(&self, route: &'r Object) -> Option<String> {
        let here = route.key.namespace.as_deref().unwrap_or_default();
        let parents = route.root.at(&["spec", "parentRefs"]).and_then(Node::as_array).map_or(&[][..], Vec::as_slice);
        if !parents.is_empty() && parents.iter().all(|parent| text(parent, &["kind"]) == Some("Service")) {
            return Some("a service mesh".into());
        }
        let there = parents.iter().filter_map(|parent| self.gateways.get(&(text(parent, &["namespace"]).unwrap_or(here), text(parent, &["name"])?)));
        let mut owners = there.map(|class| self.of_class(class)).peekable();
        if owners.peek().is_some() {
            return owners.reduce(|one, other| one.and(other)).flatten().map(quoted);
        }
        let rules = route.root.at(&["spec", "rules"]).and_then(Node::as_array).into_iter().flatten();
        let named = |rule: &'r Node, list: &str| rule.get(list).and_then(Node::as_array).into_iter().flatten();
        let mut groups = rules.flat_map(|rule| {
            let filters = named(rule, "filters").filter_map(|filter| text(filter, &["extensionRef", "group"]));
            named(rule, "backendRefs").filter_map(|backend| text(backend, &["group"])).chain(filters)
        });
        // Groups without a dot are errors.
        groups.find(|group| group.contains('.') && *group != GROUP).map(quoted)
    }
}

fn quoted(name: &str) -> String {
    let known = UNREAD.iter().find(|(mark, _)| if mark.ends_with('/') { name.starts_with(mark) } else { name == *mark });
    match known {
        Some((_, controller)) => format!("{controller} (`{name}`)"),
        None => format!("`{name}`"),
    }
}

fn text<'n>(node: &'n Node, path: &[&str]) -> Option<&'n str> {
    node.at(path)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chancery_base::read::{DocumentCache, ReadOptions, read};
    use chancery_base::resource::Inputs;

    const ROUTE: &str = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: d}\n";

    fn others(text: &str) -> Vec<String> {
        let (objects, found) = read(&Inputs::one("in.yaml", text), &ReadOptions::default(), &mut DocumentCache::new());
        assert!(found.is_empty(), "{found:?}");
        let owners = Owners::of(objects.iter(), "projectcontour.io/gateway-controller");
        objects.iter().filter_map(|object| Some(format!("{} {}", object.key.kind, owners.other(object)?))).collect()
    }

    fn gateway(name: &str, class: &str) -> String {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: {name}, namespace: d}}\nspec: {{gatewayClassName: {class}}}\n---\n"
        )
    }

    #[test]
    fn route_owner_follows_all_gateways() {
        let class =
            "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: theirs}\nspec: {controllerName: example.com/c}\n---\n";
        let (theirs, ours) = (format!("{class}{}", gateway("a", "theirs")), gateway("b", "ours"));
        let route = |parents: &str| format!("{theirs}{ours}{ROUTE}spec: {{parentRefs: [{parents}]}}\n");
        let gateways = ["GatewayClass `example.com/c`", "Gateway `example.com/c`"];
        assert_eq!(others(&route("{name: a}")), [&gateways[..], &["HTTPRoute `example.com/c`"]].concat());
        assert_eq!(others(&route("{name: a}, {name: b}")), gateways);
        assert_eq!(others(&route("{name: b}, {name: a}")), gateways);
        assert_eq!(others(&gateway("c", "consul")), ["Gateway `consul`"]);
        let own = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: nginx}\nspec: {controllerName: projectcontour.io/gateway-controller}\n---\n";
        assert_eq!(others(&format!("{own}{}", gateway("d", "nginx"))), [""; 0], "a name says nothing where the class is there");
    }

    #[test]
    fn known_controller_is_called_by_its_name() {
        assert_eq!(others(&gateway("a", "istio")), ["Gateway Istio (`istio`)"]);
    }

    #[test]
    fn chosen_controller_reads_classes_of_others() {
        let text = gateway("a", "istio");
        let (objects, _) = read(&Inputs::one("in.yaml", text.as_str()), &ReadOptions::default(), &mut DocumentCache::new());
        let owners = Owners::of(objects.iter(), "gateway.envoyproxy.io/gatewayclass-controller").reading_all();
        assert_eq!(objects.iter().find_map(|object| owners.other(object)), None);
    }

    #[test]
    fn backends_decide_route_owner_without_gateway() {
        let route = |group: &str| {
            format!(
                "{ROUTE}spec: {{parentRefs: [{{name: a}}], rules: [{{backendRefs: [{{name: s}}, {{group: {group}, kind: MeshService, name: s}}]}}]}}\n"
            )
        };
        assert_eq!(others(&route("consul.hashicorp.com")), ["HTTPRoute `consul.hashicorp.com`"]);
        assert_eq!(others(&route("v1")), [""; 0]);
        let filter =
            format!("{ROUTE}spec: {{rules: [{{filters: [{{type: ExtensionRef, extensionRef: {{group: example.com, kind: Filter, name: f}}}}]}}]}}\n");
        assert_eq!(others(&filter), ["HTTPRoute `example.com`"]);
        let mesh = format!("{ROUTE}spec: {{parentRefs: [{{group: '', kind: Service, name: s}}]}}\n");
        assert_eq!(others(&mesh), ["HTTPRoute a service mesh"]);
        assert_eq!(others(&format!("{}{}", gateway("a", "ours"), route("consul.hashicorp.com"))), [""; 0]);
    }
}
