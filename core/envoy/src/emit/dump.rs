//! Emits served resources in the form of Envoy's `/config_dump`.
//!
//! Like Envoy's own dumps, it contains no key material.

use super::pb::{self, Any, admin};
use super::{Encoded, Service};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy_api::json::{self, Style};
use chancery_envoy_api::prost::Message;
use chancery_envoy_api::registry;
use pb::base::data_source::Specifier;
use pb::tls::secret::Type;

/// The replacement for key material, as in Envoy's dumps.
const REDACTED: &str = "[redacted]";

/// Returns the dump as JSON. Each resource has its sent version.
#[must_use]
pub fn config_dump<'a>(served: impl IntoIterator<Item = (Service, &'a str, &'a Encoded)>) -> String {
    let mut clusters = admin::ClustersConfigDump::default();
    let mut listeners = admin::ListenersConfigDump::default();
    let mut routes = admin::RoutesConfigDump::default();
    let mut endpoints = admin::EndpointsConfigDump::default();
    let mut secrets = admin::SecretsConfigDump::default();
    for (service, version, of) in served {
        let (name, version_info) = (of.name.to_string(), version.to_string());
        let message = message(service, of);
        match service {
            Service::Clusters => {
                let cluster = admin::clusters_config_dump::DynamicCluster { version_info, cluster: message, ..Default::default() };
                clusters.dynamic_active_clusters.push(cluster);
            }
            Service::Endpoints => {
                let found = admin::endpoints_config_dump::DynamicEndpointConfig { version_info, endpoint_config: message, ..Default::default() };
                endpoints.dynamic_endpoint_configs.push(found);
            }
            Service::Listeners => {
                let state = admin::listeners_config_dump::DynamicListenerState { version_info, listener: message, ..Default::default() };
                let listener = admin::listeners_config_dump::DynamicListener { name, active_state: Some(state), ..Default::default() };
                listeners.dynamic_listeners.push(listener);
            }
            Service::Routes => {
                let table = admin::routes_config_dump::DynamicRouteConfig { version_info, route_config: message, ..Default::default() };
                routes.dynamic_route_configs.push(table);
            }
            Service::Secrets => {
                let secret = admin::secrets_config_dump::DynamicSecret { name, version_info, secret: message, ..Default::default() };
                secrets.dynamic_active_secrets.push(secret);
            }
            // Envoy does not report its runtime in `/config_dump`.
            Service::Runtimes => {}
        }
    }
    let configs = Vec::from([Any::pack(clusters), Any::pack(listeners), Any::pack(routes), Any::pack(endpoints), Any::pack(secrets)]);
    // Nested messages are resolved to their types.
    json::to_string_with(&admin::ConfigDump { configs }, &Style::COMPACT.resolver(registry::decode))
}

/// Returns a resource as JSON, with nested messages and without key material; `None` if it cannot be decoded.
#[must_use]
pub fn resource_json(service: Service, of: &Encoded) -> Option<String> {
    let message = registry::resolve(&message(service, of)?)?;
    Some(json::to_string_with(message.message()?, &Style::COMPACT.resolver(registry::decode)))
}

/// Decodes a resource, without key material.
fn message(service: Service, of: &Encoded) -> Option<Any> {
    if service != Service::Secrets {
        return Some(Any::raw(service.type_url(), of.value.clone()));
    }
    let mut secret = pb::tls::Secret::decode(&of.value[..]).ok()?;
    let redact = |of: &mut pb::base::DataSource| of.specifier = Some(Specifier::InlineBytes(REDACTED.into()));
    match &mut secret.r#type {
        Some(Type::TlsCertificate(of)) => [&mut of.private_key, &mut of.pkcs12, &mut of.password].into_iter().flatten().for_each(redact),
        Some(Type::SessionTicketKeys(of)) => of.keys.iter_mut().for_each(redact),
        Some(Type::GenericSecret(of)) => {
            of.secret.iter_mut().for_each(redact);
            of.secrets.values_mut().for_each(redact);
        }
        Some(Type::ValidationContext(_)) | None => {}
    }
    Some(Any::pack(secret))
}

#[cfg(test)]
mod tests {
    use super::super::{Fingerprint, pb};
    use super::*;
    use crate::config::Running;

    fn encoded(name: &str, message: &impl Message) -> Encoded {
        Encoded { name: name.into(), version: Fingerprint::default(), value: message.encode_to_vec() }
    }

    #[test]
    fn served_resources_are_read_like_a_dump() {
        let filter = pb::listener::Filter {
            name: "hcm".into(),
            config_type: Some(pb::listener::filter::ConfigType::TypedConfig(Any::pack(pb::hcm::HttpConnectionManager {
                stat_prefix: "edge".into(),
                ..Default::default()
            }))),
        };
        let chain = pb::listener::FilterChain { filters: Vec::from([filter]), ..Default::default() };
        let listener = pb::listener::Listener { name: "http".into(), filter_chains: Vec::from([chain]), ..Default::default() };
        let inline =
            |text: &str| pb::base::DataSource { specifier: Some(pb::base::data_source::Specifier::InlineBytes(text.into())), ..Default::default() };
        let certificate = pb::tls::TlsCertificate { private_key: Some(inline("the-key-itself")), ..Default::default() };
        let secret = pb::tls::Secret { name: "s".into(), r#type: Some(pb::tls::secret::Type::TlsCertificate(certificate)) };
        let (listener, secret) = (encoded("http", &listener), encoded("s", &secret));
        let dump = config_dump([(Service::Listeners, "v1", &listener), (Service::Secrets, "v1", &secret)]);
        assert!(!dump.contains("the-key-itself") && !dump.contains("dGhlLWtleS1pdHNlbGY="), "{dump}");
        let running = Running::read(&dump).expect("a dump");
        let managers: Vec<String> = running.config.connection_managers().map(|(_, of)| of.stat_prefix.clone()).collect();
        assert_eq!(managers, ["edge"], "nested messages are included");
        assert!(running.missing.is_empty() && running.misfits.is_empty(), "{:?}", running.misfits);
        assert_eq!(running.accepted.iter().map(|of| (of.kind, of.version.as_str())).collect::<Vec<_>>(), [("listener", "v1"), ("secret", "v1")]);
    }
}
