//! Describes the policies that count for a request, and the policies that they replace. Does not choose them; see the dialects.

use super::{OriginView, Positions, ResourceRef, Span};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{ChosenRoute, EffectivePolicy, SideRef};
use chancery_base::output_map::OutputMap;
use chancery_base::resource::Origin;
use chancery_envoy::simulate::Simulation;
use chancery_text::{Str, series};

/// A policy that counts for a request.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RequestPolicy {
    pub resource: ResourceRef,
    /// What the policy is for, as in "rule `admin` of HTTPRoute shop".
    pub target: String,
    /// The fields of the policy that count.
    pub settings: Vec<PolicySetting>,
    /// Whether the controller refused the policy as invalid. It replaces other policies even so.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub is_refused: bool,
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

    /// Says what the policy is for and what it sets, without its name, as in "for Gateway eg: retry and timeout".
    pub fn summary(&self) -> String {
        let settings: Vec<&str> = self.settings.iter().map(|setting| setting.name.as_str()).collect();
        let state = match (self.is_refused, self.is_merged) {
            (true, _) => " is invalid",
            (false, true) => " (merged)",
            (false, false) => "",
        };
        let settings = if settings.is_empty() { "it sets nothing".into() } else { series(&settings) };
        format!("for {}{state}: {settings}", self.target)
    }

    /// Names each policy that this one replaces, with its settings that do not apply, and the line of the first of them.
    pub fn replacements(&self) -> impl Iterator<Item = (String, Option<&Span>)> {
        self.replaced.iter().map(|replaced| {
            let lost: Vec<&str> = self.lost(replaced).map(|setting| setting.name.as_str()).collect();
            let effect = match lost.as_slice() {
                [] => String::new(),
                [one] => format!("; its {one} does not apply"),
                several => format!("; its {} do not apply", series(several)),
            };
            let first = self.lost(replaced).next().or_else(|| replaced.settings.first());
            let sentence = format!("replaces {} {} for {}{effect}", replaced.resource.kind, replaced.resource.name, replaced.target);
            (sentence, first.and_then(|setting| setting.span.as_ref()))
        })
    }
}

