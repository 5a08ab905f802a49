//! References of policies to Secrets, ConfigMaps and services. Does not attach policies.

use super::super::cluster::Admitted;
use super::super::context::Translator;
use super::super::kinds::{GROUP, MULTI_CLUSTER};
use super::super::load::resources::{From, To};
use super::super::model::{AddressType, AppProtocol, Destination};
use super::super::names;
use super::super::status::Reference;
use super::super::translate::certificates;
use super::super::translate::{SettingOf, apply_backend_tls, metadata_of, setting_of_backend, setting_of_import, setting_of_service};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// Checks a reference of a policy to a Secret or ConfigMap, and returns the namespace that is meant.
fn object(t: &Translator<'_>, owner: &Admitted<'_>, reference: &Tree) -> Result<Str, String> {
    if !reference.get("group").text().is_empty() {
        return Err("secret ref group must be unspecified/empty".into());
    }
    let kind = match reference.get("kind").text() {
        "" | "Secret" => "Secret",
        "ConfigMap" => "ConfigMap",
        _ => return Err("secret ref kind must be Secret".into()),
    };
    let (own, name) = (owner.namespace(), reference.get("name").text());
    let there = reference.find("namespace").map_or_else(|| own.clone(), Tree::str);
    let from = From { group: GROUP, kind: owner.kind.name(), namespace: own };
    if !there.is_empty() && !t.resources.permits(from, To { group: "", kind, namespace: &there, name }) {
        return Err(format!("ref to {kind} {there}/{name} not permitted by any ReferenceGrant"));
    }
    Ok(there)
}

/// Returns the Secret that a policy refers to.
pub(super) fn secret<'a>(t: &Translator<'a>, owner: &Admitted<'_>, reference: &Tree) -> Result<&'a Admitted<'a>, String> {
    let there = object(t, owner, reference)?;
    let name = reference.get("name").text();
    t.resources.secret(&there, name).ok_or_else(|| format!("secret {there}/{name} does not exist"))
}

/// Returns the ConfigMap that a policy refers to.
pub(super) fn config_map<'a>(t: &Translator<'a>, owner: &Admitted<'_>, reference: &Tree) -> Result<&'a Admitted<'a>, String> {
    let there = object(t, owner, reference)?;
    let name = reference.get("name").text();
    t.resources.config_map(&there, name).ok_or_else(|| format!("configmap {there}/{name} does not exist"))
}

/// Names the data of a Secret, ConfigMap or ClusterTrustBundle: the first key of `keys` that it has, or its only key.
pub(super) fn data(t: &Translator<'_>, owner: &Admitted<'_>, reference: &Tree, keys: &[&str]) -> Result<Tree, String> {
    let name = reference.get("name").text();
    let pick = |known: &[Str]| -> Option<Str> {
        let first = keys.iter().find_map(|key| known.iter().find(|known| *known == key).cloned());
        first.or_else(|| if let [only] = known { Some(only.clone()) } else { None })
    };
    let none = |what: &str| format!("ref {what} [{name}] has none of the expected keys [{}] and more than one entry", keys.join(" "));
    match reference.get("kind").text() {
        "" | "Secret" => {
            let secret = secret(t, owner, reference)?;
            let key = pick(&certificates::keys(secret)).ok_or_else(|| none("secret"))?;
            let value = certificates::value(secret, &key).unwrap_or_default();
            if value.is_empty() { Err(none("secret")) } else { Ok(certificates::key_of(secret, &key)) }
        }
        "ConfigMap" => {
            let map = config_map(t, owner, reference)?;
            let at = map.root().field("data");
            let known: Vec<Str> = at.entries().map(|(key, _)| key.clone()).collect();
            let key = pick(&known).ok_or_else(|| none("configmap"))?;
            let value: Cursor<'_> = at.field(&key);
            if value.str().is_empty() {
                return Err(none("configmap"));
            }
            Ok(Tree::named_material(format!("configmap:{}/{key}", map.path())).with_origin(Some(value.origin())))
        }
        "ClusterTrustBundle" => match t.resources.trust_bundles.get(name) {
            Some(bundle) => {
                Ok(Tree::named_material(format!("clustertrustbundle:{name}")).with_origin(Some(bundle.spec().field("trustBundle").origin())))
            }
            None => Err(format!("ref ClusterTrustBundle [{name}] not found")),
        },
        other => Err(format!("unsupported ref kind:{other}")),
    }
}

/// What a policy asks a service for, and which of its services it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purpose {
    pub(super) name: &'static str,
    pub(super) index: usize,
    pub(super) protocol: AppProtocol,
}

