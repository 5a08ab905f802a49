//! Checks the whole configuration for problems that a single stage cannot see, because they involve all resources or the resulting Envoy
//! configuration.
//!
//! Checks read a finished [`Compilation`], mostly its IR and objects, so that they serve every dialect. They run on request and do not change the
//! compilation. At the end [`settle`] applies the user's severities and suppressions.
//!
//! The dialects report problems of single resources while they compile.

mod annotation;
mod authorization;
mod certificate;
mod class;
mod clusters;
mod cover;
mod disabled;
mod effect;
mod exposure;
mod foreign;
mod header;
mod health;
mod impossible;
mod inert;
mod kind;
mod listening;
mod naming;
mod port;
mod preflight;
mod redirect;
mod reference;
mod regex;
mod rejected;
mod rewriting;
mod settle;
mod shares;
mod stale;
#[cfg(test)]
mod tests;
mod timing;
mod unreachable;
mod variables;
mod whole;

pub use settle::ANNOTATION;
pub(crate) use unreachable::{Coverage, coverage};
pub(crate) use whole::{routes_once, tables};

use crate::rejected_by_envoy;
use alloc::boxed::Box;
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, SideRef};
use chancery_base::diagnostic::{Diagnostic, Policy};
use chancery_base::executor::{self, Executor, Work};
use chancery_base::ir::Ir;
use chancery_compile::EmittedByGateway;
use hashbrown::HashSet;
use whole::{OfSide, Whole};

/// A check of the whole configuration.
type Check = fn(&mut Whole<'_>, &Policy);

/// What a check examines.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    /// One gateway: the check runs once for each.
    Gateway,
    /// The objects of a side: the check runs once, whatever its gateways are.
    Side,
}

/// All checks, in the order in which findings are shown.
const CHECKS: &[(Scope, Check)] = &[
    (Scope::Gateway, |whole, _| unreachable::check(whole)),
    (Scope::Gateway, |whole, _| listening::check(whole)),
    (Scope::Gateway, |whole, _| shares::check(whole)),
    (Scope::Side, |whole, _| kind::check(whole)),
    (Scope::Side, |whole, _| reference::check(whole)),
    (Scope::Side, |whole, _| class::check(whole)),
    (Scope::Gateway, |whole, _| naming::check(whole)),
    (Scope::Gateway, |whole, _| port::check(whole)),
    (Scope::Gateway, |whole, _| clusters::check(whole)),
    (Scope::Gateway, |whole, _| header::check(whole)),
    (Scope::Gateway, |whole, _| authorization::check(whole)),
    (Scope::Gateway, |whole, _| rejected::check(whole)),
    (Scope::Gateway, |whole, _| impossible::check(whole)),
    (Scope::Gateway, |whole, _| preflight::check(whole)),
    (Scope::Gateway, |whole, _| regex::check(whole)),
    (Scope::Gateway, |whole, _| rewriting::check(whole)),
    (Scope::Gateway, |whole, _| timing::check(whole)),
    (Scope::Gateway, |whole, _| health::check(whole)),
    (Scope::Gateway, |whole, _| exposure::check(whole)),
    (Scope::Gateway, |whole, _| redirect::check(whole)),
    (Scope::Gateway, |whole, policy| certificate::check(whole, policy.at)),
    (Scope::Side, |whole, policy| certificate::of_app_gateways(whole, policy.at)),
    (Scope::Side, |whole, _| stale::check(whole)),
    (Scope::Side, |whole, _| inert::check(whole)),
    (Scope::Side, |whole, _| annotation::check(whole)),
];

/// Adds the findings of all checks to a compilation, and applies the policy to all findings.
///
/// ```
/// use chancery_base::compilation::Options;
/// use chancery_compile::Compiler;
/// use chancery_base::resource::Inputs;
/// use chancery_explain::check::check;
/// use chancery_base::diagnostic::Policy;
///
/// let inputs = Inputs::one("quote.yaml", "\
/// apiVersion: getambassador.io/v3alpha1
/// kind: Mapping
/// metadata: {name: quote}
/// spec: {hostname: \"*\", prefix: /quote/, service: quote, timout_ms: 9000}
/// ");
/// let mut compiler = Compiler::new(&[&chancery_ambassador::DIALECT]);
/// let mut compilation = compiler.compile(&inputs, &Options::default());
///
/// let executor = compiler.executor();
/// check(&mut compilation, &Policy::default(), &mut compiler.emitted, executor);
/// // That nothing listens is seen only when the whole is looked at.
/// assert!(compilation.all_diagnostics().any(|finding| finding.code.name == "no-listener"));
/// ```
pub fn check(compilation: &mut Compilation, policy: &Policy, emitted: &mut EmittedByGateway, executor: &dyn Executor) {
    let found: Vec<Vec<Diagnostic>> = compilation.sides().map(|side| check_side(side, policy, emitted, executor)).collect();
    for (side, mut found) in compilation.sides.iter_mut().zip(found) {
        // Assumed objects have no faults.
        found.retain(|finding| !finding.place.object().is_some_and(|object| compilation.objects.is_assumed(object)));
        side.diagnostics.append(&mut found);
    }
    reference::nearest_names(compilation);
    reference::secrets_elsewhere(compilation);
    reference::refused_parents(compilation);
    reference::refused_targets(compilation);
    reference::installed_targets(compilation);
    for at in 0..compilation.sides.len() {
        let mut found = compilation.sides.get_mut(at).map(|side| core::mem::take(&mut side.diagnostics)).unwrap_or_default();
        if let Some(side) = compilation.sides().nth(at) {
            effect::raise_foreign(side, &mut found);
        }
        if let Some(side) = compilation.sides.get_mut(at) {
            side.diagnostics = found;
            foreign::join(side);
        }
    }
    disabled::attach(compilation);
    settle::settle(compilation, policy);
    variables::join(compilation);
}

/// Runs the checks for each gateway of a side, and reports each finding once.
fn check_side(side: SideRef<'_>, policy: &Policy, emitted: &mut EmittedByGateway, executor: &dyn Executor) -> Vec<Diagnostic> {
    let (mut all, mut reported) = (Vec::new(), HashSet::new());
    for gateway in side.gateways() {
        let refused = rejected_by_envoy(gateway, None, emitted.of(gateway), executor);
        all.extend(refused.into_iter().filter(|finding| reported.insert(finding.fingerprint())));
    }
    // Without a running gateway, the objects are still checked.
    let none = Ir::default();
    let mut irs: Vec<&Ir> = side.irs().collect();
    if irs.is_empty() {
        irs.push(&none);
    }
    let of_side = OfSide::new(side);
    let wholes: Vec<Whole<'_>> = irs.into_iter().map(|ir| Whole::new(&of_side, ir)).collect();
    let own = side.dialect().checks.iter().map(|check| -> Work<'_, Vec<Diagnostic>> { Box::new(move || check(side)) });
    let of_gateways = wholes.iter().enumerate().flat_map(|(at, whole)| {
        let checks = CHECKS.iter().filter(move |(scope, _)| at == 0 || *scope == Scope::Gateway);
        checks.map(move |(_, check)| -> Work<'_, Vec<Diagnostic>> {
            Box::new(move || {
                let mut whole = whole.clone();
                check(&mut whole, policy);
                whole.finish()
            })
        })
    });
    let found = executor::all(executor, own.chain(of_gateways).collect());
    all.extend(found.into_iter().flatten().filter(|finding| reported.insert(finding.fingerprint())));
    all.append(&mut effect::check(side, &all));
    all
}
