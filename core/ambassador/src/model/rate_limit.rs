//! Models IRRateLimit: the single rate limit service.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irratelimit.py`.

use super::cluster::{ClusterRequest, ServiceSettings};
use super::notices::{ControllerNotice, Identity};
use super::{Model, spec_of};
use crate::spec;
use alloc::format;
use chancery_base::diagnostic::{Reported, codes};
use chancery_base::resource::{Rule, Sourced};
use chancery_text::Str;

/// IRRateLimit.
#[derive(Clone, Debug)]
pub struct RateLimit {
    /// Who it is.
    pub identity: Identity,
    pub namespace: Str,
    /// The written values.
    pub spec: spec::RateLimitService,
    /// The domain of the descriptors.
    pub domain: Sourced<Str>,
    /// Key of its cluster; empty until it is added.
    pub cluster: Str,
}

impl RateLimit {
    pub(super) fn set_up(model: &mut Model<'_>) -> Result<Option<Self>, Reported> {
        let count = model.resources("ratelimit_configs").count();
        let Some(resource) = model.resources("ratelimit_configs").next() else { return Ok(None) };
        let identity = Identity::of(resource);
        let internal = Identity { origin: identity.origin, ..Identity::internal("ir.ratelimit", "IRRateLimit", "ir.ratelimit") };
        if count != 1 {
            let message = format!("only one RateLimitService is supported, got {count}");
            return Err(model.notices.error(&internal, ControllerNotice::new(&codes::ONLY_ONE_ALLOWED, message, None)));
        }
        let spec: spec::RateLimitService = spec_of(resource);
        if spec.service.as_ref().is_none_or(|service| service.value.is_empty()) {
            return Err(model
                .notices
                .error(&internal, ControllerNotice::new(&codes::MISSING_FIELD, "service is required in RateLimitService", None)));
        }
        if spec.protocol_version.as_ref().is_none_or(|version| version.value == "v2") {
            let origin = spec.protocol_version.as_ref().and_then(|version| version.origin);
            let message = "RateLimitService: protocol_version v2 is unsupported, protocol_version must be \"v3\"";
            return Err(model.notices.error(&internal, ControllerNotice::new(&codes::UNSUPPORTED_PROTOCOL_VERSION, message, origin)));
        }
        let domain = spec.domain.clone().unwrap_or_else(|| model.ambassador.default_label_domain().by(Rule::Default));
        Ok(Some(Self { identity, namespace: resource.namespace.clone(), spec, domain, cluster: Str::default() }))
    }
}

impl Model<'_> {
    /// Adds the clusters of services that the gateway calls.
    pub(super) fn add_service_clusters(&mut self) {
        self.add_tracing_cluster();
        if let Some(mut limit) = self.rate_limit.take() {
            let service = limit.spec.service.clone().unwrap_or_default();
            let grpc = Some(Sourced::new(true, service.origin.map(|origin| origin.by(Rule::Derived))));
            let (tls, stats) = (limit.spec.tls.as_ref(), limit.spec.stats_name.as_ref());
            let wanted = ClusterRequest::by_service(
                &limit.identity,
                &limit.namespace,
                &service,
                ServiceSettings { tls, grpc, stats_name: stats, ..ServiceSettings::default() },
            );
            limit.cluster = self.add_cluster(wanted);
            self.rate_limit = Some(limit);
        }
        self.add_log_clusters();
        self.add_auth_cluster();
    }
}
