//! The results of Consul's stages, kept for views.

use super::Options;
use super::proxycfg::Mailbox;
use super::state::State;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use chancery_base::compilation::SideRef;
use chancery_base::ir::Tree;
use chancery_base::resource::ObjectId;
use chancery_text::Str;

#[derive(Debug, Default)]
pub struct Stages {
    pub options: Options,
    pub state: Arc<State>,
    /// Peers, by the names that this cluster uses.
    pub peers: Arc<BTreeMap<Str, State>>,
    /// The state of each proxy, by its id.
    pub proxies: BTreeMap<Str, Arc<ProxyState>>,
}

/// The state of a proxy without its Envoy's resources.
#[derive(Clone, Debug)]
pub struct ProxyState {
    /// The object that registered it.
    pub object: Option<ObjectId>,
    /// Its registration, with central configuration.
    pub service: Tree,
    pub bootstrap: Tree,
    /// The replies to its watches.
    pub mail: Arc<Mailbox>,
}

/// The stages of a side, if it is Consul's.
pub(super) fn stages(of: SideRef<'_>) -> Option<&Stages> {
    let stages: &dyn core::any::Any = &*of.side.stages;
    stages.downcast_ref()
}