/// Returns the policies that count for a simulated request.
pub(super) fn of_request(simulation: &Simulation, map: &OutputMap, side: SideRef<'_>, positions: &Positions<'_>) -> Vec<RequestPolicy> {
    let origins = |of: &str| -> Vec<Origin> {
        let place = simulation.places.iter().find(|place| place.of == of);
        place.and_then(|place| map.lookup(&place.pointer)).map(|made| made.origins.to_vec()).unwrap_or_default()
    };
    let listener = origins("listener");
    let is_tls = simulation.connection.as_ref().is_some_and(|connection| connection.transport_protocol == "tls");
    let is_http = simulation.places.iter().any(|place| place.of == "http_connection_manager");
    let (host, route) = match (&simulation.virtual_host, simulation.places.iter().find(|place| place.of == "filter_chain")) {
        (Some(host), _) => (host.as_str(), origins("route")),
        (None, Some(chain)) if !is_http => {
            let made = map.descendants(&chain.pointer);
            ("", made.iter().flat_map(|made| made.origins.iter().copied()).collect())
        }
        _ => return Vec::new(),
    };
    let chosen = ChosenRoute { virtual_host: host, route: &route, listener: &listener, is_tls };
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
        is_refused: policy.is_refused,
        is_merged: policy.is_merged,
        replaced: policy.replaced.iter().filter_map(|policy| described(policy, side, positions)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route;
    use chancery_base::compilation::Options;
    use chancery_base::resource::Inputs;
    use chancery_compile::Compiler;
    use chancery_envoy::simulate::Request;

    const GATEWAY: &str = "apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: eg, namespace: shop}
spec:
  gatewayClassName: eg
  listeners: [{name: web, protocol: HTTP, port: 80}, {name: other, protocol: HTTP, port: 81}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs: [{name: eg}]
  hostnames: [a.example.com]
  rules:
  - {name: admin, matches: [{path: {type: PathPrefix, value: /admin}}], backendRefs: [{name: s, port: 80}]}
  - {name: rest, backendRefs: [{name: s, port: 80}]}
";

    fn policy(name: &str, target: &str, spec: &str) -> String {
        format!(
            "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {{name: {name}, namespace: shop}}\n\
             spec:\n  targetRefs: [{{group: gateway.networking.k8s.io, {target}}}]\n{spec}"
        )
    }

    /// The policies of a request, one line each; replaced policies follow with their lost settings.
    fn of(policies: &str, url: &str) -> Vec<String> {
        let inputs = Inputs::one("a.yaml", format!("{GATEWAY}{policies}"));
        let mut compiler = Compiler::new(crate::testing::ALL);
        let compilation =
            compiler.compile(&inputs, &Options::default().with("missing", chancery_base::compilation::OptionValue::Text("assume".into())));
        let gateway = compilation.gateways().next().expect("a gateway");
        let report = route(gateway, &compilation.positions(), &Request::new("GET", url).expect("a URL"), compiler.emitted.of(gateway));
        let names = |settings: &mut dyn Iterator<Item = &PolicySetting>| settings.map(|setting| setting.name.as_str()).collect::<Vec<_>>().join(" ");
        let mut out = Vec::new();
        for policy in &report.policies {
            let state = if policy.is_merged {
                " merged"
            } else if policy.is_refused {
                " refused"
            } else {
                ""
            };
            out.push(format!("{} for {}{state}: {}", policy.resource.name, policy.target, names(&mut policy.settings.iter())));
            out.extend(policy.replaced.iter().map(|wide| format!("replaces {}: {}", wide.resource.name, names(&mut policy.lost(wide)))));
        }
        out
    }

    const LIMITS: &str = "  timeout: {http: {requestTimeout: 5s}}\n  retry: {numRetries: 2}\n";

    #[test]
    fn narrowest_policy_replaces_wider_ones() {
        let policies = policy("wide", "kind: Gateway, name: eg", LIMITS)
            + &policy("listener", "kind: Gateway, name: eg, sectionName: web", "  retry: {numRetries: 3}\n")
            + &policy("rule", "kind: HTTPRoute, name: shop, sectionName: admin", "  retry: {numRetries: 4}\n");
        let admin = of(&policies, "http://a.example.com/admin");
        assert_eq!(admin, ["rule for rule `admin` of HTTPRoute shop: retry", "replaces listener: ", "replaces wide: timeout"]);
        assert_eq!(of(&policies, "http://a.example.com/"), ["listener for listener `web` of Gateway eg: retry", "replaces wide: timeout"]);
        assert_eq!(of(&policies, "http://a.example.com:81/"), ["wide for Gateway eg: timeout retry"]);
    }

    #[test]
    fn merged_policy_counts_with_the_wider_one() {
        let policies = policy("wide", "kind: Gateway, name: eg", LIMITS)
            + &policy("route", "kind: HTTPRoute, name: shop", "  mergeType: StrategicMerge\n  retry: {numRetries: 4}\n");
        let expected = ["route for HTTPRoute shop: retry", "wide for Gateway eg merged: timeout retry"];
        assert_eq!(of(&policies, "http://a.example.com/"), expected);
    }

    #[test]
    fn invalid_policy_replaces_wider_ones() {
        let policies = policy("wide", "kind: Gateway, name: eg", LIMITS)
            + &policy(
                "route",
                "kind: HTTPRoute, name: shop",
                "  rateLimit: {type: Local, local: {rules: [{limit: {requests: 1, unit: Hour}}, {limit: {requests: 2, unit: Hour}}]}}\n",
            );
        let expected = ["route for HTTPRoute shop refused: rateLimit", "replaces wide: timeout retry"];
        assert_eq!(of(&policies, "http://a.example.com/"), expected);
    }

    #[test]
    fn second_policy_of_a_target_does_not_count() {
        let policies = policy("wide", "kind: Gateway, name: eg", LIMITS) + &policy("late", "kind: Gateway, name: eg", "  retry: {numRetries: 4}\n");
        assert_eq!(of(&policies, "http://a.example.com/").len(), 1, "one policy is attached to a Gateway");
    }
}
