//! Contour's own configuration: flags, file and ContourConfiguration, laid over the defaults.
//!
//! What must not be here: what a setting does.

use super::cluster::Cluster;
use super::options::Options;
use crate::diagnostic::Diagnostic;
use crate::dialect::kubernetes::cursor::Cursor;
use crate::resource::ObjectId;
use crate::text::{Node, Object, Str, Value};
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
    pub fn load(_cluster: &Cluster<'_>, _options: &Options, _sink: &mut Vec<Diagnostic>) -> Result<Self, Failure> {
        Ok(Self { root: Node::synthesised(Value::Object(Object::new())), object: ObjectId::BUILT_IN, watch_namespaces: Vec::new() })
    }

    /// A setting, by its path in a ContourConfiguration's `spec`.
    pub fn at(&self, path: &str) -> Cursor<'_> {
        Cursor::new(self.object, &self.root).at(path)
    }
}
