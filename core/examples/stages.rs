//! Measures each stage: `stages FILE [RUNS]`. Prints the best of the runs, then the cost of one edited document.
//!
//! Does not measure reading the file and writing the answer.

use chancery_core::backend::envoy::{Options as EmitOptions, v3};
use chancery_core::compilation::Ledger;
use chancery_core::dialect::ambassador::{self, fetch, lower, model, model::Model};
use chancery_core::executor::Sequential;
use chancery_core::read::{self, DocumentCache};
use chancery_core::resource::Inputs;
use std::time::{Duration, Instant};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("usage: stages FILE [RUNS]");
    let runs: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(5);
    let text = std::fs::read_to_string(&file).expect("the file can be read");
    let inputs = Inputs::one(file.as_str(), text.as_str());
    let options = ambassador::Options::default();
    let mut best: Vec<(&str, Duration)> = Vec::new();
    let mut length = 0;
    for _ in 0..runs {
        let mut times: Vec<(&str, Duration)> = Vec::new();
        let mut clock = Instant::now();
        let mut lap = |name: &'static str| {
            times.push((name, clock.elapsed()));
            clock = Instant::now();
        };
        let mut cache = DocumentCache::new();
        let (objects, mut sink) = read::read(&inputs, &fetch::read_options(), &mut cache);
        lap("read");
        let mut ledger = Ledger::new(&objects);
        let config = fetch::fetch(&objects, &options, &mut ledger, &mut sink);
        lap("fetch");
        let mut model = Model::build(&config, None, &options, &mut Default::default(), &mut sink);
        lap("model");
        let groups = model.groups.take();
        let ir = lower::lower(&model, Some(groups), &Sequential, None, &mut sink);
        lap("lower");
        let mut emitted = v3::Emitted::new();
        let rope = v3::emit(&ir, &EmitOptions::default(), &mut emitted);
        lap("emit");
        length = rope.len();
        drop((rope, emitted, ir, model));
        drop((config, objects, cache));
        lap("drop");
        for (at, (name, time)) in times.into_iter().enumerate() {
            match best.get_mut(at) {
                Some((_, known)) => *known = time.min(*known),
                None => best.push((name, time)),
            }
        }
    }
    println!("from scratch, {length} bytes:");
    print(&best);
    again(&file, &text, &options, runs);
}

/// Measures each stage with remembered results, after one document has changed.
fn again(file: &str, text: &str, options: &ambassador::Options, runs: usize) {
    let Some(middle) = text[text.len() / 2..].find("service: ").map(|at| at + text.len() / 2 + "service: ".len()) else { return };
    let mut cache = DocumentCache::new();
    let (mut fetched, mut modelled, mut lowered) = (fetch::Memory::default(), model::Memory::default(), lower::Memory::default());
    let mut emitted = v3::Emitted::new();
    let mut best: Vec<(&str, Duration)> = Vec::new();
    for run in 0..=runs {
        let edited = format!("{}edited-{run}-{}", &text[..middle], &text[middle..]);
        let inputs = Inputs::one(file, edited.as_str());
        let mut times: Vec<(&str, Duration)> = Vec::new();
        let mut clock = Instant::now();
        let mut lap = |name: &'static str| {
            times.push((name, clock.elapsed()));
            clock = Instant::now();
        };
        let (objects, mut sink) = read::read(&inputs, &fetch::read_options(), &mut cache);
        lap("read");
        let mut ledger = Ledger::new(&objects);
        let config = fetch::fetch_again(&objects, options, &Sequential, &mut fetched, &mut ledger, &mut sink);
        lap("fetch");
        let model = Model::build(&config, None, options, &mut modelled, &mut sink);
        lap("model");
        let ir = lower::lower(&model, None, &Sequential, Some(&mut lowered), &mut sink);
        lap("lower");
        let rope = v3::emit(&ir, &EmitOptions::default(), &mut emitted);
        lap("emit");
        assert!(!rope.is_empty(), "there is an answer");
        modelled.keep(model);
        drop((rope, ir));
        drop((config, objects, ledger));
        lap("drop");
        for (at, (name, time)) in times.into_iter().enumerate().filter(|_| run > 0) {
            match best.get_mut(at) {
                Some((_, known)) => *known = time.min(*known),
                None => best.push((name, time)),
            }
        }
    }
    println!("after one edit:");
    print(&best);
}

fn print(best: &[(&str, Duration)]) {
    for (name, time) in best {
        println!("{name:>8} {:8.2} ms", time.as_secs_f64() * 1e3);
    }
    let total: Duration = best.iter().filter(|(name, _)| *name != "drop").map(|(_, time)| *time).sum();
    println!("{:>8} {:8.2} ms without drop", "total", total.as_secs_f64() * 1e3);
}
