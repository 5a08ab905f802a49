//! Keeps the results of Ambassador's stages for views: the loaded configuration, and Mappings that share requests. Does not load; see `fetch` and
//! `config`.

use super::config::{Config, Payload, Presence};
use super::model::group::Group;
use super::model::sharing;
use super::relations;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{self, Loaded, Relation};
use chancery_base::diagnostic::Diagnostic;
use chancery_base::ir::SecretReference;
use chancery_base::resource::Objects;
use chancery_text::{Str, base64};

/// The values of Ambassador's stages.
#[derive(Debug, Default)]
pub struct Stages {
    /// The configuration as loaded.
    pub config: Config,
    /// Groups whose requests several Mappings share; empty if only documents are compiled.
    pub shared: SharedGroups,
}

/// Groups whose requests several Mappings share, for a check that may come.
#[derive(Debug)]
pub enum SharedGroups {
    /// A memory keeps them anyway.
    Kept(Vec<Arc<Group>>),
    /// The findings of groups that were already dropped.
    Judged(Vec<Diagnostic>),
}

impl Default for SharedGroups {
    fn default() -> Self {
        Self::Judged(Vec::new())
    }
}

impl SharedGroups {
    /// The findings of the groups.
    pub fn findings(&self) -> Vec<Diagnostic> {
        match self {
            Self::Kept(groups) => groups.iter().flat_map(|group| sharing::findings(group)).collect(),
            Self::Judged(findings) => findings.clone(),
        }
    }

    /// The same without the groups.
    #[must_use]
    pub fn judged(self) -> Self {
        Self::Judged(self.findings())
    }
}

impl Stages {
    /// The stages of an Ambassador side.
    pub fn of(side: &compilation::Side) -> Option<&Self> {
        let stages: &dyn core::any::Any = &*side.stages;
        stages.downcast_ref()
    }
}

impl compilation::Stages for Stages {
    fn loaded(&self, _: &Objects) -> Vec<(Str, Vec<Loaded>)> {
        self.config.loaded()
    }

    fn relations(&self, _: &Objects) -> Vec<Relation> {
        relations::relations(&self.config)
    }

    /// From a Secret that the configuration has loaded.
    fn key_material(&self, _: &Objects, reference: &SecretReference) -> Option<Vec<u8>> {
        let Presence::Known(resource) = self.config.secret(&reference.namespace, &reference.name) else { return None };
        let Payload::Secret(data) = &resource.payload else { return None };
        let (_, value) = data.data.get(reference.part.key())?;
        let text = value.expose();
        // PEM is used verbatim.
        if text.starts_with("-----BEGIN") { Some(text.as_bytes().into()) } else { base64::decode(text) }
    }
}
