//! Makes the parts that one Ingress requests by itself: made once, and again only when the Ingress or the Services and Secrets that it refers to
//! change.
//!
//! Does not merge Ingresses, and does not use the current gateway.

use super::draft::{Paths, RequestedListener, Use};
use super::memory::address;
use super::{backends, certificates, listeners, path_maps, pools, priorities, probes, settings};
use crate::crash::ControllerCrash;
use crate::environment::Environment;
use crate::events::{Reason, Recorder};
use crate::model::{Backend, Ingress};
use crate::names::{ListenerId, Names, PartKind};
use crate::source::{Backing, Source, Tables};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Certificate, FrontendType, Part, Parts, Pool, Probe, Properties, Reference, Settings};
use chancery_base::resource::{ObjectId, Origin, Sourced};
use chancery_text::Str;
use hashbrown::HashMap;

/// The parts that one Ingress requests.
#[derive(Clone, Debug)]
pub struct Share {
    pub ingress: Arc<Ingress>,
    found: References,
    /// The crash of the controller on this Ingress, if any.
    pub(super) crash: Option<ControllerCrash>,
    /// Its uses of Services: the use of its default backend first, then those of its paths.
    pub(super) uses: Vec<Use>,
    /// For each rule the index of the use of its first path.
    starts: Vec<usize>,
    /// Its probes; the first probe of a name wins.
    pub(super) probes: Parts<Probe>,
    /// Its settings; settings of a default backend are replaced by others of the same name.
    pub(super) settings: Vec<(Arc<Part<Settings>>, bool)>,
    pub(super) pools: Parts<Pool>,
    pub(super) certificates: Parts<Certificate>,
    /// The listeners that it requests, with their configuration.
    pub listeners: Vec<Arc<RequestedListener>>,
    /// The priority of its rules; `None` if the value is invalid and has no effect.
    pub(super) priority: Option<Option<Sourced<i64>>>,
    /// Its paths, by rule and listener.
    pub paths: Vec<Arc<Paths>>,
    /// Events to record when settings, pools and certificates are made.
    pub(super) notes: [Notes; 3],
}

/// Events of an Ingress that a step records later.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Vec<(Reason, String, Option<Origin>)>);

impl Notes {
    pub(super) fn add(&mut self, reason: Reason, message: impl Into<String>, at: impl Into<Option<Origin>>) {
        self.0.push((reason, message.into(), at.into()));
    }

    pub(super) fn record(&self, ingress: &Ingress, recorder: &mut Recorder) {
        for (reason, message, at) in &self.0 {
            recorder.ingress(ingress, *reason, message.as_str(), *at);
        }
    }
}

/// The Services and Secrets that an Ingress refers to, in the order of its references.
#[derive(Clone, Debug, Default)]
struct References {
    services: Vec<Backing>,
    certificates: Vec<bool>,
}

fn backends_of(ingress: &Ingress) -> impl Iterator<Item = &Backend> {
    let paths = ingress.rules.iter().flat_map(|rule| rule.paths()).map(|path| &path.backend);
    ingress.default_backend.iter().chain(paths)
}

impl References {
    fn of(source: &Source<'_>, ingress: &Ingress) -> Self {
        let (services, certificates) = Self::looked_up(source, ingress);
        Self { services: services.collect(), certificates: certificates.collect() }
    }

    fn looked_up<'i>(source: &'i Source<'_>, ingress: &'i Ingress) -> (impl Iterator<Item = Backing>, impl Iterator<Item = bool>) {
        let services = backends_of(ingress).filter_map(|backend| backend.service.as_ref());
        let services = services.map(|service| source.backing(&ingress.namespace, &service.name));
        (services, ingress.tls.iter().map(|tls| source.has_certificate(&ingress.namespace, &tls.secret)))
    }

    fn is_still(&self, source: &Source<'_>, ingress: &Ingress) -> bool {
        let (services, certificates) = Self::looked_up(source, ingress);
        services.zip(&self.services).all(|(now, before)| now.is(before)) && certificates.zip(&self.certificates).all(|(now, before)| now == *before)
    }
}

/// The input for making shares, except Ingresses and their references.
pub(super) struct ShareInput<'g, 'c> {
    pub(super) source: &'g Source<'c>,
    pub(super) names: &'g Names,
    pub(super) world: &'g GatewayTraits,
}

/// The properties that all shares depend on: if they change, all shares are made again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GatewayTraits {
    environment: Option<Environment>,
    old_ingress_api: bool,
    /// Whether the gateway has a public address.
    has_public: bool,
    /// Whether it is a v1 gateway, whose probes have no port.
    pub(super) has_old_probes: bool,
}

impl GatewayTraits {
    fn of(source: &Source<'_>, gateway: &Properties) -> Self {
        let tier = gateway.sku.as_ref().and_then(|sku| sku.tier.as_ref());
        Self {
            environment: Some(source.environment.clone()),
            old_ingress_api: source.old_ingress_api,
            has_public: gateway.frontend(FrontendType::Public).is_some(),
            has_old_probes: tier.is_some_and(|tier| matches!(tier.as_str(), "Standard" | "WAF")),
        }
    }
}

