//! `chancery test`: simulates requests and compares their results with a file.
//!
//! Does not parse such files or simulate requests; see `chancery_core::explain`.

use crate::args::{Deployment, TestArgs, TestFormat};
use crate::input;
use crate::output::{Sink, message, print, print_json};
use crate::style::{Style, count, plain};
use crate::{Outcome, Unusable};
use chancery_core::compilation::Compilation;
use chancery_core::compile::Compiler;
use chancery_core::explain::coverage::{Coverage, CoveredPart, PartKind, ProposedTests, cobertura, lcov, propose};
use chancery_core::explain::{Graph, Mismatch, PreparedGateways, RequestTest, RequestTests, RunningGateway, Tester, overview};
use chancery_core::simulate::Request;
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
    let mut coverage = Coverage::default();
    let groups = by_input(&files, &inputs, deployment)?;
    if args.write.is_some() && groups.len() > 1 {
        return Err("the test files have several inputs: name one input and its test files".into());
    }
    for (inputs, files) in &groups {
        let given = input::given(inputs, deployment)?;
        let (mut compiler, compilation) = given.compile()?;
        input::warn_of_gaps(&compilation);
        let positions = compilation.positions();
        let prepared = PreparedGateways::of(&compilation, &positions, &mut compiler);
        let tester = Tester::new(&prepared, &mut coverage);
        if tester.is_empty() {
            return Err(input::nothing_runs(&compilation));
        }
        let names = overview(&compilation, &positions);
        for file in files {
            for test in &file.tests.tests {
                let whole = |request: &Request| whole_verdict(test, request, &compilation, &mut compiler, &names);
                verdicts.push(verdict(file, test, &tester, &mut coverage, whole));
            }
        }
        if let Some(file) = &args.write {
            return write(&propose(&tester, &coverage), &coverage, file);
        }
    }
    if let Some(file) = &args.lcov {
        Sink::file(file)?.write([lcov(&coverage).as_str()])?;
    }
    if let Some(file) = &args.cobertura {
        Sink::file(file)?.write([cobertura(&coverage).as_str()])?;
    }
    match args.format {
        TestFormat::Human => print(&(report(&verdicts, style) + &if args.coverage { uncovered(&coverage, style) } else { String::new() }))?,
        TestFormat::Json => print_json(&data(&verdicts, args.coverage.then_some(&coverage)))?,
        TestFormat::Junit => print(&suites(&files, &verdicts))?,
    }
    let is_low = args.fail_under.is_some_and(|least| coverage.counts(None).percent() < least);
    if let Some(least) = args.fail_under.filter(|_| is_low) {
        let all = coverage.counts(None);
        message(&format!("tests reach {} of {} ({:.1}%), less than {least}%", all.reached, count(all.total, "part"), all.percent()));
    }
    Ok(u8::from(is_low || !verdicts.iter().all(Verdict::passed)))
}

/// An input with its test files.
type TestedInput<'f> = (Vec<PathBuf>, Vec<&'f TestFile>);

/// Groups test files by their inputs.
fn by_input<'f>(files: &'f [TestFile], inputs: &[PathBuf], deployment: &Deployment) -> Result<Vec<TestedInput<'f>>, Unusable> {
    let mut groups: Vec<TestedInput<'f>> = Vec::new();
    if files.is_empty() {
        groups.push((inputs.to_vec(), Vec::new()));
    }
    for file in files {
        let inputs = if inputs.is_empty() { inputs_of(file, deployment)? } else { inputs.to_vec() };
        match groups.iter_mut().find(|(known, _)| *known == inputs) {
            Some((_, files)) => files.push(file),
            None => groups.push((inputs, vec![file])),
        }
    }
    Ok(groups)
}

/// Writes proposed tests, and reports the parts without a request.
fn write(proposed: &ProposedTests, coverage: &Coverage, file: &Path) -> Outcome {
    for part in proposed.missing.iter().filter_map(|id| coverage.part(*id)) {
        message(&format!("no request was found for {}", describe(part)));
    }
    if proposed.tests == 0 {
        message("tests reach everything that a proposed request would reach");
        return Ok(0);
    }
    match file.to_str() {
        Some("-") => print(&proposed.text)?,
        _ => {
            Sink::file(file)?.write([proposed.text.as_str()])?;
            message(&format!("{} written to {}", count(proposed.tests, "test"), file.display()));
        }
    }
    Ok(0)
}

/// Names a part with its place.
fn describe(part: &CoveredPart) -> String {
    let place = part.span.as_ref().map(|span| format!("{}:{} ", span.file, span.line)).unwrap_or_default();
    let resource = part.resource.as_ref().map(|resource| format!(" of {resource}")).unwrap_or_default();
    plain(&format!("{place}{}{resource}: {}", part.kind.name(), part.what)).into_owned()
}

