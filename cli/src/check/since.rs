//! `--since REVISION`: keeps findings in objects that changed since a git revision, and findings elsewhere that the revision did not have.
//!
//! Does not read the revision; see `input`. Does not identify findings; see `chancery_core::explain::KnownFindings`.

use crate::Unusable;
use crate::args::{CheckArgs, Deployment};
use crate::input;
use chancery_core::compilation::Compilation;
use chancery_core::explain::{Finding, KnownFindings, ResourceRef};
use chancery_core::text::to_json;
use std::collections::{BTreeMap, BTreeSet};

/// The objects of an input by name, as text.
fn objects(of: &Compilation) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for object in of.objects.iter() {
        out.entry(ResourceRef::from(&object.key).to_string()).or_default().push(to_json(&object.root, false));
    }
    out
}

/// Removes findings that the revision already had, unless their object changed. Returns how many were removed.
pub fn keep_new(
    args: &CheckArgs,
    revision: &str,
    deployment: &Deployment,
    now: &Compilation,
    findings: &mut Vec<Finding>,
) -> Result<usize, Unusable> {
    let Some(given) = input::at_revision(revision, &args.inputs.inputs, deployment)? else { return Ok(0) };
    let (before, old) = super::checked(args, &given)?;
    let mut known = KnownFindings::of(&old);
    let (old, new) = (objects(&before), objects(now));
    let changed: BTreeSet<&String> = new.iter().filter(|(name, text)| old.get(*name) != Some(text)).map(|(name, _)| name).collect();
    let all = findings.len();
    findings.retain(|finding| {
        let object = finding.object.as_ref().or(finding.resource.as_ref()).map(ToString::to_string);
        if object.is_some_and(|object| changed.contains(&object)) {
            return true;
        }
        !known.is_known(finding)
    });
    Ok(all - findings.len())
}
