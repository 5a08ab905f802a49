//! The instances of all services, indexed for lookups. Does not register instances; see `registration`.

use super::instance::Instance;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Str;
use core::ops::Deref;
use hashbrown::HashMap;

/// The instances, in the order of their first registration.
#[derive(Clone, Debug, Default)]
pub struct Instances {
    all: Vec<Arc<Instance>>,
    /// By node, id and datacenter.
    by_key: HashMap<(Str, Str, Str), usize>,
    by_service: Index,
    /// The instances in the mesh, by the service that they represent.
    in_mesh: Index,
    by_kind: Index,
    by_datacenter: Index,
    /// The agent's instances, by their ids.
    locals: Index,
    /// How many instances of the agent have a port.
    ports: BTreeMap<i64, usize>,
}

/// Indexes by name, in order.
type Index = HashMap<Str, Vec<usize>>;

impl Deref for Instances {
    type Target = [Arc<Instance>];
    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl<'a> IntoIterator for &'a Instances {
    type Item = &'a Arc<Instance>;
    type IntoIter = core::slice::Iter<'a, Arc<Instance>>;
    fn into_iter(self) -> Self::IntoIter {
        self.all.iter()
    }
}

impl Instances {
    /// Registers an instance, and replaces its earlier registration.
    pub(crate) fn put(&mut self, instance: Arc<Instance>) {
        let key = (instance.node.name.clone(), instance.id.clone(), instance.node.datacenter.clone());
        let next = self.all.len();
        let at = *self.by_key.entry(key).or_insert(next);
        match self.all.get_mut(at) {
            Some(slot) => {
                let old = core::mem::replace(slot, instance.clone());
                self.forget(at, &old);
            }
            None => self.all.push(instance.clone()),
        }
        self.note(at, &instance);
    }

    /// The instances with this service name.
    pub(crate) fn of_service(&self, service: &str) -> impl Iterator<Item = &Arc<Instance>> {
        self.of(&self.by_service, service)
    }

    /// The instances that represent a service in the mesh.
    pub(crate) fn in_mesh_for(&self, service: &str) -> impl Iterator<Item = &Arc<Instance>> {
        self.of(&self.in_mesh, service)
    }

    /// The instances of a kind.
    pub(crate) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Arc<Instance>> {
        self.of(&self.by_kind, kind)
    }

    /// The instance that another one would replace.
    pub(crate) fn same(&self, other: &Instance) -> Option<&Arc<Instance>> {
        let key = (other.node.name.clone(), other.id.clone(), other.node.datacenter.clone());
        self.by_key.get(&key).and_then(|at| self.all.get(*at))
    }

    pub(crate) fn local(&self, datacenter: &Str, id: &Str) -> Option<&Arc<Instance>> {
        let places = self.locals.get(id).into_iter().flatten();
        places.filter_map(|at| self.all.get(*at)).find(|instance| instance.node.datacenter == *datacenter)
    }

    /// Whether a datacenter has any instances.
    pub(crate) fn knows(&self, datacenter: &str) -> bool {
        self.by_datacenter.get(datacenter).is_some_and(|all| !all.is_empty())
    }

    /// Whether a service of the agent has this port.
    pub(crate) fn uses(&self, port: i64) -> bool {
        self.ports.contains_key(&port)
    }

    fn of<'a>(&'a self, index: &'a Index, name: &str) -> impl Iterator<Item = &'a Arc<Instance>> + use<'a> {
        index.get(name).into_iter().flatten().filter_map(|at| self.all.get(*at))
    }

    fn note(&mut self, at: usize, instance: &Instance) {
        for (index, name) in self.names(instance) {
            let all = index.entry(name).or_default();
            if let Err(place) = all.binary_search(&at) {
                all.insert(place, at);
            }
        }
        if instance.local {
            *self.ports.entry(instance.port).or_default() += 1;
        }
    }

    fn forget(&mut self, at: usize, instance: &Instance) {
        for (index, name) in self.names(instance) {
            if let Some(all) = index.get_mut(&name) {
                all.retain(|other| *other != at);
            }
        }
        if instance.local
            && let Some(count) = self.ports.get_mut(&instance.port)
        {
            *count -= 1;
            if *count == 0 {
                self.ports.remove(&instance.port);
            }
        }
    }

    /// The indexes that contain an instance, each with the key.
    fn names(&mut self, instance: &Instance) -> impl Iterator<Item = (&mut Index, Str)> {
        let in_mesh = (instance.kind == "connect-proxy" || instance.native).then(|| instance.destination());
        let always = [
            (&mut self.by_service, instance.service.clone()),
            (&mut self.by_kind, instance.kind.clone()),
            (&mut self.by_datacenter, instance.node.datacenter.clone()),
        ];
        let in_mesh = in_mesh.map(|service| (&mut self.in_mesh, service));
        let local = instance.local.then(|| (&mut self.locals, instance.id.clone()));
        always.into_iter().chain(in_mesh).chain(local)
    }
}

#[cfg(test)]
mod tests {
    use super::Instances;
    use crate::instance::Instance;
    use alloc::sync::Arc;
    use alloc::vec::Vec;
    use chancery_base::ir::Tree;
    use chancery_text::Str;

    fn instance(id: &str, service: &str, kind: &str, port: i64) -> Instance {
        let proxy = Tree::object([("DestinationServiceName", Tree::from("web"))]);
        Instance { id: Str::new(id), service: Str::new(service), kind: Str::new(kind), port, local: true, proxy, ..Instance::default() }
    }

    #[test]
    fn reregistered_instance_is_found_by_new_keys() {
        let mut all = Instances::default();
        all.put(Arc::new(instance("a", "web", "", 80)));
        all.put(Arc::new(instance("b", "web", "", 81)));
        all.put(Arc::new(instance("p", "web-sidecar-proxy", "connect-proxy", 82)));
        all.put(Arc::new(instance("a", "shop", "", 83)));
        let ids = |found: &mut dyn Iterator<Item = &Arc<Instance>>| found.map(|of| of.id.clone()).collect::<Vec<_>>();
        assert_eq!(all.len(), 3);
        assert_eq!(ids(&mut all.of_service("web")), ["b"]);
        assert_eq!(ids(&mut all.of_service("shop")), ["a"]);
        assert_eq!(ids(&mut all.in_mesh_for("web")), ["p"]);
        assert_eq!(ids(&mut all.of_kind("")), ["a", "b"]);
        assert_eq!([80, 81, 83].map(|port| all.uses(port)), [false, true, true]);
    }
}
