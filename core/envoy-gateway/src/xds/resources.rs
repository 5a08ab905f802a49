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

/// A cluster that was added, or was there.
#[derive(Clone)]
pub(crate) struct AddedCluster {
    name: Str,
    /// `None` if another one of this name was there.
    parts: Option<ClusterParts>,
}

/// A cluster with its endpoints, if the stream gives them, and the secrets that it needs.
#[derive(Clone)]
pub(crate) struct ClusterParts {
    cluster: Arc<Tree>,
    endpoints: Option<Arc<Tree>>,
    secrets: Vec<Arc<Tree>>,
}

/// Collects resources: one cluster and one secret of each name.
#[derive(Default)]
pub(crate) struct ResourceBuilder {
    resources: Resources,
    /// The clusters since [`ResourceBuilder::record`].
    added: Vec<AddedCluster>,
    clusters: HashSet<Str>,
    secrets: HashSet<Str>,
}

impl ResourceBuilder {
    /// Adds a secret, unless there is one of its name.
    pub(crate) fn add_secret(&mut self, secret: Tree) {
        self.add_shared_secret(Arc::new(secret));
    }

    fn add_shared_secret(&mut self, secret: Arc<Tree>) {
        if self.secrets.insert(secret.get("name").str()) {
            self.resources.secrets.push(secret);
        }
    }

    /// Starts to record clusters. Returns those that were recorded before.
    pub(crate) fn record(&mut self) -> Vec<AddedCluster> {
        core::mem::take(&mut self.added)
    }

    /// Adds clusters that were recorded once. Returns false, and adds nothing, if one of them must be built.
    pub(crate) fn add_again(&mut self, all: &[AddedCluster]) -> bool {
        if all.iter().any(|of| of.parts.is_none() && !self.clusters.contains(&of.name)) {
            return false;
        }
        for of in all {
            if let Some(parts) = of.parts.as_ref().filter(|_| self.clusters.insert(of.name.clone())) {
                self.add_parts(parts);
            }
        }
        true
    }

    fn add_parts(&mut self, parts: &ClusterParts) {
        self.resources.endpoints.extend(parts.endpoints.clone());
        self.resources.clusters.push(parts.cluster.clone());
        parts.secrets.iter().for_each(|secret| self.add_shared_secret(secret.clone()));
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

    /// Whether there is a cluster of this name.
    pub(crate) fn has_cluster(&self, name: &str) -> bool {
        self.clusters.contains(name)
    }

    /// Adds a cluster with its endpoints and secrets, unless there is one of its name.
    pub(crate) fn add_cluster(&mut self, args: &ClusterArgs<'_>) {
        self.add_built_cluster(args, None);
    }

    /// Like [`ResourceBuilder::add_cluster`], for a cluster that may be built already.
    pub(crate) fn add_built_cluster(&mut self, args: &ClusterArgs<'_>, built: Option<ClusterParts>) {
        let name = Str::new(args.name);
        if !self.clusters.insert(name.clone()) {
            self.added.push(AddedCluster { name, parts: None });
            return;
        }
        let parts = built.unwrap_or_else(|| ClusterParts::build(args));
        self.add_parts(&parts);
        self.added.push(AddedCluster { name, parts: Some(parts) });
    }

    /// Returns the collected resources.
    pub(crate) fn finish(self) -> Resources {
        self.resources
    }
}

impl ClusterParts {
    pub(crate) fn build(args: &ClusterArgs<'_>) -> Self {
        let built = cluster::build(args);
        let mut secrets = Vec::new();
        for of in args.settings.iter().filter_map(|setting| setting.tls.as_ref()).filter(|of| !of.insecure_skip_verify.bool()) {
            let Some(ca) = &of.ca else { continue };
            if of.use_system_trust_store {
                secrets.push(tls::system_secret(&ca.name).or_from(of.origin));
            } else if let Some(secret) = tls::ca_secret(ca, None) {
                secrets.push(secret);
            }
        }
        secrets.extend(built.secrets);
        let secrets = secrets.into_iter().map(Arc::new).collect();
        Self { cluster: Arc::new(built.cluster), endpoints: built.endpoints.map(Arc::new), secrets }
    }
}
