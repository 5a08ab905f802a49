//! Every field that takes some words only: another word is never taken in silence.

use crate::check::check;
use crate::compilation::{Options, for_people};
use crate::compile::{EmittedByGateway, compile};
use crate::diagnostic::{Policy, Severity};
use crate::dialect;
use crate::executor::Sequential;
use crate::resource::Inputs;
use crate::schema::{Others, Schema, Shape};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const NO_WORD: &str = "no-such-word";

/// Values of a schema, as JSON, in each of which one word is wrong.
fn wrong(schema: &Schema, out: &mut Vec<String>) {
    let mut within = |inner: &Schema, around: &dyn Fn(String) -> String| {
        let mut all = Vec::new();
        wrong(inner, &mut all);
        out.extend(all.into_iter().map(around));
    };
    match &schema.shape {
        Shape::String(strings) if !strings.among.is_empty() => out.push(format!("\"{NO_WORD}\"")),
        Shape::Array { items, .. } => within(items, &|item| format!("[{item}]")),
        Shape::Object(members) => {
            for field in members.fields {
                within(&field.schema, &|value| format!("{{\"{}\": {value}}}", field.name));
            }
            if let Others::Values(values) = members.others {
                within(values, &|value| format!("{{\"any\": {value}}}"));
            }
        }
        Shape::OneOf(all) | Shape::AnyOf(all) => all.iter().for_each(|one| within(one, &|value| value)),
        _ => {}
    }
}

#[test]
fn a_word_that_a_field_does_not_take_is_always_said() {
    let mut silent = Vec::new();
    let mut count = 0;
    for dialect in dialect::ALL {
        for kind in (dialect.kinds)() {
            let mut specs = Vec::new();
            wrong(kind.spec, &mut specs);
            for spec in specs {
                count += 1;
                let object = format!(
                    "{{\"apiVersion\": \"{}\", \"kind\": \"{}\", \"metadata\": {{\"name\": \"a\"}}, \"spec\": {spec}}}",
                    kind.api_version, kind.name
                );
                let mut compilation = compile(&Inputs::one("a.json", object.as_str()), &for_people(Options::of(dialect)), &[dialect]);
                check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
                let is_said = |finding: &crate::diagnostic::Diagnostic| finding.severity != Severity::Notice && finding.message.contains(NO_WORD);
                if !compilation.all_diagnostics().any(is_said) {
                    silent.push(format!("{}: {object}", dialect.name));
                }
            }
        }
    }
    assert!(count > 100, "{count}");
    assert_eq!(silent, Vec::<String>::new(), "{}", silent.len());
}
