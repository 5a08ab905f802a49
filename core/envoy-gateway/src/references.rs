//! Lists the objects that others refer to, and objects that would satisfy them. Does not decide whether anything is assumed.

use super::relations::FIELDS;
use super::status::CONTROLLER;
use alloc::vec::Vec;
use chancery_base::compilation::ReferencedObject;
use chancery_base::resource::Objects;
use chancery_kubernetes::gateway_api;
use chancery_kubernetes::gateway_api::owners::Owners;
use chancery_kubernetes::references::{endpoints, field_references, missing_objects, of_kubernetes};

/// Returns the referenced objects.
pub(crate) fn referenced_objects(objects: &Objects) -> Vec<ReferencedObject> {
    let owners = Owners::of(objects.all(), CONTROLLER);
    let asked = field_references(objects.all().filter(|object| owners.other(object).is_none()), &[FIELDS, gateway_api::relations::FIELDS]);
    let mut all = missing_objects(&asked, &objects.keys(), |key, asked| {
        of_kubernetes(key, asked).or_else(|| gateway_api::references::of_gateway_api(key, asked, CONTROLLER, &[]))
    });
    all.extend(endpoints(&asked, objects));
    all.extend(gateway_api::references::namespaces(&asked, objects));
    all
}
