//! Contour's own configuration: flags, file and ContourConfiguration, laid over the defaults.
//!
//! What must not be here: what a setting does.

mod defaults;
mod overlay;

use super::cluster::Cluster;
use super::options::Options;
use crate::diagnostic::Diagnostic;
use crate::dialect::kubernetes::cursor::Cursor;
use crate::resource::ObjectId;
use crate::text::{Node, Str};
use alloc::string::String;
use alloc::vec::Vec;

/// The configuration in force.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `spec` of a ContourConfiguration, defaults put in.
    root: Node,
    /// The object that its nodes belong to.
    object: ObjectId,
    /// `--watch-namespaces`; empty for all.
    pub watch_namespaces: Vec<Str>,
    /// `--disable-feature`: resources that are not watched, such as `extensionservices`.
    pub disabled_features: Vec<Str>,
}

/// Why Contour does not serve.
#[derive(Clone, Debug)]
pub struct Failure {
    /// `serve`, `reconcile`...
    pub stage: &'static str,
    /// What it says.
    pub error: String,
}

impl Settings {
    /// Reads it.
    pub fn load(cluster: &Cluster<'_>, options: &Options, _sink: &mut Vec<Diagnostic>) -> Result<Self, Failure> {
        let mut root = defaults::defaults();
        let mut object = ObjectId::BUILT_IN;
        let named = options.arguments.iter().find_map(|argument| argument.strip_prefix("--contour-config-name="));
        if let Some(name) = named
            && let Some(configuration) = cluster.get(super::kinds::Kind::ContourConfiguration, super::options::NAMESPACE, name)
            && let Some(spec) = configuration.root.get("spec")
        {
            object = configuration.object.id;
            let mut spec = spec.clone();
            overlay::tidy(&mut spec);
            overlay::overlay(&mut root, &spec);
        } else {
            for (path, value) in [("envoy.timeouts.connectionIdleTimeout", "60s"), ("envoy.timeouts.connectTimeout", "2s")] {
                defaults::put(&mut root, path, super::status::text(value));
            }
        }
        Ok(Self { root, object, watch_namespaces: Vec::new(), disabled_features: Vec::new() })
    }

    /// A setting, by its path in a ContourConfiguration's `spec`.
    pub fn at(&self, path: &str) -> Cursor<'_> {
        Cursor::new(self.object, &self.root).at(path)
    }
}
