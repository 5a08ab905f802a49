//! Joins many findings that differ in one name into one finding.

use super::{Diagnostic, Place, Severity};
use crate::resource::{ObjectId, ResourceKey};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use hashbrown::HashMap;

/// FindingPlace most this many alike findings stay separate.
const MOST: usize = 8;

/// The joined finding names this many of the others.
const NAMED: usize = 3;

/// The common part of findings that differ only in one name.
#[derive(PartialEq, Eq, Hash)]
struct Sentence {
    code: &'static str,
    /// `None` for a notice: notices are joined regardless of their resource.
    resource: Option<ResourceKey>,
    before: String,
    after: String,
    help: Option<String>,
}

/// Joins alike findings: same code, same message except for the first quoted name, and same resource (unless they are notices). The joined finding
/// takes the first one's position and names the next ones.
pub fn join_alike(all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if all.len() <= MOST {
        return all;
    }
    let mut groups: HashMap<Sentence, BTreeSet<(FindingPlace, usize)>> = HashMap::new();
    for (at, finding) in all.iter().enumerate().filter(|(_, finding)| finding.fix.is_none() && finding.related.is_empty()) {
        let Some((before, _, after)) = in_parts(&finding.message) else { continue };
        let (before, after) = (before.to_string(), after.to_string());
        let resource = finding.resource.clone().filter(|_| finding.severity != Severity::Notice);
        let sentence = Sentence { code: finding.code.name, resource, before, after, help: finding.help.clone() };
        groups.entry(sentence).or_default().insert((place(finding), at));
    }
    let mut out: Vec<Option<Diagnostic>> = all.into_iter().map(Some).collect();
    for alike in groups.into_values().filter(|alike| alike.len() > MOST) {
        let mut taken = alike.into_iter().filter_map(|(_, at)| Some((at, out.get_mut(at)?.take()?))).collect::<Vec<_>>().into_iter();
        let Some((at, mut first)) = taken.next() else { continue };
        let own = in_parts(&first.message).map(|parts| parts.1).unwrap_or_default();
        let mut names: Vec<String> = Vec::new();
        let mut count = 0;
        let mut seen = BTreeSet::from([own.to_string()]);
        for (_, other) in taken {
            let Some((_, name, _)) = in_parts(&other.message).filter(|(_, name, _)| seen.insert((*name).into())) else { continue };
            count += 1;
            if names.len() < NAMED {
                names.push(format!("`{name}`"));
            }
        }
        let more = match count - names.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        if !names.is_empty() {
            first.message = format!("{}; the same holds for {}{more}", first.message, names.join(", "));
        }
        out[at] = Some(first);
    }
    out.into_iter().flatten().collect()
}

/// Splits a sentence into the part before its first quoted name, the name, and the rest.
fn in_parts(message: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = message.split_once('`')?;
    let (name, after) = rest.split_once('`')?;
    Some((before, name, after))
}

type FindingPlace = (Option<ObjectId>, u32, u32);

/// The sort key of a finding's position.
fn place(of: &Diagnostic) -> FindingPlace {
    match &of.place {
        Place::Node { object, node, .. } => (Some(*object), 0, node.0),
        Place::Text(source, range) => (None, source.0, range.start),
        Place::Whole => (None, u32::MAX, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::codes;
    use super::*;
    use crate::resource::SourceId;
    use chancery_text::TextRange;

    fn finding(at: u32, message: String) -> Diagnostic {
        Diagnostic::new(&codes::ASSUMED_OBJECT, message, Place::Text(SourceId(0), TextRange::new(at, at + 1)))
    }

    #[test]
    fn a_thousand_alike_findings_become_one() {
        let last_first = (0..1_000).rev().map(|at| finding(at, format!("`s{at}` in `web` is not there")));
        let other = finding(2_000, "`x` in `api` is not there".into());
        let joined = join_alike(last_first.chain([other.clone()]).collect());
        let [one, kept] = &joined[..] else { panic!("{joined:?}") };
        assert_eq!(one.message, "`s0` in `web` is not there; the same holds for `s1`, `s2`, `s3` and 996 more");
        assert!(place(one) == (None, 0, 0) && *kept == other, "{joined:?}");
    }

    #[test]
    fn up_to_eight_alike_findings_are_not_joined() {
        let few: Vec<Diagnostic> = (0..8).map(|at| finding(at, format!("`s{at}` is not there"))).collect();
        assert_eq!(join_alike(few.clone()), few);
        let different = (0..20).map(|at| finding(at, format!("{at} is too much")));
        assert_eq!(join_alike(different.collect()).len(), 20, "sentences without names are not alike");
    }

    #[test]
    fn notices_join_across_resources() {
        let of = |at: u32, severity: Severity| {
            let key = ResourceKey::new("", "Service", "default", format!("r{at}"));
            let mut finding = finding(at, format!("`s{}` is open", at % 3)).about(key).help("close it");
            finding.severity = severity;
            finding
        };
        let joined = join_alike((0..30).map(|at| of(at, Severity::Notice)).collect());
        let [one] = &joined[..] else { panic!("{joined:?}") };
        assert_eq!((one.message.as_str(), one.help.as_deref()), ("`s0` is open; the same holds for `s1`, `s2`", Some("close it")));
        assert_eq!(join_alike((0..30).map(|at| of(at, Severity::Warning)).collect()).len(), 30);
    }
}
