//! The shared input of all checks: each route once, and the list of findings. Contains no check.

use crate::relation::{Reference, references};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::diagnostic::{Code, Diagnostic, Place};
use chancery_base::ir::{Cluster, Cors, Forward, Ir, NetworkFilter, PerFilter, Route, RouteAction, RouteConfiguration, UpstreamClusters};
use chancery_base::resource::{Object, ObjectId, Origin, ResourceKey, Rule};
use chancery_text::{Node, NodeId, Str, Value};
use hashbrown::{HashMap, HashSet};

/// One gateway of a side, and its findings. Copies share the input.
#[derive(Clone)]
pub(super) struct Whole<'a> {
    pub side: SideRef<'a>,
    /// The gateway's configuration; empty if no gateway of the side runs.
    pub ir: &'a Ir,
    /// Every route once: virtual hosts of several listeners share routes.
    pub routes: Arc<[&'a Route]>,
    pub clusters: Arc<HashMap<&'a Str, &'a Cluster>>,
    /// References by field.
    pub references: Arc<[Reference]>,
    /// Objects that the stages reported, or that another object replaced: they need no further report.
    pub wrong: Arc<HashSet<ObjectId>>,
    found: Vec<Diagnostic>,
    reported: HashSet<u64>,
}

/// The input that all gateways of a side share.
pub(super) struct OfSide<'a> {
    side: SideRef<'a>,
    references: Arc<[Reference]>,
    wrong: Arc<HashSet<ObjectId>>,
}

impl<'a> OfSide<'a> {
    pub fn new(side: SideRef<'a>) -> Self {
        Self { side, references: references(side).into(), wrong: Arc::new(side.with_problems()) }
    }
}

impl<'a> Whole<'a> {
    pub fn new(of: &OfSide<'a>, ir: &'a Ir) -> Self {
        let routes = routes_once(ir);
        let clusters = ir.clusters.iter().chain(&ir.delivery.bootstrap.clusters);
        let clusters = Arc::new(clusters.map(|cluster| (&cluster.name.value, &**cluster)).collect());
        let (references, wrong) = (of.references.clone(), of.wrong.clone());
        Self { side: of.side, ir, routes: routes.into(), clusters, references, wrong, found: Vec::new(), reported: HashSet::new() }
    }

