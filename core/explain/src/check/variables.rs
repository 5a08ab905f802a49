//! Joins the findings about values with variables such as `${DOMAIN}`, which another program substitutes before the objects reach a cluster. Does
//! not find the values; see `stale` and the schemas.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::Compilation;
use chancery_base::diagnostic::{Code, Diagnostic, Place, Severity, codes};
use chancery_base::resource::{ObjectId, Objects, SourceId};
use chancery_text::{Node, NodeId, Value};

/// Findings about single values.
const OF_VALUES: [&Code; 4] = [&codes::INVALID_VALUE, &codes::INVALID_NAME, &codes::WRONG_TYPE, &codes::PLACEHOLDER];

/// A value with a variable.
type ValuePlace = (ObjectId, NodeId);

/// Joins these findings into one for the whole input: at the first value that Kubernetes refuses, or at the first value.
pub(super) fn join(compilation: &mut Compilation) {
    let objects = &compilation.objects;
    let mut variables: BTreeSet<String> = BTreeSet::new();
    let mut refused: BTreeSet<ValuePlace> = BTreeSet::new();
    let mut others: BTreeSet<ValuePlace> = BTreeSet::new();
    // The first value: refused ones come before others.
    let mut first: Option<((bool, SourceId, u32), ValuePlace, String)> = None;
    for finding in compilation.all_diagnostics() {
        let Some((at, variable)) = value_with_variable(finding, objects) else { continue };
        let is_refused = finding.severity == Severity::Error;
        if is_refused { &mut refused } else { &mut others }.insert(at);
        variables.insert(variable.clone());
        let Some((object, range)) = objects.get(at.0).and_then(|object| Some((object, object.value_range(at.1)?))) else { continue };
        let order = (!is_refused, object.source.source, range.start);
        if first.as_ref().is_none_or(|(known, ..)| order < *known) {
            first = Some((order, at, variable));
        }
    }
    others.retain(|at| !refused.contains(at));
    let is_alone = refused.is_empty() && others.len() == 1;
    let Some((_, first, variable)) = first.filter(|_| !is_alone) else { return };
    let message = message(&variable, variables.len(), refused.len(), others.len());
    let mut is_reported = false;
    for found in compilation.sides.iter_mut().map(|side| &mut side.diagnostics).chain([&mut compilation.diagnostics]) {
        found.retain_mut(|finding| {
            let Some((at, _)) = value_with_variable(finding, objects) else { return true };
            if is_reported || at != first || !refused.is_empty() && finding.severity != Severity::Error {
                return false;
            }
            is_reported = true;
            finding.message.clone_from(&message);
            finding.help = Some(HELP.into());
            finding.fix = None;
            true
        });
    }
}

const HELP: &str =
    "render the input first: `flux build kustomization NAME --path FOLDER | chancery check -`, or `envsubst < FILE | chancery check -`";

fn message(variable: &str, variables: usize, refused: usize, others: usize) -> String {
    let what = match variables {
        1 => format!("the variable `{variable}` is not substituted"),
        _ => format!("variables such as `{variable}` are not substituted"),
    };
    let also = match others {
        0 => String::new(),
        1 => "; 1 other value contains a variable too".to_string(),
        _ => format!("; {others} other values contain variables too"),
    };
    match refused {
        0 => format!("{what}, here and in {} more", others - 1),
        1 => format!("{what}, so Kubernetes refuses this value{also}"),
        _ => format!("{what}, so Kubernetes refuses this value and {} more{also}", refused - 1),
    }
}

/// The place of a finding about a value with a variable, and the variable.
fn value_with_variable(finding: &Diagnostic, objects: &Objects) -> Option<(ValuePlace, String)> {
    OF_VALUES.contains(&finding.code).then_some(())?;
    let Place::Node { object, node, .. } = &finding.place else { return None };
    let object = objects.get(*object)?;
    let text = node_in(&object.root, *node)?.as_str()?;
    Some(((object.id, *node), variable(text)?))
}

/// The node with a number. Node numbers follow the text, except below aliases.
fn node_in(root: &Node, id: NodeId) -> Option<&Node> {
    let mut open = Vec::from([root]);
    while let Some(node) = open.pop() {
        if node.id == id {
            return Some(node);
        }
        match &node.value {
            Value::Object(object) => open.extend(object.iter().map(|entry| &entry.value)),
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    None
}

/// The first variable of a value, such as `${DOMAIN}`.
fn variable(text: &str) -> Option<String> {
    text.split("${").skip(1).find_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        let name = rest.get(..end).filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))?;
        rest.contains('}').then(|| format!("${{{name}}}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_with_and_without_default() {
        assert_eq!(variable("www.${DOMAIN}").as_deref(), Some("${DOMAIN}"));
        assert_eq!(variable("${EXT_AUTH_KIND:-HTTPRoute}").as_deref(), Some("${EXT_AUTH_KIND}"));
        assert_eq!([variable("${}"), variable("$DOMAIN"), variable("${DOMAIN"), variable("${1}")], [const { None }; 4]);
    }
}
