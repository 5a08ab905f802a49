//! Defines the share of an Ingress: the parts that this Ingress requests by itself.
//!
//! Does not make shares (see `make_shares`), and does not merge them (see the modules of the steps).

use super::draft::{Paths, RequestedListener, Use};
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

/// The parts that one Ingress requests.
#[derive(Clone, Debug)]
pub struct Share {
    pub ingress: Arc<Ingress>,
    pub(super) found: References,
    /// The crash of the controller on this Ingress, if any.
    pub(super) crash: Option<ControllerCrash>,
    /// Its uses of Services: the use of its default backend first, then those of its paths.
    pub(super) uses: Vec<Use>,
    /// For each rule the index of the use of its first path.
    pub(super) starts: Vec<usize>,
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
pub(super) struct References {
    services: Vec<Backing>,
    certificates: Vec<bool>,
}

fn backends_of(ingress: &Ingress) -> impl Iterator<Item = &Backend> {
    let paths = ingress.rules.iter().flat_map(|rule| rule.paths()).map(|path| &path.backend);
    ingress.default_backend.iter().chain(paths)
}

impl References {
    pub(super) fn of(source: &Source<'_>, ingress: &Ingress) -> Self {
        let (services, certificates) = Self::looked_up(source, ingress);
        Self { services: services.collect(), certificates: certificates.collect() }
    }

    fn looked_up<'i>(source: &'i Source<'_>, ingress: &'i Ingress) -> (impl Iterator<Item = Backing>, impl Iterator<Item = bool>) {
        let services = backends_of(ingress).filter_map(|backend| backend.service.as_ref());
        let services = services.map(|service| source.backing(&ingress.namespace, &service.name));
        (services, ingress.tls.iter().map(|tls| source.has_certificate(&ingress.namespace, &tls.secret)))
    }

    pub(super) fn is_still(&self, source: &Source<'_>, ingress: &Ingress) -> bool {
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
    pub(super) fn of(source: &Source<'_>, gateway: &Properties) -> Self {
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
pub(super) struct CachedShares {
    pub(super) world: GatewayTraits,
    /// The tables in which the Ingresses looked up their references.
    pub(super) tables: Tables,
    /// In the order of Ingresses.
    pub(super) shares: Vec<Arc<Share>>,
}

impl CachedShares {
    /// Returns the input for making shares.
    pub(super) fn given<'g, 'c>(&'g self, source: &'g Source<'c>, names: &'g Names) -> ShareInput<'g, 'c> {
        ShareInput { source, names, world: &self.world }
    }
}
