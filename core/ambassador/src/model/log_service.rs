//! Models IRLogService: services that receive the access log.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irlogservice.py`. Its name is always `logservice`, so only the first one is used.

use super::cluster::{ClusterRequest, ServiceSettings};
use super::notices::{ControllerNotice, Identity};
use super::{Model, spec_of};
use crate::spec;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Reported, codes};
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// IRLogService.
#[derive(Clone, Debug)]
pub struct LogService {
    /// Who it is.
    pub identity: Identity,
    pub namespace: Str,
    /// The written values.
    pub spec: spec::LogService,
    /// HTTP requests are logged, not only connections.
    pub http: bool,
    /// Key of its cluster; empty until it is added.
    pub cluster: Str,
}

/// The only name that a log service has in the reference.
pub const LOG_NAME: &str = "logservice";

impl Model<'_> {
    /// IRLogServiceFactory.load_all.
    pub(super) fn load_log_services(&mut self) {
        for resource in self.resources("log_services") {
            let spec: spec::LogService = spec_of(resource);
            let service = self.log_service(Identity::of(resource), resource.namespace.clone(), spec);
            if let Some(known) = self.log_services.get(LOG_NAME) {
                let message = format!("Duplicate LogService {LOG_NAME}; keeping definition from {}", known.identity.rkey);
                self.notices.overall(ControllerNotice::new(&codes::ONLY_ONE_ALLOWED, message, Identity::of(resource).origin));
            } else if let Ok(service) = service {
                self.log_services.insert(LOG_NAME.into(), service);
            }
        }
    }

    fn log_service(&mut self, identity: Identity, namespace: Str, spec: spec::LogService) -> Result<LogService, Reported> {
        let internal = Identity { origin: identity.origin, ..Identity::internal("ir.logservice", "IRLogService", "ir.logservice") };
        let mut refuse = |code, message: &str, origin| Err(self.notices.error(&internal, ControllerNotice::new(code, message, origin)));
        if spec.service.as_ref().is_none_or(|service| service.value.is_empty()) {
            return refuse(&codes::MISSING_FIELD, "service must be present for a remote log service!", None);
        }
        if spec.protocol_version.as_ref().is_none_or(|version| version.value == "v2") {
            let origin = spec.protocol_version.as_ref().and_then(|version| version.origin);
            let message = "LogService: protocol_version v2 is unsupported, protocol_version must be \"v3\"";
            return refuse(&codes::UNSUPPORTED_PROTOCOL_VERSION, message, origin);
        }
        let http = spec.driver.as_ref().is_some_and(|driver| driver.value == "http");
        let headers: Vec<_> =
            spec.driver_config.iter().flat_map(|config| &config.value.additional_log_headers).flat_map(|headers| &headers.value).collect();
        if !http && let Some(header) = headers.first() {
            return refuse(&codes::UNSUPPORTED_FEATURE, "additional_log_headers are not supported in tcp mode", header.origin);
        }
        if let Some(nameless) = headers.iter().find(|header| header.value.header_name.as_ref().is_none_or(|name| name.value.is_empty())) {
            return refuse(&codes::MISSING_FIELD, "Please provide a header name for every additional log header!", nameless.origin);
        }
        Ok(LogService { identity, namespace, spec, http, cluster: Str::default() })
    }

    pub(super) fn add_log_clusters(&mut self) {
        let mut services = core::mem::take(&mut self.log_services);
        for log in services.values_mut() {
            let service = log.spec.service.clone().unwrap_or_default();
            let grpc = log.spec.grpc.or(Some(Sourced::built_in(false)));
            // The reference reads no `stats_name` here.
            let wanted = ClusterRequest::by_service(
                &log.identity,
                &log.namespace,
                &service,
                ServiceSettings { marker: Some("logging"), grpc, ..ServiceSettings::default() },
            );
            log.cluster = self.add_cluster(wanted);
        }
        self.log_services = services;
    }
}
