//! TLS towards backends: Backends' own settings, BackendTLSPolicies, and the client certificate of the Gateway or EnvoyProxy.

use super::super::cluster::Admitted;
use super::super::context::{BackendPolicy, Translator};
use super::super::load::resources::{From, To};
use super::super::model::{CaCertificate, Sds, SubjectAltName, TlsSettings, UpstreamTls};
use super::super::status::{Reference, sentence};
use super::super::value::tree;
use super::certificates;
use super::destination::SettingOf;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Origin;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// The secret that all backends with the system's CAs share.
const SYSTEM_CAS: &str = "system_ca_certificates";

/// What is wrong with references to CAs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaFault {
    NotPermitted,
    Kind,
    NoneValid,
    Other,
}

/// Why CAs cannot be used.
#[derive(Clone, Debug)]
pub(crate) struct CaError {
    pub(crate) kind: CaFault,
    pub(crate) message: String,
}

/// Names the CAs of references: their PEM texts joined by `+`, or an SDS server.
pub(crate) fn ca_of_references(
    t: &Translator<'_>,
    references: &[Cursor<'_>],
    kind: &str,
    group: &str,
    namespace: &str,
    is_checked: bool,
) -> Result<(Tree, Option<Sds>), CaError> {
    let fail = |kind: CaFault, message: String| Err(CaError { kind, message });
    let other = |message: String| fail(CaFault::Other, message);
    let (mut names, mut origin, mut sds, mut found) = (Vec::new(), None, None, false);
    for reference in references {
        let (of_kind, name) = (reference.field("kind").str(), reference.field("name").str());
        let there = match reference.field("namespace").some_str() {
            Some(written) if is_checked => written,
            _ => namespace,
        };
        let to = To { group: reference.field("group").str(), kind: of_kind, namespace: there, name };
        if is_checked && !t.resources.permits(From { group, kind, namespace }, to) {
            let message = "cross-namespace reference is not permitted by any ReferenceGrant for caCertificateRef";
            return fail(CaFault::NotPermitted, format!("{message} {}/{name} (kind: {of_kind}, namespace: {there})", to.group));
        }
        match of_kind {
            "ConfigMap" => {
                found = true;
                let Some(map) = t.resources.config_map(there, name) else { return other(format!("configmap {name} not found in namespace {there}")) };
                let data = map.root().field("data");
                let keys: Vec<Str> = data.entries().map(|(key, _)| key.clone()).collect();
                let Some(key) = ca_key(&keys) else { return other(format!("no ca found in configmap {name}")) };
                if !data.field(&key).str().is_empty() {
                    names.push(format!("configmap:{}/{key}", map.path()));
                    origin = origin.or(Some(data.field(&key).origin()));
                }
            }
            "Secret" => {
                found = true;
                let Some(secret) = t.resources.secret(there, name) else { return other(format!("secret {name} not found in namespace {there}")) };
                if certificates::is_sds(secret) {
                    if !t.settings.sds_secret_ref {
                        return other("SDS Secret reference is not enabled in EnvoyGateway configuration".into());
                    }
                    if sds.is_some() {
                        return other("multiple SDS reference secrets are not supported".into());
                    }
                    match certificates::sds_of(secret) {
                        Ok(config) => sds = Some(config),
                        Err(error) => return other(format!("invalid SDS reference secret {name}: {error}")),
                    }
                    continue;
                }
                let Some(key) = ca_key(&certificates::keys(secret)) else { return other(format!("no ca found in secret {name}")) };
                if certificates::value(secret, &key).is_some_and(|value| !value.is_empty()) {
                    let named = certificates::key_of(secret, &key);
                    origin = origin.or(named.origin);
                    names.push(String::from(named.text()));
                }
            }
            "ClusterTrustBundle" => {
                found = true;
                let Some(bundle) = t.resources.trust_bundles.get(name) else { return other(format!("cluster trust bundle {name} not found")) };
                let text = bundle.spec().field("trustBundle");
                if !text.str().is_empty() {
                    names.push(format!("clustertrustbundle:{name}"));
                    origin = origin.or(Some(text.origin()));
                }
            }
            _ => {}
        }
    }
    match sds {
        Some(_) if !names.is_empty() => other("cannot mix SDS reference secrets with other CA certificate types".into()),
        Some(sds) => Ok((Tree::NULL, Some(sds))),
        None if names.is_empty() && !found => {
            let kinds = "Unsupported reference kind, supported kinds are ConfigMap, Secret, and ClusterTrustBundle in caCertificateRefs";
            fail(CaFault::Kind, kinds.into())
        }
        None if names.is_empty() => fail(CaFault::NoneValid, "no valid CA certificate found in referenced resources".into()),
        None => Ok((certificates::joined(t, &names).with_origin(origin), None)),
    }
}

/// Returns the key that holds CAs: `ca.crt`, `tls.crt`, or the only key.
pub(crate) fn ca_key(keys: &[Str]) -> Option<Str> {
    let known = ["ca.crt", "tls.crt"].into_iter().find_map(|name| keys.iter().find(|key| *key == name));
    match (known, keys) {
        (Some(known), _) => Some(known.clone()),
        (None, [only]) => Some(only.clone()),
        _ => None,
    }
}

/// Returns the TLS settings towards a backend, and reports them in the status of the policy that applies.
pub(crate) fn apply_backend_tls(
    t: &mut Translator<'_>,
    of: &SettingOf,
    parent: &Reference,
    gateway: Option<usize>,
) -> Result<Option<UpstreamTls>, String> {
    let (mut own, mut own_client) = (None, None);
    if of.kind == "Backend" {
        let Some(backend) = t.resources.backend(&of.namespace, &of.name) else { return Err(format!("backend {} not found", of.name)) };
        let tls = backend.spec().field("tls");
        if tls.exists() {
            own = Some(validation_of_backend(t, backend)?);
            own_client = Some(client_settings(t, &tree(tls), "Backend", backend.namespace(), backend.name())?);
        }
    }
    let policy = validation_of_policy(t, of, parent)?;
    let Some(mut merged) = merge_validation(own, policy) else { return Ok(None) };
    if !merged.insecure_skip_verify.bool() && merged.ca.is_none() {
        return Err("CACertificate must be specified when InsecureSkipVerify is false".into());
    }
    let mut client = own_client;
    if let Some(gateway) = gateway {
        let context = &t.gateways[gateway];
        let of_gateway = context.object.spec().at("tls.backend");
        let proxy = context.envoy_proxy.clone();
        let gateway_settings = if of_gateway.exists() {
            match context.backend_tls {
                Some(at) => {
                    let certificate = Tree::object([("clientCertificateRef", tree(at.field("clientCertificateRef")))]);
                    let (namespace, name) = (context.object.namespace(), context.object.name());
                    Some(client_settings(t, &certificate, "Gateway", namespace, name)?)
                }
                None => None,
            }
        } else {
            match proxy.as_ref().map(|proxy| (proxy, proxy.spec.get("backendTLS"))).filter(|(_, tls)| !tls.is_null()) {
                Some((proxy, tls)) => Some(client_settings(t, tls, "EnvoyProxy", &proxy.namespace, &proxy.name)?),
                None => None,
            }
        };
        client = merge_client(client, gateway_settings);
    }
    if let Some(client) = client {
        merged.settings = client;
    }
    if merged.settings.min_version.is_null() {
        merged.settings.min_version = Tree::from("1.2");
    }
    if merged.settings.max_version.is_null() {
        merged.settings.max_version = Tree::from("1.3");
    }
    Ok(Some(merged))
}

fn system_cas(t: &Translator<'_>, name: &str, namespace: &str, origin: Origin) -> CaCertificate {
    let own = || Str::from(format!("{name}/{namespace}-ca"));
    let name = if t.settings.per_resource_system_ca { own() } else { Str::new_static(SYSTEM_CAS) };
    CaCertificate { name, origin: Some(origin), ..CaCertificate::default() }
}

fn validation_of_backend(t: &Translator<'_>, backend: &Admitted<'_>) -> Result<UpstreamTls, String> {
    let tls = backend.spec().field("tls");
    let mut out = UpstreamTls {
        insecure_skip_verify: tree(tls.field("insecureSkipVerify")),
        auto_sni_from_endpoint_hostname: tls.field("autoSNIFromEndpointHostname").is_true(),
        sni: tree(tls.field("sni")),
        origin: Some(tls.origin()),
        ..UpstreamTls::default()
    };
    if out.insecure_skip_verify.bool() {
        return Ok(out);
    }
    let system = tls.field("wellKnownCACertificates");
    let references: Vec<Cursor<'_>> = tls.field("caCertificateRefs").items().collect();
    if system.str() == "System" {
        out.use_system_trust_store = true;
        out.ca = Some(system_cas(t, backend.name(), backend.namespace(), system.origin()));
    } else if !references.is_empty() {
        let (certificate, sds) = ca_of_references(t, &references, "BackendTLSPolicy", super::super::kinds::GROUP, backend.namespace(), false)
            .map_err(|error| error.message)?;
        let name = Str::from(format!("{}/{}-ca", backend.name(), backend.namespace()));
        out.ca = Some(CaCertificate { name, certificate, sds, origin: Some(tls.field("caCertificateRefs").origin()) });
    }
    Ok(out)
}

/// Returns settings of Envoy's own side: versions, ciphers, client certificate.
fn client_settings(t: &Translator<'_>, tls: &Tree, kind: &str, namespace: &Str, name: &Str) -> Result<TlsSettings, String> {
    let list = |field: &str| tls.get(field).items().to_vec();
    let mut out = TlsSettings {
        ciphers: list("ciphers"),
        ecdh_curves: list("ecdhCurves"),
        signature_algorithms: list("signatureAlgorithms"),
        min_version: tls.get("minVersion").clone(),
        max_version: tls.get("maxVersion").clone(),
        alpn: tls.find("alpnProtocols").map(|alpn| alpn.items().to_vec()).filter(|alpn| !alpn.is_empty()),
        origin: tls.origin,
        ..TlsSettings::default()
    };
    let reference = tls.get("clientCertificateRef");
    if reference.is_null() {
        return Ok(out);
    }
    let there = if reference.get("namespace").text().is_empty() { namespace.clone() } else { reference.get("namespace").str() };
    if kind != "Gateway" && there != *namespace {
        return Err(format!(
            "ClientCertificateRef Secret is not located in the same namespace as {kind}. Secret namespace: {there} does not match {kind} namespace: \
             {namespace}"
        ));
    }
    let secret_name = reference.get("name").text();
    let Some(secret) = t.resources.secret(&there, secret_name) else {
        return Err(format!("failed to locate TLS secret for client auth: {namespace}/{secret_name} specified in {kind} {namespace}/{name}"));
    };
    let origin = reference.origin.unwrap_or_else(|| secret.root().origin());
    let mut certificate = certificates::certificate_of(secret, origin);
    if certificates::is_sds(secret) {
        if !t.settings.sds_secret_ref {
            return Err("SDS Secret reference is not enabled in EnvoyGateway configuration".into());
        }
        certificates::sds_of(secret).map_err(|error| format!("invalid SDS reference secret: {error}"))?;
        certificate.name = Str::default();
    }
    out.client_certificates = Vec::from([certificate]);
    Ok(out)
}

fn merge_validation(own: Option<UpstreamTls>, policy: Option<UpstreamTls>) -> Option<UpstreamTls> {
    let (Some(mut own), Some(policy)) = (own.clone(), policy.clone()) else { return own.or(policy) };
    if policy.ca.is_some() {
        own.ca = policy.ca;
        own.use_system_trust_store = policy.use_system_trust_store;
    }
    if !policy.sni.is_null() {
        own.sni = policy.sni;
        own.auto_sni_from_endpoint_hostname = false;
    }
    own.use_system_trust_store |= policy.use_system_trust_store;
    own.subject_alt_names = policy.subject_alt_names;
    Some(own)
}

fn merge_client(own: Option<TlsSettings>, of_gateway: Option<TlsSettings>) -> Option<TlsSettings> {
    let (Some(own), Some(mut merged)) = (own.clone(), of_gateway.clone()) else { return own.or(of_gateway) };
    let or = |own: Tree, other: &mut Tree| {
        if !own.is_null() {
            *other = own;
        }
    };
    or(own.min_version, &mut merged.min_version);
    or(own.max_version, &mut merged.max_version);
    let lists = [
        (own.ciphers, &mut merged.ciphers),
        (own.ecdh_curves, &mut merged.ecdh_curves),
        (own.signature_algorithms, &mut merged.signature_algorithms),
    ];
    for (own, other) in lists.into_iter().filter(|(own, _)| !own.is_empty()) {
        *other = own;
    }
    if !own.client_certificates.is_empty() {
        merged.client_certificates = own.client_certificates;
    }
    merged.alpn = own.alpn.or(merged.alpn);
    Some(merged)
}

/// The object that a policy may target: group, kind and name, and the port's name.
struct Target {
    group: Str,
    kind: Str,
    name: Str,
    section: Option<Str>,
}

fn target_of(t: &Translator<'_>, of: &SettingOf) -> Target {
    let number = of.port.as_ref().map(|port| port.value);
    let named = |object: Option<&Admitted<'_>>| {
        let port = object?.spec().field("ports").items().find(|port| port.field("port").int() == number)?.field("name").str();
        (!port.is_empty()).then(|| Str::new(port))
    };
    let section = number.and_then(|number| match of.kind.as_str() {
        "Service" => named(t.resources.service(&of.namespace, &of.name)),
        "ServiceImport" => named(t.resources.service_import(&of.namespace, &of.name)),
        _ => Some(Str::from(format!("{number}"))),
    });
    Target { group: of.group.clone(), kind: of.kind.clone(), name: of.name.clone(), section }
}

