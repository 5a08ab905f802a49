//! Defines the fuzz targets: functions that must return without a panic for all bytes.
//!
//! `fuzz/` calls them with libFuzzer's bytes; the suite calls them with the seeds and random mutations of them. Does not generate bytes; see
//! `suite/replay.rs`.

use crate::work::{Work, inputs, options};
use chancery_core::backend::envoy::Document;
use chancery_core::read::{DocumentCache, read};
use chancery_core::text::{Limits, LineIndex, parse, split, to_json, to_yaml};

/// A target's name and function.
pub type Target = (&'static str, fn(&[u8]));

pub const TARGETS: [Target; 3] = [("text", text), ("decode", decode), ("compile", compile)];

/// Splits, reads and writes YAML. A written tree must read back unchanged.
pub fn text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines = LineIndex::new(&text);
    for chunk in split(&text) {
        let range = chunk.range;
        lines.position(&text, range.start);
        let document = parse(range.slice(&text), &Limits::default());
        for problem in &document.problems {
            assert!(problem.range.end as usize <= range.slice(&text).len(), "a problem outside of its document");
        }
        if let Some(root) = document.root.filter(|_| document.problems.is_empty()) {
            let json = to_json(&root, false);
            let again = parse(&json, &Limits::default()).root;
            assert_eq!(again.as_ref().map(|node| to_json(node, false)), Some(json), "JSON reads as it was written");
            let yaml = to_yaml(&root);
            assert_eq!(
                parse(&yaml, &Limits::default()).root.map(|node| to_json(&node, false)),
                Some(to_json(&root, false)),
                "YAML reads as it was written"
            );
        }
    }
}

/// Reads objects and validates them like the API server.
pub fn decode(bytes: &[u8]) {
    use chancery_core::compilation::Ledger;
    use chancery_core::dialect::ambassador::{Options, fetch};

    let text = String::from_utf8_lossy(bytes);
    let inputs = inputs([("input.yaml", &*text)]);
    let (objects, mut findings) = read(&inputs, &fetch::read_options(), &mut DocumentCache::new());
    let mut ledger = Ledger::new(&objects);
    fetch::fetch(&objects, &Options::default(), &mut ledger, &mut findings);
    assert_eq!(ledger.undecided().count(), 0, "every object is accounted for");
}

/// Compiles and emits. Both documents must be JSON, and every finding must have a valid place.
pub fn compile(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let options = options("missing-secrets=assume").unwrap_or_default();
    let mut work = Work::new(&inputs([("input.yaml", &*text)]), &options);
    work.envoy();
    let resources = work.text(Document::Resources);
    assert!(serde_json::from_str::<serde_json::Value>(&resources).is_ok(), "the resources are JSON");
    work.findings();
    work.ledger();
}
