//! Checks that origins are complete. If an edit changes a scalar of an input, each changed value in the configuration of the gateway (Envoy or
//! Application Gateway) must name the scalar's line among its origins, and the line must list the value.
//!
//! The test always edits the examples. With `CHANCERY_PROVENANCE=N` and `CHANCERY_CORPUS`, it also makes N edits of inputs of each dialect in
//! the corpus (`cargo xtask test provenance`).
//!
//! Does not check the words of an origin; see `fixtures`.

use crate::{envoy as corpus, examples};
use chancery_core::compilation::{Compilation, GatewayRef, NamedGateway, Options};
use chancery_core::explain::{Explanation, View, Viewed, explain_line, explain_pointer};
use chancery_core::resource::SourceId;
use chancery_core::text::to_json;
use chancery_tests::chance::Chance;
use chancery_tests::work::{Work, inputs};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::env;

/// An edit that changes more values than this affects the whole configuration, like a name.
const MOST_CHANGES: usize = 12;

/// The result of comparing.
#[derive(Default)]
struct Tally {
    edits: usize,
    asked: usize,
    wrong: Vec<String>,
}

/// The keys whose values name an object or hold key material.
const NOT_EDITED: &[&str] =
    &["apiVersion", "kind", "namespace", "ambassador_id", "apiGroup", "group", "controllerName", "uid", "creationTimestamp", "generation"];

/// Returns another value of the same form, for numbers, durations, booleans and paths.
fn other(value: &str) -> Option<String> {
    if let Ok(number) = value.parse::<u64>() {
        return Some((number + 1).to_string());
    }
    let digits = value.len() - value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match (value.split_at(digits), value) {
        ((number, "ms" | "s" | "m"), _) if !number.is_empty() => Some(format!("{}{}", number.parse::<u64>().ok()? + 1, &value[digits..])),
        (_, "true") => Some("false".into()),
        (_, "false") => Some("true".into()),
        (_, path) if path.starts_with('/') => Some(format!("{}q/", path.trim_end_matches('/'))),
        _ => None,
    }
}

/// Returns the lines with a scalar below an object's first level, each with the edited line.
fn edits(text: &str) -> Vec<(usize, String)> {
    let edit = |(at, line): (usize, &str)| {
        let (key, written) = line.split_once(": ")?;
        let name = key.trim_start_matches([' ', '-']);
        if !key.starts_with(' ') || NOT_EDITED.contains(&name) || !name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_') {
            return None;
        }
        let value = written.trim();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'')).map(String::from).unwrap_or_default();
        let bare = value.strip_prefix(&quote)?.strip_suffix(&quote)?;
        let is_plain = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"./_-".contains(&byte));
        Some((at, format!("{key}: {quote}{}{quote}", other(bare).filter(|_| is_plain)?)))
    };
    text.lines().enumerate().filter_map(edit).collect()
}

/// Collects the scalars of a document by their pointers.
fn flat(value: &Value, pointer: &str, out: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| flat(value, &format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), out))
        }
        Value::Array(items) => items.iter().enumerate().for_each(|(at, value)| flat(value, &format!("{pointer}/{at}"), out)),
        scalar => drop(out.insert(pointer.to_string(), scalar.to_string())),
    }
}

/// Returns the only gateway of a compilation.
fn gateway(compilation: &Compilation) -> Option<NamedGateway<'_>> {
    let mut all = compilation.gateways().map(GatewayRef::named).chain(compilation.app_gateways().map(|of| of.named));
    all.next().filter(|_| all.next().is_none())
}

/// Returns the gateway's document.
fn document(work: &mut Work) -> Option<Viewed> {
    let Work { compilation, compiler, .. } = work;
    gateway(compilation)?;
    let envoy = compilation.gateways().next().map(|of| Viewed::new(of.ir, View::Envoy, compiler.emitted.of(of)));
    envoy.or_else(|| compilation.app_gateways().next().map(|of| Viewed::app_gateway(of.parts)))
}

fn scalars(text: &str, options: &Options) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    if let Some(viewed) = document(&mut Work::new(&inputs([("input.yaml", text)]), options)) {
        flat(&serde_json::from_str(&to_json(&viewed.root, false)).expect("JSON"), "", &mut out);
    }
    out
}

/// Whether the place holds a name. A name is generated from a whole element, not from a single field.
fn is_name(pointer: &str) -> bool {
    let last = pointer.rsplit('/').next().unwrap_or_default();
    matches!(last, "name" | "cluster" | "runtime_key") || ["alt_stat_name", "stat_prefix"].iter().any(|name| pointer.contains(name))
}

/// Whether an edit moved the route at a pointer in its list: the route there leads to another cluster.
fn has_moved(pointer: &str, before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> bool {
    let Some((start, rest)) = pointer.rsplit_once("/routes/") else { return false };
    let route = format!("{start}/routes/{}/", rest.split('/').next().unwrap_or_default());
    let of_route = before.range(route.clone()..).take_while(|(pointer, _)| pointer.starts_with(&route));
    of_route.filter(|(pointer, _)| pointer.ends_with("/cluster")).any(|(pointer, value)| after.get(pointer) != Some(value))
}

/// Returns the values that are new after an edit, without those that only moved.
fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let count = |of: &BTreeMap<String, String>| {
        of.values().fold(BTreeMap::<String, i64>::new(), |mut counts, value| {
            *counts.entry(value.clone()).or_default() += 1;
            counts
        })
    };
    let (old, new) = (count(before), count(after));
    let more = |of: &BTreeMap<String, i64>, than: &BTreeMap<String, i64>, value: &String| of.get(value).unwrap_or(&0) > than.get(value).unwrap_or(&0);
    let is_changed = |(pointer, value): &(&String, &String)| {
        let other = &after[*pointer];
        *value != other && more(&new, &old, other) && more(&old, &new, value) && !is_name(pointer) && !has_moved(pointer, before, after)
    };
    before.iter().filter(is_changed).map(|(pointer, _)| pointer.clone()).collect()
}

