//! `cargo xtask test`: installs missing tools and runs every test, part by part. The table at the end shows the duration of each part.
//!
//! `CHANCERY_CORPUS` may name a folder of cases (or one that has a folder for each dialect), `CHANCERY_CONFORMANCE` the scorer's folder,
//! `CHANCERY_ENVOY` an Envoy. Without a corpus, its parts are skipped, and the table shows it.
//!
//! The default page builds quickly but is not small. `sight` tests its core in Chromium; only named parts test all of it. If Chromium is missing and cannot be installed, the
//! part is skipped and reports this; in CI it fails.
//!
//! Builds for other targets run in parallel, in a separate folder. Envoy's messages are one large crate, which keeps one
//! core busy and leaves the other core idle.
//!
//! Does not check anything itself; see the tests of each part.

use crate::lint::{self, with_clippy};
use crate::shell::{cargo, output, program, root, run as call, show, target, timed, works};
use crate::{desktop, editor, package, packages, page, setup, tidy};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// The result of a part.
enum Ended {
    Passed,
    Skipped(String),
    Failed(String),
}

/// A part's name and function.
type Part = (&'static str, fn() -> Result<Ended, String>);

/// A finished part: its name, duration and result.
type Row = (&'static str, Duration, Ended);

const PARTS: &[Part] = &[
    ("setup", set_up),
    ("format", format),
    ("tidy", tidied),
    ("no_std", no_std),
    ("web", web),
    ("clippy", clippy),
    ("tests", tests),
    ("sight", core_in_sight),
    ("window", window_opens),
    ("browser", browser_sees),
    ("page", page_works),
    ("workflows", workflows),
    ("extension", extension),
    ("licences", licences),
    ("conformance", conformance),
    ("drift", drift),
    ("diff", diff),
    ("provenance", provenance),
    ("migrate", migrate),
    ("incremental", incremental),
    ("apiserver", apiserver),
    ("chaos", chaos),
    ("cluster", cluster),
    ("consul", consul),
    ("live", live),
    ("desktop", window),
    ("package", installed),
    ("packages", packages_answer),
    ("editor", editors),
];

/// Parts that run only if named, because they take minutes. `page` builds the published page twice, fully optimised,
/// and checks its size. This takes twenty minutes of one core.
/// `browser` tests the same behaviour on a quickly built page. `drift`, `diff`, `provenance` and `migrate`
/// run over the corpora; the tests include a part of the first three, and a third of the edits of `incremental`. `desktop` builds the window, which links
/// the system's web view. `package` builds and installs the window's package, `packages` those of the command line.
/// `consul` builds a Consul agent with Go, which takes minutes the first time. `live` causes failures of a server with a real Envoy.
/// `editor` installs VS Code for browsers, which is large.
const NAMED: [&str; 14] = [
    "chaos",
    "browser",
    "page",
    "drift",
    "diff",
    "provenance",
    "migrate",
    "incremental",
    "consul",
    "live",
    "desktop",
    "package",
    "packages",
    "editor",
];

/// Parts that run in parallel with the parts before them.
const BESIDE: [&str; 2] = ["apiserver", "no_std"];

/// Runs all parts, or the named parts.
pub fn run(only: &[String]) -> ExitCode {
    if let Some(unknown) = only.iter().find(|name| !PARTS.iter().any(|(part, _)| part == name)) {
        eprintln!("test: there is no part `{unknown}`; there are {}", PARTS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "));
        return ExitCode::FAILURE;
    }
    let start = Instant::now();
    let wanted = |part: &&Part| (only.is_empty() && !NAMED.contains(&part.0)) || only.iter().any(|name| name == part.0);
    let all: Vec<&Part> = PARTS.iter().filter(wanted).collect();
    let (beside, here): (Vec<&Part>, Vec<&Part>) = all.iter().partition(|part| BESIDE.contains(&part.0));
    let mut table: Vec<Row> = Vec::new();
    thread::scope(|scope| {
        let mut here = here.into_iter().peekable();
        table.extend(here.next_if(|part| part.0 == "setup").map(perform));
        let _ = WITH_WINDOW.set(all.iter().any(|part| ["window", "desktop"].contains(&part.0)) && setup::window().is_ok());
        let beside = scope.spawn(move || beside.into_iter().map(perform).collect::<Vec<Row>>());
        while let Some(part) = here.next_if(|part| part.0 != "tests") {
            table.push(perform(part));
        }
        table.extend(beside.join().unwrap_or_else(|_| vec![("beside", Duration::ZERO, Ended::Failed("it panicked".into()))]));
        table.extend(here.map(perform));
    });
    println!("\n=== what was tested, and how long it took");
    for (name, time, ended) in &table {
        let outcome = match ended {
            Ended::Passed => "passed".to_string(),
            Ended::Skipped(why) => format!("skipped: {why}"),
            Ended::Failed(why) => format!("FAILED: {why}"),
        };
        println!("{name:<12} {:>8}  {outcome}", show(*time));
    }
    println!("{:<12} {:>8}  ({} run beside the others)", "all", show(start.elapsed()), BESIDE.join(", "));
    if table.iter().any(|(.., ended)| matches!(ended, Ended::Failed(_))) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn perform((name, part): &Part) -> Row {
    println!("\n=== {name}");
    let (result, time) = timed(part);
    let ended = result.unwrap_or_else(Ended::Failed);
    if let Ended::Failed(why) = &ended {
        println!("{name} failed: {why}");
    }
    println!("--- {name}: {}", show(time));
    (name, time, ended)
}

/// Lints the release workflow, and the example that uses the GitHub Action.
fn workflows() -> Result<Ended, String> {
    if !works("go", &["version"]) {
        return Ok(Ended::Skipped("there is no Go to build actionlint with".into()));
    }
    // The example uses the published action; the linter reads the action of this repository.
    let example = fs::read_to_string(root().join("packaging/github/example.yml")).map_err(|error| error.to_string())?;
    let local = target().join("workflows");
    let workflow = local.join("example.yml");
    let put = || -> std::io::Result<()> {
        drop(fs::remove_dir_all(&local));
        fs::create_dir_all(local.join("packaging/github"))?;
        fs::create_dir_all(local.join(".git"))?;
        fs::copy(root().join("packaging/github/action.yml"), local.join("packaging/github/action.yml"))?;
        fs::write(&workflow, example.replace("chancery-dev/chancery/packaging/github@main", "./packaging/github"))
    };
    put().map_err(|error| format!("{}: {error}", local.display()))?;
    let lint = setup::actionlint()?;
    call(program(&lint).arg(root().join("packaging/release/release.yml")).arg(root().join("packaging/github/example.yml")))?;
    call(program(&lint).arg(&workflow).current_dir(&local))?;
    Ok(Ended::Passed)
}

/// Installs every package of the command line into an empty environment.
fn packages_answer() -> Result<Ended, String> {
    packages::test()?;
    Ok(Ended::Passed)
}

fn set_up() -> Result<Ended, String> {
    setup::toolchain()?;
    setup::node()?;
    Ok(Ended::Passed)
}

fn format() -> Result<Ended, String> {
    call(cargo().args(["fmt", "--all", "--check", "--", "--files-with-diff"])).map_err(|_| "`cargo fmt` would change these files".to_string())?;
    Ok(Ended::Passed)
}

fn tidied() -> Result<Ended, String> {
    tidy::check().map(|()| Ended::Passed)
}

/// The page and the core for WebAssembly, as the tests use them.
fn web() -> Result<Ended, String> {
    lint::build(&mut page::programs_of_tests())?;
    page::build(page::Purpose::Test)?;
    Ok(Ended::Passed)
}

/// Whether the build includes the window.
static WITH_WINDOW: OnceLock<bool> = OnceLock::new();

/// The suites on real servers, which are separate parts.
const ON_SERVERS: [&str; 8] = ["--test", "cluster", "--test", "consul_agent", "--test", "resilience", "--test", "chaos"];

/// `cargo test` of the workspace, compiled by Clippy. All parts use the same features: other features would rebuild half of it.
fn workspace() -> Result<Command, String> {
    let mut command = cargo();
    with_clippy(&mut command).args(["test", "--workspace"]);
    if *WITH_WINDOW.get_or_init(|| false) {
        // The window contains the page.
        page::build(page::Purpose::Test)?;
        command.args(["--features", "chancery-desktop/window"]);
    }
    Ok(command)
}

/// Builds the programs of the workspace as the tests use them.
fn build_workspace() -> Result<(), String> {
    call(workspace()?.args(["--quiet", "--no-run"]))
}

/// Builds everything that the other parts run, with Clippy.
fn clippy() -> Result<Ended, String> {
    lint::build(workspace()?.args(["--quiet", "--no-run"]))?;
    lint::build(workspace()?.args(["--quiet", "--no-run"]).args(ON_SERVERS))?;
    Ok(Ended::Passed)
}

/// Compiles the core for a target without an operating system. Compiling is the test, so it generates no code.
fn no_std() -> Result<Ended, String> {
    call(
        cargo()
            .args(["check", "--quiet", "--package", "chancery-core", "--target", "wasm32v1-none"])
            .env("CARGO_TARGET_DIR", target().join("portable")),
    )?;
    Ok(Ended::Passed)
}

/// Returns the same command with a real Envoy, if available.
fn with_envoy(command: &mut Command) -> &mut Command {
    match setup::envoy() {
        Ok(envoy) => drop(command.env("CHANCERY_ENVOY", envoy)),
        Err(error) => println!("Envoy is not asked: {error}"),
    }
    command
}

/// Runs unit tests, suites, fixtures and doc tests. They include parity with WebAssembly and Envoy's own checks.
fn tests() -> Result<Ended, String> {
    let mut command = workspace()?;
    command.arg("--no-fail-fast");
    let module = page::parity();
    if module.is_file() {
        command.env("CHANCERY_WASM", module);
    }
    with_envoy(&mut command);
    match works("go", &["version"]).then(setup::helm) {
        Some(helm) => drop(command.env("CHANCERY_HELM", helm?)),
        None => println!("Helm is not asked: there is no Go to build it with"),
    }
    if let Some(cases) = cases() {
        command.env("CHANCERY_CORPUS", cases);
    } else {
        command.env_remove("CHANCERY_CORPUS");
    }
    call(&mut command)?;
    Ok(Ended::Passed)
}

/// Tests the core of the page in a real browser.
fn core_in_sight() -> Result<Ended, String> {
    let chromium = match chromium()? {
        Ok(chromium) => chromium,
        Err(skipped) => return Ok(skipped),
    };
    page::build(page::Purpose::Test)?;
    // The command line runs the page's exported files.
    build_workspace()?;
    let mut tests = program("npm");
    tests.args(["run", "--silent", "core"]).current_dir(root().join("tests/browser"));
    tests.env("CHANCERY_CHROMIUM", chromium).env("CHANCERY_BINARY", target().join("debug/chancery"));
    call(&mut tests)?;
    Ok(Ended::Passed)
}

/// Tests the page in a real browser.
fn browser_sees() -> Result<Ended, String> {
    in_browser(page::Purpose::Test)
}

/// Tests the published page in the same way, and checks its size.
fn page_works() -> Result<Ended, String> {
    in_browser(page::Purpose::Publish)
}

/// Returns Chromium, or the result of a part that needs it if it is missing.
fn chromium() -> Result<Result<PathBuf, Ended>, String> {
    match setup::browser() {
        Ok(chromium) => Ok(Ok(chromium)),
        Err(why) if env::var_os("CI").is_none() => Ok(Err(Ended::Skipped(format!("there is no Chromium ({why}); CHANCERY_CHROMIUM may name one")))),
        Err(why) => Err(format!("there is no Chromium: {why}")),
    }
}

fn in_browser(purpose: page::Purpose) -> Result<Ended, String> {
    let chromium = match chromium()? {
        Ok(chromium) => chromium,
        Err(skipped) => return Ok(skipped),
    };
    lint::build(&mut page::programs_of_tests())?;
    page::build(purpose)?;
    page::element()?;
    // The program contains the page, with the features of the tests: other features would rebuild half of it.
    call(cargo().args(["test", "--quiet", "--workspace", "--no-run", "--features", "chancery/playground"]))?;
    let mut tests = program("npm");
    tests.args(["test", "--silent"]).current_dir(crate::shell::root().join("tests/browser"));
    tests.env("CHANCERY_CHROMIUM", chromium).env("CHANCERY_BINARY", target().join("debug/chancery"));
    if purpose == page::Purpose::Publish {
        tests.env("CHANCERY_WEIGH", "1");
    }
    call(&mut tests)?;
    Ok(Ended::Passed)
}

fn licences() -> Result<Ended, String> {
    if output(cargo().args(["deny", "--version"])).is_none() {
        return Ok(Ended::Skipped("`cargo install cargo-deny` would also check advisories; tidy checks the licences".into()));
    }
    call(cargo().args(["deny", "--offline", "check", "licenses", "bans", "sources"]))?;
    Ok(Ended::Passed)
}

/// Checks that real Envoys that run the compiled corpora have not drifted from their inputs.
fn drift() -> Result<Ended, String> {
    over_corpora("drift::", "CHANCERY_DRIFT", "200")
}

/// Edits inputs of the corpora. `diff` must report every change that `route` shows.
fn diff() -> Result<Ended, String> {
    over_corpora("honest::", "CHANCERY_DIFF", "1000")
}

/// Checks the origin of each value and the results of each line, over the corpora.
fn provenance() -> Result<Ended, String> {
    over_corpora("provenance::", "CHANCERY_PROVENANCE", "400")
}

/// Replays the recorded requests of a real nginx on converted Ingresses in a real Envoy.
fn migrate() -> Result<Ended, String> {
    if setup::envoy().is_err() {
        return Ok(Ended::Skipped("there is no Envoy".into()));
    }
    over_corpora("migrate::", "CHANCERY_MIGRATE", "200")
}

/// Edits inputs of all dialects at random. A compile that remembers the last one must equal a compile from scratch.
fn incremental() -> Result<Ended, String> {
    call(workspace()?.args(["--test", "suite", "incremental::"]).env("CHANCERY_INCREMENTAL", "1"))?;
    Ok(Ended::Passed)
}

/// Builds the API server of a later part, and Helm, with Go, so that its modules compile during other work.
fn apiserver() -> Result<Ended, String> {
    if !works("go", &["version"]) {
        if env::var_os("CI").is_some() {
            return Err("there is no Go, and this is CI: the tests on a real API server must run".into());
        }
        return Ok(Ended::Skipped("there is no Go to build an API server with".into()));
    }
    let built = target().join("apiserver");
    fs::create_dir_all(target()).map_err(|error| format!("{}: {error}", target().display()))?;
    call(Command::new(root().join("live/tests/apiserver/build")).arg(&built))?;
    // The tests name the API server by a hash of its sources and link it once more.
    fs::remove_file(&built).map_err(|error| format!("{}: {error}", built.display()))?;
    setup::helm()?;
    Ok(Ended::Passed)
}

/// Tests the followers of a cluster on a real API server.
fn cluster() -> Result<Ended, String> {
    let mut command = workspace()?;
    command.args(["--test", "cluster"]);
    if works("go", &["version"]) {
        command.env("CHANCERY_HELM", setup::helm()?);
    }
    call(with_envoy(&mut command))?;
    Ok(Ended::Passed)
}

/// Tests the follower of a Consul agent on real agents.
fn consul() -> Result<Ended, String> {
    call(with_envoy(workspace()?.args(["--test", "consul_agent"])))?;
    Ok(Ended::Passed)
}

/// Causes failures with a real Envoy: traffic continues, and the failure is visible.
fn live() -> Result<Ended, String> {
    if setup::envoy().is_err() {
        return Ok(Ended::Skipped("there is no Envoy".into()));
    }
    call(with_envoy(workspace()?.args(["--test", "resilience"])))?;
    Ok(Ended::Passed)
}

/// Kills servers and Envoys, cuts the network and breaks files many times, for more than 20 minutes.
fn chaos() -> Result<Ended, String> {
    let mut command = workspace()?;
    command.args(["--test", "cluster", "chaos_leaves_state", "--", "--nocapture"]);
    call(with_envoy(&mut command).env("CHANCERY_CHAOS", env::var("CHANCERY_CHAOS").unwrap_or_else(|_| "30".into())))?;
    let mut command = workspace()?;
    command.args(["--test", "chaos", "--", "--nocapture", "--test-threads=1"]);
    call(with_envoy(&mut command).env("CHANCERY_CHAOS_SECONDS", env::var("CHANCERY_CHAOS_SECONDS").unwrap_or_else(|_| "600".into())))?;
    Ok(Ended::Passed)
}

/// Tests that the desktop's window opens and does its core tasks.
fn window_opens() -> Result<Ended, String> {
    in_window(desktop::smoke)
}

/// Tests the desktop's window as a user would use it.
fn window() -> Result<Ended, String> {
    in_window(desktop::test)
}

fn in_window(tests: fn(&Path) -> Result<(), String>) -> Result<Ended, String> {
    if !WITH_WINDOW.get_or_init(|| false) || setup::web_driver().is_err() {
        return Ok(Ended::Skipped("the packages of the system's web view are missing and cannot be installed".into()));
    }
    build_workspace()?;
    tests(&target().join("debug/chancery-desktop"))?;
    Ok(Ended::Passed)
}

/// Tests the window that its package installs.
fn installed() -> Result<Ended, String> {
    setup::window()?;
    desktop::installed(&package::window(page::Purpose::Publish, "release")?)?;
    Ok(Ended::Passed)
}

/// Checks the types of the extension of VS Code, and bundles it.
fn extension() -> Result<Ended, String> {
    editor::bundle()?;
    Ok(Ended::Passed)
}

/// Tests the extension in a real VS Code, and the language server in a real Neovim and Emacs.
fn editors() -> Result<Ended, String> {
    let missing = editor::test()?;
    if missing.is_empty() { Ok(Ended::Passed) } else { Ok(Ended::Skipped(format!("not on this machine: {}", missing.join(", ")))) }
}

/// Runs a suite over this many inputs of each dialect.
fn over_corpora(suite: &str, variable: &str, most: &str) -> Result<Ended, String> {
    let Some(cases) = cases() else {
        return Ok(Ended::Skipped("CHANCERY_CORPUS names no corpus".into()));
    };
    let mut command = cargo();
    command.args(["test", "--release", "--package", "chancery-tests", "--test", "suite", suite, "--", "--nocapture"]);
    command.env("CHANCERY_CORPUS", cases).env(variable, most);
    with_envoy(&mut command);
    call(&mut command)?;
    Ok(Ended::Passed)
}

/// The folder of Ambassador's cases.
fn cases() -> Option<PathBuf> {
    let corpus = PathBuf::from(env::var_os("CHANCERY_CORPUS")?);
    let inner = corpus.join("ambassador");
    Some(if inner.is_dir() { inner } else { corpus }).filter(|cases| cases.is_dir())
}

fn conformance() -> Result<Ended, String> {
    let (Some(cases), Some(scorer)) = (cases(), env::var_os("CHANCERY_CONFORMANCE")) else {
        return Ok(Ended::Skipped("CHANCERY_CORPUS and CHANCERY_CONFORMANCE name no corpus and scorer".into()));
    };
    setup::protobuf()?;
    build_workspace()?;
    let bin = target().join("debug/chancery");
    for (dialect, least) in [("ambassador", "96.5"), ("contour", "98.5")] {
        let folder = if cases.ends_with(dialect) { cases.clone() } else { cases.with_file_name(dialect) };
        if !folder.is_dir() {
            continue;
        }
        let mut command = program("python3");
        command.arg(PathBuf::from(&scorer).join("run.py")).arg(folder).arg("--bin").arg(&bin);
        call(command.args(["--at-least", least]).env("PYTHONPATH", setup::python_path()))?;
    }
    Ok(Ended::Passed)
}
