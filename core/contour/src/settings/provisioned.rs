//! Defines the settings of a provisioned Contour.

use alloc::vec::Vec;
use chancery_base::resource::ObjectId;
use chancery_text::{Node, Str};

/// How the provisioner starts a Contour.
pub struct ProvisionedContour {
    /// The `spec` of its ContourConfiguration.
    pub spec: Node,
    /// The object that the nodes of `spec` belong to: the ContourDeployment of the class.
    pub object: ObjectId,
    /// The namespaces that it watches; empty for all.
    pub watch_namespaces: Vec<Str>,
    /// Resources that it does not watch.
    pub disabled_features: Vec<Str>,
}