impl ShareInput<'_, '_> {
    pub(super) fn reference(&self, kind: PartKind, name: &str, origin: impl Into<Option<Origin>>) -> Reference {
        Sourced::new(self.names.id(kind, name), origin).into()
    }

    /// The listener for requests that no Ingress matches.
    pub(super) fn default_listener(&self) -> ListenerId {
        let private = self.source.environment.private_ip || !self.world.has_public;
        ListenerId::new(80, Vec::new(), if private { FrontendType::Private } else { FrontendType::Public }, None)
    }

    fn share(&self, ingress: Arc<Ingress>) -> Share {
        let (uses, crash) = match backends::uses(self, &ingress) {
            Ok(uses) => (uses, None),
            Err(crash) => (Vec::new(), Some(crash)),
        };
        let mut next = usize::from(ingress.default_backend.is_some());
        let starts = ingress.rules.iter().map(|rule| {
            let start = next;
            next += rule.paths().len();
            start
        });
        let mut share = Share {
            found: References::of(self.source, &ingress),
            crash,
            uses,
            starts: starts.collect(),
            probes: Vec::new(),
            settings: Vec::new(),
            pools: Vec::new(),
            certificates: Vec::new(),
            listeners: Vec::new(),
            priority: priorities::of(&ingress),
            paths: Vec::new(),
            notes: Default::default(),
            ingress,
        };
        if share.crash.is_none() {
            probes::add(self, &mut share);
            settings::add(self, &mut share);
            pools::add(self, &mut share);
            certificates::add(self, &mut share);
            let wanted = listeners::of_ingress(self.source, self.names, &share.ingress);
            share.listeners = wanted.into_iter().map(|(id, config)| Arc::new(RequestedListener { id: Arc::new(id), config })).collect();
            path_maps::add(self, &mut share);
        }
        share
    }
}

impl Share {
    /// Returns the objects of the Services that it refers to.
    pub fn found(&self) -> impl Iterator<Item = ObjectId> {
        self.found.services.iter().flat_map(Backing::objects)
    }

    /// The use of its default backend.
    pub(super) fn default_use(&self) -> Option<&Use> {
        self.uses.first().filter(|used| used.at.is_none())
    }

    /// The use of a path of a rule.
    pub(super) fn use_of(&self, rule: usize, path: usize) -> Option<&Use> {
        self.uses.get(self.starts.get(rule)? + path)
    }

    /// Whether it has a Service whose port needs a probe.
    pub(super) fn has_probes(&self) -> bool {
        !self.probes.is_empty()
    }
}

/// The shares of the previous compile.
#[derive(Default)]
pub(super) struct Memory {
    world: GatewayTraits,
    /// The tables in which the Ingresses looked up their references.
    tables: Tables,
    /// In the order of Ingresses.
    shares: Vec<Arc<Share>>,
}

impl Memory {
    /// Returns the shares of Ingresses, in order. A known share is reused if the Ingress and its references are unchanged.
    pub(super) fn shares(&mut self, source: &Source<'_>, names: &Names, gateway: &Properties, ingresses: &[Arc<Ingress>]) -> Vec<Arc<Share>> {
        let world = GatewayTraits::of(source, gateway);
        if self.world != world {
            *self = Self { world, ..Self::default() };
        }
        let given = ShareInput { source, names, world: &self.world };
        let tables = source.tables();
        let finds_same = self.tables.are_same_tables(&tables);
        let mut by_address: Option<HashMap<usize, &Arc<Share>>> = None;
        let mut out = Vec::with_capacity(ingresses.len());
        for (at, ingress) in ingresses.iter().enumerate() {
            // Most Ingresses keep their position, including the edited one.
            let there = self.shares.get(at).filter(|known| known.ingress.object == ingress.object);
            let known = there.or_else(|| {
                let all = by_address.get_or_insert_with(|| self.shares.iter().map(|share| (address(&share.ingress), share)).collect());
                all.get(&address(ingress)).copied()
            });
            let known = known.filter(|known| Arc::ptr_eq(&known.ingress, ingress));
            let known = known.filter(|known| finds_same || known.found.is_still(source, ingress));
            out.push(known.cloned().unwrap_or_else(|| Arc::new(given.share(ingress.clone()))));
        }
        drop(by_address);
        self.tables = tables;
        self.shares.clone_from(&out);
        out
    }

    /// Returns the input for making shares.
    pub(super) fn given<'g, 'c>(&'g self, source: &'g Source<'c>, names: &'g Names) -> ShareInput<'g, 'c> {
        ShareInput { source, names, world: &self.world }
    }
}

/// The name of a Service, as parts and events write it.
pub(super) fn name_of(service: &(Str, Str), between: char) -> String {
    alloc::format!("{}{between}{}", service.0, service.1)
}
