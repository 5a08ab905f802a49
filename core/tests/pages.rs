//! Runs the page of every code: its example produces the code, and its fixed example does not.
//!
//! A page has a title and the sections `## What it means`, `## Example` with one `yaml` block, and `## How to fix it`. Every `yaml` block is a complete input.
//! Words after `yaml` are options: `dialect=contour`, `--FLAG=VALUE` for a flag of its controller, `missing-secrets=assume`, `single-namespace`, `ambassador-id=NAME`, `at=DATE` for the time, and `NAME=VALUE` for a variable of
//! the controller's environment. A page names another code by a link to its file.

use chancery_core::check::check as check_whole;
use chancery_core::compilation::{Compilation, Options};
use chancery_core::compile::{EmittedByGateway, compile};
use chancery_core::diagnostic::{Code, Diagnostic, Part, Place, Severity, codes, time};
use chancery_core::dialect;
use chancery_core::executor::Sequential;
use chancery_core::resource::Inputs;
use chancery_core::text::TextRange;
use std::collections::BTreeSet;
use std::path::Path;

/// A `yaml` block and the heading above it.
struct Block<'p> {
    heading: &'p str,
    info: &'p str,
    text: String,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut heading = "";
    let mut open: Option<Block<'_>> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, Some(info)) => open = Some(Block { heading, info, text: String::new() }),
            (None, None) => heading = line.strip_prefix("## ").unwrap_or(heading),
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

fn options(words: &str) -> Options {
    let mut options = Options::default();
    for word in words.split_whitespace() {
        let set = match word.split_once('=') {
            _ if word.starts_with("--") => options.set("controller-arg", word, dialect::ALL),
            Some(("dialect", name)) => options.choose(name, dialect::ALL),
            Some(("at", date)) => {
                options.findings.at = time::parse(date);
                Ok(())
            }
            Some((name, _)) if name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') => options.set("env", word, dialect::ALL),
            Some((name, value)) => options.set(name, value, dialect::ALL),
            None => options.set(word, "true", dialect::ALL),
        };
        set.unwrap_or_else(|error| panic!("{error}"));
    }
    options
}

fn run(text: &str, info: &str) -> Compilation {
    let inputs = Inputs::one("example.yaml", text);
    let options = options(info.strip_prefix("yaml").unwrap_or_default());
    let mut compilation = compile(&inputs, &options, dialect::ALL);
    check_whole(&mut compilation, &options.findings, &mut EmittedByGateway::default(), &Sequential);
    compilation
}

fn of<'c>(compilation: &'c Compilation, code: &Code) -> Vec<&'c Diagnostic> {
    compilation.all_diagnostics().filter(|finding| finding.code == code).collect()
}

/// Returns the range of a place, or `None` if the place is the whole input.
fn range(compilation: &Compilation, place: &Place) -> Option<TextRange> {
    match place {
        Place::Whole => None,
        Place::Text(_, range) => Some(*range),
        Place::Node { object, node, part } => {
            let object = compilation.objects.get(*object).expect("an object of the input");
            let range = if *part == Part::Key { object.key_range(*node) } else { object.value_range(*node) };
            Some(range.expect("a node of the object"))
        }
    }
}

/// Applies all fixes of these findings, or returns `None` without fixes.
fn fixed(compilation: &Compilation, findings: &[&Diagnostic], text: &str) -> Option<String> {
    let mut changes: Vec<(TextRange, &str)> = findings
        .iter()
        .filter_map(|finding| finding.fix.as_ref())
        .flat_map(|fix| &fix.edits)
        .map(|edit| (range(compilation, &edit.place).expect("a fix has a place"), edit.replacement.as_str()))
        .collect();
    changes.sort_by_key(|(range, _)| range.start);
    changes.dedup();
    let mut fixed = text.to_owned();
    for (range, replacement) in changes.iter().rev() {
        fixed.replace_range(range.start as usize..range.end as usize, replacement);
    }
    (!changes.is_empty()).then_some(fixed)
}

macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err(format!($($message)+));
        }
    };
}

