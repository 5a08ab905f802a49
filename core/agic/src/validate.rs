//! The controller's checks before and after building. Failures become events; the gateway is changed anyway.
//!
//! AGIC `pkg/appgw/validators.go`.

use super::build::service_of;
use super::crash::ControllerCrash;
use super::events::{Reason, Recorder};
use super::fault::{self, Fault};
use super::model::Ingress;
use super::source::Source;
use alloc::format;
use alloc::sync::Arc;
use chancery_base::ir::appgw::{PathMap, PathRule, Properties};

/// Reports missing Services, only for Ingresses with a default backend.
///
/// # Errors
///
/// A backend of such an Ingress is not a Service.
pub fn before(source: &Source<'_>, ingresses: &[Arc<Ingress>], recorder: &mut Recorder) -> Result<(), ControllerCrash> {
    let mut missing = alloc::vec::Vec::new();
    for ingress in ingresses {
        let Some(default) = &ingress.default_backend else { continue };
        let paths = ingress.rules.iter().flat_map(|rule| rule.paths()).map(|path| &path.backend);
        for backend in core::iter::once(default).chain(paths) {
            let service = service_of(ingress, backend)?;
            let name = (ingress.namespace.clone(), service.name.value.clone());
            if !source.is_listed(&name) {
                missing.push((ingress, name, service.name.origin));
            }
        }
    }
    for (ingress, (namespace, name), at) in missing {
        let message = format!(
            "Ingress {} references non existent Service {namespace}/{name}. Please correct the Service section of your Kubernetes YAML",
            ingress.key()
        );
        recorder.ingress(ingress, Reason::IngressServiceTargetMatch, message, at);
    }
    Ok(())
}

/// Reports the first fault of path maps, sorted by name.
pub fn after(gateway: &Properties, recorder: &mut Recorder) {
    let found = gateway.path_maps.iter().flatten().find_map(|map| match map.properties.rules.as_deref().unwrap_or_default() {
        [] => defaults(&map.name, &map.properties),
        rules => rules.iter().find_map(|rule| target(&rule.name, &rule.properties)),
    });
    if let Some(fault) = found {
        recorder.pod(Reason::FailedValidatonError, format!("ConfigBuilder PostBuildValidate returned error:{}", fault.text()));
    }
}

fn defaults(name: &str, map: &PathMap) -> Option<Fault> {
    let redirects = map.default_redirect.is_some();
    let has_backend = map.default_pool.is_some() && map.default_settings.is_some();
    match (redirects, has_backend) {
        (false, false) => Some(fault::no_defaults(name)),
        (true, true) => Some(fault::either_defaults(name)),
        _ => None,
    }
}

fn target(name: &str, rule: &PathRule) -> Option<Fault> {
    let redirects = rule.redirect.is_some();
    let has_backend = rule.pool.is_some() && rule.settings.is_some();
    (redirects == has_backend).then(|| fault::path_rule_target(name, !redirects))
}
