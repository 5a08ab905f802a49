//! Findings of Envoy's own rules: fields that it would refuse, told at the lines that made them.
//!
//! The lowering leaves out what Envoy refuses and says so; what is found here is what it did not know of.

use super::{Viewed, describe};
use crate::backend::envoy::{self, v3::Emitted};
use crate::compilation::GatewayRef;
use crate::diagnostic::{Diagnostic, Place, codes};
use crate::executor::Executor;
use crate::resource::ObjectId;
use alloc::format;
use alloc::vec::Vec;

/// What Envoy would refuse of the output, each told once. `root` names places where it is given.
pub fn refused_by_envoy(gateway: GatewayRef<'_>, viewed: Option<&Viewed>, emitted: &mut Emitted, executor: &dyn Executor) -> Vec<Diagnostic> {
    let broken = envoy::v3::violations(gateway.ir, &envoy::Options { executor, ..envoy::Options::default() }, emitted);
    let mut found: Vec<Diagnostic> = Vec::new();
    for violation in broken {
        let origin = violation.origins.iter().find(|origin| origin.object() != ObjectId::BUILT_IN).copied();
        let place = viewed.map(|viewed| describe(&viewed.root, &violation.pointer).join(" \u{203a} "));
        let place = place.unwrap_or_else(|| violation.pointer.clone());
        let message = format!("Envoy refuses {place}: {}", violation.message);
        let mut finding = Diagnostic::new(&codes::REFUSED_BY_ENVOY, message, Place::origin(origin));
        finding.resource = origin.and_then(|origin| gateway.compilation.objects.get(origin.object())).map(|object| object.key.clone());
        // The same value in several places is one mistake.
        if !found.iter().any(|known| known.place == finding.place && known.place != Place::Whole) {
            found.push(finding);
        }
    }
    found
}