/// Whether a policy targets an object: with its section, or the whole object too.
fn is_targeted(policy: &Admitted<'_>, target: &Target, namespace: &str, needs_section: bool) -> bool {
    for current in policy.spec().field("targetRefs").items() {
        let is_it = current.field("group").str() == target.group.as_str()
            && current.field("kind").str() == target.kind.as_str()
            && current.field("name").str() == target.name.as_str()
            && *policy.namespace() == *namespace;
        if !is_it {
            continue;
        }
        match (current.field("sectionName").some_str(), target.section.as_deref()) {
            (None, Some(_)) => return !needs_section,
            (one, other) if one == other => return true,
            _ => {}
        }
    }
    false
}

/// Whether a policy targets the whole of an object, without a section.
fn is_for_whole(policy: &Admitted<'_>, target: &Target, namespace: &str) -> bool {
    *policy.namespace() == *namespace
        && policy.spec().field("targetRefs").items().any(|current| {
            let is = |field: &str, value: &Str| current.field(field).str() == value.as_str();
            is("group", &target.group) && is("kind", &target.kind) && is("name", &target.name) && !current.field("sectionName").exists()
        })
}

fn validation_of_policy(t: &mut Translator<'_>, of: &SettingOf, parent: &Reference) -> Result<Option<UpstreamTls>, String> {
    let target = target_of(t, of);
    let policies = &t.resources.backend_tls_policies;
    let by_section = target.section.as_ref().and_then(|_| policies.iter().copied().find(|of_| is_targeted(of_, &target, &of.namespace, true)));
    let policy = by_section.or_else(|| policies.iter().copied().find(|of_| is_targeted(of_, &target, &of.namespace, false)));
    let Some(policy) = policy else { return Ok(None) };
    if let Some(backend) = of.origin {
        let whole = by_section.and_then(|_| policies.iter().copied().find(|of_| is_for_whole(of_, &target, &of.namespace)));
        let of_backend = BackendPolicy {
            policy: policy.id(),
            replaced: whole.map(Admitted::id),
            kind: of.kind.clone(),
            name: (of.namespace.clone(), of.name.clone()),
            port: by_section.and(target.section),
        };
        t.in_force.backends.put(backend, of_backend);
    }
    t.backend_tls_uses += 1;
    let bundle = bundle_of(t, policy);
    let status = t.policies.entry(policy.id()).or_default();
    let mut ancestors: Vec<Reference> = status.ancestors.iter().map(|(known, _)| known.clone()).collect();
    ancestors.push(parent.clone());
    match bundle {
        Ok(bundle) => {
            status.set_all(&ancestors, "ResolvedRefs", true, "ResolvedRefs", "Resolved all the Object references.");
            status.accept(&ancestors);
            Ok(Some(bundle))
        }
        Err(error) => {
            let reason = if error.kind == CaFault::Kind { "InvalidKind" } else { "InvalidCACertificateRef" };
            let message = sentence(&error.message);
            status.set_all(&ancestors, "Accepted", false, "NoValidCACertificate", &message);
            status.set_all(&ancestors, "ResolvedRefs", false, reason, &message);
            Err(error.message)
        }
    }
}

