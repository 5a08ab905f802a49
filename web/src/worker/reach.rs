//! Explains why requests do not reach the selection, and finds an edit that helps. Offers only edits that were tested. Does not find the reasons; see
//! `chancery_core::explain::why_not`.

use chancery_core::compilation::{Compilation, Dialect, Options, SideRef, State};
use chancery_core::compile::Compiler;
use chancery_core::explain::{Case, Contribution, FixView, ResourceRef, WhyNot, why_not};
use chancery_core::resource::{Inputs, ObjectId};
use serde::Serialize;

/// The largest number of edits to test.
const MOST: usize = 4;

/// The answer in the page's form.
#[derive(Default, Serialize)]
pub struct Reach {
    #[serde(flatten)]
    why: WhyNot,
    /// Its part in the request on the screen.
    pub request: Vec<Contribution>,
    fix: Option<FixView>,
}

/// How to compile the work again.
pub struct Again<'a> {
    pub dialects: &'static [&'static Dialect],
    pub options: &'a Options,
}

pub fn id_of(side: SideRef<'_>, of: &ResourceRef) -> Option<ObjectId> {
    side.objects().iter().find(|object| ResourceRef::from(&object.key) == *of).map(|object| object.id)
}

/// Explains why requests do not reach one of these resources: the first resource that produces rules, or the first resource.
pub fn reach(compilation: &Compilation, side: SideRef<'_>, of: &[ResourceRef], again: &Again<'_>) -> Option<Reach> {
    let positions = compilation.positions();
    let all: Vec<(&ResourceRef, WhyNot)> = of.iter().filter_map(|of| Some((of, why_not(compilation, side, &positions, id_of(side, of)?)))).collect();
    let at = all.iter().position(|(_, why)| !why.cases.is_empty()).unwrap_or_default();
    let (of, mut why) = all.into_iter().nth(at)?;
    let fixes = std::mem::take(&mut why.fixes);
    let all_reached = !why.cases.is_empty() && why.cases.iter().all(|case| case.reached);
    let helps = |fix: &FixView| try_fix(compilation, side, of, fix, again).is_some_and(|after| is_better(&why, &after));
    let fix = fixes.into_iter().filter(|_| !all_reached).take(MOST).find(helps);
    Some(Reach { why, fix, request: Vec::new() })
}

fn reached(of: &[Case]) -> usize {
    of.iter().filter(|case| case.reached).count()
}

/// Whether more requests reach the resource, or it is used now and was not before.
fn is_better(before: &WhyNot, after: &WhyNot) -> bool {
    reached(&after.cases) > reached(&before.cases) || (before.cases.is_empty() && after.cases.is_empty() && after.summary.is_empty())
}

/// Compiles the work after an edit and explains it again.
fn try_fix(compilation: &Compilation, side: SideRef<'_>, of: &ResourceRef, fix: &FixView, again: &Again<'_>) -> Option<WhyNot> {
    let mut inputs: Inputs = compilation.inputs.clone();
    let input = inputs.inputs.get_mut(fix.first.span.source.0 as usize)?;
    input.text = fix.apply(&input.text)?.into();
    let name = side.dialect().name;
    let compilation = Compiler::new(again.dialects).without_memory().without_statuses().compile(&inputs, again.options);
    let side = compilation.sides().find(|side| side.dialect().name == name)?;
    let id = id_of(side, of)?;
    // The API server refuses the resource now, so the edit does not help.
    if matches!(side.side.ledger.get(id), State::Invalid(_)) {
        return None;
    }
    Some(why_not(&compilation, side, &compilation.positions(), id))
}
