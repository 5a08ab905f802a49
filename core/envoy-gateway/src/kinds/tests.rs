//! The table of kinds, and the rules of their schemas.

use super::{ALL, Kind};
use chancery_base::schema::{Others, Schema, Shape, is_pattern, is_rule};

fn visit(schema: &'static Schema, see: &mut dyn FnMut(&'static Schema)) {
    see(schema);
    match &schema.shape {
        Shape::Array { items, .. } => visit(items, see),
        Shape::Object(members) => {
            members.fields.iter().for_each(|field| visit(&field.schema, see));
            if let Others::Values(values) = members.others {
                visit(values, see);
            }
        }
        _ => {}
    }
}

#[test]
fn kinds_stand_at_their_places() {
    assert!(ALL.iter().all(|(kind, definition)| Kind::definition(*kind).name == definition.name));
}

#[test]
fn schemas_hold_only_readable_rules() {
    let mut rules = 0;
    for version in ALL.iter().flat_map(|(_, definition)| definition.versions) {
        visit(version.schema, &mut |schema| {
            for rule in schema.rules {
                rules += 1;
                assert!(is_rule(rule.expression), "{}", rule.expression);
            }
            if let Shape::String(strings) = &schema.shape {
                assert!(strings.pattern.is_none_or(is_pattern), "{:?}", strings.pattern);
            }
        });
    }
    assert!(rules > 400, "{rules} rules");
}
