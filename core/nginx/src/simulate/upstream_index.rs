//! Finds upstreams by name. Does not choose between endpoints; see `balance`.

use alloc::sync::Arc;
use chancery_base::ir::nginx::{Nginx, Upstream};
use chancery_text::Str;
use hashbrown::HashMap;

/// The upstreams by name.
#[derive(Debug, Default)]
pub struct UpstreamIndex {
    by_name: HashMap<Str, usize>,
    /// Whether every upstream has at most one endpoint.
    pub has_single_endpoints: bool,
}

impl UpstreamIndex {
    pub fn new(nginx: &Nginx) -> Self {
        // The first of several upstreams with the same name is used.
        let names = nginx.upstreams.iter().enumerate().rev();
        Self {
            by_name: names.map(|(at, upstream)| (upstream.name.value.clone(), at)).collect(),
            has_single_endpoints: nginx.upstreams.iter().all(|upstream| upstream.endpoints.len() <= 1),
        }
    }

    /// Returns the upstream with this name.
    pub fn get<'n>(&self, nginx: &'n Nginx, name: &str) -> Option<&'n Arc<Upstream>> {
        nginx.upstreams.get(*self.by_name.get(name)?)
    }
}
