//! Adds what all routes of an Envoy share: the Service of the proxies, and the certificate for Envoy Gateway's own services.

use super::super::context::{GatewayContext, Translator};
use super::super::model::{AppProtocol, Certificate, Destination};
use super::destination::{SettingOf, setting_of_service};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_text::Str;

const CLIENT_CERTIFICATE: &str = "envoy";
const OWNER_NAME: &str = "gateway.envoyproxy.io/owning-gateway-name";
const OWNER_NAMESPACE: &str = "gateway.envoyproxy.io/owning-gateway-namespace";
const OWNER_CLASS: &str = "gateway.envoyproxy.io/owning-gatewayclass";

/// Adds them to each Envoy.
pub(crate) fn add(t: &mut Translator<'_>) {
    let found: Vec<_> = t.gateways.iter().filter_map(|gateway| Some((t.ir_key(gateway.object), proxies(t, gateway)?))).collect();
    for (key, destination) in found {
        if let Some(xds) = t.xds.get_mut(&key).filter(|xds| xds.global.proxy_service_cluster.is_none()) {
            xds.global.proxy_service_cluster = Some(destination);
        }
    }
    let namespace = t.settings.namespace.clone();
    for xds in t.xds.values_mut() {
        let needs = xds.http.iter().flat_map(|listener| &listener.routes).any(|route| {
            let limits = route.traffic.as_ref().and_then(|traffic| traffic.rate_limit.as_ref());
            limits.is_some_and(|limits| limits.global.is_some()) || route.extensions.as_ref().is_some_and(|extensions| !extensions.wasms.is_empty())
        });
        if needs {
            let key = |name: &str| Tree::named_material(format!("secret:{namespace}/{CLIENT_CERTIFICATE}/{name}"));
            xds.global.envoy_client_certificate = Some(Certificate {
                name: Str::from(format!("{namespace}/{CLIENT_CERTIFICATE}")),
                certificate: key("tls.crt"),
                private_key: key("tls.key"),
                ..Certificate::default()
            });
        }
    }
}

/// Returns the Service of a Gateway's proxies, if it is in the input.
fn proxies(t: &Translator<'_>, gateway: &GatewayContext<'_>) -> Option<Destination> {
    let namespace = if t.settings.gateway_namespace_mode { gateway.object.namespace() } else { &t.settings.namespace };
    let is_owned = |service: &&&crate::cluster::Admitted<'_>| {
        let label = |key: &str| service.labels().field(key).str();
        match t.merge_gateways {
            true => label(OWNER_CLASS) == t.resources.class.as_str(),
            false => label(OWNER_NAME) == gateway.object.name().as_str() && label(OWNER_NAMESPACE) == gateway.object.namespace().as_str(),
        }
    };
    let of_namespace = t.resources.services.range((namespace.clone(), Str::default())..).map(|(_, service)| service);
    let service = of_namespace.take_while(|service| service.namespace() == namespace).find(is_owned)?;
    let port = service.spec().field("ports").items().next()?;
    let of = SettingOf {
        kind: Str::new_static("Service"),
        namespace: service.namespace().clone(),
        name: service.name().clone(),
        port: port.field("port").int().map(|number| Sourced::new(number, port.field("port").origin())),
        origin: Some(service.root().origin()),
        ..SettingOf::default()
    };
    let key = t.ir_key(gateway.object);
    let setting = setting_of_service(t, &key, &of, AppProtocol::Tcp, false).ok()?;
    Some(Destination {
        name: key,
        metadata: setting.metadata.clone(),
        origin: setting.origin,
        settings: Vec::from([setting]),
        ..Destination::default()
    })
}
