//! Puts a value of the wrong type into every field of every kind in the table of kinds. Each must give an error at its line, and the rest must
//! compile.

use chancery_core::compilation::Options;
use chancery_core::dialect::ambassador::kinds::{ALL, AmbassadorKind, Version};
use chancery_core::dialect::contour;
use chancery_core::schema::{Others, Schema, Shape};
use chancery_tests::fixture::GATEWAY;
use chancery_tests::work::{Work, inputs, options};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// One step from an object to a value in it.
#[derive(Clone)]
enum Step {
    Field(String),
    Item,
}

/// A place in a kind, and the types that it accepts.
struct Spot {
    steps: Vec<Step>,
    fits: BTreeSet<&'static str>,
}

/// A value for each type, with its description.
const VALUES: [(&str, &str); 6] =
    [("boolean", "true"), ("integer", "7"), ("number", "1.5"), ("string", "\"\\u2603 no\""), ("array", "[]"), ("object", "{a: b}")];

fn fits(schema: &Schema, into: &mut BTreeSet<&'static str>) {
    match schema.shape {
        Shape::Any => into.extend(VALUES.map(|(name, _)| name)),
        Shape::Boolean | Shape::True => drop(into.insert("boolean")),
        Shape::Integer(_) => drop(into.insert("integer")),
        Shape::Number(_) => into.extend(["integer", "number"]),
        Shape::String(_) => drop(into.insert("string")),
        Shape::IntOrString(_) => into.extend(["integer", "string"]),
        Shape::Array { .. } => drop(into.insert("array")),
        Shape::Object(_) => drop(into.insert("object")),
        Shape::OneOf(of) | Shape::AnyOf(of) => of.iter().for_each(|schema| fits(schema, into)),
    }
}

fn spots(schema: &Schema, steps: &mut Vec<Step>, into: &mut Vec<Spot>) {
    if steps.len() > 8 {
        return;
    }
    within(schema, steps, into);
    if !steps.is_empty() {
        let mut types = BTreeSet::new();
        fits(schema, &mut types);
        into.push(Spot { steps: steps.clone(), fits: types });
    }
}

fn within(schema: &Schema, steps: &mut Vec<Step>, into: &mut Vec<Spot>) {
    let mut go = |step, schema: &Schema| {
        steps.push(step);
        spots(schema, steps, into);
        steps.pop();
    };
    match schema.shape {
        Shape::Array { items, .. } => go(Step::Item, items),
        Shape::Object(members) => {
            members.fields.iter().for_each(|field| go(Step::Field(field.name.into()), &field.schema));
            if let Others::Values(values) = members.others {
                go(Step::Field("some-name".into()), values);
            }
        }
        Shape::OneOf(of) | Shape::AnyOf(of) => of.iter().for_each(|schema| within(schema, steps, into)),
        _ => {}
    }
}

/// Builds an object with the value at the place. The value is on the last line.
fn document((kind, api_version): (&str, &str), name: &str, steps: &[Step], value: &str) -> String {
    let mut text = format!("---\napiVersion: {}\nkind: {}\nmetadata: {{name: {name}, namespace: default}}\nspec:", api_version, kind);
    let (mut indent, mut same_line) = (1, false);
    for step in steps {
        if !same_line {
            text.push('\n');
            text.push_str(&"  ".repeat(indent));
        }
        match step {
            Step::Field(name) => {
                let _ = write!(text, "{name}:");
                same_line = false;
            }
            Step::Item => {
                text.push_str("- ");
                same_line = true;
            }
        }
        indent += 1;
    }
    let _ = writeln!(text, "{}{value}", if same_line { "" } else { " " });
    text
}

