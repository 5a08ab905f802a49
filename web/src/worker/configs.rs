//! What Envoys get, as messages: each is made once, when it is first needed, and so is each of its clusters, of which there may be tens of thousands.
//!
//! What must not be here: what is done with it.

use chancery_core::envoy_config::EnvoyConfig;
use chancery_core::ir::Ir;
use std::sync::Arc;

/// What the Envoys of a compile get, as far as it was needed.
#[derive(Default)]
pub struct Configs(Vec<(Arc<Ir>, Arc<EnvoyConfig>)>);

impl Configs {
    /// What an Envoy gets.
    pub fn of(&mut self, ir: &Arc<Ir>) -> Arc<EnvoyConfig> {
        if let Some((_, known)) = self.0.iter().find(|(of, _)| Arc::ptr_eq(of, ir)) {
            return known.clone();
        }
        let config = Arc::new(EnvoyConfig::on_demand(ir));
        self.0.push((ir.clone(), config.clone()));
        config
    }
}
