//! Tests the book and the README: links have targets, each command has a page, and consoles show the program's output.
//!
//! Each page gets its own folder, which contains the examples and the demo repository. A `yaml` block that starts with `# NAME.yaml` becomes a file in this
//! folder; so does a `text` block that starts with `# NAME.log`. A `console` block contains commands (`$ chancery ...`), each followed by its output; `...` matches any lines. `UPDATE_DOCS=1` writes the output
//! into the page.

use crate::Folder;
use chancery_core::compilation::{OptionKind, Options, for_interactive_use};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A code block of a page: its language and its line numbers.
struct Block {
    language: String,
    first: usize,
    end: usize,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns all pages with their path in the book.
fn pages() -> Vec<(String, String)> {
    fn walk(folder: &Path, below: &str, out: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).expect("the folder of docs").flatten() {
            let name = format!("{below}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{name}/"), out);
            } else if name.ends_with(".md") {
                out.push((name, fs::read_to_string(entry.path()).expect("a page")));
            }
        }
    }
    let mut out = Vec::new();
    walk(&root().join("docs"), "", &mut out);
    out.sort();
    out
}

fn blocks(lines: &[&str]) -> Vec<Block> {
    let (mut out, mut open): (Vec<Block>, Option<(String, usize)>) = (Vec::new(), None);
    for (number, line) in lines.iter().enumerate() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some((language, first))) => out.push(Block { language, first, end: number }),
            (Some(language), None) => open = Some((language.to_string(), number + 1)),
            (None, state) => open = state,
        }
    }
    out
}

/// Returns the targets of links and of `src` attributes, except in code.
fn targets(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let code = blocks(&lines);
    let prose = lines.iter().enumerate().filter(|(at, _)| !code.iter().any(|block| (block.first..block.end).contains(at)));
    let mut out = Vec::new();
    for (_, line) in prose {
        for (mark, end) in [("](", ')'), (" src=\"", '"')] {
            out.extend(line.split(mark).skip(1).filter_map(|rest| Some(rest.split_once(end)?.0.to_string())));
        }
    }
    out
}

/// Resolves a link of a page to a path in the book.
fn joined(page: &str, target: &str) -> String {
    let mut steps: Vec<&str> = page.split('/').collect();
    steps.pop();
    for step in target.split('#').next().unwrap_or_default().split('/') {
        match step {
            ".." => drop(steps.pop()),
            "." | "" => {}
            step => steps.push(step),
        }
    }
    steps.join("/")
}

