//! Bounds the findings of each file: a huge file with an error in each line would otherwise fill the memory of the server, and of
//! everything that shows findings. Does not find anything; see `build`.

use chancery_core::compilation::Compilation;
use chancery_core::diagnostic::{Diagnostic, Place, Severity};
use chancery_core::resource::{Objects, SourceId};
use std::collections::HashMap;

/// The most findings of one severity that a file has in one list.
pub const MOST_FINDINGS: usize = 1000;

/// Keeps the first findings of each file and severity. The last of them reports how many are left out.
pub(super) fn bound_findings(compilation: &mut Compilation) {
    let objects = &compilation.objects;
    bound(&mut compilation.diagnostics, objects);
    compilation.sides.iter_mut().for_each(|side| bound(&mut side.diagnostics, objects));
}

fn bound(all: &mut Vec<Diagnostic>, objects: &Objects) {
    if all.len() <= MOST_FINDINGS {
        return;
    }
    let mut counts: HashMap<(SourceId, Severity), usize> = HashMap::new();
    all.retain(|finding| {
        let Some(source) = source_of(finding, objects) else { return true };
        let count = counts.entry((source, finding.severity)).or_default();
        *count += 1;
        *count <= MOST_FINDINGS
    });
    // The last kept finding of each file comes first from behind.
    for finding in all.iter_mut().rev() {
        let count = source_of(finding, objects).and_then(|source| counts.remove(&(source, finding.severity)));
        if let Some(more) = count.and_then(|count| count.checked_sub(MOST_FINDINGS)).filter(|more| *more > 0) {
            let severity = finding.severity.name();
            finding.message.push_str(&format!("; {more} more findings of the severity `{severity}` in this file are not listed"));
        }
    }
    all.shrink_to_fit();
}

/// Returns the file of a finding, if it has a place.
fn source_of(finding: &Diagnostic, objects: &Objects) -> Option<SourceId> {
    match &finding.place {
        Place::Node { object, .. } => objects.get(*object).map(|object| object.source.source),
        Place::Text(source, _) => Some(*source),
        Place::Whole => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::Builder;
    use super::super::intake::Drained;
    use super::*;
    use chancery_core::compilation::Options;
    use chancery_core::dialect::ambassador;
    use chancery_core::resource::{Input, Inputs};

    fn bad(mappings: std::ops::Range<usize>) -> String {
        let one = |at: usize| {
            format!(
                "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m{at}, namespace: default}}\n\
                 spec: {{hostname: '*', prefix: /m{at}/, service: quote, timeout_ms: one}}\n"
            )
        };
        mappings.map(one).collect()
    }

    #[test]
    fn huge_file_leaves_findings_of_others() {
        let texts = [("huge.yaml", bad(0..MOST_FINDINGS + 234)), ("small.yaml", bad(9000..9001))];
        let inputs: Vec<Input> = texts.iter().map(|(name, text)| Input { name: (*name).into(), text: text.as_str().into() }).collect();
        let not_utf8 = vec![Vec::new(); inputs.len()];
        let build = Builder::new(Options::of(&ambassador::DIALECT)).build(Drained { inputs: Inputs::from(inputs), not_utf8, ..Drained::default() });
        let errors = |file: &str| -> Vec<String> {
            let is_of = |finding: &chancery_core::explain::Finding| finding.span.as_ref().is_some_and(|span| &*span.file == file);
            build.all_findings().into_iter().filter(|finding| finding.severity == "error" && is_of(finding)).map(|finding| finding.message).collect()
        };
        assert_eq!((errors("huge.yaml").len(), errors("small.yaml").len(), build.errors), (MOST_FINDINGS, 1, MOST_FINDINGS + 235));
        let counting: Vec<String> = errors("huge.yaml").into_iter().filter(|message| message.contains("are not listed")).collect();
        let [only] = &counting[..] else { panic!("{counting:?}") };
        assert!(only.ends_with("; 234 more findings of the severity `error` in this file are not listed"), "{only}");
    }
}
