//! Caches the results of earlier compiles, stage by stage: admitted objects, the routes of HTTPProxies, and lowered values.
//!
//! A stage keys its results by the addresses of their sources, which it keeps alive, so addresses stay unique. Further inputs are the [`World`]: if
//! it changes, everything is computed again. Only results without findings are cached.

use super::cluster;
use super::kinds::Kind;
use super::settings::Settings;
use super::source::Source;
use super::{lower, processor};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::compilation::GatewayId;
use chancery_kubernetes::object_tables::CachedObject;

/// The results of earlier compiles.
#[derive(Default)]
pub struct Memory {
    pub(super) cluster: cluster::Memory,
    gateways: BTreeMap<GatewayId, GatewayMemory>,
}

/// The results of earlier compiles for one gateway.
#[derive(Default)]
pub struct GatewayMemory {
    pub(super) processor: processor::Memory,
    pub(super) lower: lower::Memory,
    world: World,
}

/// The inputs of routes and clusters other than HTTPProxies, Services and endpoints: the controller's configuration, and everything that is looked up
/// by reference.
#[derive(Default, PartialEq)]
struct World {
    settings: Option<Settings>,
    objects: Vec<CachedObject>,
}

/// Objects of a kind, in the order of their names.
#[derive(Default)]
pub(super) struct CachedObjects(Vec<CachedObject>);

impl CachedObjects {
    /// Updates the entries; returns the namespaces and names of changed, new and removed ones.
    pub(super) fn update<'a>(&mut self, now: impl Iterator<Item = &'a cluster::Admitted<'a>>, mut changed: impl FnMut((&str, &str))) {
        let mut now = now.peekable();
        let same = self.0.iter().take_while(|known| now.next_if(|object| known.is(object.object)).is_some()).count();
        let mut before = self.0.split_off(same).into_iter().peekable();
        for object in now {
            let name = (object.namespace().as_str(), object.name().as_str());
            while let Some(gone) = before.next_if(|known| known.name() < name) {
                changed(gone.name());
            }
            match before.next_if(|known| known.name() == name).filter(|known| known.is(object.object)) {
                Some(known) => self.0.push(known),
                None => {
                    changed(name);
                    self.0.push(CachedObject::new(object.object));
                }
            }
        }
        before.for_each(|gone| changed(gone.name()));
    }
}

/// The kinds that are few, and that much depends on.
const WORLD: [Kind; 5] = [Kind::ContourConfiguration, Kind::ExtensionService, Kind::TlsCertificateDelegation, Kind::Secret, Kind::ConfigMap];

impl Memory {
    /// The memory of a gateway.
    pub(super) fn gateway(&mut self, id: &GatewayId) -> &mut GatewayMemory {
        self.gateways.entry(id.clone()).or_default()
    }

    /// Drops all other gateways.
    pub(super) fn keep_gateways(&mut self, is_kept: impl Fn(&GatewayId) -> bool) {
        self.gateways.retain(|id, _| is_kept(id));
    }
}

impl GatewayMemory {
    /// Drops results if the world changed.
    pub(super) fn prepare(&mut self, source: &Source<'_>) {
        let objects = WORLD.iter().flat_map(|kind| source.cluster.all(*kind)).map(|admitted| CachedObject::new(admitted.object)).collect();
        let world = World { settings: Some(source.settings.clone()), objects };
        if self.world != world {
            (self.world, self.processor, self.lower) = (world, processor::Memory::default(), lower::Memory::default());
        }
        self.processor.update(source);
        self.lower.update(source);
    }
}
