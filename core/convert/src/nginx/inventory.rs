//! Counts the annotations of ingress-nginx in use, and how well each would be converted.

use super::super::gateway::Target;
use super::table::{Fidelity, NginxVerdict, verdict};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, Side};
use chancery_ingress_nginx::Stages;
use chancery_ingress_nginx::annotations::table;

/// The annotations of all Ingresses of ingress-nginx.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct AnnotationInventory {
    /// How many Ingresses the controller serves.
    pub ingresses: usize,
    /// How many of them have only annotations that are converted exactly, or none.
    pub exact: usize,
    pub annotations: Vec<AnnotationUse>,
}

/// An annotation in use.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AnnotationUse {
    pub name: &'static str,
    /// How many Ingresses have it.
    pub ingresses: usize,
    pub fidelity: Fidelity,
    /// How it is written, how the result differs, or what to do instead.
    pub words: &'static str,
}

/// Returns the annotations in use, or `None` without an Ingress of ingress-nginx.
pub fn annotation_inventory(compilation: &Compilation, target: Target) -> Option<AnnotationInventory> {
    let stages = compilation.sides.iter().find_map(|side: &Side| Stages::of(side))?;
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let (mut ingresses, mut exact) = (0, 0);
    for counted in &stages.source.counted {
        ingresses += 1;
        let mut is_exact = true;
        let ignored = super::reports::ignored(&counted.ingress);
        for (name, value) in counted.ingress.annotations.own() {
            let Some(annotation) = table::find(name) else { continue };
            if counted.settings.canary.enabled.value && !annotation.applies_to_canary(false) {
                continue;
            }
            let Some(found) = verdict(annotation.name) else { continue };
            *counts.entry(found.name).or_default() += 1;
            let is_idle = super::reports::is_idle(found.name, &value.value) || ignored.contains(&found.name);
            is_exact &= is_idle || matches!(fidelity(stages, found, target), Fidelity::Exact | Fidelity::Unneeded);
        }
        exact += usize::from(is_exact);
    }
    if ingresses == 0 {
        return None;
    }
    let used = counts.into_iter().filter_map(|(name, ingresses)| {
        let found = verdict(name)?;
        Some(AnnotationUse { name: found.name, ingresses, fidelity: fidelity(stages, found, target), words: found.words })
    });
    let mut annotations: Vec<AnnotationUse> = used.collect();
    annotations.sort_by(|a, b| b.ingresses.cmp(&a.ingresses).then(a.name.cmp(b.name)));
    Some(AnnotationInventory { ingresses, exact, annotations })
}

/// Returns the result of an annotation, which may depend on the controller's flags.
fn fidelity(stages: &Stages, of: &NginxVerdict, target: Target) -> Fidelity {
    if of.name == "ssl-passthrough" && !stages.nginx.ports.has_ssl_passthrough { Fidelity::Unneeded } else { of.on(target) }
}
