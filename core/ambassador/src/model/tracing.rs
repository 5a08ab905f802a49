//! Models IRTracing: the single tracing service.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irtracing.py`, `envoy/v3/v3tracing.py`.

use super::cluster::{ClusterRequest, ServiceSettings};
use super::notices::{ControllerNotice, Identity};
use super::{Model, spec_of};
use crate::spec;
use alloc::format;
use chancery_base::diagnostic::{Reported, codes};
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// IRTracing.
#[derive(Clone, Debug)]
pub struct Tracing {
    /// Who it is.
    pub identity: Identity,
    pub namespace: Str,
    /// Which tracer.
    pub driver: Sourced<Driver>,
    /// The written values.
    pub spec: spec::TracingService,
    /// Key of its cluster; empty until it is added.
    pub cluster: Str,
}

/// A tracer that Emissary knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    Zipkin,
    Datadog,
    OpenTelemetry,
}

impl Tracing {
    pub(super) fn set_up(model: &mut Model<'_>) -> Result<Option<Self>, Reported> {
        let count = model.resources("tracing_configs").count();
        let Some(resource) = model.resources("tracing_configs").next() else { return Ok(None) };
        let identity = Identity::of(resource);
        let internal = Identity { origin: identity.origin, ..Identity::internal("ir.tracing", "IRTracing", "ir.tracing") };
        let spec: spec::TracingService = spec_of(resource);
        let mut refuse = |code, message: &str, origin| Err(model.notices.error(&internal, ControllerNotice::new(code, message, origin)));
        if count != 1 {
            return refuse(&codes::ONLY_ONE_ALLOWED, &format!("exactly one TracingService is supported, got {count}"), None);
        }
        if spec.service.as_ref().is_none_or(|service| service.value.is_empty()) {
            return refuse(&codes::MISSING_FIELD, "service field is required in TracingService", None);
        }
        let Some(written) = spec.driver.clone().filter(|driver| !driver.value.is_empty()) else {
            return refuse(&codes::MISSING_FIELD, "driver field is required in TracingService", None);
        };
        let driver = match written.value.as_str() {
            "zipkin" => Driver::Zipkin,
            "datadog" => Driver::Datadog,
            "opentelemetry" => Driver::OpenTelemetry,
            "lightstep" => {
                let message =
                    "as of v3.4+ the 'lightstep' driver is no longer supported in the TracingService, please see docs for migration options";
                return refuse(&codes::UNSUPPORTED_FEATURE, message, written.origin);
            }
            other => return refuse(&codes::UNSUPPORTED_FEATURE, &format!("the tracing driver '{other}' is not supported"), written.origin),
        };
        let version = spec.config.as_ref().and_then(|config| config.value.collector_endpoint_version.clone()).filter(|v| !v.value.is_empty());
        if let Some(version) = version.filter(|version| driver == Driver::Zipkin && !["HTTP_JSON", "HTTP_PROTO"].contains(&version.value.as_str())) {
            return refuse(&codes::UNSUPPORTED_FEATURE, "collector_endpoint_version must be one of HTTP_JSON, HTTP_PROTO'", version.origin);
        }
        let driver = Sourced::new(driver, written.origin);
        Ok(Some(Self { identity, namespace: resource.namespace.clone(), driver, spec, cluster: Str::default() }))
    }
}

impl Model<'_> {
    pub(super) fn add_tracing_cluster(&mut self) {
        let Some(mut tracing) = self.tracing.take() else { return };
        let service = tracing.spec.service.clone().unwrap_or_default();
        let grpc = (tracing.driver.value == Driver::OpenTelemetry).then(|| Sourced::new(true, tracing.driver.origin));
        let stats = tracing.spec.stats_name.as_ref();
        let wanted = ClusterRequest::by_service(
            &tracing.identity,
            &tracing.namespace,
            &service,
            ServiceSettings { marker: Some("tracing"), grpc, stats_name: stats, ..ServiceSettings::default() },
        );
        tracing.cluster = self.add_cluster(wanted);
        self.tracing = Some(tracing);
    }
}
