//! What earlier compiles found out, stage by stage: what the API server took, the routes of HTTPProxies, and what was lowered.
//!
//! What a stage keeps is known by the addresses of what it was made from, which it holds, so that no other value has them. What else it was
//! made from is the [`World`]: where that is another, everything is made again. Only what was made without a finding is cached.
//!
//! What must not be here: what a stage does.

use super::cluster::{self, Cluster};
use super::kinds::Kind;
use super::settings::Settings;
use super::{lower, processor};
use crate::compilation::GatewayId;
use crate::resource::{Content, ObjectId};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What earlier compiles found out.
#[derive(Default)]
pub struct Memory {
    pub(super) cluster: cluster::Memory,
    gateways: BTreeMap<GatewayId, GatewayMemory>,
}

/// What earlier compiles found out about one gateway.
#[derive(Default)]
pub struct GatewayMemory {
    pub(super) processor: processor::Memory,
    pub(super) lower: lower::Memory,
    world: World,
}

/// What routes and clusters depend on beside HTTPProxies, Services and their endpoints: the controller's configuration, and all that is
/// looked up by reference.
#[derive(Default, PartialEq)]
struct World {
    settings: Option<Settings>,
    objects: Vec<CachedObject>,
}

/// An object that the API server took. It is equal to nothing but itself.
#[derive(Clone)]
pub(super) struct CachedObject(ObjectId, Arc<Content>);

impl CachedObject {
    pub(super) fn new(object: &cluster::Admitted<'_>) -> Self {
        Self(object.object.id, object.object.content.clone())
    }

    /// Where it is, which is no other's as long as this holds it.
    pub(super) fn address(&self) -> usize {
        Arc::as_ptr(&self.1).addr()
    }
}

impl PartialEq for CachedObject {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 && Arc::ptr_eq(&self.1, &other.1)
    }
}

/// The kinds that are few, and that much depends on.
const WORLD: [Kind; 5] = [Kind::ContourConfiguration, Kind::ExtensionService, Kind::TlsCertificateDelegation, Kind::Secret, Kind::ConfigMap];

impl Memory {
    /// What is known of a gateway.
    pub(super) fn gateway(&mut self, id: &GatewayId) -> &mut GatewayMemory {
        self.gateways.entry(id.clone()).or_default()
    }

    /// Forgets all gateways but these.
    pub(super) fn keep_gateways(&mut self, is_kept: impl Fn(&GatewayId) -> bool) {
        self.gateways.retain(|id, _| is_kept(id));
    }
}

impl GatewayMemory {
    /// Forgets what was made in another world.
    pub(super) fn prepare(&mut self, cluster: &Cluster<'_>, settings: &Settings) {
        let objects = |kind: &[Kind]| kind.iter().flat_map(|kind| cluster.all(*kind)).map(CachedObject::new).collect::<Vec<_>>();
        let world = World { settings: Some(settings.clone()), objects: objects(&WORLD) };
        if self.world != world {
            (self.world, self.processor, self.lower) = (world, processor::Memory::default(), lower::Memory::default());
        }
        self.processor.services(objects(&[Kind::Service]));
        self.lower.slices(objects(&[Kind::EndpointSlice]));
    }
}
