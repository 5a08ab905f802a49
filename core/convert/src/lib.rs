//! Converts objects from one configuration language to another, and reports everything that could not be converted, with its line.
//!
//! Also compares how several controllers treat the same objects ([`across`]). This is the only crate that knows two dialects. The effect of objects
//! is determined by compiling both sides; see `proof`.
#![no_std]

extern crate alloc;

mod across;
mod build;
mod ingress;
mod mapping;
mod migration;
mod proof;
mod proxy;
mod service;

pub use across::{Across, AcrossRow, OneSidedAnnotation, across};
pub use ingress::{IngressProof, ingress_proof, ingress_to_gateway};
pub use mapping::mapping_to_http_proxy;
pub use migration::migration_proof;
pub use proof::{Proof, proof};
pub use proxy::http_proxy_to_gateway;

use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::{Origin, ResourceKey};
use chancery_text::{Node, to_yaml};

/// The result of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Conversion {
    /// The new objects.
    pub objects: Vec<Node>,
    /// Parts that were not converted, or not exactly.
    pub notes: Vec<Note>,
}

/// A part that was not converted, or not exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The object that it concerns.
    pub resource: ResourceKey,
    /// Its place in the input.
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
    pub static ALL: &[&Dialect] =
        &[&chancery_ambassador::DIALECT, &chancery_contour::DIALECT, &chancery_agic::DIALECT, &chancery_ingress_nginx::DIALECT];
}
