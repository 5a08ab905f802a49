//! Groups the same finding at several places with the findings that it causes. Does not decide what causes what; see `finding_cause`.

use super::{Finding, causes};
use alloc::vec::Vec;
use hashbrown::HashMap;

/// Equal findings, by their indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct FindingGroup {
    /// The first finding, which represents the group.
    pub first: usize,
    /// The same finding at other places.
    pub others: Vec<usize>,
    /// The findings that these errors cause.
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
    let mut groups: Vec<FindingGroup> = Vec::new();
    let mut known: HashMap<(&str, &str, &str, Option<&str>), usize> = HashMap::new();
    let mut consequences: Vec<(usize, usize)> = Vec::new();
    let mut group_at: HashMap<usize, usize> = HashMap::new();
    for (at, (finding, cause)) in findings.iter().zip(causes(findings)).enumerate() {
        if let Some(cause) = cause {
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
        if let Some(group) = group_at.get(&cause).and_then(|place| groups.get_mut(*place)) {
            group.consequences.push(at);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::group_findings;
    use crate::{Finding, check::check, findings};
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;
    use chancery_base::compilation::Options;
    use chancery_base::diagnostic::Policy;
    use chancery_base::executor::Sequential;
    use chancery_base::resource::Inputs;
    use chancery_compile::{Compiler, EmittedByGateway};

    fn found(text: &str) -> Vec<Finding> {
        let mut compilation = Compiler::new(crate::testing::ALL).compile(&Inputs::one("a.yaml", text), &Options::default());
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        findings(&compilation, &compilation.positions())
    }

    #[test]
    fn consequences_follow_their_cause() {
        // The proxy has no valid route, so Envoy opens no port.
        let text = "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: root, namespace: shop}\n\
            spec:\n  virtualhost: {fqdn: a.example.com}\n  routes: [{conditions: [{prefix: a}], services: [{name: s, port: 80}]}]\n";
        let found = found(text);
        let groups = group_findings(&found);
        let all: usize = groups.iter().map(|group| group.places() + group.consequences.len()).sum();
        assert_eq!(all, found.len(), "no finding is lost");
        let cause = groups.iter().find(|group| !group.consequences.is_empty());
        let cause = cause.unwrap_or_else(|| panic!("{found:#?}"));
        let consequences: Vec<&str> = cause.consequences.iter().map(|at| found[*at].code).collect();
        assert_eq!((found[cause.first].code, &*consequences), ("invalid-route", &["no-listener"][..]));
    }

    #[test]
    fn equal_findings_are_one_group() {
        let mapping = |at: usize, field: &str| {
            format!(
                "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m{at}}}\nspec: {{hostname: '*', prefix: /{at}/, service: s, {field}: 1}}\n"
            )
        };
        let text: String = (0..63).map(|at| mapping(at, "timout_ms")).chain([mapping(63, "wieght")]).collect();
        let found = found(&text);
        let groups = group_findings(&found);
        let sizes: alloc::vec::Vec<usize> =
            groups.iter().filter(|group| found[group.first].code == "unknown-field").map(super::FindingGroup::places).collect();
        assert_eq!(sizes, [63, 1], "{groups:?}");
        let all: usize = groups.iter().map(|group| group.places() + group.consequences.len()).sum();
        assert_eq!(all, found.len(), "no finding is lost");
    }
}
