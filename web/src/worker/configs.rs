//! The configurations of all Envoys as messages. Creates each configuration, and each of its many clusters, when it is first needed.

use chancery_core::envoy_config::EnvoyConfig;
use chancery_core::ir::Ir;
use std::sync::Arc;

/// The Envoy configurations of a compile that were needed so far.
#[derive(Default)]
pub struct Configs(Vec<(Arc<Ir>, Arc<EnvoyConfig>)>);

impl Configs {
    /// The configuration of one Envoy.
    pub fn of(&mut self, ir: &Arc<Ir>) -> Arc<EnvoyConfig> {
        if let Some((_, known)) = self.0.iter().find(|(of, _)| Arc::ptr_eq(of, ir)) {
            return known.clone();
        }
        let config = Arc::new(EnvoyConfig::on_demand(ir));
        self.0.push((ir.clone(), config.clone()));
        config
    }
}
