//! From one configuration language to another: objects that do the same, and what could not be carried over, with its line.
//!
//! Also what several controllers do with the same objects ([`across`]).
//!
//! The only place that knows two dialects. What must not be here: what the objects do, which compiling both sides tells.
#![no_std]

extern crate alloc;

mod across;
mod build;
mod ingress;
mod mapping;
mod proof;
mod proxy;
mod service;

pub use across::{Across, AcrossRow, OneSidedAnnotation, across};
pub use ingress::{IngressProof, ingress_proof, ingress_to_gateway};
pub use mapping::mapping_to_http_proxy;
pub use proof::{Proof, proof};
pub use proxy::http_proxy_to_gateway;

use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::{Origin, ResourceKey};
use chancery_text::{Node, to_yaml};

/// What a conversion gives.
#[derive(Clone, Debug, Default)]
pub struct Conversion {
    /// The new objects.
    pub objects: Vec<Node>,
    /// What could not be carried over, or is not quite the same.
    pub notes: Vec<Note>,
}

/// Something that could not be carried over.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The object that it is about.
    pub resource: ResourceKey,
    /// Where it is written.
    pub origin: Option<Origin>,
    /// One sentence, without a full stop.
    pub message: String,
}

impl Conversion {
    /// The objects as YAML documents.
    pub fn yaml(&self) -> String {
        let mut out = String::new();
        for object in &self.objects {
            if !out.is_empty() {
                out.push_str("---\n");
            }
            out.push_str(&to_yaml(object));
        }
        out
    }

    fn note(&mut self, resource: &ResourceKey, origin: Option<Origin>, message: impl Into<String>) {
        let note = Note { resource: resource.clone(), origin, message: message.into() };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod testing {
    use chancery_base::compilation::Dialect;

    /// The dialects that tests compile.
    pub static ALL: &[&Dialect] = &[&chancery_ambassador::DIALECT, &chancery_contour::DIALECT, &chancery_agic::DIALECT];
}
