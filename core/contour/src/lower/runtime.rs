//! Lowers the runtime values that Contour serves (Contour `internal/xdscache/v3/runtime.go`).

use super::{Lowering, setting};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::ir::{Json, RuntimeLayer};
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// Contour's own limits of expressions.
const OWN: [(&str, f64); 2] = [("re2.max_program_size.error_level", 1_048_576.0), ("re2.max_program_size.warn_level", 1000.0)];

impl Lowering<'_> {
    /// The only layer. An administrator's values override Contour's built-in values, but not those that Contour sets by other fields.
    pub(super) fn runtimes(&self) -> Vec<RuntimeLayer> {
        let mut set: BTreeMap<Str, Sourced<Json>> = BTreeMap::new();
        let number = |value: Sourced<u32>| value.map(|value| Json::Number(f64::from(value)));
        if let Some(most) = self.number("envoy.listener.maxRequestsPerIOCycle").filter(|most| most.value > 0) {
            set.insert("http.max_requests_per_io_cycle".into(), number(most));
        }
        if let Some(most) = self.number("envoy.listener.maxConnectionsPerListener").filter(|most| most.value > 0) {
            for listener in self.graph.listeners.keys() {
                set.insert(format!("envoy.resource_limits.listener.{listener}.connection_limit").into(), number(most));
            }
        }
        for (name, value) in self.at("envoy.runtimeSettings").entries() {
            set.entry(name.clone()).or_insert_with(|| setting(Json::String(Str::new(value.str())), value));
        }
        for (name, value) in OWN {
            set.entry(Str::new_static(name)).or_insert_with(|| Sourced::built_in(Json::Number(value)));
        }
        vec![RuntimeLayer { name: "dynamic".into(), values: set.into_iter().collect() }]
    }
}
