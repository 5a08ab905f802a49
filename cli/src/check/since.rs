//! `--since REVISION`: keeps findings in objects that changed since a git revision, and findings elsewhere that the revision did not have.
//!
//! A finding is identified by its code, object, field and message, not by its file or line. Does not read the revision; see `input`.

use crate::Unusable;
use crate::args::{CheckArgs, Deployment};
use crate::input;
use chancery_core::compilation::Compilation;
use chancery_core::explain::{Finding, ResourceRef};
use chancery_core::text::to_json;
use std::collections::{BTreeMap, BTreeSet};

/// A finding without its place.
fn identity(of: &Finding) -> (String, String, String, String) {
    let object = of.object.as_ref().or(of.resource.as_ref()).map(ToString::to_string);
    (of.code.into(), object.unwrap_or_default(), of.path.clone().unwrap_or_default(), of.message.clone())
}

/// The objects of an input by name, as text.
fn objects(of: &Compilation) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for object in of.objects.iter() {
        out.entry(ResourceRef::from(&object.key).to_string()).or_default().push(to_json(&object.root, false));
    }
    out
}

/// Removes findings that the revision already had, unless their object changed. Returns how many were removed.
pub fn keep_new(args: &CheckArgs, revision: &str, deployment: &Deployment, now: &Compilation, findings: &mut Vec<Finding>) -> Result<usize, Unusable> {
    let Some(given) = input::at_revision(revision, &args.inputs.inputs, deployment)? else { return Ok(0) };
    let (before, old) = super::checked(args, &given)?;
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    old.iter().for_each(|finding| *known.entry(identity(finding)).or_default() += 1);
    let (old, new) = (objects(&before), objects(now));
    let changed: BTreeSet<&String> = new.iter().filter(|(name, text)| old.get(*name) != Some(text)).map(|(name, _)| name).collect();
    let all = findings.len();
    findings.retain(|finding| {
        let object = finding.object.as_ref().or(finding.resource.as_ref()).map(ToString::to_string);
        if object.is_some_and(|object| changed.contains(&object)) {
            return true;
        }
        match known.get_mut(&identity(finding)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        }
    });
    Ok(all - findings.len())
}