/// Resolves the backends of a service that Envoy asks on behalf of a policy.
pub(super) fn service(
    t: &mut Translator<'_>,
    owner: &Admitted<'_>,
    references: &[Tree],
    purpose: Purpose,
    gateway: usize,
) -> Result<Destination, String> {
    if references.is_empty() {
        return Err("no backendRefs found for external service".into());
    }
    let kind = owner.kind.name();
    let name = format!("{}/{}/{}/{}/{}", kind, owner.namespace(), owner.name(), purpose.name, purpose.index).to_lowercase();
    let mut settings = Vec::new();
    for (at, reference) in references.iter().enumerate() {
        validate(t, owner, reference)?;
        let weight = reference.find("weight").map_or_else(|| Sourced { value: 1, origin: reference.origin }, Tree::number);
        if weight.value == 0 {
            continue;
        }
        let setting_name = names::setting(&name, i64::try_from(at).unwrap_or_default());
        let of = SettingOf::of_tree(reference, owner.namespace());
        let is_service = t.is_service_routing(&t.gateways[gateway], None);
        let found = match of.kind.as_str() {
            "ServiceImport" => setting_of_import(t, &setting_name, &of, purpose.protocol, is_service),
            "Backend" if !t.settings.backend => {
                let words = "of type Backend cannot be used since Backend is disabled in Envoy Gateway configuration";
                return Err(format!("resource {} {words}", of.name));
            }
            "Backend" => Ok(setting_of_backend(t, &setting_name, &of, purpose.protocol)),
            _ => setting_of_service(t, &setting_name, &of, purpose.protocol, is_service),
        };
        let mut setting = found.map_err(|error| error.message)?;
        if setting.is_dynamic_resolver {
            return Err("dynamic resolver destinations are not supported".into());
        }
        if !is_service && setting.address_type == Some(AddressType::Mixed) {
            return Err("mixed endpointslice address type for the same backendRef is not supported".into());
        }
        let parent = Reference {
            group: Some(Str::new_static(GROUP)),
            kind: Some(Str::new_static(kind)),
            namespace: Some(owner.namespace().clone()),
            name: owner.name().clone(),
            ..Reference::default()
        };
        setting.tls = apply_backend_tls(t, &of, &parent, Some(gateway))?.map(Box::new);
        setting.weight = Some(weight);
        if reference.get("fallback").bool() {
            setting.priority = Some(Sourced { value: 1, origin: reference.get("fallback").origin });
        }
        settings.push(setting);
    }
    let has = |kind: AddressType| settings.iter().any(|setting| setting.address_type == Some(kind));
    let is_mixed = has(AddressType::Fqdn) && settings.iter().any(|of| of.address_type.is_some_and(|kind| kind != AddressType::Fqdn));
    if has(AddressType::Mixed) || is_mixed {
        return Err("external service destinations having multiple endpoint types are not supported".into());
    }
    let origin = references.first().and_then(|reference| reference.origin);
    Ok(Destination { name: Str::from(name), settings, metadata: Some(metadata_of(owner, Sourced::default())), origin, ..Destination::default() })
}

fn validate(t: &Translator<'_>, owner: &Admitted<'_>, reference: &Tree) -> Result<(), String> {
    let group = reference.get("group").text();
    if !matches!(group, "" | GROUP | MULTI_CLUSTER) {
        let words = "only the core API group (specified by omitting the group field or setting it to an empty string)";
        return Err(format!("group is invalid, {words}, the {MULTI_CLUSTER} API group, and the {GROUP} API group are supported"));
    }
    let kind = reference.find("kind").map_or("Service", Tree::text);
    if !matches!(kind, "Service" | "ServiceImport" | "Backend") {
        let words = "only Service (specified by omitting the kind field or setting it to 'Service'), ServiceImport, and Backend are supported";
        return Err(format!("kind is invalid, {words}"));
    }
    let port = reference.find("port").map(Tree::int);
    if port.is_none() && kind != "Backend" {
        return Err("a valid port number corresponding to a port on the Service must be specified".into());
    }
    let (own, name) = (owner.namespace(), reference.get("name").text());
    let there = reference.find("namespace").map_or_else(|| own.clone(), Tree::str);
    let has_port = |object: &Admitted<'_>| {
        let is_tcp = |at: Cursor<'_>| matches!(at.field("protocol").str(), "" | "TCP");
        object.spec().field("ports").items().any(|at| at.field("port").int() == port && is_tcp(at))
    };
    let check = |found: Option<&Admitted<'_>>, what: &str| match found {
        None => Err(format!("{what} {there}/{name} not found")),
        Some(object) if !has_port(object) => Err(format!("TCP Port {} not found on service {there}/{name}", port.unwrap_or_default())),
        Some(_) => Ok(()),
    };
    match kind {
        "Service" => check(t.resources.service(&there, name), "service")?,
        "ServiceImport" => check(t.resources.service_import(&there, name), "serviceimport")?,
        _ => match t.resources.backend(&there, name) {
            None => return Err(format!("backend {there}/{name} not found")),
            Some(backend) if backend.spec().field("type").str() == "DynamicResolver" => {
                return Err(format!("dynamic resolver backend {there}/{name} is not supported"));
            }
            Some(_) => {}
        },
    }
    let from = From { group: GROUP, kind: owner.kind.name(), namespace: own };
    if !there.is_empty() && !t.resources.permits(from, To { group, kind, namespace: &there, name }) {
        return Err(format!("backend ref to {kind} {there}/{name} not permitted by any ReferenceGrant"));
    }
    Ok(())
}
