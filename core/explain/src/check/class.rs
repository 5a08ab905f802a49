//! Reports Ingresses of an undefined class: no controller serves them, and no other finding reports this.
//!
//! The dialects decide which classes a controller serves.

use super::whole::Whole;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::Claim;
use chancery_base::diagnostic::{Diagnostic, Place, Severity, codes};
use chancery_base::resource::{Object, ResourceKey, nearest};
use hashbrown::HashSet;

/// The annotation that named the class before Ingresses had a field for it.
pub(super) const ANNOTATION: &str = "kubernetes.io/ingress.class";

pub(super) fn check(whole: &mut Whole<'_>) {
    let side = whole.side;
    let objects = || side.objects().iter().filter(|object| !object.broken);
    let ingresses: Vec<&Object> = objects().filter(|object| *object.key.kind == *"Ingress").collect();
    if ingresses.is_empty() {
        return;
    }
    let defined: Vec<&str> = objects().filter(|object| *object.key.kind == *"IngressClass").map(|object| &*object.key.name).collect();
    let claims = side.compilation.sides.iter().flat_map(|side| side.dialect.claims);
    let claimed = claims.filter_map(|claim| if let Claim::IngressClass(class) = claim { Some(*class) } else { None });
    let known: Vec<&str> = defined.iter().copied().chain(claimed).collect();
    let served = side.served();
    // The dialect may already report that the class is not the controller's.
    let reported = side.diagnostics().filter(|finding| finding.code == &codes::CLASS_NOT_OURS);
    let reported: HashSet<&ResourceKey> = reported.filter_map(|finding| finding.resource.as_ref()).collect();
    for object in ingresses {
        if served.contains(&object.id) || whole.wrong.contains(&object.id) {
            continue;
        }
        let Some(class) = object.root.at(&["spec", "ingressClassName"]).or_else(|| object.root.at(&["metadata", "annotations", ANNOTATION])) else {
            continue;
        };
        let Some(name) = class.as_str().filter(|name| !name.is_empty() && !known.contains(name)) else { continue };
        let near = nearest(name, known.iter().copied());
        if near.is_none() && reported.contains(&object.key) {
            continue;
        }
        let message = format!("there is no IngressClass `{name}` in the input, and no gateway serves the Ingress");
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "add the IngressClass, or leave the Ingress to the controller whose class that is".into(),
        };
        let mut finding = Diagnostic::new(&codes::DANGLING_REFERENCE, message, Place::value(object.id, class.id)).about(object.key.clone());
        if near.is_none() {
            finding.severity = Severity::Notice;
        }
        whole.report(finding.help(help));
    }
}
