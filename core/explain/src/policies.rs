//! Describes the policies that count for a request, and the policies that they replace. Does not choose them; see the dialects.

use super::{OriginView, Positions, ResourceRef, Span};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{ChosenRoute, EffectivePolicy, SideRef};
use chancery_base::output_map::OutputMap;
use chancery_base::resource::Origin;
use chancery_envoy::simulate::Simulation;
use chancery_text::Str;

/// A policy that counts for a request.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RequestPolicy {
    pub resource: ResourceRef,
    /// What the policy is for, as in "rule `admin` of HTTPRoute shop".
    pub target: String,
    /// The fields of the policy that count.
    pub settings: Vec<PolicySetting>,
    /// Whether a policy that is closer to the route is merged into it.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub is_merged: bool,
    /// The policies of the same kind that would count without this one, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<RequestPolicy>,
}

/// A field of a policy.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PolicySetting {
    pub name: Str,
    #[serde(flatten)]
    pub span: Option<Span>,
}

impl RequestPolicy {
    /// Returns the settings of a replaced policy that this policy does not set itself, so that nothing sets them.
    pub fn lost<'p>(&self, replaced: &'p RequestPolicy) -> impl Iterator<Item = &'p PolicySetting> {
        let own: Vec<Str> = self.settings.iter().map(|setting| setting.name.clone()).collect();
        replaced.settings.iter().filter(move |setting| !own.contains(&setting.name))
    }
}

/// Returns the policies that count for a simulated request.
pub(super) fn of_request(simulation: &Simulation, map: &OutputMap, side: SideRef<'_>, positions: &Positions<'_>) -> Vec<RequestPolicy> {
    let Some(host) = &simulation.virtual_host else { return Vec::new() };
    let origins = |of: &str| -> Vec<Origin> {
        let place = simulation.places.iter().find(|place| place.of == of);
        place.and_then(|place| map.lookup(&place.pointer)).map(|made| made.origins.to_vec()).unwrap_or_default()
    };
    let (route, listener) = (origins("route"), origins("listener"));
    let chosen = ChosenRoute { virtual_host: host, route: &route, listener: &listener };
    let found = side.side.stages.policies(side.objects(), chosen);
    found.iter().filter_map(|policy| described(policy, side, positions)).collect()
}

fn described(policy: &EffectivePolicy, side: SideRef<'_>, positions: &Positions<'_>) -> Option<RequestPolicy> {
    let object = side.objects().get(policy.object)?;
    let setting = |(name, origin): &(Str, Origin)| PolicySetting { name: name.clone(), span: OriginView::of(*origin, side, positions).span };
    Some(RequestPolicy {
        resource: ResourceRef::from(&object.key),
        target: policy.target.clone(),
        settings: policy.settings.iter().map(setting).collect(),
        is_merged: policy.is_merged,
        replaced: policy.replaced.iter().filter_map(|policy| described(policy, side, positions)).collect(),
    })
}