    /// Routes that forward, with their action.
    pub fn forwards(&self) -> impl Iterator<Item = (&'a Route, &'a Forward)> + use<'a> {
        let routes = self.routes.clone();
        (0..routes.len()).filter_map(move |at| routes.get(at).copied()).filter_map(|route| match &route.action {
            RouteAction::Forward(forward) => Some((route, &**forward)),
            _ => None,
        })
    }

    /// Returns the CORS policies of routes and virtual hosts.
    pub fn cors(&self) -> Vec<&'a Cors> {
        let of_routes = self.forwards().filter_map(|(_, forward)| forward.cors.as_ref()).map(|cors| &*cors.value);
        let hosts = tables(self.ir).flat_map(|table| &table.virtual_hosts).flat_map(|host| &host.per_filter);
        let filters = self.routes.iter().flat_map(|route| &route.per_filter).chain(hosts);
        let by_filter = filters.filter_map(|(_, filter)| match &filter.value {
            PerFilter::Cors(cors) => Some(&**cors),
            _ => None,
        });
        of_routes.chain(by_filter).collect()
    }

    /// Returns the clusters of routes, each with the service that its object names, if the object names exactly one that meets `is_included`.
    pub fn named_services<'r>(&self, references: &'r [Reference], is_included: impl Fn(&Reference) -> bool) -> Vec<(&'a Str, &'r Reference)> {
        if self.routes.is_empty() {
            return Vec::new();
        }
        let mut services: HashMap<ObjectId, Vec<&Reference>> = HashMap::new();
        for reference in references.iter().filter(|reference| reference.relation == "service" && is_included(reference)) {
            services.entry(reference.from).or_default().push(reference);
        }
        let mut out = Vec::new();
        if services.is_empty() {
            return out;
        }
        for (route, forward) in self.forwards() {
            let targets = clusters_of(forward);
            // With several clusters, only origins show which object names which.
            let alone = targets.len() == 1 && route.origins.len() == 1;
            for (name, origin) in targets {
                let owner = origin.or_else(|| route.origins.first().copied().filter(|_| alone)).map(|origin| origin.object());
                if let Some([service]) = owner.and_then(|owner| services.get(&owner)).map(Vec::as_slice) {
                    out.push((name, *service));
                }
            }
        }
        out
    }

    /// Returns the object of an origin; `None` for values that the controller has built in.
    pub fn object(&self, origin: Option<Origin>) -> Option<&'a Object> {
        self.side.objects().get(origin?.object())
    }

    /// Returns the node of an origin.
    pub fn node(&self, origin: Option<Origin>) -> Option<&'a Node> {
        fn find(root: &Node, id: NodeId) -> Option<&Node> {
            if root.id == id {
                return Some(root);
            }
            match &root.value {
                Value::Object(fields) => fields.iter().find_map(|entry| find(&entry.value, id)),
                Value::Array(items) => items.iter().find_map(|item| find(item, id)),
                _ => None,
            }
        }
        let (object, id) = (self.object(origin)?, origin?.node());
        id.is_some().then(|| find(&object.root, id)).flatten()
    }

    /// Returns the name of an origin's object.
    pub fn key(&self, origin: Option<Origin>) -> Option<&'a ResourceKey> {
        self.object(origin).map(|object| &object.key)
    }

    /// Creates a finding at the place of an origin, about its object.
    pub fn finding(&self, code: &'static Code, origin: Option<Origin>, message: impl Into<String>) -> Diagnostic {
        let mut finding = Diagnostic::new(code, message, Place::origin(origin));
        finding.resource = self.key(origin).cloned();
        finding
    }

    /// Reports a finding unless it was already reported: the same value may be used in several places.
    pub fn report(&mut self, finding: Diagnostic) {
        if self.reported.insert(finding.fingerprint()) {
            self.found.push(finding);
        }
    }

    /// Returns the findings.
    pub fn finish(self) -> Vec<Diagnostic> {
        self.found
    }
}

/// Returns every route of a gateway once, in the order of its virtual hosts.
pub(crate) fn routes_once(ir: &Ir) -> Vec<&Route> {
    let mut seen = HashSet::new();
    let mut routes = Vec::new();
    for host in tables(ir).flat_map(|table| &table.virtual_hosts) {
        if seen.insert(Arc::as_ptr(&host.routes).addr()) {
            routes.extend(host.routes.iter().filter(|route| seen.insert(Arc::as_ptr(route).addr())).map(|route| &**route));
        }
    }
    routes
}

pub(crate) fn tables(ir: &Ir) -> impl Iterator<Item = &RouteConfiguration> {
    let filters = ir.listeners.iter().flat_map(|listener| &listener.chains).flat_map(|chain| &chain.filters);
    let inline = filters.filter_map(|filter| match filter {
        NetworkFilter::Http(manager) => Some(&manager.routes),
        NetworkFilter::Tcp(_) => None,
    });
    inline.chain(ir.tables.iter().map(|table| &**table))
}

/// Whether a user wrote the value, in its own field.
pub(super) fn is_written(origin: Option<Origin>) -> bool {
    origin.is_some_and(|origin| origin.object() != ObjectId::BUILT_IN && origin.rule() == Rule::Field)
}

/// Returns the first origin that is part of the input.
pub(super) fn written(origins: &[Origin]) -> Option<Origin> {
    origins.iter().copied().find(|origin| origin.object() != ObjectId::BUILT_IN)
}

/// Returns the clusters that a route forwards to.
pub(super) fn clusters_of(forward: &Forward) -> Vec<(&Str, Option<Origin>)> {
    match &forward.clusters {
        UpstreamClusters::One(name) => Vec::from([(&name.value, name.origin)]),
        UpstreamClusters::Weighted(all) => all.iter().map(|cluster| (&cluster.name.value, cluster.name.origin)).collect(),
    }
}
