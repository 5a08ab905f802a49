//! `chancery test`: simulates requests and compares their results with a file.
//!
//! Does not parse such files or simulate requests; see `chancery_core::explain`.

use crate::args::{Deployment, TestArgs, TestFormat};
use crate::input;
use crate::output::{print, print_json};
use crate::style::{Style, count, plain, some};
use crate::{Outcome, Unusable};
use chancery_core::compilation::Compilation;
use chancery_core::compile::Compiler;
use chancery_core::explain::{Graph, Mismatch, RequestTest, RequestTests, RunningGateway, overview};
use chancery_core::text::markup::escaped;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The result of a test.
struct Verdict {
    file: String,
    line: u32,
    name: String,
    gateway: Option<String>,
    /// The result of the request.
    outcome: String,
    /// The fields that differ from the expected fields.
    mismatches: Vec<Mismatch>,
    /// Why the request could not be tried.
    error: Option<String>,
}

impl Verdict {
    fn passed(&self) -> bool {
        self.mismatches.is_empty() && self.error.is_none()
    }
}

/// A file of tests, after reading.
struct TestFile {
    name: String,
    path: PathBuf,
    tests: RequestTests,
}

/// Runs it.
pub fn run(args: &TestArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let (files, inputs) = files(args, deployment)?;
    let mut verdicts = Vec::new();
    for file in &files {
        let inputs = if inputs.is_empty() { inputs_of(file, deployment)? } else { inputs.clone() };
        let given = input::given(&inputs, deployment)?;
        let (mut compiler, compilation) = given.compile()?;
        input::warn_of_gaps(&compilation);
        if RunningGateway::all(&compilation).is_empty() {
            return Err(input::nothing_runs(&compilation));
        }
        let names = overview(&compilation, &compilation.positions());
        verdicts.extend(file.tests.tests.iter().map(|test| verdict(file, test, &compilation, &mut compiler, &names)));
    }
    match args.format {
        TestFormat::Human => print(&report(&verdicts, style))?,
        TestFormat::Json => print_json(&data(&verdicts))?,
        TestFormat::Junit => print(&suites(&files, &verdicts))?,
    }
    Ok(u8::from(!verdicts.iter().all(Verdict::passed)))
}

/// Returns the named files of tests and inputs, or the settings' files.
fn files(args: &TestArgs, deployment: &Deployment) -> Result<(Vec<TestFile>, Vec<PathBuf>), Unusable> {
    let (mut files, mut inputs) = (Vec::new(), Vec::new());
    for path in &args.paths {
        match read(path)? {
            Some(file) => files.push(file),
            None => inputs.push(path.clone()),
        }
    }
    if files.is_empty() {
        let settings = deployment.settings.clone()?;
        for pattern in &settings.tests {
            let pattern = settings.folder().join(pattern).display().to_string();
            let found = glob::glob(&pattern).map_err(|error| format!("`{pattern}` is not a pattern for files: {}", error.msg))?;
            let mut found: Vec<PathBuf> = found.filter_map(Result::ok).collect();
            found.sort();
            if found.is_empty() {
                return Err(format!("no file matches `{pattern}`, which {} names", settings.name()).into());
            }
            for path in found {
                files.push(read(&path)?.ok_or_else(|| format!("{} is no file of tests: it has no list `tests`", path.display()))?);
            }
        }
    }
    if files.is_empty() {
        if let Some(missing) = args.paths.iter().find(|path| !path.exists()) {
            return Err(format!("there is no file {}", missing.display()).into());
        }
        for path in args.paths.iter().filter(|path| path.is_file()) {
            if let Some(key) = RequestTests::misspelt_key(&input::text(path)?) {
                return Err(format!("{} has its requests under `{key}`: the list must be called `tests`", path.display()).into());
            }
        }
        return Err("there is no file of tests: name one, or let `tests` in chancery.toml do so".into());
    }
    if files.iter().all(|file| file.tests.tests.is_empty()) {
        return Err("there are no tests: `tests` is an empty list".into());
    }
    Ok((files, inputs))
}

/// Reads a file of tests. Returns nothing for another kind of file.
fn read(path: &Path) -> Result<Option<TestFile>, Unusable> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = input::text(path)?;
    if !RequestTests::is_one(&text) {
        return Ok(None);
    }
    let name = path.display().to_string();
    let tests = RequestTests::read(&text).map_err(|why| format!("{name}: {why}"))?;
    Ok(Some(TestFile { name, path: path.to_owned(), tests }))
}

/// Returns the input of a file of tests: its own setting, else the settings' folder, else its own folder.
fn inputs_of(file: &TestFile, deployment: &Deployment) -> Result<Vec<PathBuf>, Unusable> {
    let folder = file.path.parent().map(Path::to_owned).unwrap_or_default();
    if !file.tests.inputs.is_empty() {
        return Ok(file.tests.inputs.iter().map(|input| folder.join(input)).collect());
    }
    let settings = deployment.settings.clone()?;
    let folder = if settings.file.is_some() { settings.folder() } else { folder };
    Ok(vec![if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder }])
}

