//! Rebuilds gateways without an object, to see whether they need the object. Does not decide what happened to the object; see `ledger`.

use super::Facts;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Gateway, Outcome, SideRef};
use chancery_base::resource::ObjectId;
use chancery_envoy::Document;
use chancery_envoy::emit::{self, Emitted};

/// At most this many gateways are rebuilt to see what they would lack.
const MOST_MADE_AGAIN: usize = 400;

/// Rebuilds the gateways of a side without an object.
pub(super) struct RebuiltGateways<'a> {
    side: SideRef<'a>,
    /// How many more gateways may be rebuilt.
    budget: usize,
    /// What each gateway's Envoys get with the object, computed on first use; `None` for gateways that are not Envoys.
    served: Option<Vec<Option<String>>>,
}

impl<'a> RebuiltGateways<'a> {
    pub(super) fn new(side: SideRef<'a>) -> Self {
        Self { side, budget: MOST_MADE_AGAIN, served: None }
    }

    /// Whether gateways behave differently without an object. `None` if that was not determined.
    pub(super) fn is_object_needed(&mut self, object: ObjectId, facts: &Facts) -> Option<bool> {
        if let Some(known) = self.side.side.stages.is_needed(self.side, object, &facts.readers_of(object), &mut self.budget) {
            return Some(known);
        }
        let gateways = &self.side.side.gateways;
        self.budget = self.budget.checked_sub(gateways.len())?;
        let after = self.side.gateways_without(object)?;
        let served = self.served.get_or_insert_with(|| gateways.iter().map(served).collect());
        // A host may have requested only one of several gateways. A gateway may get another name.
        let has_same = |(at, (before, served)): (usize, (&Gateway, &Option<String>))| {
            let named = after.iter().find(|after| before.id == after.id);
            let same_place = || after.get(at).filter(|_| after.len() == gateways.len());
            named.or_else(same_place).is_some_and(|after| is_same(before, served.as_deref(), after))
        };
        Some(!gateways.iter().zip(&*served).enumerate().all(has_same))
    }
}

/// Returns everything that an Envoy gets, in one document: with endpoints, and without resources that it would not request. `None` for gateways
/// that are not Envoys.
fn served(gateway: &Gateway) -> Option<String> {
    let Outcome::Runs(ir) = &gateway.outcome else { return None };
    let options = chancery_envoy::Options { document: Document::Bootstrap, secrets: Some(&|_| None), ..chancery_envoy::Options::default() };
    Some(emit::emit(ir, &options, &mut Emitted::default()).text())
}

/// Whether two gateways behave the same, regardless of origins. `before_served` is what the Envoys of the first get.
fn is_same(before: &Gateway, before_served: Option<&str>, after: &Gateway) -> bool {
    match (&before.outcome, &after.outcome) {
        (Outcome::Runs(_), Outcome::Runs(_)) => before_served == served(after).as_deref(),
        (Outcome::AppGateway(before), Outcome::AppGateway(after)) => before == after,
        (Outcome::Nginx(before), Outcome::Nginx(after)) => before == after,
        (Outcome::Stopped(before), Outcome::Stopped(after)) => before == after,
        _ => false,
    }
}
