//! Merges a policy into the policy of a wider scope. Does not choose the policies; see `attach`.

use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_text::Str;

/// Lists whose items are merged by a field, by their own names.
pub(super) type Keys = &'static [(&'static str, &'static str)];

/// Lays `own` over `base`: objects field by field. Lists replace each other. In lists with keys, items with equal keys are merged.
pub(super) fn merge(base: &Tree, own: &Tree, keys: Keys) -> Tree {
    let (Plain::Object(_), Plain::Object(fields)) = (&base.value, &own.value) else { return own.clone() };
    let mut out = base.clone();
    for (name, value) in &fields.0 {
        let merged = match (base.find(name), keys.iter().find(|(list, _)| name == list)) {
            (Some(before), Some((_, key))) => list(before, value, key, keys),
            (Some(before), None) => merge(before, value, keys),
            (None, _) => value.clone(),
        };
        out.set(name, merged);
    }
    out
}

/// Merges two lists, ordered as Kubernetes orders them: items that only `base` has keep their places before items that both have.
fn list(base: &Tree, own: &Tree, key: &str, keys: Keys) -> Tree {
    let id = |item: &Tree| -> Str { item.get(key).str() };
    let place = |of: &Tree| base.items().iter().position(|item| id(item) == id(of));
    let written: Vec<Tree> =
        own.items().iter().map(|item| place(item).map_or_else(|| item.clone(), |at| merge(&base.items()[at], item, keys))).collect();
    let mut right = written.into_iter().peekable();
    let mut items: Vec<Tree> = Vec::new();
    for left in base.items().iter().filter(|item| !own.items().iter().any(|other| id(other) == id(item))) {
        while let Some(next) = right.next_if(|next| place(next).is_none_or(|at| place(left).is_some_and(|here| here > at))) {
            items.push(next);
        }
        items.push(left.clone());
    }
    items.extend(right);
    Tree { value: Plain::List(items.into()), origin: own.origin }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(kind: &str, size: Option<i64>) -> Tree {
        Tree::object([("type", Tree::from(kind)), ("size", Tree::from(size))])
    }

    #[test]
    fn merge_joins_items_with_equal_keys() {
        let base = Tree::object([("list", Tree::from(Vec::from([item("a", Some(1)), item("b", Some(2))]))), ("kept", Tree::from("yes"))]);
        let own = Tree::object([("list", Tree::from(Vec::from([item("b", None), item("c", Some(3))])))]);
        let merged = merge(&base, &own, &[("list", "type")]);
        assert_eq!(merged.json(), r#"{"list":[{"type":"a","size":1},{"type":"b","size":2},{"type":"c","size":3}],"kept":"yes"}"#);
        let replaced = merge(&base, &own, &[]);
        assert_eq!(replaced.get("list"), own.get("list"), "without a key, the list is replaced");
    }
}
