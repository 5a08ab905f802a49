//! Holds what an Envoy gets, by kind and name. Does not write messages.

use super::cluster::{self, ClusterArgs};
use super::tls;
use crate::model::{Certificate, DestinationSetting};
use alloc::vec::Vec;
use chancery_base::ir::Tree;

/// Resources of an Envoy, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Resources {
    pub(crate) listeners: Vec<Tree>,
    pub(crate) routes: Vec<Tree>,
    pub(crate) clusters: Vec<Tree>,
    pub(crate) endpoints: Vec<Tree>,
    pub(crate) secrets: Vec<Tree>,
}

fn has(list: &[Tree], name: &Tree) -> bool {
    list.iter().any(|of| of.get("name") == name)
}

impl Resources {
    /// Adds a secret, unless there is one of its name.
    pub(crate) fn add_secret(&mut self, secret: Tree) {
        if !has(&self.secrets, secret.get("name")) {
            self.secrets.push(secret);
        }
    }

    /// Adds the secrets of certificates that Envoy shows to backends.
    pub(crate) fn add_client_certificates(&mut self, settings: &[DestinationSetting]) {
        let tls = settings.iter().filter_map(|setting| setting.tls.as_ref());
        self.add_certificates(tls.flat_map(|tls| &tls.settings.client_certificates));
    }

    /// Adds the secrets of certificates.
    pub(crate) fn add_certificates<'a>(&mut self, of: impl Iterator<Item = &'a Certificate>) {
        of.filter_map(tls::certificate_secret).for_each(|secret| self.add_secret(secret));
    }

    /// Adds a cluster with its endpoints and secrets, unless there is one of its name.
    pub(crate) fn add_cluster(&mut self, args: &ClusterArgs<'_>) {
        if self.clusters.iter().any(|of| of.get("name").is(args.name)) {
            return;
        }
        let built = cluster::build(args);
        for of in args.settings.iter().filter_map(|setting| setting.tls.as_ref()).filter(|of| !of.insecure_skip_verify.bool()) {
            let Some(ca) = &of.ca else { continue };
            if of.use_system_trust_store {
                self.add_secret(tls::system_secret(&ca.name).or_from(of.origin));
            } else if let Some(secret) = tls::ca_secret(ca, None) {
                self.add_secret(secret);
            }
        }
        self.endpoints.extend(built.endpoints);
        self.clusters.push(built.cluster);
        built.secrets.into_iter().for_each(|secret| self.add_secret(secret));
    }
}
