//! Writes coverage in the formats of existing viewers: LCOV tracefiles and Cobertura XML. Does not count; see the parent module.

use super::{Coverage, CoveredPart, PartKind, Reached};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_text::markup::escaped;
use core::fmt::Write as _;

/// The parts of one file.
#[derive(Default)]
struct FileCoverage<'c> {
    /// The number of requests that reached each line.
    lines: BTreeMap<u32, u32>,
    /// The results of conditions, by line.
    branches: BTreeMap<u32, Vec<&'c CoveredPart>>,
}

impl FileCoverage<'_> {
    fn lines(&self) -> Reached {
        Reached { reached: self.lines.values().filter(|hits| **hits > 0).count(), total: self.lines.len() }
    }

    fn branches(&self) -> Reached {
        let all = self.branches.values().flatten();
        Reached { reached: all.clone().filter(|part| part.hits > 0).count(), total: all.count() }
    }
}

/// Groups parts by file. Parts that no request can reach are left out.
fn files(of: &Coverage) -> BTreeMap<String, FileCoverage<'_>> {
    let mut out: BTreeMap<String, FileCoverage<'_>> = BTreeMap::new();
    for part in of.sorted().into_iter().filter(|part| part.unreachable.is_none()) {
        if part.kind == PartKind::Condition {
            // A line counts as reached when its rule matches: conditions are branches.
            let Some(span) = &part.span else { continue };
            out.entry(span.file.to_string()).or_default().branches.entry(span.line).or_default().push(part);
        }
        if part.kind != PartKind::Condition || part.holds == Some(true) {
            for (file, line) in &part.lines {
                let hits = out.entry(file.clone()).or_default().lines.entry(*line).or_default();
                *hits = (*hits).max(part.hits);
            }
        }
    }
    out
}

fn sum(all: impl Iterator<Item = Reached>) -> Reached {
    all.fold(Reached::default(), |sum, of| Reached { reached: sum.reached + of.reached, total: sum.total + of.total })
}

/// Writes an LCOV tracefile. Conditions are branches: 0 holds, 1 does not hold.
#[must_use]
pub fn lcov(of: &Coverage) -> String {
    let mut out = String::new();
    for (name, file) in files(of) {
        let _ = writeln!(out, "TN:\nSF:{name}");
        for (line, parts) in &file.branches {
            for (at, part) in parts.iter().enumerate() {
                let taken = if part.hits > 0 { part.hits.to_string() } else { "-".into() };
                let _ = writeln!(out, "BRDA:{line},{},{},{taken}", at / 2, u32::from(part.holds == Some(false)));
            }
        }
        let branches = file.branches();
        let _ = writeln!(out, "BRF:{}\nBRH:{}", branches.total, branches.reached);
        for (line, hits) in &file.lines {
            let _ = writeln!(out, "DA:{line},{hits}");
        }
        let lines = file.lines();
        let _ = writeln!(out, "LF:{}\nLH:{}\nend_of_record", lines.total, lines.reached);
    }
    out
}

/// Writes a Cobertura report. It has no time stamp, so that equal coverage gives equal bytes.
#[must_use]
pub fn cobertura(of: &Coverage) -> String {
    let files = files(of);
    let (lines, branches) = (sum(files.values().map(FileCoverage::lines)), sum(files.values().map(FileCoverage::branches)));
    let rate = |of: Reached| format!("{:.4}", of.percent() / 100.0);
    let mut out = String::from("<?xml version=\"1.0\" ?>\n<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n");
    let _ = writeln!(
        out,
        "<coverage line-rate=\"{}\" branch-rate=\"{}\" lines-covered=\"{}\" lines-valid=\"{}\" branches-covered=\"{}\" branches-valid=\"{}\" \
         complexity=\"0\" version=\"1\" timestamp=\"0\">\n  <sources><source>.</source></sources>\n  <packages>\n    \
         <package name=\"gateway\" line-rate=\"{}\" branch-rate=\"{}\" complexity=\"0\">\n      <classes>",
        rate(lines),
        rate(branches),
        lines.reached,
        lines.total,
        branches.reached,
        branches.total,
        rate(lines),
        rate(branches),
    );
    for (name, file) in &files {
        let name = escaped(name);
        let _ = writeln!(
            out,
            "        <class name=\"{name}\" filename=\"{name}\" line-rate=\"{}\" branch-rate=\"{}\" complexity=\"0\">\n          <methods/>\n          <lines>",
            rate(file.lines()),
            rate(file.branches()),
        );
        for (line, hits) in &file.lines {
            let _ = match file.branches.get(line) {
                None => writeln!(out, "            <line number=\"{line}\" hits=\"{hits}\" branch=\"false\"/>"),
                Some(parts) => {
                    let of = Reached { reached: parts.iter().filter(|part| part.hits > 0).count(), total: parts.len() };
                    let words = format!("{:.0}% ({}/{})", of.percent(), of.reached, of.total);
                    writeln!(out, "            <line number=\"{line}\" hits=\"{hits}\" branch=\"true\" condition-coverage=\"{words}\"/>")
                }
            };
        }
        out.push_str("          </lines>\n        </class>\n");
    }
    out.push_str("      </classes>\n    </package>\n  </packages>\n</coverage>\n");
    out
}
