//! Reports annotations that resemble the controller's own but that it does not read.
//!
//! The dialects list the annotations that a controller reads; `stale` handles annotations of other controllers.

use super::whole::Whole;
use alloc::format;
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::resource::nearest;
use chancery_text::Node;

pub(super) fn check(whole: &mut Whole<'_>) {
    let (side, dialect) = (whole.side, whole.side.dialect());
    let all = dialect.annotations;
    if all.is_empty() {
        return;
    }
    for object in side.objects().iter().filter(|object| !object.broken) {
        let kind = &*object.key.kind;
        let Some((_, known)) = all.iter().find(|(of, _)| *of == kind) else { continue };
        let annotations = object.root.at(&["metadata", "annotations"]).and_then(Node::as_object);
        for entry in annotations.into_iter().flatten() {
            let is_own = known.prefixes.iter().any(|prefix| entry.key.starts_with(prefix));
            if !is_own || known.names.contains(&&*entry.key) {
                continue;
            }
            let message = format!("{} reads no annotation `{}` of {} {kind}", dialect.controller, entry.key, article(kind));
            let mut finding = Diagnostic::new(&codes::UNKNOWN_ANNOTATION, message, Place::key(object.id, entry.value.id)).about(object.key.clone());
            let other = all.iter().find(|(_, of)| of.names.contains(&&*entry.key)).map(|(other, _)| *other);
            if let Some(other) = other {
                finding = finding.help(format!("write it on {} {other}", article(other)));
            } else if let Some(near) = nearest(&entry.key, known.names.iter().copied()) {
                finding = finding.help(format!("did you mean `{near}`?"));
            }
            whole.report(finding);
        }
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['A', 'E', 'I', 'O', 'U', 'H']) { "an" } else { "a" }
}
