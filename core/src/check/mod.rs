//! Checks over the whole: what no single stage can see, because it takes all resources, or what Envoy makes of them together.
//!
//! They look at a finished [`Compilation`], at its IR and objects wherever that is enough, so that they serve every dialect. They cost
//! nothing when nobody asks, and change nothing of what is compiled. At the end [`settle`] judges all findings as the user has decided.
//!
//! What must not be here: what a single resource's own rules find, which its dialect tells while it compiles; rendering.

mod annotation;
mod certificate;
mod exposure;
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

use crate::backend::envoy::v3::Emitted;
use crate::compile::Compilation;
use crate::diagnostic::Policy;
use crate::explain::refused_by_envoy;
use whole::Whole;

/// Adds to a compilation's findings what the whole shows, and judges all of them.
pub fn check(compilation: &mut Compilation, policy: &Policy, emitted: &mut Emitted) {
    let mut found = refused_by_envoy(compilation, None, emitted);
    let mut whole = Whole::new(compilation);
    unreachable::check(&mut whole);
    listening::check(&mut whole);
    reference::check(&mut whole);
    naming::check(&mut whole);
    port::check(&mut whole);
    header::check(&mut whole);
    impossible::check(&mut whole);
    regex::check(&mut whole);
    rewriting::check(&mut whole);
    timing::check(&mut whole);
    exposure::check(&mut whole);
    certificate::check(&mut whole, policy.at);
    stale::check(&mut whole);
    annotation::check(&mut whole);
    found.extend(whole.finish());
    compilation.diagnostics.append(&mut found);
    reference::secrets_elsewhere(compilation);
    settle::settle(compilation, policy);
}
