//! Finds the object that a field at the wrong level belongs to.

use super::path::{Path, Step};
use super::{Schema, Shape};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// Returns advice for a field that the object at `path` does not have, but that an object around it, one level below it or next to it has.
pub fn advise_move(root: &Schema, path: &Path<'_>, field: &str) -> Option<String> {
    let mut around: Vec<(&Schema, String)> = Vec::new();
    let mut schema = root;
    // The first step names the root itself.
    for (place, step) in path.steps().into_iter().skip(1) {
        around.push((schema, place));
        schema = below(schema, step)?;
    }
    let has = |schema: &Schema| schema.members().is_some_and(|members| members.position(field).is_some());
    let mut levels = 0;
    // The object itself, which holds `spec` and `metadata`, has no path.
    for (schema, place) in around.iter().filter(|(_, place)| !place.is_empty()).rev() {
        levels += usize::from(schema.members().is_some());
        if has(schema) {
            let how_far = if levels == 1 { "one level".to_string() } else { format!("{levels} levels") };
            return Some(format!("`{field}` is a field of `{place}`: move it {how_far} up"));
        }
    }
    let members = schema.members()?;
    let mut homes = members.fields.iter().filter_map(|child| match &child.schema.shape {
        Shape::Array { items, .. } if has(items) => Some(format!("an item of `{}`", child.name)),
        Shape::Object(_) if has(&child.schema) => Some(format!("`{}`", child.name)),
        _ => None,
    });
    if let Some(home) = homes.next() {
        return homes.next().is_none().then(|| format!("`{field}` is a field of {home}: move it one level down"));
    }
    around.iter().filter(|(_, place)| !place.is_empty()).rev().find_map(|(schema, place)| advise_sibling(schema, place, field))
}

/// Returns advice for a field that exactly one object of a surrounding object has.
fn advise_sibling(around: &Schema, place: &str, field: &str) -> Option<String> {
    let has = |schema: &Schema| schema.members().is_some_and(|members| members.position(field).is_some());
    let fields = around.members()?.fields.iter();
    let mut homes = fields.filter(|child| matches!(child.schema.shape, Shape::Object(_)) && has(&child.schema));
    let home = homes.next()?;
    homes.next().is_none().then(|| format!("`{field}` is a field of `{place}.{}`: move it there", home.name))
}

/// The schema of a key, entry or item.
fn below<'s>(schema: &'s Schema, step: Step<'_>) -> Option<&'s Schema> {
    match (&schema.shape, step) {
        (Shape::Object(members), Step::Key(key) | Step::Entry(key)) => members.schema_of(key),
        (Shape::Array { items, .. }, Step::Index(_)) => Some(items),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;
    use crate::schema::{STRING, array, field};

    const SERVICE: Schema = object![field("name", STRING, "")];
    const TLS: Schema = object![field("secretName", STRING, "")];
    const POLICY: Schema = object![field("strategy", STRING, "")];
    const ROUTE: Schema = object![field("services", array(&SERVICE), ""), field("conditions", STRING, ""), field("policy", POLICY, "")];
    const SPEC: Schema = object![field("routes", array(&ROUTE), ""), field("tls", TLS, "")];
    const ROOT: Schema = object![field("spec", SPEC, "")];

    fn advice(keys: &[&str], field: &str) -> Option<String> {
        fn walk(keys: &[&str], path: &Path<'_>, field: &str) -> Option<String> {
            match keys.split_first() {
                None => advise_move(&ROOT, path, field),
                Some((&"0", rest)) => walk(rest, &path.index(0), field),
                Some((key, rest)) => walk(rest, &path.key(key), field),
            }
        }
        walk(keys, &Path::root(""), field)
    }

    #[test]
    fn field_of_outer_object_moves_up() {
        let found = advice(&["spec", "routes", "0", "services", "0"], "conditions");
        assert_eq!(found.as_deref(), Some("`conditions` is a field of `spec.routes[0]`: move it one level up"));
    }

    #[test]
    fn field_of_inner_object_moves_down() {
        assert_eq!(advice(&["spec"], "secretName").as_deref(), Some("`secretName` is a field of `tls`: move it one level down"));
    }

    #[test]
    fn field_of_sibling_object_moves_there() {
        let found = advice(&["spec", "routes", "0", "services", "0"], "strategy");
        assert_eq!(found.as_deref(), Some("`strategy` is a field of `spec.routes[0].policy`: move it there"));
    }

    #[test]
    fn unknown_field_has_no_advice() {
        assert_eq!(advice(&["spec", "routes", "0"], "colour"), None);
    }
}
