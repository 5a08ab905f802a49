//! Creates the Services and Endpoints that Ingresses refer to and the input lacks.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::resource::{Object, Objects};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Node;

/// Objects that are assumed to exist.
pub(crate) struct Assumed {
    /// As YAML.
    pub(crate) text: String,
    /// EndpointSlices with the same addresses as Endpoints, which a cluster mirrors for controllers that read only slices.
    pub(crate) slices: String,
    /// The assumed Services, as `NAMESPACE/NAME`.
    pub(crate) names: Vec<String>,
}

/// A Service by namespace and name.
type Named = (String, String);

/// Returns what these Ingresses need and the objects lack.
pub(crate) fn assumed(objects: &Objects, ingresses: &[&Object]) -> Assumed {
    let mut wanted: BTreeMap<Named, BTreeSet<String>> = BTreeMap::new();
    for object in ingresses {
        let namespace = namespace_of(object);
        for (name, port) in backends(Cursor::new(object.id, &object.root).field("spec")) {
            wanted.entry((namespace.clone(), name)).or_default().insert(port);
        }
    }
    let mut services: BTreeMap<Named, &Object> = BTreeMap::new();
    let mut served: BTreeMap<Named, &Object> = BTreeMap::new();
    let mut sliced: BTreeSet<Named> = BTreeSet::new();
    for object in objects.iter().filter(|object| !object.broken) {
        let named = (namespace_of(object), object.key.name.to_string());
        match (object.key.group.as_str(), object.key.kind.as_str()) {
            ("", "Service") => drop(services.insert(named, object)),
            ("", "Endpoints") => drop(served.insert(named, object)),
            ("discovery.k8s.io", "EndpointSlice") => {
                let service = object.root.at(&["metadata", "labels", "kubernetes.io/service-name"]).and_then(Node::as_str).unwrap_or_default();
                sliced.insert((named.0, service.to_string()));
            }
            _ => {}
        }
    }
    let mut out = Assumed { text: String::new(), slices: String::new(), names: Vec::new() };
    for (at, (named, ports)) in wanted.iter().enumerate() {
        let (namespace, name) = named;
        let ports = match services.get(named) {
            Some(service) => ports_of(Cursor::new(service.id, &service.root)),
            None => {
                let ports: Vec<(String, i64, i64)> = ports.iter().enumerate().map(|(at, port)| assumed_port(at, port)).collect();
                let written: Vec<String> =
                    ports.iter().map(|(name, port, target)| format!("{{name: {name}, port: {port}, targetPort: {target}, protocol: TCP}}")).collect();
                out.text.push_str(&format!(
                    "---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name:?}, namespace: {namespace:?}}}\nspec: {{ports: [{}]}}\n",
                    written.join(", ")
                ));
                out.names.push(format!("{namespace}/{name}"));
                ports
            }
        };
        let mirrors = !sliced.contains(named);
        if let Some(written) = served.get(named).filter(|_| mirrors) {
            mirror(named, written, &mut out.slices);
        }
        if !served.contains_key(named) && !ports.is_empty() {
            let ports: Vec<String> = ports
                .iter()
                .map(|(name, _, target)| if name.is_empty() { format!("{{port: {target}}}") } else { format!("{{name: {name:?}, port: {target}}}") })
                .collect();
            let address = format!("10.250.{}.{}", at / 250 % 250, 1 + at % 250);
            if mirrors {
                slice(named, &ports.join(", "), &format!("{address:?}"), &mut out.slices);
            }
            out.text.push_str(&format!(
                "---\napiVersion: v1\nkind: Endpoints\nmetadata: {{name: {name:?}, namespace: {namespace:?}}}\nsubsets: [{{addresses: [{{ip: {address}}}], ports: [{}]}}]\n",
                ports.join(", ")
            ));
        }
    }
    out
}

/// Writes the EndpointSlices of written Endpoints.
fn mirror(named: &Named, endpoints: &Object, out: &mut String) {
    for subset in Cursor::new(endpoints.id, &endpoints.root).field("subsets").items() {
        let port = |port: Cursor<'_>| Some(format!("{{name: {:?}, port: {}}}", port.field("name").str(), port.field("port").int()?));
        let ports: Vec<String> = subset.field("ports").items().filter_map(port).collect();
        let addresses: Vec<String> = subset.field("addresses").items().map(|address| format!("{:?}", address.field("ip").str())).collect();
        slice(named, &ports.join(", "), &addresses.join(", "), out);
    }
}

fn slice((namespace, name): &Named, ports: &str, addresses: &str, out: &mut String) {
    let number = out.len();
    out.push_str(&format!(
        "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {{name: \"{name}-{number}\", namespace: {namespace:?}, labels: {{kubernetes.io/service-name: {name:?}}}}}\naddressType: IPv4\nports: [{ports}]\nendpoints: [{{addresses: [{addresses}]}}]\n"
    ));
}

fn namespace_of(object: &Object) -> String {
    object.key.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or("default").to_string()
}

/// Returns names and ports of an Ingress's backends, in either API form.
fn backends(spec: Cursor<'_>) -> Vec<(String, String)> {
    let paths = spec.field("rules").items().flat_map(|rule| rule.field("http").field("paths").items()).map(|path| path.field("backend"));
    let all = paths.chain([spec.field("defaultBackend"), spec.field("backend")]);
    let read = |backend: Cursor<'_>| {
        let (name, port) = match backend.field("serviceName").some_str() {
            Some(name) => (name, backend.field("servicePort").int_or_string()?.to_string()),
            None => {
                let service = backend.field("service");
                let port = service.field("port");
                (service.field("name").some_str()?, port.field("number").int_or_string().or_else(|| port.field("name").int_or_string())?.to_string())
            }
        };
        Some((name.to_string(), port))
    };
    all.filter_map(read).collect()
}

/// Returns an assumed port for a backend: its name, number and target.
fn assumed_port(at: usize, written: &str) -> (String, i64, i64) {
    match written.parse::<u16>() {
        Ok(number) => (format!("p{number}"), number.into(), number.into()),
        Err(_) => (written.to_string(), 1000 + i64::try_from(at).unwrap_or_default(), 8080),
    }
}

/// Returns the ports of a Service: name, number, and the pods' port number.
fn ports_of(service: Cursor<'_>) -> Vec<(String, i64, i64)> {
    let ports = service.field("spec").field("ports").items();
    ports
        .filter_map(|port| {
            let number = port.field("port").int()?;
            let target = port.field("targetPort");
            // Named target ports are defined in pods.
            let target = target.int().or_else(|| target.exists().then_some(8080)).unwrap_or(number);
            Some((port.field("name").str().to_string(), number, target))
        })
        .collect()
}
