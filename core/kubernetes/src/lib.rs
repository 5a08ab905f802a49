//! Implements what several dialects share: how Kubernetes checks and defaults the objects that controllers read (metadata, Services, Ingresses,
//! Secrets, Endpoints). Does not implement any controller.
#![no_std]

extern crate alloc;

pub mod admit;
pub mod admitted;
pub mod cluster;
pub mod cursor;
pub mod der;
pub mod endpoints;
pub mod gateway_api;
pub mod go;
pub mod ingress;
pub mod json;
pub mod kind;
pub mod kinds;
pub mod known;
pub mod metadata;
pub mod object_tables;
pub mod pem;
pub mod pod;
pub mod reason;
pub mod references;
pub mod regexp;
pub mod relations;
pub mod report;
pub mod secret;
pub mod selector;
pub mod service;
pub mod status;

use alloc::format;
use alloc::string::String;
use chancery_base::diagnostic::{Code, Diagnostic, Place, codes};
use chancery_base::resource::Object;
use chancery_text::{Node, NodeId};

/// A finding for a document that replaces an earlier one of the same name.
pub fn overwritten(earlier: &Object, later: &Object) -> Diagnostic {
    let message = format!("duplicate {}: this document overwrites the earlier one", later.key);
    Diagnostic::new(&codes::OVERWRITTEN, message, at_name(later))
        .about(later.key.clone())
        .related(at_name(earlier), "the document that is overwritten")
}

/// The place of an object's name.
pub fn at_name(object: &Object) -> Place {
    let node = object.root.at(&["metadata", "name"]).or_else(|| object.root.get("name"));
    Place::value(object.id, node.map_or(object.root.id, |name| name.id))
}

/// A finding for an object that the API server refuses because of a node.
fn refused(code: &'static Code, object: &Object, node: NodeId, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, message, Place::value(object.id, node)).about(object.key.clone())
}

/// The nearest existing node on a path, as the place of a missing field.
fn nearest_node(root: &Node, path: &[&str]) -> NodeId {
    let mut at = root;
    for key in path {
        match at.get(key) {
            Some(next) => at = next,
            None => break,
        }
    }
    at.id
}
