//! Measures how the cost of commands grows with inputs that are large in one dimension. Does not generate them; see
//! `chancery_tests::generate::worst`.

use super::{best_of, run, shown, size};
use chancery_tests::generate::worst::ALL;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The number of runs per figure: there are many figures, and a growth is visible in two runs.
const RUNS: usize = 2;

/// The measured commands with their arguments before the input.
const COMMANDS: [(&str, &[&str]); 4] =
    [("compile", &["compile"]), ("check", &["check", "--quiet"]), ("ledger", &["ledger"]), ("graph", &["graph", "--format", "json"])];

/// Returns a table of all worst cases: times at a quarter, a half, and the whole size.
pub fn measure(program: &Path, folder: &Path) -> String {
    let mut out = String::from("| worst case |");
    COMMANDS.iter().for_each(|(name, _)| out.push_str(&format!(" `{name}` at \u{bc}, \u{bd}, 1 | growth |")));
    let _ = writeln!(out, " memory of `check` |\n|---{}|--:|", "|--:|--:".repeat(COMMANDS.len()));
    for case in ALL {
        let mut memory = 0;
        let mut times: [Vec<Duration>; COMMANDS.len()] = Default::default();
        for count in [case.most / 4, case.most / 2, case.most] {
            let input = folder.join("worst.yaml");
            fs::write(&input, (case.generate)(count)).expect("the input");
            for ((name, args), times) in COMMANDS.iter().zip(&mut times) {
                let measured = best_of(RUNS, || run(Command::new(program).args(*args).arg(&input)));
                times.push(measured.wall);
                if *name == "check" {
                    memory = measured.memory;
                }
            }
        }
        let shown = |all: &Vec<Duration>| format!(" {} | {} |", all.iter().map(|time| shown(*time)).collect::<Vec<_>>().join(", "), growth(all));
        let _ = writeln!(out, "| {} |{} {} |", case.name, times.iter().map(shown).collect::<String>(), size(memory));
    }
    out
}

/// The exponent of the growth from the half to the whole size: 1 means linear. A program that ends at once measures only its start.
fn growth(times: &[Duration]) -> String {
    match times {
        [_, half, whole] if *whole > Duration::from_millis(50) => format!("n^{:.1}", (whole.as_secs_f64() / half.as_secs_f64()).log2()),
        _ => "\u{2013}".into(),
    }
}