#[test]
fn every_link_of_the_book_has_a_target() {
    let codes = ["core/base/src/diagnostic/pages", "core/consul/src/pages", "core/agic/src/pages", "core/ingress-nginx/src/pages"];
    let codes = codes.iter().flat_map(|folder| fs::read_dir(root().join(folder)).expect("pages of codes").flatten());
    let mut known: BTreeSet<String> = codes.map(|entry| format!("codes/{}", entry.file_name().to_string_lossy())).collect();
    known.insert("codes/index.md".into());
    known.extend(pages().into_iter().map(|(name, _)| name));
    let mut lost = Vec::new();
    for (name, text) in pages() {
        for target in targets(&text).into_iter().filter(|target| !target.starts_with("http") && !target.starts_with('#')) {
            let path = joined(&name, &target);
            let example = path.starts_with("examples/") && root().join("assets").join(&path).is_file();
            if !known.contains(&path) && !example {
                lost.push(format!("{name}: {target}"));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn book_lists_every_page_and_command() {
    let pages = pages();
    let summary = &pages.iter().find(|(name, _)| name == "SUMMARY.md").expect("a summary").1;
    let listed: BTreeSet<String> = targets(summary).into_iter().collect();
    for (name, _) in pages.iter().filter(|(name, _)| name != "SUMMARY.md") {
        assert!(listed.contains(name), "{name} is not in the summary");
    }
    let help = Folder::new().run(&["--help"]).out;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for command in commands.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' ')) {
        let command = command.split(' ').next().unwrap_or_default();
        let page = format!("commands/{command}.md");
        assert!(command == "help" || pages.iter().any(|(name, text)| *name == page && text.starts_with(&format!("# {command}\n"))), "{command}");
    }
}

#[test]
fn book_consoles_match_program_output() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let mut wrong = Vec::new();
    let readme = fs::read_to_string(root().join("README.md")).expect("the README");
    for (name, text) in pages().into_iter().chain([("../README.md".to_string(), readme)]) {
        let lines: Vec<&str> = text.lines().collect();
        let blocks = blocks(&lines);
        if !blocks.iter().any(|block| block.language == "console") {
            continue;
        }
        let folder = Folder::new();
        copy_samples(&folder);
        let mut written: Vec<String> = Vec::new();
        let mut at = 0;
        for block in &blocks {
            let body = &lines[block.first..block.end];
            if let Some(file) = body
                .first()
                .and_then(|line| line.strip_prefix("# "))
                .filter(|file| block.language == "yaml" && file.ends_with(".yaml") || block.language == "text" && file.ends_with(".log"))
            {
                folder.write(file, body.join("\n").as_bytes());
            }
            if block.language != "console" {
                continue;
            }
            written.extend(lines[at..block.first].iter().map(ToString::to_string));
            at = block.end;
            for shown in body.chunk_by(|_, line| !line.starts_with("$ ")) {
                let (command, expected) = (shown[0], &shown[1..]);
                let words = command.strip_prefix("$ chancery ").unwrap_or_else(|| panic!("{name}: {command} does not run chancery"));
                let args = words_of(words);
                let run = folder.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
                assert!(run.code < 2, "{name}: {command}: {}", run.err);
                let printed = format!("{}{}", run.out, run.err);
                let printed: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
                written.push(command.to_string());
                if fits(expected, &printed) {
                    written.extend(expected.iter().map(ToString::to_string));
                } else {
                    wrong.push(format!("{name}: {command}\n{}", printed.join("\n")));
                    written.extend(printed.iter().map(ToString::to_string));
                }
            }
        }
        written.extend(lines[at..].iter().map(ToString::to_string));
        if update {
            fs::write(root().join("docs").join(&name), written.join("\n") + "\n").expect("a page");
        }
    }
    assert!(update || wrong.is_empty(), "UPDATE_DOCS=1 writes this down:\n{}", wrong.join("\n\n"));
}

/// Copies the examples and the demo repository into a folder.
fn copy_samples(folder: &Folder) {
    fn walk(from: &Path, below: &str, folder: &Folder) {
        for entry in fs::read_dir(from).expect("a folder").flatten() {
            let name = format!("{below}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() { walk(&entry.path(), &name, folder) } else { folder.write(&name, &fs::read(entry.path()).expect("a file")) }
        }
    }
    for from in ["tests/demo", "assets/examples"] {
        walk(&root().join(from), from, folder);
    }
}

/// Splits a command into words; `'...'` is one word.
fn words_of(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (at, part) in command.split('\'').enumerate() {
        let mut pieces = if at % 2 == 1 { vec![part] } else { part.split(' ').collect() }.into_iter();
        if let (Some(last), Some(first)) = (words.last_mut(), pieces.next()) {
            last.push_str(first);
        }
        words.extend(pieces.map(ToString::to_string));
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Reports whether the printed lines match; `...` matches any lines.
fn fits(expected: &[&str], printed: &[&str]) -> bool {
    match expected.iter().position(|line| *line == "...") {
        None => expected == printed,
        Some(at) => {
            let (head, tail) = (&expected[..at], &expected[at + 1..]);
            printed.starts_with(head) && (head.len()..=printed.len()).any(|from| fits(tail, &printed[from..]))
        }
    }
}

/// Writes the page of options from the tables of the dialects.
fn options() -> String {
    let mut out = String::from(
        "# Options\n\n<!-- Written by `UPDATE_DOCS=1 cargo test -p chancery docs` from the tables of the dialects. -->\n\nThese options describe how the controller runs, which is not in the YAML. All commands accept them. [`chancery.toml`](settings.md) contains them under\n`[options]`, without the dashes.\n",
    );
    for dialect in chancery_core::dialect::ALL {
        let _ =
            write!(out, "\n## {}\n\nFor {}, `--dialect {}`.\n\n| option | meaning |\n|---|---|\n", dialect.name, dialect.controller, dialect.name);
        for spec in dialect.options {
            let (value, more) = match spec.kind {
                OptionKind::Flag => (String::new(), String::new()),
                OptionKind::Text { placeholder, default } => {
                    (format!(" {placeholder}"), if default.is_empty() { String::new() } else { format!(" [default: `{default}`]") })
                }
                OptionKind::Choice(words) => {
                    let all: Vec<String> = words.iter().map(|(word, doc)| format!("`{word}`: {doc}")).collect();
                    let words = || words.iter().map(|(word, _)| *word);
                    let default = for_interactive_use(Options::default())
                        .text(spec.name)
                        .and_then(|text| words().find(|word| *text == *word))
                        .or(words().next());
                    (" WHAT".into(), format!(". {} [default: `{}`]", all.join("; "), default.unwrap_or_default()))
                }
                OptionKind::List { placeholder } => (format!(" {placeholder}"), "; repeatable".into()),
                OptionKind::Map => (" KEY=VALUE".into(), "; repeatable".into()),
                OptionKind::File { placeholder } => (format!(" {placeholder}"), String::new()),
                OptionKind::Files => (" KEY=PATH".into(), String::new()),
            };
            let more = if spec.doc.ends_with(&more) { String::new() } else { more };
            let _ = writeln!(out, "| `--{}{value}` | {}{} |", spec.name, spec.doc.replace('|', "\\|"), more.replace('|', "\\|"));
        }
    }
    out
}

#[test]
fn options_page_matches_dialects() {
    let path = root().join("docs/options.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, options()).expect("the page");
    }
    assert_eq!(fs::read_to_string(&path).expect("the page of options"), options(), "UPDATE_DOCS=1 writes it");
}

/// Writes the page of annotations from the table of the conversion.
fn conversions() -> String {
    use chancery_core::convert::{Target, VERDICTS};
    let mut out = String::from(
        "# Annotations of ingress-nginx in Gateway API\n\n<!-- Written by `UPDATE_DOCS=1 cargo test -p chancery docs` from the table of the conversion. -->\n\n[`chancery convert ingress-nginx-to-gateway`](commands/convert.md) converts these annotations. *Exact*: requests get the same answers.\n*Approximate*: some requests get other answers, as the last column says. *Impossible*: it is left out, and the last column says what to do\ninstead. *Not needed*: it changes no answer. Only annotations with a value that has an effect are reported.\n\nThe columns are the values of `--target`. `contour` and `standard` write Gateway API without policies, so most limits and timeouts are lost;\nthe last column describes Envoy Gateway.\n\n| annotation | `envoy-gateway` | `contour` | `standard` | how it is written, or what to do |\n|---|---|---|---|---|\n",
    );
    for of in VERDICTS {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} |",
            of.name,
            of.on(Target::EnvoyGateway).name(),
            of.on(Target::Contour).name(),
            of.on(Target::Standard).name(),
            of.words.replace('|', "\\|")
        );
    }
    out
}

#[test]
fn annotation_page_matches_conversion() {
    let path = root().join("docs/ingress-nginx-annotations.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, conversions()).expect("the page");
    }
    assert_eq!(fs::read_to_string(&path).expect("the page of annotations"), conversions(), "UPDATE_DOCS=1 writes it");
}

/// Writes the page of rules from the causes of the comparison.
fn rules() -> String {
    use chancery_core::explain::migration::CAUSES;
    let mut out = String::from(
        "# Rules of migrations\n\n<!-- Written by `UPDATE_DOCS=1 cargo test -p chancery docs` from the causes of the comparison. -->\n\n[`chancery diff --from A --to B`](commands/diff.md) and [`chancery convert`](commands/convert.md) group the requests that two controllers treat\ndifferently by these rules, the gravest first. A file of accepted changes names a rule and a reason. `chancery codes RULE` shows one rule.\n[Leave ingress-nginx](guides/leave-ingress-nginx.md) shows the whole way.\n\n| rule | meaning | how to remove the difference | usual decision |\n|---|---|---|---|\n",
    );
    for of in CAUSES {
        let _ = writeln!(out, "| `{}` | {}. {} | {} | {} |", of.name, of.title, of.why, of.fix, of.decision);
    }
    out
}

#[test]
fn rule_page_matches_causes() {
    let path = root().join("docs/migration-rules.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, rules()).expect("the page");
    }
    assert_eq!(fs::read_to_string(&path).expect("the page of rules"), rules(), "UPDATE_DOCS=1 writes it");
}

#[test]
fn rules_and_codes_have_different_names() {
    use chancery_core::explain::migration::CAUSES;
    let shared: Vec<&str> = CAUSES.iter().map(|of| of.name).filter(|name| chancery_core::dialect::code(name).is_some()).collect();
    assert!(shared.is_empty(), "{shared:?}");
}

/// Returns the `chancery` commands of shell blocks, without pipes and redirections.
fn shell_commands(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let of_shell = blocks(&lines).into_iter().filter(|block| matches!(block.language.as_str(), "sh" | "console"));
    let all = of_shell.flat_map(|block| lines[block.first..block.end].to_vec());
    all.filter_map(|line| {
        let command = line.trim_start_matches("$ ").strip_prefix("chancery ")?;
        Some(command.split(" #").next()?.split([';', '|', '>', '&']).next()?.trim().to_string())
    })
    .collect()
}

#[test]
fn book_paths_exist_in_root() {
    let written = |text: &str, name: &str| text.lines().any(|line| line.strip_prefix("# ").is_some_and(|file| file == name));
    let mut lost = Vec::new();
    let readme = ("README.md".to_string(), fs::read_to_string(root().join("README.md")).expect("the README"));
    for (page, text) in pages().into_iter().chain([readme]) {
        for command in shell_commands(&text) {
            let is_path = |word: &&String| {
                let word = word.trim_start_matches("./");
                !word.starts_with('-')
                    && !word.contains("://")
                    && (word.starts_with("assets/") || word.starts_with("tests/") || word.starts_with("gateway/"))
            };
            for path in words_of(&command).iter().filter(is_path) {
                let file = path.split(':').next().unwrap_or_default();
                if !root().join(file).exists() && !written(&text, file) {
                    lost.push(format!("{page}: {path}"));
                }
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn readme_commands_work() {
    let readme = fs::read_to_string(root().join("README.md")).expect("the README");
    let section = readme.split("## Use it").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("the section");
    let folder = Folder::new();
    copy_samples(&folder);
    let commands = shell_commands(section);
    assert!(commands.len() > 6, "{commands:?}");
    // `diff` with a revision needs a repository (see `demo`), and `serve` does not exit.
    for command in commands.into_iter().filter(|command| !command.starts_with("diff ") && !command.starts_with("serve ")) {
        let words = words_of(&command);
        let run = folder.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(run.code < 2, "{command}: {}", run.err);
    }
}
