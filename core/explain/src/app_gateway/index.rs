//! Indexes the parts of an Application Gateway that its rules refer to. Does not interpret parts.

use chancery_app_gateway::ById;
use chancery_base::ir::appgw::{Listener, PathMap, Pool, Port, Properties, Redirect, Settings};

/// The parts of a gateway that rules refer to.
pub struct PartIndex<'p> {
    pub ports: ById<'p, Port>,
    pub listeners: ById<'p, Listener>,
    pub pools: ById<'p, Pool>,
    pub settings: ById<'p, Settings>,
    pub redirects: ById<'p, Redirect>,
    pub path_maps: ById<'p, PathMap>,
}

impl<'p> PartIndex<'p> {
    pub fn of(properties: &'p Properties) -> Self {
        Self {
            ports: ById::of(&properties.ports),
            listeners: ById::of(&properties.listeners),
            pools: ById::of(&properties.pools),
            settings: ById::of(&properties.settings),
            redirects: ById::of(&properties.redirects),
            path_maps: ById::of(&properties.path_maps),
        }
    }
}
