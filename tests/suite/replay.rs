//! Runs the fuzzers' seeds, and random mutations of them, on stable Rust: no panic, no hang.

use chancery_tests::chance::Chance;
use chancery_tests::fuzz::TARGETS;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{env, fs};

/// Words that reach error-prone code.
const WORDS: &[&str] = &[
    "\n---\n",
    ": ",
    "- ",
    "&a ",
    "*a",
    "<<: *a\n",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "|\n",
    ">-\n",
    "\t",
    "#",
    "!!binary ",
    "null",
    "~",
    "-1",
    "1e999",
    "0x1F",
    "9223372036854775808",
    "true",
    "yes",
    "\u{feff}",
    "\u{0}",
    "\r\n",
    "é",
    "🦀",
    "apiVersion: getambassador.io/v3alpha1\n",
    "kind: Mapping\n",
    "metadata:\n  name: a\n",
    "spec:\n",
    "  prefix: /\n",
    "  service: a\n",
    "getambassador.io/config: |\n",
    "$",
    "${A}",
    "https://",
    ":8080",
    "*",
    "kind: List\nitems:\n",
];

/// Cuts, doubles, swaps and inserts parts of a seed.
fn mutate(seed: &[u8], other: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=chance.below(6) {
        let at = chance.below(bytes.len() + 1);
        let end = (at + chance.below(40)).min(bytes.len());
        match chance.below(8) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            2 if at < bytes.len() => bytes[at] = u8::try_from(chance.below(256)).unwrap_or(0),
            3 => {
                let from = chance.below(other.len() + 1);
                let to = (from + chance.below(200)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            4 => bytes.truncate(at),
            _ => drop(bytes.splice(at..at, chance.pick(WORDS).bytes())),
        }
    }
    bytes.truncate(20_000);
    bytes
}

#[test]
fn fuzz_seeds_and_mutations_cause_no_panic() {
    let seconds = env::var("CHANCERY_REPLAY_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(15);
    let rounds = env::var("CHANCERY_REPLAY_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2000_usize);
    let seed = env::var("CHANCERY_REPLAY_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    for (name, target) in TARGETS {
        let mut files: Vec<_> = fs::read_dir(corpus.join(name)).expect("seeds").flatten().map(|entry| entry.path()).collect();
        files.sort();
        let seeds: Vec<Vec<u8>> = files.iter().map(|path| fs::read(path).expect("a seed")).collect();
        seeds.iter().for_each(|bytes| target(bytes));
        let (start, mut chance, mut done) = (Instant::now(), Chance::new(seed), 0);
        while done < rounds && start.elapsed() < Duration::from_secs(seconds) {
            let (first, second) = (chance.below(seeds.len()), chance.below(seeds.len()));
            let bytes = mutate(&seeds[first], &seeds[second], &mut chance);
            let before = Instant::now();
            let dump = env::temp_dir().join(format!("chancery-{name}-{}", std::process::id()));
            let result = std::panic::catch_unwind(|| target(&bytes));
            if result.is_err() || before.elapsed() > Duration::from_secs(10) {
                fs::write(&dump, &bytes).expect("a file");
                panic!("{name}: the bytes in {} do harm", dump.display());
            }
            done += 1;
        }
        println!("{name}: {} seeds, {done} mutations", seeds.len());
    }
}
