//! Decides which Gateways of a class are accepted, and attaches their EnvoyProxies.

use super::super::cluster::Admitted;
use super::super::context::{GatewayContext, Listener, ListenerStatus, Translator};
use super::super::load::Loaded;
use super::super::model::Xds;
use super::super::status::{Conditions, Reference};
use super::envoy_proxy;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// Sorts the Gateways into accepted and failed ones, and makes the model of each.
pub(crate) fn accept<'a>(t: &mut Translator<'a>, loaded: &'a Loaded<'a>, class: &mut Conditions) {
    let resources = t.resources;
    let mut invalid: BTreeMap<(Str, Str), String> = BTreeMap::new();
    for (name, proxy) in &resources.envoy_proxies {
        invalid.extend(envoy_proxy::validate(&envoy_proxy::of(proxy).spec).map(|error| (name.clone(), error)));
    }
    if let Some(proxy) = resources.envoy_proxy_for_class {
        let ancestor = Reference {
            group: Some(Str::new_static(super::super::kinds::GATEWAY_API)),
            kind: Some(Str::new_static("GatewayClass")),
            name: resources.class.clone(),
            ..Reference::default()
        };
        match envoy_proxy::validate(&envoy_proxy::of(proxy).spec) {
            Some(error) => {
                class.set("Accepted", false, "InvalidParameters", format!("Invalid parametersRef: {error}"));
                report_proxy(t, proxy, &ancestor, Some(&error));
                invalid.insert(proxy.full_name(), error);
            }
            None => {
                class.set("Accepted", true, "Accepted", "Valid GatewayClass");
                report_proxy(t, proxy, &ancestor, None);
            }
        }
    }
    for gateway in resources.gateways.iter().copied() {
        let refused = loaded.refused_gateways.get(&gateway.full_name());
        let context = context(t, gateway, refused);
        match check(t, context, &invalid) {
            Ok(mut context) => {
                context.listeners = own_listeners(gateway);
                t.gateways.push(context);
            }
            Err(context) => t.failed.push(context),
        }
    }
    // A failed Gateway has an empty model, so that its Envoy is not taken away.
    let all = t.gateways.iter().chain(&t.failed).map(|context| t.ir_key(context.object)).collect::<Vec<_>>();
    t.xds.extend(all.into_iter().map(|key| (key, Xds::default())));
}

fn context<'a>(t: &Translator<'a>, gateway: &'a Admitted<'a>, refused: Option<&String>) -> GatewayContext<'a> {
    let mut conditions = Conditions::default();
    if let Some(error) = refused {
        conditions.set("Accepted", false, "InvalidParameters", error.clone());
    }
    let reference = gateway.spec().at("infrastructure.parametersRef");
    let is_own = reference.field("group").str() == super::super::kinds::GROUP && reference.field("kind").str() == "EnvoyProxy";
    let own = if is_own && !t.merge_gateways {
        let name = (gateway.namespace().clone(), Str::new(reference.field("name").str()));
        t.resources.envoy_proxies.get(&name).copied()
    } else {
        None
    };
    GatewayContext {
        object: gateway,
        listeners: Vec::new(),
        envoy_proxy: envoy_proxy::merged(t.resources, own).map(Arc::new),
        envoy_proxy_from_gateway: own.is_some(),
        backend_tls: None,
        conditions,
        attached_listener_sets: 0,
    }
}

fn check<'a>(
    t: &mut Translator<'a>,
    mut context: GatewayContext<'a>,
    invalid: &BTreeMap<(Str, Str), String>,
) -> Result<GatewayContext<'a>, GatewayContext<'a>> {
    if t.merge_gateways && t.merges_backends(&context) {
        context.conditions.set("Accepted", false, "InvalidParameters", "mergeGateways and mergeBackends cannot both be enabled");
        return Err(context);
    }
    if context.is_refused() {
        return Err(context);
    }
    if let Some(proxy) = context.envoy_proxy.clone() {
        let key = (proxy.namespace.clone(), proxy.name.clone());
        let own = context.envoy_proxy_from_gateway.then(|| t.resources.envoy_proxies.get(&key).copied()).flatten();
        let error = invalid.get(&key);
        if let Some(own) = own {
            report_proxy(t, own, &context.reference(None), error.map(String::as_str));
        }
        if let Some(error) = error {
            context.conditions.set("Accepted", false, "InvalidParameters", format!("Invalid parametersRef:: {error}"));
            return Err(context);
        }
    }
    let unsupported = |address: Cursor<'_>| !matches!(address.field("type").str(), "" | "IPAddress" | "Hostname");
    if let Some(address) = context.object.spec().field("addresses").items().find(|address| unsupported(*address)) {
        let message = format!("Gateway has an address with an unsupported type: {}", address.field("type").str());
        context.conditions.set("Accepted", false, "UnsupportedAddress", message);
        return Err(context);
    }
    Ok(context)
}

/// Writes the status of an EnvoyProxy.
fn report_proxy(t: &mut Translator<'_>, proxy: &Admitted<'_>, ancestor: &Reference, error: Option<&str>) {
    let status = t.policies.entry(proxy.id()).or_default();
    match error {
        Some(error) => status.set(ancestor, "Accepted", false, "InvalidParameters", error),
        None => {
            status.set(ancestor, "Accepted", true, "Accepted", "EnvoyProxy has been accepted.");
            let is_of_gateway = ancestor.namespace.is_some();
            if let Some(warning) = envoy_proxy::deprecated(proxy).filter(|_| is_of_gateway) {
                status.set(ancestor, "Warning", true, "DeprecatedField", warning);
            }
        }
    }
}

fn own_listeners<'a>(gateway: &'a Admitted<'a>) -> Vec<Listener<'a>> {
    let prefix = gateway.path();
    gateway.spec().field("listeners").items().map(|at| listener(at, &prefix, None)).collect()
}

/// Reads a listener of a Gateway, or of the ListenerSet at this place.
pub(super) fn listener<'a>(at: Cursor<'a>, prefix: &str, set: Option<(usize, (Str, Str))>) -> Listener<'a> {
    let name = Str::new(at.field("name").str());
    let ir_name = match &set {
        Some((_, (namespace, set))) => Str::from(format!("{prefix}/{namespace}/{set}/{name}")),
        None => Str::from(format!("{prefix}/{name}")),
    };
    let (set, set_name) = set.unzip();
    Listener {
        at,
        name,
        port: at.field("port").int().unwrap_or_default(),
        protocol: Str::new(at.field("protocol").str()),
        hostname: at.field("hostname").some_str().map(Str::new),
        set,
        set_name,
        ir_name,
        selector: None,
        spec_valid: false,
        protocol_conflicted: false,
        certificates: Vec::new(),
        has_sds_certificate: false,
        dns_names: Vec::new(),
        frontend: None,
        status: ListenerStatus::default(),
    }
}
