//! Lists what objects ask for, and the objects that would do. Does not decide whether anything is assumed.

use super::relations::FIELDS;
use super::status::CONTROLLER;
use alloc::vec::Vec;
use chancery_base::compilation::ReferencedObject;
use chancery_base::resource::Objects;
use chancery_kubernetes::gateway_api;
use chancery_kubernetes::gateway_api::owners::Owners;
use chancery_kubernetes::wanted::{asked, endpoints, of_kubernetes, wanted as all_of};

/// Returns what the objects ask for.
pub(crate) fn wanted(objects: &Objects) -> Vec<ReferencedObject> {
    let owners = Owners::of(objects.all(), CONTROLLER);
    let asked = asked(objects.all().filter(|object| owners.other(object).is_none()), &[FIELDS, gateway_api::relations::FIELDS]);
    let mut all = all_of(&asked, &objects.keys(), |key, asked| {
        of_kubernetes(key, asked).or_else(|| gateway_api::wanted::of_gateway_api(key, asked, CONTROLLER, &[]))
    });
    all.extend(endpoints(&asked, objects));
    all.extend(gateway_api::wanted::namespaces(&asked, objects));
    all
}