fn names(explanation: &Explanation, line: usize) -> bool {
    explanation.origins.iter().filter_map(|origin| origin.span.as_ref()).any(|span| span.line as usize == line)
}

/// Whether another resource generated the value at a place after an edit: the order changed, not the value.
fn is_of_another(before: &Explanation, pointer: &str, edited: &mut Work) -> bool {
    let Some(viewed) = document(edited) else { return false };
    let Some(gateway) = gateway(&edited.compilation) else { return false };
    let after = explain_pointer(gateway, &edited.compilation.positions(), &viewed, pointer);
    let makers = |of: &Explanation| of.origins.iter().filter_map(|origin| origin.resource.as_ref().map(ToString::to_string)).collect::<BTreeSet<_>>();
    makers(before).is_disjoint(&makers(&after))
}

fn try_one(name: &str, text: &str, options: &Options, times: usize, tally: &mut Tally) {
    let mut chance = Chance::new(23);
    let before = scalars(text, options);
    let mut edits = edits(text);
    chance.shuffle(&mut edits);
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in edits.into_iter().take(times * 3) {
        let mut all = lines.clone();
        all[at] = &line;
        let end = if text.ends_with('\n') { "\n" } else { "" };
        let after = scalars(&(all.join("\n") + end), options);
        if before.is_empty() || !before.keys().eq(after.keys()) {
            continue;
        }
        let changed = changed(&before, &after);
        if changed.is_empty() || changed.len() > MOST_CHANGES {
            continue;
        }
        tally.edits += 1;
        let mut edited = Work::new(&inputs([("input.yaml", all.join("\n").as_str())]), options);
        let mut work = Work::new(&inputs([("input.yaml", text)]), options);
        let viewed = document(&mut work).expect("a gateway");
        let compilation = &work.compilation;
        let positions = compilation.positions();
        let gateway = gateway(compilation).expect("a gateway");
        let documents = [(gateway, viewed)];
        let report = explain_line(compilation, &positions, &documents, SourceId(0), at as u32 + 1, None);
        for pointer in changed {
            let explained = explain_pointer(gateway, &positions, &documents[0].1, &pointer);
            if is_of_another(&explained, &pointer, &mut edited) {
                continue;
            }
            tally.asked += 1;
            let forward = names(&explained, at + 1);
            let made = report.iter().flat_map(|report| &report.made);
            let back = made.into_iter().any(|made| pointer == made.pointer || pointer.starts_with(&format!("{}/", made.pointer)));
            if !forward || !back {
                let how = if forward { "the line does not name it" } else { "it does not name the line" };
                tally.wrong.push(format!("{name}:{}: {}: {pointer}: {how}", at + 1, lines[at].trim()));
            }
        }
    }
}

fn settle(what: &str, tally: &Tally) {
    let Tally { edits, asked, wrong } = tally;
    println!("{what}: {edits} edits, {asked} changed values, {} without their origin", wrong.len());
    assert!(
        wrong.is_empty(),
        "{} of {asked} changed values and the lines that changed them do not name each other:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn text_of(inputs: &chancery_core::resource::Inputs) -> String {
    inputs.inputs.iter().map(|input| input.text.as_ref().to_string()).collect::<Vec<_>>().join("\n---\n")
}

#[test]
fn changed_value_in_examples_names_edited_line() {
    let mut tally = Tally::default();
    for example in examples::examples() {
        try_one(&example.name, &text_of(&example.inputs), &example.options, 6, &mut tally);
    }
    assert!(tally.asked > 40, "the test tests something: {} edits, {} values", tally.edits, tally.asked);
    settle("examples", &tally);
}

#[test]
fn changed_value_in_corpus_names_edited_line() {
    let Some(most) = env::var("CHANCERY_PROVENANCE").ok().and_then(|text| text.parse::<usize>().ok()) else { return };
    for (dialect, mut cases) in corpus::all_cases() {
        Chance::new(15).shuffle(&mut cases);
        let mut tally = Tally::default();
        for (name, inputs, options) in cases {
            if tally.edits >= most {
                break;
            }
            try_one(&name, &text_of(&inputs), &options, 2, &mut tally);
        }
        settle(&dialect, &tally);
    }
}

/// Addresses and ports of endpoints are in separate lists, which the controller joins.
const ENDPOINTS: &str = "\
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: web}
spec:
  virtualhost: {fqdn: www.example.com}
  routes: [{services: [{name: web, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  ports: [{name: http, port: 80, targetPort: 8080}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: web-1
  labels: {kubernetes.io/service-name: web}
addressType: IPv4
endpoints:
- addresses: [10.0.0.1]
- addresses: [10.0.0.2]
ports:
- name: http
  port: 8080
";

#[test]
fn the_port_of_an_endpoint_names_its_line() {
    let mut tally = Tally::default();
    try_one("endpoints", ENDPOINTS, &Options::default(), 20, &mut tally);
    assert!(tally.asked >= 2, "two endpoints have the port: {} values", tally.asked);
    settle("endpoints", &tally);
}
