//! Measures how fast both readers convert ten thousand typical documents to trees, and how fast trees are written as text.

use chancery_core::text::{Limits, Node, parse, parse_fully, split, to_json, to_yaml};
use divan::{Bencher, counter::BytesCount};

fn main() {
    divan::main();
}

/// Returns ten thousand different documents.
fn mappings() -> String {
    let document = |number: usize| {
        format!(
            "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m-{number:05}, namespace: default}}\nspec:\n  \
             hostname: host{:02}.example.com\n  prefix: /exact/{number}\n  headers:\n    x-tenant: t{}\n  service: svc-{number}\n  \
             timeout_ms: 3000\n",
            number % 40,
            number % 7,
        )
    };
    (0..10_000).map(document).collect()
}

fn trees(text: &str) -> Vec<Node> {
    let limits = Limits::default();
    split(text).iter().filter_map(|chunk| parse(chunk.range.slice(text), &limits).root).collect()
}

#[divan::bench]
fn split_only(bencher: Bencher) {
    let text = mappings();
    bencher.counter(BytesCount::of_str(&text)).bench(|| split(&text));
}

#[divan::bench]
fn split_and_parse(bencher: Bencher) {
    let text = mappings();
    let limits = Limits::default();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let chunks = split(&text);
        chunks.iter().map(|chunk| parse(chunk.range.slice(&text), &limits)).collect::<Vec<_>>()
    });
}

#[divan::bench]
fn split_and_parse_fully(bencher: Bencher) {
    let text = mappings();
    let limits = Limits::default();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let chunks = split(&text);
        chunks.iter().map(|chunk| parse_fully(chunk.range.slice(&text), &limits)).collect::<Vec<_>>()
    });
}

#[divan::bench]
fn parse_json(bencher: Bencher) {
    let text: String = trees(&mappings()).iter().map(|tree| to_json(tree, true) + "\n").collect();
    let limits = Limits::default();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let chunks = split(&text);
        chunks.iter().map(|chunk| parse(chunk.range.slice(&text), &limits)).collect::<Vec<_>>()
    });
}

#[divan::bench]
fn write_yaml(bencher: Bencher) {
    let trees = trees(&mappings());
    bencher.bench(|| trees.iter().map(to_yaml).collect::<Vec<_>>());
}

#[divan::bench]
fn write_json(bencher: Bencher) {
    let trees = trees(&mappings());
    bencher.bench(|| trees.iter().map(|tree| to_json(tree, false)).collect::<Vec<_>>());
}
