//! Finds the Service behind an address: by its cluster address, its DNS names, its external name, or its endpoints.
//!
//! Does not choose endpoints.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::resource::{Object, Objects};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::references::cluster_name;
use hashbrown::HashMap;

/// Services by address.
#[derive(Clone, Debug, Default)]
pub struct Services {
    /// `NAMESPACE/NAME:PORT` by `ADDRESS:PORT`.
    by_address: HashMap<String, BTreeSet<String>>,
    /// Ports by number and name, by `NAMESPACE/NAME`.
    ports: BTreeMap<String, Vec<ServicePort>>,
}

#[derive(Clone, Debug)]
struct ServicePort {
    number: i64,
    name: String,
    target: Option<i64>,
}

impl Services {
    /// Indexes the Services among these objects with their endpoints.
    #[must_use]
    pub fn of(objects: &Objects) -> Self {
        let mut out = Self::default();
        let is_kind = |object: &&Object, group: &str, kind: &str| !object.broken && object.key.group == group && object.key.kind == kind;
        let all: Vec<&Object> = objects.all().collect();
        for object in all.iter().filter(|object| is_kind(object, "", "Service")) {
            out.service(object);
        }
        for object in &all {
            if is_kind(object, "discovery.k8s.io", "EndpointSlice") {
                out.slice(object);
            } else if is_kind(object, "", "Endpoints") {
                out.endpoints(object);
            }
        }
        out
    }

    fn add(&mut self, address: &str, port: i64, name: String) {
        let address = if address.contains(':') { format!("[{address}]:{port}") } else { format!("{address}:{port}") };
        self.by_address.entry(address).or_default().insert(name);
    }

    fn service(&mut self, object: &Object) {
        let (namespace, name) = (namespace_of(object), object.key.name.as_str());
        let spec = Cursor::new(object.id, &object.root).field("spec");
        let ports: Vec<ServicePort> = spec
            .field("ports")
            .items()
            .filter_map(|port| {
                let target = port.field("targetPort");
                Some(ServicePort { number: port.field("port").int()?, name: port.field("name").str().into(), target: target.int() })
            })
            .collect();
        let addresses = spec.field("clusterIPs").items().map(Cursor::str).chain([spec.field("clusterIP").str()]);
        let addresses: BTreeSet<&str> = addresses.filter(|address| !address.is_empty() && *address != "None").collect();
        let external = spec.field("externalName").str();
        for port in &ports {
            let own = format!("{namespace}/{name}:{}", port.number);
            for address in &addresses {
                self.add(address, port.number, own.clone());
            }
            let names =
                [name.to_string(), format!("{name}.{namespace}"), format!("{name}.{namespace}.svc"), format!("{name}.{namespace}.svc.cluster.local")];
            names.iter().for_each(|host| self.add(host, port.number, own.clone()));
            if !external.is_empty() {
                self.add(external, port.target.unwrap_or(port.number), own.clone());
            }
        }
        self.ports.insert(format!("{namespace}/{name}"), ports);
    }

    fn slice(&mut self, object: &Object) {
        let root = Cursor::new(object.id, &object.root);
        let service = root.field("metadata").field("labels").field("kubernetes.io/service-name").str();
        let service = format!("{}/{service}", namespace_of(object));
        for port in root.field("ports").items() {
            let Some(number) = port.field("port").int() else { continue };
            let Some(own) = self.named(&service, port.field("name").str(), number) else { continue };
            for address in root.field("endpoints").items().flat_map(|endpoint| endpoint.field("addresses").items()) {
                self.add(address.str(), number, own.clone());
            }
        }
    }

    fn endpoints(&mut self, object: &Object) {
        let service = format!("{}/{}", namespace_of(object), object.key.name);
        for subset in Cursor::new(object.id, &object.root).field("subsets").items() {
            for port in subset.field("ports").items() {
                let Some(number) = port.field("port").int() else { continue };
                let Some(own) = self.named(&service, port.field("name").str(), number) else { continue };
                for address in subset.field("addresses").items() {
                    self.add(address.field("ip").str(), number, own.clone());
                }
            }
        }
    }

    /// Returns the port of a Service that endpoints with this name and number serve.
    fn named(&self, service: &str, name: &str, number: i64) -> Option<String> {
        let ports = self.ports.get(service)?;
        let by_name = ports.iter().find(|port| port.name == name);
        let port = by_name.or_else(|| ports.iter().find(|port| port.target.unwrap_or(port.number) == number)).or_else(|| ports.first())?;
        Some(format!("{service}:{}", port.number))
    }

    /// Returns the name of a Service at a port, which may be written as a number or a name. `0` is the first port.
    #[must_use]
    pub fn at_port(&self, service: &str, port: &str) -> String {
        let mut ports = self.ports.get(service).into_iter().flatten();
        let found = if port == "0" { ports.next() } else { ports.find(|known| known.name == port && !port.is_empty()) };
        match found {
            Some(found) => format!("{service}:{}", found.number),
            None => format!("{service}:{port}"),
        }
    }

    /// Returns the Service with this name in the form `NAMESPACE-NAME`, at its first port. Returns `None` if several Services have that form.
    #[must_use]
    pub fn joined_by_hyphen(&self, name: &str) -> Option<String> {
        let mut found = self.ports.iter().filter(|(service, _)| service.replacen('/', "-", 1) == name);
        let (service, ports) = found.next()?;
        if found.next().is_some() {
            return None;
        }
        Some(format!("{service}:{}", ports.first()?.number))
    }

    /// Returns the Service that a cluster's name consists of, as in `NAMESPACE/NAME/PORT/HASH`.
    #[must_use]
    pub fn of_cluster_name(&self, cluster: &str) -> Option<String> {
        let mut parts = cluster.split('/');
        let (namespace, name, port) = (parts.next()?, parts.next()?, parts.next()?);
        let service = format!("{namespace}/{name}");
        self.ports.contains_key(&service).then(|| self.at_port(&service, port))
    }

    /// Returns the Services that have all of these addresses; empty if there are none.
    #[must_use]
    pub fn behind<'a>(&self, addresses: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
        let mut found: Option<BTreeSet<String>> = None;
        for address in addresses {
            let by_name = || in_cluster(address).map(|service| BTreeSet::from([service])).unwrap_or_default();
            let of = self.by_address.get(address).cloned().unwrap_or_else(by_name);
            found = Some(match found {
                None => of,
                Some(known) => known.intersection(&of).cloned().collect(),
            });
        }
        found.unwrap_or_default()
    }
}

/// Returns the Service that a DNS name of the cluster names, as `NAMESPACE/NAME:PORT`: the input may lack its object.
fn in_cluster(address: &str) -> Option<String> {
    let (host, port) = address.rsplit_once(':')?;
    let (name, namespace) = cluster_name(host)?;
    Some(format!("{namespace}/{name}:{port}"))
}

fn namespace_of(object: &Object) -> &str {
    object.key.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or("default")
}
