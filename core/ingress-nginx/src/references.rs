//! Lists the objects that Ingresses refer to, and objects that would satisfy them. Does not decide whether anything is assumed; see `compilation::Assumptions`.

use super::options::Options;
use super::relations::FIELDS;
use alloc::vec::Vec;
use chancery_base::compilation::ReferencedObject;
use chancery_base::resource::{Objects, ResourceKey};
use chancery_kubernetes::references::{endpoints, field_references, missing_objects, named, of_kubernetes};
use chancery_kubernetes::status::{object, text};
use chancery_text::Node;

/// Returns the referenced objects.
pub fn referenced_objects(objects: &Objects, options: &Options) -> Vec<ReferencedObject> {
    let asked = field_references(objects.all(), &[FIELDS]);
    let mut all = missing_objects(&asked, &objects.keys(), |key, asked| of_kubernetes(key, asked).or_else(|| class(key, options)));
    all.extend(endpoints(&asked, objects));
    all
}

/// The controller's own class.
fn class(key: &ResourceKey, options: &Options) -> Option<Node> {
    if key.kind != "IngressClass" {
        return None;
    }
    Some(named(key, "v1", alloc::vec![("spec", object(alloc::vec![("controller", text(&options.controller_class))]))]))
}