/// The API server refuses the object at the line, by the schemas of Contour, Gateway API and Kubernetes.
#[test]
fn contour_wrong_type_is_reported_at_its_line() {
    let (mut silent, mut count) = (Vec::new(), 0);
    for kind in (contour::DIALECT.kinds)() {
        let mut all = Vec::new();
        spots(kind.spec, &mut Vec::new(), &mut all);
        let wrong = |spot: &Spot| VALUES.iter().filter(|(name, _)| !spot.fits.contains(name)).map(|(_, value)| *value).collect::<Vec<_>>();
        let documents: Vec<_> = all.iter().flat_map(|spot| wrong(spot).into_iter().map(move |value| (spot, value))).collect();
        count += documents.len();
        let (mut text, mut ends, mut line) = (String::new(), Vec::new(), 0);
        for (index, (spot, value)) in documents.iter().enumerate() {
            let document = document((kind.name, &kind.api_version), &format!("x{index}"), &spot.steps, value);
            line += document.lines().count();
            ends.push((line, document.clone()));
            text.push_str(&document);
        }
        let options = Options::of(&contour::DIALECT);
        let findings = Work::new(&inputs([("input.yaml", text.as_str())]), &options).findings();
        let told: BTreeSet<usize> = findings.iter().filter_map(|finding| finding.span.as_ref()).map(|span| span.line as usize).collect();
        silent.extend(ends.into_iter().filter(|(line, _)| !told.contains(line)).map(|(_, document)| document));
    }
    println!("{count} wrong values");
    assert!(silent.is_empty(), "{} of {count} wrong values are not reported:\n{}", silent.len(), silent.join("\n"));
}

const BESIDE: &str = "---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: beside, namespace: default}
spec: {hostname: '*', prefix: /beside/, service: beside}
";

#[test]
fn a_wrong_type_is_reported_at_its_line() {
    let (mut silent, mut count) = (Vec::new(), 0);
    for kind in ALL {
        for version in Version::ALL.into_iter().filter(|version| kind.versions.contains(version)) {
            let Some(schema) = kind.schema(version) else { continue };
            let mut all = Vec::new();
            spots(schema, &mut Vec::new(), &mut all);
            let mut documents = Vec::new();
            for spot in &all {
                for (name, value) in VALUES.iter().filter(|(name, _)| !spot.fits.contains(name)) {
                    // An integer field accepts a number that is whole.
                    if *name == "number" && spot.fits.contains("integer") && spot.fits.contains("string") {
                        continue;
                    }
                    documents.push((spot, *value));
                }
            }
            count += documents.len();
            // The Module is one object whose settings are read one by one, so each setting gets a separate input. Other kinds share one input.
            let groups: Vec<_> = if kind.name == "Module" { documents.chunks(1).collect() } else { documents.chunks(400).collect() };
            for group in groups {
                silent.extend(check(kind, version, group));
            }
        }
    }
    println!("{count} wrong values");
    assert!(silent.is_empty(), "{} of {count} wrong values are not reported:\n{}", silent.len(), silent.join("\n"));
}

fn check(kind: &AmbassadorKind, version: Version, group: &[(&Spot, &str)]) -> Vec<String> {
    let (mut text, mut ends, mut line) = (String::new(), Vec::new(), 0);
    for (index, (spot, value)) in group.iter().enumerate() {
        let name = if kind.name == "Module" { "ambassador".to_string() } else { format!("x{index}") };
        let document = document((kind.name, version.api_version()), &name, &spot.steps, value);
        line += document.lines().count();
        ends.push((line, document.clone()));
        text.push_str(&document);
    }
    let mut work = Work::new(
        &inputs([("input.yaml", text.as_str()), ("beside.yaml", BESIDE), ("gateway.yaml", GATEWAY)]),
        &options("missing-secrets=assume").unwrap_or_default(),
    );
    let told: BTreeSet<usize> = work
        .findings()
        .iter()
        .filter_map(|finding| finding.span.as_ref())
        .filter(|span| span.file == "input.yaml")
        .map(|span| span.line as usize)
        .collect();
    let envoy = work.envoy();
    let clusters = envoy["static_resources"]["clusters"].to_string();
    assert!(clusters.contains("\"cluster_beside_default\""), "the rest compiles beside {} {}", version.name(), kind.name);
    ends.into_iter().filter(|(line, _)| !told.contains(line)).map(|(_, document)| document).collect()
}
