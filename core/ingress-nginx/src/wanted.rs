//! What Ingresses ask for, and the objects that would do.
//!
//! Does not decide whether anything is assumed; see `compilation::Assumptions`.

use super::options::Options;
use super::relations::FIELDS;
use alloc::vec::Vec;
use chancery_base::compilation::ReferencedObject;
use chancery_base::resource::{Objects, ResourceKey};
use chancery_kubernetes::status::{object, text};
use chancery_kubernetes::wanted::{asked, endpoints, named, of_kubernetes, wanted as all_of};
use chancery_text::Node;

/// What the objects ask for.
pub fn wanted(objects: &Objects, options: &Options) -> Vec<ReferencedObject> {
    let asked = asked(objects.all(), &[FIELDS]);
    let mut all = all_of(&asked, &objects.keys(), |key, asked| of_kubernetes(key, asked).or_else(|| class(key, options)));
    all.extend(endpoints(&asked, objects));
    all
}

/// A class of the controller's own.
fn class(key: &ResourceKey, options: &Options) -> Option<Node> {
    if key.kind != "IngressClass" {
        return None;
    }
    Some(named(key, "v1", alloc::vec![("spec", object(alloc::vec![("controller", text(&options.controller_class))]))]))
}
