//! What one Ingress asks for by itself: made once, and again only when the Ingress is another, or what it finds of its Services and Secrets.
//!
//! What must not be here: what several Ingresses make together; the gateway as it is.

use super::draft::{Paths, Use, Wanted};
use super::memory::address;
use super::{backends, certificates, listeners, path_maps, pools, priorities, probes, settings};
use crate::death::Died;
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

/// What one Ingress asks for.
#[derive(Clone, Debug)]
pub struct Share {
    /// The Ingress.
    pub ingress: Arc<Ingress>,
    found: Found,
    /// Where the controller dies of it.
    pub(super) died: Option<Died>,
    /// Its uses of Services: that of its default backend first, then those of its paths.
    pub(super) uses: Vec<Use>,
    /// For each rule the place of the use of its first path.
    starts: Vec<usize>,
    /// Its probes; of those with one name the first counts.
    pub(super) probes: Parts<Probe>,
    /// Its settings; those of a default backend give way to others with their name.
    pub(super) settings: Vec<(Arc<Part<Settings>>, bool)>,
    /// Its pools.
    pub(super) pools: Parts<Pool>,
    /// Its certificates.
    pub(super) certificates: Parts<Certificate>,
    /// The listeners that it wants, and what they are to do.
    pub listeners: Vec<Arc<Wanted>>,
    /// The priority of its rules; `None` where what is written is none, and nothing follows from it.
    pub(super) priority: Option<Option<Sourced<i64>>>,
    /// Its paths, by rule and listener.
    pub paths: Vec<Arc<Paths>>,
    /// What is to be recorded when settings, pools and certificates are made.
    pub(super) notes: [Notes; 3],
}

/// Events of an Ingress, as a step would record them.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Vec<(Reason, String, Option<Origin>)>);

impl Notes {
    pub(super) fn add(&mut self, reason: Reason, message: impl Into<String>, at: impl Into<Option<Origin>>) {
        self.0.push((reason, message.into(), at.into()));
    }

    /// Records them.
    pub(super) fn record(&self, ingress: &Ingress, recorder: &mut Recorder) {
        for (reason, message, at) in &self.0 {
            recorder.ingress(ingress, *reason, message.as_str(), *at);
        }
    }
}

/// What an Ingress finds of the Services and Secrets that it names, in the order in which it names them.
#[derive(Clone, Debug, Default)]
struct Found {
    services: Vec<Backing>,
    certificates: Vec<bool>,
}

fn backends_of(ingress: &Ingress) -> impl Iterator<Item = &Backend> {
    let paths = ingress.rules.iter().flat_map(|rule| rule.paths()).map(|path| &path.backend);
    ingress.default_backend.iter().chain(paths)
}

impl Found {
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

/// What shares are made with, besides Ingresses and what they find.
pub(super) struct Given<'g, 'c> {
    pub(super) source: &'g Source<'c>,
    pub(super) names: &'g Names,
    pub(super) world: &'g World,
}

/// What all shares depend on: where it is another, all are made again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct World {
    environment: Option<Environment>,
    old_ingress_api: bool,
    /// The gateway has a public address.
    has_public: bool,
    /// The gateway is an old one, whose probes have no port.
    pub(super) has_old_probes: bool,
}

impl World {
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

impl Given<'_, '_> {
    pub(super) fn reference(&self, kind: PartKind, name: &str, origin: impl Into<Option<Origin>>) -> Reference {
        Sourced::new(self.names.id(kind, name), origin).into()
    }

    /// The listener for what no Ingress takes.
    pub(super) fn default_listener(&self) -> ListenerId {
        let private = self.source.environment.private_ip || !self.world.has_public;
        ListenerId::new(80, Vec::new(), if private { FrontendType::Private } else { FrontendType::Public }, None)
    }

    fn share(&self, ingress: Arc<Ingress>) -> Share {
        let (uses, died) = match backends::uses(self, &ingress) {
            Ok(uses) => (uses, None),
            Err(died) => (Vec::new(), Some(died)),
        };
        let mut next = usize::from(ingress.default_backend.is_some());
        let starts = ingress.rules.iter().map(|rule| {
            let start = next;
            next += rule.paths().len();
            start
        });
        let mut share = Share {
            found: Found::of(self.source, &ingress),
            died,
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
        if share.died.is_none() {
            probes::add(self, &mut share);
            settings::add(self, &mut share);
            pools::add(self, &mut share);
            certificates::add(self, &mut share);
            let wanted = listeners::of_ingress(self.source, self.names, &share.ingress);
            share.listeners = wanted.into_iter().map(|(id, config)| Arc::new(Wanted { id: Arc::new(id), config })).collect();
            path_maps::add(self, &mut share);
        }
        share
    }
}

impl Share {
    /// The objects that it finds of the Services that it names.
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

    /// Whether it has a Service whose port wants a probe.
    pub(super) fn has_probes(&self) -> bool {
        !self.probes.is_empty()
    }
}

/// The shares of the compile before.
#[derive(Default)]
pub(super) struct Memory {
    world: World,
    /// Where the Ingresses found things.
    tables: Tables,
    /// In the order of Ingresses.
    shares: Vec<Arc<Share>>,
}

impl Memory {
    /// The shares of Ingresses, in their order: those that are known where the Ingress is the same, and finds the same.
    pub(super) fn shares(&mut self, source: &Source<'_>, names: &Names, gateway: &Properties, ingresses: &[Arc<Ingress>]) -> Vec<Arc<Share>> {
        let world = World::of(source, gateway);
        if self.world != world {
            *self = Self { world, ..Self::default() };
        }
        let given = Given { source, names, world: &self.world };
        let tables = source.tables();
        let finds_same = self.tables.are(&tables);
        let mut by_address: Option<HashMap<usize, &Arc<Share>>> = None;
        let mut out = Vec::with_capacity(ingresses.len());
        for (at, ingress) in ingresses.iter().enumerate() {
            // Nearly all stand where they stood, the edited one as well.
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

    /// What shares are made with.
    pub(super) fn given<'g, 'c>(&'g self, source: &'g Source<'c>, names: &'g Names) -> Given<'g, 'c> {
        Given { source, names, world: &self.world }
    }
}

/// The Service of a name, as parts and events write it.
pub(super) fn name_of(service: &(Str, Str), between: char) -> String {
    alloc::format!("{}{between}{}", service.0, service.1)
}
