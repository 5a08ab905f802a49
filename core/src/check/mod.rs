//! Checks over the whole: what no single stage can see, because it takes all resources, or what Envoy makes of them together.
//!
//! They look at a finished [`Compilation`], at its IR and objects wherever that is enough, so that they serve every dialect. They cost
//! nothing when they are not asked for, and change nothing of what is compiled. At the end [`settle`] judges all findings as the user has decided.
//!
//! What must not be here: what a single resource's own rules find, which its dialect tells while it compiles; rendering.

mod annotation;
mod certificate;
mod class;
mod effect;
mod exposure;
mod foreign;
mod header;
mod impossible;
mod listening;
mod naming;
mod port;
mod reference;
mod regex;
mod rewriting;
mod settle;
mod stale;
#[cfg(test)]
mod tests;
mod timing;
mod unreachable;
mod whole;

pub use settle::ANNOTATION;

use crate::compilation::{Compilation, SideRef};
use crate::compile::EmittedByGateway;
use crate::diagnostic::{Diagnostic, Place, Policy};
use crate::explain::refused_by_envoy;
use crate::ir::Ir;
use alloc::vec::Vec;
use hashbrown::HashSet;
use whole::Whole;

/// Adds to a compilation's findings what the whole shows, and judges all of them.
pub fn check(compilation: &mut Compilation, policy: &Policy, emitted: &mut EmittedByGateway) {
    let found: Vec<Vec<Diagnostic>> = compilation.sides().map(|side| check_side(side, policy, emitted)).collect();
    for (side, mut found) in compilation.sides.iter_mut().zip(found) {
        // Assumed objects have no faults.
        found.retain(|finding| !matches!(&finding.place, Place::Node { object, .. } if compilation.objects.is_assumed(*object)));
        side.diagnostics.append(&mut found);
    }
    reference::nearest_names(compilation);
    reference::secrets_elsewhere(compilation);
    compilation.sides.iter_mut().for_each(foreign::join);
    settle::settle(compilation, policy);
}

/// What each gateway of a side shows, each finding once.
fn check_side(side: SideRef<'_>, policy: &Policy, emitted: &mut EmittedByGateway) -> Vec<Diagnostic> {
    let (mut all, mut told) = (Vec::new(), HashSet::new());
    for gateway in side.gateways() {
        let refused = refused_by_envoy(gateway, None, emitted.of(gateway));
        all.extend(refused.into_iter().filter(|finding| told.insert(finding.fingerprint())));
    }
    let own = side.dialect().checks.iter().flat_map(|check| check(side));
    all.extend(own.filter(|finding| told.insert(finding.fingerprint())));
    // Where no gateway runs, the objects are looked at all the same.
    let none = Ir::default();
    let mut irs: Vec<&Ir> = side.irs().collect();
    if irs.is_empty() {
        irs.push(&none);
    }
    for ir in irs {
        let mut whole = Whole::new(side, ir, told);
        check_gateway(&mut whole, policy);
        let (mut found, known) = whole.finish();
        all.append(&mut found);
        told = known;
    }
    all.append(&mut effect::check(side, &all));
    all
}

fn check_gateway(whole: &mut Whole<'_>, policy: &Policy) {
    unreachable::check(whole);
    listening::check(whole);
    reference::check(whole);
    class::check(whole);
    naming::check(whole);
    port::check(whole);
    header::check(whole);
    impossible::check(whole);
    regex::check(whole);
    rewriting::check(whole);
    timing::check(whole);
    exposure::check(whole);
    certificate::check(whole, policy.at);
    stale::check(whole);
    annotation::check(whole);
}
