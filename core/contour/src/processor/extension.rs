//! Processes ExtensionServices (Contour `internal/dag/extension_processor.go`).

use super::policy;
use super::record::Record;
use super::route::weight_of;
use super::service::ports_of;
use super::{Processing, circuit_breakers, is_delegation};
use crate::cluster::Admitted;
use crate::kinds::Kind;
use crate::model::{ExtensionCluster, PeerValidation, Service};
use crate::source::{PortRef, full_name, quoted};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Reported;
use chancery_base::resource::Sourced;
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

impl Processing<'_> {
    pub(super) fn extensions(&mut self) {
        if self.source.is_disabled("extensionservices") {
            return;
        }
        for object in self.source.all(Kind::ExtensionService) {
            let mut record = Record::default();
            if let Ok(cluster) = self.extension(object, &mut record)
                && record.condition.is_valid()
            {
                self.graph.extensions.insert(cluster.name.clone(), Arc::new(cluster));
            }
            self.statuses.set("ExtensionService", object.namespace(), object.name(), record.condition.extension_status());
            self.found.push((object.object.key.clone(), record.condition));
        }
    }

    fn extension(&self, object: &Admitted<'_>, record: &mut Record) -> Result<ExtensionCluster, Reported> {
        let spec = object.spec();
        let timeouts = spec.field("timeoutPolicy");
        let (route_timeouts, cluster_timeouts) = match policy::timeouts(timeouts, self.common.connect_timeout) {
            Ok(timeouts) => timeouts,
            Err(why) => {
                record.error("SpecError", "TimeoutPolicyNotValid", format!("spec.timeoutPolicy failed to parse: {why}"), timeouts.origin());
                Default::default()
            }
        };
        let client_certificate = self.client_certificate().unwrap_or_else(|message| {
            record.error("TLSError", "SecretNotValid", message, object.root().origin());
            None
        });
        let own_limits = spec.field("circuitBreakerPolicy").some().map(circuit_breakers);
        let lb = spec.field("loadBalancerPolicy");
        let mut lb_policy = policy::lb_strategy(lb);
        if matches!(lb_policy.value.as_str(), "Cookie" | "RequestHash") {
            let what = format!("{} load balancer policy is not supported for ExtensionClusters", lb_policy.value);
            record.warning("SpecError", "IgnoredField", format!("ignoring field \".Spec.LoadBalancerPolicy\"; {what}"), lb.origin());
            lb_policy.value = Str::default();
        }
        if !timeouts.field("idle").str().is_empty() {
            let message = "ignoring field \".Spec.TimeoutPolicy.Idle\"; idle timeouts are not supported for ExtensionClusters";
            record.warning("SpecError", "IgnoredField", message, timeouts.field("idle").origin());
        }
        let protocol = spec.field("protocol");
        let mut cluster = ExtensionCluster {
            name: format!("extension/{}/{}", object.namespace(), object.name()).into(),
            services: Vec::new(),
            protocol: protocol.text().unwrap_or_else(|| Sourced::new(Str::new_static("h2"), protocol.origin())),
            validation: None,
            lb_policy,
            timeouts: route_timeouts,
            cluster_timeouts,
            sni: Sourced::default(),
            client_certificate,
            upstream_tls: None,
            circuit_breakers: own_limits.or_else(|| self.common.circuit_breakers.clone()).unwrap_or_default(),
            origins: alloc::vec![object.root().origin()],
        };
        if let Some(at) = spec.field("validation").some() {
            let validation = self.extension_validation(object, at, record)?;
            cluster.sni = validation.value.subject_names.first().cloned().unwrap_or_default();
            cluster.validation = Some(validation);
            if cluster.protocol.value != "h2" {
                let message = format!("upstream TLS validation not supported for {} protocol", go_quoted(&cluster.protocol.value));
                record.error("SpecError", "InconsistentProtocol", message, protocol.origin());
            }
        }
        let services = spec.field("services").items();
        cluster.services = services.filter_map(|target| self.extension_target(object, target, record).ok()).collect();
        Ok(cluster)
    }

    /// How the certificate of an ExtensionService is checked.
    fn extension_validation(&self, object: &Admitted<'_>, at: Cursor<'_>, record: &mut Record) -> Result<Sourced<PeerValidation>, Reported> {
        let ca = full_name(at.field("caSecret").str(), object.namespace());
        match self.source.upstream_validation(at, &ca, object.namespace()) {
            Ok(validation) => Ok(Sourced::new(validation, at.origin())),
            Err(error) if is_delegation(&error) => {
                let name = quoted(&ca);
                let message = format!("service.UpstreamValidation.CACertificate Secret {name} is not configured for certificate delegation");
                Err(record.error("TLSError", "CACertificateNotDelegated", message, at.field("caSecret").origin()))
            }
            Err(error) => {
                let message = format!("TLS upstream validation policy error: {}", error.message());
                Err(record.error("SpecError", "TLSUpstreamValidation", message, at.origin()))
            }
        }
    }

    /// One of the Services of an ExtensionService, with its weight.
    fn extension_target(&self, object: &Admitted<'_>, target: Cursor<'_>, record: &mut Record) -> Result<(Arc<Service>, Sourced<u32>), Reported> {
        let name = (object.namespace().clone(), Str::new(target.field("name").str()));
        let port = target.field("port").int().unwrap_or(0);
        let (service, port) = self.source.service(&name, PortRef::Number(port)).map_err(|why| {
            let message = format!("unresolved service {}: {why}", quoted(&name));
            record.error("ServiceError", "ServiceUnresolvedReference", message, target.field("name").origin())
        })?;
        if !service.spec().field("externalName").str().is_empty() {
            let message = format!("Service {} is of unsupported type \"ExternalName\".", quoted(&name));
            return Err(record.error("ServiceError", "UnsupportedServiceType", message, target.field("name").origin()));
        }
        let upstream = Service {
            namespace: name.0,
            name: name.1,
            health_port: port.clone(),
            port,
            protocol: Sourced::default(),
            circuit_breakers: Default::default(),
            external_name: Sourced::default(),
            weight: Sourced::built_in(1),
            ports: ports_of(service),
        };
        Ok((Arc::new(upstream), weight_of(target)))
    }
}
