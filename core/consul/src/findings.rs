//! Makes findings about values of config entries and registrations.
//!
//! Does not decide what to report; see `checks` and `not_in_api`.

use alloc::string::String;
use chancery_base::diagnostic::{Code, Diagnostic, Place};
use chancery_base::ir::Tree;
use chancery_base::resource::{ObjectId, Objects};

/// A finding at a value, or at the whole object if no user wrote the value.
pub(super) fn finding(
    objects: &Objects,
    code: &'static Code,
    message: String,
    at: &Tree,
    object: Option<ObjectId>,
    help: Option<String>,
) -> Diagnostic {
    let whole = object.and_then(|object| objects.get(object)).map(|object| Place::value(object.id, object.root.id));
    let place = if at.origin.is_some() { Place::origin(at.origin) } else { whole.unwrap_or(Place::Whole) };
    finding_at(objects, code, message, place, object, help)
}

/// A finding at a place, about an object.
pub(super) fn finding_at(
    objects: &Objects,
    code: &'static Code,
    message: String,
    place: Place,
    object: Option<ObjectId>,
    help: Option<String>,
) -> Diagnostic {
    let mut finding = Diagnostic::new(code, message, place);
    if let Some(object) = object.and_then(|object| objects.get(object)) {
        finding = finding.about(object.key.clone());
    }
    match help {
        Some(help) => finding.help(help),
        None => finding,
    }
}
