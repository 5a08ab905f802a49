//! Chooses the certificate of a host.

use super::{Builder, Notice, NoticeKind};
use crate::certificates::{Leaf, SecretCertificate};
use crate::ingress::Ingress;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Certificate, sorted_names};
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// The names of the certificate that the controller generates.
const FAKE: [&str; 2] = ["Kubernetes Ingress Controller Fake Certificate", "ingress.local"];

impl Builder<'_> {
    /// Returns the certificate of hosts without a separate certificate.
    pub(super) fn find_default_certificate(&mut self) -> Certificate {
        if let Some((namespace, name)) = self.options.default_certificate.split_once('/')
            && let Some(held) = self.cluster.secret(namespace, name)
            && held.object.assumed
        {
            self.used.insert(held.object.id);
            let secret = Sourced::built_in(self.options.default_certificate.clone());
            return Certificate { shown_name: secret.value.clone(), secret, names: Vec::new() };
        }
        if let Some((namespace, name)) = self.options.default_certificate.split_once('/')
            && let Some(leaf) = self.leaf(namespace, name)
        {
            return leaf.certificate(Sourced::built_in(self.options.default_certificate.clone()));
        }
        Certificate {
            secret: Sourced::built_in(Str::new_static("(generated fake certificate)")),
            names: FAKE.into_iter().map(Str::new_static).collect(),
            shown_name: Str::new_static(FAKE[0]),
        }
    }

    /// Returns the certificate of a Secret, if the controller can use it.
    fn leaf(&mut self, namespace: &str, name: &str) -> Option<Leaf> {
        let secret = self.cluster.secret(namespace, name)?;
        self.used.insert(secret.object.id);
        SecretCertificate::of(&secret)?.leaf
    }

    /// Returns the certificate of a host: from the Secret of the `tls` entry that lists the host, or else from the first Secret whose certificate
    /// covers it.
    pub(super) fn certificate_of(&mut self, host: &Str, ingress: &Ingress) -> Certificate {
        let lower = host.to_ascii_lowercase();
        let listed = ingress.tls.iter().find(|tls| tls.hosts.iter().any(|listed| listed.to_ascii_lowercase() == lower));
        let secret = match listed {
            Some(tls) => tls.secret.clone(),
            None => {
                let named: Vec<Sourced<Str>> = ingress.tls.iter().map(|tls| tls.secret.clone()).filter(|secret| !secret.is_empty()).collect();
                let covers = |secret: &Sourced<Str>| self.leaf(&ingress.namespace, secret).is_some_and(|leaf| leaf.is_valid_for(host));
                named.into_iter().find(covers).unwrap_or_default()
            }
        };
        if secret.is_empty() {
            return self.default_certificate.clone();
        }
        let key = Str::from(format!("{}/{}", ingress.namespace, secret.value));
        let notice = |kind: NoticeKind, message| Notice { kind, message, origin: secret.origin, other: None, ingress: Some(ingress.object) };
        if let Some(held) = self.cluster.secret(&ingress.namespace, &secret)
            && held.object.assumed
        {
            self.used.insert(held.object.id);
            // An assumed certificate covers all hosts that the Ingress lists for it, including aliases and redirected names.
            let entries = ingress.tls.iter().filter(|tls| tls.secret.value == secret.value);
            let listed = entries.flat_map(|tls| &tls.hosts).map(|host| host.value.clone()).filter(|name| !name.is_empty() && name != host);
            let names = sorted_names(core::iter::once(host.clone()).chain(listed));
            return Certificate { secret: Sourced::new(key, secret.origin), names, shown_name: host.clone() };
        }
        let Some(leaf) = self.leaf(&ingress.namespace, &secret) else {
            let message = format!("Error getting SSL certificate {key:?}: local SSL certificate {key} was not found. Using default certificate");
            self.notice(notice(NoticeKind::Certificate, message));
            return self.default_certificate.clone();
        };
        if !leaf.covers(host) {
            let message = format!(
                "SSL certificate {key:?} does not contain a Common Name or Subject Alternative Name for server {host:?}. Using default certificate"
            );
            self.notice(notice(NoticeKind::CertificateHost, message));
            return self.default_certificate.clone();
        }
        leaf.certificate(Sourced::new(key, secret.origin))
    }
}
