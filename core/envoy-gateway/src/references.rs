//! Lists the objects that others refer to, and objects that would satisfy them. Does not decide whether anything is assumed.

use super::Options;
use super::relations::FIELDS;
use super::status::CONTROLLER;
use alloc::vec::Vec;
use chancery_base::compilation::ReferencedObject;
use chancery_base::resource::Objects;
use chancery_kubernetes::gateway_api;
use chancery_kubernetes::gateway_api::owners::Owners;
use chancery_kubernetes::references::{endpoints, field_references, missing_objects, of_kubernetes};

/// Returns the owners of an input. If the user chose this dialect, classes of other controllers are its own.
pub(crate) fn owners<'o>(objects: &'o Objects, controller: &'o str, reads_all_classes: bool) -> Owners<'o> {
    let owners = Owners::of(objects.all(), controller);
    if reads_all_classes { owners.reading_all() } else { owners }
}

/// Returns the referenced objects.
pub(crate) fn referenced_objects(objects: &Objects, options: &Options) -> Vec<ReferencedObject> {
    let owners = owners(objects, CONTROLLER, options.reads_all_classes);
    let asked = field_references(objects.all().filter(|object| owners.other(object).is_none()), &[FIELDS, gateway_api::relations::FIELDS]);
    let mut all = missing_objects(&asked, &objects.keys(), |key, asked| {
        of_kubernetes(key, asked).or_else(|| gateway_api::references::of_gateway_api(key, asked, CONTROLLER, &[]))
    });
    all.extend(endpoints(&asked, objects));
    all.extend(gateway_api::references::namespaces(&asked, objects));
    all
}
