//! Attaches EnvoyPatchPolicies to the Envoys that they are for, and writes their statuses. Does not apply patches; see `patch`.

use super::super::context::Translator;
use super::super::kinds::GATEWAY_API;
use super::super::model::PatchPolicy;
use super::super::patch::Outcome;
use super::super::status::{PolicyStatuses, Reference, sentence};
use super::super::value::tree;
use alloc::format;
use chancery_base::resource::ObjectId;
use chancery_text::Str;

/// Attaches all policies.
pub(super) fn attach(t: &mut Translator<'_>) {
    for policy in t.resources.envoy_patch_policies.iter() {
        let target = policy.spec().field("targetRef");
        let (group, kind, name) = (target.field("group").str(), target.field("kind").str(), Str::new(target.field("name").str()));
        let (key, ancestor, supported) = if t.merge_gateways {
            let ancestor = Reference {
                group: Some(Str::new_static(GATEWAY_API)),
                kind: Some(Str::new_static("GatewayClass")),
                name: name.clone(),
                ..Reference::default()
            };
            (name, ancestor, "GatewayClass")
        } else {
            let key = Str::from(format!("{}/{name}", policy.namespace()));
            (key, Reference::new("Gateway", policy.namespace(), &name, None), "Gateway")
        };
        // The statuses of policies come back from the generation of Envoy's messages, so that without an Envoy there is none.
        let Some(xds) = t.xds.get_mut(&key) else { continue };
        let status = t.policies.entry(policy.id()).or_default();
        let mut of = PatchPolicy {
            namespace: policy.namespace().clone(),
            name: policy.name().clone(),
            origin: Some(policy.spec().origin()),
            ..PatchPolicy::default()
        };
        if !t.settings.envoy_patch_policy {
            let message = "EnvoyPatchPolicy is disabled in the EnvoyGateway configuration";
            status.set(&ancestor, "Accepted", false, "Disabled", message);
        } else if group != GATEWAY_API || kind != supported {
            let message = format!(
                "TargetRef.Group:{group} TargetRef.Kind:{kind}, only TargetRef.Group:{GATEWAY_API} and TargetRef.Kind:{supported} is supported."
            );
            status.set(&ancestor, "Accepted", false, "Invalid", &message);
        } else {
            of.patches = policy.spec().field("jsonPatches").items().map(tree).collect();
            status.accept(&[ancestor]);
        }
        xds.patches.push(of);
    }
}

/// Writes the results of a policy's patches into its status.
pub(crate) fn report(policies: &mut PolicyStatuses, policy: ObjectId, outcome: &Outcome) {
    let Some(status) = policies.get_mut(&policy) else { return };
    for (_, conditions) in &mut status.ancestors {
        if !outcome.errors.is_empty() {
            conditions.set("Programmed", false, "Invalid", sentence(&outcome.errors.join("\n")));
        }
        if !outcome.not_found.is_empty() {
            let message = format!("Unable to find xds resources: {}", outcome.not_found.join(","));
            conditions.set("Programmed", false, "ResourceNotFound", message);
        }
        if conditions.get("Programmed").is_none() && !conditions.is("Accepted", false) {
            conditions.set("Programmed", true, "Programmed", "Patches have been successfully applied.");
        }
    }
}
