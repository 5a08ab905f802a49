//! A compiler with memories gives what one without gives, whatever was edited.

use chancery_core::backend::envoy::Document;
use chancery_core::compile::{Compiler, Options};
use chancery_tests::chance::Chance;
use chancery_tests::generate::{documents, proxies};
use chancery_tests::work::{Work, emit, inputs};

/// Edits a text as people do, well or badly.
fn edit(documents: &mut Vec<String>, chance: &mut Chance) {
    let at = chance.below(documents.len());
    let Some(document) = documents.get_mut(at) else { return };
    match chance.below(11) {
        0 => *document = document.replacen("service: ", "service: other-", 1),
        1 => *document = document.replacen("prefix: /", "prefix: /edited/", 1),
        2 => document.push_str("  timeout_ms: 1234\n"),
        3 => document.push_str("# a comment\n"),
        4 => document.push_str("  no_such_field: true\n"),
        5 => document.push_str("  weight: 30\n"),
        6 => *document = document.replacen("spec:", "spec: [", 1),
        7 => *document = document.replacen("name: item-", "name: item-1", 1),
        8 => {
            documents.remove(at);
        }
        9 => {
            let copy = document.replacen("namespace: default", "namespace: other", 1);
            documents.push(copy);
        }
        _ => {
            let other = chance.below(documents.len());
            documents.swap(at, other);
        }
    }
}

#[test]
fn memories_change_nothing() {
    memories_change_nothing_of(documents);
}

#[test]
fn memories_change_nothing_of_contour() {
    memories_change_nothing_of(proxies);
}

fn memories_change_nothing_of(documents: fn(usize, u64) -> Vec<String>) {
    for seed in 0..8 {
        let mut chance = Chance::new(seed);
        let mut documents = documents(25, seed);
        let mut compiler = Compiler::new();
        let options = Options::default();
        for step in 0..25 {
            if step > 0 {
                (0..=chance.below(3)).for_each(|_| edit(&mut documents, &mut chance));
            }
            // Two files: what is edited in one must not disturb what is remembered of the other.
            let half = documents.len() / 2;
            let (first, second) = (documents[..half].concat(), documents[half..].concat());
            let inputs = inputs([("first.yaml", first.as_str()), ("second.yaml", second.as_str())]);
            let compilation = compiler.compile(&inputs, &options);
            let mut fresh = Work::new(&inputs, &options);
            let told = format!("seed {seed}, step {step}");
            for document in [Document::Bootstrap, Document::Resources] {
                assert!(emit(&compilation, document, &mut compiler).text() == fresh.text(document), "{document:?} of {told}");
            }
            // Numbers of objects may differ, what people see may not.
            let remembered = Work { compiler: Compiler::new(), compilation };
            assert_eq!(remembered.findings(), fresh.findings(), "{told}");
            let ledger = |work: &Work| work.ledger().iter().map(|row| serde_json::to_string(row).expect("JSON")).collect::<Vec<_>>();
            assert_eq!(ledger(&remembered), ledger(&fresh), "{told}");
        }
    }
}