fn bundle_of(t: &Translator<'_>, policy: &Admitted<'_>) -> Result<UpstreamTls, CaError> {
    let validation = policy.spec().field("validation");
    let name_of = |name: Cursor<'_>| match name.field("type").str() {
        "Hostname" => Some(SubjectAltName { hostname: tree(name.field("hostname")), uri: Tree::NULL }),
        "URI" => Some(SubjectAltName { hostname: Tree::NULL, uri: tree(name.field("uri")) }),
        _ => None,
    };
    let system = validation.field("wellKnownCACertificates");
    let mut out = UpstreamTls {
        sni: tree(validation.field("hostname")),
        use_system_trust_store: system.str() == "System",
        subject_alt_names: validation.field("subjectAltNames").items().filter_map(name_of).collect(),
        origin: Some(validation.origin()),
        ..UpstreamTls::default()
    };
    if out.use_system_trust_store {
        out.ca = Some(system_cas(t, policy.name(), policy.namespace(), system.origin()));
        return Ok(out);
    }
    let references: Vec<Cursor<'_>> = validation.field("caCertificateRefs").items().collect();
    let (certificate, sds) = ca_of_references(t, &references, "BackendTLSPolicy", super::super::kinds::GROUP, policy.namespace(), false)?;
    let name = Str::from(format!("{}/{}-ca", policy.name(), policy.namespace()));
    out.ca = Some(CaCertificate { name, certificate, sds, origin: Some(validation.field("caCertificateRefs").origin()) });
    Ok(out)
}

/// Marks policies whose targets an earlier policy has, and cuts long statuses.
pub(crate) fn conclude(t: &mut Translator<'_>) {
    let mut taken: BTreeMap<(Str, [Str; 4]), &Admitted<'_>> = BTreeMap::new();
    for policy in t.resources.backend_tls_policies.iter().copied() {
        let mut other = None;
        for target in policy.spec().field("targetRefs").items() {
            let key = ["group", "kind", "name", "sectionName"].map(|field| Str::new(target.field(field).str()));
            let key = (policy.namespace().clone(), key);
            if let Some(known) = taken.get(&key) {
                other = Some(*known);
                break;
            }
            taken.insert(key, policy);
        }
        if let Some(other) = other {
            let ancestors = t.policies.get(&other.id()).map(|status| status.ancestors.iter().map(|(known, _)| known.clone()).collect::<Vec<_>>());
            let message = format!("Policy conflicts with BackendTLSPolicy {}.", other.path());
            t.policies.entry(policy.id()).or_default().set_all(&ancestors.unwrap_or_default(), "Accepted", false, "Conflicted", &message);
        }
    }
}
