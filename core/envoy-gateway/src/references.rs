//! Lists the objects that others refer to, and objects that would satisfy them. Does not decide whether anything is assumed.

use super::Options;
use super::relations::FIELDS;
use super::status::CONTROLLER;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::ReferencedObject;
use chancery_base::resource::{Objects, ResourceKey};
use chancery_kubernetes::gateway_api;
use chancery_kubernetes::gateway_api::owners::Owners;
use chancery_kubernetes::references::{
    CERTIFICATE, FieldReference, KEYS_OF_TOKENS, endpoints, field_references, missing_objects, named, of_kubernetes,
};
use chancery_kubernetes::status::{object, text};
use chancery_text::Node;

/// Returns the owners of an input. If the user chose this dialect, classes of other controllers are its own.
pub(crate) fn owners<'o>(objects: &'o Objects, controller: &'o str, reads_all_classes: bool) -> Owners<'o> {
    let owners = Owners::of(objects.all(), controller);
    if reads_all_classes { owners.reading_all() } else { owners }
}

/// A password file with one user.
const USERS: &str = "assumed:{SHA}AAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// A Secret or ConfigMap with the values that fields of Envoy Gateway's kinds read. `None` if all references want certificates.
fn holding_values(key: &ResourceKey, asked: &[&FieldReference<'_>]) -> Option<Node> {
    let holder = match (key.group.as_str(), key.kind.as_str()) {
        ("", "Secret") => "stringData",
        ("", "ConfigMap") => "data",
        _ => return None,
    };
    let mut values: BTreeMap<&str, Node> = BTreeMap::new();
    let mut wants_certificate = false;
    for one in asked {
        let (name, value) = match one.path {
            "spec.basicAuth.users" => (".htpasswd", text(USERS)),
            "spec.oidc.clientSecret" => ("client-secret", text("assumed-client-secret")),
            "spec.oidc.clientIDRef" => ("client-id", text("assumed-client-id")),
            "spec.apiKeyAuth.credentialRefs.*" => (key.name.as_str(), text(&format!("assumed-key-of-{}", key.name))),
            "spec.credentialInjection.credential.valueRef" => ("credential", text("assumed-credential")),
            "spec.wasm.*.code.image.pullSecretRef" => (".dockerconfigjson", text("{}")),
            "spec.jwt.providers.*.localJWKS.valueRef" => ("jwks", text(KEYS_OF_TOKENS)),
            "spec.lua.*.valueRef" => ("lua", text("-- This script is not in the input.")),
            "spec.directResponse.body.valueRef" | "spec.responseOverride.*.response.body.valueRef" => {
                ("response.body", text("(this text is not in the input)"))
            }
            "spec.extAuth.contextExtensions.*.valueRef" => match one.holder.get("key").and_then(Node::as_str) {
                Some(name) => (name, text("assumed-value")),
                None => continue,
            },
            _ => {
                wants_certificate = true;
                continue;
            }
        };
        values.insert(name, value);
    }
    if values.is_empty() {
        return None;
    }
    if wants_certificate {
        values.extend(["tls.crt", "tls.key", "ca.crt", "crl.pem"].map(|name| (name, text(CERTIFICATE))));
    }
    Some(named(key, "v1", alloc::vec![(holder, object(values.into_iter().collect()))]))
}

/// Returns the referenced objects.
pub(crate) fn referenced_objects(objects: &Objects, options: &Options) -> Vec<ReferencedObject> {
    let owners = owners(objects, CONTROLLER, options.reads_all_classes);
    let asked = field_references(objects.all().filter(|object| owners.other(object).is_none()), &[FIELDS, gateway_api::relations::FIELDS]);
    let mut all = missing_objects(&asked, &objects.keys(), |key, asked| {
        holding_values(key, asked)
            .or_else(|| of_kubernetes(key, asked))
            .or_else(|| gateway_api::references::of_gateway_api(key, asked, CONTROLLER, &[]))
    });
    all.extend(endpoints(&asked, objects));
    all.extend(gateway_api::references::namespaces(&asked, objects));
    all
}
