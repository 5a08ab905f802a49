//! Measures the time from text to the loaded configuration of Ambassador: from scratch, and after one edit.
//!
//! `CHANCERY_BENCH` may name a file to use instead of the generated one.

use chancery_core::compilation::Ledger;
use chancery_core::diagnostic::Findings;
use chancery_core::dialect::ambassador::{Options, fetch};
use chancery_core::executor::Sequential;
use chancery_core::read::{DocumentCache, read};
use chancery_core::resource::Inputs;
use divan::Bencher;
use std::fmt::Write;

fn main() {
    divan::main();
}

/// Returns the text of many Mappings.
fn text() -> String {
    if let Some(text) = std::env::var("CHANCERY_BENCH").ok().and_then(|path| std::fs::read_to_string(path).ok()) {
        return text;
    }
    let mut text = String::new();
    for at in 0..10_000 {
        let _ = write!(
            text,
            "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata:\n  name: m-{at:05}\n  namespace: team-{}\nspec:\n  \
             hostname: host{}.example.com\n  prefix: /api/{at}/\n  service: svc-{at}:8080\n  timeout_ms: 4000\n",
            at % 20,
            at % 10
        );
    }
    text
}

fn inputs(text: String) -> Inputs {
    Inputs::one("bench.yaml", text)
}

/// Returns the text, and the text with one changed field in the middle.
fn pair() -> [Inputs; 2] {
    let text = text();
    let middle = text[..text.len() / 2].rfind("service: ").unwrap_or(0);
    let mut edited = text.clone();
    edited.insert(middle + "service: ".len(), 'x');
    [inputs(text), inputs(edited)]
}

#[divan::bench]
fn read_from_scratch(bencher: Bencher<'_, '_>) {
    let [inputs, _] = pair();
    bencher.bench_local(|| read(&inputs, &fetch::read_options(), &mut DocumentCache::new()));
}

#[divan::bench]
fn read_after_one_edit(bencher: Bencher<'_, '_>) {
    let pair = pair();
    let mut cache = DocumentCache::new();
    let mut turn = 0;
    bencher.bench_local(|| {
        turn += 1;
        read(&pair[turn % 2], &fetch::read_options(), &mut cache)
    });
}

#[divan::bench]
fn fetch_from_scratch(bencher: Bencher<'_, '_>) {
    let [inputs, _] = pair();
    let (objects, _) = read(&inputs, &fetch::read_options(), &mut DocumentCache::new());
    bencher.bench_local(|| fetch::fetch(&objects, &Options::default(), &mut Ledger::new(&objects), &mut Findings::default()));
}

#[divan::bench]
fn fetch_after_one_edit(bencher: Bencher<'_, '_>) {
    let mut cache = DocumentCache::new();
    let both = pair().map(|inputs| read(&inputs, &fetch::read_options(), &mut cache).0);
    let mut memory = fetch::Memory::default();
    let options = Options::default();
    let mut turn = 0;
    bencher.bench_local(|| {
        turn += 1;
        let objects = &both[turn % 2];
        fetch::fetch_again(objects, &options, &Sequential, &mut memory, &mut Ledger::new(objects), &mut Findings::default())
    });
}
