//! Measures how the cost of `compile` and `check` grows with inputs that are large in one dimension. Does not generate them; see
//! `chancery_tests::generate::worst`.

use super::{best, run, shown, size};
use chancery_tests::generate::worst::ALL;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Returns a table of all worst cases: times at a quarter, a half, and the whole size.
pub fn measure(program: &Path, folder: &Path) -> String {
    let mut out = String::from(
        "\n| worst case | `compile` at \u{bc}, \u{bd}, 1 | growth | `check` at \u{bc}, \u{bd}, 1 | growth | memory of `check` |\n|---|--:|--:|--:|--:|--:|\n",
    );
    for case in ALL {
        let (mut compiled, mut checked, mut memory) = (Vec::new(), Vec::new(), 0);
        for count in [case.most / 4, case.most / 2, case.most] {
            let input = folder.join("worst.yaml");
            fs::write(&input, (case.generate)(count)).expect("the input");
            compiled.push(best(|| run(Command::new(program).arg("compile").arg(&input))).wall);
            let check = best(|| run(Command::new(program).args(["check", "--quiet"]).arg(&input)));
            checked.push(check.wall);
            memory = check.memory;
        }
        let times = |all: &[Duration]| all.iter().map(|time| shown(*time)).collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            case.name,
            times(&compiled),
            growth(&compiled),
            times(&checked),
            growth(&checked),
            size(memory)
        );
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
