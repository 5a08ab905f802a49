//! Removes Ingresses whose requirements the gateway cannot meet, in a list of steps.
//!
//! AGIC `pkg/controller/prune.go`. It runs twice, for statuses and for the configuration; prohibited targets are only known the second time.

use super::annotations::{SSL_CERTIFICATE, SSL_PROFILE, SSL_REDIRECT, TRUSTED_ROOTS, USE_PRIVATE_IP};
use super::brownfield::Targets;
use super::crash::ControllerCrash;
use super::environment::Environment;
use super::events::{Reason, Recorder};
use super::model::Ingress;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{FrontendType, Part, Properties};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// The input of the steps.
pub struct Prune<'a> {
    /// The current gateway.
    pub gateway: &'a Properties,
    pub environment: &'a Environment,
    /// Prohibited targets, as far as they are known.
    pub targets: &'a Targets,
    /// Receives events.
    pub recorder: &'a mut Recorder,
}

/// A reason to remove an Ingress: the event, its message and its place.
type PruneReason = (Reason, String, Option<Origin>);

impl Prune<'_> {
    /// Removes Ingresses, each by the first step that it does not pass.
    ///
    /// # Errors
    ///
    /// The gateway's document lacks a list that the controller relies on.
    pub fn run(&mut self, ingresses: Vec<Arc<Ingress>>) -> Result<Vec<Arc<Ingress>>, ControllerCrash> {
        let ingresses = if self.environment.shared { self.prohibited(ingresses) } else { ingresses };
        let installed = [
            names(self.gateway.certificates.as_deref(), "sslCertificates"),
            names(self.gateway.ssl_profiles.as_deref(), "sslProfiles"),
            names(self.gateway.trusted_roots.as_deref(), "trustedRootCertificates"),
        ];
        let mut kept = Vec::with_capacity(ingresses.len());
        for ingress in ingresses {
            let prune_reasons = self.prune_reasons(&ingress, &installed);
            for (reason, message, at) in &prune_reasons {
                self.recorder.ingress(&ingress, *reason, message.as_str(), *at);
                self.recorder.pod(*reason, message.as_str());
            }
            if prune_reasons.is_empty() {
                kept.push(ingress);
            }
        }
        installed.into_iter().try_for_each(|list| list.map(|_| ()))?;
        Ok(kept)
    }

    /// Returns the reasons of the first step that an Ingress does not pass. If a list is missing, the controller crashes before the later steps.
    fn prune_reasons(&self, ingress: &Ingress, installed: &[Result<BTreeSet<Str>, ControllerCrash>; 3]) -> Vec<PruneReason> {
        let first = self.private_address(ingress).or_else(|| self.public_address(ingress)).or_else(|| self.redirect(ingress));
        if let Some(refusal) = first {
            return Vec::from([refusal]);
        }
        if self.environment.assumes_parts {
            return Vec::new();
        }
        for (step, list) in [Self::certificate, Self::profile, Self::roots].into_iter().zip(installed) {
            let Ok(list) = list else { break };
            let prune_reasons = step(self, ingress, list);
            if !prune_reasons.is_empty() {
                return prune_reasons;
            }
        }
        Vec::new()
    }

    /// Removes hosts and paths that others own.
    fn prohibited(&self, mut ingresses: Vec<Arc<Ingress>>) -> Vec<Arc<Ingress>> {
        for ingress in ingresses.iter_mut().filter(|ingress| self.targets.concern(&ingress.rules)) {
            let ingress = Arc::make_mut(ingress);
            ingress.rules = self.targets.prune(core::mem::take(&mut ingress.rules));
        }
        ingresses
    }

    fn requires_private(&self, ingress: &Ingress) -> bool {
        self.environment.private_ip || ingress.annotations.is_true(&USE_PRIVATE_IP)
    }

    fn private_address(&self, ingress: &Ingress) -> Option<PruneReason> {
        if !self.requires_private(ingress) || self.gateway.frontend(FrontendType::Private).is_some() {
            return None;
        }
        let message = format!(
            "ignoring Ingress {} as it requires Application Gateway '{}' to have a private IP address. Either add a private IP to Application \
             Gateway or remvove 'appgw.ingress.kubernetes.io/use-private-ip' from the ingress.",
            ingress.key(),
            self.environment.gateway
        );
        Some((Reason::NoPrivateIp, message, ingress.annotations.text(&USE_PRIVATE_IP).and_then(|text| text.origin)))
    }

    fn public_address(&self, ingress: &Ingress) -> Option<PruneReason> {
        if self.requires_private(ingress) || self.gateway.frontend(FrontendType::Public).is_some() {
            return None;
        }
        let message = format!(
            "ignoring Ingress {} as it requires Application Gateway '{}' to have a public IP address. Either add a public IP to Application \
             Gateway or annotate ingress with 'appgw.ingress.kubernetes.io/use-private-ip: true' to attach Ingress to private IP.",
            ingress.key(),
            self.environment.gateway
        );
        Some((Reason::NoPublicIp, message, None))
    }

    fn redirect(&self, ingress: &Ingress) -> Option<PruneReason> {
        let has_tls = !ingress.tls.is_empty() || ingress.annotations.some_text(&SSL_CERTIFICATE).is_some();
        if has_tls || !ingress.annotations.is_true(&SSL_REDIRECT) {
            return None;
        }
        let message = format!(
            "ignoring Ingress {} as it has an invalid spec. It is annotated with ssl-redirect: true but is missing a TLS secret or '{}' \
             annotation. Please add a TLS secret/annotation or remove ssl-redirect annotation",
            ingress.key(),
            SSL_CERTIFICATE.name
        );
        Some((Reason::RedirectWithNoTls, message, ingress.annotations.text(&SSL_REDIRECT).and_then(|text| text.origin)))
    }

    fn missing(&self, ingress: &Ingress, what: &str, name: &str) -> String {
        let gateway = &self.environment.gateway;
        format!("ignoring Ingress {} as it requires Application Gateway {gateway} to have pre-installed {what} '{name}'", ingress.key())
    }

    fn certificate(&self, ingress: &Ingress, installed: &BTreeSet<Str>) -> Vec<PruneReason> {
        let wanted = ingress.annotations.text(&SSL_CERTIFICATE).filter(|name| !installed.contains(&name.value));
        let refusal = |name: Sourced<Str>| (Reason::NoPreInstalledSslCertificate, self.missing(ingress, "ssl certificate", &name), name.origin);
        wanted.map(refusal).into_iter().collect()
    }

    fn profile(&self, ingress: &Ingress, installed: &BTreeSet<Str>) -> Vec<PruneReason> {
        let wanted = ingress.annotations.text(&SSL_PROFILE).filter(|name| !installed.contains(&name.value));
        let refusal = |name: Sourced<Str>| (Reason::NoPreInstalledSslProfile, self.missing(ingress, "ssl profile", &name), name.origin);
        wanted.map(refusal).into_iter().collect()
    }

    /// Each name between commas must exist exactly: spaces matter, and so does an empty name after a last comma.
    fn roots(&self, ingress: &Ingress, installed: &BTreeSet<Str>) -> Vec<PruneReason> {
        let Some(wanted) = ingress.annotations.text(&TRUSTED_ROOTS) else { return Vec::new() };
        let missing = wanted.split(',').filter(|name| !installed.contains(*name));
        let refusal = |name: &str| (Reason::NoPreInstalledRootCertificate, self.missing(ingress, "root certificate", name), wanted.origin);
        missing.map(refusal).collect()
    }
}

fn names<T>(list: Option<&[Arc<Part<T>>]>, field: &'static str) -> Result<BTreeSet<Str>, ControllerCrash> {
    let list = list.ok_or_else(|| ControllerCrash::without_list(field))?;
    Ok(list.iter().map(|part| part.name.clone()).collect())
}