fn verdict(file: &TestFile, test: &RequestTest, compilation: &Compilation, compiler: &mut Compiler, names: &Graph) -> Verdict {
    let mut verdict = Verdict {
        file: file.name.clone(),
        line: test.line,
        name: test.name.clone(),
        gateway: test.gateway.clone(),
        outcome: String::new(),
        mismatches: Vec::new(),
        error: None,
    };
    match tried(test, compilation, compiler, names) {
        Ok(report) => {
            let outcome = report["outcome"].as_str().or_else(|| report["verdict"]["outcome"].as_str());
            verdict.outcome = outcome.unwrap_or_default().replace('_', " ");
            verdict.mismatches = test.mismatches(&report);
        }
        Err(why) => verdict.error = Some(why),
    }
    verdict
}

/// Shows the result of the request, like `route`.
fn tried(test: &RequestTest, compilation: &Compilation, compiler: &mut Compiler, names: &Graph) -> Result<serde_json::Value, String> {
    let request = test.request.read()?;
    let report = gateway_of(test, compilation)?.route(&compilation.positions(), &request, &mut compiler.emitted, names);
    serde_json::to_value(report).map_err(|error| format!("cannot write JSON: {error}"))
}

/// The gateway that gets a test's request.
fn gateway_of<'c>(test: &RequestTest, compilation: &'c Compilation) -> Result<RunningGateway<'c>, String> {
    let mut all = RunningGateway::all(compilation);
    let names: Vec<String> = all.iter().map(|of| of.named().label().unwrap_or_else(|| of.named().id.to_string())).collect();
    let names = some(&names.iter().map(String::as_str).collect::<Vec<_>>());
    if let Some(asked) = &test.gateway {
        all.retain(|of| of.named().id.as_str() == asked || of.named().label().as_deref() == Some(asked));
    }
    match (all.pop(), &test.gateway) {
        (Some(one), _) if all.is_empty() => Ok(one),
        (None, Some(asked)) => Err(format!("there is no gateway `{asked}`; there are {names}")),
        _ => Err(format!("there are several gateways ({names}): say by `gateway` which one is meant")),
    }
}

/// Describes a mismatch.
fn words(of: &Mismatch) -> String {
    match (&of.actual, &of.meant) {
        (Some(actual), _) => format!("{}: expected {}, got {actual}", of.field, of.expected),
        (None, Some(meant)) => format!("{}: the answer has no such field; did you mean `{meant}`?", of.field),
        (None, None) => format!("{}: expected {}, but the answer has no such field", of.field, of.expected),
    }
}

fn report(verdicts: &[Verdict], style: &Style) -> String {
    let mut out = String::new();
    for verdict in verdicts {
        let place = style.dim(plain(&format!("  {}:{}", verdict.file, verdict.line)));
        let sign = if verdict.passed() { style.green("✓") } else { style.red("✗") };
        let _ = writeln!(out, "{sign} {}{place}", plain(&verdict.name));
        verdict.mismatches.iter().for_each(|mismatch| _ = writeln!(out, "    {}", plain(&words(mismatch))));
        verdict.error.iter().for_each(|why| _ = writeln!(out, "    {}", plain(why)));
    }
    let failed = verdicts.iter().filter(|verdict| !verdict.passed()).count();
    let passed = verdicts.len() - failed;
    let all = if failed == 0 {
        style.green(count(passed, "test") + " passed")
    } else {
        style.red(format!("{failed} of {} failed", count(verdicts.len(), "test")))
    };
    let _ = writeln!(out, "\n{all}");
    out
}

fn data(verdicts: &[Verdict]) -> serde_json::Value {
    let one = |verdict: &Verdict| {
        json!({
            "file": verdict.file, "line": verdict.line, "name": verdict.name, "gateway": verdict.gateway, "passed": verdict.passed(),
            "outcome": verdict.outcome, "mismatches": verdict.mismatches, "error": verdict.error,
        })
    };
    json!({ "tests": verdicts.iter().map(one).collect::<Vec<_>>() })
}

fn suites(files: &[TestFile], verdicts: &[Verdict]) -> String {
    let failed = |all: &[&Verdict]| all.iter().filter(|verdict| !verdict.passed()).count();
    let all: Vec<&Verdict> = verdicts.iter().collect();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"chancery\" tests=\"{}\" failures=\"{}\" errors=\"0\">", all.len(), failed(&all));
    for file in files {
        let here: Vec<&Verdict> = all.iter().filter(|verdict| verdict.file == file.name).copied().collect();
        let name = escaped(&file.name);
        let _ = writeln!(out, "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"0\">", here.len(), failed(&here));
        for verdict in here {
            let head = format!("    <testcase classname=\"{name}\" name=\"{}\" file=\"{name}\" line=\"{}\"", escaped(&verdict.name), verdict.line);
            if verdict.passed() {
                let _ = writeln!(out, "{head}/>");
                continue;
            }
            let lines: Vec<String> = verdict.mismatches.iter().map(words).chain(verdict.error.clone()).map(|line| escaped(&line)).collect();
            let _ = writeln!(out, "{head}>\n      <failure message=\"{}\">{}</failure>\n    </testcase>", lines.join("; "), lines.join("\n"));
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}
