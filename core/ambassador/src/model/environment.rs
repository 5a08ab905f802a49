//! Collects all inputs of Mappings other than their own resources. Results of another environment are not reused.

use super::resolver::ResolverKind;
use super::{ContextId, Identity, Model, Options};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_text::{Node, Str};

/// All inputs of a Mapping other than its own resource.
#[derive(PartialEq)]
pub(super) struct Environment {
    options: Options,
    module: Option<Arc<Node>>,
    module_identity: Identity,
    resolvers: Vec<(Str, ResolverKind)>,
    selectors: Vec<Vec<(Str, Sourced<Str>)>>,
    /// TLS contexts by name with their usability, and the next number.
    contexts: (Vec<(Str, ContextId, bool)>, usize),
}

impl Environment {
    pub(super) fn of(model: &Model<'_>) -> Self {
        Self {
            options: model.options.clone(),
            module: model.config.get_module("ambassador").map(|module| module.spec.clone()),
            module_identity: model.ambassador.identity.clone(),
            resolvers: model.resolvers.iter().map(|(name, resolver)| (name.clone(), resolver.kind)).collect(),
            contexts: (model.context_names.iter().map(|(name, id)| (name.clone(), *id, model.context(*id).usable())).collect(), model.contexts.len()),
            selectors: model.hosts.values().filter_map(|host| Some(host.mapping_selector.as_ref()?.value.clone())).collect(),
        }
    }
}
