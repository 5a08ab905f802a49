//! Holds what an Envoy gets, by kind and name. Does not write messages.

use super::cluster::{self, ClusterArgs};
use super::tls;
use crate::model::{Certificate, DestinationSetting};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;
use hashbrown::HashSet;

/// Resources of an Envoy, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Resources {
    pub(crate) listeners: Vec<Arc<Tree>>,
    pub(crate) routes: Vec<Arc<Tree>>,
    pub(crate) clusters: Vec<Arc<Tree>>,
    pub(crate) endpoints: Vec<Arc<Tree>>,
    pub(crate) secrets: Vec<Arc<Tree>>,
}

/// Collects resources: one cluster and one secret of each name.
#[derive(Default)]
pub(crate) struct ResourceBuilder {
    resources: Resources,
    clusters: HashSet<Str>,
    secrets: HashSet<Str>,
}

impl ResourceBuilder {
    /// Adds a secret, unless there is one of its name.
    pub(crate) fn add_secret(&mut self, secret: Tree) {
        if self.secrets.insert(secret.get("name").str()) {
            self.resources.secrets.push(Arc::new(secret));
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

    /// Adds a cluster that needs no endpoints or secrets, unless there is one of its name.
    pub(crate) fn add_plain_cluster(&mut self, cluster: Tree) {
        if self.clusters.insert(cluster.get("name").str()) {
            self.resources.clusters.push(Arc::new(cluster));
        }
    }

    /// Adds a cluster with its endpoints and secrets, unless there is one of its name.
    pub(crate) fn add_cluster(&mut self, args: &ClusterArgs<'_>) {
        if !self.clusters.insert(Str::new(args.name)) {
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
        self.resources.endpoints.extend(built.endpoints.map(Arc::new));
        self.resources.clusters.push(Arc::new(built.cluster));
        built.secrets.into_iter().for_each(|secret| self.add_secret(secret));
    }

    /// Returns the collected resources.
    pub(crate) fn finish(self) -> Resources {
        self.resources
    }
}
