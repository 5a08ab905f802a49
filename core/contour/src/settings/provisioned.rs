//! A Contour that the provisioner would start: what it is given.
//!
//! What must not be here: when there is one.

use alloc::vec::Vec;
use chancery_base::resource::ObjectId;
use chancery_text::{Node, Str};

/// How the provisioner starts a Contour.
pub struct ProvisionedContour {
    /// `spec` of the ContourConfiguration that it is given.
    pub spec: Node,
    /// The object that the nodes of `spec` belong to: the ContourDeployment of the class.
    pub object: ObjectId,
    /// The namespaces that it watches; empty for all.
    pub watch_namespaces: Vec<Str>,
    /// Resources that it does not watch.
    pub disabled_features: Vec<Str>,
}
