//! The BackendTLSPolicies in force, by the references to backends that they count for. Does not choose them; see `translate`.

use super::super::cluster::Name;
use super::super::status::PolicyStatuses;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::EffectivePolicy;
use chancery_base::resource::{Object, ObjectId, Objects, Origin};
use chancery_text::{NodeId, Segment, Str};

/// A backend with its policy.
#[derive(Clone, Debug)]
pub(crate) struct BackendPolicy {
    pub(crate) policy: ObjectId,
    /// The policy for the whole backend that a policy for one port replaces.
    pub(crate) replaced: Option<ObjectId>,
    pub(crate) kind: Str,
    pub(crate) name: Name,
    /// The port that the policy names, if it is for one.
    pub(crate) port: Option<Str>,
}

/// The policies, by the `backendRef`.
#[derive(Debug, Default)]
pub(crate) struct BackendPolicies(BTreeMap<(ObjectId, NodeId), BackendPolicy>);

impl BackendPolicies {
    pub(crate) fn put(&mut self, backend: Origin, of: BackendPolicy) {
        self.0.insert((backend.object(), backend.node()), of);
    }

    /// Adds the policies of a class that are accepted somewhere.
    pub(super) fn add(&mut self, of_class: Self, statuses: &PolicyStatuses) {
        let is_accepted = |id: &ObjectId| statuses.get(id).is_some_and(|status| status.ancestors.iter().any(|(_, of)| of.is("Accepted", true)));
        self.0.extend(of_class.0.into_iter().filter(|(_, of)| is_accepted(&of.policy)));
    }

    /// Returns the policies for the backends of a route's rule, in the order of the backends.
    pub(super) fn of_rule(&self, objects: &Objects, route: &Object, rule: u32) -> Vec<EffectivePolicy> {
        let below = self.0.range((route.id, NodeId(0))..=(route.id, NodeId(u32::MAX)));
        let mut found: Vec<EffectivePolicy> = Vec::new();
        for ((_, node), of) in below {
            let path = route.path(*node);
            let is_of_rule = matches!(path.segments.as_slice(), [_, Segment::Key(rules), Segment::Index(at), ..] if rules == "rules" && *at == rule);
            let target = match &of.port {
                Some(port) => format!("port `{port}` of {} {}", of.kind, of.name.1),
                None => format!("{} {}", of.kind, of.name.1),
            };
            if !is_of_rule || found.iter().any(|known| known.object == of.policy && known.target == target) {
                continue;
            }
            let whole = of.replaced.map(|policy| effective(objects, policy, format!("{} {}", of.kind, of.name.1)));
            found.push(EffectivePolicy { replaced: whole.into_iter().collect(), ..effective(objects, of.policy, target) });
        }
        found
    }
}

fn effective(objects: &Objects, policy: ObjectId, target: String) -> EffectivePolicy {
    let settings = objects.get(policy).map(settings).unwrap_or_default();
    EffectivePolicy { object: policy, target, settings, is_refused: false, is_merged: false, replaced: Vec::new() }
}

/// What a policy says about the backend's certificate, with the places.
fn settings(policy: &Object) -> Vec<(Str, Origin)> {
    let fields = policy.root.at(&["spec", "validation"]).and_then(|validation| validation.as_object());
    let all = fields.into_iter().flat_map(|fields| fields.iter());
    all.map(|entry| (entry.key.clone(), Origin::field(policy.id, entry.value.id))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use chancery_base::compilation::{ChosenRoute, OptionValue, Options};
    use chancery_base::resource::Inputs;
    use chancery_compile::Compiler;

    const INPUT: &str = "apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: eg, namespace: shop}
spec: {gatewayClassName: eg, listeners: [{name: web, protocol: HTTP, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs: [{name: eg}]
  rules:
  - {backendRefs: [{name: s, port: 443}]}
  - {matches: [{path: {value: /other}}], backendRefs: [{name: other, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: s, namespace: shop}
spec: {clusterIP: 10.0.0.1, ports: [{name: https, port: 443}]}
---
apiVersion: v1
kind: Service
metadata: {name: other, namespace: shop}
spec: {clusterIP: 10.0.0.2, ports: [{name: http, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: one-port, namespace: shop}
spec:
  targetRefs: [{group: '', kind: Service, name: s, sectionName: https}]
  validation: {hostname: s.example.com, wellKnownCACertificates: System}
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: whole, namespace: shop}
spec:
  targetRefs: [{group: '', kind: Service, name: s}]
  validation: {hostname: s.example.com, wellKnownCACertificates: System}
";

    /// The policies of a rule, one line each.
    fn of_rule(rule: usize) -> Vec<String> {
        let options = Options::default().with("missing", OptionValue::Text("error".into()));
        let compilation = Compiler::new(&[&crate::DIALECT]).compile(&Inputs::one("a.yaml", INPUT), &options);
        let side = compilation.sides().next().expect("a side");
        let route = side.objects().iter().find(|object| *object.key.kind == *"HTTPRoute").expect("a route");
        let rules = route.root.at(&["spec", "rules"]).and_then(|rules| rules.as_array()).expect("rules");
        let origin = [Origin::field(route.id, rules[rule].id)];
        let found = side.side.stages.policies(side.objects(), ChosenRoute { virtual_host: "", route: &origin, listener: &[], is_tls: false });
        let name = |of: &EffectivePolicy| side.objects().get(of.object).map(|object| object.key.name.to_string()).unwrap_or_default();
        let settings = |of: &EffectivePolicy| of.settings.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(" ");
        let replaced = |of: &EffectivePolicy| of.replaced.iter().map(name).collect::<Vec<_>>().join(" ");
        found.iter().map(|of| format!("{} for {}: {}; replaces {}", name(of), of.target, settings(of), replaced(of))).collect()
    }

    #[test]
    fn policy_of_port_replaces_policy_of_service() {
        assert_eq!(of_rule(0), ["one-port for port `https` of Service s: hostname wellKnownCACertificates; replaces whole"]);
    }

    #[test]
    fn backend_without_policy_has_none() {
        assert!(of_rule(1).is_empty());
    }
}
