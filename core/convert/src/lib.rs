//! Converts objects from one configuration language to another, and reports everything that could not be converted, with its line.
//!
//! Also compares how several controllers treat the same objects ([`across`]). This is the only crate that knows two dialects. The effect of objects
//! is determined by compiling both sides; see `proof`.
#![no_std]

extern crate alloc;

mod across;
mod build;
mod gateway;
mod ingress;
mod mapping;
mod migration;
mod nginx;
mod proof;
mod proxy;
mod service;

pub use across::{Across, AcrossRow, OneSidedAnnotation, across};
pub use gateway::Target;
pub use ingress::{IngressProof, ingress_proof, ingress_to_gateway};
pub use mapping::mapping_to_http_proxy;
pub use migration::migration_proof;
pub use nginx::{AnnotationInventory, AnnotationUse, Fidelity, NginxVerdict, VERDICTS, annotation_inventory, ingress_nginx_to_gateway, verdict};
pub use proof::{Proof, proof};
pub use proxy::http_proxy_to_gateway;

use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::{Input, Origin, ResourceKey};
use chancery_text::{Node, Str};

/// The result of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Conversion {
    /// The new objects. Keys that begin with `#` are comments.
    pub objects: Vec<Node>,
    /// The file of each object, if the conversion writes several.
    pub files: Vec<Str>,
    /// Parts that were not converted, or not exactly.
    pub notes: Vec<Note>,
    /// Differences that concern everything, in sentences.
    pub limits: Vec<String>,
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
        documents(self.objects.iter())
    }

    /// The objects as one input.
    pub fn input(&self) -> Input {
        Input { name: "converted.yaml".into(), text: self.yaml().into() }
    }

    /// The files with their YAML documents, in order.
    pub fn texts(&self) -> Vec<(Str, String)> {
        let mut names: Vec<&Str> = Vec::new();
        for file in &self.files {
            if !names.contains(&file) {
                names.push(file);
            }
        }
        let of = |name: &Str| self.objects.iter().zip(&self.files).filter(|(_, file)| *file == name).map(|(object, _)| object).collect::<Vec<_>>();
        names.into_iter().map(|name| (name.clone(), documents(of(name).into_iter()))).collect()
    }

    /// Removes all comments.
    pub fn remove_comments(&mut self) {
        for object in &mut self.objects {
            *object = build::without_comments(object);
        }
    }

    fn add(&mut self, file: &str, object: Node) {
        self.objects.push(object);
        self.files.push(Str::new(file));
    }

    fn note(&mut self, resource: &ResourceKey, origin: Option<Origin>, message: impl Into<String>) {
        let note = Note { resource: resource.clone(), origin, message: message.into() };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

fn documents<'n>(objects: impl Iterator<Item = &'n Node>) -> String {
    let mut out = String::new();
    for object in objects {
        if !out.is_empty() {
            out.push_str("---\n");
        }
        out.push_str(&build::with_comments(object));
    }
    out
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