fn check(code: &'static Code, page: &str) -> Result<(), String> {
    ensure!(page.lines().next() == Some(&*format!("# {}", code.name)), "the title is not the code");
    ensure!(page.lines().count() >= 12, "a stub");
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    ensure!(headings == ["What it means", "Example", "How to fix it"], "the sections are {headings:?}");
    let before = page.split("## Example").next().unwrap_or_default();
    let paragraphs = before.split("\n\n").filter(|part| !part.trim().is_empty()).count();
    ensure!(paragraphs >= 4, "the page must explain the code and the controller's behaviour");

    let blocks = blocks(page);
    let Some(first) = blocks.first() else { return Err("no example".to_owned()) };
    ensure!(first.heading == "Example" && first.info.starts_with("yaml"), "the first block must be the example");
    ensure!(blocks.iter().filter(|block| block.heading == "Example").count() == 1, "more than one example");

    let compilation = run(&first.text, first.info);
    let findings = of(&compilation, code);
    let others: BTreeSet<&str> = compilation.all_diagnostics().map(|finding| finding.code.name).collect();
    ensure!(!findings.is_empty(), "the example does not produce it, but {others:?}");
    for finding in &findings {
        let places = finding.related.iter().map(|related| &related.place).chain([&finding.place]);
        for range in places.filter_map(|place| range(&compilation, place)) {
            let inside = range.start <= range.end && first.text.get(range.start as usize..range.end as usize).is_some();
            ensure!(inside, "{range:?} is outside of the example");
        }
    }
    if let Some(text) = fixed(&compilation, &findings, &first.text) {
        ensure!(of(&run(&text, first.info), code).is_empty(), "the suggested fix does not remove the finding:\n{text}");
    }
    for fixed in blocks.iter().filter(|block| block.heading == "How to fix it" && block.info.starts_with("yaml")) {
        let compilation = run(&fixed.text, fixed.info);
        let left = compilation.all_diagnostics().filter(|left| left.code == code || left.severity == Severity::Error);
        let left: Vec<_> = left.map(|left| (left.code.name, &left.message)).collect();
        ensure!(left.is_empty(), "the fixed example has {left:?}");
    }
    Ok(())
}

/// Reads the page from disk, so a changed page needs no build.
fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("base/src/diagnostic/pages").join(name).with_extension("md");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_page_produces_its_code() {
    let check = |code: &&'static Code| check(code, &page(code.name)).err().map(|problem| format!("{}: {problem}", code.name));
    let failed: Vec<String> = codes::ALL.iter().filter_map(check).collect();
    assert!(failed.is_empty(), "{} of {} pages are wrong\n{}", failed.len(), codes::ALL.len(), failed.join("\n"));
}

#[test]
fn pages_name_only_codes_that_exist() {
    for code in codes::ALL {
        for (_, target) in code.page.match_indices("](").map(|(at, _)| code.page.split_at(at + 2)) {
            let target = target.split(')').next().unwrap_or_default();
            if let Some(name) = target.strip_suffix(".md") {
                assert!(codes::find(name).is_some(), "{}: there is no code {name}", code.name);
                assert_ne!(name, code.name, "a page that leads to itself");
            }
        }
    }
}

#[test]
fn every_page_has_its_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("base/src/diagnostic/pages");
    for entry in std::fs::read_dir(folder).expect("the folder of pages").flatten() {
        let path = entry.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        assert!(codes::find(&name).is_some(), "{name}.md belongs to no code");
    }
}

#[test]
fn codes_are_unique_and_in_kebab_case() {
    let mut names = BTreeSet::new();
    for code in codes::ALL {
        assert!(names.insert(code.name), "{} is defined twice", code.name);
        let good = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        assert!(code.name.split('-').all(good), "{} is not in kebab case", code.name);
        let is_sentence = code.summary.starts_with(|first: char| first.is_uppercase() || first == '`') && !code.summary.ends_with('.');
        assert!(is_sentence, "{}: the summary must be a sentence without a full stop", code.name);
    }
}

#[test]
fn severities_order_the_worst_first() {
    assert!(Severity::Error < Severity::Warning && Severity::Warning < Severity::Notice);
    assert_eq!([Severity::Error, Severity::Warning, Severity::Notice].map(Severity::name), ["error", "warning", "notice"]);
}
