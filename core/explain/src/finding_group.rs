//! Groups findings that have one cause: the same finding at several places, and findings that refer to the place of an error. Does not create or word findings;
//! see `finding`.

use super::{Finding, ResourceRef};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::Severity;
use hashbrown::{HashMap, HashSet};

/// Equal findings, by their indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct FindingGroup {
    /// The first finding, which represents the group.
    pub first: usize,
    /// The same finding at other places.
    pub others: Vec<usize>,
    /// Findings of other objects that refer to the place of this error.
    pub consequences: Vec<usize>,
}

impl FindingGroup {
    /// How many places the finding has.
    #[must_use]
    pub fn places(&self) -> usize {
        self.others.len() + 1
    }
}

/// Groups findings. Groups have the order of their first findings.
#[must_use]
pub fn group_findings(findings: &[Finding]) -> Vec<FindingGroup> {
    let causes = causes(findings);
    let cause_of = |finding: &Finding| {
        let object = finding.object.as_ref().or(finding.resource.as_ref());
        let within = |cause: &Cause<'_>| {
            let here = |span: &super::Span| span.file == cause.span.file && (cause.span.line..=cause.span.end_line).contains(&span.line);
            object != Some(cause.object) && finding.related.iter().filter_map(|related| related.span.as_ref()).any(here)
        };
        causes.iter().find(|cause| within(cause)).map(|cause| cause.at)
    };
    let mut groups: Vec<FindingGroup> = Vec::new();
    let mut known: HashMap<(&str, &str, &str, Option<&str>), usize> = HashMap::new();
    let mut consequences: Vec<(usize, usize)> = Vec::new();
    let mut group_at: HashMap<usize, usize> = HashMap::new();
    for (at, finding) in findings.iter().enumerate() {
        if let Some(cause) = cause_of(finding) {
            consequences.push((cause, at));
            continue;
        }
        let key = (finding.severity, finding.code, finding.message.as_str(), finding.help.as_deref());
        let place = *known.entry(key).or_insert_with(|| {
            groups.push(FindingGroup { first: at, ..FindingGroup::default() });
            groups.len() - 1
        });
        group_at.insert(at, place);
        if let Some(group) = groups.get_mut(place).filter(|group| group.first != at) {
            group.others.push(at);
        }
    }
    for (cause, at) in consequences {
        match group_at.get(&cause).and_then(|place| groups.get_mut(*place)) {
            Some(group) => group.consequences.push(at),
            None => groups.push(FindingGroup { first: at, ..FindingGroup::default() }),
        }
    }
    groups
}

/// An error that other findings may follow from.
struct Cause<'f> {
    at: usize,
    object: &'f ResourceRef,
    span: &'f super::Span,
}

/// The first error of each object, at its place.
fn causes(findings: &[Finding]) -> Vec<Cause<'_>> {
    let mut seen: HashSet<String> = HashSet::new();
    let mut out = Vec::new();
    for (at, finding) in findings.iter().enumerate().filter(|(_, finding)| finding.level() == Severity::Error) {
        let (Some(object), Some(span)) = (&finding.object, &finding.span) else { continue };
        if seen.insert(format!("{object} {:?}", object.namespace)) {
            out.push(Cause { at, object, span });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::group_findings;
    use crate::{check::check, findings};
    use alloc::format;
    use alloc::string::String;
    use chancery_base::compilation::Options;
    use chancery_base::diagnostic::Policy;
    use chancery_base::executor::Sequential;
    use chancery_base::resource::Inputs;
    use chancery_compile::{Compiler, EmittedByGateway};

    #[test]
    fn equal_findings_are_one_group() {
        let mapping = |at: usize, field: &str| {
            format!(
                "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m{at}}}\nspec: {{hostname: '*', prefix: /{at}/, service: s, {field}: 1}}\n"
            )
        };
        let text: String = (0..63).map(|at| mapping(at, "timout_ms")).chain([mapping(63, "wieght")]).collect();
        let mut compilation = Compiler::new(crate::testing::ALL).compile(&Inputs::one("a.yaml", text), &Options::default());
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        let found = findings(&compilation, &compilation.positions());
        let groups = group_findings(&found);
        let sizes: alloc::vec::Vec<usize> =
            groups.iter().filter(|group| found[group.first].code == "unknown-field").map(super::FindingGroup::places).collect();
        assert_eq!(sizes, [63, 1], "{groups:?}");
        let all: usize = groups.iter().map(|group| group.places() + group.consequences.len()).sum();
        assert_eq!(all, found.len(), "no finding is lost");
    }
}
