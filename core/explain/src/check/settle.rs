//! Applies the user's decisions to findings: which are shown and how severe they are, for all resources and for single ones.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use chancery_base::compilation::Compilation;
use chancery_base::diagnostic::{Diagnostic, Place, Policy, codes};
use chancery_base::resource::{ObjectId, Objects, nearest};
use chancery_text::{NodeId, Str};
use core::mem;

/// The annotation with a resource's suppressed findings: `CODE: REASON`, several on separate lines or separated by `;`.
pub const ANNOTATION: &str = "chancery.dev/ignore";

/// A suppressed finding.
struct Suppression {
    object: ObjectId,
    node: NodeId,
    code: Str,
    has_reason: bool,
    used: bool,
}

/// Drops suppressed findings of a compilation and sets severities.
pub(super) fn settle(compilation: &mut Compilation, policy: &Policy) {
    let mut suppressions = suppressions(&compilation.objects);
    let mut whole = mem::take(&mut compilation.diagnostics);
    let mut by_side: Vec<Vec<Diagnostic>> = compilation.sides.iter_mut().map(|side| mem::take(&mut side.diagnostics)).collect();
    if !suppressions.is_empty() {
        for found in by_side.iter_mut().chain([&mut whole]) {
            found.retain(|finding| !is_suppressed(finding, compilation, &mut suppressions));
        }
    }
    whole.extend(suppressions.iter().filter_map(|suppression| unused_suppression(suppression, compilation)));
    for found in by_side.iter_mut().chain([&mut whole]) {
        judge(found, policy);
    }
    compilation.diagnostics = whole;
    for (side, found) in compilation.sides.iter_mut().zip(by_side) {
        side.diagnostics = found;
    }
}

/// Sets the severities that the user has decided on.
fn judge(found: &mut Vec<Diagnostic>, policy: &Policy) {
    if policy.severities.is_empty() {
        return;
    }
    found.retain_mut(|finding| match policy.severities.get(finding.code.name).map(|level| level.severity()) {
        Some(Some(severity)) => {
            finding.severity = severity;
            true
        }
        Some(None) => false,
        None => true,
    });
}

fn suppressions(objects: &Objects) -> Vec<Suppression> {
    let mut out = Vec::new();
    for object in objects.iter() {
        let Some(node) = object.root.at(&["metadata", "annotations", ANNOTATION]) else { continue };
        let entries = node.as_str().unwrap_or_default().split(['\n', ';']).map(str::trim).filter(|entry| !entry.is_empty());
        out.extend(entries.map(|entry| {
            let (code, reason) = entry.split_once(':').unwrap_or((entry, ""));
            let has_reason = !reason.trim().is_empty();
            Suppression { object: object.id, node: node.id, code: Str::new(code.trim()), has_reason, used: false }
        }));
    }
    out
}

fn is_suppressed(finding: &Diagnostic, compilation: &Compilation, suppressions: &mut [Suppression]) -> bool {
    let stands_in = finding.place.object();
    // Configuration in an annotation belongs to the annotated object.
    let holder = stands_in.and_then(|object| compilation.objects.get(object)?.parent).map(|(holder, _)| holder);
    let is_about = |object: ObjectId| {
        let key = compilation.objects.get(object).map(|object| &object.key);
        stands_in == Some(object) || holder == Some(object) || (key.is_some() && finding.resource.as_ref() == key)
    };
    let mut suppressed = false;
    for suppression in suppressions.iter_mut().filter(|suppression| *suppression.code == *finding.code.name) {
        if is_about(suppression.object) {
            suppression.used = true;
            suppressed = true;
        }
    }
    suppressed
}

fn unused_suppression(suppression: &Suppression, compilation: &Compilation) -> Option<Diagnostic> {
    let Suppression { object, node, code, .. } = suppression;
    let (about, message, help) = if !suppression.used {
        let own = || compilation.sides.iter().flat_map(|side| side.dialect.codes);
        let known = codes::find(code).is_some() || own().any(|own| own.name == code.as_str());
        let message =
            if known { format!("the annotation ignores `{code}`, but nothing here has this finding") } else { format!("there is no code `{code}`") };
        let near = nearest(code, codes::ALL.iter().copied().chain(own().copied()).map(|code| code.name)).filter(|_| !known);
        let help = near.map_or_else(|| "remove it from the annotation".to_string(), |near| format!("did you mean `{near}`?"));
        (&codes::UNUSED_SUPPRESSION, message, help)
    } else if !suppression.has_reason {
        let message = format!("the annotation does not say why it ignores `{code}`");
        (&codes::SUPPRESSION_WITHOUT_REASON, message, format!("write `{code}: REASON`"))
    } else {
        return None;
    };
    let finding = Diagnostic::new(about, message, Place::value(*object, *node)).help(help);
    Some(match compilation.objects.get(*object) {
        Some(object) => finding.about(object.key.clone()),
        None => finding,
    })
}
