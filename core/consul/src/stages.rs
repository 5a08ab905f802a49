//! What Consul establishes, kept for views: what is stored, and what it says of proxies.
//!
//! What must not be here: how it comes to that, and how it is shown.

use super::Options;
use super::proxycfg::Mailbox;
use super::state::State;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use chancery_base::ir::Tree;
use chancery_base::resource::ObjectId;
use chancery_text::Str;

/// What was compiled.
#[derive(Debug, Default)]
pub struct Stages {
    /// How Consul runs.
    pub options: Options,
    /// The cluster.
    pub state: Arc<State>,
    /// Peers, by the names that this cluster has for them.
    pub peers: Arc<BTreeMap<Str, State>>,
    /// What is known of each proxy, by its id.
    pub proxies: BTreeMap<Str, Arc<ProxyState>>,
}

/// What is known of a proxy besides what its Envoy gets.
#[derive(Clone, Debug)]
pub struct ProxyState {
    /// What registered it.
    pub object: Option<ObjectId>,
    /// Its registration, with central configuration.
    pub service: Tree,
    /// What its Envoy is started with.
    pub bootstrap: Tree,
    /// The replies to its watches.
    pub mail: Arc<Mailbox>,
}