/// Shows what no test reaches.
fn uncovered(coverage: &Coverage, style: &Style) -> String {
    let mut out = String::new();
    let all = coverage.counts(None);
    let kinds = PartKind::ALL.into_iter().map(|kind| (kind, coverage.counts(Some(kind)))).filter(|(_, of)| of.total > 0);
    let kinds: Vec<String> = kinds.map(|(kind, of)| format!("{} {} of {}", kind.name(), of.reached, of.total)).collect();
    let head = format!("tests reach {} of {} ({:.1}%)", all.reached, count(all.total, "part"), all.percent());
    let _ = writeln!(out, "{}  {}", style.bold(head), style.dim(kinds.join(", ")));
    for part in coverage.sorted().into_iter().filter(|part| part.hits == 0) {
        let note = part.unreachable.as_ref().map(|why| style.dim(format!("  ({why})")).to_string()).unwrap_or_default();
        let _ = writeln!(out, "  {} {}{note}", style.yellow("-"), describe(part));
    }
    out
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
        // Where inputs are named, the tests of the settings would not be theirs.
        let is_for_write = args.write.is_some() && !inputs.is_empty();
        for pattern in settings.tests.iter().filter(|_| !is_for_write) {
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
    if files.is_empty() && args.write.is_some() {
        return Ok((files, inputs));
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

fn verdict(
    file: &TestFile,
    test: &RequestTest,
    tester: &Tester<'_>,
    coverage: &mut Coverage,
    whole: impl FnOnce(&Request) -> serde_json::Value,
) -> Verdict {
    let mut verdict = Verdict {
        file: file.name.clone(),
        line: test.line,
        name: test.name.clone(),
        gateway: test.gateway.clone(),
        outcome: String::new(),
        mismatches: Vec::new(),
        error: None,
    };
    let answer = test.request.read().and_then(|request| Ok((tester.ask(test.gateway.as_deref(), &request)?, whole(&request))));
    match answer {
        Ok((mut answer, whole)) => {
            coverage.count(&answer.reached);
            verdict.outcome = answer.outcome();
            answer.report["verdict"] = whole;
            verdict.mismatches = test.mismatches(&answer.report);
        }
        Err(why) => verdict.error = Some(why),
    }
    verdict
}

/// Returns the result of the request on its whole way, like `route`; null if the gateway is ambiguous.
fn whole_verdict(test: &RequestTest, request: &Request, compilation: &Compilation, compiler: &mut Compiler, names: &Graph) -> serde_json::Value {
    let is_meant = |of: &RunningGateway<'_>| match &test.gateway {
        Some(asked) => of.named().id.as_str() == asked || of.named().label().as_deref() == Some(asked),
        None => true,
    };
    let Some(gateway) = RunningGateway::all(compilation).into_iter().find(is_meant) else { return serde_json::Value::Null };
    let report = gateway.route(&compilation.positions(), request, &mut compiler.emitted, names);
    serde_json::to_value(report).map(|report| report["verdict"].clone()).unwrap_or_default()
}

/// Describes a mismatch.
fn words(of: &Mismatch) -> String {
    match (&of.actual, &of.meant) {
        (Some(actual), _) => format!("{}: expected {}, got {actual}", of.field, of.expected),
        (None, Some(meant)) => format!("{}: the answer has no such field; did you mean `{meant}`?", of.field),
        (None, None) => {
            format!("{}: expected {}, but the answer has no such field; `chancery route URL --format json` shows all", of.field, of.expected)
        }
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

fn data(verdicts: &[Verdict], coverage: Option<&Coverage>) -> serde_json::Value {
    let one = |verdict: &Verdict| {
        json!({
            "file": verdict.file, "line": verdict.line, "name": verdict.name, "gateway": verdict.gateway, "passed": verdict.passed(),
            "outcome": verdict.outcome, "mismatches": verdict.mismatches, "error": verdict.error,
        })
    };
    let mut out = json!({ "tests": verdicts.iter().map(one).collect::<Vec<_>>() });
    if let Some(coverage) = coverage {
        let all = coverage.counts(None);
        let kinds: serde_json::Map<String, _> =
            PartKind::ALL.into_iter().map(|kind| (kind.name().into(), json!(coverage.counts(Some(kind))))).collect();
        out["coverage"] = json!({ "reached": all.reached, "total": all.total, "percent": all.percent(), "kinds": kinds, "parts": coverage.sorted() });
    }
    out
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
